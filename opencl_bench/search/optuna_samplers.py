"""Samplers of Optuna (Akiba et al. 2019) as searchers, for comparison.

Optuna knows no conditions on its parameters. A proposal that the space excludes costs nothing, is told as failed,
and the next one is asked for. One that was tried before costs nothing either, and is told its time again.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from dataclasses import dataclass
from typing import Any, Protocol

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.exhaustive import SPENT
from coarsen.opencl_bench.search.found import Found, fastest
from coarsen.opencl_bench.search.ordered_axes import ascending
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace

_NEEDED = "Optuna's samplers need its package: pip install 'coarsen[compare]'"
# Proposals in a row that are excluded or were tried before: a sampler that goes on so has come to its end.
_VAIN_PROPOSALS = 2_000


@dataclass(frozen=True, slots=True)
class OptunaSearcher:
    """Searches by a sampler of Optuna, with its defaults.

    Attributes:
        sampler: the name of its class in `optuna.samplers`.
        name: by which a user asks for it.
    """

    sampler: str
    name: str

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Try what the sampler proposes, one at a time.

        Raises:
            InvalidInputError: Optuna is not installed.
        """
        if importlib.util.find_spec("optuna") is None:
            raise InvalidInputError(_NEEDED)
        ending = self._search(BudgetedEvaluator(evaluator, budget), seed)
        return Found(fastest(evaluator.trace), evaluator.trace, ending)

    def _search(self, evaluator: BudgetedEvaluator, seed: int) -> str:
        optuna: Any = importlib.import_module("optuna")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(sampler=getattr(optuna.samplers, self.sampler)(seed=seed))
        proposals, vain = _Proposals(evaluator.space), 0
        while vain < _VAIN_PROPOSALS:
            proposal = study.ask()
            choice = proposals.choice(proposal)
            is_valid = evaluator.space.is_valid(choice)
            vain = vain + 1 if not is_valid or evaluator.has_tried(choice) else 0
            try:
                time = evaluator.evaluate(choice).time if is_valid else None
            except BudgetSpentError:
                return SPENT
            if time is None:
                study.tell(proposal, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(proposal, math.log(time))
        return f"{_VAIN_PROPOSALS} proposals in a row were excluded or had been tried"


class _Proposal(Protocol):
    """A trial of Optuna."""

    def suggest_int(self, name: str, low: int, high: int) -> int: ...


class _Proposals:
    """Translates proposals into choices: an axis is an integer, the rank of its value.

    Args:
        space: has the axes.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._axes = [(axis.name, ascending(axis).places) for axis in space.axes]

    def choice(self, proposal: _Proposal) -> Choice:
        """Return the choice that a trial of Optuna proposes, which may be none of the valid ones."""
        return tuple(places[proposal.suggest_int(name, 0, len(places) - 1)] for name, places in self._axes)


SAMPLERS = (
    OptunaSearcher("TPESampler", "optuna:tpe"),
    OptunaSearcher("NSGAIISampler", "optuna:nsga2"),
)
