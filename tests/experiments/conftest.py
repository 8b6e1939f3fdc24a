"""The published problems, where they are at hand."""

import pytest

from experiments.reproduce.problems import published


@pytest.fixture(scope="session")
def published_data():
    """Skip where the published problems are not at hand."""
    if not published("binary"):
        pytest.skip("no published problems: set PINSKER_DATA")
    return published
