"""Optional packages: imported when needed, or a message that says what to install."""

import json
import sys

import pytest

from pinsker._compat import install_command, require
from pinsker.exceptions import MissingDependencyError, PinskerError


def test_what_is_there_is_returned():
    assert require("os.path", purpose="a test") is sys.modules["os.path"]


def test_what_is_not_there_is_named():
    message = (
        r"^selector.plot\(\) needs no_such_package, which is not installed. Try: pip install .*"
    )
    with pytest.raises(MissingDependencyError, match=message + r'\[plot\]"$') as caught:
        require("no_such_package.part", purpose="selector.plot()", extra="plot")
    assert isinstance(caught.value, PinskerError | ImportError)
    with pytest.raises(ImportError, match=r"Try: pip install no_such_package$"):
        require("no_such_package", purpose="this")


#: What pip notes about where a package came from, and what to type there.
SOURCES = {
    "an index": (None, 'pip install "pinsker[cli]"'),
    "a clone": ({"url": "{here}", "dir_info": {}}, 'pip install "{path}[cli]"'),
    "a clone that is edited": (
        {"url": "{here}", "dir_info": {"editable": True}},
        'pip install --editable "{path}[cli]"',
    ),
    "a wheel": ({"url": "{here}", "archive_info": {}}, 'pip install "{path}[cli]"'),
    "a wheel that is gone": (
        {"url": "file:///nowhere/pinsker.whl", "archive_info": {}},
        'pip install "pinsker[cli]"',
    ),
    "a repository": (
        {"url": "https://example.org/p.git", "vcs_info": {"vcs": "git", "commit_id": "1f"}},
        'pip install "pinsker[cli] @ git+https://example.org/p.git"',
    ),
}


@pytest.mark.parametrize("came_from", SOURCES)
def test_the_command_works_where_it_is_typed(came_from, tmp_path, monkeypatch):
    noted, wanted = SOURCES[came_from]
    path = tmp_path / "a folder"  # of which a URL has no blank
    path.mkdir()
    text = noted and json.dumps(noted).replace("{here}", path.as_uri())

    class Installed:
        def read_text(self, name):
            return text

    monkeypatch.setattr("pinsker._compat.distribution", lambda name: Installed())
    assert install_command("cli") == wanted.replace("{path}", str(path))


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import not_there_at_all", "not_there_at_all"),
        ("from sklearn.utils import gone_since_1_9", "cannot import name 'gone_since_1_9'"),
    ],
)
def test_a_package_that_cannot_be_imported_says_why(tmp_path, monkeypatch, code, cause):
    """scikit-survival 0.26 with scikit-learn 1.9 ended in a traceback of the command."""
    (tmp_path / "half_there.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingDependencyError, match=f"cannot be imported .*{cause}"):
        require("half_there", purpose="this")
