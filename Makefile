# The front desk. Every target sets itself up: Python 3.11 or later, make and git are enough.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers/.ready

# numba notices a change in the file of a kernel, not in the files of the kernels it calls.
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba/$(shell cat `find src -name '*.py' | sort` | cksum | cut -d' ' -f1)


.PHONY: help paper blend latent compare browser test test-all check format bench peers clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "normalhedge needs Python 3.11 or later; say 'make PYTHON=python3.x'"; exit 1; }
	@echo "setting up .venv (once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

paper: $(READY)  ## replay the whole paper into out/paper
	$(BIN)/normalhedge paper

blend: $(READY)  ## blend five pollsters into out/blend
	$(BIN)/normalhedge blend $$($(BIN)/python -c 'from river import datasets; print(datasets.TrumpApproval().path)') \
		--target five_thirty_eight --time ordinal_date --out out/blend/blend.csv --report out/blend/report.html

latent: $(READY)  ## predict wet and dry days in Seattle, into out/latent
	$(BIN)/normalhedge latent $$($(BIN)/python -c 'from vega_datasets import data; print(data.seattle_weather.filepath)') \
		--column precipitation --above 0 --time date --out out/latent/said.csv \
		--weights out/latent/weights.csv --report out/latent/report.html

compare: $(READY)  ## let all hedgers meet natures and the pollsters, into out/compare
	$(BIN)/normalhedge compare --nature all \
		--panel $$($(BIN)/python -c 'from river import datasets; print(datasets.TrumpApproval().path)') \
		--target five_thirty_eight --time ordinal_date

# The page is tested in a browser where there is one; as root on Debian it is installed.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing Chromium (once)" && \
		apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq chromium >/dev/null 2>&1; } || \
		echo "no Chromium here: the test that opens the page is skipped"

test: $(READY) browser  ## run the tests
	$(BIN)/pytest -n 2 --dist worksteal

test-all: $(READY) browser  ## run the tests, the slow ones too
	$(BIN)/pytest -n 2 --dist worksteal -m ''

check: $(READY)  ## formatting, lint, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## format the code and fix what can be fixed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(READY)  ## measure the speed, as ratios to NumPy
	$(BIN)/python -m benchmarks

$(PEERS): pyproject.toml
	@echo "setting up .venv-peers (once)"
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/pip install --quiet --disable-pip-version-check --editable '.[peers]'
	@touch $@

peers: $(PEERS)  ## run other libraries beside ours: the same weights, and the time of a round
	.venv-peers/bin/pytest tests/test_peers.py
	.venv-peers/bin/python -m benchmarks.peers

clean:  ## remove what the other targets made
	rm -rf .venv .venv-peers .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
