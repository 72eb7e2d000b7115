"""What a method is to the evaluation: it is fitted on training examples, and then chooses factors for others.

training examples, seed ─▶ Method.fit ─▶ Predictor
held-out example without its answer ─▶ Predictor.choose ─▶ Choice
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from coarsen.models.examples import Example


@dataclass(frozen=True)
class Choice:
    """The factor that a predictor chooses.

    Args:
        factor: the choice, 1 for none.
        abstained: whether it stayed at 1 because the kernel is unlike what it learned from.
        step_probability: at a factor f, the probability that 2f is faster than f on this kernel and device; empty
            where the predictor has none.
    """

    factor: int
    abstained: bool = False
    step_probability: Mapping[int, float] = field(default_factory=dict)


class Predictor(Protocol):
    """A method fitted on training examples."""

    def choose(self, example: Example) -> Choice:
        """Return the factor for a kernel on a device.

        Args:
            example: without its answer (`Example.blind`): `speedup` is empty and `best_factor` says nothing.
        """
        ...


class Method(Protocol):
    """A way to get from training examples to a predictor; it holds no state between fits."""

    @property
    def name(self) -> str:
        """Return what the command line calls it."""
        ...

    def fit(self, training: Sequence[Example], seed: int) -> Predictor:
        """Learn from examples of any devices.

        Args:
            training: of all kernels but those held out; in no particular order.
            seed: of all randomness; the same arguments give the same predictor.
        """
        ...


@dataclass(frozen=True)
class Fit:
    """One fit that is wanted: what to learn from, and the seed."""

    training: tuple[Example, ...]
    seed: int


@runtime_checkable
class BatchMethod(Method, Protocol):
    """A method that does many fits in less time than one after the other: all networks as one batch, say.

    It uses as many processors as it can, and must give what `fit` gives: no fit may learn from another's examples.
    """

    def fit_many(self, fits: Sequence[Fit]) -> Iterable[Predictor]:
        """Return the predictors of several fits, in their order."""
        ...
