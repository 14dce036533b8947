# `make demo` and `make test` do everything on a fresh machine; the other targets are their parts.
# The virtual environment is made on first use and remade only when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
ENVIRONMENT := .venv/.ready
TEST_ENVIRONMENT := .venv/.ready-for-tests
BENCH_ENVIRONMENT := .venv/.ready-for-bench
DOCS_ENVIRONMENT := .venv/.ready-for-docs
DEMO_ENVIRONMENT := .venv/.ready-for-demo
COMMA := ,
# Where the machine has no Java, the package index has one.
ON_SPARK := spark$(if $(shell command -v java),,$(COMMA)java)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test quick lint types unit fuzz agreement kill serve-kill bench kafka docs pictures fmt clean help

help:            ## what can be made
	@grep -E '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed 's/:.*##/ —/'

demo: $(DEMO_ENVIRONMENT)            ## turbines on a Spark of this machine, in under a minute
	@$(BIN)/presage demo

test: lint types unit            ## everything that must pass

quick: $(TEST_ENVIRONMENT)            ## style, types and tests of what changed since main, in under a minute
	$(BIN)/python -m tests.quick

lint: $(TEST_ENVIRONMENT)            ## style and layout of the code
	$(BIN)/ruff check presage tests bench docs editors
	$(BIN)/ruff format --check presage tests bench docs editors

types: $(TEST_ENVIRONMENT)            ## the type checker
	$(BIN)/mypy

unit: $(TEST_ENVIRONMENT)            ## the tests
	$(BIN)/python -m pytest -n auto --dist loadgroup --durations=20 --durations-min=2

fuzz: $(TEST_ENVIRONMENT)            ## the property tests at length (about ten minutes)
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n auto tests/language/test_roundtrip.py tests/language/test_errors.py tests/language/test_strata.py tests/entailed/test_engine.py tests/answer_streams/test_lars.py tests/answer_streams/test_ask_and_models.py tests/languages/test_cql.py tests/languages/test_rsp.py

agreement: $(TEST_ENVIRONMENT)            ## every way of running random programs, at length (half an hour)
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n auto tests/entailed/test_agreement.py tests/hypothetical/test_courses.py

kill: $(TEST_ENVIRONMENT)            ## kill drivers, workers and executors of streams many times (half an hour)
	PRESAGE_KILLS=40 $(BIN)/python -m pytest tests/spark/test_spark_kill.py

serve-kill: $(TEST_ENVIRONMENT)            ## kill a served pipeline two hundred times (a quarter of an hour)
	PRESAGE_KILLS=200 $(BIN)/python -m pytest tests/serve/test_serve.py -k killed

bench: $(BENCH_ENVIRONMENT)            ## beside hand-written code and other systems, in one run (DATA=folder of S2.jsonl.gz)
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

docs: $(DOCS_ENVIRONMENT)            ## the documentation as a site, in build/site
	$(BIN)/python docs/cli_reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

pictures: $(ENVIRONMENT)            ## the pictures of the examples, drawn anew from their runs
	$(BIN)/python docs/example_pictures.py
	$(BIN)/python docs/answer_pictures.py
kafka: $(TEST_ENVIRONMENT)            ## fetch a Kafka broker and Spark's connector, for the tests with Kafka
	$(BIN)/python -m tests.kafka

fmt: $(TEST_ENVIRONMENT)            ## put the code into its layout
	$(BIN)/ruff check --fix presage tests bench docs editors
	$(BIN)/ruff format presage tests bench docs editors

clean:            ## remove what was made
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Presage needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

$(ENVIRONMENT): pyproject.toml | .venv/bin/python
	$(PIP) -e .
	@touch $@

$(TEST_ENVIRONMENT): pyproject.toml | .venv/bin/python
	$(PIP) -e ".[test,$(ON_SPARK)]"
	@touch $@ $(ENVIRONMENT) $(DEMO_ENVIRONMENT)

$(DEMO_ENVIRONMENT): pyproject.toml | .venv/bin/python
	$(PIP) -e ".[$(ON_SPARK)]"
	@touch $@ $(ENVIRONMENT)

$(DOCS_ENVIRONMENT): pyproject.toml | .venv/bin/python
	$(PIP) -e ".[docs]"
	@touch $@ $(ENVIRONMENT)

$(BENCH_ENVIRONMENT): pyproject.toml | .venv/bin/python
	$(PIP) -e ".[bench]"
	@touch $@ $(ENVIRONMENT)
