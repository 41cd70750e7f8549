# Each target does all the set-up it needs; the stamps say what is done already.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TASKS ?= dataset_preprocessing overfit_small_dataset nan_losses mla wandb_integration improve_cifar10_baseline hello_world
DEMO_STORAGE ?= results
# One more than there are processors: tests and proofs wait now and then.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
# Where no bytecode may be kept, each of hundreds of processes would compile all of ours anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo check types quick test coverage prove bench screenshots clean

setup: $(STAMP)
	@$(BIN)/python -m mldevbench doctor --fix --storage $(DEMO_STORAGE)

$(STAMP): pyproject.toml constraints.txt
	@bash scripts/install.sh $(PYTHON) $(VENV)
	@touch $@

demo: setup
	@bash scripts/demo.sh $(BIN) $(DEMO_STORAGE) $(TASKS)

check: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 types quick

types: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

quick: $(STAMP)
	$(BIN)/pytest -m "not slow" -n $(WORKERS)

test: setup check
	$(BIN)/pytest -m "slow and not crowd" -n $(WORKERS) --dist loadfile --no-loadscope-reorder  # else the longest come last
	$(BIN)/pytest -m crowd -n 0
	$(BIN)/mldevbench tasks check all extra --jobs $(WORKERS)

coverage: setup
	rm -f .coverage*
	$(BIN)/coverage run -m pytest -m "not crowd" -n $(WORKERS) --dist loadfile --no-loadscope-reorder || true
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --sort=cover

prove: setup
	$(BIN)/python benchmarks/proof.py

bench: setup
	$(BIN)/python benchmarks/bench.py

screenshots: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m view.screenshots build/screenshots

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache build *.egg-info
