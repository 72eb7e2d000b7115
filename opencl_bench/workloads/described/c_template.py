"""Writes the TOML files of a C function's kernels: the loops say all of them but the sizes worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError
from coarsen.loops.kernel_text import KernelText, whole_type
from coarsen.loops.kernels import NestKernel
from coarsen.loops.launches import LaunchIf, Launching, LaunchLoop, NestLaunch, extents_in, operations_in
from coarsen.loops.program import NestProgram
from coarsen.loops.sums import GROUP_SIZES, LANE_COUNTS
from coarsen.loops.writer import opencl_type
from coarsen.opencl_bench.workloads.described.table import toml
from coarsen.opencl_bench.workloads.described.template import LOCAL_SIZES

_HEAD = """\
# The loops of {function} in {file}, as kernels; {kernel} is the one that is coarsened. Written from the loops:
# sizes and contents that they can't tell are marked CHECK.

file = {file_text}
function = {function_text}
kernel = {kernel_text}
{options}outputs = {outputs}
# Rounded operations one after the other, on the way to an element: a difference that they explain is right.
roundings = {roundings}
{parameters}
[ndrange]
global_size = {global_size}
{local_size}

"""
_SHARED = """\
# Lanes that share a sum, and work-items of a work-group.
where = ["{group} % {lanes} == 0"]

[parameters]
{lanes} = {lane_counts}
{group} = {group_sizes}
"""
# By the depth of the loops.
_SIZES = (
    {"test": 1000, "cpu": 1 << 20, "gpu": 1 << 24},
    {"test": 100, "cpu": 1024, "gpu": 8192},
    {"test": 50, "cpu": 512, "gpu": 2048},
    {"test": 20, "cpu": 100, "gpu": 256},
)
_STEPS = 10


def c_template(program: NestProgram, kernel: str, file: str, options: Sequence[str]) -> str:
    """The text of the TOML file in which one of a function's kernels is coarsened.

    Args:
        program: all of them.
        kernel: the name of that one.
        file: the path of the C file, as the TOML file is to name it.
        options: for the C compiler, with folders as the TOML file is to name them.

    Raises:
        InvalidInputError: the function writes no array; a loop of launches counts by more than 1.
        RefusalError: a size that no description can have.
    """
    if not program.outputs:
        raise InvalidInputError(f"{program.path}: '{program.function.name}' writes no array that its caller sees")
    launches = [*_described(program.launches)]
    own = next(launch for launch, _, _ in launches if launch.kernel.kernel.name == kernel)
    local_sizes = [list(each) for each in LOCAL_SIZES[len(own.global_size) - 1]]
    local_size = f"local_size = {local_sizes[0]}\nlocal_sizes = {local_sizes}"
    if own.kernel.kernel.split:
        local_size = f"local_size = {toml(own.local_size)}"
    c_options = f"c_options = {toml([*options])}\n" if options else ""
    text = _HEAD.format(
        function=program.function.name,
        file=Path(file).name,
        kernel=kernel,
        file_text=toml(file),
        function_text=toml(program.function.name),
        kernel_text=toml(kernel),
        options=c_options,
        outputs=toml(program.outputs),
        roundings=toml(operations_in(program.kernels)),
        global_size=toml(_whole_groups(own.global_size, [f"local_size_{n}" for n in range(3)])),
        local_size=local_size,
        parameters=_shared(program, own.kernel.kernel),
    )
    text += "\n".join(_sizes(program))
    text += "".join(_argument(program, own, name) for name in _names(program, own))
    if len(launches) > 1 or launches[0][1]:
        text += "".join(_launch(program, each, kernel, *around) for each, *around in launches)
    return text


def _shared(program: NestProgram, kernel: NestKernel) -> str:
    """The parameters of a kernel whose lanes share sums; nothing for another."""
    if not kernel.split:
        return ""
    names = kernel.lane_macros
    lanes, size = (program.macros[name] for name in names)
    return _SHARED.format(
        lanes=names[0],
        group=names[1],
        lane_counts=[*dict.fromkeys((lanes, *LANE_COUNTS))],
        group_sizes=[*dict.fromkeys((size, *GROUP_SIZES))],
    )


def _described(
    launches: Sequence[Launching], loops: tuple[str, ...] = (), conditions: tuple[str, ...] = ()
) -> Iterator[tuple[NestLaunch, tuple[str, ...], tuple[str, ...]]]:
    """Each launch with the loops around it and its conditions, as a description has them."""
    for each in launches:
        match each:
            case NestLaunch():
                yield each, loops, conditions
            case LaunchIf():
                yield from _described(each.body, loops, (*conditions, *each.conditions))
            case LaunchLoop():
                if each.step != 1:
                    raise InvalidInputError(f"a loop of launches counts by {each.step}, and a description's by 1")
                loop = f"{each.name} in range({each.first}, {each.end})"
                yield from _described(each.body, (*loops, loop), conditions)


def _whole_groups(global_size: Sequence[str], local_size: Sequence[str]) -> list[str]:
    return [
        f"({extent} + {own} - 1) // {own} * {own}" for extent, own in zip(global_size, local_size, strict=False)
    ]


def _sizes(program: NestProgram) -> Iterator[str]:
    steps = {name for each in _loops(program.launches) for name in parse_expression(each.end).names}
    kernels = [each.kernel for each in program.kernels]
    depth = max(len(each.loops) - len(kernel.steps) for kernel in kernels for each in kernel.statements)
    # What the NDRange depends on, too, is no number of steps alone.
    steps -= {
        name
        for launch, _, _ in _described(program.launches)
        for text in launch.global_size
        for name in parse_expression(text).names
    }
    for preset, size in _SIZES[min(max(depth, 1), len(_SIZES)) - 1].items():
        yield f"[sizes.{preset}]"
        yield from (f"{name} = {_STEPS if name in steps else size}  # CHECK" for name in program.nest.parameters)
        yield ""


def _loops(launches: Sequence[Launching]) -> Iterator[LaunchLoop]:
    for each in launches:
        if not isinstance(each, NestLaunch):
            yield from [each] if isinstance(each, LaunchLoop) else []
            yield from _loops(each.body)


def _names(program: NestProgram, own: NestLaunch) -> list[str]:
    """The arguments of the kernel that is coarsened, then those of the others."""
    names = dict.fromkeys(own.kernel.arguments)
    for each in program.kernels:
        names |= dict.fromkeys(each.arguments)
    return [*names]


def _argument(program: NestProgram, own: NestLaunch, name: str) -> str:
    nest = program.nest
    lines = [f"\n[[arguments]]\nname = {toml(name)}"]
    array = nest.arrays.get(name)
    if array is not None:
        kind = opencl_type(array.element, nest.place)
        extents = extents_in(nest, array)
        lines.append(f"buffer = {toml(kind)}")
        lines.append(f"shape = {toml(extents)}" if len(extents) > 1 else f"elements = {toml(extents[0])}")
        values = "uniform(-1, 1)" if kind in ("float", "double") else "integers(0, 100)"
        lines.append("scratch = true" if array.is_local else f"values = {toml(values)}  # CHECK")
    elif name in nest.types:
        is_whole = name in nest.parameters
        kind = whole_type(nest) if is_whole else opencl_type(nest.types[name], nest.place)
        lines += [f"scalar = {toml(kind)}", f"value = {toml(name)}" if is_whole else "value = 0.5  # CHECK"]
    else:
        lines += [f"scalar = {toml(whole_type(nest))}", f"value = {toml(_step(program, name))}"]
    return "\n".join(lines) + "\n"


def _step(program: NestProgram, name: str) -> str:
    """Return what a step's argument is, which must be the same in all launches."""
    values = {each.steps[name] for each, _, _ in _described(program.launches) if name in each.steps}
    if len(values) > 1:
        raise InvalidInputError(f"{program.path}: launches of '{name}' count by different loops; tune them apart")
    return values.pop()


def _launch(
    program: NestProgram, launch: NestLaunch, kernel: str, loops: Sequence[str], conditions: Sequence[str]
) -> str:
    lines = ["\n[[launches]]"]
    own: KernelText = launch.kernel
    lines += [f"kernel = {toml(own.kernel.name)}", f"arguments = {toml(own.arguments)}"]
    if own.kernel.name != kernel:
        # The macros of another kernel are no parameters.
        local_size = [str(parse_expression(each).evaluate(program.macros)) for each in launch.local_size]
        extents = [str(program.macros.get(each, each)) for each in launch.global_size]
        lines.append(f"global_size = {toml(_whole_groups(extents, local_size))}")
        lines.append(f"local_size = {toml(local_size)}")
    if loops:
        lines.append(f"repeat = {toml(loops)}")
    if conditions:
        lines.append(f"when = {toml(conditions)}")
    return "\n".join(lines) + "\n"
