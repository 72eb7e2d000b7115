"""Made-up kernels whose curves follow a known law, so that what a model learned can be held against the truth.

A kernel has a share g of guarded work and a share u of uniform loads; on a device with gain a and harm b each
doubling adds a·u − b·g to the log speed-up. Measuring adds noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from coarsen.features import FACTORS, Features, FeatureTable, MechanismFeatures, MechanismTable
from coarsen.models.examples import Example, best_factor_of

GAIN: Mapping[str, float] = {"pocl": 0.5, "intel": 0.8, "h200": 0.3}
HARM: Mapping[str, float] = {"pocl": 0.3, "intel": 0.6, "h200": 0.3}
NOISE = 0.05
_VARYING = ("loads", "instructions", "floating_point_instructions")


@dataclass(frozen=True)
class Kernel:
    """A made-up kernel: its name and family, its two shares, and tables that show them among other features."""

    name: str
    family: str
    guarded: float
    uniform: float
    table: FeatureTable
    mechanism: MechanismTable


def made_up_kernel(
    number: int, random: np.random.Generator, family: str | None = None, size: float = 1.0
) -> Kernel:
    """A kernel with shares drawn evenly from 0 to 1; `size` multiplies the counts of its instructions."""
    guarded, uniform = random.uniform(size=2)
    name = f"made_up_{number}"
    table, mechanism = _tables(name, guarded, uniform, size * random.uniform(10, 200, size=len(_VARYING)))
    return Kernel(name, family or name, guarded, uniform, table, mechanism)


def true_slope(kernel: Kernel, device: str) -> float:
    """What each doubling adds to the log speed-up, without noise."""
    return GAIN[device] * kernel.uniform - HARM[device] * kernel.guarded


def example_of(kernel: Kernel, device: str, random: np.random.Generator, noise: float = NOISE) -> Example:
    """The kernel measured on a device at all factors."""
    slope = true_slope(kernel, device)
    speedup = {factor: float(np.exp(slope * np.log2(factor) + noise * random.normal())) for factor in FACTORS[1:]}
    return Example(
        kernel=kernel.name,
        family=kernel.family,
        device=device,
        dimension=0,
        local_size=(256,),
        speedup=speedup,
        best_factor=best_factor_of(speedup),
        table=kernel.table,
        mechanism=kernel.mechanism,
        published=replace(kernel.table, version=2),
    )


def made_up_examples(count: int, seed: int, noise: float = NOISE) -> tuple[Example, ...]:
    """So many kernels, each on the three devices."""
    return tuple(_examples(count, np.random.default_rng(seed), noise))


def with_best_factor_alone(example: Example, device: str, best: int) -> Example:
    """An example of another device, of which nothing but the best factor is known."""
    return replace(example, device=device, speedup={}, best_factor=best)


def _examples(count: int, random: np.random.Generator, noise: float) -> Iterator[Example]:
    for number in range(count):
        kernel = made_up_kernel(number, random)
        for device in GAIN:
            yield example_of(kernel, device, random, noise)


def _tables(
    name: str, guarded: float, uniform: float, counts: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[FeatureTable, MechanismTable]:
    features, mechanism = dict[int, Features](), dict[int, MechanismFeatures]()
    zeros = {field.name: 0.0 for field in fields(Features)}
    mechanism_zeros = {field.name: 0.0 for field in fields(MechanismFeatures)}
    for factor in FACTORS:
        grown = {key: float(value) * factor for key, value in zip(_VARYING, counts, strict=True)}
        features[factor] = Features(**{**zeros, **grown})
        shares = {"divergent_guard_share": guarded, "uniform_load_share": uniform}
        mechanism[factor] = MechanismFeatures(**{**mechanism_zeros, **shares})
    return FeatureTable(name, 0, features), MechanismTable(name, 0, (256, 1, 1), mechanism)
