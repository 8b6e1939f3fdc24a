"""The evaluator: models fitted to sets of features, and scored on held-out rows."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from pinsker.datasets import NoisyXor
from pinsker.encoding import encode
from pinsker.holdout import HoldoutEvaluator, Jobs, make_folds
from pinsker.metrics import Metric
from pinsker.models import default_models, named_models

ERROR = Metric("error")


def encoded(n=60, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 2.0 * y
    return encode(X, y)


def linear_evaluator(table, n_folds, metric=ERROR):
    models = named_models(["linear ranks"], "classification", table.n_rows, 0)
    return HoldoutEvaluator(table, make_folds(table, n_folds), models, metric)


def test_it_equals_plain_cross_validation():
    table = encoded(90)
    evaluator = linear_evaluator(table, 3)
    scores = evaluator.evaluate([[(0, 2)] * 3])[0]
    values = table.columns.values[:, [0, 2]]
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    labels, model = table.target.labels, LogisticRegression(tol=1e-2)
    wrong = [
        model.fit(values[fold.train], labels[fold.train]).predict(values[fold.test])
        != labels[fold.test]
        for fold in evaluator.folds
    ]
    np.testing.assert_array_equal(scores.losses, np.concatenate(wrong))


def test_the_metric_is_that_of_the_losses():
    table = encoded(90)
    evaluators = {name: linear_evaluator(table, 3, Metric(name)) for name in ("log-loss", "brier")}
    scores = {name: one.evaluate([[(0, 2)] * 3])[0] for name, one in evaluators.items()}
    np.testing.assert_allclose(scores["log-loss"].losses, -scores["brier"].log_likelihood)
    # For the true class alone the Brier score would be (1 - p)^2; the others add to it.
    probabilities = np.exp(scores["brier"].log_likelihood)
    assert (scores["brier"].losses >= (1 - probabilities) ** 2).all()
    assert (scores["brier"].losses <= 2 * (1 - probabilities) ** 2 + 1e-12).all()


class Counted:
    """A model that notes every fit."""

    def __init__(self, model, fitted):
        self.name, self.model, self.fitted = model.name, model, fitted
        self.layout = model.layout

    def fit_predict_scores(self, *data, **options):
        self.fitted.append(self.name)
        return self.model.fit_predict_scores(*data, **options)


def test_no_set_is_fitted_twice_and_any_number_of_jobs_agrees():
    table = encoded(80)
    fitted = []
    models = [Counted(model, fitted) for model in default_models("classification", 80)]
    sets = [[(0, 1)] * 4, [(1, 0)] * 4, [(2,)] * 4]
    found = []
    for n_jobs in (1, 2):
        evaluator = HoldoutEvaluator(table, make_folds(table, 4), models, ERROR, Jobs(n_jobs))
        found.append(evaluator.evaluate(sets))
        count = len(fitted)
        evaluator.evaluate(sets)
        assert len(fitted) == count
    assert len(fitted) == 2 * 2 * 4 * len(models)  # evaluators, different sets, folds, models
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one.log_likelihood, two.log_likelihood)
        np.testing.assert_array_equal(one.losses, two.losses)


def test_models_that_add_nothing_are_dropped():
    table = encode(*NoisyXor(n_columns=4).sample(300, seed=0))
    models = default_models("classification", 300)
    evaluator = HoldoutEvaluator(table, make_folds(table, 3), models, ERROR)
    evaluator.race([[(0, 1, 2, 3)] * 3, [(0, 1)] * 3])
    assert evaluator.models
    assert not any("linear" in model.name for model in evaluator.models)


def test_shuffled_columns_carry_nothing_and_the_evaluator_stays_as_it_was():
    table = encoded(90)
    evaluator = linear_evaluator(table, 3)
    before = evaluator.evaluate([[(0, 1)] * 3])[0]
    shuffle = np.random.default_rng(0).permutation(table.n_rows)
    other = evaluator.with_shuffled((1,), shuffle)
    assert other.evaluate([[(0, 1)] * 3])[0].loss > before.loss + 0.2
    same = evaluator.evaluate([[(0, 1)] * 3])[0]
    np.testing.assert_array_equal(same.losses, before.losses)
    kept = evaluator.with_shuffled((0, 1, 2, 3), shuffle).evaluate([[(0, 1)] * 3])[0]
    np.testing.assert_array_equal(kept.losses, before.losses)
