"""Notes for users as objects, and settings that each reader knows by another name."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Audience: TypeAlias = Literal["library", "command"]

#: A setting in a message: ``<missing=drop>``, or ``<text for the library|text for the command>``.
_SETTING = re.compile(r"<(\w+)=(\w*)>|<([^<>|]*)\|([^<>|]*)>")
#: Parameters whose option has another name; the others have their own, with dashes.
_OPTIONS = {
    "max_memory": "--memory", "n_jobs": "--jobs", "random_state": "--seed", "client": "--scheduler",
    "name": "--engine", "fixed_features": "--fixed", "categorical_features": "--kind",
    "task": "--metric", "sample_weight": "--weights", "groups": "--row-groups",
    "feature_costs": "--costs", "subgroups": "--subgroup",
}  # fmt: skip


@dataclass(frozen=True)
class Note:
    """Something that a user should know.

    ``str(note)`` is its sentence; ``"text" in note`` looks into that.

    Attributes
    ----------
    kind : str
        What happened, a key of the sentences in `pinsker.report.words`.
    columns : tuple of str
        The columns it is about.
    figures : mapping of str to plain values
        What else the sentence says.
    weight : {"known", "doubt", "untrue"}
        What it does to a claim: nothing, make an estimate of it, or make "met" untrue.
    """

    kind: str
    columns: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict, hash=False)
    weight: Literal["known", "doubt", "untrue"] = "known"

    def __str__(self) -> str:
        from pinsker.report import sentence  # upwards: it has all words

        return sentence(self)

    def __contains__(self, text: str) -> bool:
        return text in str(self)


Notes: TypeAlias = tuple[Note, ...]


def notes_to_fields(notes: Iterable[Note]) -> dict[str, list[Any]]:
    """Return notes as plain values, a list for each of their parts."""
    return {
        "notes": list(map(str, notes)), "note_kinds": [note.kind for note in notes],
        "note_columns": [list(note.columns) for note in notes],
        "note_weights": [note.weight for note in notes],
    }  # fmt: skip


def notes_of_fields(saved: Mapping[str, Any]) -> Notes:
    """Return saved notes with the sentences that they had; of older files sentences are all."""
    texts = saved["notes"]
    kinds = saved.get("note_kinds", ["saved"] * len(texts))
    columns = saved.get("note_columns", [()] * len(texts))
    weights = saved.get("note_weights", ["known"] * len(texts))
    return tuple(
        Note(kind, tuple(own), {"text": text}, weight)
        for text, kind, own, weight in zip(texts, kinds, columns, weights, strict=True)
    )


def option_of(parameter: str) -> str:
    """Return the option of a parameter; settings of a selector are ``knn__n_neighbors`` and so on.

    Examples
    --------
    >>> option_of("knn__n_neighbors"), option_of("max_memory")
    ('--n-neighbors', '--memory')
    """
    name = parameter.rpartition("__")[2]
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def spell(message: str, audience: Audience = "library") -> str:
    """Return a message with its settings as they are written in Python, or typed in a shell.

    Examples
    --------
    >>> spell("use <missing=drop>"), spell("use <missing=drop>", "command")
    ("use missing='drop'", 'use --missing drop')
    """

    def spelled(found: re.Match[str]) -> str:
        name, value, of_library, of_command = found.groups()
        if name is None:
            return str(of_library if audience == "library" else of_command)
        if audience == "library":
            return f"{name}={value!r}" if value else f"{name}="
        return f"{option_of(name)} {value}".rstrip()

    return _SETTING.sub(spelled, message)
