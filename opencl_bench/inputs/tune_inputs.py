"""Tuning over inputs from Python: what `coarsen tune` does over inputs, without its command line."""

from __future__ import annotations

import tempfile
from pathlib import Path

from coarsen.devices.selection import find_device, find_working_device
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.opencl_bench.inputs.described_check import check_described
from coarsen.opencl_bench.inputs.described_listing import list_inputs
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, tune_over_inputs
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.sweep.plan import Space


def tune_inputs(
    description: str | Path,
    device: str | None = None,
    *,
    inputs: int | None = None,
    space: Space | None = None,
    method: Method | None = None,
    store: str | Path | None = None,
) -> TunedFile:
    """Tune a kernel over inputs: measure versions, and find which of them is to run for which input.

    Args:
        description: the path of a TOML file that declares inputs (`coarsen tune init` writes one).
        device: its index or a part of its name; the first that works if None.
        inputs: the first so many of those that are listed; all if None.
        space: coarsenings and local sizes beside the kernel's own parameters; those of `coarsen tune` if None.
        method: how to time; as `coarsen tune` does if None.
        store: an SQLite file or URL that keeps the rows: what it has already is not measured again. None: they are
            kept nowhere.

    Returns:
        The versions and how one is chosen, with the times as evidence. `write` writes it for
        `coarsen.Program(..., tuned=FILE)`.

    Raises:
        DeviceError: no such device, or it can't be opened.
        InvalidInputError: no such kernel, no inputs, a mistake in a description, or a default version that runs
            nowhere.
        VerificationError: the default version has wrong results at an input.
    """
    place = find_working_device() if device is None else find_device(device)
    with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
        url = str(Path(folder) / "store.sqlite") if store is None else str(store)
        with open_store(url) as opened:
            path = Path(description).resolve()
            list_inputs(path)
            check_described(path)
            usual = OverInputs()
            settings = OverInputs(
                inputs, space=space or usual.space, method=method or usual.method, distinct=space is None
            )
            return tune_over_inputs(path, place, opened, settings).file
