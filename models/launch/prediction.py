"""What the launch model says of a kernel on a device: the launch to use, and what to expect of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from coarsen.models.flat_forest import Array
from coarsen.models.launch import Risk
from coarsen.models.launch.decision import LEVELS, Decision
from coarsen.models.launch.grid import Candidate
from coarsen.models.launch.model import Expected, Influence, Neighbour
from coarsen.variant.variant import Variant

_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class Ratio:
    """A speed-up that is expected, the exponential of its mean logarithm; 8 of 10 lie between `low` and `high`."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: Array) -> Ratio:
        """Return the ratio of samples of its logarithm, (s,)."""
        low, high = np.interp([_LOW, _HIGH], LEVELS, np.sort(samples))
        return cls(math.exp(float(samples.mean())), math.exp(float(low)), math.exp(float(high)))


@dataclass(frozen=True, slots=True)
class ExpectedLaunch:
    """A launch of the grid.

    Attributes:
        variant: its coarsenings, transforms and local size before coarsening.
        multiple_of: what the global size must be a multiple of; empty where that is so.
        over_best: its speed-up over the best uncoarsened local size.
        over_own: its speed-up over the launch as it is; `deviation` is the standard deviation of its logarithm.
        chance: the probability that it is faster than every uncoarsened local size.
        utility: what the decision compares.
    """

    variant: Variant
    multiple_of: tuple[int, ...]
    over_best: Ratio
    over_own: Ratio
    chance: float
    utility: float
    deviation: float = 0.0


@dataclass(frozen=True, slots=True)
class Fared:
    """How predictions for a device fared on kernels of families that the model never saw.

    Attributes:
        cases: kernels at sizes.
        gain: the geometric mean over the best uncoarsened local size; `best` that of the best launch of each.
        losses: the share of the cases that ran at less than 0.95 of the best uncoarsened local size.
    """

    cases: int
    gain: float
    best: float
    losses: float


def how_fared(card: Mapping[str, object], device: str, risk: Risk) -> Fared | None:
    """Return how predictions fared by the evaluation in a model's card; None where it doesn't say."""
    found: object = card
    for key in ("evaluation", "families_held_out", "devices", device, "entrants"):
        found = found.get(key) if isinstance(found, Mapping) else None
    try:
        own, best = found[risk.entrant], found["oracle"]  # type: ignore[index]
        numbers = (own["geometric_mean"], best["geometric_mean"], own["losses"])
        return Fared(int(own["cases"]), *map(float, numbers)) if all(map(math.isfinite, numbers)) else None
    except (KeyError, OverflowError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class LaunchPrediction:
    """The prediction for a kernel on a device.

    Attributes:
        kernel: its name.
        device: the device's.
        own: the launch as it is.
        launches: those that were considered, the own one first.
        choice: the place of the launch to use among them.
        risk: that was taken.
        choices: the place that each risk chooses.
        abstained: whether no coarsened launch was taken since the kernel is too unlike the training kernels.
        influences: what moved the prediction of the choice, or of the most promising coarsened launch if it is not
            coarsened, most.
        nearest: training kernels.
        training_kernel: the kernel that this one is, of those that were learned from; None if it is none.
        sizes_are_assumed: whether speeds are means over usual global sizes, since none was given.
        unknown: what of the work isn't known, in words.
        has_loops: whether there are loops, which might get tiles; none of the launches has any.
        fared: how such predictions fared; None where the model's card doesn't say.
    """

    kernel: str
    device: str
    own: Variant
    launches: tuple[ExpectedLaunch, ...]
    choice: int
    risk: Risk
    choices: dict[Risk, int]
    abstained: bool
    influences: tuple[Influence, ...]
    nearest: tuple[Neighbour, ...]
    training_kernel: str | None = None
    sizes_are_assumed: bool = False
    unknown: tuple[str, ...] = ()
    has_loops: bool = False
    fared: Fared | None = None

    @property
    def chosen(self) -> ExpectedLaunch:
        """The launch to use."""
        return self.launches[self.choice]

    @property
    def factor(self) -> int:
        """The factor of the launch to use, of all its dimensions together; 1 where it is uncoarsened."""
        return self.chosen.variant.factor

    @property
    def dimension(self) -> int:
        """The first dimension along which the launch to use is coarsened; 0 where it is uncoarsened."""
        coarsenings = self.chosen.variant.coarsenings
        return coarsenings[0].dimension if coarsenings else 0

    @property
    def explained(self) -> ExpectedLaunch:
        """The launch whose prediction `influences` explain."""
        return self.chosen if self.chosen.variant.is_coarsened else self.most_promising or self.chosen

    @property
    def most_promising(self) -> ExpectedLaunch | None:
        """The coarsened launch of the largest utility; None where nothing can be coarsened."""
        coarsened = [launch for launch in self.launches if launch.variant.is_coarsened]
        return max(coarsened, key=lambda launch: launch.utility, default=None)

    @property
    def fallback(self) -> ExpectedLaunch:
        """The uncoarsened launch of the largest utility."""
        plain = [launch for launch in self.launches if not launch.variant.is_coarsened]
        return max(plain, key=lambda launch: launch.utility)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.kernel} on {self.device}: {self.chosen.variant}>"


def expected_launches(
    candidates: tuple[Candidate, ...], expected: Expected, decision: Decision
) -> tuple[ExpectedLaunch, ...]:
    """Return the launches with what is expected of them, in the candidates' order."""
    return tuple(
        ExpectedLaunch(
            variant=candidate.variant,
            multiple_of=candidate.multiple_of,
            over_best=Ratio.of(expected.over_best[place]),
            over_own=Ratio.of(expected.over_own[place]),
            chance=float((expected.over_best[place] > 0).mean()),
            utility=float(decision.utilities[place]),
            deviation=float(expected.over_own[place].std()),
        )
        for place, candidate in enumerate(candidates)
    )
