"""Features of a described kernel's launches, by which one of its versions is chosen.

[features]
rows = "height"                                              of the launch's arguments
aspect = "log2(height / width)"
row_cv = { supplied = "variation_of_lengths(row_starts)" }   by the caller; here of the buffers of the workload
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import function_of, parsed
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument, feature_steps, input_kinds
from coarsen.dispatch.steps import Kind
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import Declaration
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.opencl_bench.workloads.measured import FUNCTIONS, KEY, LaunchFeature


def read_features(
    top: Table, declared: Sequence[Declaration], arguments: Sequence[ArgumentDescription]
) -> tuple[LaunchFeature, ...]:
    """Read the features of a kernel: those of its source's pragmas, and of its file, which wins.

    Args:
        top: the outermost table of its description.
        declared: by pragmas.
        arguments: of the file.

    Raises:
        InvalidInputError: a mistake in one of them, in one line that names its place.
    """
    table = top.table(KEY)
    if not declared and not table.values:
        return ()
    kinds = input_kinds(kernel_arguments(arguments))
    buffers = [each.name for each in arguments if isinstance(each, BufferDescription)]
    found: dict[str, LaunchFeature] = {}
    for each in declared:
        try:
            found[each.name] = LaunchFeature(_feature(each.name, each.text or None, kinds))
        except InvalidInputError as error:
            raise InvalidInputError(f"{each.place}: {error}") from None
    for name, value in table.values.items():
        try:
            found[name] = _told(name, value, kinds, buffers)
        except InvalidInputError as error:
            raise table.error(name, str(error)) from None
    return tuple(found.values())


def _feature(name: str, expression: str | None, kinds: Mapping[str, Kind]) -> Feature:
    feature = Feature(name, expression)
    feature_steps(feature, kinds)
    return feature


def _told(name: str, value: object, kinds: Mapping[str, Kind], buffers: Sequence[str]) -> LaunchFeature:
    """The feature of an entry of the file."""
    if isinstance(value, str):
        return LaunchFeature(_feature(name, value, kinds))
    match value:
        case {"supplied": str(text), **rest} if not rest:
            function, given = _call(text)
            for each in given:
                if each not in buffers:
                    hint = did_you_mean(each, buffers)
                    raise InvalidInputError(f"there is no buffer '{each}'{hint}; there are {', '.join(buffers)}")
            return LaunchFeature(_feature(name, None, kinds), function, given)
    raise InvalidInputError(f'it must be a text, or {{ supplied = "FUNCTION(BUFFER)" }}, not {value!r}')


def _call(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of the function that a text calls, and those of the buffers."""
    tree = parsed(text)
    name = function_of(tree) if isinstance(tree, ast.Call) else ""
    arguments = tree.args if isinstance(tree, ast.Call) else []
    given = tuple(each.id for each in arguments if isinstance(each, ast.Name))
    if not name or len(given) != len(arguments):
        raise InvalidInputError(f"'{text}' must have the form FUNCTION(BUFFER)")
    if name not in FUNCTIONS:
        hint = did_you_mean(name, FUNCTIONS)
        raise InvalidInputError(f"there is no function '{name}'{hint}; there are {', '.join(FUNCTIONS)}")
    wanted = [*inspect.signature(FUNCTIONS[name]).parameters]
    if len(given) != len(wanted):
        raise InvalidInputError(f"'{text}' must have the form {name}({', '.join(wanted)})")
    return name, given


def kernel_arguments(arguments: Iterable[ArgumentDescription]) -> Iterator[KernelArgument]:
    """Enumerate the arguments of a launch as features know them."""
    for argument in arguments:
        yield KernelArgument(argument.name, _kind(argument))


def _kind(argument: ArgumentDescription) -> ArgumentKind:
    if isinstance(argument, BufferDescription | SharedDescription | NullDescription):
        return ArgumentKind.BUFFER
    if isinstance(argument, LocalDescription):
        return ArgumentKind.LOCAL
    if isinstance(argument, ScalarDescription) and not argument.type.is_opaque and argument.type.components == 1:
        return ArgumentKind.WHOLE if argument.type.is_integer else ArgumentKind.REAL
    return ArgumentKind.OTHER
