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

__all__ = [  # what the pages of the API name here
    "BudgetDisplay", "ErrorIncreaseDisplay", "Report", "card", "plot", "report", "summarise",
    "to_html", "to_json",
]  # fmt: skip
