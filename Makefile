# Everything runs in .venv, which the first target that needs it creates by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2
CODE := spantree evals programs data runtime signatures tests benchmarks

.DEFAULT_GOAL := help
.PHONY: help demo test check format lint typecheck layers

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | expand -t 14

# The lock file decides every version; the tool that reads it is the only thing that pip installs.
$(READY): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "spantree needs Python 3.11 or later; try: make PYTHON=python3.13 $(MAKECMDGOALS)"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet 'uv>=0.9,<1'
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv sync --locked --active --inexact --quiet
	@touch $@

demo: $(READY) ## answer two questions over the samples that ship, with the embedded reader
	$(BIN)/spantree ask "How did the checkout incident of 10 March evolve, step by step, from the first sign to the last after-effect?" data/samples/incident
	$(BIN)/spantree ask "Which decisions about audit logs contradict each other?" data/samples/minutes

test: $(READY) ## run the test suite (no network, no model; make test WORKERS=0 runs it in one process)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: format lint typecheck layers ## format, lint, types and layers: the checks of a change

format: $(READY) ## check the format (make format FIX=1 to apply it)
	@$(BIN)/ruff format $(if $(FIX),,--check) $(CODE)

lint: $(READY) ## lint (make lint FIX=1 to mend what can be)
	@$(BIN)/ruff check $(if $(FIX),--fix,) $(CODE)

typecheck: $(READY) ## check the types
	@$(BIN)/pyright

layers: $(READY) ## check that no import goes up a floor, and that there is no circle
	@$(BIN)/lint-imports
