"""Benchmarks; run from a clone, for example ``python benchmarks/engine.py``."""
