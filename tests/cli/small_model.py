"""A small default model: seven kernels of the suite, with made-up speed-ups, on two CPUs and one GPU.

On pocl every doubling makes every kernel faster, on intel slower; of tahiti nothing but best factors is known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from coarsen.features import FACTORS, feature_tables
from coarsen.frontend.lower import lower
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.provenance import provenance_of
from coarsen.models.default.storage import save_default
from coarsen.models.default.training import ForestSettings, train
from coarsen.models.examples import Example, best_factor_of, family_of
from coarsen.opencl_bench.workloads.lookup import SUITE

KERNELS = ("binarySearch", "mriQ", "mt", "mvCoal", "reduce", "sgemm", "sobel")
# What a doubling adds to the log speed-up.
SLOPES = {"pocl": 0.3, "intel": -0.3}
PUBLISHED = "tahiti"
NOISE = 0.02
SETTINGS = ForestSettings(trees=12)


def store_small_model(folder: Path, *, limit: float | None = None, published: bool = True) -> Path:
    """Store the model in a folder; `limit` is another distance from which on it abstains.

    Without `published` its card says nothing of best factors, so that no GPU is known to it.
    """
    model = small_model()
    if limit is not None:
        model = replace(model, neighbourhood=replace(model.neighbourhood, limit=limit))
    learned = [example for example in examples() if published or example.device != PUBLISHED]
    save_default(model, provenance_of(learned, 0, SETTINGS, "2030-01-02", ["made up"]), folder)
    return folder


@functools.cache
def small_model() -> DefaultModel:
    """The model, fitted once."""
    return train(examples(), seed=0, settings=SETTINGS).model


@functools.cache
def examples() -> tuple[Example, ...]:
    """What it is fitted on."""
    return tuple(_examples())


def _examples() -> Iterator[Example]:
    random = np.random.default_rng(0)
    for name in KERNELS:
        benchmark = SUITE[name]
        local_size = benchmark.preset("test").local_size
        table, mechanism = feature_tables(
            lower(benchmark.code, benchmark.kernel, benchmark.build_options), 0, local_size
        )
        for device, slope in {**SLOPES, PUBLISHED: 0.0}.items():
            values = slope * np.log2(FACTORS[1:]) + NOISE * random.normal(size=len(FACTORS) - 1)
            speedup = dict(zip(FACTORS[1:], np.exp(values).tolist(), strict=True))
            known = {} if device == PUBLISHED else speedup
            best = 4 if device == PUBLISHED else best_factor_of(speedup)
            yield Example(name, family_of(name), device, 0, local_size, known, best, table, mechanism)
