"""Versions of a described kernel as a tuned file has them: their launches by what a caller passes.

The sizes that a description names are those of its inputs; a caller passes arguments. A size stands for the
argument that is given its value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from coarsen.dispatch.expressions import Expression, parsed
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LaunchDescription,
    LocalDescription,
    ScalarDescription,
)
from coarsen.opencl_bench.workloads.described.read import is_scratch
from coarsen.variant.variant import Variant


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
    if not description.launches:
        own = LaunchDescription(
            description.kernel,
            tuple(each.name for each in description.arguments),
            description.global_size,
            None,
            (),
        )
        return TunedVersion(variant, (_launch(description, own, arguments),))
    macros = {name: int(value) for name, value in variant.definitions if value.lstrip("-").isdecimal()}
    made = [each for each in description.launches if all(entry.holds(macros) for entry in each.conditions)]
    named = {name for launch in made for name in launch.arguments}
    scratch = [each for each in description.arguments if is_scratch(each) and each.name in named]
    return TunedVersion(
        variant,
        tuple(_launch(description, launch, arguments) for launch in made),
        tuple((each.name, _bytes(each, arguments)) for each in scratch if isinstance(each, BufferDescription)),
    )


def _launch(description: Description, launch: LaunchDescription, arguments: Mapping[str, str]) -> TunedLaunch:
    own = description.arguments_of(description.kernel)
    by_name = {argument.name: argument for argument in description.arguments}
    names = tuple(argument.name for argument in own)
    is_plain = launch.kernel == description.kernel or launch.arguments == names
    passed = () if is_plain else tuple(_passed(by_name[name], names, arguments) for name in launch.arguments)
    return TunedLaunch(
        launch.kernel,
        tuple(_renamed(extent, arguments) for extent in launch.global_size),
        tuple(_renamed(extent, arguments) for extent in launch.local_size or ()),
        tuple((each.name, _local_bytes(each, arguments)) for each in own if isinstance(each, LocalDescription)),
        passed,
    )


def _passed(argument: ArgumentDescription, own: Iterable[str], arguments: Mapping[str, str]) -> str:
    """Return what a launch of another kernel passes: the caller's argument, scratch, or a number of its own."""
    if argument.name in own or is_scratch(argument):
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
    for argument in description.arguments_of(description.kernel):
        if isinstance(argument, ScalarDescription) and argument.type.is_integer and len(argument.value) == 1:
            (value,) = argument.value
            if isinstance(value, Expression) and isinstance(value.tree, ast.Name):
                found.setdefault(value.tree.id, argument.name)
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


def _bytes(buffer: BufferDescription, arguments: Mapping[str, str]) -> str:
    return f"({_renamed(buffer.elements, arguments)}) * {buffer.type.byte_count}"


def _local_bytes(local: LocalDescription, arguments: Mapping[str, str]) -> str:
    return f"({_renamed(local.count, arguments)}) * {1 if local.in_bytes else local.type.byte_count}"
