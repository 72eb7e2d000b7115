"""Checks of the content of a tuned file; each raises InvalidInputError."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coarsen.codec import WHOLE_NUMBERS
from coarsen.dispatch.default_version import default_version
from coarsen.dispatch.features import Feature, KernelArgument, feature_steps, input_kinds
from coarsen.dispatch.tuned_version import MOST_ARGUMENTS, TunedVersion, check_version
from coarsen.errors import InvalidInputError

MOST_VERSIONS = 64
MOST_FEATURES = 64
_DEEPEST = 32


def check_arguments(arguments: Sequence[KernelArgument]) -> None:
    """Check the arguments of the kernel."""
    if len(arguments) > MOST_ARGUMENTS:
        raise InvalidInputError(f"a tuned file has over {MOST_ARGUMENTS} arguments")
    _check_distinct("an argument", [argument.name for argument in arguments])


def check_features(features: Sequence[Feature], arguments: Sequence[KernelArgument]) -> None:
    """Check that each feature can be computed of what a launch passes, or is supplied."""
    if len(features) > MOST_FEATURES:
        raise InvalidInputError(f"a tuned file has over {MOST_FEATURES} features")
    _check_distinct("a feature", [feature.name for feature in features])
    kinds = input_kinds(arguments)
    for feature in features:
        feature_steps(feature, kinds)


def check_versions(
    kernel: str, versions: Sequence[TunedVersion], default: int, arguments: Sequence[KernelArgument]
) -> None:
    """Check the versions of a kernel; `default` is the index of the default one."""
    if not 1 <= len(versions) <= MOST_VERSIONS:
        raise InvalidInputError(f"a tuned file has {len(versions)} versions, not 1 to {MOST_VERSIONS}")
    if type(default) is not int or not 0 <= default < len(versions):
        raise InvalidInputError(f"the default version is {default!a}, of {len(versions)} counted from 0")
    if len(set(versions)) < len(versions):
        raise InvalidInputError("a tuned file has a version twice")
    if len({bool(version.launches) for version in versions}) > 1:
        raise InvalidInputError("some versions have launches and others none: give all their sizes, or none")
    default_version(kernel, versions, default)
    for version in versions:
        check_version(version, tuple(arguments))


def check_launchable(versions: Sequence[TunedVersion]) -> None:
    """Raise InvalidInputError unless versions can stand for each other.

    A caller's sizes are for one choice of macros, so versions without launches must not differ in these.
    """
    if not versions[0].launches and len({version.variant.definitions for version in versions}) > 1:
        raise InvalidInputError("versions without launches have other macros: give all versions their sizes")


def check_evidence(evidence: object) -> None:
    """Check that it is JSON, of no great depth."""
    rest = [(evidence, 0)]
    while rest:
        value, depth = rest.pop()
        if depth > _DEEPEST:
            raise InvalidInputError("the evidence is nested too deeply")
        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            rest += [(entry, depth + 1) for entry in value.values()]
        elif isinstance(value, list):
            rest += [(entry, depth + 1) for entry in value]
        elif not _is_plain(value):
            raise InvalidInputError(f"the evidence has what JSON has not: {type(value).__name__}")


def _check_distinct(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(f"{what} is there twice: {twice[0]}")


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        # As it is, one of an enumeration would be looked for among all of them.
        return int(value) in WHOLE_NUMBERS
    return value is None or isinstance(value, str)
