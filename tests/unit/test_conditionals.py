"""What a model believes of a column: the numbers of the book, and laws of the measure that ranks the columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from bayes_engine import AODE, SPODE, TAN, KDependence, NaiveBayes, load_dataset
from bayes_engine.errors import EstimationWarning, ParameterError
from bayes_engine.factors.sources import Given
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.workbench.derivation.column_values import curve, histogram, rows_of, values_of
from bayes_engine.workbench.derivation.conditionals import (
    GaussianConditionals,
    LevelConditionals,
    best_cut,
    class_entropy,
    conditional,
    information,
    levels_of,
    parents,
    prior_step,
    super_parents,
)
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.parameter_count import model_size, size
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.figures.conditionals import cut_histogram

GOOD_FIRST = ["是", "否"]


def melons(preset: str, name: str = "watermelon3") -> tuple[NaiveBayes, pd.DataFrame, pd.Series]:
    table = load_dataset(name)
    X, y = table.frame[list(table.schema.features.names)], table.frame["好瓜"]
    return NaiveBayes(schema=table.schema.features, **PRESETS[preset]).fit(X, y), X, y


def levels(preset: str, column: str) -> LevelConditionals:
    found = conditional(melons(preset)[0], column, GOOD_FIRST)
    assert isinstance(found, LevelConditionals)
    return found


@pytest.mark.parametrize(
    ("preset", "good", "bad"),
    [("textbook", "0/8", "2/9"), ("laplace", "(0+1)/(8+3)", "(2+1)/(9+3)"), ("zero-only", "(0+1)/(8+3)", "2/9")],
)
def test_crisp_knock_is_counted_as_the_book_counts_it(preset: str, good: str, bad: str) -> None:
    step = next(step for step in levels(preset, "敲声").steps if step.value == "清脆")
    assert [fraction(source) for source in step.sources] == [good, bad]
    assert step.factors == pytest.approx([source.value for source in step.sources], rel=1e-12)


def test_smoothing_is_seen_beside_the_bare_fraction() -> None:
    found = levels("laplace", "敲声")
    crisp = [step.value for step in found.steps].index("清脆")
    assert found.smoothed and found.plain(crisp) == (0.0, 2 / 9)
    assert not levels("textbook", "敲声").smoothed
    assert not levels("zero-only", "色泽").smoothed, "no zero, so nothing is repaired"


@pytest.mark.slow
def test_every_step_is_the_working_of_that_value() -> None:
    model, X, _ = melons("laplace")
    for i in range(len(X)):
        for step in derive(model, X.iloc[[i]], classes=GOOD_FIRST).steps[1:7]:
            found = conditional(model, step.row.child, GOOD_FIRST)
            assert isinstance(found, LevelConditionals)
            (same,) = [s for s in found.steps if s.value == step.value]
            assert same.factors == step.factors and same.sources == step.sources


def test_density_of_the_melons() -> None:
    model, X, y = melons("textbook")
    found = conditional(model, "密度", GOOD_FIRST)
    assert isinstance(found, GaussianConditionals)
    good, bad = found.densities
    assert (round(good.mean, 5), round(good.sd, 5), good.n, good.ddof) == (0.57375, 0.12921, 8, 1)
    assert (round(bad.mean, 3), round(bad.sd, 3), bad.n) == (0.496, 0.195, 9)
    assert good.value == pytest.approx(norm.pdf(0.0, scale=good.sd))
    assert [len(v) for v in values_of(found, X, y)] == [8, 9]


def test_the_rows_behind_a_variance_add_up_to_it() -> None:
    model, X, y = melons("textbook")
    found = conditional(model, "含糖率", GOOD_FIRST)
    assert isinstance(found, GaussianConditionals)
    rows = rows_of(found, X.assign(好瓜=y), found.step, "否")
    assert rows["(x − x̄)²"].sum() == pytest.approx(found.densities[1].m2)
    assert rows["x − x̄"].sum() == pytest.approx(0.0, abs=1e-12)
    assert set(rows.index) == set(y.index[y == "否"])


def test_deviations_are_from_the_mean_in_use_where_rows_have_weights() -> None:
    X, y, weight = pd.DataFrame({"x": [0.0, 1.0, 5.0, 6.0]}), pd.Series(list("aabb"), name="c"), [1.0, 3.0, 1.0, 1.0]
    found = conditional(NaiveBayes().fit(X, y, weight), "x")
    assert isinstance(found, GaussianConditionals)
    rows = rows_of(found, X.assign(c=y), found.step, "a")
    assert rows["x − x̄"].tolist() == pytest.approx([-0.75, 0.25])


def test_a_column_that_bears_the_name_of_a_deviation_keeps_its_values() -> None:
    X, y = pd.DataFrame({"x − x̄": [0.0, 1.0, 5.0, 6.0]}), pd.Series(list("aabb"), name="c")
    found = conditional(NaiveBayes().fit(X, y), "x − x̄")
    assert rows_of(found, X.assign(c=y), found.step, "b")["x − x̄"].tolist() == [5.0, 6.0]  # type: ignore[union-attr]


def test_rows_of_a_level_are_exactly_the_rows_counted() -> None:
    _model, X, y = melons("laplace")
    found = levels("laplace", "纹理")
    for s, step in enumerate(found.steps):
        for k, label in enumerate(GOOD_FIRST):
            assert len(rows_of(found, X.assign(好瓜=y), step, label)) == found.fractions(s)[k].count


def test_missing_cells_are_left_out_and_said_or_are_a_level() -> None:
    X = pd.DataFrame({"x": ["a", None, "b", "a", "b"], "z": [1.0, np.nan, 2.0, 3.0, 4.0]})
    y = ["n", "n", "y", "y", "n"]
    left_out = conditional(NaiveBayes().fit(X, y), "x")
    assert isinstance(left_out, LevelConditionals)
    assert left_out.missing == (1.0, 0.0) and [s.value for s in left_out.steps] == ["a", "b"]
    level = conditional(NaiveBayes(missing="category").fit(X, y), "x")
    assert isinstance(level, LevelConditionals)
    assert level.missing == (0.0, 0.0) and [s.value for s in level.steps] == ["a", "b", None]
    assert [f.count for f in level.fractions(2)] == [1.0, 0.0]
    numeric = conditional(NaiveBayes().fit(X, y), "z")
    assert numeric.missing == (1.0, 0.0)


def test_no_factor_no_conditional() -> None:
    with pytest.warns(EstimationWarning, match="same value in every row"):
        model = NaiveBayes().fit(pd.DataFrame({"same": [1.0] * 4, "x": [0.0, 1.0, 2.0, 4.0]}), list("aabb"))
    with pytest.raises(ParameterError, match="no factor for column 'same'"):
        conditional(model, "same")
    assert list(information(model)) == ["x"]


def test_prior_as_counted_and_as_set() -> None:
    laplace = prior_step(melons("laplace")[0], GOOD_FIRST)
    assert [fraction(s) for s in laplace.sources] == ["(8+1)/(17+2)", "(9+1)/(17+2)"]
    model = melons("textbook")[0].with_params(priors={"是": 0.9, "否": 0.1})
    step = prior_step(model, GOOD_FIRST)
    assert step.factors == pytest.approx((0.9, 0.1)) and all(isinstance(s, Given) for s in step.sources)


# how many numbers -----------------------------------------------------------------------------------------------


def test_cells_and_free_parameters_of_watermelon_2() -> None:
    table = load_dataset("watermelon2")
    X, y = table.frame[list(table.schema.features.names)], table.frame["好瓜"]
    found = model_size(NaiveBayes(schema=table.schema.features).fit(X, y))
    assert (found.joint_cells, found.factor_cells) == (972, 34)
    assert (found.joint_free, found.factor_free) == (971, 23)
    assert found.gaussian == 0


def test_a_shared_variance_is_one_number_a_column() -> None:
    model = melons("textbook")[0]
    assert model_size(model).gaussian == 2 * 2 * 2
    assert model_size(model.with_params(tied_variance=True)).gaussian == 2 * (2 + 1)


def test_sizes_stay_whole_numbers_however_large() -> None:
    assert size([2] * 2000, 2).joint_cells == 2**2001


# the measure that ranks the columns -----------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=4, max_size=40))
def test_information_of_counts_is_the_plain_sum(cells: list[tuple[str, str]]) -> None:
    x, c = zip(*cells, strict=True)
    if len(set(c)) < 2:
        return
    model = NaiveBayes(smoothing="none").fit(pd.DataFrame({"x": x}), list(c))
    joint = pd.crosstab(pd.Series(x), pd.Series(c), normalize=True).to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))
    found = information(model)["x"]
    assert found == pytest.approx(np.nansum(terms), abs=1e-12)
    assert -1e-15 <= found <= class_entropy(model) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "sd"), [(0.0, 1.0), (0.5, 1.0), (1.0, 0.2), (3.0, 4.0), (40.0, 1.0), (0.0, 0.01)])
def test_information_of_gaussians_is_the_integral(shift: float, sd: float) -> None:
    x = np.concatenate([[-1.0, 1.0, -1.0, 1.0], [shift - sd, shift + sd]])
    model = NaiveBayes().fit(pd.DataFrame({"x": x}), ["a"] * 4 + ["b"] * 2)
    means, sds, prior = (0.0, shift), (1.0, sd), (2 / 3, 1 / 3)

    def mixture(at: float) -> float:
        return sum(float(p * norm.pdf(at, m, s)) for p, m, s in zip(prior, means, sds, strict=True))

    def integrand(z: float, k: int) -> float:
        at = means[k] + sds[k] * z
        return float(norm.pdf(z) * (norm.logpdf(at, means[k], sds[k]) - np.log(mixture(at))))

    exact = sum(
        prior[k] * quad(integrand, -9, 9, args=(k,), limit=400, points=(-sd, 0.0, sd))[0] for k in range(2)
    )  # the narrow class makes a kink at 0
    assert information(model)["x"] == pytest.approx(exact, abs=2e-4)


def test_information_ignores_units_and_the_place_of_zero() -> None:
    X, y = load_dataset("iris").frame[["petal length"]], load_dataset("iris").frame["species"]
    plain = information(NaiveBayes().fit(X, y))["petal length"]
    moved = information(NaiveBayes().fit(X * 1e6 + 1e9, y))["petal length"]
    assert moved == pytest.approx(plain, rel=1e-6)


# curves ---------------------------------------------------------------------------------------------------------


def test_a_curve_keeps_the_peak_of_a_narrow_class() -> None:
    X = pd.DataFrame({"x": [0.0, 1.0, 0.5, 0.5 + 1e-3]})
    found = conditional(NaiveBayes().fit(X, list("aabb")), "x")
    assert isinstance(found, GaussianConditionals)
    narrow = found.densities[1]
    x, p = curve(narrow, -2.0, 3.0)
    assert p.max() == pytest.approx(narrow.value) and x[0] == -2.0 and x[-1] == 3.0


def test_histograms_have_area_one() -> None:
    edges, (a, b) = histogram([np.arange(50.0), np.array([3.0, 4.0])], 0.0, 49.0)
    assert (a * np.diff(edges)).sum() == pytest.approx(1.0) == (b * np.diff(edges)).sum()


def test_a_histogram_of_many_values_is_numpy_s() -> None:
    values = np.sort(np.append(np.random.default_rng(0).normal(size=900).round(1), [-2.0, 2.0, np.inf]))
    edges, (heights,) = histogram([values], -2.0, 2.0)
    np.testing.assert_allclose(heights, np.histogram(values[:-1], edges, density=True)[0], rtol=1e-12)


# beyond naive Bayes ---------------------------------------------------------------------------------------------


def semi(
    model: GenerativeClassifier, name: str = "watermelon2"
) -> tuple[GenerativeClassifier, pd.DataFrame, pd.Series]:
    table = load_dataset(name)
    X, y = table.frame[list(table.schema.features.names)], table.frame[table.info.target]
    return model.set_params(schema=table.schema.features).fit(X, y), X, y


@pytest.mark.slow
def test_what_is_believed_of_every_column_at_a_row_s_own_levels_is_the_ledger_s_term() -> None:
    for estimator in (TAN(), SPODE("纹理"), KDependence(2), TAN(alpha=0.0)):
        model, X, _ = semi(estimator)
        for i in range(4):
            ledger = model.explain(X.iloc[[i]])
            for row, term in ledger.rows[1:]:
                found = conditional(model, row.child, given=levels_of(model, X.iloc[[i]]))
                assert isinstance(found, LevelConditionals)
                (step,) = [s for s in found.steps if s.value == X[row.child].iloc[i]]
                assert step.factors == pytest.approx(np.exp(term[0])) and step.row == row
                assert step.factors == pytest.approx([s.value for s in step.sources])  # type: ignore[union-attr]


def test_the_parts_of_aode_multiply_to_its_joint() -> None:
    model, X, _ = semi(AODE())
    case = X.iloc[[0]]
    held, total = levels_of(model, case), np.zeros(2)
    for parent in super_parents(model):
        product = np.ones(2)
        for column in X.columns:
            found = conditional(model, column, given=held, super_parent=parent)
            assert isinstance(found, LevelConditionals) and found.joint == (column == parent)
            product *= next(s.factors for s in found.steps if s.value == held[column])
        total += product / len(X.columns)
    assert total == pytest.approx(np.exp(model.predict_joint_log_proba(case)[0]))


def test_under_a_prior_that_is_not_the_rows_own_a_super_parent_is_given_the_class() -> None:
    found = conditional(semi(AODE(priors="uniform"))[0], "敲声", GOOD_FIRST, super_parent="敲声")
    assert isinstance(found, LevelConditionals) and not found.joint
    assert [fraction(s) for s in found.steps[0].sources] == ["(6+1)/(8+3)", "(4+1)/(9+3)"]


@pytest.mark.slow
def test_rows_behind_a_cell_are_those_counted_and_missing_ones_are_left_out() -> None:
    for estimator in (KDependence(3), AODE(), TAN(missing="category"), TAN()):
        model, X, y = semi(estimator, "penguins")
        frame = X.assign(species=y)
        for column in X.columns:
            found = conditional(model, column, super_parent="sex")
            assert isinstance(found, LevelConditionals)
            for k, label in enumerate(found.classes):
                counts = [len(rows_of(found, frame, step, label)) for step in found.steps]
                assert counts == [found.fractions(s)[k].count for s in range(len(found.steps))]
                there = frame[y == label]
                for cell in found.given:
                    there = there[cell.held_by(there[cell.variable.name])]
                assert sum(counts) + found.missing[k] == len(there)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("variance", ["mle", "unbiased"])
def test_a_number_under_a_parent_is_the_density_that_predicts(alpha: float, variance: str) -> None:
    model, X, y = semi(TAN(discretize=None, alpha=alpha, variance=variance), "penguins")  # type: ignore[arg-type]
    row = X.dropna().iloc[[7]]
    terms = {r.child: (r, term[0]) for r, term in model.explain(row).rows}
    for column in ("bill_length_mm", "body_mass_g"):
        found = conditional(model, column, given=levels_of(model, row))
        assert isinstance(found, GaussianConditionals) and terms[column][0].parents[1:] == ("sex",)
        x = float(row[column].iloc[0])
        assert [norm.logpdf(x, d.mean, d.sd) for d in found.densities] == pytest.approx(terms[column][1])
        for k, label in enumerate(found.classes):
            there = X[(y == label) & (X["sex"] == row["sex"].iloc[0])][column].dropna()
            assert found.means[k] == pytest.approx(there.mean()) and found.densities[k].n == len(there)
            (deviations,) = [c for c in rows_of(found, X.assign(species=y), found.step, label) if c == "(x − x̄)²"]
            squares = rows_of(found, X.assign(species=y), found.step, label)[deviations].sum()
            assert squares == pytest.approx(found.densities[k].m2)
            assert len(values_of(found, X, y)[k]) == len(there)


def test_a_cell_without_rows_borrows_its_class() -> None:
    model, X, y = semi(AODE(discretize=None), "penguins")
    found = conditional(model, "bill_length_mm", given={"island": "Biscoe"}, super_parent="island")
    assert isinstance(found, GaussianConditionals)
    borrowed = {c: found.borrowed(k) for k, c in enumerate(found.classes)}
    assert borrowed == {"Adelie": False, "Chinstrap": True, "Gentoo": False}
    k = found.classes.index("Chinstrap")
    assert found.densities[k].mean == pytest.approx(X["bill_length_mm"][y == "Chinstrap"].mean())
    assert len(rows_of(found, X.assign(species=y), found.step, "Chinstrap")) == 68 == len(values_of(found, X, y)[k])


@pytest.mark.slow
def test_information_of_a_semi_naive_model_is_that_of_naive_bayes() -> None:
    for name in ("watermelon2", "watermelon3"):
        for estimator in (TAN(discretize=None), AODE(discretize=None), SPODE(discretize=None)):
            model = semi(estimator, name)[0]
            naive = semi(NaiveBayes(priors=model.class_prior_), name)[0]
            assert information(model) == pytest.approx(information(naive))


def test_free_parameters_are_those_of_the_tables() -> None:
    for estimator in (TAN(), KDependence(2), KDependence(0), SPODE("敲声")):
        model, X, _ = semi(estimator)
        found, free, cells = model_size(model), 1, 0
        for column in X.columns:
            levels = int(X[column].nunique())
            above = int(np.prod([d.size for d in parents(model, column)]))
            free, cells = free + 2 * above * (levels - 1), cells + 2 * above * levels
        assert (found.factor_free, found.factor_cells) == (free, cells)
        assert (found.naive_free, found.joint_cells) == (23, 972)
    size = model_size(semi(AODE())[0])  # six SPODEs: 28 of P(c, x_i), 310 under them
    assert (size.factor_free, size.distinct_free) == (338, 123)
    found = model_size(semi(TAN(discretize=None), "penguins")[0])
    assert (found.gaussian, found.naive_gaussian) == (48, 24)


@pytest.mark.parametrize("shrinkage", [None, 0.3])
def test_a_discriminant_s_marginals_are_the_gaussians_it_uses(shrinkage: float | None) -> None:
    lda, X, _ = semi(LinearDiscriminantAnalysis(shrinkage=shrinkage), "iris")
    qda, _, _ = semi(QuadraticDiscriminantAnalysis(shrinkage=shrinkage), "iris")
    for model in (lda, qda):
        for j, column in enumerate(X.columns):
            found = conditional(model, column)
            assert isinstance(found, GaussianConditionals) and found.tied == (model is lda)
            assert [d.mean for d in found.densities] == pytest.approx(model.means_[:, j])
            diagonal = np.broadcast_to(model.covariance_, (3, 4, 4))[:, j, j]
            assert [d.variance for d in found.densities] == pytest.approx(diagonal)
            assert [d.replaced for d in found.densities] == [shrinkage is not None] * 3
    assert (model_size(lda).gaussian, model_size(qda).gaussian, model_size(lda).naive_gaussian) == (22, 42, 24)


def test_the_best_cut_that_was_not_made() -> None:
    table = load_dataset("watermelon3")
    split = best_cut(table.schema["密度"], table.frame["密度"], table.frame["好瓜"])
    assert split is not None and not split.accepted
    assert (round(split.gain, 3), round(split.threshold, 3)) == (0.262, 0.396)
    assert best_cut(table.schema["密度"], pd.Series([1.0, 1.0]), pd.Series(["a", "b"])) is None


def test_cut_points_stand_in_the_histogram() -> None:
    model, X, y = semi(NaiveBayes(discretize="mdlp"), "iris")
    found = conditional(model, "petal length")
    assert isinstance(found, LevelConditionals)
    figure = cut_histogram(found, values_of(found, X, y), classes=["a", "b", "c"], name="petal length")
    assert [line.x0 for line in figure.layout.shapes] == list(found.variable.cuts or ()) == [2.45, 4.75]
    assert [sum(bar.customdata) for bar in figure.data] == [50, 50, 50]


def test_few_values_stand_as_they_are_instead_of_a_histogram() -> None:
    model, X, y = semi(NaiveBayes(discretize="quantile", bins=3), "watermelon3")
    found = conditional(model, "密度", GOOD_FIRST)
    assert isinstance(found, LevelConditionals)
    figure = cut_histogram(found, values_of(found, X, y), classes=GOOD_FIRST, name="密度")
    assert [sorted(strip.x) for strip in figure.data] == [sorted(X["密度"][y == c]) for c in GOOD_FIRST]
    assert len(figure.layout.shapes) == 2
