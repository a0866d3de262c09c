"""Rows beyond memory: the same sufficient statistics, block by block, from Parquet, CSV and any iterator of batches.

`collect_parquet`, `collect_csv` and `collect_batches` give the statistics that a fit on all rows would have counted;
`NaiveBayes().fit_stats(stats)` is the model. With `want="pairs"` they hold what SPODE (its super-parent named), TAN,
AODE and k-DB with k = 1 need, with `want="scatter"` what LDA, QDA and Fisher's discriminant need: one pass each.

Cut points take a pass of their own: `cut_schema` of what `want="values"` counted is the schema to count under.

`fit_files` goes through the passes of a model's fit, and `held_out_risk` finds its risk on rows that it has not seen,
in folds, each with its own structure and cut points; `evaluate_files` that of a fitted model on other rows. EM
(`GaussianMixture`, `SemiSupervisedNB`) takes a pass for each step, and goes on where it was broken off.
`classify_files` writes its decisions beside them. `fit_batches` is `fit_files` of batches that a function gives anew
for each pass.

k-DB with k ≥ 2 takes a pass more, for the families that the pairs choose; TAN one for each block of pairs where their
tables do not fit into memory.

Structure search (`BayesianNetworkClassifier`, and `learn_files` for `BayesianNetwork`) goes as far as its counts are
known, and what it asks beyond is counted together, pass by pass, until it is the search over the rows in memory.

SPODE's super-parent by leave-one-out is chosen in a pass more, by what each row says under the counts without it.

Texts take a pass before the count, which finds their vocabularies: in how many texts each term stands, exactly; for
held-out risk fold by fold, so that each fold's vocabulary is that of the others; for EM that of all rows.

Ledoit and Wolf's shrinkage of LDA, QDA and Fisher's discriminant takes a pass more, over the rows once their scatter
is known.

pyarrow reads; `pip install 'bayes-engine[scale]'` brings it. The rest of the library does without.
"""

from bayes_engine.scale.batches import fit_batches
from bayes_engine.scale.classify import ClassifiedFiles, classify_files
from bayes_engine.scale.collect import collect_batches, collect_csv, collect_parquet
from bayes_engine.scale.cuts import cut_schema
from bayes_engine.scale.fit import fit_files
from bayes_engine.scale.held_out import evaluate_files, held_out_risk
from bayes_engine.scale.network import learn_files
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.score import RiskInFiles

__all__ = [
    "ClassifiedFiles",
    "Progress",
    "RiskInFiles",
    "classify_files",
    "collect_batches",
    "collect_csv",
    "collect_parquet",
    "cut_schema",
    "evaluate_files",
    "fit_batches",
    "fit_files",
    "held_out_risk",
    "learn_files",
]
