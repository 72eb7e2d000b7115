"""Every name in an expression must be a size, an extent of the local size or a macro that is a whole number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Condition, Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.description import Description, FilledDescription, needs
from coarsen.opencl_bench.workloads.described.values import SharedContents, SharedValues
from coarsen.tuning.workload.benchmark import whole_numbers

# Of launches and their arguments, which may depend on the loops around them.
_IN_LOOPS = re.compile(r"launches\[\d+\]\..*|arguments\[\d+\]\.(value|bytes)")


def check_names(description: Description) -> None:
    """Check all names. Raises InvalidInputError, with file and key, for the first that is wrong."""
    sizes = _common_sizes(description)
    for name in sizes & description.tunables.keys():
        raise InvalidInputError(f"{description.path}: tunables.{name}: there is a size of this name too")
    _check_shared_contents(description)
    known = sizes | _whole_macros(description)
    # Left open, it has no extents.
    known |= {f"local_size_{dimension}" for dimension in range(len(description.ndrange.local_size))}
    loops = _loop_names(description, known)
    for key, names in _names_by_key(description):
        for name in sorted(names - (known | loops if _IN_LOOPS.fullmatch(key) else known)):
            raise InvalidInputError(
                f"{description.path}: {key}: there is no '{name}'{did_you_mean(name, known)}; "
                f"there are {', '.join(sorted(known))}"
            )


def _loop_names(description: Description, known: set[str]) -> set[str]:
    """The names of all loops. Raises InvalidInputError for one that is taken, or for a bound."""
    for number, launch in enumerate(description.launches):
        place, inside = f"{description.path}: launches[{number}].repeat", set[str]()
        for loop in launch.loops:
            if loop.name in known:
                raise InvalidInputError(
                    f"{place}: there is a size or a macro '{loop.name}' too; rename the loop's"
                )
            if loop.name in inside:
                raise InvalidInputError(
                    f"{place}: a loop inside of another has its name, '{loop.name}'; rename one"
                )
            for name in sorted(frozenset().union(*(bound.names for bound in loop.bounds)) - known - inside):
                raise InvalidInputError(f"{place}: there is no '{name}'{did_you_mean(name, known | inside)}")
            inside.add(loop.name)
    return {loop.name for launch in description.launches for loop in launch.loops}


def _check_shared_contents(description: Description) -> None:
    known = {contents.name: contents for contents in description.contents}
    for index, argument in enumerate(description.arguments):
        values = argument.values if isinstance(argument, FilledDescription) else None
        if not isinstance(values, SharedValues):
            continue
        place = f"{description.path}: arguments[{index}].values"
        if values.name not in known:
            raise InvalidInputError(
                f"{place}: there are no contents '{values.name}'{did_you_mean(values.name, known)}; there are "
                f"{', '.join(known) or 'none'}: [contents]"
            )
        if values.field not in (fields := known[values.name].fields):
            hint = did_you_mean(values.field, fields)
            raise InvalidInputError(f"{place}: '{values.text}'{hint}: {values.name} has {', '.join(fields)}")


def _common_sizes(description: Description) -> set[str]:
    """The names of the sizes, which all presets must share."""
    first, *others = description.sizes
    names = set(description.sizes[first])
    for other in others:
        for name in sorted(names ^ set(description.sizes[other])):
            lacking = other if name in names else first
            raise InvalidInputError(
                f"{description.path}: sizes.{lacking}.{name}: it is missing; other presets have it"
            )
    return names


def _whole_macros(description: Description) -> set[str]:
    return {
        name
        for name, values in description.tunables.items()
        if all(whole_numbers(((name, value),)) for value in values)
    }


def _names_by_key(description: Description) -> Iterator[tuple[str, frozenset[str]]]:
    ndrange = description.ndrange
    by_key: list[tuple[str, Iterable[Expression | Condition | SharedContents]]] = [
        ("ndrange.global_size", ndrange.global_size),
        ("ndrange.global_offset", ndrange.global_offset),
        ("ndrange.local_size", ndrange.local_size_expressions),
        ("where", description.parameters.conditions),
    ]
    for number, launch in enumerate(description.launches):
        by_key += [(f"launches[{number}].{key}", texts) for key, texts in launch.expressions]
    by_key += [(f"contents.{each.name}", (each,)) for each in description.contents]
    by_key += [("roundings", filter(None, (description.roundings,))), ("ndrange.conditions", ndrange.conditions)]
    yield from ((key, each.names) for key, texts in by_key for each in texts)
    for index, argument in enumerate(description.arguments):
        yield from ((f"arguments[{index}].{key}", names) for key, names in needs(argument).items())


def check_parameter_use(description: Description) -> None:
    """Check that outputs are alike for all values of parameters.

    Raises:
        InvalidInputError: the extent of an output names a parameter or the local size.
    """
    if not description.parameters.parameters:
        return
    varying = {*description.tunables, *(f"local_size_{dimension}" for dimension in range(3))}
    for index, argument in enumerate(description.arguments):
        if not isinstance(argument, FilledDescription) or argument.name not in description.outputs:
            continue
        if names := sorted(needs(argument)[argument.extents_key] & varying):
            raise InvalidInputError(
                f"{description.place_of(index)}: the extent of an output depends on {names[0]}, so that the "
                "results of two versions could not be compared; make it scratch = true, and let another of "
                "[[launches]] finish it"
            )
