"""Made-up examples and methods, whose scores can be reckoned by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial

import numpy as np

from coarsen.features import FACTORS, Features, FeatureTable
from coarsen.models.evaluation.scores import Outcome
from coarsen.models.examples import Example, Fit, Predictor, best_factor_of, family_of


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
    return Example(
        kernel=kernel,
        family=family or family_of(kernel),
        device=device,
        dimension=dimension,
        local_size=None,
        speedup=speedup,
        best_factor=best_factor_of(speedup) if best is None else best,
        table=FeatureTable(kernel, dimension, dict.fromkeys(FACTORS, features)),
    )


def outcome(example: Example, factor: int, seed: int = 0) -> Outcome:
    """What comes of a choice."""
    return Outcome(example, seed, factor)


@dataclass
class Spy:
    """A method that writes down everything that it is given, and chooses as it is told."""

    factor: int = 2
    fitted: list[tuple[tuple[Example, ...], int]] = field(default_factory=list)
    asked: list[tuple[tuple[Example, ...], Example]] = field(default_factory=list)

    def fit(self, fits: Sequence[Fit]) -> Iterator[Predictor]:
        for fit in fits:
            self.fitted.append((fit.training, fit.seed))
            yield partial(self.choose, fit.training)

    def choose(self, training: tuple[Example, ...], example: Example) -> int:
        self.asked.append((training, example))
        return self.factor


def fit_rolled(fits: Sequence[Fit]) -> list[Predictor]:
    """A method whose choice depends on the seed and on how much it learned from."""
    return [partial(_rolled, 2 ** ((fit.seed + len(fit.training)) % 4)) for fit in fits]


def _rolled(factor: int, _example: Example) -> int:
    return factor


def made_up_examples(count: int, seed: int, devices: Sequence[str] = ("pocl", "intel", "h200")) -> list[Example]:
    """So many kernels on each device, from few uniform loads, where each doubling is slower, to many."""
    random = np.random.default_rng(seed)
    return [
        replace(made_up(name, speedup, device), table=FeatureTable(name, 0, rows))
        for number in range(count)
        for name, (rows, slope) in [(f"made_up_{number}", _rows(random, 10.0 * number / max(1, count - 1)))]
        for device in devices
        for speedup in [{factor: float(np.exp(slope * np.log2(factor))) for factor in FACTORS[1:]}]
    ]


def _rows(random: np.random.Generator, uniform: float) -> tuple[dict[int, Features], float]:
    instructions, loads = (float(value) for value in random.uniform((20, 10), (200, 20)))
    values = dict.fromkeys((each.name for each in fields(Features)), 1.0)
    grown = {"instructions": instructions, "loads": loads, "uniform_loads": uniform}
    rows = {
        factor: Features(**{**values, **{name: number * factor for name, number in grown.items()}})
        for factor in FACTORS
    }
    return rows, 0.2 * (uniform - 5)


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
