"""A report as an object: a notebook shows the page, `save` writes it, `open` opens a browser."""

import tempfile
import webbrowser
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from pinsker.report._html import to_html
from pinsker.report._summary import summarise
from pinsker.report.words import counted

#: Pixels that a page has in a notebook; it scrolls.
_HEIGHT = 720


@dataclass(frozen=True)
class Report:
    """One HTML page about a fitted selector, and the dict behind it.

    Attributes
    ----------
    summary : dict
        What `summarise` returned.
    html : str
        The page; it needs no network.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pinsker import BackwardElimination
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> report = BackwardElimination(error_budget=0.1).fit(X, y).report()
    >>> report
    Report(4 of 13 features stay, budget not tested (no rows were held out))
    >>> report.html[:15]
    '<!doctype html>'
    """

    summary: dict[str, Any] = field(repr=False)
    html: str = field(repr=False)

    def save(self, path: Any) -> Path:
        """Write the page to a file, and return its path."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file

    def open(self) -> Path:
        """Write the page to a temporary file, open it in a browser, and return its path."""
        with tempfile.NamedTemporaryFile(prefix="pinsker-", suffix=".html", delete=False) as file:
            file.write(self.html.encode())
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def __repr__(self) -> str:
        kept = self.summary["kept"]
        stay = f"{kept['size']} of {counted(kept['n_features'], 'feature')} stay"
        return f"Report({stay}, {self.summary['certificate']['verdict_words']})"

    def _repr_html_(self) -> str:
        # In a frame of its own: neither the page nor the notebook changes the other's style.
        return (
            f'<iframe title="{escape(repr(self))}" sandbox="allow-scripts" width="100%" '
            f'height="{_HEIGHT}" style="border:1px solid #8884;border-radius:6px" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def report(
    selector: Any, path: Any = None, *, X: Any = None, y: Any = None, **findings: Any
) -> Report:
    """Describe a fitted selector in one HTML page, and write it to `path` if there is one.

    Parameters
    ----------
    selector : fitted selector
        Any selector of pinsker.
    path : str or path-like, optional
        Where to write the page.
    X, y : optional
        The table and target of `fit`.
    **findings
        What else `summarise` takes: ``importance``, ``interactions``, ``source`` and so on.

    Returns
    -------
    Report
    """
    summary = summarise(selector, X, y, **findings)
    made = Report(summary, to_html(summary))
    if path is not None:
        made.save(path)
    return made
