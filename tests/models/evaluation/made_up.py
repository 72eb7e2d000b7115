"""Made-up examples and methods, whose scores can be reckoned by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from coarsen.features import FACTORS, Features, FeatureTable, MechanismFeatures, MechanismTable
from coarsen.models.evaluation.method import Choice
from coarsen.models.evaluation.outcome import Outcome
from coarsen.models.examples import Example, best_factor_of, family_of


def made_up(
    kernel: str,
    speedup: Mapping[int, float],
    device: str = "fermi",
    dimension: int = 0,
    best: int | None = None,
    family: str | None = None,
) -> Example:
    """An example with these speed-ups and features that are all alike."""
    features = Features(*(1.0 for _ in fields(Features)))
    mechanism = MechanismFeatures(*(1.0 for _ in fields(MechanismFeatures)))
    return Example(
        kernel=kernel,
        family=family or family_of(kernel),
        device=device,
        dimension=dimension,
        local_size=None,
        speedup=speedup,
        best_factor=best_factor_of(speedup) if best is None else best,
        table=FeatureTable(kernel, dimension, dict.fromkeys(FACTORS, features)),
        mechanism=MechanismTable(kernel, dimension, (256, 1, 1), dict.fromkeys(FACTORS, mechanism)),
        published=FeatureTable(kernel, dimension, dict.fromkeys(FACTORS, features), 2),
    )


def outcome(example: Example, factor: int, seed: int = 0, abstained: bool = False) -> Outcome:
    """What comes of a choice."""
    return Outcome(example, seed, Choice(factor, abstained))


@dataclass
class Spy:
    """A method that writes down everything that it is given, and chooses as it is told."""

    factor: int = 2
    name: str = "spy"
    fitted: list[tuple[tuple[Example, ...], int]] = field(default_factory=list)
    asked: list[tuple[tuple[Example, ...], Example]] = field(default_factory=list)

    def fit(self, training: Sequence[Example], seed: int) -> SpyPredictor:
        self.fitted.append((tuple(training), seed))
        return SpyPredictor(self, tuple(training))


@dataclass
class SpyPredictor:
    """Remembers what it was fitted on when it is asked."""

    spy: Spy
    training: tuple[Example, ...]

    def choose(self, example: Example) -> Choice:
        self.spy.asked.append((self.training, example))
        return Choice(self.spy.factor)


@dataclass(frozen=True)
class Rolled:
    """A method whose choice depends on the seed and on how much it learned from; works in any process."""

    name: str = "rolled"

    def fit(self, training: Sequence[Example], seed: int) -> RolledPredictor:
        return RolledPredictor(2 ** ((seed + len(training)) % 4))


@dataclass(frozen=True)
class RolledPredictor:
    """One factor."""

    factor: int

    def choose(self, example: Example) -> Choice:
        return Choice(self.factor)


KERNELS: Mapping[str, Mapping[int, float]] = {
    "sgemm": {2: 1.5, 4: 2.0, 8: 3.0},
    "mt": {2: 1.2, 4: 1.4, 8: 1.1},
    "mtLocal": {2: 1.1, 4: 1.3},
    "spmv": {2: 0.6, 4: 0.4, 8: 0.2},
    "nbody": {2: 1.1},
}


def small_table(devices: Sequence[str] = ("fermi", "cypress"), dimensions: Sequence[int] = (0,)) -> list[Example]:
    """Five kernels of four families on each device."""
    return [
        made_up(kernel, speedup, device, dimension)
        for device in devices
        for dimension in dimensions
        for kernel, speedup in KERNELS.items()
    ]
