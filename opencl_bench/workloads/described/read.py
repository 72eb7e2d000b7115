"""Reads the TOML file that makes a user's kernel a benchmark; `template.py` writes one, its keys explained."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from coarsen.dispatch.conditions import Condition, parse_condition
from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.errors import InvalidInputError
from coarsen.files import MEBIBYTE, read_file
from coarsen.limits import LONGEST_NAME
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Preset
from coarsen.opencl_bench.workloads.described.arguments import read_argument
from coarsen.opencl_bench.workloads.described.check_names import check_names
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.image_arguments import ImageDescription
from coarsen.opencl_bench.workloads.described.table import Table, is_number
from coarsen.opencl_bench.workloads.described.workload import check_preset, make_launches, make_workload
from coarsen.opencl_bench.workloads.included_files import check_included_files
from coarsen.variant.coarsening import DIMENSIONS

T = TypeVar("T")

LARGEST_DESCRIPTION = MEBIBYTE
LOCAL_SIZE_PREFIX = "local_size_"
# In place of a local size: the implementation chooses it, as for a launch that gives none.
OPEN = "open"


def read_benchmark(path: Path) -> Benchmark:
    """The benchmark that a file describes; the uncoarsened kernel's results are the measure of the others.

    Raises:
        InvalidInputError: a mistake in the file, in one line that names file and key.
    """
    description = read_description(path)
    check_included_files(description.kernel_file, _include_folders(description.build_options))
    for preset in description.sizes:
        check_preset(description, preset)
    dimensions = tuple(range(len(description.global_size)))
    return Benchmark(
        name=description.name,
        dimensions=dimensions,
        presets={name: Preset(sizes, description.local_size) for name, sizes in description.sizes.items()},
        divisible_local_sizes=dict.fromkeys(dimensions, description.local_size),
        make_workload=partial(make_workload, description),
        build_options=description.build_options,
        local_sizes=description.local_sizes,
        tunables=description.tunables,
        make_launches=partial(make_launches, description),
        kernel_name=description.kernel,
        source_file=description.kernel_file,
        inputs_hash=description.inputs_hash,
        input_files=description.files,
        input_macros=tuple(sorted(description.workload_names & description.tunables.keys())),
        buffers_fit_any_local_size=not any(
            name.startswith(LOCAL_SIZE_PREFIX) for name in description.workload_names
        ),
    )


def read_description(path: Path) -> Description:
    """Return the contents of a file. Raises InvalidInputError as `read_benchmark` does."""
    top = Table(path, "", _load(path))
    top.check_names(
        *("file", "kernel", "build_options", "outputs", "order_free", "arguments"),
        *("ndrange", "tunables", "sizes"),
        *("roundings", "relative_tolerance", "absolute_tolerance", "integer_tolerance"),
    )
    outputs = _outputs(top)
    arguments = tuple(read_argument(entry, outputs) for entry in top.tables("arguments"))
    _check_arguments(top, arguments)
    ndrange = top.as_table("ndrange", top.required("ndrange"))
    ndrange.check_names("global_size", "local_size", "global_offset", "local_sizes", "conditions")
    global_size = _parsed(ndrange, "global_size", parse_expression)
    given = ndrange.required("local_size")
    local_size = () if given == OPEN else _local_size(ndrange, "local_size", given)
    output_buffers = _output_buffers(top, arguments, outputs)
    description = Description(
        path=path,
        kernel_file=_kernel_file(top),
        kernel=_kernel(top),
        build_options=_build_options(top),
        arguments=arguments,
        outputs=output_buffers,
        global_size=global_size,
        global_offset=_global_offset(ndrange, len(global_size)),
        order_free=_order_free(top, output_buffers, arguments),
        local_size=local_size,
        local_sizes=_local_sizes(ndrange) or (local_size,),
        conditions=_conditions(ndrange),
        tunables=_tunables(top.table("tunables")),
        sizes=_sizes(top),
        relative_tolerance=top.tolerance("relative_tolerance"),
        absolute_tolerance=top.tolerance("absolute_tolerance"),
        integer_tolerance=int(top.tolerance("integer_tolerance") or 0),
        roundings=_roundings(top),
    )
    check_names(description)
    return description


def _load(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(read_file(path, LARGEST_DESCRIPTION).decode())
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path}: it is no text in UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _kernel(top: Table) -> str:
    name = top.text("kernel")
    if len(name) > LONGEST_NAME or not name.isidentifier():
        raise top.error("kernel", f"'{name[:60]}' is no name of a kernel")
    return name


def _kernel_file(top: Table) -> Path:
    """The kernel's file; a relative path starts at the TOML file's folder."""
    file = top.path.parent / top.text("file")
    if not file.is_file():
        raise top.error("file", f"there is no file {file}")
    return file


def _build_options(top: Table) -> tuple[str, ...]:
    """Build options; a folder of `-I` that is relative starts at the TOML file's folder."""
    options = top.texts("build_options", ("-cl-std=CL1.2",))
    return tuple(
        f"-I{top.path.parent / option[2:]}" if option.startswith("-I") and option[2:] else option
        for option in options
    )


def _include_folders(options: Sequence[str]) -> tuple[Path, ...]:
    return tuple(Path(option[2:]) for option in options if option.startswith("-I") and option[2:])


def _roundings(top: Table) -> Expression | None:
    if not top.has("roundings"):
        return None
    for name in ("relative_tolerance", "absolute_tolerance"):
        if top.has(name):
            raise top.error(name, "roundings are given, from which it follows; leave out one of them")
    return top.parse("roundings", parse_expression)


def _outputs(top: Table) -> tuple[str, ...]:
    outputs = tuple(dict.fromkeys(top.texts("outputs")))
    if not outputs:
        raise top.error("outputs", "name at least one buffer that the kernel writes")
    return outputs


def _order_free(
    top: Table, outputs: tuple[str, ...], arguments: tuple[ArgumentDescription, ...]
) -> tuple[tuple[str, ...], ...]:
    images = [argument.name for argument in arguments if isinstance(argument, ImageDescription)]
    groups = tuple(_group(top, entry) for entry in top.array("order_free", []))
    named = [name for group in groups for name in group]
    for name in named:
        if name not in outputs:
            raise top.error("order_free", f"'{name}' is none of the outputs, {', '.join(outputs)}")
        if name in images:
            raise top.error("order_free", f"'{name}' is an image, whose pixels have their places")
        if named.count(name) > 1:
            raise top.error("order_free", f"'{name}' is named twice")
    return groups


def _group(top: Table, entry: object) -> tuple[str, ...]:
    names = entry if isinstance(entry, list) else [entry]
    if not names or not all(isinstance(name, str) for name in names):
        raise top.error("order_free", f"it must hold names of outputs, or arrays of those, not {entry!r}")
    return tuple(map(str, names))


def _check_arguments(top: Table, arguments: tuple[ArgumentDescription, ...]) -> None:
    names = [argument.name for argument in arguments]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise top.error(f"arguments[{index}].name", f"there are two arguments '{name}'")
    for index, argument in enumerate(arguments):
        if isinstance(argument, SharedDescription):
            before = [each.name for each in arguments[:index] if isinstance(each, BufferDescription)]
            if argument.same_as not in before:
                raise top.error(
                    f"arguments[{index}].same_as",
                    f"there is no buffer '{argument.same_as}' with values among the arguments before it",
                )


def _output_buffers(
    top: Table, arguments: tuple[ArgumentDescription, ...], outputs: tuple[str, ...]
) -> tuple[str, ...]:
    """The buffers of the outputs: one that is given twice is an output by either name."""
    buffer_of = {
        each.name: each.name for each in arguments if isinstance(each, BufferDescription | ImageDescription)
    }
    buffer_of |= {each.name: each.same_as for each in arguments if isinstance(each, SharedDescription)}
    for name in outputs:
        if name not in buffer_of:
            raise top.error("outputs", f"there is no buffer and no image '{name}' among the arguments")
    return tuple(dict.fromkeys(buffer_of[name] for name in outputs))


def _parsed(table: Table, name: str, parser: Callable[[str], T]) -> tuple[T, ...]:
    """One parsed entry for each dimension of the NDRange."""
    entries = table.array(name)
    if not 1 <= len(entries) <= DIMENSIONS:
        raise table.error(name, f"it must have an entry for each of 1 to {DIMENSIONS} dimensions")
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, str | int):
            raise table.error(name, f"it must hold texts or whole numbers, not {entry!r}")
    return tuple(table.parse_text(name, parser, str(entry)) for entry in entries)


def _global_offset(ndrange: Table, dimensions: int) -> tuple[Expression, ...]:
    if not ndrange.has("global_offset"):
        return ()
    offset = _parsed(ndrange, "global_offset", parse_expression)
    if len(offset) != dimensions:
        raise ndrange.error("global_offset", f"it must have an entry for each of the {dimensions} dimensions")
    return offset


def _local_size(ndrange: Table, name: str, value: object) -> tuple[int, ...]:
    dimensions = len(ndrange.array("global_size"))
    numbers = tuple(number for number in value if type(number) is int) if isinstance(value, list) else ()
    if not isinstance(value, list) or len(numbers) != len(value) or len(value) != dimensions or min(value) < 1:
        raise ndrange.error(name, f"a local size is {dimensions} positive whole numbers, not {value!r}")
    return numbers


def _local_sizes(ndrange: Table) -> tuple[tuple[int, ...], ...]:
    entries = ndrange.array("local_sizes", [])
    return tuple(_local_size(ndrange, f"local_sizes[{index}]", entry) for index, entry in enumerate(entries))


def _conditions(ndrange: Table) -> tuple[Condition, ...]:
    return tuple(ndrange.parse_text("conditions", parse_condition, text) for text in ndrange.texts("conditions"))


def _tunables(table: Table) -> dict[str, tuple[str, ...]]:
    tunables = {}
    for name in table.values:
        if not name.isidentifier():
            raise table.error(name, "a macro's name has letters, digits and _ only")
        values = table.array(name)
        if not values or not all(isinstance(value, str) or is_number(value) for value in values):
            raise table.error(name, f"it must be an array of numbers or texts, the default first, not {values!r}")
        tunables[name] = tuple(dict.fromkeys(map(str, values)))
        if any(not value or any(letter.isspace() for letter in value) for value in tunables[name]):
            raise table.error(name, "a macro's value may not be empty or have blanks")
    return tunables


def _sizes(top: Table) -> dict[str, dict[str, int]]:
    presets = top.table("sizes")
    if not presets.values:
        raise top.error("sizes", "there must be at least one preset: [sizes.test]")
    return {name: _preset(presets.table(name)) for name in presets.values}


def _preset(table: Table) -> dict[str, int]:
    sizes = {}
    for name, value in table.values.items():
        if not name.isidentifier() or name.startswith(LOCAL_SIZE_PREFIX):
            raise table.error(name, "a size can't be called so")
        if type(value) is not int or value < 1:
            raise table.error(name, f"a size is a whole number of at least 1, not {value!r}")
        sizes[name] = value
    return sizes
