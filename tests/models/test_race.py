"""The race of models, and the choice of models by other folds than those they are scored on."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from pinsker import FeatureSelector
from pinsker.encoding import encode
from pinsker.exceptions import MissingDependencyError, ParameterError
from pinsker.holdout import Fold, HoldoutEvaluator
from pinsker.metrics import Metric
from pinsker.models import (
    HoldoutModel,
    HoldoutScores,
    Linear,
    ModelData,
    ModelDesign,
    PriorModel,
    default_models,
    named_models,
    predict_rows,
)
from pinsker.models._model import _PENALTIES, predict_log_odds, predict_ridge


class Coin(HoldoutModel):
    """A model that is wrong in four of ten rows, whatever it is fitted to."""

    def fit_predict_scores(self, train, labels, test, n_classes, **_):
        rng = np.random.default_rng([int(self.name), len(train), int(1e6 * abs(test[0, 0]))])
        right = (rng.random(len(test)) < 0.6).astype(float)
        return np.column_stack([right, 1.0 - right])  # all rows are of the first class


def test_the_best_of_ten_equal_models_is_not_optimistic():
    """Ten models flip a coin with .4: the smallest loss is .36, that of the chosen ones .40."""
    rng = np.random.default_rng(0)
    smallest, chosen = [], []
    for _ in range(12):
        X, y = rng.normal(size=(300, 1)), (np.arange(300) < 2).astype(int)
        models = [Coin(str(k), None) for k in range(10)]
        folds = [Fold(*fold) for fold in folds_of(300, 5)]
        evaluator = HoldoutEvaluator(encode(X, y), folds, models, Metric("error"))
        evaluator.evaluate([[(0,)] * 5])
        losses = [evaluator._pool(model, [(0,)] * 5) for model in models]
        smallest.append(min(one.loss for one in losses))
        parts = zip(evaluator._pick(losses, 5), np.split(np.arange(300), 5), strict=True)
        chosen.append(np.mean([losses[model].losses[part] for model, part in parts]))
    assert np.mean(smallest) < 0.37
    assert np.mean(chosen) > 0.385


def test_a_fold_has_no_part_in_its_own_choice():
    rng = np.random.default_rng(0)
    table = encode(rng.normal(size=(60, 1)), rng.normal(size=60))
    folds = [Fold(*fold) for fold in folds_of(60)]
    evaluator = HoldoutEvaluator(table, folds, [Linear()], Metric("r2"))
    one, other = (HoldoutScores(name, rng.normal(size=60), rng.random(60), "r2") for name in "ab")
    before = evaluator._pick([one, other], 3)
    one.losses[20:40] += 10.0  # the rows of the second fold
    assert evaluator._pick([one, other], 3)[1] == before[1]
    assert evaluator._pick([one, other], 3)[0] == 1


def folds_of(n, n_folds=3):
    rows = np.random.default_rng(0).permutation(n)
    parts = np.array_split(rows, n_folds)
    return [(np.sort(np.setdiff1d(rows, part)), np.sort(part)) for part in parts]


def skewed_table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = np.exp(1.3 * X[:, 2])
    return X, X[:, 0] + 0.8 * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("n", [300, 2500])
def test_the_race_finds_the_linear_model_of_a_skewed_column(n):
    encoded = encode(*skewed_table(n))
    models = default_models("regression", n)
    assert [model.name for model in models][:2] == ["linear", "linear ranks"]
    assert ("svm" in {model.name for model in models}) == (n <= 2000)
    evaluator = HoldoutEvaluator(
        encoded, [Fold(*fold) for fold in folds_of(n)], models, Metric("r2")
    )
    evaluator.race([[(0, 1, 2, 3)] * 3])
    assert [model.name for model in evaluator.models] == ["linear"]


@pytest.mark.parametrize(("n", "winner"), [(300, "mean of a, b"), (2000, "a")])
def test_equals_go_to_the_cheapest(n, winner):
    models = (Linear("a"), Linear("b"), PriorModel())
    folds = [Fold(*fold) for fold in folds_of(n)]
    evaluator = HoldoutEvaluator(encode(*skewed_table(n)), folds, models, Metric("r2"))
    evaluator.race([[(0, 1, 2, 3)] * 3])
    assert [model.name for model in evaluator.models] == [winner]


def test_who_races_follows_from_what_models_take():
    names = [model.name for model in default_models("classification", 500, n_classes=26)]
    assert "boosted trees" not in names
    assert "extra trees" in names
    assert "extra trees" not in [m.name for m in default_models("regression", 500, weighted=True)]


def test_of_many_classes_extra_trees_are_fewer():
    # 4999 x 500 with 50 classes took 68 CPU s, 64 of them in trees.
    def n_trees(**sizes):
        models = default_models("classification", 4999, **sizes)
        return next(model.n_trees for model in models if model.name == "extra trees")

    assert n_trees(n_columns=500, n_classes=50) == 32
    assert n_trees(n_columns=500, n_classes=10) == n_trees(n_columns=100, n_classes=50) == 64


def test_of_many_targets_linear_models_race_alone():
    # 30 labels of 1900 rows and 100 columns were not done at 480 CPU s: a fit for every label.
    def names(task, n_rows, n_targets):
        models = default_models(task, n_rows, n_columns=100, n_targets=n_targets)
        return {model.name.partition(" (")[0] for model in models}

    assert names("classification", 1900, 30) == {"linear", "linear ranks"}
    assert names("regression", 1900, 20) == {"linear", "linear ranks"}
    for few in (names("classification", 1900, 5), names("regression", 300, 30)):
        assert {"svm", "extra trees", "boosted trees"} < few


def test_ridge_is_the_best_of_its_penalties_left_out_one_by_one(seed):
    rng = np.random.default_rng(seed)
    for n, d in ((25, 4), (12, 30)):
        X, test = rng.normal(size=(n, d)), rng.normal(size=(5, d))
        y = X[:, 0] + rng.normal(size=n)
        weights = rng.integers(1, 4, size=n).astype(float)
        centered = (X - np.average(X, axis=0, weights=weights)) * np.sqrt(weights)[:, None]
        squares = np.linalg.svd(centered, compute_uv=False) ** 2
        squares = squares[squares > 1e-9]
        predictions, errors = [], []
        for penalty in _PENALTIES[3:] * squares.mean():  # smaller ones: least squares
            predictions.append(Ridge(penalty).fit(X, y, weights).predict(test))
            left_out = 0.0
            for i in range(n):
                others = weights - (np.arange(n) == i)  # integer weights are repeated rows
                model = Ridge(penalty).fit(X[others > 0], y[others > 0], others[others > 0])
                left_out += weights[i] * (model.predict(X[i : i + 1])[0] - y[i]) ** 2
            errors.append(left_out)
        found = predict_ridge(X, y, test, weights)
        gaps = [np.abs(found - one).max() for one in predictions]
        if d < n:
            assert int(np.argmin(gaps)) == int(np.argmin(errors))
            assert min(gaps) < 1e-8


@pytest.mark.parametrize("C", [0.03, 1.0, 30.0])
@pytest.mark.parametrize(
    "kind", ["plain", "one column", "copies", "separable", "rare", "far", "wide", "weights"]
)
def test_log_odds_are_those_of_a_logistic_regression(seed, kind, C):
    rng = np.random.default_rng(seed)
    d = {"one column": 1, "wide": 90}.get(kind, 5)
    X, test = rng.normal(size=(100, d)), rng.normal(size=(20, d))
    noise = 0.0 if kind == "separable" else rng.logistic(size=100)
    y = (2 * X[:, 0] + X[:, -1] - 0.5 + noise > 0).astype(np.int64)
    if kind == "copies":
        X[:, 1], X[:, 2] = X[:, 0], -X[:, 0]
    if kind == "rare":
        y[:] = np.arange(100) < 2
    if kind == "far":
        X[0] *= 1e4
    weights = rng.exponential(size=100) if kind == "weights" else None
    peer = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    expected = peer.fit(X, y, weights).decision_function(test)
    # Its last step is taken from where 1e-7 a row is left to gain. What that leaves is below 1e-5,
    # with a row at 1e4 standard deviations, where the curve is far from a parabola, below 1e-4.
    np.testing.assert_allclose(
        predict_log_odds(X, y, test, C, weights), expected, atol=1e-4 if kind == "far" else 1e-5
    )


def test_log_odds_without_columns_are_those_of_the_frequencies():
    none, y = np.empty((40, 0)), np.repeat([0, 1], [10, 30])
    found = predict_log_odds(none, y, none[:3], 1.0)
    np.testing.assert_allclose(found, np.log(3.0), atol=1e-5)
    halves = np.where(y, 0.5, 1.5)
    found = predict_log_odds(none, y, none[:3], 1.0, halves)
    np.testing.assert_allclose(found, 0.0, atol=1e-5)


def test_units_are_the_users_and_gaps_are_marked():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(2 * rng.normal(size=400)), np.where(rng.random(400) < 0.8, 0, 9.5)])
    X[7, 0] = np.nan
    encoded = encode(X, rng.normal(size=400), missing="category")
    taken = (
        ModelDesign.of(encoded.columns, encoded.features)
        .layout("units")
        .take(np.arange(400), [0, 1])
    )
    present = np.arange(400) != 7
    expected = (X[present, 0] - X[present, 0].mean()) / X[present, 0].std()
    np.testing.assert_allclose(taken[present, 0], expected, atol=1e-12)
    np.testing.assert_array_equal(taken[7, :2], [0.0, 1.0])


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "name", ["linear", "linear ranks", "svm", "extra trees", "boosted trees", "forest", "lightgbm"]
)
def test_models_by_name_learn(name, task):
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(object)
    X[:, 2] = np.array([f"c{i}" for i in range(300)])[rng.integers(0, 20, size=300)]
    y = X[:, 0].astype(float)
    y = np.where(y > 0, "a", "b") if task == "classification" else y
    encoded = encode(X, y)
    (model,) = named_models(name, task, 300)
    assert model.name == name
    train, test = np.arange(200), np.arange(200, 300)
    scores = predict_rows(ModelData.of(encoded), model, train, test, (0, 1, 2))
    target = encoded.target
    if target.labels is None:
        assert np.corrcoef(scores[:, 0], target.raw[test, 0])[0, 1] > 0.9
    else:
        assert (scores.argmax(axis=1) == target.labels[test]).mean() > 0.85


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "catboost", None)
    with pytest.raises(MissingDependencyError, match="pip install catboost"):
        named_models("catboost", "regression", 50)
    with pytest.raises(ParameterError, match="'lightgbm'"):
        named_models("gbm", "regression", 50)


def test_rare_classes_do_not_stop_boosted_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, 0)
    y[0] = 2
    (model,) = named_models("boosted trees", "classification", 60)
    assert model.fit_predict_scores(X, y, X, 3).shape == (60, 3)


def test_models_of_the_user_that_tie_predict_together():
    # The last pass took their mean for a model of ours: IndexError.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    models = [(name, LogisticRegression()) for name in ("one", "other")]
    selector = FeatureSelector(0.1, models=models, searches=["linear"], random_state=0)
    selector.fit(X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=200) > 0)
    assert selector.certificate_.model_all == "mean of one, other"
    assert selector.support_[:2].all()


def test_all_features_of_a_wide_table_are_no_strawman():
    """With 165 rows of 1107 columns a model without any stood for all features: R² -0.0001."""
    rng = np.random.default_rng(0)
    factors, X = rng.normal(size=(165, 4)), rng.normal(size=(165, 1107))
    X[:, :400] = factors[:, rng.integers(4, size=400)] + 0.7 * rng.normal(size=(165, 400))
    y = 1.5 * (factors[:, 0] > 0) + (factors[:, 1] > 0.5) + 0.4 * rng.normal(size=165)
    selector = FeatureSelector(0.02, searches=["elimination"], random_state=0).fit(np.exp(X), y)
    found = selector.certificate_
    assert found.model_all == "extra trees"
    assert found.error_all < 0.5  # of the variance; extra trees reach 0.40 here, no model 1.00
