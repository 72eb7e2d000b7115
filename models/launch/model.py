"""The launch model: from the inputs of a kernel's launches to the launch to use, what to expect of it, and why.

inputs ─▶ trees ─▶ log speeds ─▶ errors ─▶ speed-ups over the best uncoarsened launch and over the own one
                                       └─▶ decision by the risk that is taken
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from coarsen.models.flat_forest import LEAF, Array, FlatForest, Rows
from coarsen.models.launch import Risk
from coarsen.models.launch.case import LaunchInputs
from coarsen.models.launch.decision import Decision, ErrorTable, Rule, Seen, decide, places_of
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS


@dataclass(frozen=True)
class Medians:
    """The median inputs of the rows that each part was fitted on: what is usual, to explain what isn't."""

    local: Rows
    coarsened: Rows


@dataclass(frozen=True)
class Expected:
    """Expectations of n launches, as natural logarithms.

    Attributes:
        speeds: predicted, (n,); differences count.
        over_best: samples of the speed-up over the best uncoarsened launch, (n, s).
        over_own: samples of that over the own launch, (n, s).
        distance: of the kernel to the nearest training kernel.
    """

    speeds: Array
    over_best: Array
    over_own: Array
    distance: float

    def only(self, kept: Sequence[int]) -> Expected:
        """Return what is expected of the launches at some places."""
        places = list(kept)
        return Expected(self.speeds[places], self.over_best[places], self.over_own[places], self.distance)


@dataclass(frozen=True)
class LaunchModel:
    """A fitted model.

    Attributes:
        parts: its trees.
        slope: by which their predictions are stretched.
        errors: of speed-ups over the best uncoarsened launch; `own_errors` of those over the own one.
        rules: of the decision, by risk.
        neighbourhood: the kernels that it learned from.
        medians: of the inputs.
        card: the model card as it is stored.
    """

    parts: Parts
    slope: float
    errors: ErrorTable
    own_errors: ErrorTable
    rules: Mapping[Risk, Rule]
    neighbourhood: Neighbourhood
    medians: Medians
    card: Mapping[str, object] = field(default_factory=dict, compare=False)

    def expect(self, inputs: Sequence[LaunchInputs], device: LaunchDevice, own: int = 0) -> Expected:
        """Return what is expected of launches.

        Args:
            inputs: of the same launches at each of some sizes; all sizes are as likely, and speeds are averaged.
            device: where they run.
            own: the place of the launch as it is.
        """
        speeds = np.mean([self.parts.log_speeds(each, self.slope) for each in inputs], axis=0)
        first = inputs[0]
        places = places_of(speeds, first)
        unknown = np.full_like(speeds, np.nan)

        def samples(errors: ErrorTable, other: float) -> Array:
            return errors.samples(Seen(device.name, device.is_gpu, speeds - other, places, unknown))

        over_own = samples(self.own_errors, speeds[own])
        over_own[own] = 0.0  # exactly as fast as itself
        return Expected(
            speeds=speeds,
            over_best=samples(self.errors, speeds[~first.is_coarsened].max()),
            over_own=over_own,
            distance=min(self.neighbourhood.distance(each.place) for each in inputs),
        )

    def decide(self, expected: Expected, inputs: LaunchInputs, risk: Risk, *, over_own: bool = False) -> Decision:
        """Choose one of the launches; none that is expected to be slower than the launch as it is.

        They are compared by their speed-up over the best uncoarsened launch, or else `over_own`.
        """
        no_loss = expected.over_own.mean(axis=1) >= 0
        samples = expected.over_own if over_own else expected.over_best
        return decide(samples, inputs.is_coarsened, expected.distance, self.rules[risk], no_loss)

    def influences(self, inputs: LaunchInputs, launch: int, count: int = 3) -> tuple[Influence, ...]:
        """Return the inputs that moved the prediction of a launch most: of a coarsened one, its coarsening's."""
        if inputs.variants[launch].is_coarsened:
            rows, medians, forest = inputs.coarsened[launch], self.medians.coarsened, self.parts.coarsened
        else:
            rows, medians, forest = inputs.local[inputs.base[launch]], self.medians.local, self.parts.local
        return influences(forest, rows, medians, self.slope)[:count]

    def nearest(self, inputs: LaunchInputs) -> tuple[Neighbour, ...]:
        """Return the training kernels that are nearest to a kernel."""
        return self.neighbourhood.nearest(inputs.place)

    def known_as(self, identity: str) -> str | None:
        """Return the training kernel of this identity; None where there is none."""
        data = self.card.get("data")
        known = data.get("identities") if isinstance(data, dict) else None
        names = {str(value): str(name) for name, value in known.items()} if isinstance(known, dict) else {}
        return names.get(identity) if identity else None


# Kernels that a model learned from, by their distance from another one.


@dataclass(frozen=True)
class Neighbour:
    """A training kernel and its distance."""

    kernel: str
    distance: float


# How far a kernel is from those that the model learned from.
#
# The root of the mean square of the differences of its inputs, each in standard deviations over those kernels.


@dataclass(frozen=True)
class Neighbourhood:
    """The training kernels: their names, k of them, `points` (k, d), and each input's `mean` and `scale`, (d,)."""

    kernels: tuple[str, ...]
    points: Array
    mean: Array
    scale: Array

    def nearest(self, place: Array, count: int = 3) -> tuple[Neighbour, ...]:
        """Return the kernels that are nearest to a place, (d,), each once."""
        distances = self._distances(place)
        found: dict[str, float] = {}
        for number in np.argsort(distances, kind="stable"):
            found.setdefault(self.kernels[number], float(distances[number]))
        return tuple(Neighbour(*item) for item in islice(found.items(), count))

    def distance(self, place: Array) -> float:
        """Return the distance to the nearest kernel."""
        return float(self._distances(place).min(initial=np.inf))

    def _distances(self, place: Array) -> Array:
        return np.asarray(np.sqrt((((self.points - place) / self.scale) ** 2).mean(axis=1)))


def fit_neighbourhood(kernels: Sequence[str], places: Sequence[Array]) -> Neighbourhood:
    """Return the neighbourhood of kernels at places, (d,) each; equal ones of one name count once."""
    known = {(kernel, place.tobytes()): place for kernel, place in zip(kernels, places, strict=True)}
    points = np.array(list(known.values()))
    spread = points.std(axis=0)
    names = tuple(kernel for kernel, _ in known)
    return Neighbourhood(names, points, points.mean(axis=0), np.where(spread > 0.0, spread, 1.0))


# Why the trees say what they say: each input's effect, against what is usual.

# Not reasons, but what is asked about.
_ASKED = frozenset({"configuration", "device"})


@dataclass(frozen=True, slots=True)
class Influence:
    """An input, its value, and by how much it moves the predicted log speed from where it had its usual value."""

    name: str
    value: float
    usual: float
    effect: float


def influences(forest: FlatForest, row: Rows, medians: Rows, slope: float) -> tuple[Influence, ...]:
    """Return the influence of each input, the largest effect first.

    Args:
        forest: the trees.
        row: inputs of the launch, (i,).
        medians: of the training rows, (i,).
        slope: by which predictions are stretched.
    """
    columns = COARSENING_INPUTS if len(row) == len(COARSENING_INPUTS) else LOCAL_SIZE_INPUTS
    asked = [place for place, (group, _) in enumerate(columns) if group not in _ASKED]
    changed = np.tile(row, (1 + len(asked), 1))
    for number, place in enumerate(asked, 1):
        changed[number, place] = medians[place]
    found = forest.mean(changed)
    effects = slope * (found[0] - found[1:])
    every = [
        Influence(columns[place][1], float(row[place]), float(medians[place]), float(effect))
        for place, effect in zip(asked, effects, strict=True)
    ]
    return tuple(sorted(every, key=lambda influence: -abs(influence.effect)))


# The two parts of the model, and what they say of launches together.
#
# log speed = of the local size, less the mean over local sizes + of the coarsening, at that local size


@dataclass(frozen=True)
class Parts:
    """The trees.

    Attributes:
        local: of the uncoarsened launch's local size.
        coarsened: of a coarsening.
    """

    local: FlatForest
    coarsened: FlatForest

    def log_speeds(self, inputs: LaunchInputs, slope: float = 1.0) -> Array:
        """Return each launch's predicted log speed, (n,): differences between launches of one kernel count.

        Args:
            inputs: of the launches.
            slope: by which predictions are stretched, since trees say too little.
        """
        speeds = self.local.mean(inputs.local)[inputs.base]
        chosen = inputs.is_coarsened
        if chosen.any():
            speeds[chosen] += self.coarsened.mean(inputs.coarsened[chosen])
        return slope * speeds

    def check(self, largest: float) -> None:
        """Raise ValueError where the trees are none over these inputs, with leaves of such a magnitude."""
        self.local.check(len(LOCAL_SIZE_INPUTS), largest)
        self.coarsened.check(len(COARSENING_INPUTS), largest)


def constant_forest() -> FlatForest:
    """Return a tree that always says 0: where there was nothing to learn from."""
    return FlatForest(1, np.array([LEAF], dtype=np.uint8), np.zeros(1, dtype=np.float32))
