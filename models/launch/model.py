"""The launch model: from the inputs of a kernel's launches to the launch to use, what to expect of it, and why.

inputs ─▶ trees ─▶ log speeds ─▶ errors ─▶ speed-ups over the best uncoarsened launch and over the own one
                                       └─▶ decision by the risk that is taken
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coarsen.models.launch.case import LaunchInputs
from coarsen.models.launch.decision import Decision, Risk, Rule, decide
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.errors import ErrorTable, places_of
from coarsen.models.launch.explanation import Influence, influences
from coarsen.models.launch.novelty import Neighbourhood
from coarsen.models.launch.parts import Parts
from coarsen.models.neighbours import Neighbour
from coarsen.models.trees.arrays import Array, Rows


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
        best = speeds[~first.is_coarsened].max()
        return Expected(
            speeds=speeds,
            over_best=self.errors.samples(speeds - best, places, device.name, device.is_gpu),
            over_own=_exact(
                self.own_errors.samples(speeds - speeds[own], places, device.name, device.is_gpu), own
            ),
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


def _exact(samples: Array, own: int) -> Array:
    """The own launch is exactly as fast as itself."""
    found = samples.copy()
    found[own] = 0.0
    return found
