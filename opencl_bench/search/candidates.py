"""The choices that a regression model is asked about."""

from __future__ import annotations

import itertools
import random

from coarsen.opencl_bench.search.budget import BudgetedEvaluator
from coarsen.opencl_bench.search.found import time_of
from coarsen.opencl_bench.search.sampling import random_order
from coarsen.opencl_bench.search.spaces import Choice, is_enumerable, neighbours, valid_choices

# A space of more choices is not ranked whole: drawn choices are, and the neighbours of the fastest ones.
_RANKED_WHOLE = 5_000
_TESTED = 100_000
_DRAWN = 2_500
_FASTEST = 10


class Candidates:
    """The valid choices of a space that were not tried yet, or many of them.

    Args:
        evaluator: knows what was tried.
    """

    def __init__(self, evaluator: BudgetedEvaluator) -> None:
        self._evaluator = evaluator
        self._whole = _listed(evaluator)

    def fresh(self, draw: random.Random) -> list[Choice]:
        """Return choices that were not tried, in random order, so that none is preferred among equals."""
        listed = self._whole if self._whole is not None else self._some(draw)
        fresh = [choice for choice in listed if not self._evaluator.has_tried(choice)]
        draw.shuffle(fresh)
        return fresh

    def _some(self, draw: random.Random) -> list[Choice]:
        space = self._evaluator.space
        ran = sorted((trial for trial in self._evaluator.trace if trial.time is not None), key=time_of)
        near = (choice for trial in ran[:_FASTEST] for choice in neighbours(space, trial.choice))
        drawn = itertools.islice(random_order(space, draw), _DRAWN)
        return list(dict.fromkeys(itertools.chain(near, drawn)))


def _listed(evaluator: BudgetedEvaluator) -> list[Choice] | None:
    if not is_enumerable(evaluator.space, _TESTED):
        return None
    listed = list(itertools.islice(valid_choices(evaluator.space), _RANKED_WHOLE + 1))
    return listed if len(listed) <= _RANKED_WHOLE else None
