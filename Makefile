# `make demo` and `make test` need Python >= 3.11 and nothing else; each makes .venv when it is missing.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Constrained are also the environments in which pip builds what has no wheel. Python compiles the
# modules that are imported; pip would compile all 22,000 of them.
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	$(BIN)/python -m pip install --no-compile

# Python asks the finder of an editable install last, so that `import nnd` next to a clone called nnd would
# find that folder, an empty namespace. A folder on the path that holds the front door comes before.
SITE_PACKAGES := import sysconfig; print(sysconfig.get_path("purelib"))

.PHONY: help demo readme readme-tables schemas texts test test-fast test-full selftest publish-all bench bench-gpu site check format types constraints
.DEFAULT_GOAL := help

help:
	@echo "make demo       set up, fetch a small model (93 MB), test it on questions that teachers judged"
	@echo "make test       set up with the development tools, run the tests"
	@echo "make test-fast  those of them that need no torch: schemas, converting, numbers, figures, cards"
	@echo "make test-full  the same, slow tests in full"
	@echo "make selftest   fetch two real models (350 MB), hold their numbers against float64, one request at a"
	@echo "                time, and against lm-eval (ten minutes)"
	@echo "make publish-all  convert each source that may be published, publish it on a Hub of this machine,"
	@echo "                load it with datasets; NND_DATA names the folder of the real files"
	@echo "make bench      measure how converting scales, and the engine against its peers (an hour or two)"
	@echo "make bench-gpu  the engine on a GPU: its numbers, its speed, its peers (ten minutes)"
	@echo "make readme     run what README and the guide show, and write what it printed into them"
	@echo "make readme-tables  write the tables of README, without a model: after a new source"
	@echo "make texts      raise every error of the tests, and write tests/support/errors.txt"
	@echo "make schemas    write the JSON Schemas of what nnd stores, as the records describe it"
	@echo "make site       build the guide, to be opened at build/site/index.html; its search needs a server,"
	@echo "                python -m http.server -d build/site"
	@echo "make check      formatting, lint, types, tests"
	@echo "make format     format and fix what ruff can"
	@echo "make constraints  pin the newest versions that fit together; then run the tests"

# Distributions called nnd, an older one of ours or another project's, would own the same import.
# The resolver must see torch 2.13.0 before anything asks for it: the index's newest build brings
# gigabytes of CUDA packages.
$(BIN)/nnd: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "nnd needs Python 3.11 or newer")'
	@echo "Setting up $(VENV): pip fetches about 2 GB, torch first, unless it has them in its cache."
	@echo "That takes five to ten minutes, once."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) torch==2.13.0
	$(BIN)/python -m pip uninstall -qq -y nnd
	$(INSTALL) -e '.[report]'
	mkdir -p $(VENV)/front
	ln -sfn $(CURDIR)/nnd_metric/api $(VENV)/front/nnd
	echo $(abspath $(VENV)/front) > "$$($(BIN)/python -c '$(SITE_PACKAGES)')/near_negative_front.pth"
	touch $@

$(VENV)/dev: $(BIN)/nnd
	$(INSTALL) -e '.[dev]'
	# The validator of Every Eval Ever says 3.12, and runs on 3.11 with what is installed by now.
	$(INSTALL) --no-deps --ignore-requires-python every-eval-ever==0.3.0
	touch $@

# Type checkers do not follow the editable install's import hook; these links show them the rooms.
.links: Makefile
	mkdir -p .links/nnd
	ln -sfn ../../nnd_metric .links/nnd/metric
	ln -sfn ../../nnd_metric/api/__init__.py .links/nnd/__init__.py
	ln -sfn ../nnd_metric/api/near_negative .links/near_negative
	for room in converters schemas cards; do ln -sfn ../../$$room .links/nnd/$$room; done
	touch $@

demo: $(BIN)/nnd
	$(BIN)/python cards/guide/real_model.py demo
	cp cards/guide/demo.yaml demo/runs.yaml
	$(BIN)/nnd convert quiz_design --out demo/quiz_design
	$(BIN)/nnd evaluate --runs demo/runs.yaml --limit 200 --out demo/result
	$(BIN)/nnd compare demo/result/*/quiz_design
	$(BIN)/nnd report demo/result/*/quiz_design --data demo/quiz_design --out demo/report.html
	@echo
	@echo "Open demo/report.html in a browser. README.md says what the numbers mean. To go on:"
	@echo "    . $(BIN)/activate"
	@echo "    nnd sources"

test: $(VENV)/dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

# Rooms that do without torch, and files in them that score with a model.
FAST := schemas cards converters/check converters/folder converters/make converters/pairs \
	converters/source metric/data metric/numbers metric/show
NOT_FAST := metric/numbers/slices/test_span_surprise.py schemas/test_record_schemas.py schemas/test_schema_files.py cards/test_metric.py \
	converters/folder/test_one_candidate.py metric/data/test_limit.py metric/numbers/effects/test_suite_runs.py \
	metric/numbers/rates/test_caveats.py metric/show/reports/test_suite_page.py metric/show/tables/test_pass_rates.py

test-fast: $(VENV)/dev
	NND_TEST_FAST=1 $(BIN)/python -m pytest -n 2 --dist loadfile -q $(FAST:%=tests/%) \
		$(NOT_FAST:%=--ignore=tests/%)

test-full: $(VENV)/dev
	NND_TEST_FULL=1 $(BIN)/python -m pytest -n 2 --dist loadfile -q --durations=15 -m "not alone"
	NND_TEST_FULL=1 $(BIN)/python -m pytest -q --durations=15 -m alone

selftest: $(VENV)/dev
	$(BIN)/python cards/guide/real_model.py demo
	$(BIN)/python cards/guide/real_model.py demo gemma3
	NND_TEST_FULL=1 $(BIN)/python -m pytest -n 0 -q -s tests/metric/selftest/test_real_models.py

publish-all: $(VENV)/dev
	NND_TEST_FULL=1 $(BIN)/python -m pytest -n 2 -q -rA --no-header tests/support/hub/test_round_trip.py \
		-k test_what_is_loaded_is_what_was_published_of_the_real_files

bench: $(VENV)/dev
	$(INSTALL) -e '.[dev,bench]'
	$(BIN)/python tests/benchmarks/convert_scale.py
	$(BIN)/python tests/benchmarks/table_scale.py
	$(BIN)/python tests/benchmarks/run_scale.py
	$(BIN)/python tests/benchmarks/engine_speed.py

bench-gpu: $(VENV)/dev
	$(BIN)/python tests/benchmarks/gpu.py --json build/bench-gpu.json

readme: $(VENV)/dev
	$(BIN)/python cards/guide/real_model.py demo
	PYTHONPATH=tests $(BIN)/python -m support.screens.guide

# What `make readme` writes between marks, such as the table of the sources; a new source needs no more.
readme-tables: $(VENV)/dev
	PYTHONPATH=tests $(BIN)/python -m support.screens.guide tables

texts: $(VENV)/dev
	NND_WRITE_TEXTS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -q $$(grep -rlE "refus(ed|al)" tests --include="test_*.py")

schemas: $(VENV)/dev
	PYTHONPATH=tests $(BIN)/python -m support.records

site: $(VENV)/dev .links
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file cards/mkdocs.yml

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(VENV)/dev .links
	$(BIN)/mypy -p nnd -p near_negative
	PYTHONPATH=.links $(BIN)/lint-imports --no-cache

# Without local versions (`torch==2.13.0+cpu`), which only some indices have.
constraints:
	$(PYTHON) -m venv --clear .constraints
	.constraints/bin/python -m pip install -q torch==2.13.0
	.constraints/bin/python -m pip install -q -e '.[bench,dev]'
	{ grep '^#' constraints.txt; \
	  .constraints/bin/python -m pip freeze --all --exclude-editable --exclude pip | sed 's/+.*//'; \
	} > .constraints/new.txt
	mv .constraints/new.txt constraints.txt
	rm -r .constraints

check: $(VENV)/dev types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) test
