"""The paper's figures and tables, run again beside the published numbers.

Three grades of the paper's method are compared (``docs/paper.md``):

* *as published*: the estimator behind the published numbers, mistakes included; only here;
* *as printed*: Algorithms 1 and 2 to the letter, with a sound estimator and the paper's constants;
* *default*: ``pinsker.FeatureSelector``.

``python -m experiments.reproduce`` calls `experiments.reproduce.running.reproduce`.
"""

from experiments.reproduce.results import Settings
from experiments.reproduce.running import PARTS, reproduce

__all__ = ["PARTS", "Settings", "reproduce"]
