"""One fit of a model: the mean of several models, and losses without a feature."""

import numpy as np
import pytest
from scipy.special import log_softmax

from pinsker.encoding import encode
from pinsker.metrics import Metric
from pinsker.models import (
    ExtraTrees,
    Linear,
    MeanModel,
    ModelData,
    PriorModel,
    losses_without,
    predict_rows,
)

TRAIN, TEST = np.arange(200), np.arange(200, 300)


def table(task, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    y = 2 * X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=300)
    return X, (np.digitize(y, [-1.0, 1.0]) if task == "classification" else y)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_mean_model_is_the_mean_of_its_models(task):
    data = ModelData.of(encode(*table(task), task=task))
    models = (Linear(), ExtraTrees())
    mean = MeanModel.of(models)
    assert mean.name == "mean of linear, extra trees"
    found = predict_rows(data, mean, TRAIN, TEST, (0, 1, 2))
    each = [predict_rows(data, one, TRAIN, TEST, (0, 1, 2)) for one in models]
    if task == "classification":
        each = [log_softmax(scores, axis=1) for scores in each]
    np.testing.assert_allclose(found, (each[0] + each[1]) / 2, atol=1e-12)


def test_the_mean_of_one_model_is_that_model():
    alone = Linear()
    assert MeanModel.of([alone]) is alone


def test_classes_of_several_targets_are_averaged_target_by_target():
    X, y = table("classification")
    both = np.column_stack([y, X[:, 1] > 0])
    data = ModelData.of(encode(X, both, task="classification"))
    models = (Linear(), PriorModel())
    found = predict_rows(data, MeanModel.of(models), TRAIN, TEST, (0, 1, 2))
    each = [predict_rows(data, one, TRAIN, TEST, (0, 1, 2)) for one in models]
    expected = [
        np.hstack([log_softmax(s[:, :3], axis=1), log_softmax(s[:, 3:], axis=1)]) for s in each
    ]
    np.testing.assert_allclose(found, np.mean(expected, axis=0), atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("features", [(0, 1, 2), (0, 2)])
def test_losses_without_a_feature_are_those_of_a_table_where_it_is_shuffled(task, features):
    X, y = table(task)
    encoded = encode(X, y, task=task)
    data, metric = ModelData.of(encoded), Metric("error" if task == "classification" else "r2")
    shuffled = np.random.default_rng(1).permutation(TEST)
    found = losses_without(data, Linear(), TRAIN, TEST, features, metric.score_holdout, shuffled)
    expected = []
    for feature in features:
        design = data.design.layout(Linear.layout)
        train, test = design.take(TRAIN, features), design.take(TEST, features).copy()
        place = features.index(feature)
        test[:, place] = design.take(shuffled, features)[:, place]
        if task == "classification":
            scores = Linear().fit_predict_scores(train, encoded.target.labels[TRAIN], test, 3)
        else:
            scores = Linear().fit_predict(train, encoded.target.raw[TRAIN], test)
        expected.append(metric.score_holdout("linear", scores, encoded.target, TEST).loss)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    whole = predict_rows(data, Linear(), TRAIN, TEST, features)
    loss = metric.score_holdout("linear", whole, encoded.target, TEST).loss
    assert found[0] > loss + 0.2  # the feature that decides
    assert found[-1] == pytest.approx(loss, abs=0.03)  # noise
