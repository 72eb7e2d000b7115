"""The measurements that `coarsen explore` is asked for: from a store or a file, filtered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.history import say_left_out
from coarsen.cli.messages import note
from coarsen.opencl_bench.results.results import Results, read_results, stored_results
from coarsen.opencl_bench.results.versions import preset_notes


@dataclass(frozen=True, slots=True)
class Selection:
    """The measurements to take; see `Results.only`."""

    devices: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    preset: str | None = None


def chosen_results(store: str | None, files: Sequence[Path], wanted: Selection) -> Results:
    """Return the matching measurements of files, or else of a store; print how many outdated ones there are.

    Args:
        store: see `open_store`.
        files: .parquet, .csv, .json (T4) or .jsonl files; a row that is in several of them counts once.
        wanted: which of them.

    Raises:
        InvalidInputError: a file or the store can't be read, or no measurement in it matches.
    """
    everything = read_results(*files) if files else stored_results(store)
    chosen = everything.only(devices=wanted.devices, benchmarks=wanted.benchmarks, preset=wanted.preset)
    say_left_out(len(chosen.earlier))
    return chosen


def say_presets(results: Results) -> None:
    """Say which presets are not shown, where kernels were measured at several."""
    for sentence in preset_notes(results.measurements):
        note(sentence)
