# The front desk. Every target but `system` sets itself up in .venv: Python 3.11 or later, make, git and a C++ compiler are
# enough. Work that is rare, or needs a venv of its own, is a session of nox: see noxfile.py.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install -qq --disable-pip-version-check
READY := .venv/.ready
DOCS := .venv/.docs
MAKEFLAGS += --no-builtin-rules

CORE := CMakeLists.txt $(wildcard src/core/*.?pp src/core/hedgers/*.hpp src/core/routing/*.hpp)
POLLSTERS = $$($(BIN)/python -c 'from river import datasets; print(datasets.TrumpApproval().path)')
WEATHER = $$($(BIN)/python -c 'from vega_datasets import data; print(data.seattle_weather.filepath)')

.PHONY: help paper blend latent compare test check format docs bench peers wheel system clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12
	@echo; echo "Sessions of nox do rare and long work: '$(BIN)/nox --list' ('make check' puts nox into .venv)."

# An editable install knows the modules by name: where the names change, it is made again.
MODULES := .venv/.modules-$(shell find src/normalhedge -name '*.py' | sort | cksum | cut -d' ' -f1)
$(MODULES):
	@mkdir -p .venv && rm -f .venv/.modules-* && touch $@

# Groups of dependencies need pip 25.1, which is newer than the one that Python 3.11 to 3.13 bring.
$(READY): pyproject.toml $(CORE) $(MODULES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "normalhedge needs Python 3.11 or later; say 'make PYTHON=python3.x'"; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
		{ echo "normalhedge needs a C++17 compiler, g++ 9 or clang 10 or later; on Debian and Ubuntu"; \
		echo "'make system PARTS=compiler' installs g++, as root"; exit 1; }
	@echo "setting up .venv, and compiling the core"
	@$(PYTHON) -m venv .venv
	@$(PIP) 'pip>=25.1'
	@$(PIP) --editable . --group dev
	@touch $@

paper: $(READY)  ## replay the whole paper into out/paper
	$(BIN)/normalhedge paper

blend: $(READY)  ## blend five pollsters into out/blend
	$(BIN)/normalhedge blend $(POLLSTERS) --target five_thirty_eight --time ordinal_date \
		--out out/blend/blend.csv --report out/blend/report.html

latent: $(READY)  ## find the seasons of Seattle's temperatures, into out/latent
	$(BIN)/normalhedge latent $(WEATHER) --column temp_max --kind autoregressive --time date --forecast 7 \
		--out out/latent/rounds.csv --forecast-out out/latent/forecast.csv --report out/latent/report.html

compare: $(READY)  ## let all hedgers meet natures and the pollsters, into out/compare
	$(BIN)/normalhedge compare --nature all --panel $(POLLSTERS) --target five_thirty_eight --time ordinal_date

# Three at a time on two cores: tests wait for servers and browsers, too.
test: $(READY)  ## run the tests; those that need a browser or PostgreSQL are skipped without
	$(BIN)/pytest -n 3 --dist worksteal

check: $(READY)  ## check formatting, lint, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## format the code, fix lint, draw the map of the rooms in CONTRIBUTING
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/python docs/rooms.py

$(DOCS): $(READY)
	@echo "adding Sphinx to .venv (once)"
	@$(PIP) --editable . --group dev --group docs
	@touch $@

# Examples on pages are doctests; notebooks and the gallery are run by Sphinx. Nothing is fetched from the network.
docs: $(DOCS)  ## run every example, build the site into out/site, and check it
	$(BIN)/pytest -q -n 2 docs tests/test_docs.py
	rm -rf out/site out/doctrees docs/gallery docs/notebooks docs/reference/api
	$(BIN)/sphinx-build -W --keep-going -q -j 2 -d out/doctrees docs out/site
	$(BIN)/python docs/check_site.py out/site

bench: $(READY)  ## measure the speed, as ratios to NumPy; KEEP=yes writes it into the record
	$(BIN)/python -m benchmarks $(if $(KEEP),--keep)

peers: $(READY)  ## run other libraries next to ours, and write docs/peers.md; an hour
	$(BIN)/nox -s peers

wheel: $(READY)  ## build the sdist and the wheel, check both, and try the wheel in an empty venv
	$(BIN)/nox -s wheel

PARTS ?= compiler browser postgres proxies pandoc words java tex cross

system:  ## as root on Debian: install programs that tests can use; PARTS="browser postgres" names some
	@.ci/system $(PARTS)

clean:  ## remove the venvs, builds and caches
	rm -rf .venv* .nox build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
