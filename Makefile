# Two commands on a fresh machine with Python 3.11+, pip and make:  make demo   and   make test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-test
LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/.installed
JOBS ?= 2
# One BLAS thread a worker: with more, a loaded two-core machine is ten times slower.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export HF_HUB_OFFLINE := 1
export PYTHONHASHSEED := 0
# Bytecode is kept: without it each process of the suite compiles the package again.
export PYTHONDONTWRITEBYTECODE :=
export HYPOTHESIS_PROFILE ?= ci
# The workers meet the same expressions for minutes: sympy keeps more than its thousand.
export SYMPY_CACHE_SIZE ?= 20000

.PHONY: demo test test-tools test-all test-lowest lint typecheck format bench soundness book docs site install install-test clean

install: $(STAMP)
install-test: $(TEST_STAMP)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "installing eigentoken and what it needs (torch among it, about 1.5 GB): some minutes, without a word"
	$(BIN)/python -m pip install --quiet -e .
	$(BIN)/python -m compileall -q $(VENV)/lib > /dev/null 2>&1 || true
	touch $@

$(TEST_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -e ".[test]"
	touch $@

demo: $(STAMP)
	mkdir -p out
	$(BIN)/eigentoken verify PM-L3 PM-L4
	$(BIN)/eigentoken check sample:rxnmapper --html out/rxnmapper.html -o out/rxnmapper.json
	@echo "open out/rxnmapper.html in a browser; '. $(BIN)/activate' puts eigentoken on the path. Three things to try next:"
	@echo "  eigentoken show PM-L15                                                       a published lemma that is false, and why"
	@echo "  eigentoken refute examples/conjectures/polygonal_instability.py              the counterexample, found and certified"
	@echo "  eigentoken simulate attention-flow --animate out/tokens.html                 tokens that move to consensus"

# A fresh machine has no Coq, LaTeX or Chromium: the suite runs with these hidden, so that a test which needs one and does not
# say so by its marker fails everywhere.  The marked tests are a run of their own, which has whatever of the tools is here.
# Each worker has a half of the files, in order, and takes over from the other at the end: what a file prepares is prepared once.
# The plugins are named: where pytest looks for them itself, it rewrites the asserts of every package that brings one, and ours
# does (each worker of a fresh clone compiled all its modules again).
export PYTEST_DISABLE_PLUGIN_AUTOLOAD := 1
SHARED := -p xdist.plugin -p pytest_cov.plugin -p _hypothesis_pytestplugin -n $(JOBS) --dist worksteal
PYTEST := $(BIN)/python tools/hide_tools.py $(BIN)/python -m pytest $(SHARED)

NEEDS := needs_browser or needs_coq or needs_latex or needs_poppler

# Format, lint and types run beside the suite, which leaves a core idle now and then; what they find is printed when they find it.
test: $(TEST_STAMP)
	@mkdir -p build
	@{ $(MAKE) --no-print-directory lint > build/lint.txt 2>&1 || { cat build/lint.txt; exit 1; }; } & lint=$$!; failed=0; \
	$(PYTEST) -m "not (slow or $(NEEDS))" || failed=1; \
	if wait $$lint; then echo "format, lint and types: clean"; else echo "format, lint or types: see above"; failed=1; fi; exit $$failed

test-tools: $(TEST_STAMP)
	$(PYTEST) -m "not slow and ($(NEEDS))"

# The slow tests too, with the lines that the tests of this process reach: a table a room, and a floor that the total must reach.
test-all: $(TEST_STAMP) lint
	$(BIN)/python -m pip install --quiet -e ".[test,bench]"
	rm -rf build/coverage && mkdir -p build/coverage
	failed=0; $(PYTEST) --cov --cov-report= || failed=1; $(BIN)/python tools/covered.py || failed=1; exit $$failed

# The suite with the lowest supported version of everything (tools/lowest.txt), in an environment of its own.
$(LOWEST_STAMP): pyproject.toml tools/lowest.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --constraint tools/lowest.txt -e ".[test,bench]"
	touch $@

test-lowest: $(LOWEST_STAMP)
	$(LOWEST)/bin/python tools/lowest.py --installed
	$(LOWEST)/bin/python tools/hide_tools.py $(LOWEST)/bin/python -m pytest $(SHARED) -m "not (slow or $(NEEDS))"

lint: $(TEST_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory typecheck

# In one process: mypy waits three seconds for a worker to start, and on a loaded machine ends with an internal error where it
# comes later. Two workers take a tenth more processor time (26 s against 24 s without a cache), which the suite beside it needs.
typecheck: $(TEST_STAMP)
	$(BIN)/python -m mypy

format: $(TEST_STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Every word against exact ground truth: a million cases, resumed where it stopped; SOUNDNESS="--cases 10000 --no-table" for less.
soundness: $(TEST_STAMP)
	$(BIN)/python -m benchmarks.soundness --jobs $(JOBS) $(SOUNDNESS)

# Every benchmark, and which ratios got worse than the recorded ones (docs/tables) by more than 15 %.
bench: $(TEST_STAMP)
	$(BIN)/python -m pip install --quiet -e ".[bench,peers]"
	$(BIN)/python tools/benchmarks.py --compare

book: $(STAMP)
	mkdir -p out
	$(BIN)/eigentoken derive --all --format tex,pdf -o out/book.pdf

docs: $(TEST_STAMP)
	$(BIN)/python tools/docs.py

# Documentation, API and atlas as a site in out/site (mkdocs-material, mkdocstrings).
site: $(STAMP)
	$(BIN)/python -m pip install --quiet -e ".[site]"
	$(BIN)/python tools/site.py

clean:
	rm -rf build dist out .pytest_cache .mypy_cache .ruff_cache
