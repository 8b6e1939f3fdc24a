"""The errata page as a list of statements, with their examples run."""

import doctest
import io
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errata.md"
_LABEL = re.compile(r"^\*\*(E\d+) \(([FGT])\)\.\*\* (.*)$")
_KINDS = {"F": "false as printed", "G": "gap", "T": "slip of the pen"}


@dataclass(frozen=True)
class Erratum:
    """One entry of the page; examples are those between it and the next one."""

    name: str
    kind: str
    first_line: str
    examples: int
    failed: int

    def row(self) -> dict[str, object]:
        """Return a row of a table."""
        return asdict(self)

    def line(self) -> tuple[str, str, str, str]:
        """Return a line of a Markdown table."""
        ran = "reproduced" if not self.failed else f"{self.failed} of {self.examples} differ"
        return self.name, self.kind, self.first_line, ran if self.examples else "text"


def run_errata(page: Path = PAGE) -> list[Erratum]:
    """Run all examples of the page in order, as doctest does, and count them by erratum."""
    text = page.read_text(encoding="utf-8")
    labels = [(at, *_LABEL.match(line).groups()) for at, line in enumerate(text.splitlines())
              if _LABEL.match(line)]  # fmt: skip
    starts = [label[0] for label in labels]
    counts = {at: [0, 0] for at in starts}
    for lineno, failed in _examples(text, page.name):
        before = [at for at in starts if at < lineno]
        if before:
            counts[before[-1]][0] += 1
            counts[before[-1]][1] += failed
    return [
        Erratum(name, _KINDS[kind], first_line, *counts[at])
        for at, name, kind, first_line in labels
    ]


def _examples(text: str, name: str) -> list[tuple[int, bool]]:
    """Return the line of every example and whether it failed."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found: list[tuple[int, bool]] = []

    class Listening(doctest.DocTestRunner):
        def report_success(self, *told: Any) -> None:  # stream, test, example, what was printed
            found.append((told[2].lineno, False))

        def report_failure(self, *told: Any) -> None:
            found.append((told[2].lineno, True))

        report_unexpected_exception = report_failure

    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    Listening(optionflags=flags).run(test, out=io.StringIO().write)
    return found
