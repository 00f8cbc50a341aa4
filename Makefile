# The front desk. Every target sets itself up: Python 3.11 or later, make and git are enough.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers/.ready
PANELS := .venv-panels/.ready
CLUSTER := .venv-cluster/.ready
ADAPTERS := .venv-adapters/.ready
DOCS := .venv/.docs
MAKEFLAGS += --no-builtin-rules

CORE := CMakeLists.txt $(wildcard src/core/*.?pp src/core/hedgers/*.hpp)

.PHONY: help paper blend latent compare compiler browser postgres test test-all torture check format bench \
	bench-serve peers adapters panels java cluster docs tex note wheel sanitize portable coverage coverage-core \
	coverage-python matrix clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

# The core is C++: a compiler is needed where there is no wheel. As root on Debian it is installed.
compiler:
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing g++ (once)" && \
		apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq g++ >/dev/null 2>&1; } || \
		{ echo "normalhedge needs a C++17 compiler: install g++ 9 or clang 10 or later"; exit 1; }

# An editable install knows the modules by name: where they are others, it is made again.
MODULES := .venv/.modules-$(shell find src/normalhedge -name '*.py' | sort | cksum | cut -d' ' -f1)
$(MODULES):
	@mkdir -p .venv && rm -f .venv/.modules-* && touch $@

$(READY): pyproject.toml $(CORE) $(MODULES) | compiler
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "normalhedge needs Python 3.11 or later; say 'make PYTHON=python3.x'"; exit 1; }
	@echo "setting up .venv, and compiling the core"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

paper: $(READY)  ## replay the whole paper into out/paper
	$(BIN)/normalhedge paper

blend: $(READY)  ## blend five pollsters into out/blend
	$(BIN)/normalhedge blend $$($(BIN)/python -c 'from river import datasets; print(datasets.TrumpApproval().path)') \
		--target five_thirty_eight --time ordinal_date --out out/blend/blend.csv --report out/blend/report.html

latent: $(READY)  ## find the seasons of Seattle's temperatures, into out/latent
	$(BIN)/normalhedge latent $$($(BIN)/python -c 'from vega_datasets import data; print(data.seattle_weather.filepath)') \
		--column temp_max --kind autoregressive --time date --forecast 7 --out out/latent/rounds.csv \
		--forecast-out out/latent/forecast.csv --report out/latent/report.html

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

# The log of the service is tested in PostgreSQL where its programs are; as root on Debian they are installed.
postgres:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing PostgreSQL (once)" && \
		apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq postgresql >/dev/null 2>&1; } || \
		echo "no PostgreSQL here: the tests that start a cluster are skipped"

test: $(READY) browser postgres  ## run the tests
	$(BIN)/pytest -n 2 --dist worksteal

test-all: $(READY) browser postgres  ## run the tests, the slow ones too
	$(BIN)/pytest -n 2 --dist worksteal -m ''

# Examples on pages are doctests; notebooks and the gallery are run by Sphinx. Nothing is fetched from the network.
$(DOCS): $(READY)
	@echo "adding Sphinx to .venv (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	@touch $@

docs: $(DOCS)  ## run every example, build the site into out/site, and check it
	$(BIN)/pytest -q -n 2 docs tests/test_docs.py
	rm -rf out/site out/doctrees docs/gallery docs/notebooks docs/reference/api
	$(BIN)/sphinx-build -W --keep-going -q -j 2 -d out/doctrees docs out/site
	$(BIN)/python docs/check_site.py out/site

# The note needs pdflatex and a few common packages; as root on Debian they are installed.
tex:
	@kpsewhich booktabs.sty >/dev/null 2>&1 || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing TeX (once)" && \
		apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq --no-install-recommends \
		texlive-latex-recommended texlive-fonts-recommended >/dev/null 2>&1; } || \
		echo "no TeX here: the note is not built"

# Its numbers are kept in docs/note/numbers.tex; NUMBERS= computes those again that take minutes, too.
NUMBERS ?= --quick
CERTIFIED := $(wildcard src/normalhedge/guarantees/*.py src/normalhedge/research/games/attacks/*.py) \
	src/normalhedge/research/paper/frontier.py src/normalhedge/reports/plots.py

out/note/frontier.pdf: $(CERTIFIED) | $(READY)
	@mkdir -p out/note
	$(BIN)/normalhedge certify --alpha 1e-3 --experts 1000 --plot $@

note: $(READY) tex out/note/frontier.pdf  ## build the note on what is proved, out/note/note.pdf, where TeX is
	$(BIN)/python docs/note/compute.py $(NUMBERS)
	@command -v pdflatex >/dev/null || exit 0; for pass in 1 2 3; do \
		TEXINPUTS=docs/note:out/note: pdflatex -interaction=nonstopmode -halt-on-error \
		-output-directory out/note docs/note/note.tex >out/note/pdflatex.txt 2>&1 || \
		{ grep -A 5 '^!' out/note/pdflatex.txt; exit 1; }; done; \
		grep -E 'Overfull|undefined' out/note/note.log; echo "wrote out/note/note.pdf"

torture: $(READY)  ## try what a mixture, a stream and a file survive: minutes; all failures must be 0
	$(BIN)/python -m tests.torture

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

bench-serve: $(READY)  ## measure the service: rates, delays, restart, memory; minutes
	$(BIN)/python -m benchmarks.serve

$(PEERS): pyproject.toml $(CORE) $(MODULES) | compiler
	@echo "setting up .venv-peers (once)"
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/pip install --quiet --disable-pip-version-check --editable '.[peers]'
	@touch $@

peers: $(PEERS)  ## run other libraries beside ours: the same weights, and the time of a round
	.venv-peers/bin/pytest -m '' tests/test_peers.py tests/tables/test_nixtla.py \
		tests/integrations/test_nixtla.py docs/coming-from
	.venv-peers/bin/python -m benchmarks.peers
	.venv-peers/bin/python -m benchmarks.intervals.mapie_peer

$(ADAPTERS): pyproject.toml $(CORE) $(MODULES) | compiler
	@echo "setting up .venv-adapters (once; about three minutes)"
	@$(PYTHON) -m venv .venv-adapters
	@.venv-adapters/bin/pip install --quiet --disable-pip-version-check --editable '.[adapters]'
	@touch $@

adapters: $(ADAPTERS)  ## run the adapters with the real libraries, and the suites of these
	.venv-adapters/bin/pytest -n 2 --dist worksteal -m '' tests/integrations src/normalhedge/integrations

$(PANELS): pyproject.toml $(CORE) $(MODULES) | compiler
	@echo "setting up .venv-panels (once)"
	@$(PYTHON) -m venv .venv-panels
	@.venv-panels/bin/pip install --quiet --disable-pip-version-check --editable '.[panels]'
	@touch $@

# Spark runs on Java 17 or later; as root on Debian it is installed.
java:
	@command -v java >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing Java (once)" && \
		apt-get update -qq >/dev/null 2>&1 && \
		apt-get install -y -qq default-jre-headless >/dev/null 2>&1; } || \
		echo "no Java here: the tests with Spark are skipped"

$(CLUSTER): pyproject.toml $(CORE) $(MODULES) | compiler
	@echo "setting up .venv-cluster (400 MB, once)"
	@$(PYTHON) -m venv .venv-cluster
	@.venv-cluster/bin/pip install --quiet --disable-pip-version-check --editable '.[cluster]'
	@touch $@

cluster: $(CLUSTER) java  ## run the tests of Dask and Spark, and the examples of docs/clusters.md
	.venv-cluster/bin/pytest -m '' tests/integrations/clusters src/normalhedge/integrations/clusters docs/clusters.md

# Panels are made once, in about 15 minutes, and kept in out/panels. KIND=judge when all is settled.
KIND ?= develop

panels: $(PANELS)  ## blend real panels beside plain mean and median, into out/panels
	.venv-panels/bin/python -m benchmarks.panels --kind $(KIND)

# Installed with nothing but NumPy in a folder of its own, and used where nothing can be written.
wheel: $(READY)  ## build the sdist and the wheel, and try the wheel in an empty venv
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	@folder=$$(mktemp -d) && $(PYTHON) -m venv $$folder/venv && \
		$$folder/venv/bin/pip install --quiet --disable-pip-version-check dist/*.whl && \
		cp tests/smoke.py $$folder/ && chmod -R a-w $$folder/venv/lib && cd $$folder && \
		env -i HOME=/nonexistent $$folder/venv/bin/python -I -B smoke.py; status=$$?; \
		chmod -R u+w $$folder; du -sh $$folder/venv/lib/python*/site-packages/normalhedge | cut -f1; \
		rm -rf $$folder; exit $$status

# A copy of the package with a core of its own: $(call package_with_core,folder,options of CMake). Without -S, Python
# would find the installed one first.
define package_with_core
	rm -rf $(1) && mkdir -p $(1)/package
	cmake -S . -B $(1)/cmake $(2) -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python >$(1)/cmake.log
	cmake --build $(1)/cmake --parallel 2
	cp -r src/normalhedge $(1)/package/
	cp $(1)/cmake/_core*.so $(1)/package/normalhedge/
endef
WITH_CORE = PYTHONPATH=$(CURDIR)/$(1)/package:$$(echo $(CURDIR)/.venv/lib/python*/site-packages) \
	$(BIN)/python -S -m pytest -q -p no:cacheprovider -p no:xdist

SANITIZED := build/sanitized
ASAN = $(shell $${CXX:-c++} -print-file-name=libasan.so):$(shell $${CXX:-c++} -print-file-name=libubsan.so)

sanitize: $(READY)  ## run the tests of hedgers, mixtures and latent under AddressSanitizer and UBSan
	$(call package_with_core,$(SANITIZED),-DCMAKE_BUILD_TYPE=Debug -DNORMALHEDGE_SANITIZE=ON)
	LD_PRELOAD=$(ASAN) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(call WITH_CORE,$(SANITIZED)) $(SANITIZE_TESTS)

SANITIZE_TESTS := $(wildcard tests/hedgers/test_*.py tests/hedgers/test_hindsight.py tests/research/games/attacks/test_*.py \
	tests/mixtures/intervals/test_*.py tests/mixtures/test_*.py tests/tables/test_*.py \
	tests/latent/banks/test_*.py tests/latent/models/test_*.py tests/latent/models/emissions/test_*.py \
	tests/test_inputs.py tests/test_core*.py tests/test_potentials.py tests/test_frozen.py tests/test_own_hedgers.py)

# What other processors and compilers get: without the choice at run time; and for aarch64 where there
# is a cross compiler. The numbers must be the frozen ones.
PORTABLE := build/portable
INCLUDES = $(shell $(BIN)/python -c 'import numpy, sysconfig; print("-isystem", sysconfig.get_path("include"), "-isystem", numpy.get_include())')

portable: $(READY)  ## build the core for a plain x86-64 and compile it for aarch64; run the frozen tests
	$(call package_with_core,$(PORTABLE),-DCMAKE_BUILD_TYPE=Release -DNORMALHEDGE_PLAIN=ON)
	$(call WITH_CORE,$(PORTABLE)) tests/test_frozen.py
	@command -v aarch64-linux-gnu-g++ >/dev/null || { echo "no compiler for aarch64 here: left out"; exit 0; }; \
		for file in src/core/*.cpp; do echo "aarch64: $$file"; aarch64-linux-gnu-g++ -std=c++17 -O2 \
		-fopenmp-simd -fPIC $(INCLUDES) -c $$file -o $(PORTABLE)/aarch64.o || exit 1; done

# Python: every test that is not slow, the commands that it starts included. C++: the tests of the core alone, as
# counting makes it slow. What is left out, and why, is in pyproject.toml and gcovr.cfg. Forks beside threads and
# interrupts hang: the counter of lines has a lock that is held then.
COVERED := build/covered
UNCOUNTED := tests/mixtures/test_sharing.py::test_a_fork_beside_a_thread_gets_a_sound_mixture \
	'tests/test_torture.py::test_no_fault_does_harm[forks]' 'tests/test_torture.py::test_no_fault_does_harm[interrupts]'

coverage: coverage-core coverage-python  ## measure which lines the tests run: at least 95 % of Python, 90 % of C++

coverage-core: $(READY)
	$(call package_with_core,$(COVERED),-DCMAKE_BUILD_TYPE=Debug -DNORMALHEDGE_COVERAGE=ON)
	$(call WITH_CORE,$(COVERED)) $(SANITIZE_TESTS)
	$(BIN)/gcovr --object-directory $(COVERED)/cmake

coverage-python: $(READY) browser
	@rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/coverage run -m pytest -q -n 2 --dist worksteal $(addprefix --deselect ,$(UNCOUNTED))
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

ONLY ?=

matrix: compiler  ## run the tests with the oldest and the newest dependencies; ONLY=oldest: with these alone
	$(PYTHON) -m tests.matrix $(addprefix --only ,$(ONLY)) --tests '$(TESTS)'

clean:  ## remove what the other targets made
	rm -rf .venv* build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
