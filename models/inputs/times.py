"""Times of the versions of a kernel on inputs: the matrix that everything here learns from and is judged by.

        version 0   version 1   …
input 0    1.0 ms      0.4 ms
input 1    0.1 ms        —          — failed, or breaks a constraint
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array
from coarsen.variant.variant import Variant

# A version that takes four times as long as the best is as bad as one can be: more is not told apart.
MOST_TIMES = 4.0
MOST_REGRET = float(np.log(MOST_TIMES))


class Ending(enum.IntEnum):
    """How a version ended on an input.

    `fell_back`: it can't be launched there, which a dispatcher knows before, and runs the default version.
    `failed`: it is launched, and fails or takes too long. `wrong`: its results are.
    """

    RAN = 0
    FELL_BACK = 1
    FAILED = 2
    WRONG = 3


@dataclass(frozen=True, slots=True)
class InputPoint:
    """An input that a kernel's versions were measured on.

    Attributes:
        name: the input's own.
        group: inputs of one group are held out together: the same sizes with other contents.
        features: what the choice of a version may ask about it, by name.
    """

    name: str
    group: str
    features: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class VersionTimes:
    """Times of n inputs with m versions.

    Attributes:
        inputs: of different names, all with the same features, (n,).
        versions: all different, (m,).
        seconds: (n, m), above 0; NaN where a version failed or breaks a constraint. Kept as a copy that can't be
            written to.
        default: which version stands in where another one can't be launched; it has a time on every input.
        endings: of each input and version, numbers of `Ending`, (n, m). What has no time and no ending failed;
            what has a time ran.

    Raises:
        InvalidInputError: there are no inputs or versions, names or versions are there twice, features differ or
            aren't finite, the shape is another, a time isn't above 0, or the default has none.
    """

    inputs: tuple[InputPoint, ...]
    versions: tuple[Variant, ...]
    seconds: NDArray[np.float64]
    default: int
    endings: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))

    def __post_init__(self) -> None:
        seconds = np.array(self.seconds, dtype=np.float64)
        endings = _endings(seconds, self.endings)
        for name, values in (("seconds", seconds), ("endings", endings)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        _check_inputs(self.inputs)
        _check_versions(self.versions, self.default)
        _check_seconds(self)

    @property
    def regret(self) -> Array:
        """Return min(ln(t / t of the best), ln 4) of what each launch costs, (n, m); see `played`."""
        return np.asarray(np.minimum(np.log(self.played / self.best[:, None]), MOST_REGRET))

    @property
    def played(self) -> Array:
        """Return the seconds that a launch which asks for a version counts as, (n, m).

        The default's where the version can't be launched; where it is launched and fails, four times the best's.
        """
        standing_in = np.where(
            self.endings == Ending.FELL_BACK, self.seconds[:, self.default, None], MOST_TIMES * self.best[:, None]
        )
        return np.where(np.isnan(self.seconds), standing_in, self.seconds)

    @property
    def best(self) -> Array:
        """Return the seconds of the fastest version of each input, (n,)."""
        return np.asarray(np.nanmin(self.seconds, axis=1))

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the inputs' groups, each once, in the order of the inputs."""
        return tuple(dict.fromkeys(point.group for point in self.inputs))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the features, in alphabetical order."""
        return tuple(sorted(self.inputs[0].features))

    def features(self, names: Sequence[str]) -> Array:
        """Return the values of some features, (n, names)."""
        values = [[point.features[name] for name in names] for point in self.inputs]
        return np.array(values, dtype=np.float64).reshape(len(self.inputs), len(names))

    def of_inputs(self, chosen: Sequence[int]) -> VersionTimes:
        """Return the times of some inputs, in this order."""
        rows = list(chosen)
        inputs = tuple(self.inputs[row] for row in rows)
        return replace(self, inputs=inputs, seconds=self.seconds[rows], endings=self.endings[rows])

    def of_versions(self, chosen: Sequence[int]) -> VersionTimes:
        """Return the times of some versions, in this order.

        Raises:
            InvalidInputError: the default is not among them.
        """
        if self.default not in chosen:
            raise InvalidInputError("some versions alone must have the default one among them")
        return replace(
            self,
            versions=tuple(self.versions[column] for column in chosen),
            seconds=self.seconds[:, list(chosen)],
            endings=self.endings[:, list(chosen)],
            default=list(chosen).index(self.default),
        )

    def in_groups(self, groups: Sequence[str]) -> tuple[int, ...]:
        """Return the places of the inputs of some groups, in ascending order."""
        return tuple(row for row, point in enumerate(self.inputs) if point.group in groups)

    def outside(self, groups: Sequence[str]) -> tuple[int, ...]:
        """Return the places of the inputs of all other groups, in ascending order."""
        return tuple(row for row, point in enumerate(self.inputs) if point.group not in groups)


def _endings(seconds: Array, given: NDArray[np.int8]) -> NDArray[np.int8]:
    """The endings, in accord with the times. Raises InvalidInputError where their shape is another."""
    known = np.zeros(seconds.shape, dtype=np.int8) if not given.size else given
    if known.shape != seconds.shape:
        raise InvalidInputError("endings have another shape than times")
    of_failed = np.where(known == Ending.RAN, Ending.FAILED, known)
    return np.asarray(np.where(np.isnan(seconds), of_failed, Ending.RAN), dtype=np.int8)


def _check_inputs(inputs: tuple[InputPoint, ...]) -> None:
    if not inputs:
        raise InvalidInputError("there are no inputs: measure the versions on some first")
    seen: set[str] = set()
    for point in inputs:
        if point.name in seen:
            raise InvalidInputError(f"the input '{point.name}' is there twice: give each a name of its own")
        seen.add(point.name)
        if point.features.keys() != inputs[0].features.keys():
            raise InvalidInputError(f"the inputs '{inputs[0].name}' and '{point.name}' have different features")
        for name, value in point.features.items():
            if not np.isfinite(value):
                raise InvalidInputError(f"the feature '{name}' of the input '{point.name}' is {value}: not finite")


def _check_versions(versions: tuple[Variant, ...], default: int) -> None:
    if not versions:
        raise InvalidInputError("there are no versions: measure at least the default one")
    if len(set(versions)) < len(versions):
        twice = next(version for place, version in enumerate(versions) if version in versions[:place])
        raise InvalidInputError(f"a version is there twice: {twice}")
    if not 0 <= default < len(versions):
        raise InvalidInputError(f"the default is version {default}, and there are {len(versions)}")


def _check_seconds(times: VersionTimes) -> None:
    shape = len(times.inputs), len(times.versions)
    if times.seconds.shape != shape:
        raise InvalidInputError(f"times of {shape[0]} inputs and {shape[1]} versions have another shape")
    known = times.seconds[~np.isnan(times.seconds)]
    if not (np.isfinite(known) & (known > 0)).all():
        raise InvalidInputError("a time is above 0 and finite; one that failed is NaN")
    if lacking := np.flatnonzero(np.isnan(times.seconds[:, times.default])).tolist():
        name = times.inputs[lacking[0]].name
        raise InvalidInputError(f"the default version has no time on the input '{name}': leave that input out")


# The few versions that are worth building: together near the best on every input, and none of them idle.
#
#     fixed best ──▶ + the version that lowers the mean regret most ──▶ … ──▶ − what others make superfluous
#
# The fixed best is the one version for all inputs that loses least. Another has its place only where it is faster
# than all others of the portfolio by more than noise, on two inputs at least.

# By how much one version must be faster than another not to be noise.
CPU_MARGIN = 0.05
GPU_MARGIN = 0.01
MOST_VERSIONS = 8
_LEAST_INPUTS = 2


def margin_of(is_gpu: bool) -> float:
    """Return what counts as noise on a kind of device, as a share of the time."""
    return GPU_MARGIN if is_gpu else CPU_MARGIN


def fixed_best(times: VersionTimes) -> int:
    """Return the number of the version of the least mean regret; of equal ones the first."""
    return int(times.regret.mean(axis=0).argmin())


def portfolio(times: VersionTimes, margin: float, most: int = MOST_VERSIONS) -> tuple[int, ...]:
    """Return the numbers of the versions to build, beside the default one.

    Args:
        times: of the inputs that may be learned from.
        margin: by what share of its time a version must be faster than the others.
        most: how many versions there may be, with the default one.
    """
    fixed = fixed_best(times)
    found = _without_idle(times, _greedy(times, fixed, margin, most), margin)
    return found if len(found) > 1 else (fixed,)


def wins(times: VersionTimes, version: int, others: Sequence[int], margin: float) -> int:
    """Return on how many inputs a version is faster than all of some others by more than the margin."""
    own = times.seconds[:, version]
    # What failed is never chosen: it loses against anything that ran, and wins nothing.
    rest = np.nan_to_num(times.seconds[:, list(others)], nan=np.inf).min(axis=1)
    return int((own * (1 + margin) < rest).sum())


def _greedy(times: VersionTimes, fixed: int, margin: float, most: int) -> tuple[int, ...]:
    regret = times.regret
    chosen = [fixed]
    while True:
        covered = regret[:, chosen].min(axis=1)
        means = np.minimum(covered[:, None], regret).mean(axis=0)
        allowed = [
            version
            for version in np.argsort(means, kind="stable").tolist()
            if version not in chosen and len({*chosen, version, times.default}) <= most
        ]
        worth = (version for version in allowed if wins(times, version, chosen, margin) >= _LEAST_INPUTS)
        added = next(worth, None)
        if added is None:
            return tuple(chosen)
        chosen.append(added)


def _without_idle(times: VersionTimes, chosen: tuple[int, ...], margin: float) -> tuple[int, ...]:
    """Drop versions that the others make superfluous, first the one whose loss costs least."""
    regret = times.regret
    while len(chosen) > 1:
        rests = {version: tuple(each for each in chosen if each != version) for version in chosen}
        idle = [each for each in chosen if wins(times, each, rests[each], margin) < _LEAST_INPUTS]
        if not idle:
            break
        chosen = min((rests[each] for each in idle), key=lambda rest: regret[:, list(rest)].min(axis=1).mean())
    return chosen
