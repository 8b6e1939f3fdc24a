# Two commands matter: make demo, make test. Both work from a bare clone.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
NATIVE := $(shell find src/pinsker/engine/_native -type f)

.PHONY: demo test test-slow test-gpu lint tidy types unit bench paper sanitize docs clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: lint types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

# Needs clang-tidy, which is no Python package; .clang-tidy says what is checked and why.
tidy: $(STAMP)
	$(BIN)/pip install --quiet "nanobind>=2.2"
	clang-tidy --quiet $(filter %.cpp,$(NATIVE)) -- -std=c++17 -Isrc/pinsker/engine/_native \
	  -isystem $$($(BIN)/python -m nanobind --include_dir) \
	  -isystem $$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))")

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m slow

# The tests of the CUDA kernels on the GPU itself; elsewhere `make test` runs them on the CPU.
test-gpu: $(STAMP)
	$(BIN)/pip install --quiet --editable ".[gpu]"
	PINSKER_TEST_GPU=1 $(BIN)/python -m pytest tests/engine/test_cuda.py tests/engine/test_triples.py

bench: $(STAMP)
	$(BIN)/pip install --quiet --editable ".[bench,bench-criteria]"
	$(BIN)/python benchmarks/estimators.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/criteria.py

# The paper's figures and tables, run again beside the published numbers, into reproduction/.
paper: $(STAMP)
	$(BIN)/python -m experiments.reproduce all

# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of their own.
# CPython itself does not free everything at exit, so leaks are watched by a test, not here.
sanitize:
	$(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/pip install --quiet --upgrade pip
	.venv-sanitize/bin/pip install --quiet --config-settings=cmake.define.PINSKER_SANITIZE=ON \
	  --config-settings=build-dir=build/sanitize ".[test]"
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  .venv-sanitize/bin/python -m pytest tests/engine tests/information/test_knn.py -q \
	  -p no:cacheprovider -k "not grow"

# Sphinx with every warning an error; the examples of the gallery are run while it builds.
docs: $(VENV)/.docs
	rm -rf docs/_build docs/gallery docs/api/generated  # nothing old: the library may have changed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "built docs/_build/html/index.html"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.demo: $(BIN)/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable ".[report]" pandas
	@touch $@

$(VENV)/.docs: $(BIN)/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable ".[docs]"
	@touch $@

# Editable: Python edits need no reinstall, C++ edits do (this rule sees them).
$(STAMP): $(BIN)/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/pip install --quiet --editable ".[dev]"
	@touch $@

clean:
	rm -rf build dist .venv .venv-sanitize .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf docs/_build docs/gallery docs/api/generated docs/sg_execution_times.rst
