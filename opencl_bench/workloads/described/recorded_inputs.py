"""Inputs that are launches of a real program: a description beside the kernel's own, written by `coarsen tune`.

    description = "mv.toml"               what is tuned

    [features]                            where mv.toml has none
    height = "height"

    [[inputs]]                            input-000, input-001 and so on
    launched = 12
    sizes = { height = 64, width = 1024 }
    global_size = [64]
    arguments = { a = { buffer = 262144, file = "mv.recorded/….npy" }, width = { scalar = "00040000" } }

At such an input the numbers that are passed, the sizes of buffers and, where they were recorded, their contents
are those of the launch; the rest is as the kernel's own description says.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    ScalarDescription,
)
from coarsen.opencl_bench.workloads.described.distributions import (
    Filling,
    alike,
    parse_distribution,
)
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.opencl_bench.workloads.described.values import FileValues, SharedValues
from coarsen.opencl_bench.workloads.input_space import input_name
from coarsen.tuning.workload.benchmark import Size
from coarsen.tuning.workload.element_types import ElementType
from coarsen.tuning.workload.launch_list import (
    GLOBAL_SIZE,
    LAUNCH,
    PassedBuffer,
    PassedScalar,
    RecordedInput,
    argument_as_data,
    read_passed,
)

KEY = "description"


def recorded_description(top: Table, own: Description) -> Description:
    """Return a kernel's description with launches as its only presets.

    Args:
        top: the outermost table of the file that lists the launches.
        own: what the kernel's own file says.

    Raises:
        InvalidInputError: a mistake in the list, or arguments that aren't the kernel's.
    """
    top.check_names(KEY, "features", "inputs")
    entries = top.tables("inputs")
    if not entries:
        raise top.error("inputs", "there must be at least one launch")
    if any(launch.loops for launch in own.launches):
        raise top.error(KEY, "launches with repeat run at presets alone: a tuned file can't have them")
    inputs = tuple(_input(entry, own) for entry in entries)
    return with_recorded(replace(own, path=top.path), inputs)


def with_recorded(own: Description, inputs: tuple[RecordedInput, ...]) -> Description:
    """Return a kernel's description with launches as its only presets."""
    is_constant = not any(extent.names for extent in own.ndrange.global_size)
    extents = tuple(parse_expression(f"{GLOBAL_SIZE}{i}") for i, _ in enumerate(own.ndrange.global_size))
    return replace(
        own,
        ndrange=replace(own.ndrange, global_size=extents) if is_constant else own.ndrange,
        preset_local_sizes={},
        sizes={input_name(i): each.size(is_constant) for i, each in enumerate(inputs)},
        inputs=None,
        input_list=None,
        recorded={each.number: each for each in inputs},
    )


def at_input(description: Description, size: Size) -> Description:
    """Return a description with what a recorded launch passes; the description itself at other sizes."""
    found = description.recorded.get(size.get(LAUNCH, -1))
    if found is None:
        return description
    arguments = tuple(_as_passed(each, found, description.path.parent) for each in description.arguments)
    return replace(description, arguments=arguments, recorded={})


def scalar_numbers(kind: ElementType, content: bytes) -> tuple[int | float, ...]:
    """Return the components of a value from its bytes. Raises InvalidInputError where they aren't of its type."""
    if len(content) != kind.byte_count:
        raise InvalidInputError(f"{kind.name} has {kind.byte_count} bytes, and {len(content)} were passed")
    return tuple(np.frombuffer(content, kind.scalar)[: kind.components].tolist())


def _as_passed(argument: ArgumentDescription, found: RecordedInput, folder: Path) -> ArgumentDescription:
    passed = found.arguments.get(argument.name)
    if isinstance(argument, ScalarDescription) and isinstance(passed, PassedScalar):
        return replace(argument, value=scalar_numbers(argument.type, passed.content))
    if not isinstance(argument, BufferDescription) or not isinstance(passed, PassedBuffer):
        return argument
    name = found.files.get(argument.name)
    if name is None and isinstance(argument.values, SharedValues):
        # Contents of several buffers go together as they are described.
        return argument
    elements = parse_expression(str(max(passed.byte_count // argument.type.byte_count, 1)))
    if name is None:
        # What files hold is of another launch.
        values = _uniform(argument.type) if isinstance(argument.values, FileValues) else argument.values
        return replace(argument, elements=elements, values=values, shape=())
    # Files are called by their contents.
    recorded = FileValues(f'file("{name}")', folder / name, name)
    return replace(argument, elements=elements, values=recorded, shape=())


def _uniform(kind: ElementType) -> Filling:
    """Contents of which nothing is known; whole numbers may be indices, which must not lead out of a buffer."""
    if kind.structure is not None:
        return alike(kind.structure, "zeros")
    if kind.is_opaque:
        return parse_distribution("zeros")
    return parse_distribution("integers(0, 2)" if kind.is_integer else "uniform(-1, 1)")


def input_as_data(one: RecordedInput) -> dict[str, object]:
    """Return an input as an entry of a description has it."""
    files = {name: {"file": file} for name, file in one.files.items()}
    passed = {name: argument_as_data(each) | files.get(name, {}) for name, each in one.arguments.items()}
    return {
        "launched": one.launched,
        "sizes": one.sizes,
        "global_size": one.global_size,
        "arguments": passed,
    }


def _input(entry: Table, own: Description) -> RecordedInput:
    entry.check_names("launched", "sizes", "global_size", "arguments")
    arguments, files = {}, {}
    kinds = {each.name: each for each in own.arguments_of(own.kernel)}
    passed = entry.table("arguments")
    for name in passed.values:
        if name not in kinds:
            raise passed.error(name, f"the kernel {own.kernel} has no such argument")
        value = dict(passed.table(name).values)
        file = value.pop("file", None)
        try:
            arguments[name] = read_passed(value)
            if isinstance(kinds[name], ScalarDescription) and isinstance(arguments[name], PassedScalar):
                _as_passed(kinds[name], RecordedInput(1, {}, (), arguments, {}), entry.path.parent)
        except (ValueError, TypeError, InvalidInputError) as error:
            raise passed.error(name, f"it is nothing that a launch passes: {error}") from None
        if file is not None:
            files[name] = _checked_file(passed, name, file)
    sizes = entry.table("sizes")
    extents = entry.array("global_size")
    if len(extents) != len(own.ndrange.global_size):
        raise entry.error(
            "global_size", f"it must have {len(own.ndrange.global_size)} numbers, as ndrange.global_size has"
        )
    return RecordedInput(
        launched=entry.whole("launched", None, 1),
        sizes={name: sizes.whole(name) for name in sizes.values},
        global_size=tuple(entry.checked_whole("global_size", each, 1) for each in extents),
        arguments=arguments,
        files=files,
    )


def _checked_file(table: Table, name: str, file: object) -> str:
    folder = table.path.parent.resolve()
    if not isinstance(file, str) or not (folder / file).resolve().is_relative_to(folder):
        raise table.error(name, "its file must be in the folder of the description, or below")
    if not (folder / file).is_file():
        raise table.error(name, f"there is no file {file}")
    return file
