"""Find the access out of bounds of a user's kernel that crashes, or that writes beside its buffers.

    uncoarsened kernel ──▶ Oclgrind, in a process of its own ──▶ its log ──▶ buffer, element, what to change

Without Oclgrind only the buffers whose contents are used as indices are named.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from coarsen.devices.selection import SIMULATOR, find_device
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.measure.session import CHECKED_PRESET, WROTE_OUTSIDE
from coarsen.tuning.processes.child_process import DIED
from coarsen.tuning.processes.compile_service import build_options, original_code
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.workload.argument_use import IndexUse, index_uses
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize, Workload
from coarsen.variant.variant import Definitions

if TYPE_CHECKING:
    import pyopencl as cl

SERVICE = "coarsen.opencl_bench.sweep.out_of_bounds"
# Oclgrind interprets: a run that takes longer is left undiagnosed.
SECONDS = 60.0
POLLING_SECONDS = 0.1
_ACCESS = re.compile(r"Invalid (read|write) of size \d+ at (global|constant|local) memory address 0x([0-9a-f]+)")
_ITEM = re.compile(r"Entity: Global\((\d+),(\d+),(\d+)\)")
# An address has the number of its buffer, from 1, above the offset in bytes.
_OFFSET_BITS = 48
# A buffer that is too small is exceeded by little; what an index leads to may be anywhere.
_FAR = 2


@dataclass(frozen=True, slots=True)
class Access:
    """An access out of bounds: the number of the buffer in the order of the arguments and the offset in bytes."""

    verb: str
    buffer: int | None
    offset: int
    item: tuple[int, int, int] | None


def explained(problem: str, benchmark: Benchmark, path: Path, preset: str, rows: Sequence[Measurement]) -> str:
    """Return why a sweep has no result: its problem, or more about a crash; empty where there was no problem.

    A kernel that accesses memory out of bounds may crash in one form and seem right in another. So it is simulated
    also where only coarsened rows were wrong or crashed.

    Args:
        problem: why no uncoarsened configuration runs; empty where one does.
        benchmark: what the file describes.
        path: the TOML file.
        preset: the sizes that were measured.
        rows: of the sweep.

    Raises:
        InvalidInputError: the uncoarsened kernel accesses memory out of bounds.
    """
    failed = next((row for row in rows if _is_suspect(row, problem)), None)
    if failed is None:
        return problem
    candidate = failed.candidate
    found = access_out_of_bounds(benchmark, path, preset, candidate.local_size, candidate.definitions)
    if found:
        raise InvalidInputError(f"{path}: {found}")
    if WROTE_OUTSIDE in problem:
        raise InvalidInputError(f"{path}: the uncoarsened kernel {problem}: give it more `elements`")
    hint = indices_hint(benchmark, candidate.definitions) if DIED in problem else ""
    return f"the uncoarsened kernel crashes ({problem}); {hint}" if hint else problem


def _is_suspect(row: Measurement, problem: str) -> bool:
    if row.invalidity is Invalidity.RUNTIME:
        return DIED in row.reason or row.reason == problem
    return row.invalidity is Invalidity.CORRECTNESS


def access_out_of_bounds(
    benchmark: Benchmark, path: Path, preset: str, local_size: LocalSize, definitions: Definitions
) -> str:
    """Return one line about the first access out of bounds of the uncoarsened kernel; empty where none was found.

    Args:
        benchmark: what the file describes.
        path: the TOML file.
        preset: the sizes that were measured; the kernel is simulated at the preset `test` if there is one.
        local_size: in work-items, one entry per dimension.
        definitions: names and values of the `-D` macros.
    """
    simulated = CHECKED_PRESET if CHECKED_PRESET in benchmark.presets else preset
    access = first_access(_log(path, simulated, local_size, definitions))
    if access is None:
        return ""
    if access.buffer is None:
        return (
            f"the uncoarsened kernel {access.verb} outside of its local memory: give it more, or fewer work-items"
        )
    workload = benchmark.workload(simulated, 0, local_size, definitions)
    name = list(workload.buffers)[access.buffer]
    array = workload.buffers[name]
    index = access.offset // array[0].nbytes
    place = f"{name}[{index}] of {len(array)} elements"
    item = f" in work-item {access.item}" if access.item else ""
    change = _change(name, index, len(array), _indices(benchmark, definitions))
    return f"the uncoarsened kernel {access.verb} {place}{item} at preset {simulated}: {change}"


def indices_hint(benchmark: Benchmark, definitions: Definitions) -> str:
    """Return what to look at after a crash, where indices come from buffers; empty where none do."""
    names = [name for name, use in _indices(benchmark, definitions).items() if use.addressed]
    if not names:
        return ""
    return f"check `elements` and `values` of the buffers that hold indices ({', '.join(names)}) in the TOML file"


def first_access(log: str) -> Access | None:
    """Return the first access out of bounds in a log of Oclgrind; None where there is none."""
    found = _ACCESS.search(log)
    if found is None:
        return None
    verb = "reads" if found[1] == "read" else "writes"
    entity = _ITEM.search(log, found.end())
    item = (int(entity[1]), int(entity[2]), int(entity[3])) if entity else None
    if found[2] == "local":
        return Access(verb, None, 0, item)
    address = int(found[3], 16)
    # An element before the first has an address below the buffer's.
    number = (address + (1 << (_OFFSET_BITS - 1))) >> _OFFSET_BITS
    return Access(verb, number - 1, address - (number << _OFFSET_BITS), item)


def _change(name: str, index: int, count: int, indices: Mapping[str, IndexUse]) -> str:
    sources = [other for other, use in indices.items() if name in use.addressed]
    values = f"`values` of {' and '.join(sources)} that lead to elements of {name} only" if sources else ""
    if 0 <= index < _FAR * count or not sources:
        elements = f"{name} more `elements`, or a smaller `global_size`" if index >= 0 else "another `global_size`"
        return f"give {elements}" + (f", or {values}" if values else "")
    return f"give {values}"


def _indices(benchmark: Benchmark, definitions: Definitions) -> Mapping[str, IndexUse]:
    return index_uses(lower(benchmark.code, benchmark.kernel, build_options(benchmark, definitions)))


def _log(path: Path, preset: str, local_size: LocalSize, definitions: Definitions) -> str:
    """Return Oclgrind's messages of a run, even if it crashes or does not end; empty if not installed."""
    with tempfile.TemporaryDirectory(prefix="coarsen-oclgrind-") as folder:
        log = Path(folder, "log")
        packages = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        command = [sys.executable, "-P", "-m", SERVICE, str(path), preset]
        environment = {**os.environ, "PYTHONPATH": packages, f"{SIMULATOR.upper()}_LOG": str(log)}
        with contextlib.suppress(OSError):
            run_until_found([*command, json.dumps(local_size), json.dumps(definitions)], environment, log)
        return _text(log)


def run_until_found(command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    """Run the simulation until it ends or has logged an access; what it logged in `SECONDS` counts in any case.

    Args:
        command: of the simulation.
        environment: of its process.
        log: the file that it writes.

    Raises:
        OSError: the process can't be started.
    """
    # A kernel that has read beside its buffers may loop as often as what it found there says.
    deadline = time.monotonic() + SECONDS
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdin=nothing, stdout=nothing, stderr=nothing) as process:
        try:
            while process.poll() is None and time.monotonic() < deadline and not _is_found(_text(log)):
                time.sleep(POLLING_SECONDS)
        finally:
            process.kill()


def _is_found(text: str) -> bool:
    """Return True if a log has an access with its work-item: a message is written line by line."""
    access = first_access(text)
    return access is not None and access.item is not None


def _text(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""


def main(name: str, preset: str, local_size: str, definitions: str) -> int:
    """Run a benchmark's uncoarsened kernel once on Oclgrind, which writes down every access out of bounds.

    The buffers are made in the order of their arguments and have no guard zones, so that the first access beyond
    one of them shows.

    Args:
        name: what `find_benchmark` takes.
        preset: names the sizes.
        local_size: as JSON.
        definitions: the macro values as JSON.

    Raises:
        CoarsenError, pyopencl.Error: that isn't possible.
    """
    # Imported late: who only reads the log does without.
    import pyopencl as cl

    from coarsen.devices.building import build_uncached
    from coarsen.devices.discovery import open_device
    from coarsen.tuning.measure.run import LaunchableKernel, prepared_launch

    warnings.simplefilter("ignore")
    benchmark = find_benchmark(name)
    macros = tuple((str(macro), str(value)) for macro, value in json.loads(definitions))
    workload = benchmark.workload(preset, 0, tuple(json.loads(local_size)), macros)
    context = cl.Context([open_device(find_device(SIMULATOR))])
    queue = cl.CommandQueue(context)
    buffers = {name: _on_device(queue, workload, name) for name in workload.buffers}
    code = original_code(benchmark, macros, benchmark.source)
    program = build_uncached(context, code.content, code.options)
    for launch in workload.launches:
        kernel = cast("LaunchableKernel", cl.Kernel(program, launch.kernel))
        prepared_launch(queue, kernel, launch, buffers)()
        queue.finish()
    return 0


def _on_device(queue: cl.CommandQueue, workload: Workload, name: str) -> cl.MemoryObject:
    import pyopencl as cl

    from coarsen.tuning.measure.run import PlacedImage

    contents = workload.buffers[name]
    if name in workload.images:
        return PlacedImage(queue, contents, workload.images[name]).view
    return cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=contents)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
