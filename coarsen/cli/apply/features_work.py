"""`coarsen apply --features work`: the work of a kernel as functions of the sizes of its launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.analysis.expression_text import expression_as_data, expression_text
from coarsen.analysis.expressions import ZERO, Expression, Quantity, evaluate, number
from coarsen.analysis.loop_counts import LoopCount
from coarsen.cli.kernel_input import whole_arguments
from coarsen.cli.options import local_size_of
from coarsen.cli.output import print_line, print_table
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.cost.work_functions import AccessFunction, WorkFunctions, launch_sizes_by_name, work_functions
from coarsen.errors import InvalidInputError
from coarsen.features.launch_size import launch_size
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace

_NOTHING = "-"
_UNKNOWN = "depends on data"


@dataclass(frozen=True, slots=True)
class WorkOfKernel:
    """The functions of a kernel, and the sizes for which values are wanted; None where only functions are.

    `launch` and `arguments` are the same sizes, as they were given.
    """

    kernel: Kernel
    functions: WorkFunctions
    sizes: Mapping[str, Quantity] | None
    launch: LaunchSizes | None = None
    arguments: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a table: what it is, and as a function."""

    words: str
    function: Expression | None


def check_work_options(work: bool, global_size: str | None, arguments: Sequence[str] | None) -> None:
    """Raise InvalidInputError for sizes without `work`, and for arguments without a global size."""
    if not work and (global_size is not None or arguments):
        raise InvalidInputError(f"{'--size' if arguments else '--global-size'} goes with --features work")
    if arguments and global_size is None:
        raise InvalidInputError("--size needs --global-size too: work is that of a launch")


def work_of(
    kernel: Kernel, global_size: str | None, local_size: Sequence[int] | None, arguments: Sequence[str]
) -> WorkOfKernel:
    """Return the work of a kernel.

    Args:
        kernel: as it was lowered.
        global_size: what was given to `--global-size`.
        local_size: the launch's, in work-items; None for what the kernel requires, else the usual one.
        arguments: what was given to `--size`.

    Raises:
        RefusalError: the kernel has something that no analysis follows.
        InvalidInputError: a size that is none, or an argument that the kernel hasn't got.
    """
    functions = work_functions(kernel)
    if global_size is None:
        return WorkOfKernel(kernel, functions, None)
    items = local_size_of(global_size)
    if items is None:
        raise InvalidInputError(
            f"--global-size takes one to three sizes, such as 4096 or 512x512, not '{global_size}'"
        )
    launch = LaunchSizes(padded(items), launch_size(kernel, local_size))
    known = whole_arguments(kernel, arguments)
    sizes = {**launch_sizes_by_name(launch), **known}
    used = {name: size for name, size in sizes.items() if name in functions.names}
    return WorkOfKernel(kernel, functions, used, launch, known)


def work_as_data(work: WorkOfKernel) -> dict[str, object]:
    """Return the functions as JSON, with their values where there are sizes."""
    functions = work.functions
    data: dict[str, object] = {
        "arguments": list(functions.arguments),
        "loops": [
            {"header": loop.header, "count": _as_data(loop.count), "basis": loop.basis.value}
            for loop in functions.loops
        ],
        "instructions": {kind.value: _as_data(count) for kind, count in functions.instructions.items()},
        "barriers": _as_data(functions.barriers),
        "atomics": _as_data(functions.atomics),
        "chain_operations": _as_data(functions.chain_operations),
        "chain_accesses": _as_data(functions.chain_accesses),
        "local_bytes": functions.local_bytes,
        "live_words": functions.live_words,
        "accesses": [_access_as_data(access) for access in functions.accesses],
        "unknown": list(functions.unknown),
    }
    if work.sizes is not None:
        data["sizes"] = dict(work.sizes)
        data["values"] = {row.words: _value(row.function, work.sizes) for row in _work_rows(functions)}
    return {"work": data}


def _access_as_data(access: AccessFunction) -> dict[str, object]:
    footprint = access.footprint
    return {
        "to": _target(access),
        "store": access.access.is_store,
        "bytes": access.access.access_bytes,
        "count": _as_data(access.count),
        "strides": [_as_data(stride) for stride in footprint.strides],
        "iteration_strides": {header: _as_data(stride) for header, stride in footprint.iteration_strides.items()},
        "of_item": _as_data(footprint.of_item),
        "of_group": _as_data(footprint.of_group),
        "of_launch": _as_data(footprint.of_launch),
    }


def _as_data(expression: Expression | None) -> object:
    return None if expression is None else expression_as_data(expression)


def print_work(work: WorkOfKernel) -> None:
    """Print loops, work and accesses, each function in a line, with its value where there are sizes."""
    print_line()
    print_line("the work of a work-item, a mean over the NDRange")
    if work.sizes is not None:
        print_line(f"for {', '.join(f'{name} = {value}' for name, value in work.sizes.items())}")
    if work.functions.loops:
        _print_rows("loop", "rounds", (_loop_row(work.kernel, loop) for loop in work.functions.loops), work.sizes)
    _print_rows("work", "times", _work_rows(work.functions), work.sizes)
    for access in work.functions.accesses:
        _print_rows(_heading(access), "function", _access_rows(access), work.sizes)
    if work.functions.unknown:
        print_line()
        for words in work.functions.unknown:
            print_line(f"not known: {words}")


def _print_rows(heading: str, quantity: str, rows: Iterator[_Row], sizes: Mapping[str, Quantity] | None) -> None:
    print_line()
    columns = [heading, *(["value"] if sizes is not None else []), quantity]
    print_table(columns, [_cells(row, sizes) for row in rows], numbers=["value"])


def _cells(row: _Row, sizes: Mapping[str, Quantity] | None) -> list[str]:
    value = None if sizes is None else _value(row.function, sizes)
    shown = [] if sizes is None else [_NOTHING if value is None else f"{value:.6g}"]
    return [row.words, *shown, _UNKNOWN if row.function is None else expression_text(row.function)]


def _value(function: Expression | None, sizes: Mapping[str, Quantity]) -> Quantity | None:
    is_known = function is not None and function.names <= sizes.keys()
    return evaluate(function, sizes) if function is not None and is_known else None


def _loop_row(kernel: Kernel, loop: LoopCount) -> _Row:
    position = kernel.block[loop.header].terminator.position
    place = f"line {position.line}" if position is not None else f"block {loop.header}"
    return _Row(f"{place}, {loop.basis}", loop.count)


def _work_rows(functions: WorkFunctions) -> Iterator[_Row]:
    for kind, count in functions.instructions.items():
        yield _Row(kind.value, count)
    yield _Row("barriers", functions.barriers)
    yield _Row("atomics", functions.atomics)
    yield _Row("dependent operations", functions.chain_operations)
    yield _Row("dependent accesses", functions.chain_accesses)
    yield _Row("live words", number(functions.live_words))
    yield _Row("local bytes of a group", number(functions.local_bytes))


def _access_rows(access: AccessFunction) -> Iterator[_Row]:
    yield _Row("times", access.count)
    for dimension, stride in enumerate(access.footprint.strides):
        if dimension and stride == ZERO:
            continue
        yield _Row(f"bytes between neighbours along {dimension}", stride)
    for header, stride in access.footprint.iteration_strides.items():
        yield _Row(f"bytes between rounds of {header}", stride)
    yield _Row("bytes of a work-item", access.footprint.of_item)
    yield _Row("bytes of a group", access.footprint.of_group)
    if access.access.address_space != AddressSpace.LOCAL:
        yield _Row("bytes of the launch", access.footprint.of_launch)


def _heading(access: AccessFunction) -> str:
    """Such as `line 12, load from values, 4 bytes`; a read-modify-write is a store."""
    position = access.access.instruction.position
    place = f"line {position.line}, " if position is not None else ""
    kind = "store to" if access.access.is_store else "load from"
    return f"{place}{kind} {_target(access)}, {access.access.access_bytes} bytes"


def _target(access: AccessFunction) -> str:
    return access.access.base.text if access.access.base is not None else "an unknown pointer"
