"""Later tables are compared with the fit, and a doubt reaches label and verdict.

Each test is a row of an attack on 0.2.0, which said "met" in all of them.
"""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, fbeta_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, KFold
from sklearn.tree import DecisionTreeClassifier

from pinsker import BackwardElimination, FeatureSelector, audit, rows_to_label
from pinsker.encoding import encode, profile_of
from pinsker.exceptions import DataError, ParameterError, PinskerWarning
from pinsker.holdout import group_copies

FAST = {"models": ["linear"], "searches": ["linear"], "random_state": 0}


def table(n, seed, weight_of_b=0.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return X, (X.a + weight_of_b * X.b + 0.3 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture(scope="module")
def fitted():
    selector = FeatureSelector(0.05, **FAST).fit(*table(400, 1))
    assert selector.get_feature_names_out().tolist() == ["a"]
    return selector


def test_the_verdict_is_about_the_set_of_the_fit(fitted):
    certificate = fitted.certify(*table(400, 2, 1.0))
    assert certificate.verdict == "not met"
    assert certificate.features == ("a",)


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_dropped_columns_that_are_blank_prove_nothing(fitted, value):
    X, y = table(400, 2, 1.0)
    X[["b", "c", "d"]] = value
    with pytest.raises(DataError, match="3 of 3 dropped columns are empty or constant here"):
        fitted.certify(X, y)
    with pytest.raises(DataError, match="3 of 3 dropped columns are empty"):
        audit(fitted, LogisticRegression(), X.fillna(0.0), y)


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_one_dropped_column_that_is_mostly_blank_leaves_it_open(fitted, value):
    X, y = table(400, 5)
    assert fitted.certify(X, y).verdict == "met"
    X.loc[np.random.default_rng(0).random(400) < 0.9, "b"] = value
    certificate = fitted.certify(X, y)
    assert (certificate.verdict, certificate.label) == ("inconclusive", "estimate")
    assert "dropped columns are missing or constant here" in certificate.notes[0]
    assert "not like those of the fit" in str(certificate)
    assert audit(fitted, DecisionTreeClassifier(max_depth=2), X, y).verdict == "inconclusive"


def test_other_values_of_dropped_columns_make_an_estimate(fitted):
    X, y = table(400, 5)
    certificate = fitted.certify(X.assign(c=X.c + 5), y)
    assert certificate.label == "estimate"
    assert "dropped columns have other values here than in the fit: 'c'" in certificate.notes[0]
    assert fitted.certify(X.assign(a=X.a * 3), y).label == "certificate"  # kept, and fitted again


@pytest.mark.parametrize("value", [9999.0, -999.0, 0.0, "k"])
def test_a_constant_is_one_wherever_it_lies(fitted, value):
    X, y = table(400, 2, 1.0)
    with pytest.raises(DataError, match="3 of 3 dropped columns are empty or constant"):
        fitted.certify(X.assign(b=value, c=value, d=value), y)
    assert fitted.certify(X.assign(b=value), y).verdict == "inconclusive"


def test_a_part_that_is_blank_is_seen(fitted):
    X, y = table(400, 5)
    X.loc[:80, "b"] = np.nan
    assert fitted.certify(X, y).label == "estimate"


def test_dates_that_are_constant_prove_nothing():
    def dated(seed, weight=0.0):
        X, y = table(400, seed, weight)
        days = pd.to_timedelta((100 * X.b).round(), unit="D")
        return X.drop(columns="b").assign(day=pd.Timestamp("2020-01-01") + days), y

    selector = FeatureSelector(0.05, **FAST).fit(*dated(1))
    X, y = dated(2, 1.0)
    assert selector.certify(X, y).verdict == "not met"
    assert selector.certify(X.assign(day=pd.Timestamp("2020-01-01")), y).verdict == "inconclusive"


def test_numbers_of_rows_are_not_compared():
    X, y = table(400, 1)
    numbered = FeatureSelector(0.05, **FAST).fit(X.assign(id=np.arange(400)), y)
    fresh, labels = table(400, 5)
    certificate = numbered.certify(fresh.assign(id=np.arange(400, 800)), labels)
    assert (certificate.label, certificate.notes) == ("certificate", ())
    with pytest.raises(DataError, match="400 of 400 rows are rows of the fit"):
        numbered.certify(X.assign(id=np.arange(400, 800)), y)
    named = X.assign(customer=[f"c{k}" for k in range(400)])
    selector = FeatureSelector(0.05, **FAST).fit(named, y)
    with pytest.raises(DataError, match="400 of 400 rows are rows of the fit"):
        selector.certify(X.assign(customer=[f"c{k}" for k in range(400, 800)]), y)
    few, few_labels = table(60, 3)
    ten = pd.concat([few] * 10, ignore_index=True).assign(id=np.arange(600))
    copies = numbered.certify(ten, pd.concat([few_labels] * 10, ignore_index=True))
    assert (copies.label, copies.n_groups) == ("estimate", 60)


def test_targets_are_those_of_the_fit(fitted):
    X, y = table(400, 5)
    two = pd.DataFrame({"y": y, "z": (X.c > 0).astype(int)})
    with pytest.raises(DataError, match="the targets are 2, those of the fit 1"):
        fitted.certify(X, two)
    both = FeatureSelector(0.05, **FAST).fit(X, two)
    with pytest.raises(DataError, match="the targets are 1, those of the fit 2"):
        both.certify(*table(400, 6))
    rng = np.random.default_rng(0)
    numbers = FeatureSelector(0.05, metric="mae", **FAST).fit(X, X.a + rng.normal(size=400))
    fresh = table(400, 6)[0]
    values = fresh.a + fresh.b + rng.normal(size=400)
    assert numbers.certify(fresh, values).label == "certificate"
    certificate = numbers.certify(fresh, values / 1000)  # the budget is of another unit
    assert certificate.label == "estimate"
    assert any("as if its unit had changed" in note for note in certificate.notes)


@pytest.mark.parametrize("offset", [1e3, 1e5])
def test_what_varies_little_is_no_copy(offset):
    X, y = table(400, 8)
    selector = FeatureSelector(0.05, **FAST).fit(X + offset, y)
    assert selector.certificate_.n_groups == 0
    fresh, labels = table(400, 9)
    assert selector.certify(fresh + offset, labels).notes == ()
    with pytest.raises(DataError, match="rows are rows of the fit"):
        selector.certify((X + offset).round(6), y)


@pytest.mark.parametrize("n_columns", [3, 4, 5])
def test_rows_that_repeat_by_chance_are_fresh(n_columns):
    def discrete(seed):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.integers(0, 10, (400, n_columns)))
        return X, (X[0] - 4.5 + 3 * rng.normal(size=400) > 0).astype(int)

    how = {"models": ["linear"], "searches": ["relevance"], "random_state": 0}
    selector = FeatureSelector(0.1, **how).fit(*discrete(0))
    labels = [selector.certify(*discrete(seed)).label for seed in range(1, 9)]
    assert labels.count("certificate") == 8


@pytest.mark.parametrize("draw_number", range(5))
def test_rows_like_those_of_the_fit_raise_no_doubt(draw_number):
    rng = np.random.default_rng(draw_number)

    def draw(n):
        colour = rng.choice(["red", "green", "blue"], n, p=[0.9, 0.08, 0.02])
        X = pd.DataFrame({"colour": colour, "skewed": rng.lognormal(sigma=2, size=n)})
        X["rare"], X["steps"] = rng.random(n) < 0.03, rng.poisson(2, n)
        return X.mask(rng.random(X.shape) < 0.1)

    y = rng.integers(0, 2, 300)
    fit = encode(draw(300), y, missing="auto").profile
    for n in (40, 100, 1000):
        y = rng.integers(0, 2, n)
        assert not fit.differences(encode(draw(n), y, missing="auto", like=fit).profile)


def test_groups_and_weights_of_the_fit_are_demanded():
    X, y = table(200, 1)
    fresh, groups = table(200, 5), np.arange(200) // 4
    grouped = FeatureSelector(0.05, **FAST).fit(X, y, groups=groups)
    with pytest.raises(ParameterError, match="the rows of fit belonged to groups"):
        grouped.certify(*fresh)
    with pytest.raises(ParameterError, match="the rows of fit belonged to groups"):
        audit(grouped, LogisticRegression(), *fresh)
    assert grouped.certify(*fresh, groups=groups).n_groups == 50
    weighted = FeatureSelector(0.05, **FAST).fit(X, y, sample_weight=np.arange(1, 201))
    with pytest.raises(ParameterError, match="the rows of fit had weights"):
        weighted.certify(*fresh)


def test_repeated_rows_count_once(fitted):
    X, y = table(60, 3)
    of_a_path = BackwardElimination(0.05).fit(*table(100, 1))  # with no folds of its own
    for selector in (fitted, of_a_path):
        certificate = selector.certify(pd.concat([X] * 10), pd.concat([y] * 10))
        assert certificate.label == "estimate"
        assert certificate.n_groups == 60
        assert any("of 600 rows 60 are different" in note for note in certificate.notes)


def test_a_suspect_that_is_kept_is_doubted_on_fresh_rows():
    # A leak was "met" with exit 0 on fresh rows, where nobody named it any more.
    (X, y), (new_X, new_y) = (table(400, n) for n in (1, 2))
    leak, new_leak = X.assign(leak=2.5 - y), new_X.assign(leak=2.5 - new_y)
    for given, label in (({}, "estimate"), ({"fixed_features": ["leak"]}, "certificate")):
        selector = FeatureSelector(0.05, **FAST, **given).fit(leak, y)
        certificate = selector.certify(new_leak, new_y)
        assert (certificate.verdict, certificate.label) == ("met", label)
        audited = audit(selector, LogisticRegression(), new_leak, new_y)
        assert (audited.label == "estimate") == (label == "estimate")
        for notes in (certificate.notes, audited.notes):
            assert any("'leak' is suspect" in note for note in notes) == (label == "estimate")


def test_values_that_tell_each_other_are_no_copies(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(500, 2)), columns=["a", "b"])
    y = (X["a"] + rng.normal(size=500) > 0).astype(int)
    told = X.assign(c=np.where(y == 1, "won", "lost"))  # what is left without a and b is c and y
    assert group_copies(encode(told, y)) == (None, ())


def test_near_copies_are_held_out_together():
    # 60 rows of noise, each ten times but for a millionth: the error seemed to be 0.
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(60, 4)), (10, 1)), np.tile(rng.integers(0, 2, 60), 10)
    X *= 1 + 1e-6 * rng.normal(size=X.shape)
    selector = FeatureSelector(0.05, models=["extra trees"], searches=["linear"], random_state=0)
    certificate = selector.fit(X, y).certificate_
    assert certificate.error_all > 0.25
    assert certificate.verdict != "met"
    assert any("copies of a row are held out together" in note for note in certificate.notes)


@pytest.mark.parametrize("draw_number", range(20))
def test_rows_of_rare_words_are_no_copies(draw_number):
    # A fifth of the rows have none of 30 words: in a tenth of tables of 100 rows they were copies.
    rng = np.random.default_rng(draw_number)
    words = encode((rng.random((100, 30)) < 0.05).astype(int), rng.integers(0, 2, 100))
    assert group_copies(words) == (None, ())


@pytest.mark.parametrize("noise", [1e-4, 1e-3, 1e-2])
def test_copies_with_noise_make_an_estimate(fitted, noise):
    # 513 of 600 rows differ in four digits: errors were 0.000, met.
    def copies(seed):
        rng, tenfold = np.random.default_rng(seed), np.repeat(np.arange(60), 10)
        X, y = table(60, seed, 1.0)
        X = X.iloc[tenfold] * (1 + noise * rng.normal(size=(600, 4)))
        return X.assign(when=np.cumsum(rng.random(600))), y.iloc[tenfold]

    trees = {"models": ["extra trees"], "searches": ["linear"], "random_state": 0}
    certificate = FeatureSelector(0.05, **trees).fit(*copies(1)).certificate_
    assert certificate.label == "estimate"
    assert any("far closer to them than all others" in note for note in certificate.notes)
    X, y = copies(2)
    certificate = fitted.certify(X.drop(columns="when"), y)
    assert certificate.label == "estimate"
    given = (fitted, LogisticRegression(), X.drop(columns="when"), y)
    assert "close rows" in {note.kind for note in audit(*given).notes}
    groups = np.repeat(np.arange(60), 10)
    assert "close rows" not in {note.kind for note in audit(*given, groups=groups).notes}


@pytest.mark.parametrize("draw_number", range(4))
@pytest.mark.parametrize("kind", ["line", "cells", "clusters", "steps"])
def test_independent_rows_are_not_close(kind, draw_number):
    # Where rows are nearest by chance: on a line, in cells, in clusters, about steps.
    rng, n = np.random.default_rng(draw_number), 150
    x = rng.normal(size=n)
    centers = 5 * rng.normal(size=(10, 3))
    X = {
        "line": np.stack([x, 2 * x, x**3], axis=1),
        "cells": np.stack([rng.integers(0, 4, n), rng.integers(0, 4, n), x], axis=1),
        "clusters": centers[rng.integers(0, 10, n)] + 0.1 * rng.normal(size=(n, 3)),
        "steps": rng.integers(0, 4, (n, 3)) + 1e-3 * rng.normal(size=(n, 3)),
    }[kind]
    found = audit([0], DummyClassifier(), X, rng.integers(0, 2, n), error_budget=0.1)
    assert "close rows" not in {note.kind for note in found.notes}


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_rows_of_nested_categories_are_no_copies(noise):
    def nested(seed):
        rng = np.random.default_rng(seed)
        city = rng.integers(0, 50, 1000)
        columns = {"city": city, "region": city // 5, "country": city // 15}
        y = (city % 7 < 3) ^ (rng.random(1000) < noise)
        return pd.DataFrame(columns).astype(str), y.astype(int)

    assert group_copies(encode(*nested(0)))[0] is None
    selector = FeatureSelector(0.05, suspects="ignore", **FAST).fit(*nested(0))
    assert selector.certify(*nested(1)).label == "certificate"


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X.astype("float32"), y),
        lambda X, y: (X.round(6), y),
        lambda X, y: (X, y.astype(bool)),
        lambda X, y: (X, y.astype(str)),
        lambda X, y: (X, y + 1),
        lambda X, y: (X.astype(str), y),
    ],
    ids=["float32", "six decimals", "bool", "text", "other numbers", "texts"],
)
def test_rows_of_the_fit_are_known_in_any_form(fitted, change):
    with pytest.raises(DataError, match=r"3\d\d of 400 rows are rows of the fit|400 of 400"):
        fitted.certify(*change(*table(400, 1)))


@pytest.mark.parametrize("n_decimals", [1, 2, 3, 4])
def test_decimals_between_two_rounded_ones_are_known_in_float32(n_decimals):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.lognormal(3.0, 1.0, (500, 30)).round(n_decimals)).rename(columns=str)
    profile, hashes = profile_of(X, np.arange(500) % 2)
    other = profile_of(X.astype("float32"), np.arange(500) % 2, like=profile)[1]
    assert (other == hashes).all()


def test_dates_are_known_in_any_form():
    X, y = table(400, 1)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400) % 90, unit="D")
    selector = FeatureSelector(0.05, **FAST).fit(X.assign(day=days), y)
    for other in (days.astype(str), days.astype("int64")):
        with pytest.raises(DataError, match="400 of 400 rows are rows of the fit"):
            selector.certify(X.assign(day=other), y)


def test_classes_are_those_of_the_fit(fitted):
    X, y = table(400, 5)
    with pytest.raises(DataError, match="the classes 'n', 'p' are none of those of the fit"):
        fitted.certify(X, y.map({0: "n", 1: "p"}))
    assert fitted.certify(X, y.astype(bool)).label == "certificate"
    three = FeatureSelector(0.05, **FAST).fit(
        *(lambda X, y: (X, np.where(X.a > 1, 2, y)))(*table(400, 1))
    )
    certificate = three.certify(X, y)
    assert certificate.label == "estimate"
    assert "the classes are not those of the fit (new: none; absent: '2')" in certificate.notes[0]


def test_an_audit_refuses_unknown_labels(fitted):
    (X, y), (fresh, labels) = table(400, 1), table(200, 5)
    with pytest.raises(DataError, match="class '0' of the test rows is in no training row"):
        audit(fitted, LogisticRegression(), fresh, labels.astype(str), X_train=X, y_train=y)


def test_an_audit_of_a_model_without_skill_shows_nothing(fitted):
    X, y = table(400, 5)
    verdict = "not shown to be predictable"
    assert audit(fitted, DummyClassifier(), X, y).verdict == verdict
    shuffled = np.random.default_rng(0).permutation(y)
    assert audit(fitted, LogisticRegression(), X, shuffled).verdict == verdict
    assert audit(fitted, LogisticRegression(), X, y).verdict == "met"
    numbers = FeatureSelector(0.1, **FAST).fit(X, X.a + 0.1 * X.b)
    fresh = table(300, 6)[0]
    values = fresh.a + 0.1 * fresh.b
    assert audit(numbers, DummyRegressor(), fresh, values).verdict == verdict
    assert audit(numbers, LinearRegression(), fresh, values).verdict == "met"


def test_a_model_with_a_threshold_decides_by_it():
    model = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.02, response_method="predict_proba"
    )
    selector = FeatureSelector(0.12, models=[("model", model)], searches=["linear"], random_state=0)
    selector.fit(*table(400, 1, 1.0))
    fresh = table(400, 2, 1.0)
    certificate, result = selector.certify(*fresh), audit(selector, model, *fresh)
    assert certificate.error_all == pytest.approx(result.error_all, abs=0.03)
    assert certificate.error_all > 0.2


def test_a_budget_is_of_a_metric_with_its_parameters():
    def score(beta):
        return make_scorer(fbeta_score, beta=beta)

    X, y = table(400, 1)
    selector = FeatureSelector(0.1, metric=score(0.5), **FAST).fit(X, y)
    fresh = table(300, 5)
    assert audit(selector, LogisticRegression(), *fresh, metric=score(2)).verdict == "no budget"
    assert audit(selector, LogisticRegression(), *fresh, metric=score(0.5)).verdict == "met"
    with pytest.raises(ParameterError, match="pos_label='Yes' of metric 'f1_score' is none of the"):
        FeatureSelector(0.1, metric=make_scorer(f1_score, pos_label="Yes"), **FAST).fit(
            X, np.where(y == 1, "yes", "no")
        )


@pytest.mark.parametrize("positive", ["Yes", 1, True])
@pytest.mark.parametrize("chosen", [False, True], ids=["columns", "selector"])
def test_an_audit_refuses_a_positive_class_that_is_none(fitted, positive, chosen):
    # "Yes" was taken for the class of "no", and the budget was met.
    X, y = table(300, 3)
    metric = make_scorer(f1_score, pos_label=positive)
    columns = FeatureSelector(0.05, **FAST).fit(*words(*table(400, 1))) if chosen else ["a"]
    with pytest.raises(ParameterError, match=f"pos_label={positive!r} of metric 'f1_score' is"):
        audit(columns, LogisticRegression(), *words(X, y), metric=metric, error_budget=0.1)
    train = dict(zip(("X_train", "y_train"), words(*table(300, 4)), strict=True))
    with pytest.raises(ParameterError, match="is none of the classes 'no' and 'yes'"):
        audit(["a"], LogisticRegression(), *words(X, y), metric=metric, **train)
    known = make_scorer(f1_score, pos_label="yes")
    found = audit(["a"], LogisticRegression(), *words(X, y), metric=known, error_budget=0.1)
    assert found.verdict == "met"


def words(X, y):
    return X, y.map({0: "no", 1: "yes"})


@pytest.mark.parametrize("trained", [False, True], ids=["cross-validated", "training rows"])
def test_an_audit_counts_copies_once(trained):
    # 60 rows ten times, in training and in test: b was worth nothing, within 0.005.
    X, y = table(60, 100, 0.4)
    forest, tenfold = RandomForestClassifier(20, random_state=0), np.tile(np.arange(60), 10)
    train = dict(zip(("X_train", "y_train"), table(300, 7, 0.4), strict=True)) if trained else {}
    given = (X.iloc[tenfold], y.iloc[tenfold])
    found = audit(["a"], forest, *given, error_budget=0.02, **train)
    assert (found.label, found.n_rows, found.n_groups) == ("estimate", 600, 60)
    assert min(found.error_all, found.error_kept) > 0.05  # a copy that trained knows the answer
    assert {"copies of rows", "few rows"} <= {note.kind for note in found.notes}
    if trained:  # the same limits, but for the degrees of freedom
        once = audit(["a"], forest, X, y, error_budget=0.02, **train)
        assert found.increase == pytest.approx(once.increase)
        assert found.increase_upper == pytest.approx(once.increase_upper, abs=0.01)


def test_copies_alone_raise_no_doubt_in_an_audit():
    X, y = table(300, 2)
    twice = np.tile(np.arange(300), 2)
    given = (["a"], LogisticRegression(), X.iloc[twice], y.iloc[twice])
    found = audit(*given, error_budget=0.1)
    assert (found.verdict, found.label) == ("met", "cross-validated estimate")
    assert [note.kind for note in found.notes] == ["copies of rows"]
    # A splitter of the user's divides them: whether they are one observation is not known.
    divided = audit(*given, error_budget=0.1, cv=KFold(3))
    assert (divided.label, divided.n_groups) == ("estimate", 0)
    assert [note.kind for note in divided.notes] == ["repeated rows"]
    apart = audit(*given, error_budget=0.1, groups=np.random.default_rng(0).permutation(600))
    assert "repeated rows" in {note.kind for note in apart.notes}


def test_an_audit_of_known_rows_is_an_estimate(fitted):
    model, fresh, seen = LogisticRegression(), table(400, 3), table(400, 1)
    assert audit(fitted, model, *fresh).label == "cross-validated estimate"
    some = (pd.concat([fresh[0], seen[0][:40]]), pd.concat([fresh[1], seen[1][:40]]))
    train = {"X_train": fresh[0], "y_train": fresh[1]}
    for tables, own, kind, said in (
        (seen, {}, "rows of the fit", "400 of 400 test rows are among the rows of the fit, which"),
        (some, {}, "rows of the fit", "40 of 440 test rows are among the rows of the fit, which"),
        (fresh, train, "rows of the model", "400 of 400 test rows are among the rows that the"),
    ):
        with pytest.warns(PinskerWarning, match=said):
            found = audit(fitted, model, *tables, **own)
        assert (found.verdict, found.label) == ("met", "estimate")
        assert [note.kind for note in found.notes] == [kind]
        assert said in found.to_dict()["notes"][0]


def blank(X):
    return X.assign(b=0.0, c=0.0, d=0.0)


def test_training_rows_without_dropped_columns_prove_nothing(fitted):
    # Models that never saw b lost nothing without it, where intact training rows lose 0.2.
    (X, y), (fresh, labels), model = table(400, 3, 1.0), table(400, 4, 1.0), LogisticRegression()
    assert audit(fitted, model, fresh, labels, X_train=X, y_train=y).verdict == "not met"
    with pytest.raises(DataError, match=r"3 of 3 dropped columns are .* in the training rows"):
        audit(fitted, model, fresh, labels, X_train=blank(X), y_train=y)
    one = audit(fitted, model, fresh, labels, X_train=X.assign(b=0.0), y_train=y)
    assert (one.verdict, one.label) == ("inconclusive", "estimate")
    # A list of columns has no fit: training and test rows are compared with each other.
    for train, test, where in ((blank(X), fresh, "training"), (X, blank(fresh), "test")):
        with pytest.raises(DataError, match=f"dropped columns are .* in the {where} rows"):
            audit(["a"], model, test, labels, X_train=train, y_train=y, error_budget=0.05)
    against = {"against": ["a", "c"], "error_budget": 0.05}
    spared = audit(["a"], model, fresh, labels, X_train=X.assign(d=0.0), y_train=y, **against)
    assert spared.notes == ()


def test_audits_in_batches_and_with_few_labels_compare_with_the_fit(fitted):
    (X, y), (fresh, labels), model = table(400, 3, 1.0), table(3000, 4, 1.0), LogisticRegression()
    train = {"X_train": X, "y_train": y}

    def stream(X, y):
        return pl.from_pandas(X.assign(y=y)).lazy()

    assert audit(fitted, model, stream(fresh, labels), "y", **train).verdict == "not met"
    with pytest.raises(DataError, match="3 of 3 dropped columns are empty or constant here"):
        audit(fitted, model, stream(blank(fresh), labels), "y", **train)
    with pytest.raises(DataError, match="in the training rows"):
        audit(fitted, model, stream(fresh, labels), "y", X_train=blank(X), y_train=y)
    with pytest.warns(PinskerWarning, match="400 of 400 test rows are among the rows of the fit"):
        assert audit(fitted, model, stream(*table(400, 1)), "y", **train).label == "estimate"
    both = [LogisticRegression().fit(part, y) for part in (X, X[["a"]])]
    plan = rows_to_label(fitted, *both, blank(fresh))
    with pytest.raises(DataError, match="3 of 3 dropped columns are empty or constant here"):
        plan.audit(blank(fresh), labels)
    needed = rows_to_label(fitted, *both, fresh).rows
    some = labels.astype(object).where(np.isin(np.arange(3000), needed), None)
    assert audit(fitted, model, fresh, some, **train).label == "hold-out estimate"
    with pytest.raises(DataError, match="in the training rows"):
        audit(fitted, model, fresh, some, X_train=blank(X), y_train=y)


def test_batches_of_a_sorted_stream_raise_no_doubt(fitted, monkeypatch):
    X, y = table(3000, 4)
    coloured = X.assign(d=(3 * X.d).round().clip(-4, 4))
    selector = FeatureSelector(0.05, **FAST).fit(coloured[:400], y[:400])
    monkeypatch.setattr("pinsker.encoding._stream._BATCH", 200)  # constant in d, most of them
    rows = pl.from_pandas(coloured[400:].assign(y=y[400:]).sort_values(["d", "y"])).lazy()
    train = {"X_train": coloured[:400], "y_train": y[:400]}
    assert audit(selector, LogisticRegression(), rows, "y", **train).notes == ()


def test_every_second_row_may_be_of_another_kind():
    # A profile of each second row of 3000 knew the left sides only.
    def sides(n, seed):
        X, y = table(n, seed)
        return X.assign(side=np.where(np.arange(n) % 2, "left", "right")), y

    selector = FeatureSelector(0.05, **FAST).fit(*sides(3000, 1))
    assert selector.certify(*sides(1500, 2)).notes == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.assign(k=X.k.astype(str)),
        lambda X: X.assign(k=X.k.astype("category")),
        lambda X: X.assign(flag=X.flag.astype(str)),
        lambda X: X.assign(price=X.price.astype("category"), flag=X.flag.astype(int)),
    ],
    ids=["text", "category", "truth as text", "prices"],
)
def test_numbers_are_the_same_as_categories(change):
    def mixed(seed):
        rng = np.random.default_rng(seed)
        X, y = table(400, seed)
        price = rng.choice([1.5, 2.25, 3.0], 400)
        return X.assign(flag=rng.random(400) < 0.4, k=rng.integers(0, 6, 400), price=price), y

    (X, y), (fresh, labels) = mixed(1), mixed(2)
    for first, later in ((lambda X: X, change), (change, lambda X: X)):
        selector = FeatureSelector(0.05, **FAST).fit(first(X), y)
        assert selector.certify(later(fresh), labels).notes == ()
        with pytest.raises(DataError, match="400 of 400 rows are rows of the fit"):
            selector.certify(later(X), y)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X.assign(a=X.a * 3), y),
        lambda X, y: (X.assign(a=X.a.rank()), y),
        lambda X, y: (X, 1 - y),
        lambda X, y: (X.round(2), y),
    ],
    ids=["a kept column in another unit", "its ranks", "classes turned round", "two decimals"],
)
def test_rows_of_the_fit_are_known_by_half_of_their_columns(fitted, change):
    X, y = change(*table(400, 1))
    certificate = fitted.certify(X, y)
    assert certificate.label == "estimate"
    said = r"(399|400) of 400 rows are rows of the fit in half of their columns"
    assert re.match(said, str(certificate.notes[0]))
    with pytest.warns(PinskerWarning, match="in half of their columns"):
        assert audit(fitted, LogisticRegression(), X, y).label == "estimate"


def test_numbers_of_the_fit_are_known_in_another_unit():
    rng = np.random.default_rng(0)
    X, fresh = table(400, 1)[0], table(400, 2)[0]
    y, values = X.a + rng.normal(size=400), fresh.a + 0.8 * fresh.b + rng.normal(size=400)
    selector = FeatureSelector(0.05, metric="mae", **FAST).fit(X, y)
    for other in (-y, 1.8 * y + 32):
        assert selector.certify(X, other).label == "estimate"
    # b costs 0.2, and a fourth of it in a unit that is four times as large.
    assert selector.certify(fresh, values).verdict == "not met"
    assert selector.certify(fresh, values / 5).label == "estimate"


def test_other_shares_of_classes_make_an_estimate(fitted):
    # Where 3 % are of one class every set is within 0.05.
    X, y = table(4000, 5, 1.0)
    rows = np.r_[np.flatnonzero(y == 0)[:1000], np.flatnonzero(y == 1)[:30]]
    certificate = fitted.certify(X.iloc[rows], y.iloc[rows])
    assert (certificate.verdict, certificate.label) == ("met", "estimate")
    assert "the classes have other shares here than in the fit" in str(certificate)
    less = np.r_[np.flatnonzero(y == 0)[:600], np.flatnonzero(y == 1)[:400]]
    assert fitted.certify(X.iloc[less], y.iloc[less]).label == "certificate"


def test_rows_that_weigh_next_to_nothing_are_no_rows(fitted):
    X, y = table(400, 5)
    weights = np.where(np.arange(400) < 50, 1.0, 1e-6)
    certificate = fitted.certify(X, y, sample_weight=weights)
    assert certificate.label == "estimate"
    assert "few rows" in {note.kind for note in certificate.notes}
