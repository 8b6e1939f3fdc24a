"""Stage: report. A fitted selector becomes a plain dict; page, JSON, card and figures are views.

`summarise` makes the dict. `to_html` and `to_json` show it, `report` does both steps and writes a
file. `card` is what a notebook shows. `SelectionPathDisplay`, `BoundDisplay` and
`CertificateDisplay` draw with matplotlib. Selectors offer them as ``selector.report()`` and
``selector.plot()``. `SelectionResult` is the only class that reads a selector's attributes; the
command line uses it too.
"""

from pinsker.report._card import card
from pinsker.report._displays import (
    BoundDisplay,
    CertificateDisplay,
    SelectionPathDisplay,
    plot,
)
from pinsker.report._html import report, to_html, to_json
from pinsker.report._result import SelectionResult, read_certificate
from pinsker.report._summary import summarise
from pinsker.report._words import metric_name

__all__ = [
    "BoundDisplay",
    "CertificateDisplay",
    "SelectionPathDisplay",
    "SelectionResult",
    "card",
    "metric_name",
    "plot",
    "read_certificate",
    "report",
    "summarise",
    "to_html",
    "to_json",
]
