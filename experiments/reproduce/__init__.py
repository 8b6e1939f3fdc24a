"""The paper's figures and tables, run again beside the published numbers.

Four grades of the paper's method are compared (``docs/paper.md``):

* *released code*: the estimator behind the published numbers, mistakes included; only here;
* *as printed*: Algorithms 1 and 2 with the paper's constants and a sound estimator;
* *to the letter*: the same with the paper's own estimator, ``BackwardElimination.as_published``;
* *default*: ``pinsker.FeatureSelector``.

``python -m experiments.reproduce`` calls `experiments.reproduce.running.reproduce`.
"""

from experiments.reproduce.results import Settings
from experiments.reproduce.running import PARTS, reproduce

__all__ = ["PARTS", "Settings", "reproduce"]
