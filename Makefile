# Attention by Hand. `make course` and `make test` each take a fresh machine to their result; `make` lists the rest.

PYTHON    ?= python3
PORT      ?= 8000
SERVE     ?= yes
SOLUTIONS ?= yes

PY      := .venv/bin/python
PREPARE := $(PYTHON) -I autograder/prerequisites.py
SAY     := @printf '\n== %s\n'
SITE    := book/_build/html
ROOT    := $(if $(filter 0,$(shell id -u)),--allow-root)
PUBLIC  := $(if $(filter no,$(SOLUTIONS)),--no-solutions)

.DEFAULT_GOAL := help
.PHONY: help python course-programs test-programs setup build book course serve test lab notebooks clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:
	@echo 'make course   set up, build, grade the sample class, serve the book on http://localhost:$(PORT)'
	@echo '              SERVE=no stops before serving; SOLUTIONS=no leaves the solutions out; PORT=8000'
	@echo 'make test     everything CI checks'
	@echo 'make lab      JupyterLab on the problem sets'
	@echo 'make notebooks  run every notebook to its end as on Colab, from a copy of the course (minutes)'
	@echo 'make build    whatever is generated: stubs, recorded answers, notebooks'
	@echo 'make book     the site alone'
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

.venv/requirements.stamp: requirements.txt pyproject.toml | python
	$(SAY) 'Setting up .venv from requirements.txt (some minutes: torch is large)'
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --disable-pip-version-check -r requirements.txt
	@touch $@

node_modules/katex.stamp: package.json package-lock.json
	$(SAY) 'Installing KaTeX from package-lock.json'
	npm ci --no-audit --no-fund
	@touch $@

# Triton is left alone where a torch built for CUDA has brought its own.
.venv/test-requirements.stamp: tests/requirements.txt .venv/requirements.stamp
	@if $(PY) -c 'import triton' 2>/dev/null; then sed '/^triton/d' $<; else cat $<; fi > .venv/test-requirements.txt
	$(PY) -m pip install --disable-pip-version-check -r .venv/test-requirements.txt
	@touch $@

setup: .venv/requirements.stamp

build: setup
	$(SAY) 'Building what is generated'
	$(PY) -m autograder build

# The course.

book: course-programs setup node_modules/katex.stamp
	$(SAY) 'Building the book'
	$(PY) -m autograder.build.site $(PUBLIC)

course: course-programs build book
	$(SAY) 'Releasing the problem sets and grading the sample class'
	$(PY) -m autograder.cli.demo
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
	$(PY) -m autograder.build.execute_notebooks

# What CI checks. Three workers on two cores: there is always one that waits, for a page or for time to pass.

test: test-programs setup .venv/test-requirements.stamp node_modules/katex.stamp
	$(SAY) 'Checking the style'
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(SAY) 'Running the tests'
	$(PY) -m pytest -n 3 --dist loadscope

clean:
	rm -rf book/_build course .pytest_cache .ruff_cache .hypothesis
