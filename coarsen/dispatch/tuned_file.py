"""Tuned files: the versions of a kernel that are worth shipping, and a tree that chooses one for each launch.

    {"format": "coarsen tuned file 1", "kernel": "mv", "features": [["aspect", "log2(height / width)"]],
     "versions": [{"variant": {…}, "launches": […]}, …], "default": 0,
     "tree": {"feature": "aspect", "threshold": 3.5, "at_most": 0, "above": 1}, …}

A tuned file is data: expressions and trees are checked before anything is made of them. The same content is
written as the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias

from coarsen.base.codec import Coders, decoded, encoded
from coarsen.base.files import MEBIBYTE, read_file, replace_file
from coarsen.dispatch.features import (
    SIZE_NAMES,
    ArgumentKind,
    Feature,
    KernelArgument,
    check_name,
    feature_steps,
    input_kinds,
)
from coarsen.dispatch.tree import Leaf, Tree, check_tree, tree_from_json
from coarsen.dispatch.tuned_version import (
    MOST_ARGUMENTS,
    TunedVersion,
    check_version,
    version_from_json,
    version_to_json,
)
from coarsen.errors import InvalidInputError
from coarsen.variant.data_plan import ArrayPlan, chosen_plans
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None

FORMAT = "coarsen tuned file 1"
LARGEST_FILE = 4 * MEBIBYTE
MOST_VERSIONS = 64
MOST_FEATURES = 64
MOST_LAID_OUT = 64


@dataclass(frozen=True, slots=True)
class TunedFile:
    """The versions of one kernel on one device, and how one is chosen.

    Args:
        kernel: the kernel's name, by which it is called.
        arguments: the kernel's, in their order.
        source_hash: of the source that was tuned, as `coarsen.frontend.source_text` has it.
        device: the device's name.
        driver: the driver's version.
        build_options: the program's, one by one, without the macros of versions.
        coarsen_version: the version of this package that tuned.
        features: by which versions are chosen.
        versions: those to choose from.
        default: the index of the version whose sizes a call passes: what runs wherever nothing else may.
        tree: chooses by the features.
        evidence: what was measured, for people; nothing is chosen by it.
        layouts: versions whose arrays lie otherwise, for programs that convert them; no tree chooses them.

    Raises:
        InvalidInputError: something of it makes no sense.
    """

    kernel: str
    arguments: tuple[KernelArgument, ...]
    source_hash: str
    device: str
    driver: str
    build_options: tuple[str, ...]
    coarsen_version: str
    features: tuple[Feature, ...]
    versions: tuple[TunedVersion, ...]
    default: int
    tree: Tree
    evidence: Mapping[str, Any] = field(default_factory=dict)
    layouts: tuple[LaidOutVersion, ...] = ()

    def __post_init__(self) -> None:
        check_name("a kernel", self.kernel)
        check_arguments(self.arguments)
        check_features(self.features, self.arguments)
        check_versions(self.kernel, self.versions, self.default, self.arguments)
        check_sized(self.features, self.default_version)
        names = frozenset(feature.name for feature in self.features)
        check_tree(self.tree, names, len(self.versions))
        check_evidence(self.evidence)
        check_laid_out(self.layouts, self.arguments)

    @property
    def default_version(self) -> TunedVersion:
        """Return the version whose sizes a call passes: mostly one launch of the kernel as it is written."""
        return self.versions[self.default]

    @property
    def has_sizes(self) -> bool:
        """Return True if the versions say their launches' sizes, so that a caller need not."""
        return bool(self.default_version.launches)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON takes it; layouts are only there where there are any."""
        value = {"format": FORMAT, **encoded(self, _ENCODERS)}
        value["evidence"] = json.loads(json.dumps(value["evidence"], sort_keys=True))
        if not self.layouts:
            del value["layouts"]
        return value

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Return the file that `to_json` gave; raises InvalidInputError for anything else."""
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            raise InvalidInputError(f"it is no tuned file of the format '{FORMAT}'")
        fields = {"layouts": [], **value}
        del fields["format"]
        return decoded(cls, fields, "the tuned file", _DECODERS)

    def to_bytes(self) -> bytes:
        """Return the content of the file: the same bytes for the same content."""
        text = json.dumps(self.to_json(), indent=1, allow_nan=False)
        return (text + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the file that `to_bytes` gave; raises InvalidInputError for anything else."""
        try:
            value = json.loads(data.decode(), object_pairs_hook=_without_repetitions, parse_constant=_no_number)
        except (ValueError, RecursionError):
            raise InvalidInputError("it isn't JSON, or has a name twice, or NaN") from None
        return cls.from_json(value)

    def write(self, path: Path) -> None:
        """Write the file, in place of one that may be there; raises InvalidInputError where that can't be."""
        replace_file(self.to_bytes(), path)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file; raises InvalidInputError, with its name, where it is none or makes no sense."""
        data = read_file(path, LARGEST_FILE)
        try:
            return cls.from_bytes(data)
        except InvalidInputError as error:
            raise InvalidInputError(f"{path}: {error}") from None


def _feature(value: object) -> Feature:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidInputError("a feature of the tuned file must be a name and an expression")
    if value[1] is None:
        reason = f"callers supplied the feature {ascii(value[0])[:60]}, which is no longer possible"
        raise InvalidInputError(f"{reason}: tune again with -o to write another file, or delete this one")
    return Feature(*value)


def _evidence(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInputError("the field 'evidence' of the tuned file must be an object")
    return value


def _without_repetitions(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _no_number(text: str) -> None:
    raise ValueError(text)


def check_arguments(arguments: Sequence[KernelArgument]) -> None:
    """Check the arguments of the kernel."""
    if len(arguments) > MOST_ARGUMENTS:
        raise InvalidInputError(f"a tuned file has over {MOST_ARGUMENTS} arguments")
    _check_distinct("an argument", [argument.name for argument in arguments])


def check_features(features: Sequence[Feature], arguments: Sequence[KernelArgument]) -> None:
    """Check that each feature can be computed of what a launch passes."""
    if len(features) > MOST_FEATURES:
        raise InvalidInputError(f"a tuned file has over {MOST_FEATURES} features")
    _check_distinct("a feature", [feature.name for feature in features])
    kinds = input_kinds(arguments)
    for feature in features:
        feature_steps(feature, kinds)


def check_sized(features: Sequence[Feature], default: TunedVersion) -> None:
    """Raise InvalidInputError for a feature of the sizes of one launch where the default version takes several."""
    sized = {name for feature in features for name in feature.names} & {*SIZE_NAMES}
    if default.is_sequence and sized:
        raise InvalidInputError(f"a feature needs {min(sized)}, and the default version takes several launches")


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
    found = versions[default]
    if found.variant.is_rewritten:
        raise InvalidInputError("the default version must be the kernel as it is written, without coarsening")
    if found.launches and kernel not in {launch.kernel for launch in found.launches}:
        raise InvalidInputError(
            f"the default version must launch {kernel}, the file's kernel, not {found.launches[0].kernel}"
        )
    for version in versions:
        check_version(version, tuple(arguments))


def check_launchable(versions: Sequence[TunedVersion]) -> None:
    """Raise InvalidInputError unless versions can stand for each other.

    A caller's sizes are for one choice of macros, so versions without launches must not differ in these.
    """
    if not versions[0].launches and len({version.variant.definitions for version in versions}) > 1:
        raise InvalidInputError("versions without launches have other macros: give all versions their sizes")


def check_evidence(evidence: Mapping[str, Any]) -> None:
    """Raise InvalidInputError for what JSON has not, and for what is nested too deeply."""
    try:
        json.dumps(evidence, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"the evidence has what JSON has not: {error}") from None


def _check_distinct(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(f"{what} is there twice: {twice[0]}")


@dataclass(frozen=True, slots=True)
class LaidOutVersion:
    """A version of a kernel whose arrays lie otherwise, and what is gained by it.

    Args:
        variant: its configuration; the shapes of its arrays come with each launch.
        speedup: over the default version, without the conversion.
        conversion_seconds: that the host took to pack its arrays and to unpack what it writes.
        runs_until_it_pays: on the same data, beside the best version without; None where it never does.
    """

    variant: Variant
    speedup: float
    conversion_seconds: float
    runs_until_it_pays: int | None = None

    def is_for(self, plans: Iterable[ArrayPlan]) -> bool:
        """Return True if it is the version for arrays that lie so.

        Args:
            plans: of all arrays of the kernel's arguments that lie otherwise.
        """
        return _places(self.variant.arrays) == _places(chosen_plans(plans))


def _places(plans: Iterable[ArrayPlan]) -> list[tuple[str, str, str]]:
    return [(plan.argument, str(plan.layout), str(plan.order)) for plan in plans]


def check_laid_out(versions: Sequence[LaidOutVersion], arguments: Sequence[KernelArgument]) -> None:
    """Raise InvalidInputError unless versions make sense for a kernel with some arguments."""
    if len(versions) > MOST_LAID_OUT:
        raise InvalidInputError(
            f"a tuned file has {len(versions)} versions of layouts, not at most {MOST_LAID_OUT}"
        )
    buffers = {argument.name for argument in arguments if argument.kind is ArgumentKind.BUFFER}
    for version in versions:
        plans = version.variant.arrays
        if not plans or not all(plan.moves_fields and plan.shape is None for plan in plans):
            raise InvalidInputError(
                "a version of a layout has no array that lies otherwise, or one of a fixed shape"
            )
        if unknown := [plan.argument for plan in plans if plan.argument not in buffers]:
            raise InvalidInputError(
                f"a version of a layout names {unknown[0]!a}, which is no argument with a buffer"
            )
        if version.variant.definitions:
            raise InvalidInputError("a version of a layout defines macros: these are build options")
        _check_numbers(version)
    places = [tuple(_places(version.variant.arrays)) for version in versions]
    if len(set(places)) < len(places):
        raise InvalidInputError("a tuned file has two versions for arrays that lie alike")


def _check_numbers(version: LaidOutVersion) -> None:
    numbers = (version.speedup, version.conversion_seconds)
    if not all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers):
        raise InvalidInputError("a version of a layout has a gain or a time that is none")
    runs = version.runs_until_it_pays
    if runs is not None and (type(runs) is not int or runs < 1):
        raise InvalidInputError("a version of a layout pays after a number of runs, or never (null)")


_ENCODERS: Coders = {
    Feature: lambda feature: [feature.name, feature.expression],
    TunedVersion: version_to_json,
    Variant: variant_to_json,
    Leaf: lambda leaf: leaf.version,
}
_DECODERS: Coders = {
    Feature: _feature,
    TunedVersion: version_from_json,
    Variant: variant_from_json,
    Tree: tree_from_json,
    Mapping[str, Any]: _evidence,
}
