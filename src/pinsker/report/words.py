"""Every sentence about a certificate or an audit, from one `facts`: no two views can differ."""

import math
from dataclasses import dataclass

from pinsker.holdout import CERTIFICATE, TOO_FEW_ROWS, AuditResult, Certificate
from pinsker.metrics import best_score, metric_words, shown_value

#: Decimals of rates, scores and nats.
_DECIMALS = 4
#: The verdict on a set that no rows were held out for.
NOT_HELD_OUT = "budget not tested (no rows were held out)"
#: Letters of a name in a sentence.
_MOST_LETTERS = 40
#: Lines of a certificate that is printed.
_MOST_LINES = 8


@dataclass(frozen=True)
class Facts:
    """What may be said about a certificate or an audit, every figure as text."""

    metric: str
    budget: str  # "" where none was set
    verdict: str
    all: str  # the metric with all features, with those kept, with none
    kept: str
    none: str
    change: str  # what happens to the metric
    limit: str  # the confidence bound of that, in words and as a number
    signed_limit: str
    level: str
    resolvable: str  # the smallest budget that these rows could show to be met
    upper: str  # confidence bound of the metric with the kept features
    bound: str  # of the Bayes risk
    evidence: str

    @property
    def increase(self) -> str:
        """What happens to the metric, with its confidence bound."""
        return f"{self.change}; {self.level}: {self.limit}"

    @property
    def errors(self) -> str:
        """The metric with all features, with those kept, and with none."""
        errors = f"{self.all} with all features, {self.kept} with those kept, {self.none} with none"
        return f"{self.metric} {errors}"


def facts(c: Certificate | AuditResult) -> Facts:
    """Return what may be said about a certificate or an audit."""
    none = bound = upper = math.nan
    limit = c.increase_upper
    groups = f" in {c.n_groups} groups" if c.n_groups else ""
    evidence = f"{c.n_rows} test rows{groups}"
    if isinstance(c, Certificate):
        none, bound, upper, limit = c.error_none, c.bound, c.error_upper, c.limit
        evidence = f"{c.label}: {c.n_rows} rows{groups}, {c.rows}"
    errors = {"all": c.error_all, "kept": c.error_kept, "none": none, "upper": upper}
    known = [value for value in (c.error_all, c.error_kept, none) if math.isfinite(value)]
    digits = _digits(known or [value for value in (c.budget, bound) if math.isfinite(value)])
    changes = [change_in_words(v, c.metric, digits) for v in (c.increase, limit, c.increase_lower)]
    resolvable = _rounded_up(max(limit, 0.0), digits)
    return Facts(
        metric=metric_words(c.metric),
        budget="" if math.isnan(c.budget) else short(c.budget),
        verdict=_verdict(c, changes[2], resolvable),
        change=changes[0],
        limit=changes[1],
        signed_limit=figure(limit, digits),
        level=f"{100 * c.confidence:g} % upper confidence bound",
        resolvable=resolvable,
        bound=figure(bound, digits),
        evidence=evidence,
        **{name: figure(shown_value(c.metric, error), digits) for name, error in errors.items()},
    )


def lines(c: Certificate) -> list[tuple[str, str]]:
    """Return what a certificate says, line by line, each with its label."""
    f = facts(c)
    budget = budget_in_words(c.budget, c.metric) if f.budget else f"none ({c.rule})"
    said = [("budget", budget)]
    nats = f"{figure(c.information_lost)} nats lost"
    if not c.is_tested:
        said.append(("evidence", f.evidence))
        if c.label != TOO_FEW_ROWS:
            most = f"; if no more is, Bayes risk rises by at most {f.bound}" if c.bound < 1 else ""
            said.append(("information", f"{nats}{most} [estimate]"))
        return said
    said.append(("held-out", f.errors))
    if c.n_kept < c.n_features:
        said.append(("change", f.increase))
    said.append(("evidence", f.evidence))
    if c.n_kept == c.n_features:
        return said
    if c.bound <= c.budget:
        most = f"upper bound {figure(c.information_upper)}: Bayes risk rises by at most {f.bound}"
        said.append(("information", f"{nats}, {most} [model-based estimate]"))
    if math.isfinite(c.rare_rows) and c.metric != "error" and c.rare_rows > c.budget / 10:
        of, n = ("groups", c.n_groups) if c.n_groups else ("rows", c.n_rows)
        most = f"could add up to {short(c.rare_rows)}"
        said.append(("rare rows", f"{of} rarer than 3 in {n} may be missing here, and {most}"))
    return said


def certificate_text(c: Certificate) -> str:
    """Return a certificate as it is printed."""
    shown = [f"{c.n_kept} of {c.n_features} features; {facts(c).verdict}"]
    shown += [f"  {label:<11}  {text}" for label, text in lines(c)]
    room = _MOST_LINES - len(shown)
    shown += [f"  note: {note}" for note in c.notes[:room]]
    more = len(c.notes) - room
    return "\n".join(shown) + (f" (and {more} more in notes)" if more > 0 else "")


def sentences(c: Certificate) -> list[str]:
    """Return a certificate for a page: what is printed, and what that rests on."""
    f = facts(c)
    said = [text for label, text in lines(c) if label != "budget"]
    if any(label == "information" for label, _ in lines(c)):
        said.append("the Bayes risk is the lowest error any model could reach")
    if not c.is_tested:
        said.append("no row was held out, so that these figures guarantee nothing for new rows")
    else:
        said.append(f"models: {c.model_all} of all features, {c.model_kept} of those kept")
        if c.label == CERTIFICATE and c.metric == "error":
            said.append(
                f"the distribution-free {f.level} of the error with those kept is {f.upper}, for "
                "independent rows"
            )
    if c.verdict in ("inconclusive", "not met"):
        said.append(f.verdict)
    return [f"{capital(text)}." for text in said] + [f"Note: {note}." for note in c.notes]


def audit_text(result: AuditResult) -> str:
    """Return an audit as it is printed."""
    f = facts(result)
    budget = f"; budget {f.budget}: {result.verdict}" if f.budget else ""
    return f"{result.model} on {result.n_rows} rows: {audit_errors(result)}\n  {f.increase}{budget}"


def audit_errors(result: AuditResult) -> str:
    """Return the errors of an audit."""
    f = facts(result)
    return f"{f.metric} {f.all} with all {result.n_features} columns, {f.kept} with {result.n_kept}"


def budget_in_words(budget: float, metric: str) -> str:
    """Return what a budget allows."""
    change = "rise" if best_score(metric) is None else "fall"
    return f"{metric_words(metric)} may {change} by {short(budget)}"


def change_in_words(value: float, metric: str, digits: int = _DECIMALS) -> str:
    """Return an error increase as what happens to the metric."""
    falls = (value < 0.0) != (best_score(metric) is not None)
    return f"{metric_words(metric)} {'falls' if falls else 'rises'} by {figure(abs(value), digits)}"


def figure(value: float, digits: int = _DECIMALS) -> str:
    """Return a figure with its decimals, "unknown" where it is not one."""
    return "unknown" if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"


def number(value: float | None, digits: int = _DECIMALS) -> str:
    """Return a number of a table; a dash where it is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:.3g}" if abs(value) >= 1e6 else f"{value:.0f}"
    return figure(value, digits)


def short(value: float) -> str:
    """Return a setting without digits nobody typed."""
    return f"{value:.4g}"


def clipped(name: str) -> str:
    """Return a name, or the first letters of a very long one."""
    return name if len(name) <= _MOST_LETTERS else name[:_MOST_LETTERS] + "…"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _verdict(c: Certificate | AuditResult, least: str, resolvable: str) -> str:
    nothing_dropped = " (nothing is left out)" if c.n_kept == c.n_features else ""
    return {
        "met": f"budget met{nothing_dropped}",
        "not met": f"budget not met ({least} at least)",
        "inconclusive": f"inconclusive: these rows could show a budget of {resolvable}",
        "nothing predictable": "nothing predictable: no better than with no features",
        "not tested": NOT_HELD_OUT,
        "no budget": "no error budget was set",
    }[c.verdict]


def _digits(values: list[float]) -> int:
    """Return decimals that suit the largest figure: four, or about five digits of other units."""
    largest = max(map(abs, values), default=0.0)
    if largest == 0.0 or 1e-3 <= largest < 10.0:
        return _DECIMALS
    return max(_DECIMALS - math.floor(math.log10(largest)), 0)


def _rounded_up(value: float, digits: int) -> str:
    """Return a budget that is enough in as many decimals as are shown."""
    if not math.isfinite(value):
        return figure(value)
    return figure(math.ceil(round(value * 10.0**digits, 6)) / 10.0**digits, digits)
