"""The differential test: original and coarsened kernel on the same inputs, every buffer between guard zones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.frontend.options import parse_options
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.tuning.measure.run import GuardedBuffer
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant
from tests.selection import Turn
from tests.transform.cases import Argument, BorderSampler, Case, Image, LocalMemory
from tests.working_devices import devices_that_work, short_name

RGBA_FLOAT = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)


@dataclass(frozen=True)
class Outcome:
    """What every buffer and image held after a launch, in the order of the arguments."""

    contents: list[NDArray[Any]]
    guards_intact: bool


@dataclass(frozen=True)
class Emitted:
    """A coarsened kernel's OpenCL C or SPIR-V, the options that it needs, its name and the added arguments."""

    code: str | bytes
    options: tuple[str, ...]
    name: str
    added: tuple[AddedArgument, ...]

    def build(self, context: cl.Context, options: tuple[str, ...]) -> cl.Kernel:
        """Return it built for a device, with those of a case's options that a device takes."""
        further = [*parse_options(options).device_options, *workaround(context)]
        return cl.Kernel(build_uncached(context, self.code, [*self.options, *further]), self.name)


@functools.lru_cache(maxsize=64)
def lowered(case: Case) -> Kernel:
    """A case's kernel in normal form."""
    return lower(case.source, case.name, case.options)


@functools.lru_cache(maxsize=64)
def coarsened(case: Case, chosen: Configuration, transforms: Transforms = DEFAULT) -> CoarsenedKernel:
    """A case's kernel, coarsened."""
    return run_pipeline(lowered(case), Variant(coarsenings=tuple(chosen), transforms=transforms))


def build_coarsened(
    context: cl.Context, kernel: CoarsenedKernel, form: str, options: tuple[str, ...]
) -> cl.Kernel:
    """A coarsened kernel on a device, through OpenCL C or through SPIR-V."""
    return emitted_as(kernel, form).build(context, options)


def emitted_as(kernel: CoarsenedKernel, form: str) -> Emitted:
    """Return a coarsened kernel as OpenCL C or as SPIR-V."""
    named = (kernel.kernel.name, kernel.kernel.added_arguments)
    if form == "spirv":
        return Emitted(kernel.spirv, (), *named)
    return Emitted(kernel.opencl_c, (kernel.opencl_c_standard,), *named)


def build_original(context: cl.Context, case: Case) -> cl.Kernel:
    """A case's kernel as it stands in its file."""
    return cl.Kernel(build_uncached(context, case.source, [*case.options, *workaround(context)]), case.name)


@functools.lru_cache(maxsize=64)
def original_outcome(context: cl.Context, case: Case) -> Outcome:
    """What a case's kernel leaves as it stands in its file: run once for all that is compared with it."""
    return launch(cl.CommandQueue(context), build_original(context, case), case)


def forms(device: DeviceDescription) -> tuple[str, ...]:
    """Both emitted forms where the device takes SPIR-V."""
    return ("opencl_c", "spirv") if device.takes_spirv else ("opencl_c",)


def form_by_turns(device: DeviceDescription, turn: Turn) -> str:
    """Return the form in which a combination is built: by turns, SPIR-V first where it is taken."""
    return forms(device)[0 if turn.is_odd else -1]


def is_left_out(
    device: DeviceDescription, turn: Turn, can_take: Callable[[DeviceDescription], bool] | None = None
) -> bool:
    """Return True if a combination is not for a device: devices take turns, as `tests/selection.py` says.

    Args:
        device: which.
        turn: of the combination.
        can_take: tells the devices that can take it; all if None.
    """
    if can_take is None:
        return not turn.is_for(short_name(device))
    return not turn.falls_to(
        short_name(device), [short_name(each) for each in devices_that_work() if can_take(each)]
    )


def turns_of(device: DeviceDescription, kernel: int, count: int) -> dict[int, Turn]:
    """Return those of a kernel's `count` combinations, by their places, that are for a device."""
    turns = {place: Turn.of_some(kernel, place, count) for place in range(count)}
    return {place: turn for place, turn in turns.items() if not is_left_out(device, turn)}


def coarsened_outcome(
    queue: cl.CommandQueue, kernel: CoarsenedKernel, form: str, case: Case, chosen: Configuration
) -> Outcome:
    """Return what a case's coarsened kernel leaves: run once for all choices that emit the same code."""
    return _emitted_outcome(queue.context, emitted_as(kernel, form), case, chosen)


@functools.lru_cache(maxsize=256)
def _emitted_outcome(context: cl.Context, emitted: Emitted, case: Case, chosen: Configuration) -> Outcome:
    kernel = emitted.build(context, case.options)
    return launch(cl.CommandQueue(context), kernel, case, chosen, emitted.added)


def workaround(context: cl.Context) -> list[str]:
    """Oclgrind 21.10 gets an optimised `switch` wrong, seen with `irregular_conditions` before any coarsening."""
    return ["-cl-opt-disable"] if "Oclgrind" in context.devices[0].platform.name else []


def divided(sizes: tuple[int, ...], chosen: Iterable[Coarsening]) -> tuple[int, ...]:
    """Sizes divided by the factors of each dimension."""
    divided_sizes = list(sizes)
    for coarsening in chosen:
        divided_sizes[coarsening.dimension] //= coarsening.factor
    return tuple(divided_sizes)


def of_items(chosen: Configuration) -> Configuration:
    """The coarsenings that divide the local size: those of work-items."""
    return tuple(coarsening for coarsening in chosen if coarsening.level is Level.ITEM)


def sizes_of(case: Case, chosen: Configuration) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The global and the local size of a coarsened launch; the last of merged groups may have room left."""
    local_size = divided(case.local_size, of_items(chosen))
    groups = [whole // part for whole, part in zip(case.global_size, case.local_size, strict=True)]
    for coarsening in chosen:
        if coarsening.level is Level.GROUP:
            groups[coarsening.dimension] = math.ceil(groups[coarsening.dimension] / coarsening.factor)
    return tuple(count * size for count, size in zip(groups, local_size, strict=True)), local_size


def launch(
    queue: cl.CommandQueue,
    kernel: cl.Kernel,
    case: Case,
    chosen: Configuration = (),
    added: tuple[AddedArgument, ...] = (),
) -> Outcome:
    """Launch a kernel with a case's arguments, its sizes divided as the configuration says.

    `added` describes the arguments behind the case's own.
    """
    items = int(np.prod(case.local_size))
    arguments = case.arguments(np.random.default_rng(7), int(np.prod(case.global_size)))
    on_device = [_on_device(queue, argument, items) for argument in arguments]
    further = [_added(argument, arguments, case) for argument in added]
    own = (value.view if isinstance(value, GuardedBuffer) else value for value in on_device)
    kernel.set_args(*own, *(_on_device(queue, argument, items) for argument in further))
    global_size, local_size = sizes_of(case, chosen)
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size, case.global_offset).wait()
    pairs = list(zip(arguments, on_device, strict=True))
    buffers = [value for _, value in pairs if isinstance(value, GuardedBuffer)]
    contents = [buffer.read() for buffer in buffers]
    contents += [
        _pixels(queue, image, value) for image, value in pairs if isinstance(image, Image) and image.writable
    ]
    return Outcome(contents, all(buffer.intact() for buffer in buffers))


def assert_same(original: Outcome, other: Outcome, tolerance: float) -> None:
    """Guard zones untouched, integers equal, floats within a relative tolerance."""
    assert other.guards_intact
    for wanted, got in zip(original.contents, other.contents, strict=True):
        if wanted.dtype == np.float32:
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
        elif wanted.dtype.names:
            for name in wanted.dtype.names:
                assert_same(Outcome([wanted[name]], True), Outcome([got[name]], True), tolerance)
        else:
            np.testing.assert_array_equal(got, wanted)


def configurations(case: Case, dimension: int) -> list[Configuration]:
    """A case's factors along a dimension with strides 1, 2 and the coarsened local size."""
    found = []
    size = case.local_size[dimension]
    for factor in (factor for factor in case.factors if size % factor == 0):
        rest = size // factor
        found += [
            configuration([Coarsening(factor, dimension, stride)]) for stride in {1, 2, rest} if rest % stride == 0
        ]
    return found


def _added(added: AddedArgument, arguments: list[Argument], case: Case) -> Argument:
    """What is passed for an argument that a transform added."""
    if added.meaning == "local-memory":
        return arguments[added.like]
    return np.uint64(case.global_size[added.dimension])


def _on_device(queue: cl.CommandQueue, argument: Argument, items: int) -> Any:  # noqa: ANN401 (any OpenCL object)
    if isinstance(argument, LocalMemory):
        return cl.LocalMemory(argument.bytes_per_item * items)
    if isinstance(argument, BorderSampler):
        return cl.Sampler(queue.context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
    if isinstance(argument, Image):
        return _image(queue, argument)
    # A vector argument is an array without dimensions.
    return GuardedBuffer(queue, argument) if isinstance(argument, np.ndarray) and argument.ndim else argument


def _image(queue: cl.CommandQueue, image: Image) -> cl.Image:
    height, width, _ = image.pixels.shape
    flags = cl.mem_flags.WRITE_ONLY if image.writable else cl.mem_flags.READ_ONLY
    created = cl.create_image(queue.context, flags, RGBA_FLOAT, shape=(width, height))
    cl.enqueue_copy(queue, created, image.pixels, origin=(0, 0), region=(width, height))
    return created


def _pixels(queue: cl.CommandQueue, image: Image, created: cl.Image) -> NDArray[np.float32]:
    height, width, _ = image.pixels.shape
    pixels = np.empty_like(image.pixels)
    cl.enqueue_copy(queue, pixels, created, origin=(0, 0), region=(width, height))
    return pixels
