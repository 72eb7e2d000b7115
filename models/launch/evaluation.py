"""Judging launches: what each entrant chooses for kernels that nothing was fitted on, and what comes of it.

    selecting run   what `launch+6` measures
    oracle run      which launch, and which uncoarsened one, is the fastest
    scoring run     how fast whatever was chosen is

Runs are processes of their own, so that no choice is judged by the numbers that it was made by; with fewer than
three, the last one stands for those that are missing. The oracle knows the fastest of what was measured.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coarsen.models.evaluation.scores import Interval, mean_interval
from coarsen.models.launch import Risk
from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.decision import Decision, ErrorTable, decide, fit_errors
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.expected_improvement import USUAL_TRIALS, Belief
from coarsen.models.launch.expected_improvement import Expected as Expectation
from coarsen.models.launch.model import Expected, LaunchModel
from coarsen.models.launch.settling import Judged, Settled, family_folds, settle
from coarsen.variant.variant import Variant

SELECTING, ORACLE_RUN, SCORING = 0, 1, 2
ORACLE = "oracle"


@dataclass(frozen=True)
class LaunchOutcome:
    """The outcome of an entrant's choice.

    Attributes:
        entrant: its name.
        case: that it chose for.
        chosen: the launch.
        gain: the log speed-up over the best uncoarsened launch.
        over_own: that over the launch as it is.
        oracle: what the oracle's choice gains over the best uncoarsened launch.
    """

    entrant: str
    case: LaunchCase
    chosen: Variant
    gain: float
    over_own: float
    oracle: float


# The outcomes of all entrants.
Judgement = tuple[LaunchOutcome, ...]


@dataclass(frozen=True)
class Asked:
    """A case, and what a model that never saw it says of the launches that ran in all runs."""

    case: LaunchCase
    expected: Expected
    decisions: Mapping[Risk, Decision]


def ask(model: LaunchModel, case: LaunchCase, device: LaunchDevice) -> Asked:
    """Return what a model says of a case. Launches that did not run in all runs are left out."""
    known = ran(case)
    expected = model.expect([known.inputs], device, known.own_place)
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
    )


def judge(asked: Iterable[Asked]) -> Judgement:
    """Return what came of all entrants' choices."""
    return tuple(outcome for each in asked for outcome in _outcomes(each))


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
            case,
            case.inputs.variants[chosen],
            float(scoring[baseline] - scoring[chosen]),
            float(scoring[case.own_place] - scoring[chosen]),
            oracle,
        )


def _measured(asked: Asked) -> int:
    """The fastest of the own launch and those measured: the model's choice, then by expected improvement."""
    case, own = asked.case, asked.case.own_place
    times = case.run(SELECTING) - case.run(SELECTING)[own]
    over_own = asked.expected.over_own
    expectations = map(Expectation, (-over_own.mean(axis=1)).tolist(), over_own.std(axis=1).tolist())
    belief = Belief(dict(zip(case.inputs.variants, expectations, strict=True)))
    places = {variant: place for place, variant in enumerate(case.inputs.variants)}
    measured = {case.inputs.variants[own]: 0.0}
    following: Variant | None = case.inputs.variants[asked.decisions[Risk.NEUTRAL].chosen]
    while following is not None and len(measured) <= USUAL_TRIALS:
        if following not in measured:
            measured[following] = float(times[places[following]])
        following = belief.most_promising(measured, measured.keys())
    return places[min(measured, key=lambda variant: measured[variant])]


def _analytic(asked: Asked) -> int:
    seconds = asked.case.inputs.analytic
    return int(np.argmin(seconds)) if np.isfinite(seconds).all() else asked.case.own_place


def _by_risk(risk: Risk) -> Callable[[Asked], int]:
    return lambda asked: asked.decisions[risk].chosen


_CHOOSERS: Mapping[str, Callable[[Asked], int]] = {
    "never": lambda asked: asked.case.own_place,
    "local-size-only": lambda asked: asked.decisions[Risk.NEUTRAL].fallback,
    "analytic": _analytic,
    **{risk.entrant: _by_risk(risk) for risk in Risk},
    f"launch+{USUAL_TRIALS}": _measured,
    ORACLE: lambda asked: int(np.argmin(asked.case.run(ORACLE_RUN))),
}
"""The choice of each entrant, in the order of tables."""


# How good entrants' choices of launches are, over the best uncoarsened local size.
#
# share of the oracle   exp(mean log speed-up − that of the oracle's choices), every kernel with the same weight;
#                       intervals are over families of kernels, by bootstrap

LOSS = 0.95


@dataclass(frozen=True)
class LaunchScore:
    """The score of an entrant on a device.

    Attributes:
        cases: kernels at sizes.
        geometric_mean: of the speed-ups over the best uncoarsened launch; `over_own` over the own one.
        share_of_oracle: the geometric mean over the oracle's; `interval` of it, 95 %.
        worst: the least speed-up over the best uncoarsened launch; `worst_case` whose.
        losses: the share of cases below 0.95.
    """

    cases: int
    geometric_mean: float
    over_own: float
    share_of_oracle: float
    interval: Interval
    worst: float
    worst_case: str
    losses: float


def launch_scores(outcomes: Iterable[LaunchOutcome]) -> Mapping[str, LaunchScore]:
    """Return the score of each entrant, in the order of tables."""
    found: defaultdict[str, list[LaunchOutcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.entrant].append(outcome)
    return {name: _score(found[name]) for name in _CHOOSERS if name in found}


def _score(outcomes: Sequence[LaunchOutcome]) -> LaunchScore:
    gains = _by_kernel(outcomes, lambda each: each.gain)
    lacking = _by_kernel(outcomes, lambda each: each.gain - each.oracle)
    families = {outcome.case.kernel: outcome.case.family for outcome in outcomes}
    worst = min(outcomes, key=lambda outcome: outcome.gain)
    interval = mean_interval(list(lacking.values()), [families[kernel] for kernel in lacking])
    return LaunchScore(
        cases=len(outcomes),
        geometric_mean=math.exp(_mean(gains.values())),
        over_own=math.exp(_mean(_by_kernel(outcomes, lambda each: each.over_own).values())),
        share_of_oracle=math.exp(_mean(lacking.values())),
        interval=interval.exponential(),
        worst=math.exp(worst.gain),
        worst_case=f"{worst.case.kernel} ({worst.case.size})",
        losses=sum(outcome.gain < math.log(LOSS) for outcome in outcomes) / len(outcomes),
    )


def _by_kernel(outcomes: Sequence[LaunchOutcome], value: Callable[[LaunchOutcome], float]) -> dict[str, float]:
    """The mean of each kernel's cases, so that every kernel counts the same."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.case.kernel].append(value(outcome))
    return {kernel: _mean(values) for kernel, values in found.items()}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# Judging on the kernels of the data themselves: nothing that judges a kernel saw its family.
#
# views ─▶ for each fold of families: decision settled on the others ─▶ choices for the fold ─▶ outcomes


def judge_nested(judged: Sequence[Judged]) -> Judgement:
    """Return what comes of all entrants' choices for kernels.

    Args:
        judged: what trees say that never saw their families.

    Raises:
        InvalidInputError: there are too few unrelated kernels.
    """
    return judge(_asked(judged))


def _asked(judged: Sequence[Judged]) -> Iterator[Asked]:
    for fold in family_folds(judged, judged):
        settled = settle([fold.training])
        own_errors = fit_errors([each.over_own(settled.slope) for each in fold.training])
        for each in fold.held_out:
            yield _answer(each, settled, own_errors)


def _answer(judged: Judged, settled: Settled, own_errors: ErrorTable) -> Asked:
    known = judged.only(ran(judged.case))
    expected = Expected(
        speeds=settled.slope * known.speeds,
        over_best=settled.errors.samples(known.over_best(settled.slope)),
        over_own=own_errors.samples(known.over_own(settled.slope)),
        distance=known.distance,
    )
    decisions = {
        risk: decide(expected.over_best, known.case.inputs.is_coarsened, known.distance, rule)
        for risk, rule in settled.rules.items()
    }
    return Asked(known.case, expected, decisions)
