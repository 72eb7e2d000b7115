"""The version that a tuned file's trees choose for the numbers of a launch, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from coarsen.base.names import did_you_mean
from coarsen.dispatch.choosing import Number, asked_values
from coarsen.dispatch.features import SIZE_NAMES
from coarsen.dispatch.launch_sizes import SequenceSizes, VersionSizes, sequence_function, size_inputs
from coarsen.dispatch.tree import Split, answer, walk
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.runtime.launch import PassedSizes, Sizes


class TreeChoice:
    """Chooses among the versions of one file.

    Args:
        file: the tuned file.
    """

    def __init__(self, file: TunedFile) -> None:
        self._file = file
        self._sizes = sizes = size_inputs(file)
        # The names of the arguments' numbers, and of sizes of buffers, that a decision depends on, in order: first
        # those that launches' sizes are computed from.
        needed = {name for feature in file.features for name in feature.names}
        self.names = (*sizes, *sorted(needed - {*SIZE_NAMES, *sizes}))
        self._asked = asked_values(file)

    def number(self, numbers: Sequence[Number | None], sizes: PassedSizes) -> int | None:
        """Return the number of the version; None where a number or a feature has no value.

        Args:
            numbers: those of `names`.
            sizes: of the default version's launch.
        """
        named: dict[str, Number | None] = dict(zip(self.names, numbers, strict=True))
        named |= zip(SIZE_NAMES, _padded(sizes), strict=True)
        if any(named[name] is None for name in self._asked.inputs):
            return None
        found = self._asked.of(cast("Mapping[str, Number]", named))
        return None if found is None else answer(self._file.tree, found)

    def explain(self, values: Mapping[str, Number]) -> TunedExplanation:
        """Return what is chosen for a launch.

        Args:
            values: numbers by name: of arguments, sizes of buffers as `bytes_NAME`, and
                `global_size_0` and so on where the file has no sizes.

        Raises:
            InvalidInputError: a number is missing, or one is of a name that the file doesn't have.
        """
        file = self._file
        given = [values[name] for name in self._sizes if name in values]
        have_sizes = len(given) == len(self._sizes)
        numbers = dict(values)
        if file.has_sizes and have_sizes:
            default = sequence_function(file, file.default_version, self._sizes)(*given)
            if default is not None and not file.default_version.is_sequence:
                numbers |= zip(SIZE_NAMES, _padded(default.launches[0][:2]), strict=True)
        needed = self._asked.inputs
        own = (argument.name for argument in file.arguments)
        _check_names(values, {*self.names, *own, *needed}, needed, numbers)
        found = self._asked.of(numbers)
        path = () if found is None else walk(file.tree, found)
        number = file.default if found is None else answer(file.tree, found)
        version = file.versions[number]
        sizes = sequence_function(file, version, self._sizes)(*given) if have_sizes else None
        return TunedExplanation(
            found or {}, path, number, version, sizes, _gain(file, number), number == file.default
        )


def _padded(sizes: tuple[Sizes | None, Sizes | None]) -> tuple[int, ...]:
    """Sizes for three dimensions, 1 for those that aren't there; a local size that is left open is 0."""
    whole, local = sizes[0] or (), sizes[1]
    own = (0, 0, 0) if local is None else (*local, *[1] * (3 - len(local)))
    return (*whole, *[1] * (3 - len(whole)), *own)


# The choice of a tuned file for a launch, and its reason, for people.


@dataclass(frozen=True, slots=True)
class TunedExplanation:
    """The choice for one launch.

    Args:
        features: what the questions were about, by name.
        path: the questions on the way, each with True where the value was at most the threshold.
        number: of the version; the default's where a feature has no value.
        version: that is chosen.
        sizes: that it is launched with; None where they have no value.
        gain: over the default version where it was measured, as a ratio of times; None where the file doesn't say.
        is_default: whether it is the default version.
    """

    features: Mapping[str, float]
    path: tuple[tuple[Split, bool], ...]
    number: int
    version: TunedVersion
    sizes: SequenceSizes | None
    gain: float | None
    is_default: bool

    def __str__(self) -> str:
        lines = [f"{name} = {value:g}" for name, value in self.features.items()]
        for split, is_at_most in self.path:
            lines.append(f"{split.feature} {'≤' if is_at_most else '>'} {split.threshold:g}")
        lines.append(f"version {self.number}{' (the default)' if self.is_default else ''}: {self.version.variant}")
        if self.sizes is not None and self.version.is_sequence:
            lines += _launch_lines(self.version, self.sizes)
        elif self.sizes is not None and self.sizes.launches[0].global_size is not None:
            lines.append(f"{_in_words(self.sizes.launches[0])}, before anything is merged")
        if self.gain is not None:
            lines.append(f"{self.gain:.2f} times as fast as the default version, where it was measured")
        return "\n".join(lines)


def _launch_lines(version: TunedVersion, sizes: SequenceSizes) -> Iterator[str]:
    firsts = dict(reversed([*zip(sizes.order, sizes.launches, strict=True)]))
    for place, launch in enumerate(version.launches):
        often = f", {sizes.order.count(place)} times: {launch.repeat}" if launch.repeat else ""
        often = ", before anything is merged" * launch.coarsened + often
        yield f"{launch.kernel}: {_in_words(firsts[place]) if place in firsts else 'never launched'}{often}"
    if sizes.scratch:
        yield f"scratch: {sum(sizes.scratch)} bytes"


def _in_words(sizes: VersionSizes) -> str:
    return f"global size {sizes.global_size}, local size {sizes.local_size or 'left to the driver'}"


def _check_names(
    values: Mapping[str, Number], known: set[str], needed: tuple[str, ...], numbers: Mapping[str, Number]
) -> None:
    unknown = sorted(set(values) - known - set(SIZE_NAMES))
    if unknown:
        raise InvalidInputError(f"the tuned file doesn't ask for {unknown[0]!r}{did_you_mean(unknown[0], known)}")
    missing = [name for name in needed if name not in numbers]
    if missing:
        raise InvalidInputError(f"the choice needs {missing[0]}: explain({missing[0]}=…)")


def _gain(file: TunedFile, number: int) -> float | None:
    """Return the gain of a version, of a list `gains` among the evidence with one for each version."""
    gains = file.evidence.get("gains")
    if not isinstance(gains, list) or len(gains) != len(file.versions):
        return None
    gain = gains[number]
    return float(gain) if isinstance(gain, int | float) and not isinstance(gain, bool) else None
