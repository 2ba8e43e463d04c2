# Everyday commands. `make` alone lists them.
VENV ?= .venv
BIN := $(VENV)/bin
NAME ?= muntin
# of `make random`: what is played, and for how long each
SEEDS ?= $(shell seq 1 12)
SECONDS ?= 35
# of `make kills`
KILLS ?= 200
# of `make fuzz`: inputs for each parser, where chance begins, and how long for each API version
EXAMPLES ?= 3000
SEED ?= 1
FUZZ_SECONDS ?= 120

.DEFAULT_GOAL := help
.PHONY: help setup runtime fmt lint test test-net test-cluster docs gen check up down clients programs random kills fuzz bench

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing: Debian packages (services stay off), the Python environment
	@scripts/setup.sh $(VENV) dev

runtime:
	@scripts/setup.sh $(VENV) runtime

fmt: setup ## format the code
	@$(BIN)/ruff format src tests bench
	@$(BIN)/ruff check --fix --quiet src tests bench

lint: setup ## format, rules, types, import contracts
	@$(BIN)/ruff format --check src tests bench
	@$(BIN)/ruff check src tests bench
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: setup ## the quick tests: no root, no network
	@$(BIN)/pytest -q tests/unit tests/golden tests/docs

test-net: setup ## seams and real network namespaces (root)
	@$(BIN)/pytest -q tests/seam tests/net

test-cluster: setup ## whole clusters, driven by kubectl (root)
	@$(BIN)/pytest -q tests/cluster

gen: setup ## write what is generated from tables
	@scripts/gen.sh $(BIN)

docs: setup ## pages, tables, links and examples agree with the code
	@$(BIN)/pytest -q tests/docs

check: setup ## all that CI runs
	@scripts/check.sh $(BIN)

up: runtime ## bring the default cluster up
	@$(BIN)/muntin up --name $(NAME)

down: ## remove it, whatever its state
	@$(BIN)/muntin down --name $(NAME)

clients: setup ## every suite of a client library, against clusters of this checkout (root)
	@$(BIN)/pytest -q tests/cluster/clients --all-clients

programs: setup ## programs of others, ten minutes at work on a cluster of this checkout (root)
	@$(BIN)/pytest -q tests/cluster/clients/test_programs.py --programs-seconds 600

random: setup ## random operations while control planes are killed, for twenty minutes (root)
	@MUNTIN_RANDOM_SEEDS="$(SEEDS)" MUNTIN_RANDOM_SECONDS=$(SECONDS) \
	  $(BIN)/pytest -q -s tests/cluster/test_random_operations.py

kills: setup ## kill -9 of any process of a cluster, 200 times; KILLS=50 SEED=2 choose (root)
	@MUNTIN_KILLS=$(KILLS) MUNTIN_KILLS_SEED=$(SEED) $(BIN)/pytest -q -s tests/cluster/test_kills.py

fuzz: setup ## every parser and every endpoint with odd input, for some minutes; EXAMPLES=20000 SEED=2 choose
	@FUZZ_EXAMPLES=$(EXAMPLES) FUZZ_SEED=$(SEED) FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest -q tests/fuzz \
	  tests/seam/apiserver/test_apiserver_openapi_fuzz.py tests/seam/apiserver/test_apiserver_poisoned_input.py

bench: setup ## measure; writes docs/benchmarks.md's numbers
	@scripts/bench.sh $(BIN) $(BENCH)
