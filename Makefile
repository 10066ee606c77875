# Attention by Hand. `make course` and `make test` each take a fresh machine to their result; `make` lists the rest.

PYTHON    ?= python3
PORT      ?= 8000
SERVE     ?= yes
SOLUTIONS ?= yes

PY      := .venv/bin/python
PREPARE := $(PYTHON) -I autograder/prerequisites.py
SAY     := @printf '\n== %s\n'
PHASE   := @$(PYTHON) -I autograder/cli/run_phase.py
SITE    := book/_build/html
FIGURES := book/guides/proven.txt
ROOT    := $(if $(filter 0,$(shell id -u)),--allow-root)
PUBLIC  := $(if $(filter no,$(SOLUTIONS)),--no-solutions)

# Where the seconds of this run's phases are gathered.
export PHASES := $(or $(PHASES),$(shell mktemp -u))

.DEFAULT_GOAL := help
.PHONY: help python course-programs test-programs test-all-programs setup build book pdf course serve test-setup test record test-all prove lab notebooks clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:
	@echo 'make course   set up, build, grade the sample class, serve the book on http://localhost:$(PORT)'
	@echo '              SERVE=no stops before serving; SOLUTIONS=no leaves the solutions out; PORT=8000'
	@echo 'make test     everything CI checks; a proof on record is run again only when something it depends on has changed'
	@echo 'make record   executes pages and proves what is not on record, and writes it to book/executed and tests/records/proven'
	@echo 'make test-all executes every page and proves everything anew, and tells which record was wrong (hours)'
	@echo 'make prove    judges every mutant of the reference, and writes the figures of the guide (an hour)'
	@echo 'make lab      JupyterLab on the problem sets'
	@echo 'make notebooks  run every notebook to its end as on Colab, from a copy of the course (minutes)'
	@echo 'make build    whatever is generated: stubs, recorded answers, notebooks'
	@echo 'make book     the site alone'
	@echo 'make pdf      the whole book as one PDF and the notebooks as one zip, in book/_build/print (needs Chromium)'
	@echo 'make serve    the book that is built, on http://localhost:$(PORT)'
	@echo 'make setup    .venv alone; PYTHON=python3.12 picks another Python'
	@echo 'make clean    removes what was built; keeps .venv, your stubs and your submissions'

# Set-up. The stamps make a second run cost nothing.

python:
	@$(PREPARE) python

course-programs:
	@$(PREPARE) course

test-programs:
	@$(PREPARE) test

test-all-programs:
	@$(PREPARE) test-all

.venv/requirements.stamp: requirements.txt pyproject.toml | python
	$(PHASE) 'Setting up .venv' $(PYTHON) -m venv .venv
	$(PHASE) 'Installing requirements.txt (some minutes: torch is large)' \
	    $(PY) -m pip install --disable-pip-version-check --progress-bar off -r requirements.txt
	@touch $@

node_modules/katex.stamp: package.json package-lock.json
	$(PHASE) 'Installing the npm packages of package-lock.json' npm ci --omit=dev --no-audit --no-fund
	@touch $@

node_modules/tests.stamp: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch node_modules/katex.stamp $@

# Triton is left alone where a torch built for CUDA has brought its own.
.venv/test-requirements.stamp: tests/requirements.txt .venv/requirements.stamp
	@if $(PY) -c 'import triton' 2>/dev/null; then sed '/^triton/d' $<; else cat $<; fi > .venv/test-requirements.txt
	$(PY) -m pip install --disable-pip-version-check -r .venv/test-requirements.txt
	@touch $@

setup: .venv/requirements.stamp

build: setup
	$(PHASE) 'Building what is generated' $(PY) -m autograder build

# The course.

book: course-programs setup node_modules/katex.stamp
	$(PHASE) 'Building the book' $(PY) -m autograder book $(PUBLIC)

pdf: book
	$(PHASE) 'Printing the book' $(PY) -m autograder pdf

course: course-programs build book
	$(PHASE) 'Releasing the problem sets and grading the sample class' $(PY) -m autograder demo
	@$(PYTHON) -I autograder/cli/run_phase.py --summary
ifneq ($(SERVE),no)
	@$(MAKE) --no-print-directory serve
endif

serve:
	$(SAY) 'Serving the book on http://localhost:$(PORT) until Ctrl-C'
	@$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory $(SITE)

lab: build
	$(SAY) 'JupyterLab on the problem sets'
	$(PY) -m jupyter lab $(ROOT) --LabApp.default_url=/lab/tree/book/notebooks

notebooks: setup
	$(SAY) 'Running every notebook on a machine that has to fetch the course'
	$(PY) -m autograder notebooks

# What CI checks. Three workers on two cores: there is always one that waits, for a page or for time to pass.

PYTEST := $(PY) -m pytest -n 3 --dist loadscope --durations=20

test-setup: test-programs setup .venv/test-requirements.stamp node_modules/tests.stamp

test: test-setup
	$(SAY) 'Checking the style'
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(SAY) 'Running the tests'
	$(PYTEST) --records=take

record: test-setup
	$(SAY) 'Executing the pages that are not on record'
	$(PY) -m autograder book --record
	$(SAY) 'Proving what is not on record'
	$(PYTEST) --records=write

# Each part is run whatever becomes of those before it: one night tells of all.
test-all: test-all-programs test-setup
	$(SAY) 'Executing every page anew, proving everything anew, judging every mutant'
	@status=0; \
	$(PY) -m autograder book --execute-all || status=1; \
	$(PYTEST) --records=check || status=1; \
	$(PY) -m autograder prove --seed $$(date +%j) --out $(FIGURES) || status=1; \
	exit $$status

prove: setup
	$(SAY) 'Proving the checks, and writing the figures of the guide to $(FIGURES)'
	$(PY) -m autograder prove --seed 0 --out $(FIGURES)

clean:
	rm -rf book/_build course .pytest_cache .ruff_cache .hypothesis
