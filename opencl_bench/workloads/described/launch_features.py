"""Features of a described kernel's launches, by which one of its versions is chosen.

[features]
rows = "height"                                              of the launch's arguments
aspect = "log2(height / width)"
row_cv = { supplied = "variation_of_lengths(row_starts)" }   by the caller; here of the buffers of the workload

Numbers that describe contents are functions of the array that a launch is given, never of the settings that made
it. All take time in proportion to the array, far more than a launch's choice: whoever supplies them pays.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import function_of, parsed
from coarsen.dispatch.features import Feature, KernelArgument, feature_steps, input_kinds
from coarsen.dispatch.steps import Kind
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import Declaration
from coarsen.opencl_bench.workloads.described.table import Table

Whole = NDArray[Any]
KEY = "features"


def variation_of_lengths(starts: Whole) -> float:
    """Return the standard deviation of the lengths between starts, over their mean; 0 where all are empty."""
    lengths = np.diff(starts)
    mean = float(lengths.mean())
    return float(lengths.std()) / mean if mean else 0.0


def longest_over_mean(starts: Whole) -> float:
    """Return the longest length between starts, over their mean; 1 where all are empty."""
    lengths = np.diff(starts)
    mean = float(lengths.mean())
    return float(lengths.max()) / mean if mean else 1.0


def mean_jump(indices: Whole) -> float:
    """Return the mean distance of neighbouring indices; 0 where there is one alone."""
    if len(indices) < 2:
        return 0.0
    return float(np.abs(np.diff(indices.astype(np.int64))).mean())


def column_spread(row_starts: Whole, column_indices: Whole) -> float:
    """Return the mean distance from the first to the last column of the rows that have any entry; 0 without."""
    filled = np.flatnonzero(np.diff(row_starts))
    if not len(filled):
        return 0.0
    first = column_indices[row_starts[filled]].astype(np.int64)
    last = column_indices[row_starts[filled + 1] - 1].astype(np.int64)
    return float((last - first).mean())


def share_of_most_frequent(keys: Whole) -> float:
    """Return the share of the keys that are the most frequent one."""
    return float(np.bincount(keys).max()) / len(keys)


def share_in_order(values: NDArray[Any]) -> float:
    """Return the share of neighbours along the last axis that do not descend; 1 where there are none."""
    if values.shape[-1] < 2:
        return 1.0
    return float((values[..., 1:] >= values[..., :-1]).mean())


def share_repeated(values: NDArray[Any]) -> float:
    """Return the share of neighbours along the last axis that are alike; 0 where there are none."""
    if values.shape[-1] < 2:
        return 0.0
    return float((values[..., 1:] == values[..., :-1]).mean())


FUNCTIONS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        each.__name__: each
        for each in (
            variation_of_lengths,
            longest_over_mean,
            mean_jump,
            column_spread,
            share_of_most_frequent,
            share_in_order,
            share_repeated,
        )
    }
)


@dataclass(frozen=True, slots=True)
class LaunchFeature:
    """A feature, and where the caller supplies it, how it is computed of a workload's buffers.

    Args:
        feature: as a tuned file has it.
        function: the name of one of `FUNCTIONS`; empty where nothing says it.
        buffers: what that is given.
    """

    feature: Feature
    function: str = ""
    buffers: tuple[str, ...] = ()

    def supplied(self, buffers: Mapping[str, Whole]) -> float:
        """Return the number that a caller would supply with these buffers, by name.

        Raises:
            InvalidInputError: nothing says how it is computed.
        """
        if not self.function:
            name = self.feature.name
            raise InvalidInputError(
                f"the feature {name} is supplied by the caller, and nothing says how to compute it here: "
                f'{KEY}.{name} = {{ supplied = "FUNCTION(BUFFER)" }}; there are {", ".join(FUNCTIONS)}'
            )
        return FUNCTIONS[self.function](*(buffers[name] for name in self.buffers))


def read_features(
    top: Table, declared: Sequence[Declaration], arguments: Sequence[KernelArgument], buffers: Sequence[str]
) -> tuple[LaunchFeature, ...]:
    """Read the features of a kernel: those of its source's pragmas, and of its file, which wins.

    Args:
        top: the outermost table of its description.
        declared: by pragmas.
        arguments: of the kernel.
        buffers: the names of those that are filled.

    Raises:
        InvalidInputError: a mistake in one of them, in one line that names its place.
    """
    table = top.table(KEY)
    if not declared and not table.values:
        return ()
    kinds = input_kinds(arguments)
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
