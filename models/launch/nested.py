"""Judging on the kernels of the data themselves: nothing that judges a kernel saw its family.

views ─▶ for each fold of families: decision settled on the others ─▶ choices for the fold ─▶ outcomes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coarsen.models.launch.decision import Risk, decide
from coarsen.models.launch.errors import ErrorTable, fit_errors
from coarsen.models.launch.evaluation import Asked, Judgement, judge, ran
from coarsen.models.launch.folds import family_folds
from coarsen.models.launch.model import Expected
from coarsen.models.launch.settling import Judged, Settled, over_own_seen, settle

FOLDS = 5


def judge_nested(judged: Sequence[Judged]) -> Judgement:
    """Return what comes of all entrants' choices for kernels.

    Args:
        judged: what trees say that never saw their families.

    Raises:
        InvalidInputError: there are too few unrelated kernels.
    """
    return judge(list(_asked(judged)))


def _asked(judged: Sequence[Judged]) -> Iterator[Asked]:
    by_case = {id(each.case): each for each in judged}
    cases = [each.case for each in judged]
    for fold in family_folds(cases, cases, FOLDS):
        others = [by_case[id(case)] for case in fold.training]
        settled = settle([others])
        own_errors = fit_errors([over_own_seen(each, settled.slope) for each in others])
        for case in fold.held_out:
            yield _answer(by_case[id(case)], settled, own_errors)


def _answer(judged: Judged, settled: Settled, own_errors: ErrorTable) -> Asked:
    case = ran(judged.case)
    known = judged.only(case)
    best, own = known.seen(settled.slope), over_own_seen(known, settled.slope)
    expected = Expected(
        speeds=settled.slope * known.speeds,
        over_best=settled.errors.samples(best.predicted, best.places, case.device, known.is_gpu),
        over_own=own_errors.samples(own.predicted, own.places, case.device, known.is_gpu),
        distance=known.distance,
    )
    rules = settled.rules
    return Asked(
        case,
        expected,
        {risk: decide(expected.over_best, case.inputs.is_coarsened, known.distance, rules[risk]) for risk in Risk},
    )
