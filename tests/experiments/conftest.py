"""The experiments are not a package of pinsker: they are imported as the command does it."""

import pytest

from pinsker.cli._command_reproduce import load_experiments

load_experiments()  # puts experiments/ on the path, for the tests' own imports


@pytest.fixture(scope="session")
def published_data():
    """Skip where the published problems are not at hand."""
    from reproduce.problems import published

    if not published("binary"):
        pytest.skip("no published problems: set PINSKER_DATA")
    return published
