"""Held-out models: scores into log-likelihoods, and the information that models can show."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from pinsker.encoding import encode, encode_columns
from pinsker.exceptions import ParameterError
from pinsker.metrics import Metric
from pinsker.models import (
    LARGE_TABLE,
    HoldoutModel,
    ModelDesign,
    PriorModel,
    best_by_information,
    best_by_loss,
    default_models,
    fit_temperature,
    named_models,
)


def target_of(y, **options):
    return encode(np.arange(len(y), dtype=float)[:, None] + 0.5, y, **options).target


def test_design_encodes_text_one_hot_and_marks_missing_values():
    table = encode_columns(
        np.array([[1.5, "a"], [np.nan, "b"], [4.5, "c"], [2.5, "a"]], dtype=object),
        missing="category",
    )
    design = ModelDesign.of(table, [[0], [1]])
    numbers, text = (design.take(np.arange(4), [feature]) for feature in (0, 1))
    assert numbers.shape == (4, 2)
    np.testing.assert_array_equal(numbers[:, 1], [0, 1, 0, 0])
    assert numbers[1, 0] == 0.0
    np.testing.assert_array_equal(text.sum(axis=1), 1.0)
    np.testing.assert_array_equal(text[0], text[3])


def test_design_takes_features_in_their_own_order():
    design = ModelDesign.of(
        encode_columns(np.random.default_rng(0).normal(size=(9, 3))), [[0, 2], [1]]
    )
    rows = np.array([4, 1])
    np.testing.assert_array_equal(design.take(rows, [1, 0]), design.take(rows, [0, 1]))
    assert design.take(rows, []).shape == (2, 0)


def test_shuffling_keeps_what_is_kept_and_moves_the_rest_as_one():
    values = np.random.default_rng(1).normal(size=(30, 3))
    design = ModelDesign.of(encode_columns(values, scale="none"), [[0], [1], [2]])
    order = np.random.default_rng(2).permutation(30)
    other = design.with_shuffled([1], order)
    np.testing.assert_array_equal(other.values[:, 1], design.values[:, 1])
    np.testing.assert_array_equal(other.values[:, [0, 2]], design.values[order][:, [0, 2]])


def test_temperature_is_the_best_weight(seed):
    rng = np.random.default_rng(seed)
    scores, labels = rng.normal(size=(200, 4)), rng.integers(0, 4, size=200)
    scores[np.arange(200), labels] += 1.0

    def loss(weight):
        scaled = weight * scores
        return np.mean(np.log(np.exp(scaled).sum(axis=1)) - scaled[np.arange(200), labels])

    best = minimize_scalar(loss, bounds=(0, 20), method="bounded", options={"xatol": 1e-10})
    # Both stop where the loss is flat: a weight off by 1e-5 changes it by less than 1e-10.
    assert fit_temperature(scores, labels) == pytest.approx(best.x, abs=1e-5)


def test_temperature_of_useless_and_of_perfect_scores():
    labels = np.array([0, 1, 0, 1])
    against = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert fit_temperature(against, labels) == pytest.approx(0.0, abs=1e-6)
    assert 50.0 < fit_temperature(-against, labels) <= 1e3  # certain for all that matters
    assert np.isfinite(fit_temperature(np.zeros((4, 2)), labels))
    # One row far on the wrong side: the curvature is a denormal number, and warnings are errors.
    assert 0.0 <= fit_temperature(np.array([[730.0, 0.0], [0.0, 730.0]]), np.array([1, 1])) < 1.0


def test_classes_by_hand():
    target = target_of(["a", "b", "a", "b"])
    scores = np.log([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.2]])
    held = Metric("error").score_holdout("w", scores, target, np.arange(4))
    # Three of four scores point to the right class, so the best temperature gives them 3/4.
    np.testing.assert_allclose(np.exp(held.log_likelihood), [0.75, 0.75, 0.75, 0.25], rtol=1e-6)
    np.testing.assert_array_equal(held.losses, [0, 0, 0, 1])
    brier = Metric("brier").score_holdout("w", scores, target, np.arange(4))
    np.testing.assert_allclose(brier.losses, [0.125, 0.125, 0.125, 1.125], rtol=1e-6)


def test_numbers_by_hand():
    y = np.array([0.0, 2.0, 4.0, 6.0]) + 0.25
    target = target_of(y, task="regression")
    rows = np.array([3, 1, 0, 2])
    residuals = np.array([1.0, -1.0, 1.0, -1.0])
    held = Metric("r2").score_holdout("w", (y[rows] + residuals)[:, None], target, rows)
    np.testing.assert_allclose(held.log_likelihood, -0.5 * (np.log(2 * np.pi) + 1.0))
    np.testing.assert_allclose(held.losses, 1.0 / np.var(y))
    mean = Metric("r2").score_holdout("m", np.full((4, 1), y.mean()), target, rows)
    gains = held.log_likelihood - mean.log_likelihood
    assert gains.mean() == pytest.approx(0.5 * np.log(np.var(y)))
    for metric, loss in (("mse", 1.0), ("mae", 1.0), ("log-loss", 0.5 * np.log(2 * np.pi * np.e))):
        held = Metric(metric).score_holdout("w", (y[rows] + residuals)[:, None], target, rows)
        assert held.loss == pytest.approx(loss)
        assert held.metric == metric


def test_exact_predictions_are_finite():
    y = np.array([0.5, 2.5, 4.5])
    held = Metric("mse").score_holdout(
        "w", y[:, None], target_of(y, task="regression"), np.arange(3)
    )
    assert np.isfinite(held.log_likelihood).all()


def test_information_of_a_linear_gaussian_problem():
    # I = -log(1 - rho^2)/2 with rho^2 = 1/2: 0.3466 nats; at 4000 held-out rows the standard error
    # is below 0.011, five of them below 0.055.
    rng = np.random.default_rng(0)
    x = rng.normal(size=8000)
    y = x + rng.normal(size=8000)
    target = target_of(y, task="regression")
    train, test = np.arange(4000), np.arange(4000, 8000)
    prior, held = (
        Metric("r2").score_holdout(
            model.name,
            model.fit_predict(x[train, None], y[train, None], x[test, None]),
            target,
            test,
        )
        for model in (PriorModel(), HoldoutModel("linear", LinearRegression()))
    )
    gains = held.log_likelihood - prior.log_likelihood
    assert gains.mean() == pytest.approx(np.log(2) / 2, abs=0.055)
    assert best_by_information([prior, held]) is held
    assert best_by_loss([prior, held]) is held


@pytest.mark.parametrize(
    "model",
    [SVC(), SVC(decision_function_shape="ovo"), GaussianNB(), RidgeClassifier(), Perceptron()],
    ids=lambda model: f"{type(model).__name__}{getattr(model, 'decision_function_shape', '')}",
)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scores_of_any_classifier_point_to_its_classes(model, n_classes):
    rng = np.random.default_rng(n_classes)
    labels = rng.integers(0, n_classes, size=150)
    x = 6.0 * np.eye(n_classes)[labels] + rng.normal(size=(150, n_classes))
    scores = HoldoutModel("w", model).fit_predict_scores(x, labels, x, n_classes)
    assert scores.shape == (150, n_classes)
    assert np.mean(scores.argmax(axis=1) == labels) > 0.95


def test_a_class_that_was_not_seen_is_least_likely():
    x = np.random.default_rng(3).normal(size=(40, 1))
    labels = np.where(x[:, 0] > 0, 3, 1)
    scores = HoldoutModel("w", GaussianNB()).fit_predict_scores(x, labels, x, 4)
    assert (scores[:, [0, 2]] <= scores[:, [1, 3]].min(axis=1, keepdims=True)).all()


def test_one_class_or_no_column_is_left_to_the_prior():
    x, labels = np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1])
    model = HoldoutModel("w", LogisticRegression())
    frequencies = np.array([4.5, 2.5]) / 7
    np.testing.assert_allclose(
        model.fit_predict_scores(x[:, :0], labels, x[:1, :0], 2)[0], np.log(frequencies)
    )
    assert model.fit_predict_scores(x[:4], labels[:4], x, 2)[0, 0] > np.log(0.8)
    np.testing.assert_allclose(model.fit_predict(x, np.full((6, 1), 2.0), x), 2.0)


def test_defaults_by_task_and_size():
    small = [model.name for model in default_models("regression", LARGE_TABLE)]
    trees = ["extra trees", "boosted trees", "boosted trees (100 rounds)"]
    assert small == ["linear", "linear ranks", "svm", *trees]
    large = [model.name for model in default_models("regression", LARGE_TABLE + 1)]
    assert large == [name for name in small if name != "svm"]
    classes = [model.name for model in default_models("classification", 100)]
    assert classes[0] == "linear"
    assert classes[-5:] == small[1:]
    assert all(name.startswith("linear") for name in classes[:-5])  # other penalties


def test_what_is_no_model():
    with pytest.raises(ParameterError, match="is no classifier, but the task is classification"):
        named_models([LinearRegression()], "classification", 50)
    with pytest.raises(ParameterError, match="models is empty"):
        named_models([], "classification", 50)
    with pytest.raises(ParameterError, match="use 'auto', 'linear'"):
        named_models("all", "classification", 50)
    with pytest.raises(ParameterError, match="model 'oracle' is unknown: use 'auto'"):
        named_models(["oracle"], "classification", 50)
    with pytest.raises(ParameterError, match="holds 'GaussianNB' twice: tell them apart by"):
        named_models([GaussianNB(), GaussianNB(priors=[0.5, 0.5])], "classification", 50)
    named = named_models(["boosted trees", ("mine", GaussianNB())], "classification", 50)
    assert [model.name for model in named] == ["boosted trees", "mine"]


def test_a_classifier_without_scores_has_its_predictions():
    class Dumb(GaussianNB):
        predict_proba = property()

    x, labels = np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([0, 0, 1, 1])
    scores = HoldoutModel("dumb", Dumb()).fit_predict_scores(x, labels, x, 2)
    assert scores.tolist() == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


def test_models_declare_by_how_much_folds_widen_limits():
    found = {model.name: model.widening for model in default_models("regression", 100)}
    assert found["linear"] == found["linear ranks"] == 1.1
    assert found["svm"] == 1.25
    assert found["extra trees"] == found["boosted trees"] == HoldoutModel.widening == 1.2
