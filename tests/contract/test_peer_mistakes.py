"""Mistakes found in other selectors, each pinned so that it does not happen here."""

import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

from pinsker.bounds import TargetFacts
from pinsker.encoding import encode_target
from pinsker.engine import KNNSettings
from pinsker.exceptions import DataError
from pinsker.search import ErrorBudget, FeatureCount, ScoreJump, ScoreThreshold
from pinsker.selectors import BackwardElimination, ForwardSelection, LinearSelection

EVERY = pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection, LinearSelection])
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, X[:, 0] + X[:, 1] + X[:, 2] + X[:, 3] + 0.3 * rng.normal(size=200)


@EVERY
def test_numbers_are_not_taken_for_classes(kind, table):
    X, y = table
    assert kind().fit(X, y).path_.metric == "r2"
    with pytest.raises(DataError, match="classes"):
        kind(metric="error").fit(X, y)


@EVERY
def test_text_columns_are_scored_and_not_silently_kept(kind):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    signal = rng.normal(size=300)
    frame = pandas.DataFrame(
        {
            "signal": signal,
            "noise": rng.choice(["a", "b", "c"], size=300),
            "level": pandas.Categorical(rng.choice(["low", "high"], size=300)),
        }
    )
    selector = kind(0.05).fit(frame, signal > 0)
    assert list(selector.get_feature_names_out()) == ["signal"]
    assert set(selector.path_.names) == {"signal", "noise", "level"}


@EVERY
def test_k_features_are_k_features(kind, table):
    X, y = table
    for k in (1, 2, 3, 4):
        assert kind(error_budget=FeatureCount(k)).fit(X, y).get_support().sum() == k


@pytest.mark.parametrize("rule", [ErrorBudget(0.0), ScoreThreshold(0.0), ScoreJump(0.0)], ids=str)
@pytest.mark.parametrize("kind", [BackwardElimination, LinearSelection])
def test_the_first_removal_is_not_free(kind, rule, table):
    X, y = table  # all four columns are needed
    if kind is LinearSelection and isinstance(rule, ErrorBudget):
        rule = ErrorBudget(0.0, model="gaussian")
    assert kind(error_budget=rule).fit(X, y).get_support().all()


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
def test_no_candidate_is_conditioned_on_itself(kind, table):
    # Given itself a feature tells nothing: every score would be zero.
    X, y = table
    path = kind(knn=KNNSettings(score="direct")).fit(X, y).path_
    assert min(path.scores) > 0.05


@EVERY
def test_more_budget_never_keeps_more(kind, table):
    X, y = table
    selector = kind().fit(X, y)
    rules = (
        [ErrorBudget(d, model="gaussian") for d in (0.0, 0.1, 0.4, 0.9)],
        [ScoreThreshold(nats) for nats in (0.0, 0.1, 5.0)],
    )
    for group in rules:
        sizes = [selector.support_at(error_budget=rule).sum() for rule in group]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]


def test_range_of_the_target_and_not_its_largest_value():
    y = np.linspace(-3.0, -1.0, 50)  # max(y) is -1, max|y| is 3, the range is 2
    facts = TargetFacts.of(encode_target(y))
    paper = ErrorBudget(0.5, metric="mse", constants="paper").budget(facts)
    assert paper == pytest.approx(0.5 / (2 * 3.0**2))
    shifted = TargetFacts.of(encode_target(y + 100.0))
    sharp = ErrorBudget(0.05)
    assert sharp.budget(facts) == pytest.approx(sharp.budget(shifted), rel=1e-9)


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
def test_negative_estimates_stay_numbers(kind):
    rng = np.random.default_rng(2)
    path = kind().fit(rng.normal(size=(100, 6)), rng.integers(2, size=100)).path_
    figures = np.r_[path.information, path.scores, path.bounds]
    assert np.isfinite(figures).all()
    assert min(path.information) < 0 or min(path.scores) < 0


def test_importing_mutes_no_warning():
    code = (
        "import warnings; before = list(warnings.filters); import sklearn; "
        "sk = list(warnings.filters); import pinsker.selectors; "
        "print(warnings.filters == sk)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "True"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("still heard", UserWarning, stacklevel=1)
    assert len(seen) == 1


@pytest.mark.slow
def test_memory_is_not_columns_times_rows_squared():
    # 300 columns * 600^2 rows * 8 bytes are 0.9 GB; the search needs the pairs once: 600^2 * 4
    # bytes of watches, 24 kB of close pairs a row (engine plan), and the table: 20 MB.
    code = (
        "import resource, numpy as np\n"
        "from pinsker.selectors import BackwardElimination\n"
        "rng = np.random.default_rng(0)\n"
        "X, y = rng.normal(size=(600, 300)), rng.integers(2, size=600)\n"
        "BackwardElimination().fit(X[:50], y[:50])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "BackwardElimination().fit(X, y)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    pytest.importorskip("resource")
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kilobytes = int(shown.stdout) / (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 100_000


def test_dependencies_have_living_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [line.split(">")[0].strip() for line in project["dependencies"]]
    assert "scikit-learn" in names
    assert "sklearn" not in names
