"""What decides the result of a run, as a short text: two runs of one origin are the same.

    table, searcher, seed, budget, base ──┐
    source of the searcher ───────────────┼──▶ digest
    versions of its packages ─────────────┘

Files of earlier runs outlive changes of the program. A run is taken from them only if nothing has changed that
could change it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path

from coarsen.errors import InternalError
from coarsen.opencl_bench.search import replay_run
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.replay_run import Base
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.tables import Table

_PACKAGE = "coarsen.opencl_bench.search"
# The packages that a searcher computes with, by what its name begins with.
_PACKAGES = {
    "optuna:": ("numpy", "optuna"),
    "kernel-tuner:": ("kernel_tuner", "numpy", "scipy"),
    "": ("numpy", "scikit-learn", "scipy"),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """What decides the runs of a searcher on a table; each run has a seed beside it.

    Attributes:
        table: digest of the axes and all trials.
        program: digest of the modules that decide what the searcher does, and of the versions of its packages.
        searcher: its name.
        budget: of a run.
        base: what a run starts from.
    """

    table: str
    program: str
    searcher: str
    budget: Budget
    base: Base

    def of_seed(self, seed: int) -> str:
        """Return the digest of all that decides one run."""
        return _digest(repr((self.table, self.program, self.searcher, astuple(self.budget), self.base, seed)))


def table_digest(table: Table) -> str:
    """Return a text that tables have in common if and only if every run does the same on them."""
    axes = [(axis.name, axis.values, axis.shared) for axis in table.space.axes]
    trials = [(choice, trial.time, trial.seconds) for choice, trial in sorted(table.trials.items())]
    return _digest(repr((axes, trials)))


def program_digest(searcher: Searcher) -> str:
    """Return a text that changes with the source of a searcher and with the versions of its packages."""
    modules = sorted(_modules(type(searcher).__module__) | _modules(replay_run.__name__))
    packages = next(own for start, own in _PACKAGES.items() if searcher.name.startswith(start))
    return _digest(
        repr(([_source(name) for name in modules], repr(searcher), [_version(own) for own in packages]))
    )


def _modules(name: str) -> set[str]:
    """A module and all those of the searches that it imports, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += _imported(_source(current))
    return found


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{_PACKAGE}."):
            yield node.module or ""


@cache
def _source(module: str) -> str:
    place = importlib.util.find_spec(module)
    if place is None or place.origin is None:
        raise InternalError(f"the module {module} has no source")
    return Path(place.origin).read_text(encoding="utf-8")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
