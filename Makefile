# Two commands: `make demo` shows Otolith at work, `make test` proves it. Both make their own environment in .venv.
# Another Python: make test PYTHON=python3.13 VENV=.venv-3.13
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
TESTED = $(VENV)/.tested

.PHONY: demo test test-team torture-team browser lint types unit docs bench bench-recall bench-change bench-capture torture clients clean

demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: browser lint types unit

# The page is tested in a real browser: Debian's Chromium, installed here where it is missing and may be.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  echo "Chromium is missing; the tests of the page need it."; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing it with apt-get."; apt-get update -qq && apt-get install -y -qq chromium >/dev/null || true; \
	  else echo "Install it to run them; they are skipped now."; fi; }

lint: $(TESTED)
	$(BIN)/ruff check .

types: $(TESTED)
	$(BIN)/mypy

unit: $(TESTED)
	$(BIN)/pytest -n 2

# The whole verb suite with homes in PostgreSQL, on both versions that the wheel brings; some minutes.
test-team: $(TESTED)
	for version in 16 18; do OTOLITH_TEST_TEAM=1 OTOLITH_TEST_POSTGRES=$$version $(BIN)/pytest -n 2 -k "postgres or team" || exit 1; done

# What a team's database holds and how fast it is, on a real server that is started here; half an hour.
torture-team: $(TESTED)
	PYTHONPATH=tests $(BIN)/python -m tests.torture.team

# What is written from the table of verbs; tests/laws compare it.
docs: $(STAMP)
	$(BIN)/python -m otolith.doors.cli.manual > docs/CLI.md
	$(BIN)/python -m otolith.doors.mcp.manual docs/TOOLS.md

bench: $(TESTED)
	$(BIN)/python -m bench.ground

bench-recall: $(TESTED)
	$(BIN)/python bench/recall.py $(BENCH)

# What is done to homes on purpose; about an hour. Root may also cut the power (docs/RELIABILITY.md).
bench-change: $(TESTED)
	$(BIN)/python -m bench.change --write

# What captured sessions leave behind; with OTOLITH_BENCH also the shared ones, some minutes.
bench-capture: $(TESTED)
	$(BIN)/python -m bench.capture --write

torture: $(TESTED)
	$(BIN)/python -m tests.torture
	OTOLITH_TORTURE=1 $(BIN)/pytest -n 2 tests/test_processes.py

# Real coding agents from npm, driven through a scripted model on loopback; half an hour.
clients: $(TESTED)
	$(BIN)/python -m tests.clients --write

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	$(BIN)/python -m compileall -q src/otolith
	touch $(STAMP)

$(TESTED): $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(TESTED)

clean:
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache dist build .clients
