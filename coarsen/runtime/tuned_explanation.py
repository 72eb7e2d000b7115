"""The choice of a tuned file for a launch, and its reason, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.dispatch.choosing import Number, chooser
from coarsen.dispatch.features import SIZE_NAMES
from coarsen.dispatch.launch_sizes import (
    SequenceSizes,
    VersionSizes,
    sequence_function,
    size_inputs,
    sizes_function,
)
from coarsen.dispatch.tree import Split, features_of, walk
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean


@dataclass(frozen=True, slots=True)
class TunedExplanation:
    """The choice for one launch.

    Args:
        features: what the questions were about, by name.
        path: the questions on the way, each with True where the value was at most the threshold.
        number: of the version; the default's where a feature has no value.
        version: that is chosen.
        sizes: that it is launched with, of each launch where it takes several; None where they have no value.
        gain: over the default version where it was measured, as a ratio of times; None where the file doesn't say.
        is_default: whether it is the default version.
    """

    features: Mapping[str, float]
    path: tuple[tuple[Split, bool], ...]
    number: int
    version: TunedVersion
    sizes: VersionSizes | SequenceSizes | None
    gain: float | None
    is_default: bool

    def __str__(self) -> str:
        lines = [f"{name} = {value:g}" for name, value in self.features.items()]
        for split, is_at_most in self.path:
            lines.append(f"{split.feature} {'≤' if is_at_most else '>'} {split.threshold:g}")
        lines.append(f"version {self.number}{' (the default)' if self.is_default else ''}: {self.version.variant}")
        if isinstance(self.sizes, SequenceSizes):
            lines += _launch_lines(self.version, self.sizes)
        elif self.sizes is not None and self.sizes.global_size is not None:
            lines.append(f"{_in_words(self.sizes)}, before anything is merged")
        if self.gain is not None:
            lines.append(f"{self.gain:.2f} times as fast as the default version, where it was measured")
        return "\n".join(lines)


def _launch_lines(version: TunedVersion, sizes: SequenceSizes) -> Iterator[str]:
    for launch, own in zip(version.launches, sizes.launches, strict=True):
        yield f"{launch.kernel}: {_in_words(own)}"
    if sizes.scratch:
        yield f"scratch: {sum(sizes.scratch)} bytes"


def _in_words(sizes: VersionSizes) -> str:
    return f"global size {sizes.global_size}, local size {sizes.local_size or 'left to the driver'}"


def explain(file: TunedFile, values: Mapping[str, Number]) -> TunedExplanation:
    """Return what a file chooses for a launch.

    Args:
        file: any.
        values: numbers by name: of arguments, of supplied features, sizes of buffers as `bytes_NAME`, and
            `global_size_0` and so on where the file has no sizes.

    Raises:
        InvalidInputError: a number is missing, or one is of a name that the file doesn't have.
    """
    size_names = size_inputs(file)
    numbers = dict(values)
    if file.has_sizes and all(name in values for name in size_names):
        default = sizes_function(file, file.versions[file.default], size_names)(*(values[n] for n in size_names))
        numbers |= _sizes_by_name(default)
    supplied = {feature.name for feature in file.features if feature.is_supplied}
    is_without = file.tree_without_supplied is not None and bool((supplied & features_of(file.tree)) - set(values))
    tree = file.tree_without_supplied if is_without and file.tree_without_supplied is not None else file.tree
    made = chooser(file, tree)
    _check_names(
        values, {*size_names, *supplied, *made.features.inputs, *_all_inputs(file)}, made.features.inputs, numbers
    )
    found = made.features.of(numbers)
    path = () if found is None else walk(tree, found)
    number = file.default if found is None else made.tree(*found.values())
    version = file.versions[number]
    sizes: VersionSizes | SequenceSizes | None = None
    if all(name in values for name in size_names):
        given = [values[name] for name in size_names]
        if version.is_sequence:
            sizes = sequence_function(file, version, size_names)(*given)
        else:
            sizes = sizes_function(file, version, size_names)(*given)
    return TunedExplanation(found or {}, path, number, version, sizes, _gain(file, number), number == file.default)


def _all_inputs(file: TunedFile) -> set[str]:
    names: set[str] = set()
    for feature in file.features:
        formula = feature.formula()
        names |= set() if formula is None else formula.names
    return names | {argument.name for argument in file.arguments}


def _check_names(
    values: Mapping[str, Number], known: set[str], needed: tuple[str, ...], numbers: Mapping[str, Number]
) -> None:
    unknown = sorted(set(values) - known - set(SIZE_NAMES))
    if unknown:
        raise InvalidInputError(f"the tuned file doesn't ask for {unknown[0]!r}{did_you_mean(unknown[0], known)}")
    missing = [name for name in needed if name not in numbers]
    if missing:
        raise InvalidInputError(f"the choice needs {missing[0]}: explain({missing[0]}=…)")


def _sizes_by_name(sizes: VersionSizes | None) -> dict[str, Number]:
    """Return the names that features have for the default version's sizes."""
    if sizes is None or sizes.global_size is None:
        return {}
    whole, local = sizes.global_size, sizes.local_size
    every = (*whole, *[1] * (3 - len(whole)), *((0, 0, 0) if local is None else (*local, *[1] * (3 - len(local)))))
    return dict(zip(SIZE_NAMES, every, strict=True))


def _gain(file: TunedFile, number: int) -> float | None:
    """Return the gain of a version, of a list `gains` among the evidence with one for each version."""
    gains = file.evidence.get("gains")
    if not isinstance(gains, list) or len(gains) != len(file.versions):
        return None
    gain = gains[number]
    return float(gain) if isinstance(gain, int | float) and not isinstance(gain, bool) else None
