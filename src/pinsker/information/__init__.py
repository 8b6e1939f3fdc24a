"""Stage: information. Entropy and information in nats, from columns of any kinds."""

from pinsker.information._entropy import entropy
from pinsker.information._estimators import (
    set_terms,
    shared_entropy,
    shared_information,
    state_entropy,
)
from pinsker.information._mutual import (
    IndependenceTest,
    conditional_mutual_information,
    independence_test,
    mutual_information,
)
from pinsker.information._reliability import Estimate
