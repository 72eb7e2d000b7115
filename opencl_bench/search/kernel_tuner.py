"""Strategies of Kernel Tuner (van Werkhoven 2019) as searchers, for comparison.

    strategy ── configurations ──▶ _Runner ── choice ──▶ BudgetedEvaluator

A strategy calls for times instead of being asked, so that it runs to its end here, or until the budget is spent.
It sees the valid choices as a space of Kernel Tuner's. Everything else is its own: defaults, start, and end.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.budget import Budget, BudgetedEvaluator, BudgetSpentError
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.exhaustive import SPENT
from coarsen.opencl_bench.search.found import Found, fastest
from coarsen.opencl_bench.search.ordered_axes import ascending
from coarsen.opencl_bench.search.spaces import ENUMERABLE, Choice, SearchSpace, is_enumerable, valid_choices

ENDED = "the strategy ended"
_NEEDED = "Kernel Tuner's strategies need its package: pip install 'coarsen[compare]'"
# Requests in a row for what was tried before: a strategy that repeats itself so often has come to its end.
_VAIN_REQUESTS = 20_000
# Kernel Tuner excludes work-groups that are too large for a device; the space has done so already.
_NO_LIMIT = 1_000_000_000
_SEEDS = 2**32

Configuration = tuple[float, ...]


class _AtEndError(Exception):
    """A strategy asks for nothing new any more."""


@dataclass(frozen=True, slots=True)
class KernelTunerSearcher:
    """Searches by a strategy of Kernel Tuner.

    Attributes:
        strategy: its module in `kernel_tuner.strategies`.
        name: by which a user asks for it.
        options: of the strategy; all others have its defaults.
    """

    strategy: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search as the strategy does.

        Raises:
            InvalidInputError: Kernel Tuner is not installed, or the space is too large to be listed.
        """
        if importlib.util.find_spec("kernel_tuner") is None:
            raise InvalidInputError(_NEEDED)
        if not is_enumerable(evaluator.space):
            raise InvalidInputError(f"{self.name} lists the space: more than {ENUMERABLE} choices are too many")
        listed = _Listed(evaluator.space)
        if not listed.choices:
            return Found(None, evaluator.trace, ENDED)
        ending = self._run(listed, BudgetedEvaluator(evaluator, budget), seed)
        return Found(fastest(evaluator.trace), evaluator.trace, ending)

    def _run(self, listed: _Listed, evaluator: BudgetedEvaluator, seed: int) -> str:
        strategy: Any = importlib.import_module(f"kernel_tuner.strategies.{self.strategy}")
        options = self._tuning_options(listed, evaluator)
        try:
            with _seeded(seed), _root_logger_left_alone():
                strategy.tune(listed.searchspace(), _Runner(evaluator, listed), options)
        except BudgetSpentError:
            return SPENT
        except _AtEndError:
            return f"{_VAIN_REQUESTS} requests in a row were for what had been tried"
        return ENDED

    def _tuning_options(self, listed: _Listed, evaluator: BudgetedEvaluator) -> object:
        interface: Any = importlib.import_module("kernel_tuner.interface")
        util: Any = importlib.import_module("kernel_tuner.util")
        every = len(listed.choices)
        most = every if evaluator.left is None else min(evaluator.left, every)
        return interface.Options(
            objective=["time"],
            objective_higher_is_better=[False],
            strategy_options=interface.Options({**self.options, "max_fevals": most}),
            max_fevals=most,
            # The evaluator ends the search, by its own count.
            budget=util.TuningBudget(),
            tune_params=listed.parameters,
            verbose=False,
        )


@dataclass(frozen=True)
class _Listed:
    """The valid choices of a space as configurations of Kernel Tuner, whose strategies compute with the values."""

    space: SearchSpace

    @cached_property
    def parameters(self) -> dict[str, list[float]]:
        """The numbers that stand for the values of each axis, in ascending order."""
        return {axis.name: list(ascending(axis).numbers) for axis in self.space.axes}

    @cached_property
    def choices(self) -> dict[Configuration, Choice]:
        """The valid choices by configuration."""
        orders = [ascending(axis) for axis in self.space.axes]
        numbers = [dict(zip(order.places, order.numbers, strict=True)) for order in orders]
        return {
            tuple(number[place] for number, place in zip(numbers, choice, strict=True)): choice
            for choice in valid_choices(self.space)
        }

    def searchspace(self) -> object:
        """Return the space as Kernel Tuner's."""
        module: Any = importlib.import_module("kernel_tuner.searchspace")
        cache = {str(each): dict(zip(self.parameters, each, strict=True)) for each in self.choices}
        return module.Searchspace(None, None, None, from_cache={"tune_params": self.parameters, "cache": cache})


class _Runner:
    """Stands for a device of Kernel Tuner.

    Args:
        evaluator: tries the choices.
        listed: has them by configuration.
    """

    def __init__(self, evaluator: BudgetedEvaluator, listed: _Listed) -> None:
        self.dev = SimpleNamespace(max_threads=_NO_LIMIT)
        self._evaluator = evaluator
        self._listed = listed
        self._vain = 0

    def add_strategy_time(self, seconds: float) -> None:
        """Take note of nothing: a strategy reports the seconds that it computed for."""

    def run(self, configurations: Sequence[Sequence[float]], _: object) -> list[dict[str, object]]:
        """Return a result for each configuration.

        Raises:
            BudgetSpentError: one is new, and the budget is spent.
        """
        choices = [self._listed.choices[tuple(each)] for each in configurations]
        self._evaluator.prepare(choices)
        return [self._result(each, choice) for each, choice in zip(configurations, choices, strict=True)]

    def _result(self, configuration: Sequence[float], choice: Choice) -> dict[str, object]:
        self._vain = self._vain + 1 if self._evaluator.has_tried(choice) else 0
        if self._vain > _VAIN_REQUESTS:
            raise _AtEndError
        trial = self._evaluator.evaluate(choice)
        result: dict[str, object] = dict(zip(self._listed.parameters, configuration, strict=True))
        if trial.time is None:
            util: Any = importlib.import_module("kernel_tuner.util")
            return {**result, "__error__": util.RuntimeFailedConfig()}
        return {**result, "time": trial.time}


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the generators that all strategies draw from, and leave them as they were."""
    python, numbers = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed % _SEEDS)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)


@contextmanager
def _root_logger_left_alone() -> Iterator[None]:
    """Keep strategies from setting the root logger up, which `logging.debug` does where that has no handler."""
    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def _strategy(strategy: str, **options: str) -> KernelTunerSearcher:
    """Return a strategy under its name, with its method where it is another than the default."""
    method = f"/{options['method']}" if "method" in options else ""
    return KernelTunerSearcher(strategy, f"kernel-tuner:{strategy.replace('_', '-')}{method}", options)


# Its Bayesian optimisation is left out: it draws from a generator that can't be seeded.
STRATEGIES = (
    _strategy("random_sample"),
    _strategy("genetic_algorithm"),
    _strategy("greedy_ils"),
    _strategy("dual_annealing"),
    _strategy("basinhopping", method="SLSQP"),
    _strategy("minimize", method="SLSQP"),
)
