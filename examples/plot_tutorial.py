"""
Tutorial: ten minutes with real data
====================================

A table of 569 biopsies has 30 measurements of cell nuclei each, and says which tumours were
malignant. Measuring costs time. Which measurements can we stop taking if we accept that the error
rate may increase by five points?
"""

# %%
# The data, and rows to test on
# -----------------------------
# Put rows aside *before* anything is selected. The error on rows that took part in the selection is
# too small.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pinsker import BackwardElimination, FeatureSelector, audit

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
print(X_train.shape, X_test.shape)

# %%
# Fit
# ---
# The budget is in a metric: for classes, the error rate. Nothing has to be scaled or encoded.

selector = FeatureSelector(error_budget=0.05, random_state=0).fit(X_train, y_train)
print(*selector.get_feature_names_out(), sep=", ")

# %%
# Three of thirty are left. Many of the others repeat each other: radius, perimeter and area of the
# same nuclei carry the same information.
#
# What is claimed?
# ----------------

print(selector.certificate_)

# %%
# One line at a time.
#
# * The verdict: the budget is *met*. It could also be *not met*, or *inconclusive*: too few rows.
# * The evidence: 5-fold cross-fitting. Every row was held out once, while the searches ran and the
#   models were fitted without it.
# * The information lost, in *nats*, as far as the held-out models show it. A nat is the unit of
#   information with natural logarithms: a fair coin holds 0.69 of them.
# * The held-out error, with all features, with the three and with none; by how much it increases,
#   and the upper confidence bound of that increase, which is within the budget. The bounds hold for
#   all sets that were evaluated at once, so each is wider than the bound of one set would be.
# * What rests on models is marked in brackets.
#
# What each search offered
# ------------------------
# Five searches each put the features in an order; held-out rows chose among all their sets.
# `cv_results_` holds what was measured, one entry per set.

fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
results = selector.cv_results_
for search in ("forward-backward", "backward", "forward", "linear", "relevance"):
    rows = np.flatnonzero(results["search"] == search)
    rows = rows[np.argsort(results["n_features"][rows])]
    ax.plot(results["n_features"][rows], results["excess_upper"][rows], ".-", label=search)
ax.axhline(0.05, color="black", linestyle="--", linewidth=1)
ax.set(xlabel="features", ylabel="error increase, upper bound", ylim=(0, 0.13))
ax.legend(title="search")
fig.set_label(
    "Line chart: upper bound of the error increase by number of features, one line for each of "
    "five searches; that of three features is below the budget of 0.05."
)
plt.show()

# %%
# Other budgets, without fitting again:

for budget in (0.02, 0.05, 0.1):
    names = X.columns[selector.support_at(error_budget=budget)]
    print(f"budget {budget:<4}  {len(names)} features: {', '.join(names)}")

# %%
# Your own model
# --------------
# Measure a model of your own, on the rows put aside. `audit` fits it to all features and to those
# kept, and compares the two row by row: the difference is known better than each of the two errors.

model = make_pipeline(StandardScaler(), SVC())
print(audit(selector, model, X_test, y_test, X_train=X_train, y_train=y_train))

# %%
# One split of one data set proves nothing in general, but it is the check to make before you rely
# on a selection.
#
# Fresh rows
# ----------
# The rows that were held out took part in the choice: they picked the smallest set that passed. A
# stricter test uses rows that took no part at all. `certify` returns a certificate and changes
# nothing; `selector.with_certified(certificate)` would take over its set.

print(selector.certify(X_test, y_test))

# %%
# The verdict is *inconclusive*. Sets are tested from the largest down, and on 171 rows alone models
# cannot show that even a set of many features is within five points of all thirty: the sequence
# ends there, and the three are not tested. The first line names the budget that so few rows could
# show. That is no contradiction: it measures what they can resolve. A stronger claim needs more
# rows, or a larger budget.
#
# Inside one search
# -----------------
# Each search can be used by itself. It takes a fraction of the time and shows the whole path, down
# to the empty set; its information is estimated by neighbors on the rows of the search, and the
# verdict of its certificate is *not tested*.

search = BackwardElimination(error_budget=0.05, random_state=0).fit(X_train, y_train)
path = search.path_
print(path)
print(path.to_frame()[["size", "feature", "score", "information"]].tail(6).round(3).to_string())

# %%
# In a pipeline
# -------------
# A selector is a scikit-learn transformer. Inside a pipeline it is fitted on the training folds
# only, so that the score is valid.

pipeline = make_pipeline(
    BackwardElimination(error_budget=0.05, random_state=0), StandardScaler(), SVC()
)
print(f"{cross_val_score(pipeline, X, y, cv=5).mean():.3f} selected in each fold")
print(f"{cross_val_score(pipeline[1:], X, y, cv=5).mean():.3f} all features")

# %%
# Where next
# ----------
# * :doc:`/howto/budget`: which budget, and in which metric.
# * :doc:`/howto/trust`: what can go wrong, and how to see it.
# * :doc:`/how_it_works`: the search, the engine and the bounds, with drawings.
