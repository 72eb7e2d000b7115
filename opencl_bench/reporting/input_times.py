"""Times of a tuned file's versions over the input, what is chosen, and where the fastest changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from coarsen.base.names import did_you_mean
from coarsen.dispatch.tree import Split, Tree, answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array
from coarsen.models.inputs.break_even import BreakEven, break_evens
from coarsen.models.inputs.times import VersionTimes, fixed_best
from coarsen.opencl_bench.inputs.evidence import (
    Evidence,
    evidence_of,
    shipped_times,
)
from coarsen.opencl_bench.workloads.described.inputs import sizes_in

T = TypeVar("T")

# Fewer values are no curve.
_LEAST_VALUES = 3


@dataclass(frozen=True, slots=True)
class InputTimes:
    """What a figure of times over the input shows.

    Attributes:
        kernel: its name.
        device: where it was measured.
        feature: a feature, or a size, along which the inputs are.
        held: the other sizes, where all inputs have the same ones; None where they differ or aren't known.
        values: of the feature, ascending, each once.
        groups: by value, the sizes of its inputs in words; empty where they have several.
        seconds: of each version, by its number, one at each value; NaN where it failed. Of several inputs with one
            value it is their geometric mean.
        over_fastest: the same as ratios to the fastest of the file's versions at each input.
        labels: what each version is.
        default: the version that is the kernel as it is written.
        fixed_best: of the file's versions the one that loses least over all inputs of the tuning.
        chosen: by value, the version that the tree chooses there; None where inputs of one value have several.
        break_evens: where the fastest version changes, between values; none where these aren't whole numbers.
    """

    kernel: str
    device: str
    feature: str
    held: Mapping[str, int] | None
    values: tuple[float, ...]
    groups: tuple[str, ...]
    seconds: Mapping[int, tuple[float, ...]]
    over_fastest: Mapping[int, tuple[float, ...]]
    labels: Mapping[int, str]
    default: int
    fixed_best: int
    chosen: tuple[int | None, ...]
    break_evens: tuple[BreakEven, ...]

    @property
    def is_logarithmic(self) -> bool:
        """Return True if the values are best shown as logarithms."""
        return min(self.values) > 0

    @property
    def is_relative(self) -> bool:
        """Return True if seconds of neighbouring values don't compare, for other sizes differ or aren't known."""
        return self.held is None

    @property
    def shown(self) -> Mapping[int, tuple[float, ...]]:
        """Return what curves are drawn of: seconds, or ratios to the fastest version where these alone compare."""
        return self.over_fastest if self.is_relative else self.seconds

    def roles(self, number: int) -> tuple[str, ...]:
        """Return what a version is beside others: the default, the fixed best."""
        roles = {"the default": self.default, "fixed best": self.fixed_best}
        return tuple(role for role, version in roles.items() if version == number)


def input_times(file: TunedFile, feature: str | None = None) -> InputTimes:
    """Return the times of a tuned file's versions over a feature.

    Args:
        file: keeps the times of its tuning.
        feature: its name; None for the one that the tree asks about first, else that with most different values.

    Raises:
        InvalidInputError: there is no such feature, or the file keeps no times.
    """
    kept = evidence_of(file)
    names = kept.times.feature_names
    along = feature or _usual_feature(file.tree, names, kept.times)
    if along not in names:
        hint = did_you_mean(along, names)
        raise InvalidInputError(f"there is no feature {along!a}{hint}; there are {', '.join(names)}")
    return _times_along(file, kept, along, kept.times.features([along])[:, 0], range(len(kept.times.inputs)))


def section_times(file: TunedFile) -> tuple[InputTimes, ...]:
    """Return the times along each size, at inputs that have all other sizes in common.

    Each has three different sizes at least. There are none where inputs fill a space of several sizes, or don't
    say their sizes.

    Args:
        file: keeps the times of its tuning.

    Raises:
        InvalidInputError: it keeps none.
    """
    kept = evidence_of(file)
    sizes = [sizes_in(point.group) for point in kept.times.inputs]
    rows: dict[tuple[str, tuple[tuple[str, int], ...]], list[int]] = {}
    for row, size in enumerate(sizes):
        for axis in size:
            others = tuple((name, value) for name, value in size.items() if name != axis)
            rows.setdefault((axis, others), []).append(row)
    return tuple(
        _times_along(file, kept, axis, np.array([float(size.get(axis, math.nan)) for size in sizes]), own)
        for (axis, _), own in rows.items()
        if len({sizes[row][axis] for row in own}) >= _LEAST_VALUES
    )


def _times_along(file: TunedFile, kept: Evidence, along: str, of_inputs: Array, rows: Sequence[int]) -> InputTimes:
    """Return the times at some inputs.

    Args:
        file: has the versions.
        kept: the file's evidence.
        along: the name of the values.
        of_inputs: the values of all inputs, (n,).
        rows: the places of the inputs that are meant.
    """
    times = shipped_times(file, kept)
    logarithms = np.log(times.seconds)
    over_fastest = logarithms - np.nanmin(logarithms, axis=1, keepdims=True)
    values = tuple(sorted({*of_inputs[[*rows]].tolist()}))
    at_values = [[row for row in rows if of_inputs[row] == value] for value in values]
    means = np.exp([logarithms[at].mean(axis=0) for at in at_values])
    ratios = np.exp([over_fastest[at].mean(axis=0) for at in at_values])
    points = times.inputs
    choices = [{answer(file.tree, points[row].features) for row in at} for at in at_values]
    groups = [{points[row].group for row in at} for at in at_values]
    return InputTimes(
        file.kernel,
        file.device,
        along,
        _held([points[row].group for row in rows]),
        values,
        tuple(_only(each) or "" for each in groups),
        {number: tuple(means[:, number].tolist()) for number in range(len(file.versions))},
        {number: tuple(ratios[:, number].tolist()) for number in range(len(file.versions))},
        {number: str(version.variant) for number, version in enumerate(file.versions)},
        file.default,
        fixed_best(times),
        tuple(map(_only, choices)),
        _break_evens(values, means, kept.margin),
    )


def _only(found: set[T]) -> T | None:
    return next(iter(found)) if len(found) == 1 else None


def _held(groups: Sequence[str]) -> dict[str, int] | None:
    """The sizes that inputs have in common, where but one differs."""
    sizes = [sizes_in(group) for group in groups]
    if not all(sizes):
        return None
    values = {name: {size.get(name) for size in sizes} for name in sizes[0]}
    if sum(len(each) > 1 for each in values.values()) > 1:
        return None
    return {name: sizes[0][name] for name, each in values.items() if len(each) == 1}


def _usual_feature(tree: Tree, names: Sequence[str], times: VersionTimes) -> str:
    if isinstance(tree, Split):
        return tree.feature
    return max(names, key=lambda name: len({*times.features([name])[:, 0].tolist()}))


def _break_evens(values: Sequence[float], seconds: Array, margin: float) -> tuple[BreakEven, ...]:
    """Return where the fastest version changes along whole numbers, between those that were measured."""
    if not all(value.is_integer() and value >= 1 for value in values):
        return ()
    places = {int(value): place for place, value in enumerate(values)}
    runs = {size: place for size, place in places.items() if not np.isnan(seconds[place]).all()}
    return break_evens([*runs], seconds[[*runs.values()]], margin)


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def duration(seconds: float) -> str:
    """A time with its unit: `10 µs`; nothing where it isn't finite."""
    unit, name = next((each for each in _UNITS if seconds >= each[0] * (1 - 1e-9)), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}" if math.isfinite(seconds) else ""
