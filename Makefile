# Fabric: `make run` starts everything, `make test` tests it.
PYTHON_RUN := .venv/bin/python
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install run test lint bench

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

install: ## the virtual environment in .venv, and the system packages
	@rm -f .venv/.fabric-mysqlclient # once more, where it could not be built
	@deploy/install site

run: ## install, then start the whole site at http://127.0.0.1:8000 (PORT=8001 for another)
	@deploy/install site
	@$(PYTHON_RUN) manage.py up --with-parent

test: ## install what the tests need and run them all (ARGS="-k name" for some)
	@deploy/install tests
	@$(PYTHON_RUN) -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: ## style, types, layers, missing migrations
	@deploy/install tests
	$(PYTHON_RUN) -m ruff check .
	$(PYTHON_RUN) -m ruff format --check .
	$(PYTHON_RUN) -m mypy .
	.venv/bin/lint-imports
	$(PYTHON_RUN) manage.py makemigrations --check --dry-run

bench: ## the benchmarks; each prints one table (ARGS=name for one)
	@deploy/install tests
	@$(PYTHON_RUN) -m benchmarks $(ARGS)
