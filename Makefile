# Two commands do everything, set-up included: `make rehearse` and `make test`.
STACK ?= $(if $(filter real,$(TOOLS)),hbv4,dev)
KEEP ?=
SPEED ?= 60
CHARTS ?=
ORIGINALS ?= ../shared/reference
OPERATORS ?=
SUBSCRIPTION ?=
FAULTS ?=
REFRESH ?=
VERSION ?=
TOOLS ?=
PUBLISHED ?=
SAMPLE ?=
SEED ?=
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# setuptools warns of every editable installation.
INSTALL := PYTHONWARNINGS="ignore:Editable installation" $(BIN)/pip install --quiet --no-compile --disable-pip-version-check
# The pip that comes with Python 3.11 takes three times as long to find the packages.
HASHED := --require-hashes --only-binary :all: --requirement
LOCK := $(BIN)/uv pip compile --quiet --no-emit-index-url --no-emit-find-links --python-version 3.11

# A rehearsal starts Python ten times over: from cached bytecode each start is seconds sooner.
unexport PYTHONDONTWRITEBYTECODE

# A value as one word of the shell's, whatever is in it: FAULTS="my faults.yaml".
quoted = '$(subst ','\'',$(1))'
option = $(if $(2),--$(1) $(call quoted,$(2)))

.DEFAULT_GOAL := help
.PHONY: help setup tools rehearse rehearse-down unit test test-simulator test-all version release check fix mutants style docs site chart facts facts-check recordings bench lock digests sizes

help: ## show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

rehearse: tools ## bring a stack up on this machine: STACK=dev KEEP=1 SPEED=60 CHARTS=dir OPERATORS=external SUBSCRIPTION=file FAULTS=file TOOLS=real REFRESH=1
	@$(BIN)/python -m rehearsal up $(call quoted,$(STACK)) --speed $(call quoted,$(SPEED)) $(if $(KEEP),--keep) \
	  $(call option,charts,$(CHARTS)) $(call option,operators,$(OPERATORS)) \
	  $(call option,subscription,$(SUBSCRIPTION)) $(call option,faults,$(FAULTS)) $(call option,tools,$(TOOLS)) \
	  $(if $(REFRESH),--refresh)

rehearse-down: setup ## stop what a rehearsal left running: STACK=dev, or every stack with STACK=all
	@$(BIN)/python -m rehearsal down $(call quoted,$(STACK))

# Four workers on two cores, for rehearsals wait much of their time, and a module to one of them. What is long begins,
# and what is short fills the gaps at the end: tests/conftest.py. A worker that crashed is not replaced: pytest-xdist 3.8
# never ends if it does that once the queue is empty.
PYTEST := $(BIN)/python -m pytest --numprocesses 4 --max-worker-restart 0 --dist loadfile --no-loadscope-reorder --durations 20

unit: setup ## unit and conformance tests: what needs no cluster
	@$(PYTEST) tests/unit tests/simulator/unit tests/conformance

test: tools check ## everything that a change must pass: style, types, layers, rehearsals, unit tests
	@$(PYTEST) -m "not long" tests/rehearsal tests/unit tests/conformance

test-simulator: tools check ## also needed after a change of rehearsal/: the simulated Azure, machines, operators and command
	@$(PYTEST) -m "not long" tests/simulator

test-all: tools check ## all of it, what is long by nature, and real tools in a virtual machine; before a release
	@$(PYTEST) tests/real_tools tests/rehearsal tests/simulator tests/unit tests/conformance

version: tools ## make what is Unreleased a version, VERSION=0.3.0, and write down what it deploys; a few minutes
	@$(BIN)/python -m tests.releases $(call quoted,$(VERSION))
	@$(BIN)/python -m tests.recordings released
	@$(BIN)/python -m tests.rehearsal.upgrade

release: tools $(VENV)/.site ## build wheels, SBOM and licences into dist/ and check them; publishes nothing: docs/releases.md
	@.ci/release

check: setup $(VENV)/.site ## style, types and layers: every check runs, and what failed is listed at the end
	@.ci/check

fix: setup ## fix what ruff can fix of lint and format
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

mutants: setup ## change the library line by line, and list what no test notices: SAMPLE=200 SEED=1; about half an hour
	@$(BIN)/python -m tests.mutation $(call option,sample,$(SAMPLE)) $(call option,seed,$(SEED))

style: setup ## count the habits that STYLE.md names, and lower their ceilings
	@$(BIN)/python -m tests.wording --lower

docs: setup ## write again what is generated: the settings' pages, and the rooms in CONTRIBUTING.md
	@$(BIN)/python -m pages

site: setup $(VENV)/.site ## make a site of all pages in build/site; what is wrong with a page is an error
	@.ci/site
	@echo "build/site/index.html"

chart: setup ## make the Helm chart of the checks in build/chart, from what the components declare
	@rm -rf build/chart
	@$(BIN)/python -m chart build/chart --unpacked

facts: setup ## distil what the conformance tests know of charts, definitions and machines: ORIGINALS=dir
	@$(BIN)/python -m tests.conformance.distil $(ORIGINALS)

facts-check: setup ## say whether that is out of date: ORIGINALS=dir
	@$(BIN)/python -m tests.conformance.distil --check $(ORIGINALS)

tools: setup ## build the pinned engine, provider and control plane, once a machine
	@$(BIN)/python -m rehearsal.tools.build

recordings: setup ## write down again what every stack and example declares: tests/recordings/README.md
	@$(BIN)/python -m tests.recordings

bench: tools ## how long deployments take, ours and the public guides': what pools and machines cost: docs/measurements.md; hours: STACKS=dev SPEED=4 REPETITIONS=3, 0 computes
	@$(BIN)/python -m benchmark.makespan $(call option,repetitions,$(REPETITIONS)) $(if $(STACKS),--stacks $(STACKS)) \
	  $(if $(filter command line,$(origin SPEED)),--speed $(call quoted,$(SPEED)))
	@$(BIN)/python -m benchmark.scale

digests: setup ## get the digests of the pinned images from their registries; the only command here that connects to them
	@$(BIN)/python -m tests.digests

sizes: setup ## compare the catalogue of sizes with a published list: PUBLISHED=folder
	@$(BIN)/python -m tests.published_sizes $(call quoted,$(PUBLISHED))

setup: $(VENV)/.installed ## the Python environment, from requirements-dev.txt

$(VENV)/.installed: requirements.txt requirements-dev.txt requirements-pip.txt components/pyproject.toml command_line/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "This needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Say which: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Installing the Python packages into $(VENV) (about half a minute)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "Python cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@$(INSTALL) $(HASHED) requirements-pip.txt || echo "The pip that is there takes longer"
	@$(INSTALL) $(HASHED) requirements-dev.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable ./components --editable ./command_line
	@touch $@

# No rehearsal and no test needs it.
$(VENV)/.site: pages/site/requirements.txt $(VENV)/.installed
	@echo "Installing what builds the site into $(VENV)"
	@$(INSTALL) $(HASHED) pages/site/requirements.txt
	@touch $@

lock: setup ## resolve the requirements files again from pyproject.toml
	@$(LOCK) --universal requirements.in -o requirements.txt
	@$(LOCK) --universal --generate-hashes --no-emit-package aks-infiniband --no-emit-package aks-infiniband-cli requirements-dev.in -o requirements-dev.txt
	@$(LOCK) --universal --generate-hashes --allow-unsafe requirements-pip.in -o requirements-pip.txt
	@$(LOCK) --universal --generate-hashes --no-header tests/mutation/requirements.in -o tests/mutation/requirements.txt
	@$(LOCK) --universal --generate-hashes --no-header --constraint requirements-dev.txt pages/site/requirements.in -o pages/site/requirements.txt
	@sed -n 's/^GO_PACKAGE = "\(.*\)"$$/\1/p' rehearsal/tools/pins.py | $(LOCK) --universal --generate-hashes --no-header - -o rehearsal/tools/go-requirements.txt
