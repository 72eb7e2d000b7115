"""Reads the TOML file that makes a user's kernel a benchmark; `template.py` writes one, its keys explained.

Several launches, perhaps of several kernels, with scratch buffers between them:

    [[launches]]                                [[launches]]
    when = "IMPL == one"                        when = "IMPL == two"
                                                kernel = "partial_sums"
                                                arguments = ["partial", "values", "n"]
                                                global_size = ["GROUPS * BLKSZ"]
                                                local_size = ["BLKSZ"]

What an entry leaves out is as the file has it for its kernel: the kernel, all arguments that are not scratch,
the sizes of `ndrange`. The launches whose conditions hold are made in the order of the file, each as often as its
loops say; launches that follow each other and begin with the same loop take turns in it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.files import MEBIBYTE, read_file
from coarsen.base.limits import LONGEST_NAME
from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Condition, Expression, parse_expression
from coarsen.dispatch.loops import RANGE, parse_loop
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import Annotations, read_annotations
from coarsen.frontend.included import file_directives
from coarsen.frontend.parameters import Parameter
from coarsen.frontend.source_text import opencl_c_of
from coarsen.loops import SUFFIX as C_SUFFIX
from coarsen.loops import read_program
from coarsen.opencl_bench.workloads.described.arguments import read_argument, read_pads, read_structures
from coarsen.opencl_bench.workloads.described.check_names import check_names, check_parameter_use
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    ImageDescription,
    LaunchDescription,
    SharedDescription,
    is_scratch,
)
from coarsen.opencl_bench.workloads.described.inputs import KEY as INPUTS
from coarsen.opencl_bench.workloads.described.inputs import (
    LOCAL_SIZE_PREFIX,
    list_file,
    preset_local_sizes,
    read_input_space,
    read_sizes,
)
from coarsen.opencl_bench.workloads.described.ndrange import NdRange, read_ndrange
from coarsen.opencl_bench.workloads.described.parameters import KEY as PARAMETERS
from coarsen.opencl_bench.workloads.described.parameters import condition, read_features, read_parameters
from coarsen.opencl_bench.workloads.described.table import Table, is_number
from coarsen.opencl_bench.workloads.described.values import read_shared_contents
from coarsen.opencl_bench.workloads.described.workload import (
    check_preset,
    has_feasible_reference,
    local_size_of,
    make_launches,
    make_workload,
)
from coarsen.opencl_bench.workloads.included_files import LARGEST_SOURCE, check_included_files
from coarsen.tuning.workload.benchmark import Benchmark, Clock, Launch, LocalSize, Preset, Size, whole_numbers
from coarsen.variant.coarsening import DIMENSIONS

if TYPE_CHECKING:
    from coarsen.loops.program import NestProgram

LARGEST_DESCRIPTION = MEBIBYTE


def read_benchmark(path: Path) -> Benchmark:
    """The benchmark that a file describes; the results of the uncoarsened kernel, or of the C function that it was
    made of, are the measure of the others.

    Raises:
        InvalidInputError: a mistake in the file, in one line that names file and key.
    """
    description = read_description(path)
    folders = (Path(each[2:]) for each in description.build_options if each.startswith("-I") and each[2:])
    if description.program is None:
        check_included_files(description.kernel_file, tuple(folders))
    for preset in description.sizes:
        check_preset(description, preset)
    dimensions = tuple(range(len(description.ndrange.global_size)))
    is_tied = bool(description.ndrange.local_size_expressions)
    return Benchmark(
        name=description.name,
        dimensions=dimensions,
        presets={
            name: Preset(sizes, description.local_size_at(name), has_feasible_reference(description, sizes))
            for name, sizes in description.sizes.items()
        },
        make_workload=partial(make_workload, description),
        build_options=(*description.build_options, *_folder_options(description)),
        local_sizes=description.ndrange.local_sizes,
        tunables=description.tunables,
        make_launches=partial(_launches, description),
        kernel_name=description.kernel,
        source_file=description.kernel_file,
        source_text=description.parameters.source,
        inputs_hash=description.inputs_hash,
        input_files=description.files,
        other_kernels=description.other_kernels,
        coarsened_kernels=tuple(
            dict.fromkeys(each.kernel for each in description.launches if each.coarsen is not None)
        ),
        clock=Clock.SPAN if description.launches else Clock.SUM,
        local_size_of=partial(local_size_of, description.ndrange.local_size_expressions) if is_tied else None,
        input_macros=tuple(sorted(description.workload_names & description.tunables.keys())),
        buffers_fit_any_local_size=not any(
            name.startswith(LOCAL_SIZE_PREFIX) for name in description.workload_names
        ),
        arrays=(
            *(
                argument.arrays
                for argument in description.arguments
                if isinstance(argument, BufferDescription) and argument.arrays is not None
            ),
            *description.pads,
        ),
    )


def _launches(description: Description, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launches; a refusal, which rows and pages keep, names the file without its folder."""
    try:
        return make_launches(description, size, local_size)
    except InvalidInputError as error:
        raise InvalidInputError(str(error).removeprefix(f"{description.path.parent}/")) from None


def read_description(path: Path) -> Description:
    """Return the contents of a file, and of its list of inputs.

    Raises:
        InvalidInputError: as of `read_benchmark`.
    """
    top = read_table(path)
    top.check_names(
        *("file", "function", "c_options", "kernel", "build_options", "outputs", "order_free", "arguments"),
        *("ndrange", "tunables", "sizes", "parameters", "where", "launches", "contents", "features", "inputs"),
        *("structures", "pads"),
        *("roundings", "relative_tolerance", "absolute_tolerance", "integer_tolerance"),
    )
    outputs = tuple(dict.fromkeys(top.texts("outputs")))
    if not outputs:
        raise top.error("outputs", "name at least one buffer that the kernel writes")
    structures = read_structures(top)
    arguments = tuple(read_argument(entry, outputs, structures) for entry in top.tables("arguments"))
    _check_arguments(top, arguments)
    buffers = _output_buffers(top, arguments, outputs)
    ndrange = read_ndrange(top)
    kernel, file, space = _kernel(top), _kernel_file(top), read_input_space(top)
    program = _c_program(top, file)
    source, annotations = _annotated(top, file, program)
    parameters = read_parameters(top, source, annotations, file)
    if program is not None:
        parameters = replace(parameters, source=parameters.source or source)
    tunables = _tunables(top.table("tunables"))
    for name in tunables.keys() & parameters.values.keys():
        raise top.error(f"tunables.{name}", "it is a parameter, too; leave out one of them")
    tunables |= parameters.values
    tied = _tied_local_size(top, ndrange, tunables) or ndrange.local_size
    description = Description(
        path=path,
        kernel_file=file,
        kernel=kernel,
        build_options=_build_options(top),
        arguments=arguments,
        outputs=buffers,
        ndrange=replace(ndrange, local_size=tied),
        order_free=_order_free(top, buffers, arguments),
        tunables=tunables,
        sizes=read_sizes(top, space),
        preset_local_sizes=preset_local_sizes(top, ndrange.local_size),
        relative_tolerance=top.tolerance("relative_tolerance"),
        absolute_tolerance=top.tolerance("absolute_tolerance"),
        integer_tolerance=int(top.tolerance("integer_tolerance") or 0),
        roundings=_roundings(top),
        parameters=parameters,
        launches=tuple(_launches_of(top, kernel, arguments, ndrange, parameters.selects)),
        contents=read_shared_contents(top),
        inputs=space,
        input_list=list_file(path) if list_file(path).is_file() else None,
        pads=read_pads(top),
        program=program,
    )
    check_names(description)
    check_parameter_use(description)
    return replace(description, features=read_features(top, annotations.features, description.kernel_arguments))


def _tied_local_size(top: Table, ndrange: NdRange, tunables: Mapping[str, tuple[str, ...]]) -> LocalSize:
    """The local size that the defaults of parameters give; empty where these do not decide about it."""
    defaults = tuple((name, values[0]) for name, values in tunables.items())
    for expression in ndrange.local_size_expressions:
        for name in sorted(expression.names - whole_numbers(defaults).keys()):
            hint = did_you_mean(name, tunables)
            raise top.error("ndrange.local_size", f"'{name}' is no parameter{hint}; a local size is made of these")
    return local_size_of(ndrange.local_size_expressions, defaults)


def _c_program(top: Table, file: Path) -> NestProgram | None:
    """The kernels of a C function; None for a file of kernels."""
    if file.suffix != C_SUFFIX:
        for name in ("function", "c_options"):
            if top.has(name):
                raise top.error(name, f"it is for C files, and {file.name} is none")
        return None
    program = read_program(file, top.text("function"), _from_own_folder(top, top.texts("c_options", ())))
    try:
        program.check_lane_macros(top.table(PARAMETERS).values)
    except InvalidInputError as error:
        raise top.error(PARAMETERS, f"{error}; coarsen describe --force writes it anew") from None
    return program


def _annotated(top: Table, file: Path, program: NestProgram | None) -> tuple[str, Annotations]:
    """The text of a kernel's file and its pragmas; nothing where neither it nor the description has parameters."""
    if program is not None:
        return program.text, Annotations()
    if b"pragma" not in read_file(file, LARGEST_SOURCE) and not top.has(PARAMETERS):
        return "", Annotations()
    source = opencl_c_of(file)
    if source is None:
        raise top.error("file", f"parameters need OpenCL C, and {file} is LLVM IR")
    return source, read_annotations(source, str(file))


def _folder_options(description: Description) -> tuple[str, ...]:
    """The option by which a text finds what its file would include beside it."""
    source = description.parameters.source
    if not source or next(file_directives(source), None) is None:
        return ()
    return (f"-I{description.kernel_file.parent}",)


def read_table(path: Path) -> Table:
    """Return the outermost table of a file. Raises InvalidInputError where it can't be read or is no TOML."""
    return Table(path, "", _load(path))


def _load(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(read_file(path, LARGEST_DESCRIPTION).decode("utf-8-sig"))
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
    return _from_own_folder(top, top.texts("build_options", ("-cl-std=CL1.2",)))


def _from_own_folder(top: Table, options: Sequence[str]) -> tuple[str, ...]:
    """Options whose relative folders of `-I` start at the TOML file's folder."""
    return tuple(
        f"-I{top.path.parent / option[2:]}" if option.startswith("-I") and option[2:] else option
        for option in options
    )


def _roundings(top: Table) -> Expression | None:
    if not top.has("roundings"):
        return None
    for name in ("relative_tolerance", "absolute_tolerance"):
        if top.has(name):
            raise top.error(name, "roundings are given, from which it follows; leave out one of them")
    return top.parse("roundings", parse_expression)


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


def _order_free(
    top: Table, outputs: tuple[str, ...], arguments: tuple[ArgumentDescription, ...]
) -> tuple[tuple[str, ...], ...]:
    """The groups of outputs whose elements may come in any order."""
    ordered = {each.name: "is an image, whose pixels" for each in arguments if isinstance(each, ImageDescription)}
    shaped = (each.name for each in arguments if isinstance(each, BufferDescription) and each.shape)
    ordered |= dict.fromkeys(shaped, "has a shape, whose elements")
    groups = tuple(_group(top, entry) for entry in top.array("order_free", []))
    named = [name for group in groups for name in group]
    for name in named:
        if name not in outputs:
            raise top.error("order_free", f"'{name}' is none of the outputs, {', '.join(outputs)}")
        if name in ordered:
            raise top.error("order_free", f"'{name}' {ordered[name]} have their places")
        if named.count(name) > 1:
            raise top.error("order_free", f"'{name}' is named twice")
    return groups


def _output_buffers(
    top: Table, arguments: tuple[ArgumentDescription, ...], outputs: tuple[str, ...]
) -> tuple[str, ...]:
    """The buffers of the outputs, none of them scratch: one that is given twice is an output by either name."""
    buffer_of = {
        each.name: each.name for each in arguments if isinstance(each, BufferDescription | ImageDescription)
    }
    buffer_of |= {each.name: each.same_as for each in arguments if isinstance(each, SharedDescription)}
    scratch = [each.name for each in arguments if isinstance(each, BufferDescription) and each.is_scratch]
    for name in outputs:
        if name not in buffer_of:
            raise top.error("outputs", f"there is no buffer and no image '{name}' among the arguments")
        if buffer_of[name] in scratch:
            raise top.error("outputs", f"'{name}' is scratch, whose contents do not count")
    return tuple(dict.fromkeys(buffer_of[name] for name in outputs))


def _group(top: Table, entry: object) -> tuple[str, ...]:
    names = entry if isinstance(entry, list) else [entry]
    if not names or not all(isinstance(name, str) for name in names):
        raise top.error("order_free", f"it must hold names of outputs, or arrays of those, not {entry!r}")
    return tuple(map(str, names))


def _launches_of(
    top: Table,
    kernel: str,
    arguments: Sequence[ArgumentDescription],
    ndrange: NdRange,
    selects: Sequence[Parameter],
) -> Iterator[LaunchDescription]:
    """Yield the launches of a description; none where it has no such entries."""
    for table in top.tables("launches") if top.has("launches") else ():
        table.check_names("kernel", "when", "arguments", "global_size", "local_size", "repeat", "coarsen")
        name = table.text("kernel") if table.has("kernel") else kernel
        if not name.isidentifier():
            raise table.error("kernel", f"'{name[:60]}' is no name of a kernel")
        if name == kernel and table.has("coarsen"):
            raise table.error("coarsen", f"{kernel} is the file's kernel, which is coarsened anyway")
        global_size = (
            table.expressions("global_size", 1, DIMENSIONS) if table.has("global_size") else ndrange.global_size
        )
        dimensions = len(global_size)
        local_size = table.expressions("local_size", dimensions, dimensions) if table.has("local_size") else None
        if local_size is None and dimensions != len(ndrange.global_size):
            raise table.error("local_size", f"it is missing: the launch has {dimensions} dimensions")
        if name == kernel and local_size is not None:
            raise table.error("local_size", f"that of {kernel}, which may be coarsened, stands in ndrange")
        loops = table.parse_texts("repeat", parse_loop)
        if top.has(INPUTS) and [each.kind for each in loops] not in ([], [RANGE]):
            raise table.error("repeat", f"over inputs one {RANGE}(…) repeats launches: tuned files have no others")
        conditions = table.parse_texts("when", lambda text: condition(text, selects))
        alike = _coarsen(table, selects)
        yield LaunchDescription(name, _names(table, arguments), global_size, local_size, conditions, loops, alike)


def _coarsen(table: Table, selects: Sequence[Parameter]) -> tuple[Condition, ...] | None:
    """The conditions under which a launch is coarsened alike; None where it stays as it is."""
    if isinstance(told := table.values.get("coarsen", False), bool):
        return () if told else None
    return table.parse_texts("coarsen", lambda text: condition(text, selects))


def _names(table: Table, arguments: Sequence[ArgumentDescription]) -> tuple[str, ...]:
    """The names of a launch's arguments."""
    known = [argument.name for argument in arguments]
    if not table.has("arguments"):
        return tuple(each.name for each in arguments if not is_scratch(each))
    for name in table.texts("arguments"):
        if name not in known:
            raise table.error("arguments", f"there is no argument '{name}'; there are {', '.join(known)}")
    return table.texts("arguments")
