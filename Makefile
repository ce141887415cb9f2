# Developer commands. `make demo` and `make test` need git, make, Python 3.11 and Rust; they install the rest into .venv.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# Some images ask Python to keep no compiled code. Each of some thousand processes of the tests would compile it all anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
NATIVE := $(VENV)/.native
TESTSERVER := target/release/brimline-testserver

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

.PHONY: demo
demo: $(NATIVE) ## Find the capacity of a real mongod and write the report
	@$(BIN)/brimline capacity ycsb-b --quick || test $$? -eq 4 # nothing could be measured: said above

# Four files with servers side by side, each of which waits for more than half of its time, so that two cores are at work. The
# fifth worker only computes, at a low priority (tests/support/side_by_side.py). What measures runs alone, after them, and
# only the files that have such tests are read for it. ARGUMENTS go to pytest.
PYTEST := $(BIN)/python -m pytest --durations=10 --durations-min=1
SIDE_BY_SIDE := --numprocesses 5
# Most of the engine's tests wait for a server of their own: of two cores with two threads a tenth is at work.
TEST_RUST := RUST_TEST_THREADS=6 cargo test --quiet --locked --workspace --exclude brimline-python
files = $(if $(filter tests%,$(ARGUMENTS)),,$(shell grep -lr 'pytest\.mark\.$(1)\b' --include='test_*.py' tests))

.PHONY: test
test: test-rust test-python ## Run everything that proves that it works, about 12 minutes

.PHONY: test-rust
test-rust: ## Run the engine's tests
	$(TEST_RUST) || { echo "run once more: times of one machine are held to bounds"; $(TEST_RUST); }

.PHONY: test-python
test-python: $(NATIVE) $(TESTSERVER) ## Run the Python tests, with real servers
	@rm -f .pytest_cache/v/cache/lastfailed # what failed in an earlier run, and is left out of this one
	$(PYTEST) $(SIDE_BY_SIDE) -m 'not alone and not long' $(ARGUMENTS) || $(BIN)/python -m tests.support.second_look $$? $(ARGUMENTS)
	$(PYTEST) -m 'alone and not long' $(call files,alone) $(ARGUMENTS) || $(BIN)/python -m tests.support.second_look $$? $(ARGUMENTS)

.PHONY: test-all
test-all: test test-docs peers-smoke ## The same, then repetitions whose kind has a quick twin, the site, and every peer
	$(PYTEST) -m long $(call files,long) $(ARGUMENTS)

.PHONY: check
check: check-rust check-python ## Check form, lints, types and the one-way flow, at most 3 minutes

.PHONY: check-rust
check-rust:
	cargo fmt --all --check
	cargo fmt --check --manifest-path runners/rust/Cargo.toml
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(PYTHON) runners/build.py --lint

.PHONY: check-python
check-python: $(NATIVE)
	$(BIN)/ruff check python tests benchmarks examples tools runners
	$(BIN)/ruff format --check python tests benchmarks examples tools runners
	$(BIN)/mypy
	$(BIN)/mypy examples
	$(BIN)/mypy runners/python
	$(BIN)/mypy --package tools.reference
	$(BIN)/lint-imports
	@# Workers of the tests read them at once, and would all compile them: half a minute, which has company here.
	set -o pipefail; $(BIN)/python -m pytest --collect-only --quiet --quiet | sed '/^tests.*: [0-9]*$$/d'

.PHONY: format
format: $(VENV)/.installed ## Bring all code into form
	cargo fmt --all
	$(BIN)/ruff check --fix python tests benchmarks examples tools runners
	$(BIN)/ruff format python tests benchmarks examples tools runners

.PHONY: docs-reference
docs-reference: $(NATIVE) ## Write the pages of docs/reference that follow from the code
	$(BIN)/python -m tools.reference

DOCS_VENV := target/docs-venv

.PHONY: docs
docs: $(DOCS_VENV)/.installed ## Build the documentation as a site that opens from the disk, below 20 s
	$(DOCS_VENV)/bin/python -m tools.site

.PHONY: test-docs
test-docs: docs $(NATIVE) ## Build that site, and open its pages in headless Chromium without a network
	$(BIN)/python -m pytest tests/browser/test_site_in_chromium.py

.PHONY: bench
bench: $(NATIVE) $(TESTSERVER) ## Measure client CPU and instructions per operation
	$(BIN)/python -m benchmarks.bench

.PHONY: check-instructions
check-instructions: $(NATIVE) ## Fail when an operation has become dearer; needs valgrind
	$(BIN)/python -m benchmarks.instructions

.PHONY: bench-ceiling
bench-ceiling: $(NATIVE) ## Measure one engine thread beside a bare client that only sends and receives
	$(BIN)/python -m benchmarks.ceiling

.PHONY: bench-lag
bench-lag: $(NATIVE) ## Measure how late operations go out at 20 000 a second
	$(BIN)/python -m benchmarks.lag

.PHONY: bench-scale
bench-scale: $(NATIVE) ## Say what 100 000 to 10 million operations a second take, in proportion to what one client was measured at
	$(BIN)/python -m benchmarks.scale

.PHONY: bench-memory
bench-memory: $(NATIVE) ## Measure the peak memory of a run with 1 000 connections
	$(BIN)/python -m benchmarks.memory

.PHONY: bench-import
bench-import: $(NATIVE) ## Import a million rows beside the same documents pre-encoded: CPU, rate, memory
	$(BIN)/python -m benchmarks.import_rows $(ARGUMENTS)

.PHONY: bench-soak
bench-soak: $(NATIVE) ## See whether memory stays level through a run of 30 minutes
	$(BIN)/python -m benchmarks.memory --soak --minutes 30 --rate 5000

.PHONY: bench-report
bench-report: $(NATIVE) ## Measure the CPU time of the report of an hour
	$(BIN)/python -m benchmarks.report $(ARGUMENTS)
.PHONY: import-kills
import-kills: $(NATIVE) ## Kill an import 20 times at random, then its server 20 times, about 4 minutes; every row must be there once
	$(BIN)/python -m benchmarks.import_kills $(ARGUMENTS)
	$(BIN)/python -m benchmarks.import_kills --server $(ARGUMENTS)

.PHONY: agreement
agreement: $(NATIVE) ## Search the capacity of one server twice, about 45 minutes on a quiet machine; the intervals must share a load
	$(BIN)/python -m benchmarks.agreement $(ARGUMENTS)

.PHONY: demo-truth
demo-truth: $(NATIVE) ## Run make demo 20 times, about 30 minutes; each must end with a figure within 100 s, in 15 lines
	$(BIN)/python -m benchmarks.demo $(ARGUMENTS)

.PHONY: search-truth
search-truth: $(NATIVE) ## 612 simulated searches of known servers; their intervals must hold the truth, and none may need longer than the search in stages
	$(BIN)/python -m pytest -s -m long tests/truth/test_coverage_of_searches.py $(ARGUMENTS)

.PHONY: links-truth
links-truth: $(NATIVE) $(TESTSERVER) ## Search a scripted HTTP service and SQL database of known capacity in real time, about 3 minutes; a quiet machine
	$(BIN)/python -m pytest -s -m long tests/truth/test_capacity_behind_links.py $(ARGUMENTS)

.PHONY: soak-truth
soak-truth: $(NATIVE) ## Soak level, leaking and stalling servers on a virtual clock, about 8 minutes: what is found of them
	$(BIN)/python -m pytest -s -m long tests/truth/test_soak_of_a_known_server.py $(ARGUMENTS)

.PHONY: growth-truth
growth-truth: $(NATIVE) ## Grow past a small cache five times, about 10 minutes; breakpoints against the cache's own misses
	$(BIN)/python -m benchmarks.growth $(ARGUMENTS)

.PHONY: failover-truth
failover-truth: $(NATIVE) ## 20 kills, 20 step-downs and 2 partitions of a primary, about 15 minutes; every lost write must be found
	$(BIN)/python -m benchmarks.failover $(ARGUMENTS)

.PHONY: lab-truth
lab-truth: $(NATIVE) ## Bring up and take down 50 labs, five of them killed half-way, about 10 minutes; nothing may be left
	$(BIN)/python -m benchmarks.labs $(ARGUMENTS)

.PHONY: versions-truth
versions-truth: $(NATIVE) ## Run A to F and a quick search on every version of mongod and a secured set, about 12 minutes; counts must agree
	$(BIN)/python -m benchmarks.versions $(ARGUMENTS)

.PHONY: studies-truth
studies-truth: $(NATIVE) ## Make every shipped study at its least scale, one of them killed, 10 minutes on two busy cores; no table may be empty, no claim contradict another
	$(BIN)/python -m pytest -s -m long --durations=10 tests/integration/test_shipped_studies.py $(ARGUMENTS)

.PHONY: lies
lies: $(NATIVE) ## Tell 300 lies to run, import, scan and stat, about 10 minutes; nothing but ordinary errors may come of it
	$(BIN)/python -m benchmarks.lies $(ARGUMENTS)

.PHONY: peers
peers: $(NATIVE) ## Measure brimline beside its peers, about 45 minutes; writes BENCHMARKS.md
	$(BIN)/python -m benchmarks.peers $(ARGUMENTS)

.PHONY: peers-together
peers-together: $(NATIVE) ## The same with client and server on the same cores, about 15 minutes
	$(BIN)/python -m benchmarks.peers --together --peers ycsb,rust-driver,pymongo --output benchmarks/shared-cores $(ARGUMENTS)

.PHONY: peers-http
peers-http: $(NATIVE) ## Measure what a request of HTTP costs beside a bare loop, wrk, k6 and JMeter where they are there, about 3 minutes
	$(BIN)/python -m benchmarks.http $(ARGUMENTS)

.PHONY: peers-smoke
peers-smoke: $(NATIVE) ## See that every peer that can be had here works
	$(BIN)/python -m benchmarks.peers --quick --rounds 1 --cells a,load --output target/peers/smoke

.PHONY: peers-own
peers-own: $(NATIVE) ## Measure what a command of an own operation costs beside a bare loop, plgm and SimRunner where they are named, about 5 minutes
	$(BIN)/python -m benchmarks.own_operations $(ARGUMENTS)

.PHONY: peers-sql
peers-sql: $(NATIVE) ## Measure what a statement of SQL costs a client beside a bare loop, sysbench and drivers, about 5 minutes
	$(BIN)/python -m benchmarks.sql $(ARGUMENTS)

.PHONY: runners
runners: $(VENV)/.installed ## Build the runners of other languages' drivers that this machine can build: Java, Node.js, Go, Rust
	$(BIN)/python runners/build.py $(ARGUMENTS)

.PHONY: wheel
wheel: $(VENV)/.installed ## Build the wheel into target/wheels
	VIRTUAL_ENV=$(CURDIR)/$(VENV) CARGO_TERM_QUIET=true $(BIN)/maturin build --quiet --release --locked --out target/wheels

.PHONY: build
build: $(NATIVE) ## Build and install brimline into .venv

.PHONY: lock
lock: $(VENV)/.installed ## Pin the newest versions of all Python packages
	$(BIN)/pip-compile --quiet --upgrade --extra server --extra frames --extra dev --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements.txt pyproject.toml

.PHONY: lock-docs
lock-docs: $(VENV)/.installed ## Pin the newest versions of what builds the site
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file tools/site/requirements.txt tools/site/requirements.in

.PHONY: lock-postgres
lock-postgres: $(VENV)/.installed ## Pin the newest version of PostgreSQL's programs
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file tools/postgres/requirements.txt tools/postgres/requirements.in

.PHONY: lock-documents
lock-documents: $(VENV)/.installed ## Pin the newest versions of what writes DOCX, in step with requirements.txt
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file tools/documents/requirements.txt tools/documents/requirements.in

.PHONY: lock-ui
lock-ui: $(VENV)/.installed ## Pin the newest versions of what the page is served by, in step with requirements.txt
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file tools/ui/requirements.txt tools/ui/requirements.in

.PHONY: lock-telemetry
lock-telemetry: $(VENV)/.installed ## Pin the newest versions of what sends OpenTelemetry metrics, in step with requirements.txt
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file tools/telemetry/requirements.txt tools/telemetry/requirements.in

.PHONY: lock-order-service
lock-order-service: $(VENV)/.installed ## Pin the newest versions of what the order service needs, in step with requirements.txt
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file examples/order-service/requirements.txt examples/order-service/requirements.in

.PHONY: lock-cluster
lock-cluster: $(VENV)/.installed ## Pin the newest version of Ray, in step with requirements.txt
	$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file tools/cluster/requirements.txt tools/cluster/requirements.in

.PHONY: browser
browser: ## Install headless Chromium for the browser tests (Debian, Ubuntu; needs root)
	command -v chromium || command -v chromium-browser || (apt-get update -q && apt-get install -qy --no-install-recommends chromium)

.PHONY: valgrind
valgrind: ## Install valgrind for the instruction counts (Debian, Ubuntu; needs root)
	command -v valgrind || (apt-get update -q && apt-get install -qy --no-install-recommends valgrind)

.PHONY: mariadb
mariadb: ## Install MariaDB's programs for labs, without a service (Debian, Ubuntu; needs root)
	command -v mariadbd || (apt-get update -q && apt-get install -qy --no-install-recommends mariadb-server-core mariadb-client-core)

.PHONY: postgres
postgres: $(VENV)/.installed ## Install PostgreSQL's programs for labs into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement tools/postgres/requirements.txt

.PHONY: telemetry
telemetry: $(VENV)/.installed ## Install what --otlp sends OpenTelemetry metrics by into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement tools/telemetry/requirements.txt

.PHONY: documents
documents: $(VENV)/.installed ## Install what writes studies as DOCX into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement tools/documents/requirements.txt

.PHONY: ui
ui: $(VENV)/.installed ## Install what brimline ui is served by into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement tools/ui/requirements.txt
.PHONY: cluster
cluster: $(VENV)/.installed ## Install Ray, for --workers ray, into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement tools/cluster/requirements.txt

.PHONY: order-service
order-service: $(VENV)/.installed ## Install what examples/order-service needs into .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement examples/order-service/requirements.txt

.PHONY: clean
clean: ## Remove everything that was built or installed
	rm -rf $(VENV) target benchmarks/peers/java/target python/brimline/_native*.so

$(VENV)/.installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || (echo 'error: brimline needs Python 3.11 or newer' >&2; exit 1)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	touch $@

$(DOCS_VENV)/.installed: tools/site/requirements.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes --requirement $<
	touch $@

$(NATIVE): $(VENV)/.installed $(RUST_SOURCES) pyproject.toml
	VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 CARGO_TERM_QUIET=true $(BIN)/maturin develop --quiet --release --locked >/dev/null
	touch $@

$(TESTSERVER): $(RUST_SOURCES)
	cargo build --quiet --release --locked --package brimline-testserver
	touch $@
