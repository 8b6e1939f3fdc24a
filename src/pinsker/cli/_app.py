"""The command line: its commands, and what they have in common."""

from typing import Annotated

import typer

from pinsker import __version__
from pinsker.cli._command_inspect import inspect
from pinsker.cli._command_judge import audit, certify
from pinsker.cli._command_select import demo, select
from pinsker.cli._leaving import OneLineGroup

app = typer.Typer(
    name="pinsker",
    cls=OneLineGroup,
    help="Choose the columns of a table that matter for a prediction, within an error budget.",
    epilog="Exit codes: 0 the budget is kept; 3 it is not, or the rows cannot tell; 2 bad input.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pinsker {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


for command in (select, inspect, certify, audit, demo):
    app.command()(command)
