"""Measured spaces as tables that searches are replayed on, and parts of them that vary in some axes alone.

times of a space ─▶ Table ─ slices ─▶ a table for each launch, of layouts alone; for each layout, of launches
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from coarsen.opencl_bench.search.spaces import Axis, Choice, values_of
from coarsen.opencl_bench.search.tables import Row, Table, table_of
from coarsen.opencl_bench.studies.layouts.times import SpaceTimes
from coarsen.variant.transforms import device_kind_of
from coarsen.variant.variant import Variant

Values = tuple[tuple[str, Any], ...]


def table_of_times(times: SpaceTimes) -> Table:
    """Return the first times of a space as a table, with the axes that a live search of it has.

    A variant that failed has no time, and one that is not measured is no choice. The base is the launch as it is.

    Raises:
        InvalidInputError: none has a time.
    """
    space = times.space.searched(device_kind_of(times.environment.device_types))
    axes = [axis for axis in space.axes if len(axis.values) > 1]
    rows: list[Row] = []
    for variant, row in times.compared.items():
        values = values_of(space, space.choice_of(variant))
        seconds = row.compile_seconds + row.measure_seconds
        rows.append(({axis.name: values[axis.name] for axis in axes}, times.first.get(variant), seconds))
    default = values_of(space, space.choice_of(times.space.default))
    return table_of(times.space.name, axes, rows, {axis.name: default[axis.name] for axis in axes})


def variants_by_values(times: SpaceTimes, table: Table) -> Mapping[Values, Variant]:
    """Return the variants of a table by the values of their choices, which no base changes."""
    space = times.space.searched(device_kind_of(times.environment.device_types))
    names = [axis.name for axis in table.space.axes]
    found: dict[Values, Variant] = {}
    for variant in times.compared:
        values = values_of(space, space.choice_of(variant))
        found[tuple((name, values[name]) for name in names)] = variant
    return found


def values_in(table: Table, choice: Choice) -> Values:
    """Return the values of a choice of a table, as `variants_by_values` has them."""
    return tuple(values_of(table.space, choice).items())


def slices(table: Table, varies: Callable[[Axis], bool]) -> Iterator[Table]:
    """Yield the parts of a table in which some axes vary and the others have one value each.

    The axes that vary count as independent there. Parts without any time are left out.

    Args:
        table: whose base the values of the others come from, where they are valid.
        varies: tells the axes that vary.
    """
    places = [place for place, axis in enumerate(table.space.axes) if varies(axis)]
    axes = [replace(table.space.axes[place], shared=False) for place in places]
    groups: dict[Choice, list[Row]] = {}
    for choice, trial in table.trials.items():
        fixed = tuple(-1 if place in places else index for place, index in enumerate(choice))
        configuration = {axis.name: axis.values[choice[p]] for axis, p in zip(axes, places, strict=True)}
        groups.setdefault(fixed, []).append((configuration, trial.time, trial.seconds))
    default = {axis.name: axis.values[0] for axis in axes}
    for number, rows in enumerate(groups.values()):
        if any(time is not None for _, time, _ in rows):
            yield table_of(f"{table.name} {number}", axes, rows, default)
