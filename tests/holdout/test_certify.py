"""Certificates from fresh rows: of the set of the fit, with the one that passed beside it."""

import copy
import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit

from pinsker import (
    BackwardElimination,
    Certificate,
    CriterionSelection,
    ErrorBudget,
    FeatureCount,
    FeatureSelector,
    ForwardBackwardSelection,
    ForwardSelection,
    LinearSelection,
)
from pinsker.datasets import NoisyXor
from pinsker.exceptions import DataError, ParameterError
from tests.truths import RedundantLinear

LINEAR = ["linear"]
PROBLEM = RedundantLinear()


def fitted(budget=0.1, seed=0, **options):
    X, y = PROBLEM.sample(300, seed=seed)
    options = {"models": LINEAR, "random_state": 0, **options}
    return BackwardElimination(error_budget=budget, **options).fit(X, y)


def too_small():
    """Two features of a problem that needs four, for a budget that they do not meet."""
    X, y = PROBLEM.sample(400, seed=0)
    selector = BackwardElimination(error_budget=0.4, models=LINEAR, random_state=0).fit(X, y)
    assert selector.support_.sum() <= 2
    return selector.set_params(error_budget=ErrorBudget(0.03))


def assert_unchanged(selector, before):
    assert vars(selector).keys() == before.keys()
    for name, value in vars(selector).items():
        if name == "cv_results_":  # masks are arrays in an array
            assert_unchanged_results(value, before[name])
        elif name == "certificate_":  # NaN where nothing was tested: no such two are equal
            np.testing.assert_equal(asdict(value), asdict(before[name]))
        else:
            np.testing.assert_equal(value, before[name], err_msg=name)


def assert_unchanged_results(results, before):
    assert results.keys() == before.keys()
    for name, values in results.items():
        np.testing.assert_equal(list(values), list(before[name]), err_msg=name)


def test_a_sound_choice_is_met():
    selector = fitted(budget=0.1, cv=5)
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    assert certificate.verdict == "met"
    assert certificate.n_kept == selector.support_.sum()
    assert certificate.rows == "fresh rows"
    assert certificate.increase_upper <= 0.1
    assert certificate.excess_upper <= 0.1
    assert json.loads(certificate.to_json())["n_rows"] == 1500
    kept = selector.get_feature_names_out()
    assert set(certificate.features) == set(kept)


@pytest.mark.parametrize("cv", [0, 3])
def test_certifying_changes_nothing(cv):
    selector = fitted(cv=cv)
    before = {name: copy.deepcopy(value) for name, value in vars(selector).items()
              if name != "_record"}  # fmt: skip
    record, fields = selector._record, dict(vars(selector._record))
    first = selector.certify(*PROBLEM.sample(400, seed=1))
    # The record is frozen, down to what its fields hold; the one in its place has seen these
    # rows, which a warning of growing rows needs, and nothing else.
    assert all(vars(record)[name] is value for name, value in fields.items())
    assert record.last_certified is None
    seen = {**vars(selector._record), "last_certified": None}
    assert all(seen[name] is value for name, value in fields.items())
    assert seen.keys() == fields.keys()
    assert selector._record.last_certified[0] == 400
    assert_unchanged(selector, {**before, "_record": selector._record})
    assert selector.certificate_ is not first
    assert selector.certify(*PROBLEM.sample(400, seed=1)) == first


def test_a_larger_set_that_passed_stands_beside_the_set_of_the_fit():
    selector = too_small()
    before, wanted = selector.support_.copy(), int(selector.support_.sum())
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    # The verdict is about the set of the fit; 0.2 gave that of the larger one, and a note.
    assert certificate.verdict == "not met"
    assert certificate.n_kept == wanted
    assert certificate.passed.verdict == "met"
    assert certificate.passed.n_kept > wanted
    assert certificate.confidence == pytest.approx(0.96)  # four fifths of 5 %, and the rest
    assert certificate.passed.confidence == pytest.approx(0.99)
    np.testing.assert_array_equal(selector.support_, before)
    names = [selector.path_.names[feature] for feature in selector.path_.order]
    for one in (certificate, certificate.passed):
        assert one.features == tuple(names[: one.n_kept])
    # A sequence proves the budget; the own limit of where it ends was too small in 8 % of runs.
    assert certificate.passed.limit == certificate.passed.budget == 0.03


def test_what_fresh_rows_say_of_information_and_worth_is_widened(monkeypatch):
    selector, rows = fitted(cv=5), PROBLEM.sample(400, seed=1)
    wide = selector.certify(*rows)
    monkeypatch.setattr("pinsker.holdout.HoldoutEvaluator.widening", 1.0)
    narrow = selector.certify(*rows)
    assert wide.information_upper > narrow.information_upper
    assert wide.gain_lower < narrow.gain_lower
    assert wide.increase_upper > narrow.increase_upper


def test_the_verdict_is_about_the_fitted_set():
    # 0.2 said "met" of a, c and b, and that a alone had failed in a note.
    def table(n, seed, weight):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
        return X, (X.a + weight * X.b + 0.3 * rng.normal(size=n) > 0).astype(int)

    selector = FeatureSelector(0.05, models=LINEAR, random_state=0).fit(*table(400, 1, 0.0))
    assert list(selector.get_feature_names_out()) == ["a"]
    assert selector.certify(*table(400, 3, 0.0)).verdict == "met"
    certificate = selector.certify(*table(400, 2, 1.0))
    assert (certificate.verdict, certificate.features) == ("not met", ("a",))
    assert certificate.increase > 0.15
    assert certificate.passed.verdict == "met"
    assert {"a", "b"} <= set(certificate.passed.features)
    assert selector.with_certified(certificate).certificate_ is certificate.passed


def test_a_copy_takes_the_certified_set():
    selector = too_small()
    wanted = int(selector.support_.sum())
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    before = dict(vars(selector))
    certified = selector.with_certified(certificate)
    certificate = certificate.passed  # the set of the fit failed
    assert_unchanged(selector, before)
    assert certified is not selector
    assert type(certified) is type(selector)
    assert certified.get_params() == selector.get_params()
    assert certified.certificate_ is certificate
    assert certified.support_.sum() == certificate.n_kept > wanted
    order = selector.path_.order
    assert set(np.flatnonzero(certified.support_)) == set(order[: certificate.n_kept])
    np.testing.assert_array_equal(certified.ranking_ == 1, certified.support_)
    assert certified.path_ == selector.path_
    assert set(certificate.notes) <= set(certified.notes_)
    X, _ = PROBLEM.sample(10, seed=2)
    np.testing.assert_array_equal(certified.transform(X), X[:, certified.support_])


def test_a_set_with_groups_is_taken_as_columns():
    X, y = PROBLEM.sample(300, seed=0)
    selector = BackwardElimination(
        0.2, models=LINEAR, feature_groups={"pair": [0, 1]}, random_state=0
    ).fit(X, y)
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    assert certificate.verdict == "met"
    certified = selector.with_certified(certificate)
    columns = [selector.feature_columns_[f] for f in selector.path_.order[: certificate.n_kept]]
    expected = {column for feature in columns for column in feature}
    assert set(np.flatnonzero(certified.support_)) == expected
    assert certified.support_[0] == certified.support_[1]


def test_the_set_of_all_features_can_be_taken():
    X, y = PROBLEM.sample(300, seed=0)
    every = list(range(X.shape[1]))
    selector = BackwardElimination(0.1, models=LINEAR, fixed_features=every).fit(X, y)
    assert selector.support_.all()
    certificate = selector.certify(*PROBLEM.sample(1500, seed=1))
    assert certificate.verdict == "nothing dropped"
    assert selector.with_certified(certificate).support_.all()


def test_certificates_that_cannot_be_taken():
    selector = fitted(budget=0.02)
    inconclusive = selector.certify(*PROBLEM.sample(40, seed=1))
    with pytest.raises(ParameterError, match="says that the budget is inconclusive"):
        selector.with_certified(inconclusive)
    with pytest.raises(ParameterError, match="says that the budget is not tested"):
        selector.with_certified(selector.certificate_)
    X, y = PROBLEM.sample(300, seed=0)
    reversed_columns = clone(selector).set_params(error_budget=0.2).fit(X[:, ::-1], y)
    X, y = PROBLEM.sample(1500, seed=1)
    other = reversed_columns.certify(X[:, ::-1], y)
    assert other.verdict == "met"
    with pytest.raises(ParameterError, match="about other features than this selector's path"):
        selector.with_certified(other)


def test_too_few_rows_are_inconclusive():
    certificate = fitted(budget=0.02).certify(*PROBLEM.sample(40, seed=1))
    assert certificate.verdict == "inconclusive"
    assert certificate.resolvable > 0.02


def test_a_bad_choice_is_not_met():
    problem = NoisyXor(n_columns=4)
    X, y = problem.sample(300, seed=0)
    selector = FeatureSelector(searches=[("wrong", [2, 3])], models=["svm"], random_state=0)
    certificate = selector.fit(X, y).certify(*problem.sample(800, seed=1))
    assert certificate.verdict == "not met"
    assert certificate.increase_lower > 0.05


def test_an_order_without_the_column_that_matters_is_pruned_from_all():
    """All sets of the order were far off, and the last pass asked for the order of all features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=700) > 0).astype(int)
    selector = FeatureSelector(searches=[("wrong", [1, 2])], models=["linear"], random_state=0)
    assert selector.fit(X, y).get_support().tolist() == [True, False, False]


def test_shuffled_columns_make_the_reference_fair():
    # 60 columns of noise cost the model of all features dearly; a set that lost a cause looks
    # harmless against it, and not against a model that pays for as many columns.
    problem = RedundantLinear(n_copies=0, n_noise=60)
    selector = BackwardElimination(error_budget=FeatureCount(3), models=LINEAR, random_state=0)
    selector.fit(*problem.sample(200, seed=0)).set_params(error_budget=ErrorBudget(0.05))
    certificate = selector.certify(*problem.sample(250, seed=1))
    assert certificate.excess > certificate.increase


def test_what_cannot_be_certified():
    selector = fitted()
    X, y = PROBLEM.sample(100, seed=1)
    message = "X has 5 features, but BackwardElimination is expecting 20"
    with pytest.raises(ValueError, match=message):
        selector.certify(X[:, :5], y)
    with pytest.raises(DataError, match="found 6 fresh rows, too few"):
        selector.certify(X[:6], np.arange(6) % 2)
    with pytest.raises(ParameterError, match="confidence must be at least"):
        selector.certify(X, y, confidence=1.5)
    selector.set_params(error_budget=FeatureCount(3))
    with pytest.raises(ParameterError, match="certify needs an error budget to test"):
        selector.certify(X, y)


def test_numbers_are_certified_in_their_metric():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=700)
    selector = BackwardElimination(error_budget=0.05, models=LINEAR, random_state=0)
    certificate = selector.fit(X[:300], y[:300]).certify(X[300:], y[300:])
    assert certificate.metric == "r2"
    assert certificate.verdict == "met"
    assert certificate.error_all == pytest.approx(0.25 / 2.25, rel=0.25)
    in_mse = selector.set_params(metric="mse").fit(X[:300], y[:300]).certify(X[300:], y[300:])
    assert in_mse.metric == "mse"
    assert in_mse.error_all == pytest.approx(certificate.error_all * y[300:].var(), rel=1e-9)


@pytest.mark.parametrize(
    "selector",
    [
        BackwardElimination(),
        BackwardElimination(cv=3, models=LINEAR),
        BackwardElimination(FeatureCount(2)),
        ForwardSelection(),
        ForwardBackwardSelection(cv=3, models=LINEAR),
        LinearSelection(),
        CriterionSelection(n_features_to_select=3),
        FeatureSelector(cv=0),
        FeatureSelector(searches=["linear"], models=LINEAR, cv=3),
        FeatureSelector(FeatureCount(2), searches=["linear"], models=LINEAR, cv=3),
    ],
    ids=repr,
)
def test_every_selector_has_a_certificate_of_one_type(selector):
    certificate = selector.fit(*PROBLEM.sample(120, seed=0)).certificate_
    assert type(certificate) is Certificate
    is_tested = bool(getattr(selector, "cv", 0))
    assert certificate.is_tested == is_tested
    if not np.isnan(certificate.budget):
        assert (certificate.verdict != "not tested") == is_tested
    assert certificate.n_rows == 120
    assert (certificate.n_kept, certificate.n_features) == (selector.support_.sum(), 20)
    assert set(certificate.features) == set(selector.get_feature_names_out())
    assert np.isfinite(certificate.bound)
    assert np.isnan(certificate.budget) == (
        "Count" in certificate.rule or "Limit" in certificate.rule
    )
    assert str(certificate).startswith(f"{certificate.n_kept} of 20 features; ")
    assert json.loads(certificate.to_json())["verdict"] == certificate.verdict


def test_rows_that_vary_unlike_the_others_explain_their_r2():
    """Flights: "R² 0.0659 with none" stood there without a word."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=6000)
    y[4500:] *= 0.5  # the latest rows certify
    selector = FeatureSelector(
        0.05, models=["linear"], searches=["linear"], cv=TimeSeriesSplit(), random_state=0
    )
    certificate = selector.fit(X, y).certificate_
    assert certificate.error_none < 0.5
    (note,) = (one for one in certificate.notes if "units of the variance of all rows" in one)
    assert f"it is {1 - certificate.error_none:.3f} with no features" in note
    assert "vary less" in note
