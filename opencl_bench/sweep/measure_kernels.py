"""Measuring kernels from Python: what `coarsen bench` does, without its command line.

kernels, a device, a space ─▶ sweeps ─▶ rows in a store ─▶ Results
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from coarsen.devices.selection import find_device, find_working_device
from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.results.results import Results
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.sweep.plan import Space, SweepPlan
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver, sweep_all
from coarsen.opencl_bench.workloads.lookup import find_benchmark

_ERRORS = {error.exit_code: error for error in (DeviceError, InvalidInputError, VerificationError)}


def measure_kernels(
    kernels: str | Path | Iterable[str | Path],
    device: str | None = None,
    *,
    preset: str = "cpu",
    space: Space | None = None,
    method: Method | None = None,
    store: str | Path | None = None,
    confirms: bool = True,
    own_local_sizes: bool = False,
    observer: SweepsObserver | None = None,
) -> Results:
    """Measure kernels on a device: every configuration of a space, verified, against the best uncoarsened one.

    Each is compiled and run in processes that may crash or hang without harm. A configuration that fails is a row
    with its reason. Where one of several kernels can't be measured at all, its error is raised
    when the others are done; only a `store` keeps their rows then.

    Args:
        kernels: names of the suite, `synthetic-SEED-NUMBER`, `launch-SEED-NUMBER`, or paths of TOML files that
            describe kernels (`coarsen describe` writes one); one or several.
        device: its index or a part of its name; the first that works if None.
        preset: the sizes of the inputs.
        space: factors, strides, dimensions and local sizes (in work-items); those that `coarsen bench` tries if
            None.
        method: how to time; as `coarsen bench` does if None.
        store: an SQLite file or URL that keeps the rows: what it has already is not measured again. None: the
            rows are kept in what is returned alone.
        confirms: whether the best configurations are timed once more, in several new processes.
        own_local_sizes: whether each kernel is measured at its own local size alone, that of the preset, which is
            all that `Results.curves` looks at; the space's local sizes have no say then.
        observer: is told of the progress.

    Returns:
        All rows of these sweeps, also those that the store had already.

    Raises:
        DeviceError: no such device, or it can't run an uncoarsened kernel.
        InvalidInputError: no kernel, no such kernel or preset, a mistake in a description, a space that isn't one.
        VerificationError: an uncoarsened kernel's results are wrong.
    """
    place = find_working_device() if device is None else find_device(device)
    names = _names(kernels)
    # All of them before anything is measured: a mistake in the last one shows at once.
    own = {name: find_benchmark(name).preset(preset).local_size for name in names}
    wanted = space or Space()
    plans = [
        SweepPlan(
            name,
            place.index,
            preset,
            space=replace(wanted, local_sizes=(local_size,)) if own_local_sizes else wanted,
            method=method or Method(),
            confirms=confirms,
        )
        for name, local_size in own.items()
    ]
    with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
        url = str(Path(folder) / "store.sqlite") if store is None else str(store)
        with open_store(url) as opened:
            results = sweep_all(plans, opened, observer or SweepsObserver())
            where = "what was measured" if store is None else opened.location
    _check(results)
    return Results(tuple(row for result in results for row in result.rows), where)


def _names(kernels: str | Path | Iterable[str | Path]) -> list[str | Path]:
    given = [kernels] if isinstance(kernels, str | Path) else list(kernels)
    if not given:
        raise InvalidInputError("there is no kernel to measure")
    # The measuring processes may be started in another folder.
    return [Path(name).resolve() if str(name).endswith(".toml") else name for name in given]


def _check(results: Iterable[SweepResult]) -> None:
    """Raise the error of the first sweep that has no speed-ups."""
    for result in results:
        if result.problem:
            error = _ERRORS.get(result.exit_code, InvalidInputError)
            raise error(f"{result.benchmark} on {result.device}: {result.problem}")
