"""Times of a tuned file's versions over a feature of the input, what is chosen, and where the fastest changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.dispatch.tree import Split, Tree, answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.break_even import BreakEven, break_evens
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.inputs.evidence import evidence_of

# Nothing is measured between the inputs that are there.
_NOT_NARROWED = math.inf


@dataclass(frozen=True, slots=True)
class InputTimes:
    """What a figure of times over the input shows.

    Attributes:
        kernel: its name.
        device: where it was measured.
        feature: along which the inputs are.
        values: of the feature, ascending, each once.
        seconds: of each version, by its number, one at each value; NaN where it failed. Of several inputs with one
            value it is their geometric mean.
        labels: what each version is.
        chosen: by value, the version that the tree chooses there; None where inputs of one value have several.
        break_evens: where the fastest version changes, between values; none where these aren't whole numbers.
    """

    kernel: str
    device: str
    feature: str
    values: tuple[float, ...]
    seconds: Mapping[int, tuple[float, ...]]
    labels: Mapping[int, str]
    chosen: tuple[int | None, ...]
    break_evens: tuple[BreakEven, ...]


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
    of_inputs = kept.times.features([along])[:, 0]
    values = tuple(sorted({*of_inputs.tolist()}))
    columns = [kept.times.versions.index(version.variant) for version in file.versions]
    logarithms = np.log(kept.times.seconds[:, columns])
    means = np.exp([logarithms[of_inputs == value].mean(axis=0) for value in values])
    choices = [
        {answer(file.tree, p.features) for p in kept.times.inputs if p.features[along] == v} for v in values
    ]
    return InputTimes(
        file.kernel,
        file.device,
        along,
        values,
        {number: tuple(means[:, number].tolist()) for number in range(len(file.versions))},
        {number: str(version.variant) for number, version in enumerate(file.versions)},
        tuple(next(iter(each)) if len(each) == 1 else None for each in choices),
        _break_evens(values, means, kept.margin),
    )


def _usual_feature(tree: Tree, names: Sequence[str], times: VersionTimes) -> str:
    if isinstance(tree, Split):
        return tree.feature
    return max(names, key=lambda name: len({*times.features([name])[:, 0].tolist()}))


def _break_evens(values: Sequence[float], seconds: Array, margin: float) -> tuple[BreakEven, ...]:
    """Where the fastest version changes along whole numbers, between those that were measured."""
    if not all(value.is_integer() and value >= 1 for value in values):
        return ()
    places = {int(value): place for place, value in enumerate(values)}
    runs = [size for size, place in places.items() if not np.isnan(seconds[place]).all()]
    return break_evens(lambda size: seconds[places[size]], runs, margin, _NOT_NARROWED)
