"""Tries a coarsening on a device: does the coarsened kernel leave behind what the original does?"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached, check_ways_by_barriers, most_ways_by_barriers
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.tuning.measure.run import GuardedBuffer
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import NO_PAD
from coarsen.variant.transforms import DeviceKind, Tile, Transforms, Use
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import array_from_json
from tests.fuzz.launches import Launch, sizes_of
from tests.fuzz.render import COUNTERS, DATA, NAME, OPERATIONS, SLOTS
from tests.fuzz.trial import UNOPTIMISED, FieldBuffers
from tests.oclgrind.watch import Findings
from tests.transform.harness import workaround

ORIGINAL, COARSENED = "original", "coarsened"
Contents = list[NDArray[Any]]
_NUMPY_TYPES = {
    "uchar": np.uint8,
    "ushort": np.uint16,
    "uint": np.uint32,
    "ulong": np.uint64,
    "float": np.float32,
    "uint2": np.uint32,
}


@dataclass(frozen=True)
class Verdict:
    """What came of it.

    `kind` is "same" or "refused" (with the code in `detail`), or a failure of the coarsened kernel, "wrong
    result", "outside" (of its buffers), "not built", "error" (in this package), "crash" or "hang"; or "original",
    whatever the device did to the uncoarsened kernel; or "found", what Oclgrind finds in the coarsened one alone.
    `detail` says more, in a line.
    """

    kind: str
    detail: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether it is this package's."""
        return self.kind not in ("same", "refused", "original")


@dataclass(frozen=True)
class Attempt:
    """A trial as `trial.to_json` gives it: a kernel's source, its launch, how it is coarsened."""

    source: str
    launch: Launch
    configuration: Configuration
    any_size: bool
    free_local_size: int
    transforms: Transforms
    inputs: int
    optimise: bool
    arrays: tuple[ArrayPlan, ...] = ()
    field: FieldBuffers | None = None
    tile_pad: int | None = None

    @property
    def variant(self) -> Variant:
        """What the kernel is to become."""
        local_size: tuple[int, ...] = ()
        if self.transforms.tile != Tile():
            local_size = self.sizes[1] if self.any_size else self.launch.local_size
        return Variant(local_size, self.configuration, (), self.transforms, self.any_size, self.arrays)

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The coarsened kernel's global and local size."""
        return sizes_of(self.launch, self.configuration, self.any_size, self.free_local_size)

    @staticmethod
    def of(fields: dict[str, Any]) -> Attempt:
        """From JSON."""
        launch = fields["launch"]
        offset = launch["offset"]
        return Attempt(
            fields["source"],
            Launch(
                tuple(launch["global_size"]),
                tuple(launch["local_size"]),
                None if offset is None else tuple(offset),
            ),
            tuple(Coarsening(**{**entry, "level": Level(entry["level"])}) for entry in fields["configuration"]),
            fields["any_size"],
            fields["free_local_size"],
            _transforms(fields["transforms"]),
            fields["inputs"],
            fields["optimise"],
            tuple(array_from_json(name, plan) for name, plan in fields["arrays"].items()),
            None if fields["field"] is None else FieldBuffers(**fields["field"]),
            fields["tile_pad"],
        )


def _transforms(fields: dict[str, Any]) -> Transforms:
    return Transforms(
        Use(fields["fast_path"]),
        Use(fields["lock_step"]),
        fields["wide_accesses"],
        fields["clean_up"],
        DeviceKind(fields["device_kind"]),
        fields["distinct"],
        Tile(fields["tile"]),
        fields["long_indices"],
    )


Report = Callable[[str], None]
# What a simulator has found up to now; nothing on other devices.
Found = Callable[[], Findings]


def attempt(
    wanted: Attempt,
    queue: cl.CommandQueue,
    form: str,
    report: Report = lambda stage: None,
    found: Found = Findings,
) -> Verdict:
    """Run original and coarsened kernel on the queue's device, the latter through "opencl_c" or "spirv".

    `report` is told what comes next, so that one who watches from outside knows what crashed.
    """
    report(COARSENED)
    try:
        kernel = coarsened(wanted.source, wanted.variant, wanted.tile_pad)
        if wanted.variant.adds_barriers:
            most = most_ways_by_barriers([queue.device.platform.version])
            check_ways_by_barriers(kernel.ways_by_barriers, most)
        code = _code(kernel, form)
    except RefusalError as refusal:
        return Verdict("refused", refusal.code)
    except Exception as error:  # whatever this package raises is a finding
        return Verdict("error", _line(error))
    report(ORIGINAL)
    options = list(dict.fromkeys([*([] if wanted.optimise else [UNOPTIMISED]), *workaround(queue.context)]))
    before = found()
    try:
        original = _build(queue.context, wanted.source, options)
        expected = _run(queue, original, wanted, wanted.launch.global_size, wanted.launch.local_size, ())
    except cl.Error as error:
        return Verdict("original", _line(error))
    report(COARSENED)
    of_original = found() - before
    standard = [kernel.opencl_c_standard if form == "opencl_c" else kernel.spirv_standard]
    built: cl.Kernel | None = None
    try:
        built = _build(queue.context, code, [*standard, *options])
        got = _run(queue, built, wanted, *wanted.sizes, _added(kernel.kernel, wanted.launch))
    except cl.Error as error:
        if built is not None and _is_too_large(built, queue.device):
            return Verdict("refused", "more local memory than the device has")
        return Verdict("not built", _line(error))
    seen = found() - before - of_original
    new = sorted(message for message in seen if message not in of_original)
    if new:
        return Verdict("found", new[0])
    return _compared(expected, got)


def _is_too_large(kernel: cl.Kernel, device: cl.Device) -> bool:
    """Return True if copies of arrays for each merged work-group are more than a device has room for."""
    needed = kernel.get_work_group_info(cl.kernel_work_group_info.LOCAL_MEM_SIZE, device)
    return int(needed) > int(device.local_mem_size)


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _code(kernel: CoarsenedKernel, form: str) -> str | bytes:
    return kernel.opencl_c if form == "opencl_c" else kernel.spirv


@functools.lru_cache(maxsize=2)
def _lowered(source: str) -> Kernel:
    return lower(source, NAME)


@functools.lru_cache(maxsize=2)
def coarsened(source: str, variant: Variant, tile_pad: int | None = None) -> CoarsenedKernel:
    """A kernel, coarsened; kept for the next device."""
    kernel = _lowered(source)
    variant = replace(variant, arrays=tuple(plan for plan in variant.arrays if _is_there(kernel, plan)))
    if tile_pad is None:
        return run_pipeline(kernel, variant)
    with patch("coarsen.pipeline.tile_pad", lambda box, *_, **__: tile_pad if len(box.axes) > 1 else 0):
        return run_pipeline(kernel, variant)


def _is_there(kernel: Kernel, plan: ArrayPlan) -> bool:
    """False for a local array that only code after a `return` uses."""
    return plan.pad == NO_PAD or f"{NAME}.{plan.argument}" in kernel.graph.variables


def _build(context: cl.Context, source: str | bytes, options: list[str]) -> cl.Kernel:
    return cl.Kernel(build_uncached(context, source, options), NAME)


def _inputs(seed: int) -> tuple[Contents, list[np.uint32]]:
    """Contents of data, result and total, and the two numbers."""
    rng = np.random.default_rng(seed)
    # Half of the data are small, so that counts and choices made of them differ.
    data = np.where(rng.random(DATA) < 0.5, rng.integers(0, 9, DATA), rng.integers(0, 2**32, DATA)).astype(
        np.uint32
    )
    result = rng.integers(0, 2**32, 96 * SLOTS, dtype=np.uint32)
    total = rng.integers(0, 2**32, len(OPERATIONS) * COUNTERS, dtype=np.uint32)
    return [data, result, total], [np.uint32(number) for number in rng.integers(0, 99, 2)]


def _field_contents(field: FieldBuffers, seed: int) -> Contents:
    """Contents of a field, and of the windows' weights."""
    rng = np.random.default_rng((seed, field.elements))
    shape = (field.elements, 2) if field.element == "uint2" else field.elements
    # Whole numbers that a float holds.
    most = {"uchar": 2**8, "ushort": 2**16, "float": 2**20}.get(field.element, 2**32)
    return [
        rng.integers(0, most, shape).astype(_NUMPY_TYPES[field.element]),
        rng.integers(0, 2**32, field.weights, dtype=np.uint32),
    ]


def _added(kernel: Kernel, launch: Launch) -> tuple[Any, ...]:
    """The arguments that transforms have added."""
    return tuple(
        np.uint64(launch.global_size[argument.dimension])
        if argument.meaning == "global-size"
        else cl.LocalMemory(_tile_bytes(launch))
        for argument in kernel.added_arguments
    )


def _tile_bytes(launch: Launch) -> int:
    return 4 * math.prod(launch.local_size)


@dataclass(frozen=True)
class _Left:
    """What a launch left in the buffers, and whether it kept to them."""

    contents: Contents
    kept_inside: bool


def _run(
    queue: cl.CommandQueue,
    kernel: cl.Kernel,
    wanted: Attempt,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...],
    added: tuple[Any, ...],
) -> _Left:
    contents, numbers = _inputs(wanted.inputs)
    buffers = [GuardedBuffer(queue, array) for array in contents]
    # PyOpenCL's annotation of a kernel's arguments leaves out local memory.
    tile: Any = cl.LocalMemory(_tile_bytes(wanted.launch))
    fields, field_arguments = _field(queue, wanted)
    own = (*(buffer.view for buffer in buffers), tile, *numbers, *field_arguments)
    kernel.set_args(*own, *added)
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size, wanted.launch.offset).wait()
    left = [buffer.read() for buffer in buffers] + [_contents(queue, buffer) for buffer in fields]
    return _Left(left, all(buffer.intact() for buffer in buffers))


def _field(queue: cl.CommandQueue, wanted: Attempt) -> tuple[list[cl.Buffer], list[Any]]:
    """The buffers of a field, without guard zones so that Oclgrind sees what is read beyond, and its arguments."""
    if wanted.field is None:
        return [], []
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    contents = _field_contents(wanted.field, wanted.inputs)
    buffers = [cl.Buffer(queue.context, flags, hostbuf=each) for each in contents]
    return buffers, [*buffers, np.uint32(wanted.field.width)]


def _contents(queue: cl.CommandQueue, buffer: cl.Buffer) -> NDArray[np.uint8]:
    contents = np.empty(buffer.size, np.uint8)
    cl.enqueue_copy(queue, contents, buffer)
    return contents


def _compared(expected: _Left, got: _Left) -> Verdict:
    if not got.kept_inside:
        return Verdict("outside", "the coarsened kernel wrote outside its buffers")
    names = ("data", "result", "total", "field", "weights")[: len(expected.contents)]
    for name, wanted, found in zip(names, expected.contents, got.contents, strict=True):
        wrong = np.flatnonzero(wanted != found)
        if wrong.size:
            first = wrong[0]
            return Verdict(
                "wrong result", f"{name}: {wrong.size} wrong, [{first}] is {found[first]}, not {wanted[first]}"
            )
    return Verdict("same")
