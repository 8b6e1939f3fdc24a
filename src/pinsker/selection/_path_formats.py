"""A path as a data frame and as JSON. Pandas and polars are imported only when asked for."""

import dataclasses
import json
import math
from typing import Any, Literal

from pinsker._compat import require
from pinsker.exceptions import ParameterError

#: The version that `to_json` writes; older ones stay readable.
SCHEMA = 1


def to_frame(steps: tuple[Any, ...], kind: type, library: Literal["pandas", "polars"]) -> Any:
    """Return equal dataclass rows as a data frame; `kind` names the columns of an empty one."""
    if library not in ("pandas", "polars"):
        raise ParameterError(f"library={library!r} is not known: use 'pandas' or 'polars'.")
    frames = require(library, purpose=f"to_frame({library!r})")
    columns = [column.name for column in dataclasses.fields(kind)]
    return frames.DataFrame(
        {column: [getattr(step, column) for step in steps] for column in columns}
    )


def to_json(path: Any) -> str:
    """Return all fields of a path as JSON. Floats survive exactly; NaN and inf become text."""
    content = {field.name: _plain(getattr(path, field.name)) for field in dataclasses.fields(path)}
    return json.dumps({"schema": SCHEMA, **content}, allow_nan=False, ensure_ascii=False)


def fields_from_json(text: str) -> dict[str, Any]:
    """Return the fields that `to_json` wrote."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ParameterError(f"not the JSON of a selection path: {error}.") from error
    schema = content.pop("schema", None) if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ParameterError(
            f"not the JSON of a selection path: expected schema {SCHEMA}, found {schema!r}."
        )
    numbers = ("scores", "information", "bounds")
    return {
        name: tuple(map(float, value) if name in numbers else value)
        if isinstance(value, list)
        else value
        for name, value in content.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # float("nan"), float("inf") read it back
    return value
