"""What one call of ``fit`` works on, and the settings behind its parameters."""

import hashlib
import sys
from dataclasses import dataclass
from typing import Any, get_args

from pinsker._types import IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.engine import EngineName, EngineSettings, KNNSettings
from pinsker.selection.search import FeatureCosts, FeatureCount, StoppingRule

#: Parameters that hold an expert's settings: nested names such as ``knn__n_neighbors`` reach them.
SETTINGS: dict[str, type[KNNSettings] | type[EngineSettings]] = {
    "knn": KNNSettings,
    "engine": EngineSettings,
}
#: Names that the parameter `engine` may hold instead of settings.
ENGINES = get_args(EngineName)
#: Modules between a user's call of ``fit`` and the place of a warning.
_OURS = ("pinsker.", "sklearn.", "contextlib")


@dataclass(frozen=True, eq=False)
class FitData:
    """What every stage of one call of ``fit`` works on.

    Attributes
    ----------
    encoded : Encoded
        The table and the target.
    facts : TargetFacts
        What the bounds know of the target.
    rule : StoppingRule
        What cuts the path.
    fixed : tuple of int
        Features that may not be dropped.
    user_data : dict
        ``X`` and ``y`` as they came, for callbacks.
    seed : int
        Of everything random in this fit.
    fingerprint : str
        Digest of everything that the path depends on.
    table : frame or array
        The rows that were encoded, as they came: for models of the user.
    origin : str
        Where the rows were drawn from, for the certificate; empty where they are all.
    notes : tuple of str
        What a user should know about the drawing.
    groups : ndarray of shape (n_rows,), int, or None
        Which rows belong together.
    costs : FeatureCosts or None
        Prices of the features; None: 1 each.
    """

    encoded: Encoded
    facts: TargetFacts
    rule: StoppingRule
    fixed: tuple[int, ...]
    user_data: dict[str, Any]
    seed: int = 0
    fingerprint: str = ""
    origin: str = ""
    table: Any = None
    notes: tuple[str, ...] = ()
    groups: IntArray | None = None
    costs: FeatureCosts | None = None


def as_settings(name: str, value: Any) -> Any:
    """Return the settings that a parameter stands for: an object, a name of an engine, or None."""
    if isinstance(value, SETTINGS[name]):
        return value
    return SETTINGS[name]() if value is None else EngineSettings(value)


def n_at_least(rule: StoppingRule) -> int:
    """Return how many features a search must reach so that a rule can be followed."""
    return rule.k if isinstance(rule, FeatureCount) else 0


def fingerprint(encoded: Encoded, *settings: Any) -> str:
    """Return a digest of everything that a path depends on: rows, kinds and settings."""
    columns = encoded.columns
    words = (settings, encoded.feature_names, encoded.features, columns.kinds, columns.scale)
    digest = hashlib.blake2b(repr(words).encode(), digest_size=16)
    target = encoded.target
    table = (columns.values, columns.missing, target.labels, target.values)
    for values in (*table, encoded.weights):
        digest.update(b"none" if values is None else values.tobytes())
    return digest.hexdigest()


def level_of_caller() -> int:
    """Return the stack level of the first frame outside of this package and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_OURS):
        level, frame = level + 1, frame.f_back
    return level
