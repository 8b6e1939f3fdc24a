# Two commands matter: make demo, make test. Both work from a bare clone.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
NATIVE := $(shell find src/pinsker/engine/_native -type f)

.PHONY: demo test quick test-slow test-gpu fuzz fuzz-guided lint tidy types unit bench paper sanitize \
  sanitize-threads wheel docs clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: lint types unit

# The tests that belong to the files changed since main, in less than a minute.
quick: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/quick.py

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

# One thread per process: on two cores the threads of BLAS wait for each other most of the time.
unit: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

test-slow: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m slow
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m fuzz.run --seconds 60

# Calls of all entry points with odd tables and targets; ends with the counts of how they ended.
CALLS ?= 30000
fuzz: $(STAMP)
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m fuzz.run --calls $(CALLS)

# The same for readers of files and the kernels' boundary, guided by the code that inputs reach.
SECONDS ?= 600
fuzz-guided:
	$(PYTHON) -m venv $(VENV)-fuzz
	$(VENV)-fuzz/bin/pip install --quiet ".[test]" atheris
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(VENV)-fuzz/bin/python -m fuzz.coverage_guided \
	  -max_total_time=$(SECONDS)

# The tests of the CUDA kernels on the GPU itself; elsewhere `make test` runs them on the CPU.
test-gpu: $(STAMP)
	$(BIN)/pip install --quiet --editable ".[gpu]"
	PINSKER_TEST_GPU=1 $(BIN)/python -m pytest tests/engine/test_cuda.py tests/engine/test_triples.py

bench: $(STAMP)
	$(BIN)/pip install --quiet --editable ".[bench,bench-criteria]"
	$(BIN)/python benchmarks/estimators.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/criteria.py

# The paper's figures and tables, run again beside the published numbers, into reproduction/. With
# DOCS=--docs the tables of docs/paper.md are written anew; `make paper ONLY="--only default"` runs
# the columns of the default selector alone.
paper: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m experiments.reproduce all $(ONLY) $(DOCS)

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

# The thread pool under ThreadSanitizer, without Python: its own program, compiled here.
sanitize-threads:
	mkdir -p build/threads
	$(CXX) -std=c++17 -O1 -g -fsanitize=thread -pthread -Isrc/pinsker/engine/_native \
	  tests/engine/thread_pool_main.cpp src/pinsker/engine/_native/common/thread_pool.cpp \
	  -o build/threads/thread_pool
	TSAN_OPTIONS=halt_on_error=1 build/threads/thread_pool

# An sdist, a wheel from it, and a smoke test of library, command and report in a new environment
# outside of the clone. Extras: all that are for users, but `gpu`, which is gigabytes of CUDA.
EXTRAS ?= cli,report,plot,excel,spss,sql,dask,survival
wheel:
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet --upgrade pip build
	rm -rf dist
	.venv-wheel/bin/python -m build --outdir dist .
	set -e; there=$$(mktemp -d); trap 'rm -rf "$$there"' EXIT; \
	  $(PYTHON) -m venv "$$there/env"; \
	  "$$there/env/bin/pip" install --quiet "$$(ls $(CURDIR)/dist/*.whl)[$(EXTRAS)]"; \
	  cp tests/smoke.py "$$there"; cd "$$there"; env/bin/python -W error smoke.py

# Sphinx with every warning an error; the examples of the gallery are run while it builds.
docs: $(VENV)/.docs
	rm -rf docs/_build docs/gallery docs/api/generated  # nothing old: the library may have changed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_pages.py docs/_build/html
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
	rm -rf build dist .venv .venv-fuzz .venv-sanitize .venv-wheel .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf docs/_build docs/gallery docs/api/generated docs/sg_execution_times.rst
