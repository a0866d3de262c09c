"""TAN: naive Bayes with a tree among the attributes, of their mutual information given the class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from bayes_engine.errors import ParameterError
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Name, all_pairs
from bayes_engine.structure.chow_liu import TIE, Edge, TreeStep, directed, ranked, spanning_tree
from bayes_engine.structure.dependence import Dependences, Structure, dependences
from bayes_engine.table.schema import Schema


@dataclass(eq=False, repr=False)
class TAN(SemiNaive):
    """Tree-augmented naive Bayes: a maximum spanning tree of I(x_i; x_j | y), directed away from a root, each column
    depending on the class and on its parent (Friedman, Geiger & Goldszmidt 1997; Zhou, eq. 7.22).

    root : the name of a column | None: the one with the largest I(x; y). Without smoothing, on complete data, any root
        gives the same joint. The other parameters are those of `SemiNaive`.

    With missing="marginalize" a table of a column under its parent counts the rows that know both. Where a class never
    knows the parent, the column then says nothing of that class, however often it is known: missing="category" keeps
    those rows. By cross-validation on twelve tables with missing cells, "category" is better where the missing cells
    belong to classes (soybean: .948 of the rows right for .922, as good as filling in modes, .952), and worse where
    they do not (colic: .779 for .808; there modes reach .796). Where many classes have few rows each, a smaller `alpha`
    does more than either (audiology: .70 with 0.1 for .65). In 10-fold cross-validation of nine tables with more than
    5 % of their cells missing, "category" has the smaller log-loss on five (supermarket .488 nats for .655, anneal .071
    for .195, soybean .160 for .228, labor, sick), the larger on three (vote .196 for .141, colic .583 for .524,
    hypothyroid), and on hepatitis the same: neither is a default for all tables, so compare the two.

    Attributes: `tree_` ((parent, child) pairs), `root_`, `trace_` (every edge considered, heaviest first), and those of
    `GenerativeClassifier`. The tree is learned anew from the statistics whenever rows are added or taken away.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xyxyyxyx")})
    >>> TAN(root="a").fit(X, list("nynynyny")).tree_[0]
    ('a', 'b')
    """

    estimation_parameters: ClassVar[frozenset[str]] = SemiNaive.estimation_parameters | {"root"}

    root: str | None = None

    factor_: DirectedFactor = field(init=False)

    @property
    def tree_(self) -> tuple[Edge, ...]:
        """(parent, child) pairs."""
        return tuple((d.variable.name, f.variable.name) for f in self.factor_.families for d in f.parents)

    @property
    def root_(self) -> str | None:
        """The discrete column without a parent that the tree was directed from."""
        return self._root(self.stats_, self.dependences())

    @property
    def trace_(self) -> tuple[TreeStep, ...]:
        """Every edge considered, heaviest first, and whether it was taken."""
        return self._tree(self.stats_.schema, self.dependences())

    def _root(self, stats: SufficientStatistics, nats: Dependences) -> str | None:
        discrete = [v.name for v in stats.schema if v.discrete]
        if self.root is not None and self.root not in discrete:
            raise ParameterError(
                "root='{name}' is no discrete column; take one of {known}",
                name=str(self.root),
                known=", ".join((*(f"'{n}'" for n in discrete), "None")),
            )
        by_class = {name: w for name, w in nats.class_weights.items() if name in discrete}
        return self.root if self.root is not None else ranked(by_class)[0] if discrete else None

    def _tree(self, schema: Schema, nats: Dependences) -> tuple[TreeStep, ...]:
        """Kruskal's steps over the discrete columns, then each column of numbers hung from its best parent."""
        weights = nats.weights
        discrete = [v.name for v in schema if v.discrete]
        steps = spanning_tree(discrete, {e: w for e, w in weights.items() if e[1] in discrete})
        for v in schema:
            if not v.discrete:
                own = {e: w for e, w in weights.items() if e[1] == v.name}
                steps += tuple(TreeStep(e, own[e], k == 0 and own[e] > TIE) for k, e in enumerate(ranked(own)))
        return steps

    def _pairs(self, stats: SufficientStatistics) -> list[Name]:
        """Of statistics that hold a spanning tree of tables alone, as `fit_files` learns it block by block, those: the
        tree of them is that of all pairs."""
        held: list[Edge] = [(n[0], n[1]) for n in stats.families.tables if len(n) == 2]
        names = [v.name for v in stats.schema if v.discrete]
        spans = len(held) == len(names) - 1 and all(s.taken for s in spanning_tree(names, dict.fromkeys(held, 1.0)))
        return [*held] if spans else all_pairs(stats.schema)

    @property
    def _has_structure(self) -> bool:
        return True  # the tree

    def _structure(self, stats: SufficientStatistics) -> Structure:
        nats = dependences(stats, self.missing == "category", float(self.var_floor))
        root = self._root(stats, nats)
        taken = [s.edge for s in self._tree(stats.schema, nats) if s.taken]
        by_information = ranked(nats.class_weights)
        names = sorted(by_information, key=lambda n: not stats.schema[n].discrete)  # a number is no parent
        return {child: (parent,) for parent, child in directed(names, taken, names[0] if root is None else root)}
