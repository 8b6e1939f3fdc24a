"""Stage: report. A fitted selector becomes a plain dict; page, JSON, card and figures are views.

`summarise` makes the dict. `to_html` and `to_json` show it, `report` returns it with its page as a
`Report`. `card` is what a notebook shows. `ErrorIncreaseDisplay`, `SelectionPathDisplay`,
`BoundDisplay`, `BudgetDisplay`, `CertificateDisplay` and `ImportanceDisplay` draw with matplotlib.
Selectors offer them as ``selector.report()`` and ``selector.plot()``.
"""

from pinsker.report._displays import (
    BoundDisplay,
    BudgetDisplay,
    CertificateDisplay,
    ErrorIncreaseDisplay,
    ImportanceDisplay,
    SelectionPathDisplay,
    plot,
)
from pinsker.report._html import (
    Report,
    card,
    certificate_card,
    importance_card,
    interactions_card,
    path_card,
    report,
    to_html,
    to_json,
)
from pinsker.report._summary import summarise
from pinsker.report.words import (
    Facts,
    audit_errors,
    audit_text,
    careful_first,
    certificate_text,
    facts,
    lines,
    plan_text,
    sentence,
)

__all__ = [
    "BoundDisplay", "BudgetDisplay", "CertificateDisplay", "ErrorIncreaseDisplay", "Facts",
    "ImportanceDisplay", "Report", "SelectionPathDisplay", "audit_errors", "audit_text", "card",
    "careful_first", "certificate_card", "certificate_text", "facts", "importance_card",
    "interactions_card", "lines", "path_card", "plan_text", "plot", "report", "sentence",
    "summarise", "to_html", "to_json",
]  # fmt: skip
