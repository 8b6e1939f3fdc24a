"""``python -m experiments.reproduce``: run the paper's experiments again, from a clone.

python -m experiments.reproduce figure2 --quick          a miniature, in seconds
python -m experiments.reproduce all --output reproduction --docs
python -m experiments.reproduce all --only default --docs    the columns of the default anew
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.reproduce import PARTS, Settings, page, running
from experiments.reproduce.results import DEFAULT, PAPER, Check
from pinsker._compat import require
from pinsker.exceptions import PinskerError

#: Exit codes. A published number that is missed is a result, and no failure.
DONE, BAD_INPUT = 0, 2


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.reproduce",
        description="Run the paper's experiments again, beside its published numbers.",
    )
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all"], help="what to run again")
    parser.add_argument(
        "--output", "-o", type=Path, default=Path("reproduction"), metavar="FOLDER",
        help="where tables and figures go",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a miniature that proves nothing")
    parser.add_argument("--jobs", "-j", type=_at_least(1), default=2, help="processes")
    parser.add_argument(
        "--seed", type=_at_least(0), default=0, help="seed of splits and drawn problems"
    )
    parser.add_argument("--fresh", action="store_true", help="ignore stored runs")
    parser.add_argument(
        "--only", choices=[DEFAULT, PAPER], default="",
        help="run FeatureSelector alone, or all but it; the rest is taken from the docs",
    )  # fmt: skip
    parser.add_argument(
        "--splits",
        type=_at_least(1),
        help="fewer splits of Figure 3 and Table I than three and five",
    )
    parser.add_argument(
        "--docs", action="store_true", help="write tables and figures into docs/paper.md too"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="print nothing but errors")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run parts and print what must hold; return the exit code."""
    options = parse(arguments)
    parts = PARTS if "all" in options.parts else list(dict.fromkeys(options.parts))
    show = sys.stderr.isatty() and not options.quiet
    settings = Settings(
        options.output, options.quick, options.jobs, options.seed, options.fresh, options.only,
        options.splits, **({"on_run": _print_progress} if show else {}),
    )  # fmt: skip
    try:
        require("matplotlib", purpose="the reproduction", extra="plot")
        checks = running.reproduce(parts, settings)
        if options.docs:
            page.publish(parts, settings)
    except PinskerError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return BAD_INPUT
    if not options.quiet:
        _print_summary(checks, options.output)
        _print_times(parts, options.output)
    return DONE


def _at_least(smallest: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        value = int(text)
        if value < smallest:
            raise argparse.ArgumentTypeError(f"{value} is below {smallest}")
        return value

    return integer


def _print_progress(part: str, done: int, total: int) -> None:
    """Rewrite one line per part on a terminal."""
    print(f"\r{part}: {done} of {total}", end="\n" if done == total else "", file=sys.stderr)
    sys.stderr.flush()


def _print_summary(checks: list[Check], output: Path) -> None:
    words = {True: "pass", False: "MISS", None: "not checked"}
    for check in checks:
        print(f"{words[check.held]:<12} {check.claim}: {check.reached}")
    missed = sum(check.held is False for check in checks)
    print(f"{missed} of {len(checks)} claims missed; tables and figures: {output}")


def _print_times(parts: Sequence[str], output: Path) -> None:
    """Print the processor time of every part, and of all."""
    files = {part: output / part / "run.json" for part in parts}
    spent = {p: json.loads(f.read_text())["cpu_seconds"] for p, f in files.items() if f.is_file()}
    listed = ", ".join(f"{part} {seconds} s" for part, seconds in spent.items())
    print(f"processor time: {sum(spent.values()) / 60:.1f} min ({listed})")


if __name__ == "__main__":
    raise SystemExit(main())
