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
    plot_sequence,
)
from pinsker.report._export import log_certificate, register_onnx
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
    audit_errors,
    audit_text,
    careful_first,
    certificate_text,
    facts,
    lines,
    monitor_text,
    plan_text,
    sentence,
    short,
    subgroup_text,
)

__all__ = [
    "BoundDisplay", "BudgetDisplay", "CertificateDisplay", "ErrorIncreaseDisplay",
    "ImportanceDisplay", "Report", "SelectionPathDisplay", "audit_errors", "audit_text", "card",
    "careful_first", "certificate_card", "certificate_text", "facts", "importance_card",
    "interactions_card", "lines", "log_certificate", "monitor_text", "path_card", "plan_text",
    "plot", "plot_sequence", "register_onnx", "report", "sentence", "short", "subgroup_text",
    "summarise", "to_html", "to_json",
]  # fmt: skip
