r"""
From a budget to a number of features
=====================================

An error budget becomes a number of features in two steps. The bound turns it into nats; the path
shows how many nats each set lacks, and the smallest set within the allowance stays.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from pinsker import BackwardElimination, ErrorBudget

X, y = load_breast_cancer(return_X_y=True)
selector = BackwardElimination(random_state=0).fit(X, y)
path, facts = selector.path_, selector.facts_

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
nats = np.linspace(0, 0.08, 300)
bound = ErrorBudget(0.05).bound(facts)
left.plot(nats, bound.growth(nats), color="black")
left.set(xlabel="information lost (nats)", ylabel="error rate increases by at most")
left.set(title="1. the bound: error to nats", xlim=(0, 0.08), ylim=(0, 0.18))

right.plot(path.sizes, path.lost(), ".-", color="black")
right.set(xlabel="features kept", ylabel="information lost (nats)")
right.set(title="2. the path: nats to size", xlim=(0, 30), ylim=(0, 0.08))

for budget, shade in ((0.05, "tab:blue"), (0.1, "tab:orange")):
    allowed = ErrorBudget(budget).budget(facts)
    size = selector.support_at(error_budget=budget).sum()
    left.plot([0, allowed, allowed], [budget, budget, 0], color=shade, linestyle="--")
    left.text(allowed + 0.002, budget - 0.008, f"{budget} → {allowed:.4f} nats", color=shade)
    right.plot([30, size, size], [allowed, allowed, 0], color=shade, linestyle="--")
    right.annotate(f"{size} features", (size, 0), (size + 0.4, allowed + 0.002), color=shade)
fig.set_label(
    "Left: the bound turns budgets of 0.05 and 0.1 into nats that may be lost. Right: information "
    "lost by number of features; the nats of each budget cut it at a size."
)
plt.show()

# %%
# With more than two dozen features the estimate itself falls: irrelevant columns blur the
# neighbors. The smallest set within the allowance is what counts.
#
# Halving the budget divides the nats by about four: near zero the bound is a square root,
# :math:`\sqrt{\nu/2}` for balanced classes.
