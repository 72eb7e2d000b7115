"""`coarsen apply --features`: the static features of a kernel, and what else is known of it without running it.

paper   the 17 features at each factor
work    loops, instructions and accesses as functions of the sizes of the launch; with --global-size their values
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from coarsen.analysis.expressions import (
    ZERO,
    Expression,
    Quantity,
    evaluate,
    expression_as_data,
    expression_text,
    number,
)
from coarsen.cli.kernel_input import lower_file, naming_file, whole_arguments
from coarsen.cli.options import parsed_size
from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.cost.work_functions import (
    AccessFunction,
    WorkFunctions,
    launch_sizes_by_name,
    work_functions,
)
from coarsen.errors import InvalidInputError
from coarsen.features import FeatureTable, feature_table
from coarsen.features.kernel_facts import launch_size
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.options import COARSENING_OPTIONS, TRANSFORM_OPTIONS

if TYPE_CHECKING:
    from coarsen.cli.apply.options import ApplyOptions


_OF_VARIANTS = {**COARSENING_OPTIONS, **TRANSFORM_OPTIONS}
_NOTHING = "-"
_UNKNOWN = "depends on data"
_KINDS = ("paper", "work")
_COUNTS = ("barriers", "atomics", "chain_operations", "chain_accesses")

Data = dict[str, Any]
Row = tuple[str, Expression | None]
Sizes = Mapping[str, Quantity]


def show_features(asked: ApplyOptions, kinds: str) -> None:
    """Show the 17 features of a kernel at each factor, without coarsening it, and the other kinds asked for.

    Raises:
        InvalidInputError: options that do not go together, a size or an argument that is none.
        RefusalError: the kernel can't be coarsened so, or has something that no analysis follows.
    """
    words = {word.strip() for word in kinds.split(",")}
    if not words <= {*_KINDS}:
        raise InvalidInputError(f"--features takes {' and '.join(_KINDS)}, not '{kinds}'")
    has_work = "work" in words
    if not has_work and asked.local_size is not None:
        raise InvalidInputError("--local-size goes with --report and --features work")
    if not has_work and (asked.global_size is not None or asked.size):
        raise InvalidInputError(f"{'--size' if asked.size else '--global-size'} goes with --features work")
    if asked.size and asked.global_size is None:
        raise InvalidInputError("--size needs --global-size too: work is that of a launch")
    along = _dimension(asked.chosen)
    lowered = lower_file(asked.file, asked.kernel, asked.build_options)
    with naming_file(asked.file):
        table = feature_table(lowered, along)
        work = work_functions(lowered) if has_work else None
        sizes = None if work is None else _sizes(lowered, work, asked)
    if asked.report_format is Format.JSON:
        print_json({**_features_as_data(table), **({} if work is None else {"work": _work_as_data(work, sizes)})})
        return
    _print_features(table)
    if work is not None:
        _print_work(lowered, work, sizes)


def _dimension(chosen: Mapping[str, Any]) -> int:
    """The dimension of the features. Raises InvalidInputError for other options of a variant."""
    along = chosen["dimension"] or [0]
    given = [name for name, option in _OF_VARIANTS.items() if chosen[name] not in (option.default, None, [])]
    if {*given} - {"dimension", "factor"} or chosen["factor"] or len(along) > 1:
        raise InvalidInputError("--features is of the kernel as it is: give no option of a variant but one --dim")
    return Coarsening(1, along[0]).dimension


def _features_as_data(table: FeatureTable) -> Data:
    features = {str(factor): table.at(factor).by_name() for factor in table.factors}
    return {"kernel": table.kernel, "dimension": table.dimension, "features": features}


def _print_features(table: FeatureTable) -> None:
    print_line(f"kernel {table.kernel} along dimension {table.dimension}, by factor")
    print_line()
    columns = {str(factor): table.at(factor).by_name() for factor in table.factors}
    names = next(iter(columns.values()))
    rows = [[name.replace("_", " "), *(f"{each[name]:.4g}" for each in columns.values())] for name in names]
    print_table(["feature", *columns], rows, numbers=[*columns])


# The work of a kernel as functions of the sizes of its launch.


def _sizes(kernel: Kernel, functions: WorkFunctions, asked: ApplyOptions) -> Sizes | None:
    """The sizes of the launch that the functions have, by name; None where no launch is given."""
    items = parsed_size("--global-size", asked.global_size)
    if items is None:
        return None
    launch = LaunchSizes(padded(items), launch_size(kernel, parsed_size("--local-size", asked.local_size)))
    sizes = {**launch_sizes_by_name(launch), **whole_arguments(kernel, asked.size or ())}
    return {name: size for name, size in sizes.items() if name in functions.names}


def _work_as_data(functions: WorkFunctions, sizes: Sizes | None) -> Data:
    """The functions as JSON, with their values where there are sizes."""
    data: Data = {
        "arguments": functions.arguments,
        "loops": [
            {"header": loop.header, "count": _as_data(loop.count), "is_bound": loop.is_bound}
            for loop in functions.loops
        ],
        "instructions": {kind.value: _as_data(count) for kind, count in functions.instructions.items()},
        **{name: _as_data(getattr(functions, name)) for name in _COUNTS},
        "local_bytes": functions.local_bytes,
        "live_words": functions.live_words,
        "accesses": [_access_as_data(access) for access in functions.accesses],
        "unknown": functions.unknown,
    }
    if sizes is not None:
        data["sizes"] = dict(sizes)
        data["values"] = {words: _value(function, sizes) for words, function in _work_rows(functions)}
    return data


def _access_as_data(access: AccessFunction) -> Data:
    footprint = access.footprint
    return {
        "to": _target(access),
        "store": access.access.is_store,
        "bytes": access.access.access_bytes,
        "count": _as_data(access.count),
        "strides": [_as_data(stride) for stride in footprint.strides],
        "iteration_strides": {header: _as_data(stride) for header, stride in footprint.iteration_strides.items()},
        **{name: _as_data(getattr(footprint, name)) for name in ("of_item", "of_group", "of_launch")},
    }


def _as_data(expression: Expression | None) -> object:
    return None if expression is None else expression_as_data(expression)


def _print_work(kernel: Kernel, functions: WorkFunctions, sizes: Sizes | None) -> None:
    """Print loops, work and accesses, each function in a line, with its value where there are sizes."""
    print_line()
    print_line("the work of a work-item, a mean over the NDRange")
    if sizes is not None:
        print_line(f"for {', '.join(f'{name} = {value}' for name, value in sizes.items())}")
    if functions.loops:
        _print_rows("loop", "rounds", _loop_rows(kernel, functions), sizes)
    _print_rows("work", "times", _work_rows(functions), sizes)
    for access in functions.accesses:
        _print_rows(_heading(access), "function", _access_rows(access), sizes)
    if functions.unknown:
        print_line()
        for words in functions.unknown:
            print_line(f"not known: {words}")


def _print_rows(heading: str, quantity: str, rows: Iterator[Row], sizes: Sizes | None) -> None:
    print_line()
    columns = [heading, *(["value"] if sizes is not None else []), quantity]
    print_table(columns, [_cells(*row, sizes) for row in rows], numbers=["value"])


def _cells(words: str, function: Expression | None, sizes: Sizes | None) -> list[str]:
    value = _value(function, sizes or {})
    shown = [] if sizes is None else [_NOTHING if value is None else f"{value:.6g}"]
    return [words, *shown, _UNKNOWN if function is None else expression_text(function)]


def _value(function: Expression | None, sizes: Sizes) -> Quantity | None:
    return evaluate(function, sizes) if function is not None and function.names <= sizes.keys() else None


def _loop_rows(kernel: Kernel, functions: WorkFunctions) -> Iterator[Row]:
    for loop in functions.loops:
        position = kernel.block[loop.header].terminator.position
        place = f"line {position.line}" if position is not None else f"block {loop.header}"
        yield f"{place}, at most" if loop.is_bound else place, loop.count


def _work_rows(functions: WorkFunctions) -> Iterator[Row]:
    for kind, count in functions.instructions.items():
        yield kind.value, count
    yield "barriers", functions.barriers
    yield "atomics", functions.atomics
    yield "dependent operations", functions.chain_operations
    yield "dependent accesses", functions.chain_accesses
    yield "live words", number(functions.live_words)
    yield "local bytes of a group", number(functions.local_bytes)


def _access_rows(access: AccessFunction) -> Iterator[Row]:
    yield "times", access.count
    for dimension, stride in enumerate(access.footprint.strides):
        if dimension and stride == ZERO:
            continue
        yield f"bytes between neighbours along {dimension}", stride
    for header, stride in access.footprint.iteration_strides.items():
        yield f"bytes between rounds of {header}", stride
    yield "bytes of a work-item", access.footprint.of_item
    yield "bytes of a group", access.footprint.of_group
    if access.access.address_space != AddressSpace.LOCAL:
        yield "bytes of the launch", access.footprint.of_launch


def _heading(access: AccessFunction) -> str:
    """Such as `line 12, load from values, 4 bytes`; a read-modify-write is a store."""
    position = access.access.instruction.position
    place = f"line {position.line}, " if position is not None else ""
    kind = "store to" if access.access.is_store else "load from"
    return f"{place}{kind} {_target(access)}, {access.access.access_bytes} bytes"


def _target(access: AccessFunction) -> str:
    return access.access.base.text if access.access.base is not None else "an unknown pointer"
