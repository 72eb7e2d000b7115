"""Launches that a real program made of a described kernel, as the inputs over which it is tuned.

    recording ─▶ the kernel's launches ─▶ those that are as described, each once ─▶ at most so many, space-filling
              ─▶ NAME.recorded.toml beside NAME.toml, the contents of buffers in NAME.recorded/

A launch without recorded contents gets contents as the description declares them. The sizes that the description
names are found from what the launch passes:

    value = "width"                of a scalar: width is the number that was passed
    elements = "n + 1"             of a buffer: n is one less than its elements
    global_size = ["height"]       height is the global size

What the description then says of the launch must be what the program did: a launch that differs would be tuned for
as something else.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from coarsen.base.files import read_file, replace_file
from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.opencl_bench.workloads.described.recorded_inputs import (
    KEY,
    input_as_data,
    scalar_numbers,
    with_recorded,
)
from coarsen.opencl_bench.workloads.described.table import toml_lines
from coarsen.opencl_bench.workloads.described.values import FileValues
from coarsen.opencl_bench.workloads.described.workload import check_preset, own_launch
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument, whole_numbers
from coarsen.tuning.workload.launch_list import (
    ListedKernel,
    ListedLaunch,
    PassedArgument,
    PassedBuffer,
    PassedOther,
    PassedScalar,
    PassedShared,
    RecordedInput,
    read_launch_list,
)
from coarsen.variant.variant import shape

SUFFIX = ".recorded"
_LARGEST = 1 << 40
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
    scalars, others = [*_scalars(description, launch)], [*_extents(description, launch)]
    sizes = _solved(description, [*scalars, *others, *_elements(description, launch)], known)
    for fact in (*scalars, *others):
        said = fact.expression.evaluate({**known, **sizes})
        if fact.expression.names and said != fact.number:
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
        NullDescription: NullArgument,
        ScalarDescription: PassedScalar,
        LocalDescription: LocalArgument,
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
        zip(description.ndrange.global_size, launch.global_size, strict=True)
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


@dataclass(frozen=True, slots=True)
class FromRecording:
    """The inputs that a recording gave.

    Attributes:
        path: of the description that lists them.
        inputs: those that were chosen.
        different: how many different launches there were to choose from.
        launches: how many launches of the kernel were recorded.
        covered: how many of these were made as one of the chosen ones is.
        without_contents: how many of the chosen have contents as declared, in place of recorded ones.
        has_uniform: whether these are uniform, since the description has the contents of one launch in files.
        places: the numbers that each of the inputs has.
        left_out: reasons for which launches are no inputs, with how many there were.
    """

    path: Path
    inputs: tuple[RecordedInput, ...]
    different: int
    launches: int
    covered: int
    without_contents: int
    has_uniform: bool
    places: tuple[Mapping[str, float], ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A launch that is as described, with the names of its files in the recording, and its place among others."""

    input: RecordedInput
    place: Mapping[str, float]


def inputs_from(description: Path, recording: Path, most: int = DEFAULT_COUNT) -> FromRecording:
    """Write the description of recorded launches beside that of their kernel.

    Args:
        description: of the kernel.
        recording: the folder that `coarsen run --record` wrote.
        most: how many launches are chosen at most.

    Raises:
        InvalidInputError: a recording that can't be read, has no launch of the kernel, or of another source alone,
            or in which all launches differ from what the description says.
    """
    own = read_description(description)
    if own.recorded:
        raise InvalidInputError(f"{description}: it lists launches itself; name the kernel's own description")
    kernels = [*_of_kernel(read_launch_list(recording), own, recording)]
    candidates, left_out = _candidates(own, kernels)
    if not candidates:
        raise InvalidInputError(
            f"{recording}: no launch of {own.kernel} is as {description.name} says: {_first(left_out)}"
        )
    weights = [each.input.launched for each in candidates]
    chosen = [candidates[index] for index in space_filling([each.place for each in candidates], weights, most)]
    path = description.with_name(f"{description.stem}{SUFFIX}.toml")
    folder = recording if recording.is_dir() else recording.parent
    for each in chosen:
        _check_files(own, each.input, folder)
    inputs = tuple(_with_files(each.input, folder, path) for each in chosen)
    features = () if own.features else tuple(_varying(own, candidates))
    replace_file(recorded_text(description.name, recording, inputs, features).encode(), path)
    return FromRecording(
        path,
        inputs,
        len(candidates),
        sum(launch.count for kernel in kernels for launch in kernel.launches) + sum(k.further for k in kernels),
        sum(each.launched for each in inputs),
        sum(not each.files for each in inputs) if _needs_contents(own) else 0,
        any(isinstance(each, BufferDescription) and isinstance(each.values, FileValues) for each in own.arguments),
        tuple(each.place for each in chosen),
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


def _candidates(own: Description, kernels: Iterable[ListedKernel]) -> tuple[list[_Candidate], Counter[str]]:
    """The different launches that are as described, and why the others are not."""
    found: dict[int, RecordedInput] = {}
    left_out: Counter[str] = Counter()
    names = [argument.name for argument in own.arguments_of(own.kernel)]
    for kernel in kernels:
        if kernel.further:
            left_out["what they pass is not listed"] += kernel.further
        for launch in kernel.launches:
            try:
                one = _input(own, names, launch)
            except InvalidInputError as error:
                left_out[str(error)] += launch.count
                continue
            # Launches with other local sizes, and of other build options, are the same input.
            number = replace(one, files={}).number
            before = found.get(number)
            if before is not None:
                one = replace(before, launched=before.launched + one.launched, files=before.files or one.files)
            found[number] = one
    return [_Candidate(each, _place(own, each)) for each in found.values()], left_out


def _input(own: Description, names: Sequence[str], launch: ListedLaunch) -> RecordedInput:
    """A launch as an input. Raises InvalidInputError where it can't be one."""
    one = RecordedInput(
        launched=launch.count,
        sizes=sizes_of(own, launch),
        global_size=launch.global_size,
        arguments=dict(zip(names, launch.arguments, strict=True)),
        files={names[index]: name for index, name in launch.contents if index < len(names)},
    )
    described = with_recorded(own, (replace(one, files={}),))
    preset = next(iter(described.sizes))
    check_preset(described, preset)
    # The program may round the global size up to another local size; measured is what the description says.
    measured = own_launch(described, described.sizes[preset], described.ndrange.local_size)
    return replace(one, global_size=measured.global_size)


def _place(own: Description, one: RecordedInput) -> dict[str, float]:
    """The numbers by which launches lie near each other: whole numbers, sizes of buffers and of the launch."""
    place: dict[str, float] = {**one.sizes}
    place |= {f"global size {dimension}": extent for dimension, extent in enumerate(one.global_size)}
    for argument in own.arguments_of(own.kernel):
        passed = one.arguments[argument.name]
        if isinstance(passed, PassedBuffer):
            place[f"bytes of {argument.name}"] = passed.byte_count
        if (
            isinstance(argument, ScalarDescription)
            and isinstance(passed, PassedScalar)
            and argument.type.is_integer
        ):
            numbers = scalar_numbers(argument.type, passed.content)
            place |= {f"{argument.name} {index}": number for index, number in enumerate(numbers)}
    return place


def _varying(own: Description, candidates: Sequence[_Candidate]) -> Iterator[str]:
    """Whole numbers and extents that differ between launches, to choose by, as features call them."""
    wholes = [
        argument.name
        for argument in own.arguments_of(own.kernel)
        if isinstance(argument, ScalarDescription) and argument.type.is_integer and argument.type.components == 1
    ]
    extents = {f"global size {d}": f"global_size_{d}" for d, _ in enumerate(own.ndrange.global_size)}
    places = {**{f"{name} 0": name for name in wholes}, **extents}
    varying = [name for key, name in places.items() if len({each.place[key] for each in candidates}) > 1]
    yield from varying or ["global_size_0"]


def _check_files(own: Description, one: RecordedInput, recording: Path) -> None:
    """Check recorded contents before they are copied. Raises InvalidInputError where a buffer can't have them."""
    for argument in own.arguments_of(own.kernel):
        name, passed = one.files.get(argument.name), one.arguments.get(argument.name)
        if name is not None and isinstance(argument, BufferDescription) and isinstance(passed, PassedBuffer):
            elements = max(passed.byte_count // argument.type.byte_count, 1)
            FileValues(f'file("{name}")', recording / name, "").check({}, argument.type, elements)


def _with_files(one: RecordedInput, recording: Path, path: Path) -> RecordedInput:
    """Copy the contents of buffers beside the description, called by what is in them."""
    files = {}
    for argument, name in one.files.items():
        content = read_file(recording / name)
        target = path.with_suffix("") / f"{hashlib.sha256(content).hexdigest()[:16]}.npy"
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            replace_file(content, target)
        files[argument] = f"{target.parent.name}/{target.name}"
    return replace(one, files=files)


def _needs_contents(own: Description) -> bool:
    buffers = (each for each in own.arguments_of(own.kernel) if isinstance(each, BufferDescription))
    return any(isinstance(each.values, FileValues) or each.values.text != "unwritten" for each in buffers)


def _first(left_out: Mapping[str, int]) -> str:
    reason, count = next(iter(left_out.items()))
    return f"{reason} ({count} of them)" if count > 1 else reason


def recorded_text(
    description: str, recording: Path, inputs: Sequence[RecordedInput], features: Sequence[str]
) -> str:
    """Return the text of a description.

    Args:
        description: the file name of the kernel's own.
        recording: where the launches come from.
        inputs: the launches, the first called `input-000`.
        features: numbers of a launch to choose by, where the kernel's own description has none.
    """
    head = (
        f"# Launches that a program made, as the inputs of {description}. Written by\n"
        f"# coarsen tune {description} --inputs-from {recording.name or recording}\n"
        f"{toml_lines({KEY: description})}"
    )
    chosen_by = [f"\n[features]\n{toml_lines({name: name for name in features})}"] if features else []
    listed = (f"\n[[inputs]]\n{toml_lines(input_as_data(each))}" for each in inputs)
    return "\n".join((head, *chosen_by, *listed)) + "\n"


def space_filling(points: Sequence[Mapping[str, float]], weights: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the indices of points that fill the space of all, the first that of the greatest weight.

    Args:
        points: numbers by name, the same names in all.
        weights: decide between points that lie as far, and where points are alike.
        most: how many at most.
    """
    if not points:
        return ()
    scaled = _scaled(points)
    order = [max(range(len(points)), key=lambda index: (weights[index], -index))]
    distances = np.full(len(points), np.inf)
    left = set(range(len(points))) - set(order)
    while left and len(order) < most:
        distances = np.minimum(distances, np.linalg.norm(scaled - scaled[order[-1]], axis=1))
        # Rounded, so that what is as far on every machine is as far here.
        farthest = max(left, key=lambda index: (round(float(distances[index]), 9), weights[index], -index))
        order.append(farthest)
        left.remove(farthest)
    return tuple(order)


def _scaled(points: Sequence[Mapping[str, float]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The points in the unit cube, on a logarithmic scale."""
    numbers = np.array([[each[name] for name in points[0]] for each in points], np.float64).reshape(
        len(points), -1
    )
    places = np.sign(numbers) * np.log2(1 + np.abs(numbers))
    lengths = np.ptp(places, axis=0)
    scaled: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    scaled = (places - places.min(axis=0)) / np.where(lengths > 0, lengths, 1)
    return scaled
