"""Fixtures of the whole suite: seeds, the folder of reference data, hypothesis' manners.

Seeds are a fixture: one by default, any range by the environment, for example
``PINSKER_TEST_SEEDS=0-99``. Reference data are found through ``PINSKER_DATA``, else in
``../shared/data`` beside the repository; tests that need them skip when they are not there.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_SEEDS = "42"

# A shared machine is slow now and then: a deadline would fail tests that are right. In CI the same
# examples are drawn every time, so that a red run can be repeated.
# 30 examples of each property in every run; PINSKER_TEST_EXAMPLES=1000 looks harder.
settings.register_profile(
    "local",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=int(os.environ.get("PINSKER_TEST_EXAMPLES", "30")),
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def seeds_asked_for() -> range:
    """Read ``PINSKER_TEST_SEEDS``: ``"7"`` is one seed, ``"0-99"`` a hundred."""
    first, _, last = os.environ.get("PINSKER_TEST_SEEDS", DEFAULT_SEEDS).partition("-")
    return range(int(first), int(last or first) + 1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test that takes a ``seed`` the seeds asked for."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds_asked_for())


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of reference data, or skip."""
    named = os.environ.get("PINSKER_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} does not exist; set PINSKER_DATA")
    return folder
