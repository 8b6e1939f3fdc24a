"""The options that commands share, each written once."""

from typing import Annotated, Literal

import typer

from pinsker.cli._fitting import MODELS, Direction
from pinsker.search import SEARCHES

Data = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Parquet, Feather, JSON, ARFF, Excel, Stata, SPSS or SAS; text may be "
        "compressed (.gz, .bz2, .xz, .zip); - is standard input.",
        show_default=False,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A file of DuckDB or SQLite that --query reads from, instead of a TABLE.",
        show_default=False,
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        metavar="SQL",
        help='What to read from the database, as "select * from sales"; without --database '
        "DuckDB reads the files that the query names.",
        show_default=False,
    ),
]
Target = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to predict. Given several times, or as a,b or name*: several targets, "
        "numbers or classes, whose errors are averaged.",
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column that says (by 0 and 1, or true and false) whether the event was seen at the "
        "time that --target holds, or the row was censored then.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--error-budget",
        "-e",
        metavar="NUMBER",
        help="How much the error may increase, in the metric.  [default: 0.05]",
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Metric of the error: error, log-loss or brier for classes, r2 (share of the target's "
        "variance), mse, mae or log-loss for numbers, or a scorer of scikit-learn, such as "
        "roc_auc, average_precision, f1 or neg_mean_absolute_percentage_error; concordance or "
        "integrated_brier with --event; 'worst r2' and the like for the worst of several targets. "
        "auto takes error or r2 by the kind of the target; error or r2 also say what the target "
        "is, if auto reads it wrongly.",
    ),
]
Stop = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Stop by another rule: features=5, score=0.01 or jump=0.02 (both in nats).",
        show_default=False,
    ),
]
Way = Annotated[
    Direction,
    typer.Option(
        "--direction", "-d", help="How to search; auto compares several searches on held-out rows."
    ),
]
Searches = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help=f"Searches that auto compares, out of {', '.join(SEARCHES)}.",
        show_default=False,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help=f"Held-out models, out of {', '.join(MODELS)}; by default those that suit the size "
        "of the table.",
        show_default=False,
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        "--n-neighbors", min=1, help="Nearest neighbors of the estimates.", show_default=False
    ),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns or groups that must stay: a,b or name*.",
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns to leave out beforehand, such as identifiers.",
        show_default=False,
    ),
]
Suspects = Annotated[
    Literal["warn", "drop", "ignore"] | None,
    typer.Option(
        help="Columns that give the target away or name the rows: warn, drop them, or ignore "
        "that they do.  [default: warn with auto]",
        show_default=False,
    ),
]
Stability = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Choose again on N random halves of the rows, and print how much the choices agree. "
        "It takes N times as long.",
        show_default=False,
    ),
]
FeatureGroups = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-groups",
        metavar="NAME=COLUMNS",
        help="Columns that stay or go as one: name=a,b or name=prefix*.",
        show_default=False,
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Prices of columns, a CSV file of two columns: column (or group; a;b;c share one "
        "price) and cost. The cheapest set within the budget is kept.",
        show_default=False,
    ),
]
RowGroups = Annotated[
    str | None,
    typer.Option(
        "--row-groups",
        metavar="COLUMN",
        help="A column that says which rows belong together (patient, customer): they are held "
        "out together. It is no feature.",
        show_default=False,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column that orders the rows in time: sets are chosen on earlier rows and tested "
        "on later ones. It is no feature.",
        show_default=False,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="A column of weights of the rows; no feature.", show_default=False
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="Kind of a column, if it is detected wrongly: nominal, count or continuous.",
        show_default=False,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        min=0,
        help="Folds of cross-fitting; 0 holds no row out and cuts the path by its own estimates.  "
        "[default: 5 with auto, else 0]",
        show_default=False,
    ),
]
Missing = Annotated[
    Literal["auto", "error", "drop", "category"],
    typer.Option(
        help="How missing values are handled: auto makes them a value of their own and drops rows "
        "without a target; error refuses them; drop drops every row with one; category is auto "
        "with an error for a missing target."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Memory the search may hold, as 500M or 2G.", show_default=False
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        help="Begin nothing new after this time, as 60s, 2m or 1h, and keep the best set that was "
        "evaluated by then. Such a result depends on the machine.",
        show_default=False,
    ),
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="Two quick searches (relevance, linear) and three folds: more columns may stay, and "
        "what only counts in combination may be missed.",
    ),
]
Engine = Annotated[
    Literal["auto", "local", "cuda"],
    typer.Option(
        help="Where to search: auto takes a GPU if there is one and the table is large, else the "
        "cores; for a Dask cluster see --scheduler. The result is the same."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Search on the Dask cluster of this scheduler, such as tcp://host:8786.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", help="Threads; -1 uses all.", show_default=False)
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Seed of everything random: the same seed, the same result.  [default: 0]",
        show_default=False,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Between the values of a text file; detected by default."),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Decimal sign of a text file; detected by default."),
]
NotAvailable = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="TEXT",
        help="Text that means missing, beside NA, ?, null, ...",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
OutputFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the kept columns and the target; - is standard output.",
    ),
]
FeaturesFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write the names of the kept columns, one a line; - as above."
    ),
]
JsonFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write the result as JSON; - is standard output."),
]
ReportFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a report to this .html file.")
]
