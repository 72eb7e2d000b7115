"""Judging launches: what each entrant chooses for kernels that nothing was fitted on, and what comes of it.

    selecting run   what `launch+2` measures
    oracle run      which launch, and which uncoarsened one, is the fastest
    scoring run     how fast whatever was chosen is

Runs are processes of their own, so that no choice is judged by the numbers that it was made by; with fewer than
three, the last one stands for those that are missing. The oracle knows the fastest of what was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.decision import Decision, Risk
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.expected_improvement import Belief
from coarsen.models.launch.model import Expected, LaunchModel
from coarsen.models.trees.arrays import Array
from coarsen.variant.variant import Variant

SELECTING, ORACLE_RUN, SCORING = 0, 1, 2
NEVER, LOCAL_SIZE_ONLY, ANALYTIC, ORACLE = "never", "local-size-only", "analytic", "oracle"
LAUNCH = "launch"
MEASURED = 2
_NAMES = {Risk.CAUTIOUS: "launch-cautious", Risk.NEUTRAL: LAUNCH, Risk.BOLD: "launch-bold"}
LAUNCH_MEASURED = f"{LAUNCH}+{MEASURED}"
ENTRANTS = (NEVER, LOCAL_SIZE_ONLY, ANALYTIC, *_NAMES.values(), LAUNCH_MEASURED, ORACLE)
"""The entrants, in the order of tables."""


@dataclass(frozen=True)
class LaunchOutcome:
    """The outcome of an entrant's choice.

    Attributes:
        entrant: its name.
        kernel, family, device, size: of the case.
        chosen: the launch.
        gain: the log speed-up over the best uncoarsened launch.
        over_own: that over the launch as it is.
        oracle: what the oracle's choice gains over the best uncoarsened launch.
    """

    entrant: str
    kernel: str
    family: str
    device: str
    size: str
    chosen: Variant
    gain: float
    over_own: float
    oracle: float


@dataclass(frozen=True, slots=True)
class Promise:
    """A probability that a coarsened launch beats every uncoarsened one, and whether it did."""

    kernel: str
    family: str
    device: str
    probability: float
    came_true: bool


@dataclass(frozen=True)
class Judgement:
    """All outcomes, and what was promised of the most promising coarsened launch of each case."""

    outcomes: tuple[LaunchOutcome, ...]
    promises: tuple[Promise, ...]

    def only(self, kernels: Callable[[str], bool]) -> Judgement:
        """Return what concerns some kernels, by their names."""
        return Judgement(
            tuple(outcome for outcome in self.outcomes if kernels(outcome.kernel)),
            tuple(promise for promise in self.promises if kernels(promise.kernel)),
        )


@dataclass(frozen=True)
class Asked:
    """A case, and what a model that never saw it says of the launches that ran in all runs."""

    case: LaunchCase
    expected: Expected
    decisions: Mapping[Risk, Decision]


def ask(model: LaunchModel, case: LaunchCase, device: LaunchDevice) -> Asked:
    """Return what a model says of a case: at usual sizes, where the case has inputs at them, else at its own.

    Launches that did not run in all runs are left out.
    """
    known = ran(case)
    expected = model.expect(known.usual or [known.inputs], device, known.own_place)
    return Asked(known, expected, {risk: model.decide(expected, known.inputs, risk) for risk in Risk})


def ran(case: LaunchCase) -> LaunchCase:
    """Return a case with the launches alone that have a time in all runs."""
    kept = np.flatnonzero(np.isfinite(case.log_times).all(axis=1)).tolist()
    own = None if case.own is None or case.own not in kept else kept.index(case.own)
    return replace(
        case,
        inputs=case.inputs.only(kept),
        log_times=case.log_times[kept],
        own=own,
        errors=case.standard_errors[kept],
        usual=tuple(inputs.only(kept) for inputs in case.usual),
    )


def judge(asked: Sequence[Asked]) -> Judgement:
    """Return what came of all entrants' choices."""
    outcomes = tuple(outcome for each in asked for outcome in _outcomes(each))
    return Judgement(outcomes, tuple(promise for each in asked for promise in _promises(each)))


def _outcomes(asked: Asked) -> Iterator[LaunchOutcome]:
    case = asked.case
    scoring, deciding = case.run(SCORING), case.run(ORACLE_RUN)
    coarsened = case.inputs.is_coarsened
    baseline = int(np.argmin(np.where(coarsened, np.inf, deciding)))
    oracle = float(scoring[baseline] - scoring[int(np.argmin(deciding))])
    for name, choose in _CHOOSERS.items():
        chosen = choose(asked)
        yield LaunchOutcome(
            name,
            case.kernel,
            case.family,
            case.device,
            case.size,
            case.inputs.variants[chosen],
            float(scoring[baseline] - scoring[chosen]),
            float(scoring[case.own_place] - scoring[chosen]),
            oracle,
        )


def _promises(asked: Asked) -> Iterator[Promise]:
    case = asked.case
    coarsened = case.inputs.is_coarsened
    if not coarsened.any():
        return
    worth = asked.decisions[Risk.NEUTRAL].utilities
    place = int(np.argmax(np.where(coarsened, worth, -np.inf)))
    times = case.run(SCORING)
    yield Promise(
        case.kernel,
        case.family,
        case.device,
        float((asked.expected.over_best[place] > 0).mean()),
        bool(times[place] < times[~coarsened].min()),
    )


def _never(asked: Asked) -> int:
    return asked.case.own_place


def _local_size_only(asked: Asked) -> int:
    return asked.decisions[Risk.NEUTRAL].fallback


def _analytic(asked: Asked) -> int:
    seconds = asked.case.inputs.analytic
    return int(np.argmin(seconds)) if np.isfinite(seconds).all() else asked.case.own_place


def _oracle(asked: Asked) -> int:
    return int(np.argmin(asked.case.run(ORACLE_RUN)))


def _by_risk(risk: Risk) -> Callable[[Asked], int]:
    return lambda asked: asked.decisions[risk].chosen


def _measured(asked: Asked) -> int:
    """The fastest of the own launch, and of those measured: one after the other, by expected improvement."""
    case, own = asked.case, asked.case.own_place
    times = case.run(SELECTING) - case.run(SELECTING)[own]
    prior = ExpectedPrior(case.inputs.variants, asked.expected.over_own)
    belief = Belief(case.inputs.variants, prior)
    places = {variant: place for place, variant in enumerate(case.inputs.variants)}
    measured = {case.inputs.variants[own]: 0.0}
    for _ in range(MEASURED):
        variant = belief.most_promising(measured, measured.keys())
        if variant is not None:
            measured[variant] = float(times[places[variant]])
    return places[min(measured, key=lambda variant: measured[variant])]


class ExpectedPrior:
    """Return what a model expects of launches, as the choice of what to measure next takes it.

    Args:
        variants: the launches, (n,).
        over_own: samples of the log speed-up over the own launch, (n, s).
    """

    def __init__(self, variants: Sequence[Variant], over_own: Array) -> None:
        means, deviations = -over_own.mean(axis=1), over_own.std(axis=1)
        self._means: Mapping[Variant, float] = dict(zip(variants, map(float, means), strict=True))
        self._deviations: Mapping[Variant, float] = dict(zip(variants, map(float, deviations), strict=True))

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of a variant's time over that of the launch as it is."""
        return self._means[variant]

    def deviation(self, variant: Variant) -> float:
        """Return the standard deviation of that logarithm."""
        return self._deviations[variant]


_CHOOSERS: Mapping[str, Callable[[Asked], int]] = {
    NEVER: _never,
    LOCAL_SIZE_ONLY: _local_size_only,
    ANALYTIC: _analytic,
    **{name: _by_risk(risk) for risk, name in _NAMES.items()},
    LAUNCH_MEASURED: _measured,
    ORACLE: _oracle,
}
