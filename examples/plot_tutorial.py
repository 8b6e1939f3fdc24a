"""
Tutorial: ten minutes with real data
====================================

A table of 569 biopsies has 30 measurements of cell nuclei each, and says which tumours were
malignant. Measuring costs time. Which measurements can we stop taking if we accept that the error
rate may grow by five points?
"""

# %%
# The data, and rows to judge by
# ------------------------------
# Put rows aside *before* anything is selected. A selector that has seen the rows it is judged on is
# judged too kindly.

import matplotlib.pyplot as plt
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
# The budget is in your own unit: for classes, the error rate. Nothing has to be scaled or encoded.

selector = FeatureSelector(error_budget=0.05).fit(X_train, y_train)
print(*selector.get_feature_names_out(), sep=", ")

# %%
# Two of thirty are left. Many of the others repeat each other: radius, perimeter and area of the
# same nuclei tell the same story three times.
#
# What is promised?
# -----------------

print(selector.certificate_)

# %%
# One line at a time.
#
# * The verdict: the promise is *kept*. It could also read *not kept*, or *not resolved at this
#   sample size*.
# * The evidence: every row was held out once, while the search ran without it. The figures come
#   from models (*witnesses*) that had not seen the row in question.
# * The held-out error, with all features and with the two: by how much it grows, and the upper
#   limit of that growth, which is within the budget. Five searches compete, so each limit is a
#   little wider than 95 % by itself would be.
# * The information lost, in *nats*, as far as the models see. A nat is the unit of information with
#   natural logarithms: a fair coin holds 0.69 of them.
# * Each line names its own kind of evidence in brackets, from "no assumption but independent rows"
#   to "holds for these models".
#
# What each search offered
# ------------------------
# Five searches each put the features in an order; held-out rows chose among all their sets.

fig, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
for path in ("forward-backward", "backward", "forward", "linear", "relevance"):
    trials = sorted((t for t in selector.comparison_ if t.path == path), key=lambda t: t.size)
    ax.plot([t.size for t in trials], [t.excess_upper for t in trials], ".-", label=path)
ax.axhline(0.05, color="black", linestyle="--", linewidth=1)
ax.set(xlabel="features", ylabel="error added, upper limit", ylim=(0, 0.13))
ax.legend(title="path")
plt.show()

# %%
# Other budgets, without fitting again:

for budget in (0.02, 0.05, 0.1):
    names = X.columns[selector.support_at(error_budget=budget)]
    print(f"budget {budget:<4}  {len(names)} features: {', '.join(names)}")

# %%
# Is it true?
# -----------
# Ask a model of your own, on the rows put aside. `audit` fits it to all features and to those kept,
# and compares the two row by row: the difference is known better than each of the two errors.

model = make_pipeline(StandardScaler(), SVC())
print(audit(selector, model, X_test, y_test, X_train=X_train, y_train=y_train))

# %%
# One split of one data set proves nothing in general, but it is the check to make before you rely
# on a selection.
#
# A second opinion
# ----------------
# The rows that were held out took part in the choice: they picked the smallest set that passed. A
# stricter test uses rows that took no part at all.

print(selector.certify(X_test, y_test))

# %%
# The verdict is *not resolved*: on 171 rows alone, models cannot show that two features are within
# five points of all thirty; the budget that they could show is twice as large. That is no
# contradiction. It says how much the second set of rows can tell. Whoever needs the stronger
# promise needs more rows, or a larger budget.
#
# Inside one search
# -----------------
# Each search can be used by itself. It takes a fraction of the time and shows the whole path, down
# to the empty set; its information is estimated by neighbors on the rows searched.

search = BackwardElimination(error_budget=0.05).fit(X_train, y_train)
path = search.path_
print(path)
print(path.to_frame()[["size", "name", "score", "information"]].tail(6).round(3).to_string())

# %%
# In a pipeline
# -------------
# A selector is a scikit-learn transformer. Inside a pipeline it is fitted on the training folds
# only, so that the score is honest.

pipeline = make_pipeline(BackwardElimination(error_budget=0.05), StandardScaler(), SVC())
print(f"{cross_val_score(pipeline, X, y, cv=5).mean():.3f} selected in each fold")
print(f"{cross_val_score(pipeline[1:], X, y, cv=5).mean():.3f} all features")

# %%
# Where next
# ----------
# * :doc:`/howto/budget`: which budget, and in which unit.
# * :doc:`/howto/trust`: what can go wrong, and how to see it.
# * :doc:`/how_it_works`: the search, the engine and the bounds, with drawings.
