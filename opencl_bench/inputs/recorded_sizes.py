"""The sizes that a kernel's description names, found from what a recorded launch passes.

    value = "width"                of a scalar: width is the number that was passed
    elements = "n + 1"             of a buffer: n is one less than its elements
    global_size = ["height"]       height is the global size

What the description then says of the launch must be what the program did: a launch that differs would be tuned for
as something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.dispatch.expressions import Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import whole_numbers
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.launch_list import (
    ListedLaunch,
    PassedArgument,
    PassedBuffer,
    PassedLocal,
    PassedNull,
    PassedOther,
    PassedScalar,
    PassedShared,
)
from coarsen.opencl_bench.workloads.described.recorded_inputs import scalar_numbers
from coarsen.variant.variant import shape

_LARGEST = 1 << 40
_KINDS: Mapping[type[PassedArgument], str] = {
    PassedBuffer: "a buffer",
    PassedShared: "a buffer given twice",
    PassedNull: "a null pointer",
    PassedScalar: "a number",
    PassedLocal: "local memory",
}


@dataclass(frozen=True, slots=True)
class _Fact:
    """A number that a launch passes, and what the description says that it is."""

    what: str
    expression: Expression
    number: int


def sizes_of(description: Description, launch: ListedLaunch) -> dict[str, int]:
    """Return the sizes of a description at a launch.

    Raises:
        InvalidInputError: the launch is not as the description says, or a size can't be told by it.
    """
    _check_kinds(description, launch)
    local_size = launch.local_size or description.local_size
    extents = {f"local_size_{dimension}": extent for dimension, extent in enumerate(local_size)}
    known = {**whole_numbers(description.defaults), **extents}
    scalars, others = [*_scalars(description, launch)], [*_extents(description, launch)]
    sizes = _solved(description, [*scalars, *others, *_elements(description, launch)], known)
    for fact in (*scalars, *others):
        said = fact.expression.evaluate({**known, **sizes})
        if fact.expression.names and said != fact.number:
            raise InvalidInputError(
                f"its {fact.what} is {fact.number}, and '{fact.expression.text}' is {said} for {_shown(sizes)}"
            )
    offset = tuple(each.evaluate({**known, **sizes}) for each in description.global_offset)
    if (offset if any(offset) else ()) != launch.global_offset:
        raise InvalidInputError(
            f"its global offset is {shape(launch.global_offset) or 0}, and is described otherwise"
        )
    return sizes


def _check_kinds(description: Description, launch: ListedLaunch) -> None:
    """Raise InvalidInputError for arguments of other kinds than those of the description."""
    arguments = description.arguments_of(description.kernel)
    if len(arguments) != len(launch.arguments):
        raise InvalidInputError(f"it passes {len(launch.arguments)} arguments, and {len(arguments)} are described")
    if len(launch.global_size) != len(description.global_size):
        raise InvalidInputError(
            f"it has {len(launch.global_size)} dimensions, and the description has {len(description.global_size)}"
        )
    for argument, passed in zip(arguments, launch.arguments, strict=True):
        if isinstance(passed, PassedOther):
            raise InvalidInputError(f"'{argument.name}' is an {passed.kind}, of which nothing is recorded")
        if not isinstance(passed, _wanted(argument)):
            raise InvalidInputError(
                f"'{argument.name}' is {_KINDS[type(passed)]}, and is described as something else"
            )
        if isinstance(argument, ScalarDescription) and isinstance(passed, PassedScalar):
            scalar_numbers(argument.type, passed.content)
        if isinstance(passed, PassedShared) and isinstance(argument, SharedDescription):
            _check_shared(arguments, argument, passed)


def _check_shared(
    arguments: tuple[ArgumentDescription, ...], argument: SharedDescription, passed: PassedShared
) -> None:
    first = arguments[passed.index].name if passed.index < len(arguments) else f"argument {passed.index}"
    if first != argument.same_as:
        raise InvalidInputError(f"'{argument.name}' is the buffer of '{first}', not of '{argument.same_as}'")


def _wanted(argument: ArgumentDescription) -> type[PassedArgument]:
    kinds: dict[type[ArgumentDescription], type[PassedArgument]] = {
        BufferDescription: PassedBuffer,
        SharedDescription: PassedShared,
        NullDescription: PassedNull,
        ScalarDescription: PassedScalar,
        LocalDescription: PassedLocal,
    }
    return kinds.get(type(argument), PassedOther)


def _scalars(description: Description, launch: ListedLaunch) -> Iterator[_Fact]:
    for argument, passed in zip(description.arguments_of(description.kernel), launch.arguments, strict=True):
        if (
            isinstance(argument, ScalarDescription)
            and isinstance(passed, PassedScalar)
            and argument.type.is_integer
        ):
            numbers = scalar_numbers(argument.type, passed.content)
            for expression, number in zip(argument.value, numbers, strict=True):
                if isinstance(expression, Expression):
                    yield _Fact(f"'{argument.name}'", expression, int(number))


def _extents(description: Description, launch: ListedLaunch) -> Iterator[_Fact]:
    for dimension, (expression, extent) in enumerate(
        zip(description.global_size, launch.global_size, strict=True)
    ):
        yield _Fact(f"global size along dimension {dimension}", expression, extent)


def _elements(description: Description, launch: ListedLaunch) -> Iterator[_Fact]:
    for argument, passed in zip(description.arguments_of(description.kernel), launch.arguments, strict=True):
        if isinstance(argument, BufferDescription) and isinstance(passed, PassedBuffer):
            yield _Fact(
                f"number of elements of '{argument.name}'",
                argument.elements,
                passed.byte_count // argument.type.byte_count,
            )


def _solved(description: Description, facts: list[_Fact], known: Mapping[str, int]) -> dict[str, int]:
    """The sizes that facts tell, the plain names first, then what only one number fits."""
    wanted = {*next(iter(description.sizes.values()))}
    sizes = _settings(description, wanted)
    plain = [fact for fact in facts if isinstance(fact.expression.tree, ast.Name)]
    for fact in plain:
        if fact.expression.text in wanted:
            sizes.setdefault(fact.expression.text, fact.number)
    # A number that is found may leave another expression with only one that isn't.
    for _ in wanted:
        for fact in facts:
            unknown = [*(fact.expression.names & wanted) - sizes.keys()]
            if len(unknown) == 1:
                number = _only_number(fact, unknown[0], {**known, **sizes})
                if number is not None:
                    sizes[unknown[0]] = number
    for name in sorted(wanted - sizes.keys()):
        raise InvalidInputError(f"nothing that it passes says what the size '{name}' of the description is")
    return sizes


def _settings(description: Description, wanted: set[str]) -> dict[str, int]:
    """The settings of generated contents, which no launch passes: the ordinary ones."""
    space = description.inputs
    return {} if space is None else {name: value for name, value in space.contents[0].items() if name in wanted}


def _only_number(fact: _Fact, name: str, known: Mapping[str, int]) -> int | None:
    """The only number for which an expression that grows with it has a value; None if there is no such one."""

    def value(number: int) -> int:
        return fact.expression.evaluate({**known, name: number})

    try:
        low, high = 1, 1
        while value(high) < fact.number:
            high *= 2
            if high > _LARGEST:
                return None
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if value(middle) < fact.number else (low, middle)
        is_only = value(low) == fact.number and value(low + 1) != fact.number
    except InvalidInputError:
        return None
    return low if is_only else None


def _shown(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(sizes.items())) or "every launch"
