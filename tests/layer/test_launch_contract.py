"""One launch contract: what `coarsen.runtime` decides of a launch, and the layer by the rows made of it."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl
import pytest
from pyopencl._cl import Kernel as RawKernel
from pyopencl._cl import _Program as RawProgram

from coarsen.devices.discovery import DeviceDescription
from coarsen.layer import shelf as layer_shelf
from coarsen.layer.log import EMPTY, REGION, RecordedArgument, RecordedProgram
from coarsen.layer.program import SUBSTITUTE, layer_library, substituting_environment
from coarsen.layer.shelf import Shelved
from coarsen.layer.unit import SUFFIX
from coarsen.policy import remembered
from coarsen.runtime.arguments import SetArguments
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.runtime.launches import KernelLaunches
from coarsen.tuning.remembered.look_up import remembered_choices
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.drop_in.scripts import compiled
from tests.layer.remembered_kinds import kind, remember

SOURCE = """\
kernel void line(global float *out, global const float *in)
{
    size_t i = get_global_id(0);
    out[i] = in[i] + in[i + 1];
}
kernel void plane(global float *out, global const float *in)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = in[get_global_id(0)];
}
kernel void groups(global float *out, global const float *in, local float *tile)
{
    tile[get_local_id(0) & 63] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0) & 63];
}
"""
PROGRAM = RecordedProgram("", SOURCE, "-cl-mad-enable")
KERNELS = ("line", "plane", "groups")
BUFFER_BYTES = 1 << 17
TILE_BYTES = 4 * 64
ARGUMENTS = (RecordedArgument(REGION, BUFFER_BYTES), RecordedArgument(REGION, BUFFER_BYTES, b"", 1))
TILE = RecordedArgument(EMPTY, TILE_BYTES)
DISTINCT = Transforms(distinct=True, wide_accesses=True)
# Recorded: kernel, global size, local size, what is remembered of the class.
RECORDED: tuple[tuple[str, tuple[int, ...], tuple[int, ...] | None, Variant], ...] = (
    ("line", (1344,), (64,), Variant((), (Coarsening(4),))),
    ("line", (832,), (64,), Variant((), (Coarsening(8),))),
    ("line", (2080,), (32,), Variant((), (Coarsening(4),), transforms=DISTINCT)),
    ("line", (984,), (24,), Variant((), (Coarsening(2, stride=4),))),
    ("line", (576,), (16,), Variant((64,), (Coarsening(2),))),
    ("line", (1004,), None, Variant((), (Coarsening(4),))),
    ("line", (4160,), None, Variant((64,), (Coarsening(2),))),
    ("line", (1040,), None, Variant((), (Coarsening(2, stride=8),))),
    ("line", (1501,), None, Variant((), (Coarsening(4),), any_size=True)),
    ("line", (777,), (7,), Variant((), (Coarsening(4),), any_size=True)),
    ("line", (8200,), (1,), Variant((), (Coarsening(4, level=Level.GROUP),))),
    ("plane", (144, 36), (16, 4), Variant((), (Coarsening(2), Coarsening(2, 1)))),
    ("plane", (272, 20), (16, 1), Variant((), (Coarsening(4, 1, level=Level.GROUP), Coarsening(2, 0, 8)))),
    ("plane", (72, 68), None, Variant((), (Coarsening(4, 1),))),
    ("groups", (1088,), (32,), Variant((), (Coarsening(2, level=Level.GROUP),))),
    ("groups", (2112,), (64,), Variant((), (Coarsening(2),))),
    ("groups", (528,), None, Variant((), (Coarsening(2, level=Level.GROUP),))),
)


class Asked(NamedTuple):
    """A launch that is drawn: `buffers` are numbers of `memory_of`."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...] | None
    buffers: tuple[int, int]


def drawn(count: int, seed: int) -> Iterator[Asked]:
    """Launches in recorded classes of sizes and beside them, with offsets, and buffers that may be the same."""
    generator = random.Random(seed)
    for _ in range(count):
        kernel, whole, local, _ = generator.choice(RECORDED)
        how = generator.randrange(8)
        if how == 0:  # any
            whole = tuple(generator.randrange(1, 4096 if len(whole) == 1 else 128) for _ in whole)
        elif how == 1:  # near the class
            whole = tuple(generator.randrange(1, 2 * n // (n & -n) + 2) * (n & -n) for n in whole)
        elif how != 3:
            whole = tuple(generator.choice(_of_class(extent)) for extent in whole)
        if how == 2:
            local = generator.choice((None, (1,) * len(whole), (8,) * len(whole), (64,) + (1,) * (len(whole) - 1)))
        offset = None if generator.randrange(4) else (4,) * len(whole)
        # A buffer is seldom another one; see `memory_of`.
        out, other = generator.choice(((0, 1), (0, 1), (1, 0), (0, 0), (2, 3), (2, 1), (0, 4)))
        yield Asked(kernel, whole, local, offset, (out, other))


def _of_class(extent: int) -> range:
    """Extents between the same powers of two that the same one divides, and no larger one."""
    least, unit = 1 << extent.bit_length() - 1, extent & -extent
    return range(least | unit, 2 * least, 2 * unit)


def memory_of(context: cl.Context) -> list[cl.Buffer]:
    """Two buffers, two parts of a third one, a buffer of the host's memory."""
    flags = cl.mem_flags
    whole = cl.Buffer(context, flags.READ_WRITE, 4 * BUFFER_BYTES)
    host = np.zeros(BUFFER_BYTES, np.uint8)
    return [
        cl.Buffer(context, flags.READ_WRITE, BUFFER_BYTES),
        cl.Buffer(context, flags.READ_WRITE, BUFFER_BYTES),
        whole.get_sub_region(0, BUFFER_BYTES),
        whole.get_sub_region(2 * BUFFER_BYTES, BUFFER_BYTES),
        cl.Buffer(context, flags.READ_WRITE | flags.USE_HOST_PTR, hostbuf=host),
    ]


def arguments_of(asked: Asked, memory: list[cl.Buffer]) -> list[Any]:
    buffers = [memory[number] for number in asked.buffers]
    return [*buffers, cl.LocalMemory(TILE_BYTES)] if asked.kernel == "groups" else buffers


class Shelf(NamedTuple):
    """The shelf, what became of the choices, and the unit as Python launches it."""

    folder: Path
    shelved: list[Shelved]
    launches: dict[str, KernelLaunches]
    device: cl.Device
    context: cl.Context


@pytest.fixture(scope="module")
def shelf(
    working_devices: tuple[DeviceDescription, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shelf]:
    described = compiled(working_devices)
    folder = tmp_path_factory.mktemp("shelf")
    kinds = [
        kind(PROGRAM, name, described, whole, local, (*ARGUMENTS, TILE) if name == "groups" else ARGUMENTS)
        for name, whole, local, _ in RECORDED
    ]
    store = str(folder / "store.sqlite")
    remember(store, described, zip(kinds, (variant for *_, variant in RECORDED), strict=True))
    choices = {choice.key: choice for name in KERNELS for choice in remembered_choices(store, name)}
    units: list[layer_shelf._Unit] = []

    def unit_of(*given: Any) -> layer_shelf._Unit:  # noqa: ANN401 (as it is)
        units.append(made(*given))
        return units[-1]

    made = layer_shelf._Unit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer_shelf, "_Unit", unit_of)
        shelved = layer_shelf.shelve(folder / "units", PROGRAM, described, kinds, store)
        # To ask the driver and the store at each launch takes longer than all else.
        patch.setattr(remembered, "describe_device", lambda _: described)
        patch.setattr(remembered, "anything_remembered", lambda *_: True)
        patch.setattr(remembered, "remembered_choice", lambda _, key: choices.get(key))
        (unit,) = units
        launches = {name: KernelLaunches(name, unit._plan) for name in KERNELS}
        yield Shelf(folder / "units", shelved, launches, unit._device, unit._plan._context)


def test_every_choice_is_on_the_shelf(shelf: Shelf) -> None:
    assert [each for each in shelf.shelved if each.reason] == []
    assert len(shelf.shelved) == len(RECORDED)


class Divided:
    """The layer's function, on the rows of a unit's file."""

    def __init__(self, unit: bytes) -> None:
        self._unit = ctypes.create_string_buffer(unit, len(unit))
        with tempfile.TemporaryDirectory() as name:
            self._divided = ctypes.CDLL(str(layer_library(SUBSTITUTE, Path(name)))).coarsen_divided
        self._count = int.from_bytes(unit[24 + 16 : 24 + 20], "little")

    def __call__(self, asked: Asked) -> tuple[tuple[int, ...], tuple[int, ...] | None, bool] | None:
        """The sizes by the first row that holds, and whether it is for one global size alone."""
        count = len(asked.global_size)
        sizes = ctypes.c_size_t * 3
        local = None if asked.local_size is None else sizes(*asked.local_size)
        new_global, new_local = sizes(), sizes()
        for number in range(self._count):
            at = 48 + 256 * number
            name, *_, has_new_local, is_exact = struct.unpack_from("<2I2Q5I", self._unit, at)
            if ctypes.string_at(ctypes.addressof(self._unit) + name).decode() != asked.kernel:
                continue
            row = ctypes.byref(self._unit, at)
            whole = sizes(*asked.global_size)
            if self._divided(row, count, None, whole, local, new_global, new_local):
                return (
                    tuple(new_global[:count]),
                    tuple(new_local[:count]) if has_new_local else None,
                    bool(is_exact),
                )
        return None


def _is_by_extents(asked: Asked, divided: DividedLaunch) -> bool:
    """Return True where sizes are divided by their own extents: the layer knows those that were recorded."""
    return divided.guarded or (asked.local_size is None and divided.local_size is not None)


def test_sizes(shelf: Shelf) -> None:
    (path,) = shelf.folder.glob(f"*{SUFFIX}")
    divided_by_layer = Divided(path.read_bytes())
    counts: Counter[str] = Counter()
    for asked in dict.fromkeys(each._replace(offset=None, buffers=(0, 1)) for each in drawn(4000, 1)):
        launches = shelf.launches[asked.kernel]
        local_bytes = TILE_BYTES if asked.kernel == "groups" else 0
        launch = OriginalLaunch(shelf.device, asked.global_size, asked.local_size, local_bytes)
        divided = launches.choose(launch)
        is_changed = divided.is_rewritten or divided.regrouped
        found = divided_by_layer(asked)
        if found is None:
            assert not is_changed or _is_by_extents(asked, divided), (asked, divided)
            counts["alone" if not is_changed else "not recorded"] += 1
        else:
            assert is_changed and found[:2] == (divided.global_size, divided.local_size), (asked, divided, found)
            counts["exact" if found[2] else "divided"] += 1
    assert min(counts[name] for name in ("alone", "not recorded", "divided")) > 100, counts
    assert counts["exact"] >= 3, counts


def test_arguments(shelf: Shelf, tmp_path: Path) -> None:
    environment = substituting_environment(None, shelf.folder)
    environment |= {"COARSEN_COUNTS": str(tmp_path / "counts"), "DEVICE": shelf.device.name}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    words = [sys.executable, "-m", "tests.layer.test_launch_contract"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    memory = memory_of(shelf.context)
    counts: Counter[str] = Counter()
    for asked, substituted in zip(drawn(600, 2), done.stdout.split(), strict=True):
        launches = shelf.launches[asked.kernel]
        passed = SetArguments(launches.argument_count)
        for index, value in enumerate(arguments_of(asked, memory)):
            passed.note(index, value)
        launch = OriginalLaunch(shelf.device, asked.global_size, asked.local_size, passed.local_bytes)
        chosen = launches.choose(launch)
        divided, variant = launches.allowed(launch, chosen, passed)
        is_changed = variant is not None or divided.regrouped
        if is_changed and not _is_by_extents(asked, divided):
            assert substituted == "1", asked
        assert is_changed or substituted == "0", asked
        counts["substituted" if substituted == "1" else "alone"] += 1
        counts["held back by buffers"] += chosen.is_rewritten and not is_changed
    assert min(counts["substituted"], counts["alone"]) > 100 and counts["held back by buffers"] > 10, counts


def main() -> None:
    """Make the launches under the layer, and print which of them it has substituted."""
    device = next(
        each
        for platform in cl.get_platforms()
        for each in platform.get_devices()
        if each.name == os.environ["DEVICE"]
    )
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    # Not as PyOpenCL does it, which adds options and its cache.
    raw = RawProgram(context, SOURCE)
    raw.build(PROGRAM.options.encode(), [device])
    kernels = {name: RawKernel(raw, name) for name in KERNELS}
    memory = memory_of(context)
    with Path(f"{os.environ['COARSEN_COUNTS']}-{os.getpid()}").open("rb") as file:
        counts = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint64).reshape(-1, 3)
    for asked in drawn(600, 2):
        kernel = kernels[asked.kernel]
        for index, value in enumerate(arguments_of(asked, memory)):
            kernel.set_arg(index, value)
        taken = (counts[:, 1] >> 31 & 1) == 0
        before = int(counts[taken, 2][1:].sum())
        with suppress(cl.Error):
            cl.enqueue_nd_range_kernel(queue, kernel, asked.global_size, asked.local_size, asked.offset)
        print(int(counts[taken, 2][1:].sum()) - before)
    queue.finish()


if __name__ == "__main__":
    main()
