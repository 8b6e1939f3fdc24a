"""Every sentence: of certificates and audits from one `facts`, of notes from one table."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from shlex import quote
from typing import Any, NamedTuple, TypeAlias

from pinsker._notes import Audience, Note, spell
from pinsker.encoding import listing, plural
from pinsker.holdout import (
    CERTIFICATE,
    ESTIMATE,
    TOO_FEW_ROWS,
    AuditResult,
    Certificate,
    weights_of,
)
from pinsker.metrics import MEAN, best_score, metric_row, metric_words, shown_value
from pinsker.selectors import Monitor, RowsPlan

Figures: TypeAlias = Mapping[str, Any]  # of a note, and its columns

_DECIMALS = 4  # decimals of rates, scores and nats
#: The verdict on a set that no rows were held out for.
NOT_HELD_OUT = "budget not tested (no rows were held out)"
_MOST_LETTERS = 40  # letters of a name in a sentence
_MOST_NAMED = 5  # columns that a sentence names
_MOST_LINES = 10  # lines of a certificate that is printed


@dataclass(frozen=True)
class Facts:
    """What may be said about a certificate or an audit, every figure as text."""

    metric: str
    budget: str  # "" where none was set
    verdict: str
    all: str  # the metric with all features, with those kept, with none
    kept: str
    none: str
    change: str  # what happens to the metric, in the worst subgroup if there are any
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
    figures, where = (c.increase, limit, c.increase_lower), ""
    if isinstance(c, Certificate) and c.subgroups:  # the one that is farthest above its budget
        worst = max(c.subgroups, key=lambda one: one.increase_upper - one.budget)
        figures = (worst.increase, worst.increase_upper, worst.increase_lower)
        limit = worst.increase_upper
        own = f", whose budget is {short(worst.budget)}" if worst.budget != c.budget else ""
        where = f" in {clipped(worst.name)}{own}"
    changes = [change_in_words(value, c.metric, digits) for value in figures]
    resolvable = _rounded_up(max(limit, 0.0), digits)
    return Facts(
        metric=metric_words(c.metric), budget="" if math.isnan(c.budget) else short(c.budget),
        verdict=_verdict(c, changes[2], resolvable),
        change=changes[0] + where,
        limit=changes[1], signed_limit=figure(limit, digits),
        level=f"{100 * c.confidence:g} % upper confidence bound", resolvable=resolvable,
        bound=figure(bound, digits), evidence=evidence,
        **{name: figure(shown_value(c.metric, error), digits) for name, error in errors.items()},
    )  # fmt: skip


def lines(c: Certificate) -> list[tuple[str, str]]:
    """Return what a certificate says, line by line, each with its label."""
    f = facts(c)
    budget = budget_in_words(c.budget, c.metric) if f.budget else f"none ({c.rule})"
    said = [("budget", budget)]
    if not c.is_tested:
        said.append(("evidence", f.evidence))
        if c.label != TOO_FEW_ROWS:
            means = c.bound < metric_row(c.metric).largest_increase
            most = f"; if no more is, Bayes risk rises by at most {f.bound}" if means else ""
            nats = f"{figure(c.information_lost)} nats lost"
            said.append(("information", f"{nats}{most} [estimate]"))
        return said
    said.append(("held-out", f.errors))
    if c.n_kept < c.n_features:
        said.append(("change", f.increase))
    said.append(("evidence", f.evidence))
    if c.model_all and c.n_kept < c.n_features:
        said.append(("models", _models(c)))
    if c.likely and len(c.likely) < c.n_kept:
        said.append(("likely", _likely(c)))
    if c.fewest_needed > 1:
        fewer = f"no set of fewer than {c.fewest_needed} features that was evaluated"
        said.append(("needed", f"{fewer} is within the budget ({100 * c.confidence:g} %)"))
    if c.n_kept == c.n_features:
        return said
    if c.bound <= c.budget:
        nats = f"{figure(c.information_lost)} nats (upper bound {figure(c.information_upper)})"
        most = f"if no information is missed, the Bayes risk rises by at most {f.bound}"
        said.append(("information", f"these models lose {nats}; {most} [model-based estimate]"))
    if math.isfinite(c.rare_rows) and c.metric != "error" and c.rare_rows > c.budget / 10:
        of, n = ("groups", c.n_groups) if c.n_groups else ("rows", c.n_rows)
        most = f"could add up to {short(c.rare_rows)}"
        said.append(("rare rows", f"{of} rarer than 3 in {n} may be missing here, and {most}"))
    return said


def subgroup_rows(c: Certificate) -> list[tuple[str, ...]]:
    """Return the table of subgroups: its head, and a line for each."""
    if not c.subgroups:
        return []
    sides = [f"{metric_words(c.metric)}, all", "kept", "increase", "bound", "budget", "verdict"]
    digits = _digits([one.error_all for one in c.subgroups])
    rows: list[tuple[str, ...]] = [("subgroup", "rows", *sides, "rows needed")]
    for one in c.subgroups:
        shown = [shown_value(c.metric, error) for error in (one.error_all, one.error_kept)]
        shown += [one.increase, one.increase_upper]
        needed = f"{one.rows_needed:.0f}" if math.isfinite(one.rows_needed) else "–"
        words = (short(one.budget), one.verdict, "" if one.verdict == "met" else needed)
        figures = (number(value, digits) for value in shown)
        rows.append((clipped(one.name), str(one.n_rows), *figures, *words))
    return rows


def subgroup_text(c: Certificate) -> str:
    """Return the table of subgroups as text, its columns side by side."""
    rows = subgroup_rows(c)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(n) for cell, n in zip(row, widths, strict=True)] for row in rows)
    return "\n".join("  " + "  ".join(row).rstrip() for row in padded)


def _models(c: Certificate) -> str:
    """Say which models compare, and what fewer training rows would have shown."""
    said = f"{c.model_all} of all features, {c.model_kept} of those kept"
    if c.model_all == c.model_kept:
        said = c.model_all
    if c.n_train:
        said += f", fitted to {c.n_train} rows"
    if c.learning_curve:
        points = (
            f"{change_in_words(value, c.metric)} at {rows}" for rows, value in c.learning_curve
        )
        said += f"; by training rows: {', '.join(points)}"
    return said


def _likely(c: Certificate) -> str:
    """Say which smaller set is likely to be enough, and what would show it."""
    change = change_in_words(c.likely_increase, c.metric)
    rows = "no number of rows like these would show it"
    if math.isfinite(c.rows_needed):
        rows = f"about {_about(c.rows_needed)} held-out rows would show it"
    if c.verdict == "nothing dropped" and math.isfinite(c.likely_upper):
        rows += f"; a budget of {_rounded_up(c.likely_upper, _DECIMALS)} would keep no more now"
    few = "1 feature is" if len(c.likely) == 1 else f"{len(c.likely)} features are"
    return f"{few} likely to be enough: {change} (estimate); {rows}"


def plan_text(plan: RowsPlan) -> str:
    """Return a plan of rows as it is printed."""
    basis = f"a fit to {plan.n_fitted} rows" if plan.n_fitted else "the error that is assumed"
    sure = f"{100 * plan.confidence:g} % sure, with probability {plan.power:g}"
    said = [f"fresh rows that show an error budget ({sure}), from {basis}:"]
    known = zip(plan.budgets, plan.rows, plan.n_kept, plan.increase, strict=True)
    for budget, rows, size, increase in known:
        what = f"about {_about(rows)} rows"
        if math.isinf(rows):
            what = "no smaller set is likely to be well within it"
        elif size:
            change = change_in_words(increase, plan.metric)
            what += f" show {plural(size, 'feature')} ({change}, estimate)"
        said.append(f"  {budget_in_words(budget, plan.metric)}: {what}")
    if plan.n_rows and math.isfinite(plan.smallest_budget):
        smallest = figure(plan.smallest_budget)
        said.append(f"  {plan.n_rows} fresh rows could show a budget of about {smallest}")
    return "\n".join(said)


def certificate_text(c: Certificate) -> str:
    """Return a certificate as it is printed."""
    shown = [f"{c.n_kept} of {c.n_features} features; {facts(c).verdict}"]
    shown += [f"  {label:<11}  {text}" for label, text in lines(c)]
    room = _MOST_LINES - len(shown)
    shown += [f"  note: {note}" for note in careful_first(c.notes)[: max(room, 1)]]
    more = len(c.notes) - room
    text = "\n".join(shown) + (f" (and {more} more in notes)" if more > 0 else "")
    return f"{text}\n{subgroup_text(c)}" if c.subgroups else text


def sentences(c: Certificate, audience: Audience = "library") -> list[str]:
    """Return a certificate for a page: what is printed, and what that rests on."""
    f = facts(c)
    models = {"models": "models: "}
    said = [models.get(label, "") + text for label, text in lines(c) if label != "budget"]
    if any(label == "information" for label, _ in lines(c)):
        said.append("the Bayes risk is the lowest error any model could reach")
    if not c.is_tested:
        said.append("no row was held out, so that these figures guarantee nothing for new rows")
    elif c.label == CERTIFICATE and c.metric == "error":
        free = f"the distribution-free {f.level} of the error with those kept"
        said.append(f"{free} is {f.upper}, for independent rows")
    if c.verdict in ("inconclusive", "not met"):
        said.append(f.verdict)
    if c.is_tested and f.budget and c.standard_error == MEAN and not c.subgroups:
        tenth = f"of {f.budget} for all rows allows {short(10 * c.budget)} in a tenth of them"
        said.append(spell(f"a budget {tenth}: <subgroups=|--subgroup> bounds each part", audience))
    noted = [f"Note: {sentence(note, audience)}." for note in c.notes]
    return [f"{text[:1].upper()}{text[1:]}." for text in said] + noted


def audit_text(result: AuditResult) -> str:
    """Return an audit as it is printed."""
    f = facts(result)
    budget = f"; budget {f.budget}: {result.verdict}{_doubt(result)}" if f.budget else ""
    labels = f", {result.n_labels} of them with a label" if result.n_labels else ""
    about = f"{result.model} on {result.n_rows} rows{labels}: {audit_errors(result)}"
    return f"{about}\n  {f.increase}{budget}"


def audit_errors(result: AuditResult) -> str:
    """Return the errors of an audit."""
    f = facts(result)
    if result.n_labels:
        columns = f"{result.n_kept} of {result.n_features} columns"
        return f"{f.metric} itself not known, but what {columns} change"
    those = "all" if result.compared == "all" else "the other"
    with_others = f"{f.all} with {those} {plural(result.n_features, 'column')}"
    return f"{f.metric} {with_others}, {f.kept} with {result.n_kept}"


def monitor_text(monitor: Monitor) -> str:
    """Return what a monitor knows by now."""
    budget = f"budget {short(monitor.error_budget)}"
    since = "" if monitor.known_at is None else f", known since row {monitor.known_at}"
    verdict = {"met": "still met", "broken": "broken", "open": "open: more rows will tell"}
    verdict |= {"open": f"open: {monitor.notes[0]}"} if monitor.notes else {}
    said = [f"{monitor.n_rows} rows; {budget} {verdict[monitor.verdict]}{since}"]
    if monitor.looks:
        last = monitor.looks[-1]
        ends = f"{number(last.lower)} to {number(last.upper)}"
        kind = "any distribution" if monitor.is_exact else "many rows (asymptotic)"
        said.append(
            f"  {change_in_words(last.increase, monitor.metric)}; increase {ends} at every number "
            f"of rows at once, with {100 * monitor.confidence:g} % confidence, for {kind}"
        )
    return "\n".join(said)


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


def _doubt(c: Certificate | AuditResult) -> str:
    return f" ({ESTIMATE})" if c.label == ESTIMATE else ""


def _verdict(c: Certificate | AuditResult, least: str, resolvable: str) -> str:
    unsure = f"these rows could show a budget of {resolvable}"
    if "untrue" in weights_of(c.notes):
        few = any("training rows" in note for note in c.notes)
        unsure = "see the notes" if few else "these rows are not like those of the fit"
    return {
        "met": f"budget met{_doubt(c)}",
        "nothing dropped": "nothing dropped: no smaller set is shown to be within the budget",
        "not met": f"budget not met ({least} at least)",
        "inconclusive": f"inconclusive: {unsure}",
        "not shown to be predictable": "not shown to be predictable better than with no features",
        "not tested": NOT_HELD_OUT,
        "no budget": "no error budget was set",
    }[c.verdict]


def _about(rows: float) -> str:
    """Return a number of rows in two digits."""
    return f"{round(rows, -max(len(str(int(rows))) - 2, 0)):.0f}" if math.isfinite(rows) else "no"


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


class Sentence(NamedTuple):
    """The sentence of a kind of note, and how much it matters in a summary."""

    text: str
    first: bool = False  # may change what a reader does with the result
    shown: bool = True


careful = partial(Sentence, first=True)  # a sentence that comes first


def sentence(note: Note, audience: Audience = "library") -> str:
    """Return a note as one sentence, for readers of Python or of a shell."""
    figures = dict(note.figures)
    if "text" in figures:  # of a saved note: its figures are not saved
        return str(figures["text"])
    if "setting" in figures:
        figures["setting"] = spell(figures["setting"], audience)
    column = note.columns[0] if note.columns else ""
    named = {"column": column, "columns": listing(note.columns), "quoted": quote(column)}
    if note.kind in _PARTS:
        named |= _PARTS[note.kind](figures | {"all_columns": note.columns})
    return spell(SENTENCES[note.kind].text, audience).format(**named, **figures)


def careful_first(notes: Iterable[Note]) -> list[Note]:
    """Return the notes of a summary: what to be careful about, then the others."""
    # Of a saved note the kind may be that of another version.
    said = [(SENTENCES.get(note.kind, SENTENCES["saved"]), note) for note in notes]
    return [note for own, note in sorted(said, key=lambda one: not one[0].first) if own.shown]


def _rare_class(figures: Figures) -> dict[str, str]:
    target, more = figures["target"], figures["more"]
    others = f" (and in {more} more targets a class is rare)" if more else ""
    return {"of": "" if target is None else f" of target {target!r}", "others": others}


def _dropped(figures: Figures) -> dict[str, str]:
    what = "has no target and was" if figures["dropped"] == 1 else "have no target and were"
    return {"rows": plural(figures["total"], "row"), "what": what}


def _few_rows(figures: Figures) -> dict[str, str]:
    if math.isnan(figures["upper"]):
        metric = "a metric in which single rows weigh less"
        return {"instead": f"more rows, or {metric}, would be surer"}
    change, upper = (change_in_words(figures[name], "mae") for name in ("mean", "upper"))
    in_unit = f"in {figures['unit']}; upper bound: {upper}"
    return {"instead": f"single rows weigh less in absolute errors: {change}, {in_unit}"}


def _gaps(figures: Figures) -> dict[str, str]:
    shares = (
        "below 1 %" if share < 0.01 else f"{100 * share:.0f} %" for share in figures["shares"]
    )
    said = [f"{n!r} ({s})" for n, s in zip(figures["all_columns"], shares, strict=True)]
    rest = len(said) - _MOST_NAMED
    more = f" and {plural(rest, 'other column')}" if rest > 0 else ""
    return {"named": ", ".join(said[:_MOST_NAMED]) + more}


def _nothing_kept(figures: Figures) -> dict[str, str]:
    whole, other = figures["whole"], "another criterion"
    why = f" ({whole} of {figures['n_columns']} columns are one bin)" if whole else ""
    return {"why": why, "other": "binning='frequency'" if figures["binning"] == "mdl" else other}


def _measured(figures: Figures) -> dict[str, str]:
    error = figures["error"]
    said = f": standard error of a set's information {error:.4f} nats" if error is not None else ""
    return {"how_exact": said}


def first_few(texts: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return the first texts of a list, and how many more there are."""
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")


#: Parts of sentences that depend on figures.
_PARTS: dict[str, Callable[[Figures], dict[str, str]]] = {
    "few rows decide": _few_rows, "rare class": _rare_class, "rows without a target": _dropped,
    "rows with gaps dropped": _dropped, "gaps are a value": _gaps,
    "nothing kept": _nothing_kept, "some rows measured": _measured,
    "repeated columns": lambda figures: {
        "pairs": first_few([f"{later!r} repeats {earlier!r}" for later, earlier in zip(
            figures["all_columns"], figures["repeated"], strict=True)])
    },
    "target in bins": lambda figures: {
        "edges": "; ".join(", ".join(f"{cut:.4g}" for cut in own) for own in figures["cuts"])
    },
    "three parts": lambda figures: {
        "in_time": " (in order of time, the latest certify)" if figures["by_time"] else ""
    },
    "free": lambda figures: {"names": first_few(figures["all_columns"])},
    "weight zero": lambda figures: {"rows": plural(figures["left_out"], "row")},
    "other spread": lambda figures: {"more": "more" if figures["r2"] < 0 else "less"},
}  # fmt: skip
#: The sentence of each kind of note; settings are written as `pinsker._notes.spell` reads them.
# fmt: off
SENTENCES = {
    # About the evidence.
    "few rows decide": careful("few rows decide: a hundredth of the rows carries so much of what "
        "the bound rests on that it is an estimate; {instead}"),
    "weak model": careful("the cross-validated model predicts little better than none: such errors "
        "vary more than their bound says, so that it is an estimate; "
        "<training rows (X_train)|more rows> help"),
    "few rows a category": careful("left out with fewer than {fewest} training rows in a category "
        "on average: {columns}; more rows may show that this costs more than is said here"),
    "small subgroups": careful("fewer than {fewest} held-out rows are in {columns}: their bounds "
        "are estimates; the table of subgroups says how many rows would show the budget"),
    "in batches": Sentence("models were fitted to {train} of the rows, drawn at random, and "
        "compared on the other {rows}, read in batches: copies of rows count as rows of their own"),
    "few per class": careful("a class has fewer than 20 held-out rows: the figures are an estimate "
        "and no certificate"),
    "rising": careful("the error increase grows with the rows that models learn from ({half} to "
        "{n_train}): with more rows the dropped columns may be worth more than is said here"),
    "serial rows": careful("neighboring rows depend on each other (lag-1 autocorrelation {r:.2f} "
        "of the differences): these rows are too few for a certificate"),
    "printed backward": Sentence("Theorem 4 of the paper claims that the Bayes risk ({metric}) "
        "rises by at most {delta:g}, as the scores of what went sum to less than {nats:.4g} nats: "
        "true of exact information"),
    "printed forward": Sentence("Theorem 5 of the paper, which speaks for this rule, is false as "
        "printed: the scores of what came sum to less than {nats:.4g} nats, a larger budget than "
        "{delta:g} keeps more, and only what is still to come bounds the Bayes risk ({metric})"),
    "error of what is lost": Sentence("the information lost has a standard error of {error:.4f} "
        "nats: if two of them more are lost, the Bayes risk rises by at most {bound:.4g}"),
    "Bayes error of a set": Sentence("the kept features leave {left:.4f} nats of the class open "
        "(standard error {error:.4f}): no model of them errs less often than {lower:.4f} (Fano), "
        "and the best one at most {upper:.4f} (Hellman and Raviv), two standard errors added "
        "[estimate]"),
    # About a table as it was read.
    "decimal comma": Sentence("numbers are written with a decimal comma"),
    "old encoding": Sentence("the text is not UTF-8; it was read as Windows-1252"),
    "row counter": Sentence("the first column has no name and counts the rows; it was left out"),
    "index left out": Sentence("the index of the table was left out: it has no name"),
    "repeated names": Sentence("several columns are called {column!r}; the later ones are read as "
        "'{column}.1' and so on"),
    "sheet": Sentence("the sheet {sheet!r} was read, others were not: {others}"),
    "read as": Sentence("column {column!r} is read as {what}"),
    "nearly numeric": Sentence("column {column!r} is read as categories, not numbers, because of "
        "{odd} in {n_odd} of {n_present} values; if that means missing, use --na '{first}'"),
    "integers become equal": Sentence("column {column!r} holds integers so large that different "
        "ones become equal"),
    "durations": Sentence("column {column!r} holds durations, read as seconds"),
    "dates": Sentence("column {column!r} holds dates, read as seconds since {first}"),
    "objects": Sentence("column {column!r} holds objects ({types}), read as categories"),
    "numbers as text": Sentence("column {column!r} holds text that reads as numbers; convert it if "
        "numbers are meant"),
    "order of an Enum": Sentence("the order of Enum column {column!r} is not used; to use it, "
        "declare it a 'count'"),
    "made dense": Sentence("the sparse table was made dense ({megabytes:.0f} MB): models and "
        "searches need that"),
    "columns not zero": Sentence("of the sparse table's {n_columns} columns the {n_read} that are "
        "not zero in the most rows were read ({megabytes:.0f} MB dense): searches, models and the "
        "certificate are about these; fewer rows leave room for more columns"),
    "kinds by sample": Sentence("kinds and cuts of columns were found from {drawn} of {n_rows} "
        "rows; every row was counted"),
    "read on a sample": Sentence("columns were read on {drawn} of {n_rows} rows, drawn at random: "
        "what is missing or infinite in the others is not seen"),
    "classes too rare": Sentence("too rare for the rows drawn, so not among them: class {classes} "
        "({lost} of {n_rows} rows)"),
    "formulas": Sentence("a spreadsheet takes the column names {columns} in {path!r} for formulas: "
        "import as text"),
    "other metric": Sentence("the budget is in {metric}: error rates cannot be held against it"),
    # About columns and targets.
    "rows without a target": Sentence("{dropped} of {rows} {what} left out"),
    "rows with gaps dropped": Sentence("<missing=drop> left out {dropped} of {rows}"),
    "gaps are a value": Sentence("missing values count as a value of their own: {named}"),
    "weight zero": Sentence("{rows} of weight zero left out"),
    "combinations": Sentence("the {n_targets} targets have {n_used} combinations: searches look at "
        "the {n_kept} most frequent ones, and at the others as the closest of these; errors are "
        "measured in every target"),
    "target in bins": Sentence("the numeric target was cut into bins at {edges}: information, "
        "scores and budgets are about the bin, and a budget is a rate of wrong bins"),
    "repeated columns": Sentence("the same after scaling: {pairs}"),
    "many categories": Sentence("more than {most} categories, so most cells of a table are empty: "
        "{columns}"),
    "one bin": Sentence("no cut was found, so one bin holds all: {columns}"),
    "argument": Sentence("{argument}: {note}"),
    "free": Sentence("no price given, so free: {names}"),
    "constant": Sentence("constant, so without information: {columns}"),
    "left out before the search": Sentence("constant, or no value repeats, so left out before the "
        "search: {columns}"),
    "identifiers": careful("as many categories as identifiers have: {columns}; a value that occurs "
        "once tells nothing about other rows: leave them out, or keep the part that repeats"),
    "doubtful kind": Sentence("integers with {repeats} repeats are read as {kind} in {columns}; "
        "say otherwise with <categorical_features=|--kind COLUMN=KIND>", shown=False),
    "guessed target": Sentence("target {column!r} holds {distinct} different integers ({low:g} to "
        "{high:g}), read as {meant}; pass {setting} if that is wrong"),
    "mixed targets": Sentence("some target columns look like classes, others like numbers: all are "
        "read as numbers; say otherwise with {setting}"),
    "several targets": Sentence("{n_targets} targets: errors and budget are the mean over them; "
        "<metric=WorstTarget(...)|--metric 'worst ...'> bounds every one of them"),
    "rare class": careful("class {name}{of} has {share:.1%} of the rows{others}, so that a model "
        "which never predicts it has an error rate of only {share:.3g}: a budget in "
        "<metric=roc_auc> or <'average_precision'|average_precision> sees what an error rate does "
        "not"),
    "suspect": careful("column {column!r} is suspect ({what}: {reason}): unless it is known when "
        "the target is not, leave it out: <suspects='drop'|--suspects drop, or --drop {quoted}>"),
    "suspect left out": careful("column {column!r} was left out ({what}: {reason}); "
        "<fixed_features=[{column!r}]|--fixed {quoted}> or <suspects=warn> keeps it"),
    # About an estimate of information.
    "method chosen": Sentence("<method=auto> chose {method!r}"),
    "continuous columns": Sentence("<method=auto> chose 'knn': some columns are continuous"),
    "filled cells": Sentence("<method=auto> chose 'discrete': all columns are, and cells are "
        "filled"),
    "few rows per cell": Sentence("<method=auto> chose 'knn': few rows per cell, but counts have "
        "distances"),
    "nominal columns": Sentence("<method=auto> chose 'discrete': all columns are nominal"),
    "some triples": Sentence("triples of {n_columns} columns: the {n_pairs} best pairs with every "
        "third column; a triple of which no pair shows is not seen"),
    # About a search and a choice.
    "saved": Sentence("{text}"),
    "warning": Sentence("{setting}"),
    "some rows measured": Sentence("{measured} of {n_rows} rows were measured, against "
        "all{how_exact}"),
    "little memory": Sentence("slower because memory is limited: {plan}"),
    "screened": Sentence("searches by neighbors looked at the {screened} of {n_features} features "
        "that joint mutual information of counts ranked first, and measured at most 500 rows"),
    "saturated": Sentence("as many columns as rows: every linear model of them fits these rows "
        "perfectly"),
    "larger sets not counted": Sentence("the information of sets of more than {n_counted} features "
        "is not counted (fewer than {rows_per_cell:g} rows per cell): shown is what the first "
        "{n_counted} have"),
    "nothing kept": Sentence("no feature was kept: none has information about the target by itself "
        "in these bins{why}, and {criterion!r} ends there. Use {other}, or FeatureSelector, which "
        "sees features that only tell something together"),
    "one stays": Sentence("{rule} would let every feature go; one is kept"),
    "path cut short": Sentence("the search was cut short at {end} features; {rule} asks for "
        "{size}"),
    "path ends": Sentence("the path ends at {end} features; {rule} asks for {size}"),
    "held-out rows alone decide": Sentence("{rule} is decided by held-out rows alone, and none "
        "were held out: all stay"),
    "no set within": Sentence("no set on the path keeps to {rule}; the one with the most "
        "information is kept"),
    "all are kept": Sentence("no set of fewer features is shown to meet {rule} on held-out rows; "
        "all are kept"),
    "all are kept, one was tried": Sentence("the one set of fewer features that time allowed is "
        "not shown to meet {rule} on held-out rows, and no larger one was tried; all are kept"),
    "most information is kept": Sentence("no set of fewer features is shown to meet {rule} on "
        "held-out rows; the one with the most information is kept"),
    "nearest set": Sentence("held-out figures are those of {size} features: without the held-out "
        "rows no search goes farther"),
    "three parts": Sentence("of {n_rows} rows {searched} searched ({most} at most by neighbors), "
        "models were fitted to {fitted} and evaluated on {evaluated}{in_time}"),
    "searched once": Sentence("of {n_rows} rows {ordered} ordered the features, and the others "
        "were held out in {folds} folds to evaluate them"),
    "weights, no neighbors": Sentence("<sample_weight|--weights>: searches by neighbors and extra "
        "trees take no weights; features were ordered by counts (jmi, cmim) and a linear model"),
    "time limit": Sentence("the time limit of {seconds:g} s was reached: left out were {left_out}"),
    "few training rows": careful("models had time for {share:.0%} of their training rows: with all "
        "of them more columns may matter"),
    "fewer models": careful("{models} had no time to race: all features may be worth more than is "
        "said here"),
    "few steps": careful("time was up before the path had its end: other sets may carry more than "
        "is said here"),
    "rows judge themselves": careful("searches had time for {searched} of {folds} folds: the rows "
        "of the others judge an order that they helped to find"),
    "interrupted": careful("the fit was interrupted: left out were {left_out}"),
    "too few rows to hold out": careful("too few rows to hold any out: the cut rests on the path "
        "alone"),
    "given order": Sentence("the order {name!r} was given, and not searched again without the "
        "held-out rows: if it was found with them the figures are too good"),
    "chosen by information": Sentence("chosen by the information that held-out models show; their "
        "errors alone do not show that the budget is met: more rows, or <certify|pinsker certify> "
        "on fresh ones, would tell"),
    "chosen at less confidence": Sentence("chosen at a confidence of {confidence:.0%}, as asked "
        "for: held-out errors do not show at 95 % that the budget is met"),
    "cost": Sentence("the kept features cost {kept:g}, all of them {all:g}"),
    "unstable choice": careful("the choice is unstable: {found}"),
    "unstable columns": careful("some columns are unstable: {found}"),
    "no importance": Sentence("<importance_|importance> was not measured: {reason}"),
    "importance on the same rows": Sentence("measured on the rows that chose the columns, which "
        "makes kept ones look better<: importance(X, y) takes fresh rows|>"),
    "some were added": Sentence("of {n_all} dropped features the first {n_added} of the path were "
        "added"),
    "single features have no weights": Sentence("the information of single features, alone and "
        "beside the kept ones, is that of rows of equal weight: neighbors take no weights"),
    # About held-out rows.
    "lets all go": careful("this budget would let every column go: use a smaller one"),
    "lets all go by errors": careful("this budget would let every column go: use a smaller one, or "
        "<metric=roc_auc>"),
    "other spread": Sentence("R² is in units of the variance of all rows; those held out vary "
        "{more}, so that it is {r2:.3f} with no features"),
    "few rows": careful("fewer than 100 rows make an estimate and no certificate: at 60 rows, at "
        "the edge of the budget, a wrong 'met' was measured in up to 6 % of runs instead of 5 %"),
    "sequence ended": Sentence("the sequence ended at its first set, {size} features: the {wanted} "
        "kept ones were not tested"),
    "not reached": Sentence("the {wanted} features of the search were not reached: the budget was "
        "{verdict} with {size} features"),
    "worst target": Sentence("the error increases most in target {column!r}, of {n_targets}"),
    "few groups": careful("{count} groups of rows are held out: with fewer than {fewest} the "
        "confidence bounds are rough"),
    "divided groups": Sentence("cv divides {divided} of {count} groups: rows of a group are fitted "
        "to and held out at once, and the errors may be too good; hold out whole "
        "groups, as GroupKFold and an int for cv do"),
    "weights": Sentence("figures are weighted by <sample_weight|--weights>: {n_rows} held-out rows "
        "are worth {worth:.0f} of equal weight"),
    "held out often": Sentence("{n_rows} rows were held out {times:.3g} times on average: each "
        "counts once, with the mean of its losses"),
    "close rows": careful("{share:.0%} of the held-out rows have the target of training rows that "
        "are far closer to them than all others: if these are copies with noise the errors are too "
        "good, so that this is an estimate, and <groups=|--row-groups> keeps them together"),
    "repeated rows": Sentence("{repeated} of {n_test} held-out rows are repeated among the rows "
        "that models were fitted to: if they are the same observation the errors are too good, and "
        "<groups=|--row-groups> keeps them together"),
    "nearly repeated rows": Sentence("{repeated} of {n_test} held-out rows are repeated, but for "
        "{columns}, among the rows that models were fitted to: if they are the same observation "
        "the errors are too good, and <groups=|--row-groups> keeps them together"),
    "copies of rows": careful("of {n_rows} rows {different} are different: copies of a row are "
        "held out together and count once"),
    "nearly copies of rows": careful("of {n_rows} rows {different} are different but for "
        "{columns}: copies of a row are held out together and count once"),
    "no profile": careful("the selection holds no profile of its rows, so that these cannot be "
        "compared with them: this is an estimate; fit again with this version"),
    "emptied columns": careful("dropped columns are missing or constant {where}, and were not in "
        "the fit: {columns}; what is lost without them cannot be seen there"),
    "other values": careful("dropped columns have other values here than in the fit: {columns}; "
        "this is an estimate for other rows than those of the fit"),
    "other targets": careful("the target has other values here than in the fit, as if its unit had "
        "changed: the budget may mean something else, and this is an estimate"),
    "other shares": careful("the classes have other shares here than in the fit: the budget may "
        "mean something else, and this is an estimate"),
    "other classes": careful("the classes are not those of the fit (new: {new}; absent: {absent}): "
        "this is an estimate"),
    "rows of the fit": careful("{found} test rows are among the rows of the fit{basis}, which "
        "chose the columns: on new rows these may cost more, so that this is an estimate; hold "
        "rows out before fit, and pass those"),
    "rows of the model": careful("{found} test rows are among the rows that the model is fitted to"
        "{basis}: the errors are too good, and this is an estimate; pass other rows"),
    "known rows": Sentence("{found} rows are rows of the fit{basis}: this is an estimate, and no "
        "certificate; leave them out"),
}
# fmt: on
