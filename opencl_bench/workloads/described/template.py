"""Writes a kernel's TOML file, guessed from its parameters and instructions, for a person to complete."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import Annotations
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.queries import Query, queried_dimension, query_of
from coarsen.ir.types import AddressSpace
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT
from coarsen.opencl_bench.workloads.described.table import toml
from coarsen.tuning.workload.argument_use import (
    IndexUse,
    PointerUse,
    declared_type,
    image_kind,
    image_use,
    index_uses,
    is_readable,
    is_writable,
    kind_of,
    parameter_type,
    pointer_uses,
)
from coarsen.tuning.workload.benchmark import LocalSize
from coarsen.tuning.workload.driver_tools import round_up
from coarsen.tuning.workload.element_types import KINDS, ElementType, element_type
from coarsen.tuning.workload.roundings import UNKNOWN_TRIPS, rounding_steps, rounds_to_integers

_ROUNDINGS = """\
# Rounded operations one after the other, on the way to an element: for a sum, how many terms it has. A difference
# that they explain is right. Instead of them, tolerances can be given:
# |got - wanted| <= absolute_tolerance + relative_tolerance * |wanted|
roundings = {steps}{check}"""

_USUAL = re.compile("0|-?[1-9][0-9]{0,17}")
_ADDRESS_SPACES = {0: "", 1: "global ", 2: "constant ", 3: "local "}

_HEAD = """\
# The kernel {kernel} as a benchmark. Written from its parameters; what they can't tell is marked CHECK.
#
# An extent is a whole number or an expression of the sizes below, of local_size_0, local_size_1, local_size_2 and
# of the macros below that are whole numbers: + - * // %, min, max and parentheses.

file = {file}
kernel = {name}
build_options = {options}

# The buffers and images whose contents count after a run. They are compared with those of the uncoarsened kernel
# at the same local size, with the same macros; in tuning over inputs with those of the default version.
outputs = {outputs}  # CHECK
{roundings}
# By how much a whole number may differ:
integer_tolerance = {integer_tolerance}

[ndrange]
# Work-items along each dimension; the local size must divide them. Where the kernel has a guard, round up:
# "(n + local_size_0 - 1) // local_size_0 * local_size_0"
global_size = {global_size}  # CHECK
local_size = {local_size}
# What a sweep tries:
local_sizes = {local_sizes}{check_local_sizes}
# What the kernel asks of local sizes and macros; where it does not hold, nothing is measured:
# conditions = ["local_size_0 == TILE", "local_size_1 <= 16"]

{tunables}
# The problem's sizes, one table for each --preset. A sweep runs the kernel thousands of times: choose them so that
# a run takes milliseconds with `test`, and tens of milliseconds with `cpu` (the default) on a few cores and with
# `gpu` on a large GPU.

{sizes}
# Buffers are filled from a seed: uniform(low, high), integers(low, high) below high, sorted(low, high) the same
# in ascending order, normal(mean, deviation), arange, permutation, constant(value), zeros, or unwritten for what
# the kernel only writes. Indices must not lead out of a buffer: then the kernel crashes, or computes what it finds
# there.
"""


def template(
    kernel: Kernel, file: str, options: Sequence[str], tunables: Mapping[str, str], parameters: str = ""
) -> str:
    """The text of the TOML file.

    Args:
        kernel: the lowered kernel.
        file: the path of its source, as the TOML file is to name it.
        options: the build options, without those macros.
        tunables: the values of macros of which a sweep may try others.
        parameters: a comment about the parameters that the source declares.

    Raises:
        InvalidInputError: a parameter that no benchmark can have, or no buffer to compare.
    """
    kinds = {parameter.name: _kind(kernel, parameter) for parameter in kernel.arguments}
    buffers = [parameter for parameter in kernel.arguments if kinds[parameter.name] in ("buffer", "image")]
    uses, indices = pointer_uses(kernel), index_uses(kernel)
    outputs = guess_outputs(kernel, buffers, uses)
    if not outputs:
        raise InvalidInputError(f"the kernel '{kernel.name}' has no buffer and no image that it may write")
    types = [_content_type(kernel, parameter) for parameter in buffers if parameter.name in outputs]
    steps = rounding_steps(kernel, [element.scalar_name for element in types if element])
    may_tip = any(element and element.is_integer for element in types) and rounds_to_integers(kernel)
    launch = guess_launch(kernel)
    head = _HEAD.format(
        kernel=kernel.name,
        file=toml(file),
        name=toml(kernel.name),
        options=toml(options),
        outputs=toml(outputs),
        roundings=_roundings(steps),
        integer_tolerance="1  # CHECK: rounding may tip a whole number" if may_tip else 0,
        global_size=toml(["n"] * launch.dimensions),
        local_size=list(launch.local_sizes[0]),
        local_sizes=[list(local_size) for local_size in launch.local_sizes],
        check_local_sizes="  # CHECK: is the kernel's local memory large enough?" if _may_outgrow(kernel) else "",
        tunables=parameters + _tunables(tunables),
        sizes="\n".join(f"[sizes.{name}]\nn = {n}  # CHECK\n" for name, n in launch.extents.items()),
    )
    entries = (
        _argument(kernel, entry, kinds[entry.name], launch, uses[entry.name], indices[entry.name])
        for entry in kernel.arguments
    )
    return head + "".join(entries)


def _roundings(steps: str | None) -> str:
    if steps is None:
        return "# No output is of a floating-point type: every bit has to be the same."
    check = "  # CHECK: n where a loop's trip count isn't known" if UNKNOWN_TRIPS in steps else ""
    return _ROUNDINGS.format(steps=toml(steps), check=check)


def _may_outgrow(kernel: Kernel) -> bool:
    """Return True if a larger work-group may be too large for local memory whose size the kernel fixes."""
    is_local = (variable.address_space == AddressSpace.LOCAL for variable in kernel.globals.values())
    return kernel.required_work_group_size is None and any(is_local)


def _tunables(values: Mapping[str, str]) -> str:
    # A number whose text isn't its usual one stays a text.
    macros = {name: value if _USUAL.fullmatch(value) else toml(value) for name, value in values.items()}
    lines = [f"{name} = [{value}]  # CHECK" for name, value in macros.items()]
    example = ["[tunables]", *lines] if lines else ["# [tunables]", "# TILE = [16, 32]"]
    return "\n".join(["# The values of -D macros that a sweep tries, the default first.", *example, ""])


def _kind(kernel: Kernel, parameter: Argument) -> str:
    kind = kind_of(parameter)
    if kind is None:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': its parameter '{parameter.name}' is of type {parameter.type_name}, "
            "which a benchmark can't have; time it in a program of your own, with coarsen.Program"
        )
    return kind


def _argument(
    kernel: Kernel, parameter: Argument, kind: str, launch: LaunchGuess, use: PointerUse, indices: IndexUse
) -> str:
    const = "const " if "const" in parameter.qualifiers and parameter.address_space == 1 else ""
    space = _ADDRESS_SPACES[parameter.address_space] if kind != "image" else f"{parameter.access} "
    declaration = f"{space}{const}{parameter.type_name} {parameter.name}"
    declared = declared_type(parameter)
    lines = [f"\n[[arguments]]  # {declaration}", f"name = {toml(parameter.name)}"]
    if kind == "image":
        lines += _image_lines(kernel, parameter, launch)
    elif kind == "sampler":
        lines += [
            'sampler = "clamp_to_edge"  # CHECK',
            'filter = "nearest"  # CHECK',
            "normalized = false  # CHECK",
        ]
    elif declared is None:
        lines += _structure_lines(parameter_type(kernel, parameter), kind, launch)
    elif kind == "buffer":
        lines += _buffer_lines(declared, launch, use, indices)
    elif kind == "local":
        lines += [f"local = {toml(declared.name)}", f"elements = {toml(_items(launch))}  # CHECK"]
    else:
        lines += _scalar_lines(declared)
    return "\n".join(lines) + "\n"


def _image_lines(kernel: Kernel, parameter: Argument, launch: LaunchGuess) -> Iterator[str]:
    kind = image_kind(parameter) or ""
    channel_type = image_use(kernel, parameter).usual_type
    extents = ["n" if dimension < launch.dimensions else "1" for dimension in range(KINDS[kind])]
    yield f"image = {toml(kind)}"
    yield f"extent = {toml(extents)}  # CHECK: width, height, depth or the number of layers"
    yield 'channels = "RGBA"  # CHECK'
    yield f"format = {toml(channel_type)}  # CHECK: or half_float, unorm_int8, …"
    values = "uniform(0, 1)" if channel_type == "float" else "integers(0, 100)"
    yield f"values = {toml(values if is_readable(parameter) else 'unwritten')}"


def _content_type(kernel: Kernel, parameter: Argument) -> ElementType | None:
    """The type of a buffer's elements, or of what the kernel writes to an image."""
    if image_kind(parameter) is None:
        return declared_type(parameter)
    return element_type({"float": "float4"}.get(image_use(kernel, parameter).usual_type, "int4"))


def _buffer_lines(kind: ElementType, launch: LaunchGuess, use: PointerUse, indices: IndexUse) -> Iterator[str]:
    yield f"buffer = {toml(kind.name)}"
    # One more begin than there are ranges: the last one's end.
    extent = " * ".join(["n"] * max(launch.dimensions, indices.sizes))
    yield f"elements = {toml(extent + (' + 1' if indices.holds_ranges else ''))}  # CHECK"
    check = f"  # CHECK: indices, of {', '.join(indices.addressed)}" if indices.addressed and use.is_read else ""
    yield f"values = {toml(guess_values(kind, use, indices))}{check}"


def _scalar_lines(kind: ElementType) -> Iterator[str]:
    yield f"scalar = {toml(kind.name)}"
    whole: str | float = "n" if kind.byte_count // kind.stored_components >= _BYTES_OF_A_SIZE else 1
    component = whole if kind.is_integer else 0.5
    yield f"value = {toml(component if kind.components == 1 else [component] * kind.components)}  # CHECK"


def _structure_lines(kind: ElementType, passed_as: str, launch: LaunchGuess) -> Iterator[str]:
    yield f"{passed_as} = {toml(kind.name)}"
    if passed_as == "scalar":
        yield f"value = {toml(bytes(kind.byte_count).hex())}  # CHECK: its bytes, in hexadecimal digits"
        return
    yield f"element_bytes = {kind.byte_count}"
    elements = _items(launch) if passed_as == "local" else " * ".join(["n"] * launch.dimensions)
    yield f"elements = {toml(elements)}  # CHECK"
    if passed_as == "buffer":
        yield f"values = {toml('zeros')}  # CHECK: a file of NumPy's structures has its fields compared"


def _items(launch: LaunchGuess) -> str:
    return " * ".join(f"local_size_{dimension}" for dimension in range(launch.dimensions))


_ASKED = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID, Query.GROUP_ID}) | frozenset(
    {Query.GLOBAL_SIZE, Query.LOCAL_SIZE, Query.GROUP_COUNT}
)

# By number of dimensions; the default first.
LOCAL_SIZES: tuple[tuple[LocalSize, ...], ...] = (
    ((64,), (32,), (128,), (256,)),
    ((16, 16), (8, 8), (32, 8), (64, 4), (4, 64)),
    ((8, 8, 4), (32, 4, 2), (16, 8, 2), (32, 2, 2)),
)
_EXTENTS = (
    {"test": 1024, "cpu": 1 << 20, "gpu": 1 << 24},
    {"test": 64, "cpu": 512, "gpu": 4096},
    {"test": 32, "cpu": 128, "gpu": 256},
)

# A type with fewer bytes may not hold a size.
_BYTES_OF_A_SIZE = 4


@dataclass(frozen=True, slots=True)
class LaunchGuess:
    """How to launch a kernel.

    Attributes:
        local_sizes: those to try, the default first.
        extents: `n`, the extent of every dimension, at each preset.
        sizes: how many of them the largest buffer's elements are the product of.
    """

    local_sizes: tuple[LocalSize, ...]
    extents: dict[str, int]
    sizes: int

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the NDRange."""
        return len(self.local_sizes[0])


def guess_launch(kernel: Kernel) -> LaunchGuess:
    """As many dimensions as the kernel asks for ids of, and the work-group size that it demands, if any.

    The extents are for buffers of as many sizes as the kernel's addresses have: a matrix is one of two.
    """
    required = kernel.required_work_group_size
    asked = (queried_dimension(each) for each in kernel.instructions() if query_of(each) in _ASKED)
    used = [0, *(dimension for dimension in asked if dimension is not None)]
    used += [dimension for dimension, extent in enumerate(required or ()) if extent > 1]
    dimensions = max(used) + 1
    local_sizes = (required[:dimensions],) if required else LOCAL_SIZES[dimensions - 1]
    multiple = math.lcm(*(extent for local_size in local_sizes for extent in local_size))
    sizes = max((dimensions, *(use.sizes for use in index_uses(kernel).values())))
    extents = _EXTENTS[min(sizes, len(_EXTENTS)) - 1]
    return LaunchGuess(local_sizes, {name: round_up(n, multiple) for name, n in extents.items()}, sizes)


def guess_outputs(kernel: Kernel, buffers: list[Argument], uses: Mapping[str, PointerUse]) -> list[str]:
    """The buffers and images that the kernel writes; those that it may write, where none shows."""
    open_to_writing = [
        each.name
        for each in buffers
        if (is_writable(each) if image_kind(each) else "const" not in each.qualifiers)
    ]
    return [name for name in open_to_writing if uses[name].is_written] or open_to_writing


def guess_values(kind: ElementType, use: PointerUse, indices: IndexUse) -> str:
    """Return a distribution to fill a buffer with."""
    if use.is_written and not use.is_read:
        return "unwritten"
    if not kind.is_integer:
        return "uniform(-1, 1)"
    if kind.byte_count // kind.stored_components < _BYTES_OF_A_SIZE:
        return "integers(0, 100)"
    # Below n, since such numbers are often indices. The ends of ranges must not lie before their begins.
    return "sorted(0, n)" if indices.holds_ranges else "integers(0, n)"


_INPUTS = """
# What `coarsen tune` may choose a version by, of a launch's arguments: numbers by their names, bytes_NAME of
# buffers, global_size_0 and so on: + - * / // % min max log2.
[features]
{features}
# The inputs that it tunes for: sizes from the least to the largest, within limits.
[inputs]
ranges = {{ n = [{low}, {high}] }}  # CHECK: all sizes of [sizes.test]
# The local sizes divide these. Leave it out where global_size is rounded up, so that odd sizes are tuned for, too.
multiples = {{ n = {multiple} }}  # CHECK
# limit = "height * width <= 33554432"
count = {count}
"""
# The largest extent, by how many of them the largest buffer is the product of: tens of milliseconds on few cores.
_LARGEST = (1 << 20, 2048, 256)


def parameters_comment(annotations: Annotations) -> str:
    """Return lines that say which parameters the source declares; empty where it declares none."""
    if not annotations.parameters:
        return ""
    lines = [f"#     {each.name}: {', '.join(map(each.value_of, each.values))}" for each in annotations.parameters]
    return "\n".join(
        (
            "# The source's pragmas declare these parameters, the default first; local_size may name them: "
            f'["{annotations.parameters[0].name}"].',
            *lines,
            "# [parameters] in this file takes their place:",
            '# BLKSZ = "erange 64,512,2"',
            "",
        )
    )


def inputs_text(kernel: Kernel, annotations: Annotations) -> str:
    """Return the tables `features` and `inputs` for a kernel, to be completed."""
    declared = [each.name for each in annotations.features]
    launch = guess_launch(kernel)
    multiple = math.lcm(*(extent for local_size in launch.local_sizes for extent in local_size))
    low = launch.extents["test"]
    high = max(_LARGEST[min(launch.sizes, len(_LARGEST)) - 1] // multiple * multiple, low)
    return _INPUTS.format(
        features="\n".join(_features(kernel, declared)) + "\n",
        low=low,
        high=high,
        multiple=multiple,
        count=min(DEFAULT_COUNT, (high - low) // multiple + 1),
    )


def _features(kernel: Kernel, declared: Sequence[str]) -> Iterator[str]:
    if declared:
        yield f"# The source declares {', '.join(declared)}."
        return
    wholes = [
        parameter.name
        for parameter in kernel.arguments
        if kind_of(parameter) == "scalar"
        and (found := declared_type(parameter)) is not None
        and found.is_integer
        and found.components == 1
    ]
    for name in wholes:
        yield f"{name} = {toml(name)}  # CHECK"
    if not wholes:
        yield 'items = "global_size_0"  # CHECK'
