"""What one call of ``fit`` works on, and the settings behind its parameters."""

import hashlib
import sys
from dataclasses import dataclass
from typing import Any

from pinsker._notes import Notes
from pinsker._types import IntArray
from pinsker.bounds import TargetFacts
from pinsker.encoding import Encoded
from pinsker.search import FeatureCosts, FeatureCount, StoppingRule

#: Modules between a user's call of ``fit`` and the place of a warning.
_OURS = ("pinsker.", "sklearn.", "contextlib")


@dataclass(frozen=True, eq=False)
class FitData:
    """What every stage of one call of ``fit`` works on."""

    encoded: Encoded  # the table and the target
    facts: TargetFacts  # what the bounds know of the target
    rule: StoppingRule  # what cuts the path
    fixed: tuple[int, ...]  # features that may not be dropped
    user_data: dict[str, Any]  # ``X`` and ``y`` as they came, for callbacks
    seed: int = 0  # of everything random in this fit
    fingerprint: str = ""  # digest of everything that the path depends on
    origin: str = ""  # where the rows were drawn from, for the certificate
    table: Any = None  # the rows that were encoded, as they came: for models of the user
    notes: Notes = ()  # what a user should know about the drawing
    groups: IntArray | None = None  # which rows belong together
    costs: FeatureCosts | None = None  # prices of the features


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
