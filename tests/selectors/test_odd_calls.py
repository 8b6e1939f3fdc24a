"""Calls that the fuzzer made and that ended in errors of other packages."""

import enum
import time
import warnings
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import pinsker
from pinsker import CriterionSelection, FeatureSelector, LinearSelection
from pinsker.engine import Problem
from pinsker.exceptions import (
    DataError,
    DataTypeError,
    DataWarning,
    ParameterError,
    PinskerWarning,
)
from pinsker.models import HoldoutModel

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))
Y = (X["a"] > 0).astype(int)
FRESH = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))
FRESH_Y = (FRESH["a"] > 0).astype(int)
Tree = DecisionTreeClassifier
QUICK = {"models": ["linear"], "searches": ["linear"], "cv": 2, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    return FeatureSelector(0.1, **QUICK).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [0, "all", 1.5, True])
def test_jobs_are_a_number(n_jobs):
    calls = (
        lambda: pinsker.entropy(X, n_jobs=n_jobs),
        lambda: pinsker.interactions(X, Y, n_jobs=n_jobs, n_permutations=1),
    )
    for call in calls:
        with pytest.raises(ParameterError, match=f"n_jobs={n_jobs!r} means nothing"):
            call()


@pytest.mark.parametrize("kind", [FeatureSelector, CriterionSelection])
def test_no_jobs_at_all(kind):
    with pytest.raises(ParameterError, match="n_jobs=0 means nothing"):
        kind(n_jobs=0).fit(X, Y)


def test_halves_of_what_has_no_rows(fitted):
    with pytest.raises(DataError, match=r"X \(DataFrame\) has 0 rows: half of a table"):
        fitted.stability(X[:0], Y, n=2)
    groups, weights = {"groups": np.arange(9)}, {"sample_weight": np.ones(9)}
    with pytest.raises(ParameterError, match=r"has shape \(9,\), but there are 60 rows"):
        fitted.stability(X, Y, n=2, **groups)
    for call in (partial(fitted.stability, n=2), FeatureSelector(0.1, **QUICK).fit):  # as one
        with pytest.raises(DataError, match=r"has shape \(9,\): give 60 weights, one per row"):
            call(X, Y, **weights)


def test_groups_that_are_missing():
    groups = np.array([None, "a", "b"] * 20, dtype=object)
    with pytest.raises(ParameterError, match="groups is missing in 20 rows"):
        FeatureSelector(0.1, **QUICK).fit(X, Y, groups=groups)


def test_names_that_repeat_after_fit(fitted):
    repeated = X.set_axis(["a", "a", "b"], axis=1)
    refused = r"more than one column is called 'a'|names should match"  # that is scikit-learn 1.6
    for call in (fitted.certify, fitted.importance):
        with pytest.raises(ValueError, match=refused):
            call(repeated, Y)


def test_rows_of_an_audit_that_differ_in_length(fitted):
    ragged = [[1.0] * (1 + i % 2) for i in range(len(Y))]
    with pytest.raises(DataError, match="its rows differ in length"):
        pinsker.audit(fitted, LogisticRegression(), ragged, Y)


def test_rows_to_transform_that_differ_in_length():
    selector = LinearSelection(0.1).fit(X.to_numpy(), Y)
    with pytest.raises(DataError, match="its rows differ in length"):
        selector.transform([[1.0] * (2 + i % 2) for i in range(10)])


def test_durations_without_a_unit_are_no_cells():
    selector = LinearSelection(0.1).fit(X.to_numpy(), Y).set_output(transform="pandas")
    with pytest.raises(DataTypeError, match="cells that cannot be read"):
        selector.transform(np.arange(30).reshape(10, 3).astype("timedelta64"))


@pytest.mark.parametrize("rows", [0, 10])
def test_audits_need_as_many_rows_as_targets(fitted, rows):
    for given in ({}, {"X_train": X, "y_train": Y}):
        with pytest.raises(DataError, match=r"inconsistent numbers of samples|Found array with 0"):
            pinsker.audit(fitted, LogisticRegression(), FRESH[:rows], FRESH_Y, **given)


@pytest.mark.parametrize("container", [np.array, pd.Series, tuple])
def test_fixed_features_of_sparse_tables_in_any_list(container):
    table = sparse.csr_array(X.to_numpy())
    selector = LinearSelection(0.1, fixed_features=container([2])).fit(table, Y)
    assert selector.get_support()[2]


def test_half_a_surrogate_pair_is_no_cell():
    selector = LinearSelection(0.1).fit(X.to_numpy(), Y).set_output(transform="pandas")
    with pytest.raises(DataError, match="cannot be read"):
        selector.transform(np.full((5, 3), "\ud800", dtype=object))


def test_folds_of_an_audit_without_rows(fitted):
    with pytest.raises(ParameterError, match="fold 1 has no test rows"):
        pinsker.audit(fitted, LogisticRegression(), FRESH, FRESH_Y, cv=[(range(60), [])])


def test_containers_with_errors_of_their_own_are_no_numbers():
    class Wide:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("no 128-bit integers")

    with pytest.raises(DataError, match=r"cannot be read as an array .no 128-bit integers"):
        Problem.from_arrays(X.to_numpy(), target=Wide())


def test_a_series_is_no_table():
    with pytest.raises(DataError, match="Expected 2D array, got a series"):
        LinearSelection(0.1).fit(X, Y).transform(X["a"])


def test_types_that_polars_has_not():
    table = X.assign(shade=pd.Series(list(enum.Enum("Shade", "LIGHT DARK")) * 30))
    selector = LinearSelection(0.1, fixed_features=["shade"]).fit(table, Y)
    with pytest.raises(DataTypeError, match="cannot be made a polars frame"):
        selector.set_output(transform="polars").transform(table)


def margins_pair_by_pair(margins, n_classes):
    scores = np.zeros((len(margins), n_classes))
    pairs = ((one, other) for one in range(n_classes) for other in range(one + 1, n_classes))
    for margin, (one, other) in zip(margins.T, pairs, strict=True):
        scores[:, one] += margin
        scores[:, other] -= margin
    return scores / (n_classes - 1)


class PairedMargins(ClassifierMixin, BaseEstimator):
    """A classifier of scikit-learn's kind that gives one margin for each pair of classes."""

    decision_function_shape = "ovo"

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        k = len(self.classes_)
        return np.random.default_rng(0).normal(size=(len(X), k * (k - 1) // 2))


@pytest.mark.parametrize("k", [3, 4, 17])
def test_margins_of_pairs_have_the_bits_of_a_plain_loop(k):
    model = HoldoutModel("mine", PairedMargins())
    labels = np.arange(60) % k
    scores = model.fit_predict_scores(X.to_numpy(), labels, X.to_numpy(), k)
    margins = PairedMargins().fit(None, labels).decision_function(X)
    np.testing.assert_array_equal(scores, margins_pair_by_pair(margins, k))


@pytest.mark.slow
def test_hundreds_of_classes_take_seconds():
    # 300 classes took a Python step for each of 45 000 pairs in every part of the rows.
    table = RNG.normal(size=(600, 5))
    labels = np.array([f"class {i % 300}" for i in range(600)])
    started = time.process_time()
    FeatureSelector(random_state=0, n_jobs=1).fit(table, labels)
    assert time.process_time() - started < 40  # 9 when measured


def test_models_are_tried_on_predictions_too():
    # scikit-learn fits a linear model to dates with a zone, and fails when it predicts from them.
    table = pd.DataFrame({"when": pd.date_range("2024", periods=60, tz="Europe/Rome"), "a": X["a"]})
    with pytest.warns(DataWarning, match="cannot take these columns as they are"):
        selector = FeatureSelector(0.2, **QUICK | {"models": [LogisticRegression()]}).fit(table, Y)
    assert selector.get_feature_names_out().tolist() == ["a"]


def test_an_audit_needs_a_table():
    selector = LinearSelection(0.1).fit(X, Y)
    with pytest.raises(DataError, match="Found array with dim 3 as X"):
        pinsker.audit(selector, Ridge(), X.to_numpy()[None], Y)


def test_matrices_and_signaling_nans_are_transformed_or_refused():
    selector = LinearSelection(0.1).fit(X.to_numpy(), Y)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.asmatrix(FRESH.to_numpy())
    plain = FRESH.to_numpy()
    np.testing.assert_array_equal(selector.transform(matrix), selector.transform(plain))
    audited = [pinsker.audit(selector, Ridge(), table, FRESH_Y) for table in (matrix, plain)]
    assert audited[0] == audited[1]
    cells = X.to_numpy().astype(object)
    cells[0, 0] = Decimal("sNaN")
    with pytest.raises(DataError, match="cannot be read"):
        selector.transform(cells)


def test_a_dict_is_no_table():
    selector = FeatureSelector(0.1, **QUICK).fit(X.to_numpy(), Y)
    for call in (selector.certify, selector.importance):
        with pytest.raises(DataTypeError, match="X must be a table, but is of type dict"):
            call({"a": X["a"]}, Y)


@pytest.mark.parametrize("name", ["n_best", "n_permutations"])
def test_interactions_need_numbers(name):
    with pytest.raises(ParameterError, match=f"{name}=0 must be an integer of at least 1"):
        pinsker.interactions(X, Y, **{name: 0})


def test_backward_has_as_many_steps_whatever_max_features():
    many = LinearSelection(0.1, max_features=1).fit(X, Y)
    assert many.path_ == LinearSelection(0.1).fit(X, Y).path_


@pytest.mark.parametrize("scale", [2.0**-520, 2.0**400])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_targets_of_other_scales(direction, scale):
    target = X["a"] + 0.1 * X["b"]
    plain, small = (
        LinearSelection(0.1, direction=direction).fit(X, y).path_ for y in (target, target * scale)
    )
    assert small.moves == plain.moves
    assert small.information == plain.information


def test_ragged_codes_are_no_table():
    with pytest.raises(DataError, match=r"codes .* cannot be read as an array"):
        pinsker.select_by_criterion([[0, 1], [0]], [0, 1])


def test_audits_check_groups_and_costs():
    selector = FeatureSelector(0.1, **QUICK).fit(X, Y)
    model = LogisticRegression()
    groups = np.array([None, 1, "a"] * 20, dtype=object)
    with pytest.raises(ParameterError, match="groups is missing in 20 rows"):
        pinsker.audit(selector, model, FRESH, FRESH_Y, groups=groups)
    with pytest.raises(ParameterError, match="is for 3 classes, but the target has 2"):
        pinsker.audit(selector, model, FRESH, FRESH_Y, metric=pinsker.CostMatrix(np.ones((3, 3))))


@pytest.mark.parametrize("wrong", [-1, "seed"])
def test_seeds_are_seeds(wrong):
    calls = (
        lambda: pinsker.mutual_information(X, Y, return_details=True, random_state=wrong),
        lambda: pinsker.independence_test(X["a"], Y, random_state=wrong),
        lambda: pinsker.interactions(X, Y, random_state=wrong),
    )
    for call in calls:
        with pytest.raises(ParameterError, match=r"random_state=.* is no seed"):
            call()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_dask_collections_are_no_other_container(container):
    frames = pytest.importorskip("dask.dataframe")
    selector = LinearSelection(0.1).fit(X, Y).set_output(transform=container)
    with pytest.raises(ParameterError, match="cannot hold a Dask collection"):
        selector.transform(frames.from_pandas(X, npartitions=2))


ODD_DIVISIONS = {
    "text": ("five", "does not divide the rows"),
    "bytes": (b"five", "does not divide the rows"),
    "none": ([], "no division"),
    "threes": ([(range(30), range(30, 40), range(40, 60))], "does not divide the rows"),
    "fractions": ([(np.arange(30.0), np.arange(30.0, 60.0))], "an array of float64"),
    "short mask": ([(np.arange(30), np.ones(30, dtype=bool))], "an array of bool"),
    "tables": ([(np.zeros((2, 2), dtype=int), [5])], "of shape"),
    "beyond": ([(range(30), range(30, 61))], "names row 60 among the held-out rows"),
    "negative": ([(range(-1, 30), range(30, 60))], "names row -1 among the training rows"),
}


@pytest.mark.parametrize("odd", ODD_DIVISIONS)
def test_divisions_of_rows_are_checked(odd):
    cv, message = ODD_DIVISIONS[odd]
    selector = FeatureSelector(0.1, **QUICK).fit(X, Y)
    with pytest.raises(ParameterError, match=message):
        pinsker.audit(selector, LogisticRegression(), FRESH, FRESH_Y, cv=cv)
    with pytest.raises(ValueError, match="'cv' parameter" if odd == "text" else message):
        FeatureSelector(0.1, **{**QUICK, "cv": cv}).fit(X, Y)


def test_a_division_by_masks_is_the_one_by_positions():
    held_out = np.arange(60) % 2 == 1
    masks = [(~held_out, held_out), (held_out, ~held_out)]
    positions = [tuple(map(np.flatnonzero, pair)) for pair in masks]
    fits = [FeatureSelector(0.1, **{**QUICK, "cv": cv}).fit(X, Y) for cv in (masks, positions)]
    assert fits[0].certificate_ == fits[1].certificate_


@pytest.mark.parametrize(
    "table", [X["a"], X["a"].to_numpy(), 3, None], ids=["series", "column", "number", "nothing"]
)
def test_audits_take_tables(table):
    selector = LinearSelection(0.1).fit(X, Y)
    with pytest.raises(DataError, match=r"Found array with dim [01] as X"):
        pinsker.audit(selector, Ridge(), table, Y)


def test_audits_of_numbers_need_numbers():
    with pytest.raises(DataError, match="target 'y' holds text, not numbers"):
        pinsker.audit([0], Ridge(), X, pd.Series(list(enum.Enum("Shade", "LIGHT DARK")) * 30))
    with pytest.raises(DataError, match="column 'y' holds a ndarray in row 0"):
        pinsker.audit([0], Ridge(), X, pd.Series([np.arange(2)] * 60))
    with pytest.raises(DataError, match=r"y has one value \(1\) in all of its 60 rows"):
        pinsker.audit([0], Ridge(), X, np.ones(60))


def test_groups_of_many_types_are_told_apart():
    groups = np.array([None, 1, "a"] * 20, dtype=object)
    with pytest.raises(ParameterError, match="groups is missing in 20 rows"):
        FeatureSelector(0.1, **QUICK).fit(X, Y).stability(X, Y, n=2, groups=groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few groups
        groups = np.array([2.5, 1, "a", "b"] * 15, dtype=object)
        found = FeatureSelector(0.1, **QUICK).fit(X, Y).stability(X, Y, n=2, groups=groups)
    assert found.over == "subsamples"


def test_wide_integers_of_polars_are_no_target_and_no_groups():
    pl = pytest.importorskip("polars")
    wide = pl.Series([0, 1] * 30).cast(pl.Int128)
    selector, model = FeatureSelector(0.1, **QUICK).fit(X, Y), LogisticRegression()
    calls = (
        lambda: pinsker.audit(selector, model, X, wide),
        lambda: pinsker.audit(selector, model, FRESH, FRESH_Y, groups=wide),
        lambda: pinsker.audit(selector, model, FRESH, FRESH_Y, sample_weight=wide),
        lambda: selector.stability(X, Y, n=2, groups=wide),
        lambda: FeatureSelector(0.1, **QUICK).fit(X, Y, groups=wide),
    )
    for call in calls:
        with pytest.raises(DataError, match="cannot be read as an array"):
            call()


def test_an_audit_by_auto_has_the_metric_of_the_budget():
    selector = FeatureSelector(0.1, **QUICK).fit(X, Y)
    found = [
        pinsker.audit(selector, LogisticRegression(), FRESH, FRESH_Y, metric=m)
        for m in (None, "auto")
    ]
    assert found[0] == found[1]


def test_a_fold_of_an_audit_with_one_class():
    selector = FeatureSelector(0.1, **QUICK).fit(X, Y)
    with pytest.raises(ParameterError, match="cannot be fitted to 48 rows that are all of one cla"):
        pinsker.audit(selector, LogisticRegression(), FRESH[:60], np.arange(60) == 0)


@pytest.mark.parametrize("cv", [1, 0, -1, True])
def test_audits_need_two_folds(fitted, cv):
    with pytest.raises(ParameterError, match="use 2 folds at least"):
        pinsker.audit(fitted, LogisticRegression(), FRESH, FRESH_Y, cv=cv)


def test_a_number_of_folds_of_numpy_is_one(fitted):
    audits = [pinsker.audit(fitted, Tree(), FRESH, FRESH_Y, cv=cv) for cv in (3, np.int64(3))]
    assert audits[0] == audits[1]


def test_audits_take_tables_of_arrow(fitted):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(FRESH)
    model = make_pipeline(FunctionTransformer(np.asarray), LogisticRegression())
    found = [pinsker.audit(fitted, model, one, FRESH_Y) for one in (table, FRESH)]
    assert found[0].error_all == found[1].error_all


def test_an_audit_needs_all_columns_of_the_fit(fitted):
    kept = list(fitted.get_feature_names_out())
    assert kept != list(X.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        pinsker.audit(fitted, LogisticRegression(), FRESH[kept], FRESH_Y)


def test_stability_needs_the_columns_of_the_fit(fitted):
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.stability(X.set_axis(list("xyz"), axis=1), Y, n=2)


class OneColumn(LogisticRegression):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


class TwoPredictions(Ridge):
    def predict(self, X):
        return np.column_stack([super().predict(X)] * 2)


@pytest.mark.parametrize("metric", ["roc_auc", "log-loss"])
def test_probabilities_of_one_column_are_not_repeated(fitted, metric):
    """An AUC was 0.5 instead of 0.999: NumPy gave both classes the one column."""
    with pytest.raises(ParameterError, match=r"predict_proba of OneColumn .* must give 2 columns"):
        pinsker.audit(fitted, OneColumn(), FRESH, FRESH_Y, metric=metric)
    with pytest.raises(ParameterError, match=r"predict_proba of OneColumn .* must give 2 columns"):
        FeatureSelector(0.1, **{**QUICK, "models": [OneColumn()], "metric": metric}).fit(X, Y)


def test_predictions_of_other_shapes_are_refused():
    selector = LinearSelection(0.1).fit(X, X["a"])
    with pytest.raises(ParameterError, match=r"predict of TwoPredictions .* must give 1 columns"):
        pinsker.audit(selector, TwoPredictions(), FRESH, FRESH["a"] + FRESH["b"])
    with pytest.raises(ParameterError, match=r"predict of TwoPredictions .* must give 1 columns"):
        FeatureSelector(0.1, **{**QUICK, "models": [TwoPredictions()]}).fit(X, X["a"] + X["b"])


def test_audits_name_test_rows_that_were_seen(fitted):
    model = LogisticRegression()
    with pytest.warns(PinskerWarning, match="60 of 60 test rows are among the rows of the fit"):
        pinsker.audit(fitted, model, X, Y)
    given = {"X_train": FRESH, "y_train": FRESH_Y}
    with pytest.warns(PinskerWarning, match="60 of 60 test rows .* model is fitted to"):
        pinsker.audit(fitted, model, FRESH, FRESH_Y, **given)


def test_rows_of_few_categories_may_be_equal():
    coins = pd.DataFrame(RNG.integers(0, 2, size=(400, 3)), columns=list("abc"))
    first, second = coins[:200], coins[200:]
    selector = FeatureSelector(0.1, **QUICK).fit(first, first["a"] ^ first["b"])
    pinsker.audit(selector, Tree(), second, second["a"] ^ second["b"])


def test_groups_that_cv_divides_are_named():
    groups = np.arange(60) // 2
    settings = {**QUICK, "cv": KFold(3, shuffle=True, random_state=0)}
    with pytest.warns(UserWarning, match="cv divides 2. of 30 groups"):
        selector = FeatureSelector(0.1, **settings).fit(X, Y, groups=groups)
    assert any("cv divides" in note for note in selector.notes_)
    with pytest.warns(UserWarning, match="cv divides 2. of 30 groups"):
        fresh = selector.certify(FRESH, FRESH_Y, groups=groups)
    assert "estimate" in str(fresh)
