"""Tuned files: the versions of a kernel that are worth shipping, and a tree that chooses one for each launch.

    {"format": "coarsen tuned file 1", "kernel": "mv", "features": [["aspect", "log2(height / width)"]],
     "versions": [{"variant": {…}, "launches": […]}, …], "default": 0,
     "tree": {"feature": "aspect", "threshold": 3.5, "at_most": 0, "above": 1}, …}

A tuned file is data: expressions and trees are checked before anything is made of them. The same content is
written as the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias

from coarsen.codec import decoded, encoded
from coarsen.dispatch.default_version import DefaultVersion
from coarsen.dispatch.features import Feature, KernelArgument, check_name
from coarsen.dispatch.file_checks import check_arguments, check_evidence, check_features, check_versions
from coarsen.dispatch.laid_out_version import (
    LaidOutVersion,
    check_laid_out,
    laid_out_from_json,
    laid_out_to_json,
)
from coarsen.dispatch.tree import Tree, check_tree, features_of, tree_from_json, tree_to_json
from coarsen.dispatch.tuned_version import TunedVersion, version_from_json, version_to_json
from coarsen.errors import InvalidInputError
from coarsen.files import MEBIBYTE, read_file, replace_file

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None

FORMAT = "coarsen tuned file 1"
LARGEST_FILE = 4 * MEBIBYTE
# Only there where there are any.
_LAYOUTS = "layouts"


@dataclass(frozen=True, slots=True)
class TunedFile:
    """The versions of one kernel on one device, and how one is chosen.

    Args:
        kernel: the kernel's name, by which it is called.
        arguments: the kernel's, in their order.
        source_hash: of the source that was tuned, as `source_hash_of` has it.
        device: the device's name.
        driver: the driver's version.
        build_options: the program's, one by one, without the macros of versions.
        coarsen_version: the version of this package that tuned.
        features: by which versions are chosen.
        versions: those to choose from.
        default: the index of the version whose sizes a call passes: what runs wherever nothing else may.
        tree: chooses by all features.
        tree_without_supplied: chooses where the caller supplies none; None takes the default version there.
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
    tree_without_supplied: Tree | None = None
    evidence: Mapping[str, JSON] = field(default_factory=dict)
    layouts: tuple[LaidOutVersion, ...] = ()

    def __post_init__(self) -> None:
        check_name("a kernel", self.kernel)
        check_arguments(self.arguments)
        check_features(self.features, self.arguments)
        check_versions(self.kernel, self.versions, self.default, self.arguments)
        names = frozenset(feature.name for feature in self.features)
        check_tree(self.tree, names, len(self.versions))
        if self.tree_without_supplied is not None:
            computed = frozenset(feature.name for feature in self.features if not feature.is_supplied)
            check_tree(self.tree_without_supplied, computed, len(self.versions))
        check_evidence(self.evidence)
        check_laid_out(self.layouts, self.arguments)

    @property
    def default_version(self) -> DefaultVersion:
        """Return the version whose sizes a call passes."""
        return DefaultVersion(self.default, self.versions[self.default])

    @property
    def needs_supplied(self) -> bool:
        """Return True if the tree asks for a feature that the caller supplies."""
        supplied = {feature.name for feature in self.features if feature.is_supplied}
        return bool(supplied & features_of(self.tree))

    @property
    def has_sizes(self) -> bool:
        """Return True if the versions say their launches' sizes, so that a caller need not."""
        return self.default_version.launch is not None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        without = self.tree_without_supplied
        layouts = {_LAYOUTS: [laid_out_to_json(version) for version in self.layouts]} if self.layouts else {}
        return {
            "format": FORMAT,
            "kernel": self.kernel,
            "arguments": encoded(self.arguments),
            "source_hash": self.source_hash,
            "device": self.device,
            "driver": self.driver,
            "build_options": list(self.build_options),
            "coarsen_version": self.coarsen_version,
            "features": [[feature.name, feature.expression] for feature in self.features],
            "versions": [version_to_json(version) for version in self.versions],
            "default": self.default,
            "tree": tree_to_json(self.tree),
            "tree_without_supplied": None if without is None else tree_to_json(without),
            "evidence": json.loads(json.dumps(dict(self.evidence), sort_keys=True)),
            **layouts,
        }

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Return the file that `to_json` gave; raises InvalidInputError for anything else."""
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            raise InvalidInputError(f"it is no tuned file of the format '{FORMAT}'")
        rest = {name: entry for name, entry in value.items() if name not in ("format", _LAYOUTS)}
        found = decoded(_Written, rest, "the tuned file", {Any: lambda entry: entry})
        without = found.tree_without_supplied
        return cls(
            found.kernel,
            found.arguments,
            found.source_hash,
            found.device,
            found.driver,
            found.build_options,
            found.coarsen_version,
            _features(found.features),
            tuple(version_from_json(version) for version in _list(found.versions, "versions")),
            found.default,
            tree_from_json(found.tree),
            None if without is None else tree_from_json(without),
            _evidence(found.evidence),
            tuple(laid_out_from_json(version) for version in _list(value.get(_LAYOUTS, []), _LAYOUTS)),
        )

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


def source_hash_of(source: str) -> str:
    """Return what tells a source from all others: SHA-256 of its text, in hexadecimal."""
    return hashlib.sha256(source.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Written:
    """The fields of a file as they are written; those of any kind are read by themselves."""

    kernel: str
    arguments: tuple[KernelArgument, ...]
    source_hash: str
    device: str
    driver: str
    build_options: tuple[str, ...]
    coarsen_version: str
    features: Any
    versions: Any
    default: int
    tree: Any
    tree_without_supplied: Any
    evidence: Any


def _features(value: object) -> tuple[Feature, ...]:
    entries = _list(value, "features")
    if not all(isinstance(entry, list) and len(entry) == 2 for entry in entries):
        raise InvalidInputError("a feature of the tuned file must be a name and an expression, or null")
    return tuple(Feature(name, expression) for name, expression in entries)


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInputError(f"the field '{what}' of the tuned file must be a list")
    return value


def _evidence(value: object) -> Mapping[str, JSON]:
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
