"""Scores that are no mean over rows: values, influences and standard errors."""

import numpy as np
import pytest
import sklearn
from sklearn import metrics
from sklearn.metrics import get_scorer_names
from sklearn.utils.fixes import parse_version

from oracles.metrics import (
    delong,
    delong_difference,
    jackknife_error,
    left_out,
    numerical_influence,
)
from pinsker import CostMatrix, ErrorBudget
from pinsker.bounds import paired_difference
from pinsker.exceptions import DataError, ParameterError
from pinsker.metrics import Metric, shown_value, task_of

CLASS_SCORERS = [
    "average_precision", "balanced_accuracy", "d2_brier_score", "d2_log_loss_score", "f1",
    "f1_macro", "f1_micro", "f1_weighted", "jaccard", "jaccard_macro", "matthews_corrcoef",
    "neg_brier_score", "precision", "precision_weighted", "recall", "recall_macro", "roc_auc",
    "roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo",
]  # fmt: skip
NUMBER_SCORERS = [
    "d2_absolute_error_score", "explained_variance", "neg_mean_absolute_percentage_error",
    "neg_mean_gamma_deviance", "neg_mean_poisson_deviance", "neg_mean_squared_log_error",
    "neg_root_mean_squared_error", "neg_root_mean_squared_log_error",
]  # fmt: skip
REFUSED = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "f1_samples",
    "fowlkes_mallows_score", "homogeneity_score", "jaccard_samples", "mutual_info_score",
    "neg_max_error", "max_error", "normalized_mutual_info_score", "precision_samples", "rand_score",
    "recall_samples", "v_measure_score",
}  # fmt: skip
OLD = parse_version(sklearn.__version__) < parse_version("1.7")
RANKED = {"average_precision", "roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted"}
ONLY_TWO = {"f1", "jaccard", "precision", "recall", "d2_brier_score", "neg_brier_score"}


def class_rows(n_classes, n=60, seed=0, ties=True):
    """Return labels, log-probabilities and probabilities, with ties among the scores."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(
        n_classes, size=n, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1))
    )
    scores = rng.normal(size=(n, n_classes))
    scores[np.arange(n), labels] += 1.0
    if ties:
        scores = scores.round(1)
        if n_classes == 2:
            scores[:, 0] = 0.0
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return labels, logs, np.exp(logs)


def number_rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    true = np.exp(rng.normal(size=n))
    return true, true * np.exp(0.3 * rng.normal(size=n))


def own_score(name, labels, probabilities, weights=None):
    """Return what scikit-learn's scorer says, as its function."""
    scorer = metrics.get_scorer(name)
    kwargs = dict(scorer._kwargs)
    if scorer._response_method == "predict":
        given = probabilities.argmax(axis=1)
    else:
        given = probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
        if name == "roc_auc":
            kwargs.setdefault("multi_class", "ovr")
    return scorer._score_func(labels, given, sample_weight=weights, **kwargs)


class TestDeLong:
    @pytest.mark.parametrize("ties", [False, True])
    def test_value_and_standard_error_are_delongs(self, ties):
        labels, logs, _ = class_rows(2, n=80, ties=ties)
        margin = logs[:, 1] - logs[:, 0]
        losses = Metric("roc_auc").of_classes(logs, labels)
        auc, variance = delong(labels == 1, margin)
        assert 1.0 - losses.mean() == pytest.approx(auc, abs=1e-12)
        assert losses.var(ddof=1) / len(losses) == pytest.approx(variance, abs=1e-12)

    def test_the_difference_of_two_models_is_delongs(self):
        labels, first, _ = class_rows(2, n=80)
        rng = np.random.default_rng(1)
        second = first + np.column_stack([np.zeros(80), rng.normal(size=80)])
        metric = Metric("roc_auc")
        gaps = metric.of_classes(second, labels) - metric.of_classes(first, labels)
        margins = [scores[:, 1] - scores[:, 0] for scores in (first, second)]
        wanted = delong_difference(labels == 1, *margins)
        assert gaps.var(ddof=1) / len(gaps) == pytest.approx(wanted, abs=1e-12)


class TestInfluence:
    @pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (2, True), (4, True)])
    @pytest.mark.parametrize("name", CLASS_SCORERS)
    def test_of_classes_against_perturbed_weights(self, name, n_classes, weighted):
        if n_classes > 2 and name in ONLY_TWO:
            pytest.skip("for two classes")
        if name not in get_scorer_names():
            pytest.skip("of later versions of scikit-learn")
        if OLD and (n_classes > 2 and weighted) and name in RANKED:
            pytest.skip("scikit-learn 1.6 weighs classes otherwise")
        labels, logs, probabilities = class_rows(n_classes)
        rng = np.random.default_rng(5)
        weights = rng.uniform(0.5, 2.0, size=60) if weighted else np.ones(60)
        if name == "roc_auc_ovo" and (n_classes > 2 and weighted):
            pytest.skip("scikit-learn has no weights there")
        losses = Metric(name).of_classes(logs, labels, weights=weights if weighted else None)
        given = weights if weighted else None
        score = own_score(name, labels, probabilities, given)
        value = -score if name.startswith("neg_") else score
        assert shown_value(name, losses.mean()) == pytest.approx(abs(value), abs=1e-12)
        if name == "roc_auc_ovo" and n_classes > 2:
            return
        rows = np.arange(0, 60, 8)  # scikit-learn's functions take milliseconds a call
        wanted = numerical_influence(
            lambda w: own_score(name, labels, probabilities, w), weights, rows
        )
        sign = 1.0 if name.startswith("neg_") else -1.0
        found = sign * ((losses - losses.mean()) / (weights / weights.mean()))[rows]
        if name == "average_precision":
            assert np.corrcoef(found, wanted)[0, 1] > 0.99  # rows are left out: see below
        elif name.startswith("roc_auc"):
            # The divisors of DeLong: the influences of a class are stretched.
            assert np.corrcoef(found, wanted)[0, 1] > 0.999
            np.testing.assert_allclose(found, wanted, rtol=0.12, atol=0.05)
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (2, True), (3, False)])
    def test_average_precision_is_that_of_rows_left_out(self, n_classes, weighted):
        labels, logs, probabilities = class_rows(n_classes)
        rng = np.random.default_rng(5)
        weights = rng.integers(2, 5, size=60).astype(float) if weighted else np.ones(60)
        losses = Metric("average_precision").of_classes(logs, labels, weights=weights)
        wanted = left_out(
            lambda w: own_score("average_precision", labels, probabilities, w), weights
        )
        moved = -wanted * weights / weights.mean()
        np.testing.assert_allclose(losses - losses.mean(), moved - moved.mean(), atol=1e-10)

    @pytest.mark.parametrize("name", NUMBER_SCORERS)
    def test_of_numbers_against_perturbed_weights(self, name):
        true, predicted = number_rows()
        weights = np.random.default_rng(5).uniform(0.5, 2.0, size=60)
        metric, scorer = Metric(name), metrics.get_scorer(name)

        def score(w):
            return scorer._score_func(true, predicted, sample_weight=w)

        losses = metric.of_numbers(predicted[:, None], true[:, None], weights=weights)
        assert shown_value(name, losses.mean()) == pytest.approx(score(weights), abs=1e-9)
        sign = 1.0 if metric.row.best is None else -1.0
        found = sign * (losses - losses.mean()) / (weights / weights.mean())
        wanted = numerical_influence(score, weights, np.arange(60))
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)

    def test_the_median_has_the_spread_of_the_asymptotic_formula(self):
        rng = np.random.default_rng(0)
        true = rng.normal(size=(4000, 1))
        losses = Metric("neg_median_absolute_error").of_numbers(np.zeros((4000, 1)), true)
        assert losses.mean() == pytest.approx(np.median(np.abs(true)), abs=1e-12)
        median = 0.6744897501960817  # of |N(0, 1)|, whose density there is twice the normal one
        density = 2 * np.exp(-(median**2) / 2) / np.sqrt(2 * np.pi)
        assert losses.std() == pytest.approx(0.5 / density, rel=0.08)


class TestJackknife:
    def test_an_unknown_function_gets_nearly_the_known_standard_error(self):
        labels, logs, _ = class_rows(2, n=1000)

        def area(y_true, y_score, sample_weight=None):
            return metrics.roc_auc_score(y_true, y_score, sample_weight=sample_weight)

        known, unknown = Metric("roc_auc"), Metric(area)
        assert unknown.method("classification") == "jackknife over 100 blocks of rows"
        first, second = known.of_classes(logs, labels), unknown.of_classes(logs, labels)
        assert 1.0 - first.mean() == pytest.approx(-second.mean(), abs=1e-12)
        assert second.std() == pytest.approx(first.std(), rel=0.25)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_groups_are_left_out_together(self, weighted):
        # The same 50 rows three times: three times the rows, and no more evidence.
        labels, logs, _ = class_rows(2, n=50)
        labels, logs, groups = np.tile(labels, 3), np.tile(logs, (3, 1)), np.tile(np.arange(50), 3)
        weights = np.random.default_rng(1).uniform(0.5, 2.0, size=150) if weighted else None

        def area(y_true, y_score, sample_weight=None):
            return metrics.roc_auc_score(y_true, y_score, sample_weight=sample_weight)

        metric, p = Metric(area), np.exp(logs[:, 1])
        assert metric.method("classification", grouped=True).startswith("jackknife over groups of")
        losses = metric.of_classes(logs, labels, weights=weights, clusters=groups)
        equal = np.ones(150) if weights is None else weights
        wanted = jackknife_error(
            lambda rows: area(labels[rows], p[rows], equal[rows]), groups, equal
        )
        assert -losses.mean() == pytest.approx(area(labels, p, equal), abs=1e-12)
        error = np.sqrt(np.sum(np.bincount(groups, losses - losses.mean()) ** 2)) / 150
        assert error == pytest.approx(wanted, rel=0.01)
        alone = metric.of_classes(logs, labels, weights=weights)
        assert np.sqrt(np.sum((alone - alone.mean()) ** 2)) / 150 < 0.8 * wanted
        limits = metric.increase(losses, np.zeros(150), 0.95, groups)
        assert limits.upper - limits.mean > 1.6 * wanted

    def test_many_groups_are_left_out_in_blocks(self):
        rng = np.random.default_rng(0)
        groups = np.repeat(np.arange(400), 3)
        shared = rng.normal(size=400)[groups]
        true = (shared + 0.3 * rng.normal(size=1200))[:, None]
        metric = Metric(lambda y, p: -float(np.mean(y - p)))
        losses = metric.of_numbers(np.zeros((1200, 1)), true, clusters=groups)
        error = np.sqrt(np.sum(np.bincount(groups, losses - losses.mean()) ** 2)) / 1200
        known = np.sqrt(np.sum(np.bincount(groups, true[:, 0] - true.mean()) ** 2)) / 1200
        assert error == pytest.approx(known, rel=0.3)  # of 100 blocks: 7 % either way

    def test_few_rows_are_left_out_one_by_one(self):
        true, predicted = number_rows(n=40)
        metric = Metric(lambda y, p: -float(np.mean((y - p) ** 2)))
        losses = metric.of_numbers(predicted[:, None], true[:, None])
        np.testing.assert_allclose(losses, (true - predicted) ** 2, atol=1e-9)

    def test_predicted_classes_without_weights_are_left_out_by_cells(self):
        labels, logs, probabilities = class_rows(2, n=50)
        right = metrics.make_scorer(lambda y, p: float(np.mean(y == p)))
        losses = Metric(right).of_classes(logs, labels)
        wrong = labels != probabilities.argmax(axis=1)
        np.testing.assert_allclose(losses, wrong - 1.0, atol=1e-9)


def test_every_scorer_of_scikit_learn_is_a_metric_or_refused_with_a_reason():
    labels, logs, _ = class_rows(2, n=150)
    true, predicted = number_rows(n=150)
    for name in metrics.get_scorer_names():
        if name in REFUSED:
            with pytest.raises(ParameterError, match="use another one"):
                Metric(name)
            continue
        metric = Metric(name)
        if name in ("top_k_accuracy", "roc_auc_ovo_weighted"):
            continue  # by the jackknife: slow, and the first is 1 for two classes
        if task_of(name) == "regression":
            losses = metric.of_numbers(predicted[:, None], true[:, None])
        else:
            losses = metric.of_classes(logs, labels)
        assert np.isfinite(losses).all(), name
        assert losses.std() > 0, name


def test_names_of_our_own_metrics():
    assert Metric("accuracy") == Metric("error")
    assert Metric("neg_mean_absolute_error") == Metric("mae")
    assert Metric(metrics.make_scorer(metrics.fbeta_score, beta=2)).name == "fbeta_score"
    assert ErrorBudget(0.01, metric="accuracy") == ErrorBudget(0.01, metric="error")
    assert str(ErrorBudget(0.01, metric=metrics.roc_auc_score)) == (
        "ErrorBudget(0.01, metric='roc_auc_score')"
    )


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("roc_acu", "'roc_acu' is not known: .* such as 'roc_auc'"),
        ("rand_score", "compares clusterings"),
        ("f1_samples", "several labels per row"),
        ("neg_max_error", "the error of a single row"),
        (3, "metric=3 is no metric"),
        (metrics.make_scorer(metrics.max_error), "single row"),
    ],
)
def test_what_is_no_metric_is_refused(metric, message):
    with pytest.raises(ParameterError, match=message):
        ErrorBudget(0.1, metric=metric)


def test_a_scorer_of_an_estimator_is_refused():
    def scorer(estimator, X, y):
        return 0.0

    labels, logs, _ = class_rows(2)
    with pytest.raises(ParameterError, match="takes an estimator"):
        Metric(scorer).of_classes(logs, labels)


def test_a_class_that_is_not_held_out_is_named():
    _, logs, _ = class_rows(2)
    with pytest.raises(DataError, match=r"needs held-out rows of every class, .* none of class 1"):
        Metric("roc_auc").of_classes(logs, np.zeros(60, dtype=np.int64))


def test_named_classes_reach_the_function():
    labels, logs, probabilities = class_rows(2)
    names = np.array(["ham", "spam"])
    wanted = metrics.fbeta_score(
        names[labels], names[probabilities.argmax(axis=1)], beta=2, pos_label="ham"
    )
    scorer = metrics.make_scorer(metrics.fbeta_score, beta=2, pos_label="ham")
    losses = Metric(scorer).of_classes(logs, labels, classes=names)
    assert 1 - losses.mean() == pytest.approx(wanted, abs=1e-12)


class TestCostMatrix:
    def test_the_cheapest_decision_is_paid_for(self):
        logs = np.log([[0.9, 0.1], [0.99, 0.01], [0.2, 0.8]])
        losses = Metric(CostMatrix([[0, 1], [20, 0]])).of_classes(logs, np.array([0, 1, 1]))
        # 0.1 * 20 > 0.9: the first row is called a 1; 0.01 * 20 < 0.99: the second is not.
        assert losses.tolist() == [1.0, 20.0, 0.0]

    def test_limits_know_the_values_that_no_row_shows(self):
        metric = Metric(CostMatrix([[0, 1], [20, 0]]))
        alike = metric.increase(np.zeros(500), np.zeros(500), 0.95)
        assert alike.mean == 0.0
        wanted = 1.648 * np.sqrt(
            (0.5 * 2 * (20**2 + 1)) / 504 / 503
        )  # four half rows, four of zero
        assert [-alike.lower, alike.upper] == pytest.approx([wanted, wanted], rel=1e-3)
        # Equal costs are a number of errors.
        equal = Metric(CostMatrix([[0, 1], [1, 0]]))
        signs = np.r_[np.ones(9), -np.ones(4), np.zeros(187)]
        one = equal.increase(signs, np.zeros(200), 0.95)
        assert paired_difference(signs, steps=np.array([-1.0, 1.0])) == one
        assert paired_difference(signs, counts=True).upper == pytest.approx(one.upper, rel=0.1)
        free = Metric(CostMatrix([[0, 0], [0, 0]]))
        assert free.increase(np.zeros(50), np.zeros(50), 0.95).upper == 0.0

    def test_limits_of_weighted_and_of_grouped_costs(self):
        rng = np.random.default_rng(0)
        metric = Metric(CostMatrix([[0, 1], [20, 0]]))
        gaps = rng.choice([-20.0, -1.0, 0.0, 1.0, 20.0], size=400, p=[0.01, 0.05, 0.85, 0.07, 0.02])
        plain = metric.increase(gaps, np.zeros(400), 0.95)
        equal = metric.increase(gaps, np.zeros(400), 0.95, None, np.full(400, 3.0))
        assert equal.upper == pytest.approx(plain.upper, rel=0.02)
        assert equal.upper >= plain.upper
        again = metric.increase(np.tile(gaps, 4), np.zeros(1600), 0.95, np.tile(np.arange(400), 4))
        assert again.upper == pytest.approx(plain.upper, rel=0.1)
        alone = metric.increase(np.tile(gaps, 4), np.zeros(1600), 0.95)
        assert alone.upper - alone.mean < 0.6 * (again.upper - again.mean)

    @pytest.mark.parametrize("costs", [[[0, 1]], [[0, -1], [1, 0]], [["a", 0], [0, 1]], 3])
    def test_what_is_no_table_of_costs_is_refused(self, costs):
        with pytest.raises(ParameterError, match="CostMatrix needs"):
            CostMatrix(costs)


def test_scores_as_people_know_them():
    auc, r2, mae = Metric("roc_auc"), Metric("r2"), Metric("mae")
    assert [one.row.words for one in (auc, r2, mae)] == ["ROC AUC", "R²", "mean absolute error"]
    assert r2.row.error_words == "share of the target's variance"
    shown = [shown_value(*pair) for pair in (("roc_auc", 0.1), ("r2", 0.25), ("mae", 3.0))]
    assert shown == [0.9, 0.75, 3.0]
    assert not auc.has_theory
    assert r2.has_theory
