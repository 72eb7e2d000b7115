"""The Gaussian process as a method: it learns from a dozen kernels whom coarsening helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.models.evaluation.entrants import entrant
from coarsen.models.examples import Example
from coarsen.models.gaussian_process import process
from coarsen.models.gaussian_process.method import GaussianProcess
from coarsen.models.gaussian_process.process import GRID
from tests.models.default.made_up import GAIN, HARM, made_up_examples


@pytest.fixture(autouse=True)
def small_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRID", GRID[::9])


def gain(examples: tuple[Example, ...], asked: tuple[Example, ...]) -> float:
    """The mean log speed-up of what is chosen."""
    predictor = GaussianProcess().fit(examples, 0)
    chosen = [(each, predictor.choose(each.blind()).factor) for each in asked]
    return float(np.mean([each.log_speedup(factor) for each, factor in chosen]))


def test_it_learns_whom_coarsening_helps() -> None:
    assert HARM["intel"] and GAIN["intel"]
    examples = made_up_examples(24, seed=3)
    known, asked = examples[: 3 * 14], tuple(each for each in examples[3 * 14 :] if each.device == "intel")
    best = float(np.mean([max(0.0, each.log_speedup(32)) for each in asked]))
    everywhere = float(np.mean([each.log_speedup(32) for each in asked]))
    assert gain(known, asked) > max(0.0, everywhere, 0.5 * best)


def test_of_a_device_without_examples_it_says_nothing() -> None:
    first, *others = made_up_examples(6, seed=1)
    predictor = GaussianProcess().fit(others, 0)
    assert predictor.choose(replace(first.blind(), device="fermi")).factor == 1
    assert GaussianProcess().fit([each.blind() for each in others], 0).choose(first.blind()).factor == 1


def test_a_factor_divides_the_local_size() -> None:
    examples = made_up_examples(12, seed=3)
    gaining = [
        replace(each, speedup={factor: 1.5**n for n, factor in enumerate((2, 4, 8), 1)}) for each in examples
    ]
    predictor = GaussianProcess().fit(gaining[3:], 0)
    asked = gaining[0].blind()
    assert predictor.choose(asked).factor >= 8
    assert predictor.choose(replace(asked, local_size=(4,))).factor == 4
    assert predictor.choose(replace(asked, local_size=(3,))).factor == 1
    assert predictor.choose(replace(asked, local_size=None)).factor >= 8


def test_it_is_an_entrant_that_does_not_pool() -> None:
    made = entrant("gaussian-process")
    assert made.make is not None and made.make().name == made.name
    assert not made.is_random and not made.pools
