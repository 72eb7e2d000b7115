"""What a search of `coarsen bench` says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coarsen.cli.output import counted
from coarsen.opencl_bench.sweep.observer import Searched
from coarsen.variant.variant_json import variant_to_json


def search_lines(searched: Searched) -> Iterator[str]:
    """Enumerate what is to be said of a search: what was tried, its ending, its best, its notes."""
    share = f" of {searched.choices} ({searched.share:.1%})" if searched.choices and searched.share else ""
    tried = f"{counted(searched.tried, 'configuration')}{share}"
    failed = f"{searched.failed} failed" if searched.failed else "none failed"
    yield f"{searched.searcher} search tried {tried}, {failed}; {searched.found.ending}"
    trial = searched.found.best
    if trial is None or trial.time is None:
        yield "nothing that it tried ran"
    else:
        yield f"the best that it met, before confirmation: {searched.best}, {1 / trial.time:.2f}"
    yield from searched.found.notes


def search_as_data(searched: Searched) -> dict[str, Any]:
    """Return a search as JSON takes it."""
    trial, verdict = searched.found.best, searched.found.additivity
    return {
        "searcher": searched.searcher,
        "tried": searched.tried,
        "failed": searched.failed,
        "choices": searched.choices,
        "share": searched.share,
        "ending": searched.found.ending,
        "best": None if searched.best is None else variant_to_json(searched.best),
        "best_time": None if trial is None else trial.time,
        "additivity": None if verdict is None else str(verdict),
        "notes": list(searched.found.notes),
    }
