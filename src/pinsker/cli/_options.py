"""The options that commands share, and the values that selectors take of their texts."""

import csv
import difflib
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from pinsker._types import Fields
from pinsker.encoding import Kind
from pinsker.exceptions import DataError, ParameterError
from pinsker.models import MODELS
from pinsker.search import SEARCHES, FeatureCount, ScoreJump, ScoreThreshold, StoppingRule

Direction = Literal["auto", "backward", "forward", "forward-backward", "linear"]
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_KINDS = [kind.value for kind in Kind if kind is not Kind.BOOLEAN]
_LONGEST_NAME = 80  # longer names are cut in messages
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_PERCENT = re.compile(r"(\d+(?:[.,]\d+)?)\s*%")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}

# The options, as a table: its rows are too alike for one line of each argument.
# fmt: off
Data = Annotated[str | None, Argument(metavar="TABLE", help=
    "CSV, TSV, Parquet, Feather, JSON, ARFF, Excel, Stata, SPSS or SAS; text may be compressed "
    "(.gz, .bz2, .xz, .zip); - is standard input.")]
Database = Annotated[str | None, Option(metavar="FILE", help=
    "A file of DuckDB or SQLite that --query reads from, instead of a TABLE.")]
Query = Annotated[str | None, Option(metavar="SQL", help=
    'What to read from the database, as "select * from sales"; without --database DuckDB reads '
    "the files that the query names.")]
Target = Annotated[list[str], Option("--target", "-t", metavar="COLUMN", help=
    "The column to predict. Given several times, or as a,b or name*: several targets, numbers or "
    "classes, whose errors are averaged.")]
Columns = Annotated[list[str] | None, Option(metavar="COLUMNS", help=
    "Instead of a saved selection, columns to price: a,b or name*; needs --target.")]
Against = Annotated[list[str] | None, Option(metavar="COLUMNS", help=
    "Columns to compare with; all by default.")]
OfColumns = Annotated[list[str] | None, Option("--target", "-t", metavar="COLUMN", help=
    "With --columns: the column to predict.")]
Event = Annotated[str | None, Option(metavar="COLUMN", help=
    "A column that says (by 0 and 1, or true and false) whether the event was seen at the time "
    "that --target holds, or the row was censored then.")]
Budget = Annotated[str | None, Option("--error-budget", "-e", metavar="NUMBER", help=
    "How much the error may increase, in the metric.  [default: 0.05]")]
Budgets = Annotated[list[str] | None, Option("--error-budget", "-e", metavar="NUMBER", help=
    "A budget to plan for, in the metric; of one alone its double and fivefold are planned too.  "
    "[default: 0.01]")]
PlannedTarget = Annotated[list[str] | None, Option("--target", "-t", metavar="COLUMN", help=
    "The column to predict.")]
Confidence = Annotated[float | None, Option(min=0.5, max=0.999, help=
    "How sure the kept columns must be within the budget; 0.5 keeps the best guess, the smallest "
    "set whose estimated increase is within it.  [default: 0.95 with auto]")]
Metric = Annotated[str, Option(metavar="NAME", help=
    "Metric of the error: error, log-loss or brier for classes, r2 (share of the target's "
    "variance), mse, mae or log-loss for numbers, or a scorer of scikit-learn, such as roc_auc, "
    "average_precision, f1 or neg_mean_absolute_percentage_error; concordance or "
    "integrated_brier with --event; 'worst r2' and the like for the worst of several targets. "
    "auto takes error or r2 by the kind of the target; error or r2 also say what the target is, "
    "if auto reads it wrongly.")]
Stop = Annotated[str | None, Option(metavar="RULE", help=
    "Stop by another rule: features=5, score=0.01 or jump=0.02 (both in nats).")]
Way = Annotated[Direction, Option("--direction", "-d", help=
    "How to search; auto compares several searches on held-out rows.")]
Published = Annotated[Literal["backward", "forward"] | None, Option("--as-published", help=
    "Algorithm 1 (backward) or 2 (forward) of the paper to the letter: its rule, constants and "
    "estimator, and no row held out.")]
Searches = Annotated[list[str] | None, Option(metavar="NAMES", help=
    f"Searches that auto compares, out of {', '.join(SEARCHES)}.")]
Models = Annotated[list[str] | None, Option(metavar="NAMES", help=
    f"Held-out models, out of {', '.join(MODELS)}; by default those that suit the size of the "
    "table.")]
Neighbors = Annotated[int | None, Option("--n-neighbors", min=1, help=
    "Nearest neighbors of the estimates.")]
Fixed = Annotated[list[str] | None, Option(metavar="COLUMNS", help=
    "Columns or groups that must stay: a,b or name*.")]
Drop = Annotated[list[str] | None, Option(metavar="COLUMNS", help=
    "Columns to leave out beforehand, such as identifiers.")]
Suspects = Annotated[Literal["auto", "warn", "drop", "ignore"] | None, Option(help=
    "Columns that give the target away or name the rows: auto leaves out the latter and warns of "
    "the others; warn of all, drop all, or ignore that they do.  [default: auto]")]
Stability = Annotated[int | None, Option(min=2, metavar="N", help=
    "Choose again on N random halves of the rows, and print how much the choices agree. It takes "
    "N times as long.")]
FeatureGroups = Annotated[list[str] | None, Option("--feature-groups", metavar="NAME=COLUMNS", help=
    "Columns that stay or go as one: name=a,b or name=prefix*.")]
Costs = Annotated[str | None, Option(metavar="FILE", help=
    "Prices of columns, a CSV file of two columns: column (or group; a;b;c share one price) and "
    "cost. The cheapest set within the budget is kept.")]
RowGroups = Annotated[str | None, Option("--row-groups", metavar="COLUMN", help=
    "A column that says which rows belong together (patient, customer): they are held out "
    "together. It is no feature.")]
Time = Annotated[str | None, Option(metavar="COLUMN", help=
    "A column that orders the rows in time: sets are chosen on earlier rows and tested on later "
    "ones. It is no feature.")]
Subgroup = Annotated[list[str] | None, Option("--subgroup", metavar="COLUMN", help=
    "A column whose values are subgroups of the rows: the budget must be met in each of them. With "
    "a budget of their own: region=0.01, or of one value: region=north=0.01.")]
Weights = Annotated[str | None, Option(metavar="COLUMN", help=
    "A column of weights of the rows; no feature.")]
Kinds = Annotated[list[str] | None, Option(metavar="COLUMN=KIND", help=
    "Kind of a column, if it is detected wrongly: nominal, count or continuous.")]
Folds = Annotated[int | None, Option("--cv", min=0, help=
    "Folds of cross-fitting; 0 holds no row out and cuts the path by its own estimates.  "
    "[default: 5 with auto, else 0]")]
Missing = Annotated[Literal["auto", "error", "drop", "category"], Option(help=
    "How missing values are handled: auto makes them a value of their own and drops rows without "
    "a target; error refuses them; drop drops every row with one; category is auto with an error "
    "for a missing target.")]
Memory = Annotated[str | None, Option(metavar="SIZE", help=
    "Memory the search may hold, as 500M or 2G.")]
TimeLimit = Annotated[str | None, Option("--time-limit", metavar="TIME", help=
    "Begin nothing new after this time, as 60s, 2m or 1h, and keep the best set that was "
    "evaluated by then. Such a result depends on the machine.")]
Fast = Annotated[bool, Option("--fast", help=
    "Two quick searches (relevance, linear) and three folds: more columns may stay, and what "
    "only counts in combination may be missed.")]
Engine = Annotated[Literal["auto", "local", "cuda"], Option(help=
    "Where to search: auto takes a GPU if there is one and the table is large, else the cores; "
    "for a Dask cluster see --scheduler. The result is the same.")]
Scheduler = Annotated[str | None, Option(metavar="ADDRESS", help=
    "Search on the Dask cluster of this scheduler, such as tcp://host:8786.")]
Jobs = Annotated[int | None, Option("--jobs", "-j", help="Threads; -1 uses all.")]
Seed = Annotated[int | None, Option(min=0, help=
    "Seed of everything random: the same seed, the same result.  [default: 0]")]
Separator = Annotated[str | None, Option(metavar="SIGN", help=
    "Between the values of a text file; detected by default.")]
Decimal = Annotated[str | None, Option(metavar="SIGN", help=
    "Decimal sign of a text file; detected by default.")]
NotAvailable = Annotated[list[str] | None, Option("--na", metavar="TEXT", help=
    "Text that means missing, beside NA, ?, null, ...")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")]
OutputFile = Annotated[str | None, Option("--output", "-o", metavar="FILE", help=
    "Write the kept columns and the target; - is standard output.")]
FeaturesFile = Annotated[str | None, Option(metavar="FILE", help=
    "Write the names of the kept columns, one a line; - as above.")]
JsonFile = Annotated[str | None, Option(metavar="FILE", help=
    "Write the result as JSON; - is standard output.")]
ReportFile = Annotated[str | None, Option(metavar="FILE", help=
    "Write a report to this .html file.")]
# fmt: on


def parse_stop(text: str) -> StoppingRule:
    name, _, number = (part.strip() for part in text.partition("="))
    try:
        if name == "features":
            return FeatureCount(int(number))
        if name in ("score", "jump"):
            return (ScoreThreshold if name == "score" else ScoreJump)(float(number))
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
    raise ParameterError(
        f"--stop {text!r} is not understood: use features=5, score=0.01 or jump=0.02."
    )


def parse_memory(text: str) -> int:
    found = _MEMORY.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"--memory {text!r} is not understood: use for example 500M or 2G.")
    return int(float(found[1]) * 1024 ** _POWERS[found[2].lower()])


def parse_time(text: str) -> float:
    found = _TIME.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"--time-limit {text!r} is not understood: use for example 60s or 2m.")
    return float(found[1]) * _SECONDS[(found[2] or "").lower()]


def parse_budget(text: str | None, option: str = "--error-budget") -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError as error:
        hint = "use a number in the metric, as 0.05"
        if found := _PERCENT.fullmatch(text.strip()):
            share = f"{float(found[1].replace(',', '.')) / 100:g}"
            hint = f"for {text.strip()} of an error rate or of the variance write {share}"
        raise ParameterError(f"{option} {text!r} is no number: {hint}.") from error


def parse_columns(texts: Iterable[str] | None, names: Sequence[str], option: str) -> list[str]:
    """Read names of columns, separated by commas or given one by one; ``*`` stands for anything."""
    found: list[str] = []
    for text in texts or ():
        # A name may hold a comma itself: the whole text is tried first.
        for part in map(str.strip, [text] if text in names else text.split(",")):
            if part in names or "*" not in part:
                found.append(find_column(part, names, option))
                continue
            matched = [name for name in names if fnmatchcase(name, part.replace("[", "[[]"))]
            if not matched:
                raise ParameterError(f"{option}: no column matches {part!r}.")
            found += matched
    return list(dict.fromkeys(found))


def parse_names(texts: Iterable[str] | None, known: Sequence[str], option: str) -> list[str] | None:
    """Read names out of a list, separated by commas or given one by one; None for none."""
    names = [name.strip() for text in texts or () for name in text.split(",")]
    for name in names:
        if name not in known:
            raise ParameterError(f"{option}: {name!r} is not one of {', '.join(map(repr, known))}.")
    return list(dict.fromkeys(names)) or None


def parse_groups(texts: Iterable[str] | None, names: Sequence[str]) -> dict[str, list[str]] | None:
    """Read groups of columns, each as ``name=first,second``."""
    groups: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, columns = text.partition("=")
        if not (equals and name.strip() and columns.strip()):
            raise ParameterError(
                f"--feature-groups {text!r} is not understood: use name=first,second, for example "
                "colour=red,green,blue or colour=colour_*."
            )
        groups[name.strip()] = parse_columns([columns], names, "--feature-groups")
    return groups or None


def parse_subgroups(texts: Iterable[str] | None, names: Sequence[str]) -> dict[str, Fields]:
    """Read columns of subgroups, each as ``column``, ``column=0.01`` or ``column=value=0.01``."""
    found: dict[str, Fields] = {}
    for text in texts or ():
        if text in names or "=" not in text:
            found |= {name: {} for name in parse_columns([text], names, "--subgroup")}
            continue
        # A name may hold an equals sign itself: the longest that is a column counts.
        ends = [k for k, sign in enumerate(text) if sign == "=" and text[:k] in names]
        column = text[: ends[-1]] if ends else find_column(text.split("=")[0], names, "--subgroup")
        value, _, number = text[len(column) + 1 :].rpartition("=")
        found.setdefault(column, {})[value or "*"] = parse_budget(number, "--subgroup")
    return found


def read_costs(path: str, names: Sequence[str]) -> dict[str | tuple[str, ...], float]:
    """Read prices of columns from a CSV file of two columns; ``a;b`` share one price."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--costs {path!r} cannot be read: {error}.") from error
    costs: dict[str | tuple[str, ...], float] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        if not row:
            continue
        try:
            price = float(row[1])
        except (IndexError, ValueError) as error:
            if number == 1 and len(row) > 1:
                continue  # names of the two columns
            raise DataError(
                f"--costs {path!r}, line {number}: {','.join(row)!r} is no column and its price."
            ) from error
        parts = [row[0]] if row[0] in names else row[0].split(";")
        found = tuple(find_column(part.strip(), names, "--costs") for part in parts)
        costs[found[0] if len(found) == 1 else found] = price
    return costs


def parse_kinds(
    texts: Iterable[str] | None, names: Sequence[str]
) -> dict[str, str] | Literal["from_dtype"]:
    """Read kinds of columns, each as ``column=kind``; those of the other columns are detected."""
    kinds: dict[str, str] = {}
    for text in texts or ():
        columns, _, kind = text.rpartition("=")
        if kind not in _KINDS:
            raise ParameterError(
                f"--kind {text!r} is not understood: use COLUMN=KIND with one of "
                f"{', '.join(_KINDS)}."
            )
        kinds |= dict.fromkeys(parse_columns([columns], names, "--kind"), kind)
    return kinds or "from_dtype"


def find_column(name: str, names: Sequence[str], option: str) -> str:
    """Return the column of this name, or raise with the names there are."""
    if name in names:
        return name
    if len(name) > _LONGEST_NAME:
        raise ParameterError(f"{option}: there is no column of the long name {_cut(name)}.")
    alike = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    meant = [n for n in names if n.lower() == alike[0]] if alike else []
    if meant:
        advice = f"Did you mean {_cut(meant[0])}?"
    else:
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        advice = f"There are {', '.join(map(_cut, names[:6]))}{more}."
    raise ParameterError(f"{option}: there is no column {name!r}. {advice}")


def _cut(name: str) -> str:
    long = len(name) > _LONGEST_NAME
    return f"{name[:_LONGEST_NAME]!r}... ({len(name)} characters)" if long else repr(name)
