"""Pictures: what each pixel of one adds to the log-odds of two classes, and each class as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.workbench.derivation.conditionals import GaussianConditionals, LevelConditionals, conditional
from bayes_engine.workbench.derivation.likelihoods import Rates
from bayes_engine.workbench.derivation.log_odds import LogOddsTerms

FAR = 3.0
"""A weight so many times the 95th percentile of all is drawn in full colour, and so is any beyond."""


class PixelWeights(NamedTuple):
    """`nats` of each pixel, row by row, None where it has no factor (it is missing, or the same in every row of the
    table); `pixels` is their sum, `rest` that of all other terms, the prior first; both together are the balance's
    total."""

    nats: tuple[float | None, ...]
    pixels: float
    rest: float

    @property
    def reach(self) -> float:
        """The weight drawn in full colour: the largest, unless few outweigh all others many times over.

        >>> PixelWeights((1.0, None, -2.0), -1.0, 0.0).reach
        2.0
        """
        sizes = np.abs([v for v in self.nats if v is not None and np.isfinite(v)])
        if not sizes.any():
            return 1.0
        return float(min(sizes.max(), FAR * (np.quantile(sizes, 0.95) or sizes.max())))


def pixel_weights(balance: LogOddsTerms, ledger: Ledger, names: Sequence[str]) -> PixelWeights:
    """The weights of a balance by pixel: `names` are the pixels' columns, row by row.

    >>> from bayes_engine import NaiveBayes
    >>> from bayes_engine.workbench.derivation.log_odds import log_odds_terms
    >>> X = pd.DataFrame({"p0": [0, 0, 1, 1], "p1": [0, 1, 0, 1]}).astype(str)
    >>> ledger = NaiveBayes().fit(X, list("nnyy")).explain(X.iloc[[2]])
    >>> weights = pixel_weights(log_odds_terms(ledger, "y", "n"), ledger, ["p0", "p1", "p2"])
    >>> [v if v is None else round(v, 4) for v in weights.nats], weights.rest
    ([1.0986, 0.0, None], 0.0)
    """
    by_name: dict[str, float] = {}
    rest = 0.0
    for weight in balance.weights:
        name = ledger.rows[weight.position][0].child
        if name in names:
            by_name[name] = by_name.get(name, 0.0) + weight.nats
        else:
            rest += weight.nats
    return PixelWeights(tuple(by_name.get(name) for name in names), float(sum(by_name.values())), rest)


class ClassImages(NamedTuple):
    """Each class as a picture, (C, pixels): the `mean` and `sd` of the ink, and where pixels are cut into steps
    P(above the lowest step | class) as `inked`, nan for a pixel without a factor; otherwise None."""

    classes: tuple[Any, ...]
    mean: Array
    sd: Array
    inked: Array | None


def class_images(
    model: GenerativeClassifier, X: pd.DataFrame, y: pd.Series, names: Sequence[str], classes: Sequence[Any]
) -> ClassImages:
    """The classes as the model believes them: of a Gaussian or a rate its own mean and deviation (smoothing and floor
    included); where the model has neither, those of the rows `X` of a class (ddof 0)."""
    rows = [X.loc[(y == label).to_numpy(), list(names)].astype(float) for label in classes]
    mean = np.array([of_class.mean().to_numpy() for of_class in rows])
    sd = np.array([of_class.std(ddof=0).to_numpy() for of_class in rows])
    inked = np.full(mean.shape, np.nan)
    for j, name in enumerate(names):
        try:
            believed = conditional(model, name, classes)
        except ParameterError:  # the pixel has no factor
            continue
        if isinstance(believed, GaussianConditionals):
            mean[:, j], sd[:, j] = [d.mean for d in believed.densities], [d.sd for d in believed.densities]
        elif isinstance(believed, Rates):
            mean[:, j], sd[:, j] = believed.rate, np.sqrt(believed.rate)
        elif isinstance(believed, LevelConditionals) and not believed.given and not believed.joint:
            inked[:, j] = 1.0 - np.array(believed.steps[0].factors)
    return ClassImages(tuple(classes), mean, sd, None if np.isnan(inked).all() else inked)
