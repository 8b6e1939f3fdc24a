"""A selection on disk: what `pinsker select --json` writes and other commands read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinsker import __version__
from pinsker._types import plain
from pinsker.cli._fitting import Outcome
from pinsker.cli._schema import MOST_BYTES, check, check_parts, parse, schema
from pinsker.exceptions import DataError, PinskerError
from pinsker.report import sentence
from pinsker.selectors import from_state, to_state

#: The version that is written.
SCHEMA = 2


@dataclass(frozen=True, eq=False)
class SavedSelection:
    """A selection that was read back."""

    selector: Any  # certifies, transforms and is audited as the one that was fitted
    targets: tuple[str, ...]  # the columns to predict
    event: str | None
    task: str  # kind of the target
    columns: list[str]  # the columns that the selector was fitted to

    @property
    def features(self) -> list[str]:
        """Names of the features that were kept, the most important first."""
        path, support = self.selector.path_, self.selector.support_
        columns = self.selector.feature_columns_
        return [path.names[j] for j in path.order if support[list(columns[j])].all()]


def to_json(outcome: Outcome) -> str:
    """Return everything about a selection that outlives the process, as JSON text."""
    table, targets = outcome.table, outcome.table.targets
    content = {
        "pinsker": __version__,
        "schema": SCHEMA,
        "source": table.source,
        "target": targets[0] if len(targets) == 1 else list(targets),
        "event": table.event,
        **to_state(outcome.selector),
        "task": outcome.task,  # a linear search takes classes for numbers
        "stability": None if outcome.stability is None else outcome.stability.to_dict(),
        "notes": [sentence(note, "command") for note in outcome.notes],
        "seconds": round(outcome.seconds, 3),
    }
    return json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_selection(path: str) -> SavedSelection:
    """Restore a selection that was saved; nothing in the file is run."""
    text = _bytes(path)
    try:
        content = parse(text)
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise DataError(f"it is not of version {SCHEMA}")
        check(content, schema())
        check_parts(content)
        selector = from_state(content)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        found = (
            str(error) if isinstance(error, PinskerError) else f"{type(error).__name__}: {error}"
        )
        raise DataError(
            f"{path!r} is not a saved selection that this version of pinsker can read "
            f"({found.rstrip('.')}). Write one with pinsker select --json."
        ) from error
    target, event = content["target"], content.get("event")
    targets = (target,) if isinstance(target, str) else tuple(target)
    return SavedSelection(selector, targets, event, content["task"], content["columns"])


def _bytes(path: str) -> bytes:
    try:
        with Path(path).open("rb") as handle:
            return handle.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path!r}.") from error
    except OSError as error:
        raise DataError(f"{path!r} cannot be read: {error.strerror}.") from error
