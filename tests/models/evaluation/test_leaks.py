"""What is held out does not reach its own prediction: by scaling, components or thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from coarsen.models.evaluation.evaluation import Plan, evaluate
from coarsen.models.examples import CurveKey, Example, best_factor_of
from tests.models.evaluation.made_up import made_up_examples

METHODS = ("unique", "cascade")
HELD_OUT = "made_up_3"


def known() -> list[Example]:
    """Fourteen kernels on three measured devices, and on one of which the best factors alone are known."""
    measured = made_up_examples(14, seed=5)
    return [*measured, *(replace(each, device="tahiti", speedup={}) for each in measured[::3])]


def turned(example: Example) -> Example:
    """The example with the opposite answer."""
    if not example.speedup:
        return replace(example, best_factor=32 // example.best_factor)
    speedup = {factor: 1 / value for factor, value in example.speedup.items()}
    return replace(example, speedup=speedup, best_factor=best_factor_of(speedup))


def choices(
    data: Sequence[Example], further: Sequence[Example], method: str, unseen: bool
) -> Mapping[CurveKey, int]:
    found = evaluate(data, further, Plan((method,), seeds=1, unseen=unseen))
    return {outcome.example.place: outcome.factor for outcome in found.outcomes[method]}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unseen", [False, True])
def test_other_answers_of_a_family_change_nothing_for_it(method: str, unseen: bool) -> None:
    """Neither in the data nor, on other devices and under other names, in what is learned from besides."""
    data = known()
    further = [replace(each, kernel=f"{each.kernel} again") for each in data] if unseen else []
    changed, changed_further = (
        [turned(each) if each.family == HELD_OUT else each for each in examples] for examples in (data, further)
    )
    before, after = (
        choices(data, further, method, unseen),
        choices(changed, changed_further, method, unseen),
    )
    own = [key for key in before if key[0] == HELD_OUT]
    assert len(own) == 4
    assert [before[key] for key in own] == [after[key] for key in own]
    assert before != after
