"""Methods that need no features: never coarsen, one factor for all kernels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coarsen.features import FACTORS
from coarsen.models.evaluation.method import Choice
from coarsen.models.evaluation.scores import log_speedup_of
from coarsen.models.examples import Example


class Never:
    """Never coarsens."""

    name = "never"

    def fit(self, training: Sequence[Example], seed: int) -> OneFactor:
        """Learns nothing."""
        return OneFactor({})


class Unique:
    """One factor for every kernel, the baseline of Magni et al. (PACT 2014, section 7).

    It is the factor with the best geometric mean over the training kernels of the device, along the dimension in
    question; where only best factors are known, the most common of them. The smaller one of equals. On a device
    that it has no training examples of, it stays at 1.
    """

    name = "unique"

    def fit(self, training: Sequence[Example], seed: int) -> OneFactor:
        """Find each device's factor; the seed changes nothing."""
        groups: defaultdict[tuple[str, int], list[Example]] = defaultdict(list)
        for example in training:
            groups[example.device, example.dimension].append(example)
        return OneFactor({place: best_single_factor(examples) for place, examples in groups.items()})


@dataclass(frozen=True)
class OneFactor:
    """The factor by device and dimension, 1 elsewhere."""

    factors: Mapping[tuple[str, int], int]

    def choose(self, example: Example) -> Choice:
        """Return the device's factor, whatever the kernel."""
        return Choice(self.factors.get((example.device, example.dimension), 1))


def best_single_factor(examples: Sequence[Example]) -> int:
    """Return the factor that is best for all of them together; see `Unique`."""
    measured = [example for example in examples if example.speedup]
    if not measured:
        return most_common_factor([example.best_factor for example in examples])
    gains = {factor: sum(log_speedup_of(example, factor) for example in measured) for factor in FACTORS}
    return min(gains, key=lambda factor: (-gains[factor], factor))


def most_common_factor(factors: Sequence[int]) -> int:
    """Return the factor that occurs most often; the smallest of those that do."""
    counts = Counter(factors)
    return min(counts, key=lambda factor: (-counts[factor], factor))
