"""Stage: what people ask next about a choice: importance, stability, interactions, suspects."""

from pinsker.explain._alternatives import (
    SEARCHED,
    Alternative,
    Substitute,
    alternatives,
    substitutes,
)
from pinsker.explain._importance import (
    SAME_ROWS,
    FreshSets,
    Importance,
    Stability,
    importance,
    importance_at_hand,
    stability_of_orders,
    stability_of_subsamples,
)
from pinsker.explain._interactions import Interactions, TripleScan, interactions
from pinsker.explain._suspects import Suspect, find_suspects, identifiers, note_suspects

__all__ = ["Alternative", "Importance", "Stability", "Substitute", "Suspect"]  # the API's pages
