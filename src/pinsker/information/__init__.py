"""Stage: information. Entropy and information in nats, from columns of any kinds."""

from pinsker.information._conditional import conditional_mutual_information
from pinsker.information._entropy import entropy
from pinsker.information._estimate import Estimate
from pinsker.information._independence import IndependenceTest, independence_test
from pinsker.information._mutual import mutual_information
from pinsker.information.witnesses._defaults import LARGE

__all__ = [
    "LARGE",
    "Estimate",
    "IndependenceTest",
    "conditional_mutual_information",
    "entropy",
    "independence_test",
    "mutual_information",
]
