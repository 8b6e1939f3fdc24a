"""Algorithms 1 and 2 to the letter, and what their certificates say."""

import json

import numpy as np
import pytest

from oracles import knn as slow
from pinsker import BackwardElimination, ErrorBudget, ForwardSelection, KNNSettings
from pinsker.datasets import Radial
from pinsker.engine import EngineSettings
from pinsker.exceptions import ParameterError
from tests.truths import AdditiveCurves

FAR = 1e200  # two classes are infinitely far apart


def table(task, ties, seed, n=28, d=4):
    """Return a small table; rounded columns tie rows."""
    problem = Radial(3, d) if task == "classes" else AdditiveCurves(n_columns=d)
    X, y = problem.sample(n, seed=seed)
    return (np.round(X, 0 if task == "classes" else 1) if ties else X), y


def gao(X, y, columns, k):
    """I(Y; X_S) by Gao et al., row by row."""
    if not columns:
        return 0.0
    return float(np.mean(slow.gao_terms(X[:, columns], y, None, k)))


def algorithm1(X, y, budget, k):
    """Backward elimination as printed, with scores clipped at zero; one feature stays."""
    left, spent = list(range(X.shape[1])), 0.0
    while len(left) > 1:
        full = gao(X, y, left, k)
        costs = [full - gao(X, y, [c for c in left if c != i], k) for i in left]
        worst = max(j for j, c in enumerate(costs) if c <= min(costs) + 1e-12)
        spent += max(costs[worst], 0.0)
        if spent >= budget:
            break
        del left[worst]
    return sorted(left)


def algorithm2(X, y, budget, k):
    """Forward selection as printed: what was chosen before the step that reaches the budget."""
    chosen, spent = [], 0.0
    while len(chosen) < X.shape[1]:
        rest = [i for i in range(X.shape[1]) if i not in chosen]
        gains = [gao(X, y, [*chosen, i], k) - gao(X, y, chosen, k) for i in rest]
        best = next(j for j, g in enumerate(gains) if g >= max(gains) - 1e-12)
        spent += max(gains[best], 0.0)
        if spent >= budget:
            return sorted(chosen or [rest[best]])  # one stays
        chosen.append(rest[best])
    return sorted(chosen)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
def test_the_naive_algorithms_come_out(kind, task, ties):
    naive = algorithm1 if kind is BackwardElimination else algorithm2
    X, y = table(task, ties, seed=3)
    target = y[:, None] * FAR if task == "classes" else y[:, None]
    selector = kind.as_published(0.1).fit(X, y)
    sizes = set()
    for delta in (0.05, 0.4, 0.8, 1.0) if task == "classes" else (0.5, 5.0, 20.0, 60.0):
        budget = delta**2 / 2 if task == "classes" else delta / (2 * np.abs(y).max() ** 2)
        rule = ErrorBudget(delta, constants="paper", reference="full")
        kept = np.flatnonzero(selector.support_at(error_budget=rule)).tolist()
        assert kept == naive(X, target, budget, 3)
        sizes.add(len(kept))
    assert len(sizes) > 1 or kind is ForwardSelection  # the budgets do cut at different sizes


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_without_ties_differences_of_both_estimators_are_the_same(task):
    X, y = table(task, ties=False, seed=1, n=60, d=6)
    for kind in (BackwardElimination, ForwardSelection):
        paths = [
            kind(knn=KNNSettings(scale="none", estimator=e)).fit(X, y).path_ for e in ("ksg", "gao")
        ]
        assert paths[0].moves == paths[1].moves
        # The score of the first or last feature alone holds psi(n) - log(n); others are the same.
        inner = slice(None, -1) if kind is BackwardElimination else slice(1, None)
        np.testing.assert_allclose(paths[0].scores[inner], paths[1].scores[inner], atol=1e-13)


def test_on_tied_rows_they_differ():
    X, y = table("classes", ties=True, seed=1, n=60, d=5)
    found = [
        BackwardElimination(knn=KNNSettings(scale="none", estimator=e)).fit(X, y).path_.information
        for e in ("ksg", "gao")
    ]
    assert max(abs(a - b) for a, b in zip(*found, strict=True)) > 0.02


def test_patience_is_none_and_nothing_is_held_out():
    for kind in (BackwardElimination, ForwardSelection):
        selector = kind.as_published(0.3, n_neighbors=5)
        assert selector.cv == 0
        assert selector.knn == KNNSettings(5, scale="none", estimator="gao")
        assert selector.error_budget == ErrorBudget(0.3, constants="paper", reference="full")
    assert ForwardSelection.as_published().patience is None
    X, y = Radial(3, 14).sample(40, seed=0)  # information falls from the second feature on
    assert len(ForwardSelection.as_published(1.0).fit(X, y).path_.moves) == 14


def test_the_certificate_counts_what_the_rule_spent():
    X, y = Radial(4, 8).sample(120, seed=3)
    for kind in (BackwardElimination, ForwardSelection):
        selector = kind.as_published(0.6).fit(X, y)
        c, path = selector.certificate_, selector.path_
        spent = path.spent[abs(c.n_kept - path.sizes[0])]
        counted = spent if path.direction == "backward" else path.spent[-1] - spent
        assert c.information_lost == pytest.approx(counted)
        assert c.bound == pytest.approx(np.sqrt(2 * counted))  # the same nats, by Theorem 3
    assert c.bound > 0.4  # seen: "0.0000 nats lost; ... rises by at most 0.4592"


def test_the_certificate_names_the_theorem_and_its_claim():
    X, y = Radial(4, 8).sample(120, seed=3)
    text = str(BackwardElimination.as_published(0.5).fit(X, y).certificate_)
    claim = "claims that the Bayes risk (error rate) rises by at most 0.5"
    assert f"Theorem 4 of the paper {claim}" in text
    assert "less than 0.125 nats" in text
    text = str(ForwardSelection.as_published(0.5).fit(X, y).certificate_)
    assert "Theorem 5 of the paper, which speaks for this rule, is false as printed" in text


def test_numbers_are_budgeted_in_squared_error_and_the_bound_is_shown():
    X, y = AdditiveCurves().sample(80, seed=0)
    c = BackwardElimination.as_published(5.0).fit(X, y).certificate_
    assert c.metric == "mse"
    assert c.information_budget == pytest.approx(5.0 / (2 * np.abs(y).max() ** 2))
    large = BackwardElimination.as_published(40.0).fit(X, y).certificate_
    assert 1.0 < large.bound <= 40.0  # seen: hidden from 1 on
    assert f"rises by at most {large.bound:.3f}" in str(large)
    # A user who names R² gets a budget of R².
    r2 = BackwardElimination.as_published(0.5).set_params(metric="r2").fit(X, y).certificate_
    assert r2.metric == "r2"
    assert r2.information_budget == pytest.approx(0.5 * y.var() / (2 * np.abs(y).max() ** 2))


def test_a_path_certificate_has_both_sides_and_its_own_error():
    X, y = Radial(3, 6).sample(200, seed=1)
    selector = BackwardElimination(0.25).fit(X, y)
    notes = {note.kind: note.figures for note in selector.certificate_.notes}
    interval = notes["Bayes error of a set"]
    left = np.log(2) - selector.path_.information_at(int(selector.support_.sum()))
    assert interval["left"] == pytest.approx(left)
    assert interval["upper"] == pytest.approx((left + 2 * interval["error"]) / (2 * np.log(2)))
    e = interval["lower"]  # Fano, two standard errors below
    below = max(left - 2 * interval["error"], 0.0)
    assert -e * np.log(e) - (1 - e) * np.log(1 - e) == pytest.approx(below, abs=1e-6)
    assert "(Fano)" in str(selector.certificate_)
    lost = notes["error of what is lost"]
    assert lost["error"] > 0
    assert lost["bound"] > selector.certificate_.bound
    numbers = BackwardElimination.as_published(40.0).fit(*AdditiveCurves().sample(80, seed=0))
    kinds = [note.kind for note in numbers.certificate_.notes]
    assert kinds == ["printed backward", "error of what is lost"]
    json.loads(selector.certificate_.to_json())


@pytest.mark.parametrize("wrong", [{"score": "direct"}, {"max_samples": 10}])
def test_what_gao_cannot_do_is_refused(wrong):
    with pytest.raises(ParameterError, match="estimator='gao': use score='difference'"):
        KNNSettings(estimator="gao", **wrong)
    with pytest.raises(ParameterError, match="estimator"):
        KNNSettings(estimator="kraskov")


def test_groups_and_fixed_features_go_with_it():
    X, y = Radial(3, 5).sample(50, seed=2)
    selector = BackwardElimination.as_published(1.0).set_params(
        feature_groups={"pair": [0, 1]}, fixed_features=[4], engine=EngineSettings("local")
    )
    support = selector.fit(X, y).support_
    assert support[4]
    assert support[0] == support[1]
