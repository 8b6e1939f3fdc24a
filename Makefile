# Two commands matter: make demo, make test. Both work from a bare clone.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
NATIVE := $(wildcard src/pinsker/engine/_native/*)
PYSRC  := $(shell find src -name '*.py')

.PHONY: demo test test-slow lint types unit bench sanitize docs clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: lint types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest -n 2

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m slow

bench: $(STAMP)
	$(BIN)/pip install --quiet --editable ".[bench]"
	$(BIN)/python benchmarks/estimators.py
	$(BIN)/python benchmarks/engine.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.demo: $(BIN)/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable .
	@touch $@

# Editable: Python edits need no reinstall, C++ edits do (this rule sees them).
$(STAMP): $(BIN)/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable ".[dev]"
	@touch $@

clean:
	rm -rf build dist .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
