"""Experiments on pinsker; run from a clone, for example ``python -m experiments.reproduce all``."""
