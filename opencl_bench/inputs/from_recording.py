"""The sizes of launches that a real program made of a described kernel, as the inputs over which it is tuned.

    recording ─▶ launches of the kernel ─▶ those that are as described, each size once ─▶ some, space-filling
              ─▶ NAME.inputs.csv beside NAME.toml

The sizes that the description names are found from what a launch passes:

    value = "width"                of a scalar: width is the number that was passed
    elements = "n + 1"             of a buffer: n is one less than its elements
    global_size = ["height"]       height is the global size

What the description then says of the launch must be what the program did: a launch that differs would be tuned for
as something else. Numbers that aren't whole and the contents of buffers are as the description says.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import farthest, places_of
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT, is_of, list_file, write_inputs
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.opencl_bench.workloads.described.workload import check_preset
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument, whole_numbers
from coarsen.tuning.workload.launch_list import (
    ListedKernel,
    ListedLaunch,
    PassedArgument,
    PassedBuffer,
    PassedOther,
    PassedScalar,
    PassedShared,
    read_launch_list,
)
from coarsen.variant.variant import shape

_LARGEST = 1 << 40
_WANTED: Mapping[type[ArgumentDescription], type[PassedArgument]] = {
    BufferDescription: PassedBuffer,
    SharedDescription: PassedShared,
    NullDescription: NullArgument,
    ScalarDescription: PassedScalar,
    LocalDescription: LocalArgument,
}
_KINDS: Mapping[type[PassedArgument], str] = {
    PassedBuffer: "a buffer",
    PassedShared: "a buffer given twice",
    NullArgument: "a null pointer",
    PassedScalar: "a number",
    LocalArgument: "local memory",
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
    local_size = launch.local_size or description.ndrange.local_size
    extents = {f"local_size_{dimension}": extent for dimension, extent in enumerate(local_size)}
    known = {**whole_numbers(description.defaults), **extents}
    passed = [*_passed(description, launch)]
    sizes = _solved(description, [*passed, *_elements(description, launch)], known)
    for fact in passed:
        said = fact.expression.evaluate({**known, **sizes})
        if said != fact.number:
            raise InvalidInputError(
                f"its {fact.what} is {fact.number}, and '{fact.expression.text}' is {said} for {_shown(sizes)}"
            )
    offset = tuple(each.evaluate({**known, **sizes}) for each in description.ndrange.global_offset)
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
    own, described = len(launch.global_size), len(description.ndrange.global_size)
    if own != described:
        raise InvalidInputError(f"it has {own} dimensions, and the description has {described}")
    for argument, passed in zip(arguments, launch.arguments, strict=True):
        if isinstance(passed, PassedOther):
            raise InvalidInputError(f"'{argument.name}' is an {passed.kind}, of which nothing is recorded")
        if not isinstance(passed, _WANTED.get(type(argument), PassedOther)):
            raise InvalidInputError(
                f"'{argument.name}' is {_KINDS[type(passed)]}, and is described as something else"
            )
        if isinstance(passed, PassedScalar) and len(passed.content) != argument.type.byte_count:
            raise InvalidInputError(
                f"'{argument.name}' is {argument.type.name}, of {argument.type.byte_count} bytes, and "
                f"{len(passed.content)} were passed"
            )
        if isinstance(passed, PassedShared) and isinstance(argument, SharedDescription):
            _check_shared(arguments, argument, passed)


def _check_shared(
    arguments: tuple[ArgumentDescription, ...], argument: SharedDescription, passed: PassedShared
) -> None:
    first = arguments[passed.index].name if passed.index < len(arguments) else f"argument {passed.index}"
    if first != argument.same_as:
        raise InvalidInputError(f"'{argument.name}' is the buffer of '{first}', not of '{argument.same_as}'")


def _passed(description: Description, launch: ListedLaunch) -> Iterator[_Fact]:
    """Yield the facts that must be just as the description says: whole numbers, and the global size."""
    for argument, passed in zip(description.arguments_of(description.kernel), launch.arguments, strict=True):
        if not isinstance(argument, ScalarDescription) or not isinstance(passed, PassedScalar):
            continue
        if argument.type.is_integer:
            numbers = np.frombuffer(passed.content, argument.type.scalar)[: argument.type.components].tolist()
            for value, number in zip(argument.value, numbers, strict=True):
                if isinstance(value, Expression):
                    yield _Fact(f"'{argument.name}'", value, number)
                elif value != number:
                    raise InvalidInputError(f"its '{argument.name}' is {number}, and is described as {value}")
    extents = zip(description.ndrange.global_size, launch.global_size, strict=True)
    for dimension, (expression, extent) in enumerate(extents):
        yield _Fact(f"global size along dimension {dimension}", expression, extent)


def _elements(description: Description, launch: ListedLaunch) -> Iterator[_Fact]:
    for argument, passed in zip(description.arguments_of(description.kernel), launch.arguments, strict=True):
        if isinstance(argument, BufferDescription) and isinstance(passed, PassedBuffer):
            count = passed.byte_count // argument.type.byte_count
            yield _Fact(f"number of elements of '{argument.name}'", argument.elements, count)


def _solved(description: Description, facts: list[_Fact], known: Mapping[str, int]) -> dict[str, int]:
    """The sizes that facts tell, the plain names first, then what only one number fits."""
    wanted = dict.fromkeys(next(iter(description.sizes.values())))
    sizes = _settings(description, wanted)
    plain = [fact for fact in facts if isinstance(fact.expression.tree, ast.Name)]
    for fact in plain:
        if fact.expression.text in wanted:
            sizes.setdefault(fact.expression.text, fact.number)
    # A number that is found may leave another expression with only one that isn't.
    for _ in wanted:
        for fact in facts:
            unknown = [*(fact.expression.names & wanted.keys()) - sizes.keys()]
            if len(unknown) == 1:
                number = _only_number(fact, unknown[0], {**known, **sizes})
                if number is not None:
                    sizes[unknown[0]] = number
    for name in sorted(wanted.keys() - sizes.keys()):
        raise InvalidInputError(f"nothing that it passes says what the size '{name}' of the description is")
    return {name: sizes[name] for name in wanted}


def _settings(description: Description, wanted: Iterable[str]) -> dict[str, int]:
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


@dataclass(frozen=True, slots=True)
class FromRecording:
    """The inputs that a recording gave.

    Attributes:
        path: of the list of inputs.
        inputs: the sizes of those that were chosen.
        different: how many different ones there were to choose from.
        launches: how many launches of the kernel were recorded.
        covered: how many of these have the sizes of a chosen one.
        left_out: reasons for which launches are no inputs, with how many there were.
    """

    path: Path
    inputs: tuple[Mapping[str, int], ...]
    different: int
    launches: int
    covered: int
    left_out: Mapping[str, int]


def inputs_from(description: Path, recording: Path, most: int = DEFAULT_COUNT) -> FromRecording:
    """List the sizes of recorded launches as the inputs of their kernel, in place of a list that is there.

    Args:
        description: of the kernel.
        recording: the folder that `coarsen run --record` wrote.
        most: how many inputs are chosen at most.

    Raises:
        InvalidInputError: a recording that can't be read, has no launch of the kernel, or of another source alone,
            or in which all launches differ from what the description says; a description without sizes.
    """
    path = list_file(description)
    # A list that is there, of other inputs perhaps, does not matter.
    own = read_description(description, has_list=False)
    if not next(iter(own.sizes.values())) or any(launch.loops for launch in own.launches):
        raise InvalidInputError(
            f"{description}: inputs differ by the sizes that it names, and can't have launches with repeat"
        )
    kernels = [*_of_kernel(read_launch_list(recording), own, recording)]
    counts, left_out = _counted(own, kernels)
    if not counts:
        reason, count = next(iter(left_out.items()))
        of_them = f" ({count} of them)" if count > 1 else ""
        raise InvalidInputError(
            f"{recording}: no launch of {own.kernel} is as {description.name} says: {reason}{of_them}"
        )
    different, weights = [dict(each) for each in counts], [*counts.values()]
    chosen = farthest(places_of(different), weights.index(max(weights)), most, weights)
    inputs = tuple(different[index] for index in chosen)
    write_inputs(path, inputs)
    return FromRecording(
        path,
        inputs,
        len(counts),
        sum(left_out.values()) + sum(weights),
        sum(weights[index] for index in chosen),
        left_out,
    )


def _of_kernel(kernels: Sequence[ListedKernel], own: Description, recording: Path) -> Iterator[ListedKernel]:
    """The launches of the description's kernel, from its source."""
    named = [each for each in kernels if each.kernel == own.kernel]
    if not named:
        names = sorted({each.kernel for each in kernels})
        raise InvalidInputError(
            f"{recording}: it has no launch of the kernel {own.kernel}{did_you_mean(own.kernel, names)}; "
            f"it has launches of {', '.join(names) or 'none'}"
        )
    source_hash = own.source_hash
    found = [each for each in named if each.source_hash == source_hash]
    if not found:
        files = " or ".join(sorted({each.source_file for each in named}))
        raise InvalidInputError(
            f"{recording}: the program launched {own.kernel} from another source than {own.kernel_file.name}; "
            f"record the program again, or describe the source that it used, {files} in that folder"
        )
    yield from found


def _counted(
    own: Description, kernels: Iterable[ListedKernel]
) -> tuple[Counter[tuple[tuple[str, int], ...]], Counter[str]]:
    """Count the launches by their sizes, and those that are not as described by the reason."""
    counts: Counter[tuple[tuple[str, int], ...]] = Counter()
    left_out: Counter[str] = Counter()
    for kernel in kernels:
        if kernel.further:
            left_out["what they pass is not listed"] += kernel.further
        for launch in kernel.launches:
            try:
                sizes = sizes_of(own, launch)
                _check(own, sizes)
            except InvalidInputError as error:
                left_out[str(error)] += launch.count
                continue
            counts[tuple(sizes.items())] += launch.count
    return counts, left_out


def _check(own: Description, sizes: Mapping[str, int]) -> None:
    """Raise InvalidInputError for sizes that the description can't have, or that it excludes."""
    check_preset(replace(own, sizes={"": sizes}), "")
    if own.inputs is not None and not is_of(own.inputs, sizes):
        raise InvalidInputError(f"{_shown(sizes)} is not within [inputs]")
