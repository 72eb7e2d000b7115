"""What the layers cost a launch, and a program's start: `python -m tests.layer.overhead [--program] [PLATFORM …]`.

For launches they stand above functions that do nothing, so that the driver's time is not part of it: of many short
rounds the fastest counts. What a driver takes longer for queues with profiling, and to set an argument of a second
kernel, is not part of it either. Starts are those of a short program on each platform, in turns without the layer,
with it and an empty shelf, and with a kernel on the shelf.

With `--program` it is what `coarsen.Program` costs a start beside `pyopencl.Program`: of a process that makes a
program and launches its kernel once, of which a choice is remembered. They take turns; it is processor time that
counts, with bytecode, as installed packages have it.
"""

from __future__ import annotations

import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from coarsen.devices.discovery import discover_devices
from coarsen.devices.drivers import packaged_loader, prepare_loader
from coarsen.layer.log import RecordedProgram
from coarsen.layer.program import RECORDER, SUBSTITUTE, layer_library, layers_value
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.tuned_programs import COUNT as PROGRAM_COUNT
from tests.drop_in.tuned_programs import SOURCE as PROGRAM_SOURCE
from tests.layer.conftest import PROGRAMS, compiled_program
from tests.layer.remembered_kinds import kind, remember
from tests.layer.shelf_files import SOURCE as SHELF_SOURCE
from tests.layer.shelf_files import Row, device_text, marking_rows, write_unit

prepare_loader(is_for_program=True)
import pyopencl as cl  # noqa: E402 (it takes the loader that is prepared)

WORDS = (
    "with its arguments as they were",
    "with an argument set to what it was",
    "with another argument each time",
)
SOURCE = b"kernel void none(global int *values, global int *more, int one) { *values = 2; }"
WAYS = ("of which nothing is remembered", "with remembered sizes that are others", "coarsened")


def main() -> None:
    """Print the nanoseconds that a launch, and setting its argument, takes longer with each layer; and starts."""
    platforms = [each for each in cl.get_platforms() if any(word in each.name for word in sys.argv[1:])]
    if "--program" in sys.argv:
        for platform in platforms:
            print_starts_of_programs(platform)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled_program(PROGRAMS / "overhead.c", folder / "program")
        (folder / "left").write_bytes(struct.pack("<QQ", 0, 0))
        row = Row(
            "none",
            b"binary",
            64,
            1024,
            64,
            1024,
            64,
            new_local=32,
            apart=(0, 1),
            objects_below=1 << 31,
            memory=(0, 1),
        )
        write_unit(folder, SOURCE, "-A", "\n\n\n", [row])
        recorded = longer(program, RECORDER, {"COARSEN_RECORDING": name}, folder)
        substituted = longer(
            program, SUBSTITUTE, {"COARSEN_SHELF": name, "COARSEN_COUNTS": str(folder / "c")}, folder
        )
    for words, more in zip(WORDS, recorded[:3], strict=True):
        print(f"recorded: a launch {words}: {more:.0f} ns more")
    for index, more in enumerate(substituted):
        print(f"a launch {WAYS[index // 3]}, {WORDS[index % 3]}: {more:.0f} ns more")
    for platform in platforms:
        print_starts(platform)


def print_starts(platform: cl.Platform, rounds: int = 15) -> None:
    """Print what starts and launches take longer with the layer, and nothing or a kernel remembered."""
    loader, context = packaged_loader(), cl.Context(platform.get_devices()[:1])
    assert loader is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source.cl").write_text(SHELF_SOURCE)
        write_unit(folder, SHELF_SOURCE.encode(), "", device_text(context.devices[0]), marking_rows(context)[:1])
        own = {"SOURCE": str(folder / "source.cl"), "PLATFORM": platform.name}
        own["PYOPENCL_HOME"] = str(loader.parents[1])
        layer = {"OPENCL_LAYERS": layers_value({}, layer_library(SUBSTITUTE, folder))}
        ways: tuple[dict[str, str], ...] = (
            {},
            {**layer, "COARSEN_SHELF": str(folder / "none")},
            {**layer, "COARSEN_SHELF": name},
        )
        start, launches = (
            compiled_program(PROGRAMS / f"{each}.c", folder / each, str(loader), "-rpath", str(loader.parent))
            for each in ("start", "launches")
        )
        times: list[list[tuple[float, ...]]] = [[], [], []]
        outputs = [""] * len(ways)
        for _ in range(rounds + 1):
            for index, way in enumerate(ways):
                environment = {**os.environ, **own, **way}
                before, begin = processor_seconds(), time.perf_counter()
                outputs[index] = output_of(start, environment)
                wall, used = time.perf_counter() - begin, processor_seconds() - before
                times[index].append(
                    (1e3 * wall, 1e3 * used, *map(float, output_of(launches, environment).split()))
                )
        assert outputs == ["8", "8", "1000008"], "the last one is coarsened"
        # The first round fills the driver's caches.
        plain, *others = ([statistics.median(column) for column in zip(*each[1:], strict=True)] for each in times)
        for what, other in zip(("nothing", "a kernel"), others, strict=True):
            wall, used, launch, new = (longer - shorter for longer, shorter in zip(other, plain, strict=True))
            print(
                f"{platform.name}, {what} remembered: a start {wall:.1f} ms more of {plain[0]:.0f}, {used:.1f} ms "
                f"of processors; a launch and its three arguments {launch:.0f} ns more of {plain[2]:.0f}, with a "
                f"kernel made for it {new:.0f} of {plain[3]:.0f}"
            )


START = """\
import sys
import pyopencl as cl
import numpy as np
from {module} import Program

[device] = [p.get_devices()[0] for p in cl.get_platforms() if p.name == sys.argv[1]]
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = Program(context, open(sys.argv[2]).read()).build()
buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * {count}) for _ in range(3)]
kernel = program.add
kernel(queue, ({count},), (64,), buffers[0], buffers[1], np.float32(2), buffers[2])
queue.finish()
if len(sys.argv) > 3:
    print(kernel.divided(device, ({count},), (64,)).coarsenings)
"""


def print_starts_of_programs(platform: cl.Platform, rounds: int = 25) -> None:
    """Print what processes with `coarsen.Program` take longer than those with PyOpenCL's."""
    device = next(each for each in discover_devices() if each.platform_name == platform.name)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "source.cl").write_text(PROGRAM_SOURCE)
        program = RecordedProgram("", PROGRAM_SOURCE, "")
        store = str(Path(name) / "store.sqlite")
        recorded = kind(program, "add", device, (PROGRAM_COUNT,), (64,))
        remember(store, device, [(recorded, Variant((), (Coarsening(4),)))])
        environment = {**os.environ, "XDG_CACHE_HOME": name, "COARSEN_STORE": store}
        environment["PYTHONPYCACHEPREFIX"] = f"{name}/bytecode"
        for variable in ("COARSEN_NO_CACHE", "PYTHONDONTWRITEBYTECODE"):
            environment.pop(variable, None)
        words = [platform.name, str(Path(name) / "source.cl")]
        ways = [
            [sys.executable, "-c", START.format(module=module, count=PROGRAM_COUNT), *words]
            for module in ("pyopencl", "coarsen")
        ]
        for _ in range(2):
            # The first one fills caches.
            assert "factor=4" in output_of([*ways[1], "divided"], environment)
        times: list[list[tuple[float, float]]] = [[], []]
        for _ in range(rounds + 1):
            for way, taken in zip(ways, times, strict=True):
                before, begin = processor_seconds(), time.perf_counter()
                output_of(way, environment)
                taken.append((processor_seconds() - before, time.perf_counter() - begin))
    plain, own = (list(zip(*each[1:], strict=True)) for each in times)
    for index, what in enumerate(("of processors", "of wall-clock time")):
        least, middle = (1e3 * (take(own[index]) - take(plain[index])) for take in (min, statistics.median))
        print(
            f"{platform.name}: a start with coarsen.Program takes {middle:.1f} ms {what} more than the "
            f"{1e3 * statistics.median(plain[index]):.0f} of PyOpenCL's (medians of {rounds}; least {least:.1f})"
        )


def output_of(program: Path | Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what a program prints."""
    words = [program] if isinstance(program, Path) else program
    return subprocess.run(words, env=environment, check=True, capture_output=True).stdout.decode().strip()


def processor_seconds() -> float:
    """Return what all processes that have ended took of processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def longer(program: Path, layer: str, variables: Mapping[str, str], folder: Path) -> list[float]:
    """Return by how many nanoseconds each kind of launch takes longer with a layer."""
    environment = {**os.environ, **variables, "LAYER": str(layer_library(layer, folder))}
    done = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
    times = tuple(map(float, done.stdout.split()))
    middle = len(times) // 2
    return [with_layer - plain for plain, with_layer in zip(times[:middle], times[middle:], strict=True)]


if __name__ == "__main__":
    main()
