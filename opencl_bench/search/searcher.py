"""Interface of a searcher."""

from __future__ import annotations

from typing import Protocol

from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.evaluator import Evaluator
from coarsen.opencl_bench.search.found import Found


class Searcher(Protocol):
    """A way to search any space through an evaluator."""

    @property
    def name(self) -> str:
        """The name by which a user asks for it."""
        ...

    def search(self, evaluator: Evaluator, budget: Budget, seed: int) -> Found:
        """Search the evaluator's space for its fastest choice.

        Args:
            evaluator: the only way to a time.
            budget: the most that may be tried.
            seed: the same seed tries the same choices in the same order, where the times are the same.

        Raises:
            InvalidInputError: the budget is a share of a space that is too large to be counted, or a package is
                missing.
            DeviceError: nothing can be measured any more.
        """
        ...
