"""Measuring kernels from Python: what `coarsen bench` does, without its command line.

kernels, a device, a space ─▶ sweeps ─▶ rows in a store ─▶ Results
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.runtime.selection import find_device, find_working_device

from .measurement import Method
from .results import Results
from .store.database import open_store
from .suite import find_benchmark
from .sweep.several import SweepResult, SweepsObserver, sweep_all
from .sweep_plan import Space, SweepPlan

_ERRORS = {error.exit_code: error for error in (DeviceError, InvalidInputError, VerificationError)}


def measure_kernels(
    kernels: Iterable[str | Path],
    device: str | None = None,
    *,
    preset: str = "cpu",
    space: Space | None = None,
    method: Method | None = None,
    store: str | Path | None = None,
    confirms: bool = True,
    observer: SweepsObserver | None = None,
) -> Results:
    """Measure kernels on a device: every configuration of a space, verified, against the best uncoarsened one.

    Each is compiled and run in a process of its own kind, which may crash or hang without harm. A configuration
    that fails is a row with its reason.

    Args:
        kernels: names of the suite, `synthetic-SEED-NUMBER`, or paths of TOML files that describe kernels
            (`coarsen bench init` writes one).
        device: its index or a part of its name; the first that works if None.
        preset: the sizes of the inputs.
        space: factors, strides, dimensions and local sizes; those that `coarsen bench` tries if None.
        method: how to time; as `coarsen bench` does if None.
        store: an SQLite file or URL that keeps the rows: what it has already is not measured again. None: the
            rows are kept in what is returned alone.
        confirms: whether the best configuration is timed once more, in a new process.
        observer: is told of the progress.

    Raises:
        DeviceError: no such device, or it can't run an uncoarsened kernel.
        InvalidInputError: no such kernel or preset, a mistake in a description, a space that isn't one.
        VerificationError: an uncoarsened kernel's results are wrong.
    """
    place = find_working_device() if device is None else find_device(device)
    names = [name.resolve() if isinstance(name, Path) else name for name in kernels]
    for name in names:
        find_benchmark(name)
    plans = [
        SweepPlan(name, place.index, preset, space=space or Space(), method=method or Method(), confirms=confirms)
        for name in names
    ]
    with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
        url = str(Path(folder) / "store.sqlite") if store is None else str(store)
        with open_store(url) as opened:
            results = sweep_all(plans, opened, observer or SweepsObserver())
    _check(results)
    return Results(tuple(row for result in results for row in result.rows), str(store or "this measuring"))


def _check(results: Iterable[SweepResult]) -> None:
    """Raise the error of the first sweep that has no speed-ups."""
    for result in results:
        if result.problem:
            error = _ERRORS.get(result.exit_code, InvalidInputError)
            raise error(f"{result.benchmark} on {result.device}: {result.problem}")
