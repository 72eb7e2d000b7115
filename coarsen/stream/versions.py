"""The versions of a pipeline, for tuned files and for the tuner; macros tell them apart.

step.describe("step.toml")  ─▶ step.cl, step.toml        FUSE_…, LAYOUT_…, INTERIOR_… are its parameters
coarsen tune step.toml      ─▶ step.tuned.json           pipeline(…, tuned="step.tuned.json")
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from numbers import Integral
from typing import Any, TypeAlias

import pyopencl
from pyopencl.tools import dtype_to_ctype

from coarsen.dispatch.expressions import parse_expression
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT
from coarsen.opencl_bench.workloads.described.table import toml
from coarsen.stream.actor import HIDDEN, is_array
from coarsen.stream.reduction_choice import file_for, kind_of
from coarsen.stream.stages import Pipeline, StreamLaunch
from coarsen.variant.variant import Variant

# By the number of dimensions, before anything is tuned.
LOCAL_SIZES = {1: ("256",), 2: ("64", "4")}
_MORE_LOCAL_SIZES = {1: [[256], [16], [32], [64], [128]], 2: [[64, 4], [16, 4], [32, 4], [128, 1], [8, 8]]}
_RANGES = {"n": (256, 4194304), "width": (16, 2048), "height": (16, 2048)}
_RATES = 2, 64
# What a description is given of a name: a size's least and largest, a number's value, an array's extent.
Given: TypeAlias = Mapping[str, tuple[int, int] | float | str]


def versions_of(pipeline: Pipeline) -> Iterator[TunedVersion]:
    """Yield all versions, the default one first."""
    names = [each.name for each in pipeline.stages]
    for values in product(*pipeline.macros.values()):
        macros = dict(zip(pipeline.macros, values, strict=True))
        # A layout is that of a channel in memory, which stages that are fused don't have.
        if not any(macros.get(f"LAYOUT_{name}") and macros.get(f"FUSE_{name}") for name in names):
            yield _version(pipeline, macros)


def _version(pipeline: Pipeline, macros: Mapping[str, int]) -> TunedVersion:
    chosen = [each for each in pipeline.launches if each.when.items() <= macros.items()]
    dimensions = len(pipeline.global_size(chosen[-1].stage))
    scratch = _scratch_of(pipeline, chosen)
    return TunedVersion(
        Variant(
            tuple(map(int, LOCAL_SIZES[dimensions])),
            definitions=tuple((name, str(value)) for name, value in macros.items()),
        ),
        tuple(_tuned_launch(pipeline, each, dimensions) for each in chosen),
        tuple((name, f"{pipeline.capacity(channel, macros)} * {size}") for name, channel, size in scratch),
    )


def _scratch_of(pipeline: Pipeline, launches: Sequence[StreamLaunch]) -> Iterator[tuple[str, int, int]]:
    """The channels that launches have in memory: names, numbers, and the bytes of an element."""
    for channel in sorted({each.stage + 1 for each in launches} - {len(pipeline.stages)}):
        yield _channel(pipeline, channel), channel, pipeline.dtypes[channel].itemsize


def _tuned_launch(pipeline: Pipeline, launch: StreamLaunch, dimensions: int) -> TunedLaunch:
    """A launch as a tuned file has it; one of other dimensions than the version's has its own local size."""
    size = pipeline.global_size(launch.stage)
    own = len(size)
    is_other = own != dimensions
    local = LOCAL_SIZES[own] if is_other else tuple(f"local_size_{each}" for each in range(own))
    ends = (_channel(pipeline, each) for each in (launch.source, launch.stage + 1))
    return TunedLaunch(
        pipeline.kernel(launch.stage),
        tuple(_rounded(size, local)),
        local if is_other else (),
        (),
        (*ends, *pipeline.sizes, *pipeline.arguments),
    )


def _rounded(counts: Sequence[str], local_size: Sequence[str]) -> Iterator[str]:
    """A global size of whole work-groups, of one at least."""
    for count, own in zip(counts, local_size, strict=True):
        yield f"(max({count}, 1) + {own} - 1) // {own} * {own}"


def _channel(pipeline: Pipeline, number: int) -> str:
    return {0: "input", len(pipeline.stages): "output"}.get(number, f"{HIDDEN}{number}")


def file_of(
    pipeline: Pipeline, source: str, versions: Sequence[TunedVersion], device: pyopencl.Device, chosen: int = 0
) -> TunedFile:
    """Return a tuned file that always takes one version.

    Args:
        pipeline: whose kernels they are.
        source: their text.
        versions: those in the file, the default one first.
        device: that it is for.
        chosen: which of them is taken.
    """
    arguments, sizes = tuple(_arguments(pipeline)), tuple(pipeline.sizes)
    return file_for(device, source, pipeline.name, arguments, sizes, versions, Leaf(chosen))


def _arguments(pipeline: Pipeline) -> Iterator[KernelArgument]:
    yield from (KernelArgument(name, ArgumentKind.BUFFER) for name in ("input", "output"))
    yield from (KernelArgument(name, ArgumentKind.WHOLE) for name in pipeline.sizes)
    yield from (KernelArgument(name, kind_of(each)) for name, each in pipeline.arguments.items())


def description_of(pipeline: Pipeline, file: str, given: Given) -> Iterator[str]:
    """Yield the lines of a description.

    Args:
        pipeline: whose kernels are described.
        file: the name of their file.
        given: of the names of sizes and arguments, what `Stream.describe` takes.

    Raises:
        InvalidInputError: a name that the pipeline doesn't have, or something that is no size.
    """
    sized = pipeline.sized
    told = (str(rate) for each in pipeline.actors for rate in (each.pop, each.push, each.peek))
    rates = {name for rate in told for name in parse_expression(rate).names}
    named = [*(pipeline.sizes[1:] or ("n",)), *sorted(rates - {*pipeline.sizes})]
    if unknown := sorted(given.keys() - {*named, *pipeline.arguments}):
        known = ", ".join(dict.fromkeys((*named, *pipeline.arguments)))
        raise InvalidInputError(f"the pipeline has no '{unknown[0]}'; there are {known}")
    ranges = {name: _range(name, given.get(name, _RANGES.get(name, _RATES))) for name in named}
    different = math.prod(high - low + 1 for low, high in ranges.values())
    last = len(pipeline.stages) - 1
    size = pipeline.global_size(last)
    dimensions = len(size)
    local = [f"local_size_{each}" for each in range(dimensions)]

    yield "# A pipeline of coarsen.stream: what its kernels are tuned for is what `describe` was given."
    yield f'file = {toml(file)}\nkernel = {toml(pipeline.name)}\noutputs = ["output"]'
    # An element of a rate is one more term.
    yield f"roundings = {toml(' + '.join(['100', *named[len(pipeline.sizes[1:]) or 1 :]]))}"
    yield f"\n[ndrange]\nglobal_size = {toml([*map(sized, _rounded(size, local))])}"
    first, *more = _MORE_LOCAL_SIZES[dimensions]
    yield f"local_size = {toml(first)}\nlocal_sizes = {toml([first, *more])}"
    told = (f"{name} = {toml(each)}" for name, each in ranges.items())
    yield f"\n[inputs]\nranges = {{ {', '.join(told)} }}\ncount = {min(DEFAULT_COUNT, different)}"
    yield "\n[sizes.test]\n" + "\n".join(f"{name} = {1000 if name == 'n' else 30}" for name in named)
    yield "\n[features]\n" + "\n".join(f"{name} = {toml(name)}" for name in named)
    # The kernel's own arguments are those of its first launch here, which may never be made.
    own = [StreamLaunch(last, 0, {"0": 1}), *(each for each in pipeline.launches if each.stage == last)]
    for each in (*(each for each in pipeline.launches if each.stage < last), *own):
        launch = _tuned_launch(pipeline, each, dimensions)
        yield f"\n[[launches]]\nkernel = {toml(launch.kernel)}\narguments = {toml(launch.arguments)}"
        yield f"when = {toml([f'{name} == {value}' for name, value in each.when.items()])}"
        yield f"global_size = {toml([*map(sized, launch.global_size)])}"
        if launch.local_size:
            yield f"local_size = {toml(LOCAL_SIZES[len(launch.local_size)])}"
        elif launch.kernel != pipeline.name:
            yield "coarsen = true"
    yield from _described_arguments(pipeline, rates, named, given)


def _described_arguments(
    pipeline: Pipeline, rates: Collection[str], named: Collection[str], given: Given
) -> Iterator[str]:
    """Yield the lines of a description's arguments; `rates` are those in rates, `named` the names of sizes."""
    sized = pipeline.sized
    yield from _buffer("input", pipeline.actors[0].type, sized("n"), "uniform(-1, 1)")
    yield from _buffer("output", pipeline.stages[-1].result, sized(pipeline.counts[-1]), "")
    for name in pipeline.sizes:
        yield from _argument(name, 'scalar = "int"', f"value = {toml(sized(name))}")
    for name, argument in pipeline.arguments.items():
        type_ = dtype_to_ctype(argument.dtype)
        if is_array(argument):
            user = next(each for each in pipeline.actors if name in {one.name for one in each.given})
            count = user.peek if isinstance(user.peek, str) and not user.border else sized("n")
            extent = parse_expression(str(given.get(name, count)))
            if unknown := sorted(extent.names - {*named}):
                raise InvalidInputError(f"{name} has as many elements as {extent.text}: no size is {unknown[0]}")
            yield from _buffer(name, type_, extent.text, "uniform(-1, 1)")
        else:
            value = toml(name if name in rates else given.get(name, 1))
            yield from _argument(name, f"scalar = {toml(type_)}", f"value = {value}")
    for name, channel, _ in _scratch_of(pipeline, pipeline.launches):
        # The largest of all versions.
        most = pipeline.capacity(channel, dict.fromkeys(pipeline.macros, 1))
        type_, elements = pipeline.stages[channel - 1].result, sized(most)
        yield from _argument(name, f"buffer = {toml(type_)}", f"elements = {toml(elements)}")
        yield "scratch = true"


def _range(name: str, given: Any) -> tuple[int, int]:  # noqa: ANN401 (whatever a caller gives)
    """Return the least and the largest value of a size. Raises InvalidInputError where it isn't told."""
    match given if isinstance(given, tuple | list) else (given, given):
        case [Integral() as low, Integral() as high] if 1 <= int(low) <= int(high):
            return int(low), int(high)
    raise InvalidInputError(f"{name} is a whole number above 0, or the least and the largest, not {given!a:.60}")


def _buffer(name: str, type_: str, elements: str, values: str) -> Iterator[str]:
    yield from _argument(name, f"buffer = {toml(type_)}", f"elements = {toml(elements)}")
    if values:
        yield f"values = {toml(values if type_ in ('float', 'double') else 'integers(0, 100)')}"


def _argument(name: str, *lines: str) -> Iterator[str]:
    yield f"\n[[arguments]]\nname = {toml(name)}"
    yield from lines
