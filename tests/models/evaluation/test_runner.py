"""Methods fitted on folds, one by one and all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from coarsen.models.evaluation.folds import FoldChoices, leave_one_family_out, run_method
from coarsen.models.evaluation.method import Fit
from coarsen.models.examples import Example
from tests.models.evaluation.made_up import Rolled, RolledPredictor, Spy, small_table


def run(method: Spy | Rolled | Batched, seeds: Sequence[int] = (0,)) -> list[FoldChoices]:
    examples = small_table()
    folds = leave_one_family_out(examples, examples)
    return list(run_method(method, folds, seeds, lambda *_: None))


@dataclass
class Batched:
    """`Rolled`, with all fits at once."""

    batches: int = 0
    name: str = "batched"

    def fit(self, training: Sequence[Example], seed: int) -> RolledPredictor:
        raise AssertionError("fits that can be made together were made one by one")

    def fit_many(self, fits: Sequence[Fit]) -> list[RolledPredictor]:
        self.batches += 1
        return [Rolled().fit(fit.training, fit.seed) for fit in fits]


def test_no_method_is_given_anything_of_what_it_is_to_predict() -> None:
    spy = Spy()
    run(spy, (0, 1))
    assert len(spy.fitted) == 4 * 2 and len(spy.asked) == 10 * 2
    for training, asked in spy.asked:
        assert asked.family not in {example.family for example in training}
        assert asked.speedup == {} and asked.best_factor == 1
    for training, _ in spy.fitted:
        # What may be learned from has its answers.
        assert training and all(example.speedup for example in training)


def test_every_fold_at_every_seed() -> None:
    found = run(Rolled(), (0, 1, 5))
    assert sorted({(done.fold.held_out[0].family, done.seed) for done in found}) == [
        (family, seed) for family in ("mt", "nbody", "sgemm", "spmv") for seed in (0, 1, 5)
    ]
    assert len(found) == 12


def test_batches_find_the_same() -> None:
    def by_place(found: list[FoldChoices]) -> dict[tuple[str, int], object]:
        return {(done.fold.held_out[0].family, done.seed): done.choices for done in found}

    alone = by_place(run(Rolled(), range(3)))
    batched = Batched()
    assert by_place(run(batched, range(3))) == alone
    assert batched.batches == 1


@pytest.mark.parametrize("method", [Rolled(), Batched()])
def test_progress_is_told(method: Rolled | Batched) -> None:
    told: list[tuple[int, int]] = []
    examples = small_table()
    folds = leave_one_family_out(examples, examples)
    list(run_method(method, folds, (0, 1), lambda done, total: told.append((done, total))))
    assert told == [(count, 8) for count in range(1, 9)]
