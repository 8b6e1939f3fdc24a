"""Stage: report. A fitted selector becomes a plain dict; page, JSON, card and figures are views.

`summarise` makes the dict. `to_html` and `to_json` show it, `report` does both steps and writes a
file. `card` is what a notebook shows. `SelectionPathDisplay`, `BoundDisplay`,
`CertificateDisplay` and `ImportanceDisplay` draw with matplotlib. Selectors offer them as
``selector.report()`` and ``selector.plot()``.
"""

from pinsker.report._card import card
from pinsker.report._displays import (
    BoundDisplay,
    CertificateDisplay,
    ImportanceDisplay,
    SelectionPathDisplay,
    plot,
)
from pinsker.report._html import report, to_html, to_json
from pinsker.report._summary import summarise

__all__ = [
    "BoundDisplay",
    "CertificateDisplay",
    "ImportanceDisplay",
    "SelectionPathDisplay",
    "card",
    "plot",
    "report",
    "summarise",
    "to_html",
    "to_json",
]
