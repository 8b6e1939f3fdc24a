"""
Two features that only matter together
======================================

The class is the exclusive or of two signs. Neither feature carries information alone, so a score
per feature cannot find them. Backward elimination can: it starts where both are present.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import mutual_info_classif

from pinsker import BackwardElimination

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 12))
y = (X[:, 2] > 0) ^ (X[:, 5] > 0)

alone = mutual_info_classif(X, y, random_state=0)
selector = BackwardElimination(error_budget=0.05, random_state=0).fit(X, y)
print("kept:", selector.get_support(indices=True))

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
relevant = np.isin(np.arange(12), (2, 5))
left.bar(np.arange(12), alone, color=np.where(relevant, "tab:blue", "lightgrey"))
left.set(title="information of each feature alone", xlabel="feature", ylabel="nats")
left.set(ylim=(0, 0.7), xticks=np.arange(12))
right.plot(selector.path_.sizes, selector.path_.information, ".-", color="tab:blue")
right.set(title="information of the sets on the path", xlabel="features kept", ylabel="nats")
right.set(ylim=(0, 0.7), xticks=np.arange(13))
fig.set_label(
    "Left: bars of the information of each of twelve features alone, all near zero. Right: the "
    "information of the sets on the path rises as features are removed, until two are left."
)
plt.show()

# %%
# Removing irrelevant features makes the neighbors sharper and the information rises, until the pair
# is left; without either of the two there is nothing.
