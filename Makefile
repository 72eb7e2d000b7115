# Everything happens in a virtual environment of this folder; only Python 3.11 or newer and pip are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TYPED := build/typed
# From the folder TYPED. What it found out of files that have not changed since stays in build/mypy.
MYPY := ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../mypy --num-workers 2

.DELETE_ON_ERROR:
.PHONY: demo test lint docs docs-serve benchmark clean

# Reports on a kernel, predicts for a GPU that isn't there, rewrites the kernel, runs it verified and timed on one that is.
demo: $(VENV)/.demo-installed
	$(BIN)/coarsen apply opencl_bench/kernels/sgemm.cl --factor 4 --report
	$(BIN)/coarsen predict opencl_bench/kernels/sgemm.cl --device tahiti
	$(BIN)/coarsen apply opencl_bench/kernels/sgemm.cl --factor 4
	$(BIN)/coarsen bench sgemm --space factor=1,2,4,8 --space stride=1 --quick --no-confirmation

# Lint, types and all tests on every OpenCL device found; see tests/conftest.py for the devices that must be there.
# The tests start hundreds of processes, each of which would compile the whole package where bytecode isn't kept.
test: lint
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf $(TYPED) build/lib
	$(BIN)/pip install --quiet --no-deps --target $(TYPED) .
	cp -r opencl_bench/studies opencl_bench/streams $(TYPED)/coarsen/opencl_bench
	cd $(TYPED) && $(MYPY) -p coarsen
	cd $(TYPED) && $(MYPY) ../../tests
	cd $(TYPED) && MYPYPATH=../../docs/hooks $(MYPY) ../../docs

# The documentation as pages, in build/site; a broken link is an error.
docs: $(VENV)/.docs-installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open build/site/index.html"

# The same at http://127.0.0.1:8000, built anew when a page changes.
docs-serve: $(VENV)/.docs-installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# How long coarsening takes, against clang in the same run.
benchmark: $(VENV)/.test-installed
	$(BIN)/python -m tests.compile_time

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "coarsen needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	touch $@

# Pip compiles what it installs; what stays in this folder would be compiled at each start where bytecode isn't kept.
COMPILED := $(BIN)/python -m compileall -q -j 2 coarsen features models opencl_bench

$(VENV)/.demo-installed: $(VENV)/.created pyproject.toml
	@echo "installing into $(VENV), some minutes"
	$(BIN)/pip install -qq --editable '.[cpu]'
	$(COMPILED)
	touch $@

# Reading the pages takes no training of models, and so not the gigabytes of PyTorch.
$(VENV)/.docs-installed: $(VENV)/.created pyproject.toml
	@echo "installing into $(VENV), some minutes"
	$(BIN)/pip install -qq --editable '.[docs]'
	touch $@

$(VENV)/.test-installed: $(VENV)/.created pyproject.toml
	@echo "installing into $(VENV), some minutes"
	$(BIN)/pip install -qq --editable '.[test]'
	$(COMPILED)
	touch $@
