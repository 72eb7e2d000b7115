"""A described kernel that is tuned over inputs: its checks, its inputs' features, its versions in a tuned file.

A tuned file may define what its kernel's source declares by pragmas, and nothing else: so parameters that only the
description declares, or values that the source does not, would make a file that no program takes.

Features are computed as those of a program's launches are. The sizes that a description names are those of its
inputs; a caller passes arguments: in a tuned file a size stands for the argument that is given its value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from coarsen.dispatch.choosing import FeatureValues, Number, feature_values
from coarsen.dispatch.expressions import Expression, parsed
from coarsen.dispatch.features import BYTES
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import read_annotations
from coarsen.frontend.lower import compile_source
from coarsen.frontend.source_text import opencl_c_of
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LaunchDescription,
    LocalDescription,
    ScalarDescription,
    is_scratch,
    needs,
)
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.tuning.workload.benchmark import (
    Argument,
    Benchmark,
    BufferArgument,
    Launch,
    ScalarArgument,
    whole_numbers,
)
from coarsen.variant.coarsening import DIMENSIONS
from coarsen.variant.variant import Variant


def check_described(path: Path) -> tuple[str, ...]:
    """Check a description with its kernels.

    Args:
        path: of the TOML file.

    Returns:
        A line for each declaration of the source that the file replaces.

    Raises:
        InvalidInputError: a mistake, arguments that aren't the kernel's, a parameter or a value that its source
            doesn't declare, a source that needs `-D`, a condition of a launch that names something else.
    """
    check_kernel_of(path)
    description = read_description(path)
    _check_declared(description)
    for number, launch in enumerate(description.launches):
        told = (("when", launch.conditions), ("coarsen", launch.coarsen or ()))
        for key, condition in ((key, each) for key, conditions in told for each in conditions):
            # Parameters alone decide which launches a version makes: no size is known before a launch.
            if others := sorted(condition.names - {*description.tunables}):
                raise InvalidInputError(
                    f"{description.path}: launches[{number}].{key}: '{condition.text}' names '{others[0]}', which "
                    "is no parameter; versions of a kernel that is tuned over inputs differ by parameters alone"
                )
    return description.parameters.overridden


def _check_declared(description: Description) -> None:
    """Check that the source declares what versions define, and builds without being told."""
    if not description.tunables:
        return
    file = description.kernel_file
    source = opencl_c_of(file)
    declared = () if source is None else read_annotations(source, str(file)).parameters
    known = {each.name: each for each in declared}
    for name, values in description.tunables.items():
        if name not in known:
            raise InvalidInputError(
                f"{description.path}: {name} is no parameter of the source, and a program takes no other macros "
                f'from a tuned file: declare it in {file.name}, "#pragma coarsen values {",".join(values[:3])}" '
                "above its #define"
            )
        if others := [value for value in values if value not in known[name].values]:
            raise InvalidInputError(
                f"{description.path}: {name} = {others[0]} is no value that the source declares, at "
                f"{known[name].place}, and a program takes no other from a tuned file: declare it there"
            )
    try:
        compile_source(file, description.build_options)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{file}: it doesn't compile without -D, so that no version is the one without tuning: give each "
            f"parameter a #define with its default ({error})"
        ) from None


def described_points(
    description: Description, benchmark: Benchmark, presets: Sequence[str]
) -> tuple[InputPoint, ...]:
    """Return some inputs of a described kernel.

    Args:
        description: has the features, and says which inputs have the same sizes.
        benchmark: that of the description.
        presets: the inputs' names.

    Raises:
        InvalidInputError: no features, or one that has no value at an input.
    """
    if not description.features:
        raise InvalidInputError(
            f'{description.path}: features: none are there to choose by; add [features] with NAME = "EXPRESSION" '
            "of the kernel's arguments"
        )
    values = feature_values(description.features, description.kernel_arguments)
    return tuple(_point(description, benchmark, preset, values) for preset in presets)


def _point(description: Description, benchmark: Benchmark, preset: str, values: FeatureValues) -> InputPoint:
    size = benchmark.preset(preset).size
    launch = _first_launch(description, benchmark, preset)
    names = [argument.name for argument in description.arguments_of(description.kernel)]
    passed = dict(zip(names, launch.arguments, strict=True))
    numbers = _launch_numbers(launch, passed)
    if any(name.startswith(BYTES) for name in values.inputs):
        buffers = benchmark.workload(preset, 0, None, benchmark.own_definitions).buffers
        given = {name: each for name, each in passed.items() if isinstance(each, BufferArgument)}
        numbers |= {BYTES + name: buffers[each.name].nbytes for name, each in given.items()}
    found = values.of(numbers)
    if found is None:
        raise InvalidInputError(
            f"{description.path}: features: one of them has no value at {preset}: {dict(size)}"
        )
    sizes = description.sizes[preset]
    return InputPoint(preset, " ".join(f"{name}={sizes[name]}" for name in sorted(sizes)), found)


def _first_launch(description: Description, benchmark: Benchmark, preset: str) -> Launch:
    """Return the first launch of the kernel that features are of; others may come before it."""
    launches = benchmark.launches(preset, None, benchmark.own_definitions)
    found = next((launch for launch in launches if launch.kernel == description.kernel), None)
    if found is None:
        raise InvalidInputError(
            f"{description.path}: features: the default version never launches {description.kernel}, their kernel"
        )
    return found


def described_versions(description: Description, variants: Iterable[Variant]) -> tuple[TunedVersion, ...]:
    """Return versions as a tuned file has them; none has launches where these can't be told by arguments.

    Raises:
        InvalidInputError: versions take several launches or differ in macros, and a size is no argument.
    """
    variants = tuple(variants)
    try:
        return tuple(_version(description, variant) for variant in variants)
    except _NoArgumentError as error:
        if description.launches:
            raise InvalidInputError(
                f"{description.path}: a version of several launches needs their sizes at each launch, and no "
                f"argument of {description.kernel} has the value of '{error}'"
            ) from None
        if len({variant.definitions for variant in variants}) > 1:
            raise InvalidInputError(
                f"{description.path}: versions with other macros need their sizes at each launch, and no argument "
                f"of {description.kernel} has the value of '{error}': pass it as an argument, or have no tunables"
            ) from None
        # The caller's sizes then, which are for the one choice of macros.
        return tuple(TunedVersion(variant) for variant in variants)


class _NoArgumentError(Exception):
    """A size is the value of no argument."""


def _version(description: Description, variant: Variant) -> TunedVersion:
    arguments = _arguments_of_sizes(description)
    macros, launches = whole_numbers(variant.definitions), description.launches or (description.own_launch,)
    # Launches take turns in a loop where they are neighbours in the file, those of other versions among them.
    runs = groupby(launches, lambda each: [loop.text for loop in each.loops])
    numbered = [(run, each) for run, (_, group) in enumerate(runs) for each in group]
    kept = [(run, each) for run, each in numbered if all(entry.holds(macros) for entry in each.conditions)]
    made = [each for _, each in kept]
    named = {name for launch in made for name in launch.arguments}
    scratch = [each for each in description.arguments if is_scratch(each) and each.name in named]
    found = TunedVersion(
        variant,
        tuple(_tuned_launch(description, launch, arguments, run) for run, launch in kept),
        tuple(
            (each.name, _bytes(each.elements, each.type.byte_count, arguments))
            for each in scratch
            if isinstance(each, BufferDescription)
        ),
    )
    if not (variant.is_coarsened and found.is_sequence):
        return found
    coarsened = [each.kernel == description.kernel or each.is_alike(macros) for each in made]
    marked = zip(found.launches, coarsened, strict=True)
    return replace(found, launches=tuple(replace(each, coarsened=is_so) for each, is_so in marked))


def _tuned_launch(
    description: Description, launch: LaunchDescription, arguments: Mapping[str, str], run: int
) -> TunedLaunch:
    own = description.arguments_of(description.kernel)
    by_name = {argument.name: argument for argument in description.arguments}
    names = tuple(argument.name for argument in own)
    repeat, turns = "", dict[str, str]()
    if len(launch.loops) > 1:
        loops = f"'{launch.loops[1].text}' inside of '{launch.loops[0].text}'"
        raise InvalidInputError(
            f"{description.path}: launches: {loops}: a tuned file has no loops inside of others"
        )
    for loop in launch.loops:
        # Launches of another run take no turns with these.
        turn = f"{loop.name}_{run}"
        while turn in {*names, *description.tunables}:
            turn += "_"
        first, last = (_renamed(bound, arguments) for bound in loop.bounds)
        repeat, turns = f"{turn} in {loop.kind}({first}, {last})", {loop.name: turn}
    arguments = {**arguments, **turns}
    passed = tuple(_passed(by_name[name], names, arguments, turns) for name in launch.arguments)
    passed = () if passed == names else passed
    return TunedLaunch(
        launch.kernel,
        tuple(_renamed(extent, arguments) for extent in launch.global_size),
        tuple(_renamed(extent, arguments) for extent in launch.local_size or ()),
        tuple(
            (each.name, _bytes(each.count, 1 if each.in_bytes else each.type.byte_count, arguments))
            for each in own
            if isinstance(each, LocalDescription)
        ),
        passed,
        repeat,
    )


def _passed(
    argument: ArgumentDescription, own: Iterable[str], arguments: Mapping[str, str], turns: Iterable[str]
) -> str:
    """Return what a launch passes: the caller's argument, scratch, or a number of its own or of its turn."""
    if is_scratch(argument) or (argument.name in own and not needs(argument).get("value", set()) & {*turns}):
        return argument.name
    if isinstance(argument, ScalarDescription) and argument.type.components == 1 and argument.type.is_integer:
        (value,) = argument.value
        number = str(int(value)) if isinstance(value, int | float) else value.text
        text = _renamed(value, arguments) if isinstance(value, Expression) else number
        return f"{argument.type.name}: {text}"
    raise _NoArgumentError(argument.name)


def _arguments_of_sizes(description: Description) -> dict[str, str]:
    """The names of the arguments that are given the value of a size, by the size's name."""
    found: dict[str, str] = {}
    turns = {loop.name for launch in description.launches for loop in launch.loops}
    for argument in description.arguments_of(description.kernel):
        if isinstance(argument, ScalarDescription) and argument.type.is_integer and len(argument.value) == 1:
            (value,) = argument.value
            if isinstance(value, Expression) and isinstance(value.tree, ast.Name):
                found.setdefault(value.tree.id, argument.name)
    found = {name: argument for name, argument in found.items() if name not in turns}
    kept = {*description.tunables, *(f"local_size_{dimension}" for dimension in range(3))}
    return {**found, **{name: name for name in kept}}


def _renamed(expression: Expression, arguments: Mapping[str, str]) -> str:
    """Return an expression with arguments in the place of sizes. Raises _NoArgumentError."""
    for name in sorted(expression.names - arguments.keys()):
        raise _NoArgumentError(name)
    tree = parsed(expression.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in expression.names:
            node.id = arguments[node.id]
    return ast.unparse(tree)


def _bytes(count: Expression, each: int, arguments: Mapping[str, str]) -> str:
    return f"({_renamed(count, arguments)}) * {each}"


def _launch_numbers(launch: Launch, passed: Mapping[str, Argument]) -> dict[str, Number]:
    """The sizes of a launch, 1 along missing dimensions and 0 where left open, and what it passes by value."""
    numbers: dict[str, Number] = {
        **_filled_sizes("global_size", launch.global_size, 1),
        **_filled_sizes("local_size", launch.local_size, 1 if launch.local_size else 0),
    }
    for name, each in passed.items():
        # Structures are no numbers.
        if isinstance(each, ScalarArgument) and each.value.dtype.fields is None:
            numbers[name] = each.value.item()
    return numbers


def _filled_sizes(name: str, extents: tuple[int, ...], missing: int) -> dict[str, int]:
    filled = (*extents, *(missing for _ in range(DIMENSIONS - len(extents))))
    return {f"{name}_{dimension}": extent for dimension, extent in enumerate(filled)}
