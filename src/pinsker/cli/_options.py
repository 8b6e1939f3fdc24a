"""The options that commands share, each written once."""

from typing import Annotated, Literal

import typer

from pinsker.cli._selecting import Direction

Data = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Parquet, Feather or ARFF, plain or as .gz, .bz2, .xz, .zip; - is "
        "standard input.",
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--error-budget",
        "-e",
        help="How much error may be added: error rate for classes, share of the variance for "
        "numbers.  [default: 0.05]",
    ),
]
Unit = Annotated[
    Literal["auto", "error", "r2", "mse", "log-loss", "brier", "mae"],
    typer.Option(help="Unit of the budget; auto is error rate or share of the variance (r2)."),
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
    typer.Option("--direction", "-d", help="How to search; auto tries several and compares."),
]
Keep = Annotated[
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
Group = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMNS",
        help="Columns that stay or go as one: name=a,b or name=prefix*.",
        show_default=False,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="What a column holds, if it is guessed wrongly: nominal, count or continuous.",
        show_default=False,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(min=0, help="Parts of the rows that judge in turn; 0 judges by the path alone."),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    typer.Option(help="Whether the target holds classes or numbers."),
]
Missing = Annotated[
    Literal["error", "drop", "category"],
    typer.Option(
        help="What missing values are: an error, a reason to leave out the row, or a value of "
        "their own."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Memory the search may hold, as 500M or 2G.", show_default=False
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
    typer.Option(min=0, help="Of everything random; without one every run is the same too."),
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Between the values of a text file; found out by default."),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Decimal sign of a text file; found out by default."),
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
