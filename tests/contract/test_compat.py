"""Optional packages: imported when needed, or a message that says what to install."""

import sys

import pytest

from pinsker._compat import require
from pinsker.exceptions import MissingDependencyError, PinskerError


def test_what_is_there_is_returned():
    assert require("os.path", purpose="a test") is sys.modules["os.path"]


def test_what_is_not_there_is_named():
    message = (
        r'^selector.plot\(\) needs no_such_package, which is not installed. Try: pip install "'
    )
    with pytest.raises(MissingDependencyError, match=message + r'pinsker\[plot\]"$') as caught:
        require("no_such_package.part", purpose="selector.plot()", extra="plot")
    assert isinstance(caught.value, PinskerError | ImportError)
    with pytest.raises(ImportError, match=r"Try: pip install no_such_package$"):
        require("no_such_package", purpose="this")


def test_a_package_that_lacks_a_part_of_its_own_speaks_for_itself(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        require("half_there", purpose="this")
