"""Rows that depend on each other: groups, repeated rows, and rows that a fit has seen."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

from pinsker import BackwardElimination, FeatureSelector, audit
from pinsker.encoding import encode, profile_of
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from pinsker.holdout import RowPlan, count_known, make_folds
from tests.truths import RedundantLinear

NEIGHBOR = [("neighbor", KNeighborsClassifier(1))]
LINEAR = ["linear"]


def repeated_measurements(n_groups=30, size=8, seed=0):
    """Rows of a group are nearly the same, and their class was drawn once: nothing to learn."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(n_groups, 3))[groups] + 1e-3 * rng.normal(size=(len(groups), 3))
    return X, rng.permutation(np.arange(n_groups) % 2)[groups], groups


@pytest.mark.parametrize("cv", [5, GroupKFold(5)])
def test_groups_reach_fit_certify_and_audit(cv):
    # 0.1 certified an error of 0 where it is one half: neighbors of a row were in both parts.
    X, y, groups = repeated_measurements()
    selector = BackwardElimination(0.3, cv=cv, models=NEIGHBOR, random_state=0)
    fitted = selector.fit(X, y, groups=groups)
    assert fitted.certificate_.error_all > 0.25
    assert fitted.certificate_.n_groups == 30
    assert "240 rows in 30 groups" in str(fitted.certificate_)
    fresh_X, fresh_y, fresh_groups = repeated_measurements(seed=1)
    certificate = fitted.certify(fresh_X, fresh_y, groups=fresh_groups)
    assert certificate.error_all > 0.25
    assert certificate.n_groups == 30
    assert certificate.verdict == "not shown to be predictable"
    model = KNeighborsClassifier(1)
    assert audit(fitted, model, fresh_X, fresh_y, groups=fresh_groups).error_all > 0.25
    assert audit(fitted, model, fresh_X, fresh_y, groups=fresh_groups).n_groups == 30


@pytest.mark.parametrize("draw", range(1, 6))
def test_groups_of_nothing_to_learn_are_not_shown_to_be_predictable(draw):
    # What is frequent in the other folds is rare in the one left out: the model without features
    # erred in 63 to 70 % of these rows, and one half looked like a gain.
    X, y, groups = repeated_measurements()
    fitted = BackwardElimination(0.3, cv=5, models=NEIGHBOR, random_state=0)
    fitted.fit(X, y, groups=groups)
    fresh_X, fresh_y, fresh_groups = repeated_measurements(seed=draw)
    certificate = fitted.certify(fresh_X, fresh_y, groups=fresh_groups)
    assert certificate.error_none == pytest.approx(0.5)
    assert certificate.verdict == "not shown to be predictable"


def autoregressive(seed, r, n=600):
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(n, 5))
    for i in range(1, n):
        steps[i] += r * steps[i - 1]
    return steps[:, :4], steps[:, 0] + 0.5 * steps[:, 4]


@pytest.mark.parametrize("r", [0.0, 0.9])
def test_serial_rows_make_an_estimate(r):
    selector = FeatureSelector(
        0.2, cv=TimeSeriesSplit(5), searches=["linear"], models=LINEAR, random_state=0
    ).fit(*autoregressive(0, r))
    labels = ("estimate", "estimate") if r else ("cross-validated estimate", "certificate")
    for one, label in zip(
        (selector.certificate_, selector.certify(*autoregressive(1, r))), labels, strict=True
    ):
        assert one.label == label
        depend = [note for note in one.notes if "neighboring rows depend" in note]
        assert len(depend) == (r > 0)


def test_a_splitter_of_groups_needs_them_everywhere():
    X, y, groups = repeated_measurements()
    selector = BackwardElimination(0.3, cv=GroupKFold(5), models=NEIGHBOR, random_state=0)
    with pytest.raises(ParameterError, match="A splitter that needs groups gets"):
        selector.fit(X, y)
    selector.fit(X, y, groups=groups)
    with pytest.raises(ParameterError, match="groups"):
        selector.certify(*repeated_measurements(seed=1)[:2])


def test_time_is_not_turned_round_by_certify_and_audit():
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(240, seed=0)
    selector = BackwardElimination(0.1, cv=TimeSeriesSplit(3), models=LINEAR, random_state=0)
    selector.fit(X, y)
    fresh = RedundantLinear(n_copies=1, n_noise=2).sample(200, seed=1)
    assert selector.certify(*fresh).n_rows == 150
    assert audit(selector, LogisticRegression(), *fresh).n_rows == 150


def test_few_groups_are_a_warning_and_no_certificate():
    X, y, groups = repeated_measurements(n_groups=12, size=20)
    selector = BackwardElimination(0.3, models=LINEAR, random_state=0).fit(X, y)
    fresh_X, fresh_y, fresh_groups = repeated_measurements(n_groups=12, size=20, seed=1)
    with pytest.warns(PinskerWarning, match="12 groups of rows are held out"):
        certificate = selector.certify(fresh_X, fresh_y, groups=fresh_groups)
    assert certificate.label == "estimate"
    with pytest.warns(PinskerWarning, match="12 groups"):
        selector.set_params(cv=3).fit(X, y, groups=groups)
    assert any("12 groups" in note for note in selector.notes_)


@pytest.mark.parametrize("wrong", [np.zeros(3), np.full(240, np.nan)])
def test_groups_that_are_none(wrong):
    X, y, _ = repeated_measurements()
    with pytest.raises(ParameterError, match="groups"):
        BackwardElimination(cv=3, models=LINEAR).fit(X, y, groups=wrong)


def test_whole_groups_are_dealt_evenly():
    X, y, groups = repeated_measurements(n_groups=20, size=7)
    folds = make_folds(encode(X, y), 5, groups=groups)
    held_out = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(140))
    for fold in folds:
        assert len(fold.test) == 28
        assert not set(groups[fold.train]) & set(groups[fold.test])


def test_parts_of_a_large_table_divide_no_group():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 90, 6000)
    encoded = encode(rng.normal(size=(6000, 2)), rng.integers(0, 2, 6000))
    of_part, plain = (
        [plan.searched[0], plan.folds[0].train, plan.folds[0].test, plan.certify.test]
        for plan in (RowPlan.of(encoded, 5, 0, groups=groups), RowPlan.of(encoded, 5, 0))
    )
    np.testing.assert_array_equal(np.sort(np.concatenate(of_part)), np.arange(6000))
    for one in range(4):
        for other in range(one):
            assert not set(groups[of_part[one]]) & set(groups[of_part[other]])
    for part, as_before in zip(of_part[:3], plain[:3], strict=True):
        assert abs(len(part) - len(as_before)) <= 150
    with pytest.raises(DataError, match="found 3 groups of rows, too few"):
        RowPlan.of(encoded, 5, 0, groups=groups % 3)


def test_repeated_rows_are_named():
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(100, seed=0)
    twice_X, twice_y = np.r_[X, X], np.r_[y, y]
    selector = BackwardElimination(0.1, cv=5, models=LINEAR, random_state=0)
    notes = selector.fit(twice_X, twice_y).notes_
    assert any("of 200 rows 100 are different: copies of a row are held out" in n for n in notes)
    assert selector.certificate_.n_groups == 100
    # A splitter of the user's divides them: the figures are an estimate.
    divided = BackwardElimination(
        0.1, cv=KFold(5, shuffle=True, random_state=0), models=LINEAR, random_state=0
    ).fit(twice_X, twice_y)
    said = "held-out rows are repeated among the rows that models were"
    assert any(said in n for n in divided.certificate_.notes)
    assert divided.certificate_.label == "estimate"
    together = selector.fit(twice_X, twice_y, groups=np.tile(np.arange(100), 2))
    assert not any("repeated" in n for n in together.notes_)
    assert not any("repeated" in n or "copies" in n for n in selector.fit(X, y).notes_)
    rng = np.random.default_rng(0)
    binary = rng.integers(0, 2, size=(300, 4))  # sixteen different rows: chance repeats them
    assert not any("copies" in n for n in selector.fit(binary, binary[:, 0]).notes_)


@pytest.mark.parametrize("aside", ["number", "noise"])
def test_rows_that_are_repeated_but_for_one_column_are_named(aside):
    """60 rows of noise, each eight times, gave an error of 0 that was "met" without a word."""
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(60, 4)), (8, 1)), np.tile(rng.integers(0, 2, 60), 8)
    extra = rng.permutation(480) if aside == "number" else rng.normal(size=480)
    selector = BackwardElimination(0.1, cv=5, models=LINEAR, random_state=0)
    notes = selector.fit(np.column_stack([X, extra]), y).notes_
    assert any("of 480 rows 60 are different but for 'x4': copies of a row" in n for n in notes)
    assert selector.certificate_.error_all > 0.25
    plain = np.column_stack([rng.integers(0, 9, size=(480, 4)), extra])  # 6561 different rows
    assert not any("copies" in n for n in selector.fit(plain, y).notes_)


@pytest.fixture(scope="module")
def fitted():
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(300, seed=0)
    return BackwardElimination(0.1, models=LINEAR, random_state=0).fit(X, y)


def test_rows_of_the_fit_are_refused(fitted):
    # 0.1 printed "that the search never saw" about them.
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(300, seed=0)
    with pytest.raises(DataError, match="300 of 300 rows are rows of the fit"):
        fitted.certify(X, y)
    order = np.random.default_rng(0).permutation(300)
    with pytest.raises(DataError, match="300 of 300"):
        fitted.certify(pd.DataFrame(X[order]), list(y[order]))


def test_some_rows_of_the_fit_make_an_estimate(fitted):
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(300, seed=0)
    new_X, new_y = RedundantLinear(n_copies=1, n_noise=2).sample(500, seed=1)
    mixed = fitted.certify(np.r_[new_X, X[:40]], np.r_[new_y, y[:40]])
    assert mixed.label == "estimate"
    assert str(mixed.notes[0]).startswith("40 of 540 rows are rows of the fit: this is an estimate")
    assert fitted.certify(new_X, new_y).label == "certificate"


def test_known_rows_are_estimated_from_the_smallest_hashes(monkeypatch):
    monkeypatch.setattr("pinsker.holdout._rows.MOST_HASHES", 2000)
    rng = np.random.default_rng(0)
    fit = rng.integers(0, 2**64, 10_000, dtype=np.uint64)
    for n_known in (0, 300, 1500, 3000):
        others = rng.integers(0, 2**64, 3000 - n_known, dtype=np.uint64)
        rows = np.concatenate([rng.permutation(fit)[:n_known], others])
        counted = len(set(rows.tolist()) & set(fit.tolist()))
        assert counted == n_known
        assert (count_known(rows, fit).n_known, count_known(rows, fit).exact) == (counted, True)
        found = count_known(rows, np.sort(fit)[:2000])
        # One row in five can be compared: six standard deviations of the estimated count.
        assert abs(found.n_known - counted) <= 6 * (3000 * (5 - 1) * (n_known / 3000)) ** 0.5 + 1
        assert str(found) == f"about {found.n_known} of 3000"


def test_few_rows_make_an_estimate_with_its_error_rate(fitted):
    certificate = fitted.certify(*RedundantLinear(n_copies=1, n_noise=2).sample(99, seed=1))
    assert certificate.label == "estimate"
    assert any("a wrong 'met' was measured in" in note for note in certificate.notes)


def test_an_order_that_was_given_is_named():
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(150, seed=0)
    selector = FeatureSelector(
        0.1, searches=[("mine", list(range(X.shape[1])))], models=LINEAR, cv=3, random_state=0
    ).fit(X, y)
    assert selector.certificate_.label == "estimate"
    assert any("the order 'mine' was given, and not searched" in n for n in selector.notes_)


def test_equal_rows_have_equal_hashes_in_any_table():
    frame = pd.DataFrame({"a": [1.0, 2.0, 0.0], "b": ["x", "y", None], "c": [1, 2, 3]})
    first = encode(frame, [0.5, 1.5, 2.5], missing="category").hashes
    other = frame.iloc[[2, 0]].assign(a=[-0.0, 1.0])
    second = encode(other, [2.5, 0.5], missing="category").hashes
    np.testing.assert_array_equal(second, first[[2, 0]])
    assert len(set(first.tolist())) == 3
    rows = np.random.default_rng(0).normal(size=(20_000, 3))
    assert len(np.unique(encode(rows, rows[:, 0] > 0).hashes)) == 20_000


def test_audit_and_importance_know_that_rows_are_in_time():
    settings = {"models": LINEAR, "searches": LINEAR, "cv": TimeSeriesSplit(5), "random_state": 0}
    selector = FeatureSelector(0.3, **settings).fit(*autoregressive(1, 0.9))
    X, y = autoregressive(2, 0.9)
    with pytest.warns(PinskerWarning, match="neighboring rows depend on each other"):
        in_time = audit(selector, LinearRegression(), X, y)
    alike = audit(selector, LinearRegression(), X, y, cv=list(TimeSeriesSplit(5).split(X)))
    assert in_time.increase == pytest.approx(alike.increase)
    half = alike.increase_upper - alike.increase
    assert in_time.increase_upper - alike.increase_upper > 0.2 * half
    assert in_time.n_groups == 0
    found = selector.importance(X, y)
    other = FeatureSelector(0.3, **{**settings, "cv": KFold(5)}).fit(*autoregressive(1, 0.9))
    taken_alone = other.importance(X, y)
    wide, narrow = (np.subtract(one.upper, one.lower).max() for one in (found, taken_alone))
    assert wide > 1.3 * narrow


def test_groups_that_a_splitter_divides_make_an_estimate():
    # "met" and a cross-validated estimate, though rows of a patient trained and were held out.
    X, y = RedundantLinear(n_copies=1, n_noise=2).sample(300, seed=0)
    groups, settings = np.arange(300) % 40, {"models": LINEAR, "searches": LINEAR}
    given = {"cv": TimeSeriesSplit(3), "random_state": 0, **settings}
    with pytest.warns(PinskerWarning, match="cv divides 40 of 40 groups"):
        selector = FeatureSelector(0.2, **given).fit(X, y, groups=groups)
    assert (selector.certificate_.verdict, selector.certificate_.label) == ("met", "estimate")
    fresh = RedundantLinear(n_copies=1, n_noise=2).sample(300, seed=1)
    with pytest.warns(PinskerWarning, match="cv divides 40 of 40 groups") as said:
        assert selector.certify(*fresh, groups=groups).label == "estimate"
    assert len(said) == 1
    with pytest.warns(PinskerWarning, match="cv divides 40 of 40 groups"):
        assert audit(selector, LogisticRegression(), *fresh, groups=groups).label == "estimate"


def test_independent_tables_of_common_rows_are_no_copies():
    # Of 60 fit rows too few are repeated to tell how many of 2000 others chance repeats.
    def common(n, seed):
        return np.minimum(np.random.default_rng(seed).zipf(2, (n, 7)), 20)

    def hashes(rows, like=None):
        return profile_of(rows[:, :6], rows[:, 6] > 1, "classification", like)

    refused = 0
    for draw in range(100):
        known, fresh = common(60, draw), common(2000, 1000 + draw)
        profile, of_fit = hashes(known)
        refused += count_known(hashes(fresh, profile)[1], of_fit).are_more_than_by_chance(of_fit)
        many = np.vstack([known] * 20)  # every row of the fit, again and again
        assert count_known(hashes(many, profile)[1], of_fit).are_more_than_by_chance(of_fit)
    assert refused <= 1
