"""What is learned from for each kernel held out."""

from __future__ import annotations

import pytest

from coarsen.errors import InternalError
from coarsen.models.evaluation.evaluation import Fold, leave_one_family_out
from tests.models.evaluation.made_up import made_up, small_table


def test_every_example_is_held_out_once() -> None:
    examples = small_table()
    folds = leave_one_family_out(examples, examples)
    assert [example for fold in folds for example in fold.held_out] == sorted(
        (example.blind() for example in examples),
        key=lambda example: ["sgemm", "mt", "spmv", "nbody"].index(example.family),
    )


def test_a_held_out_family_is_unseen_on_every_device_and_along_every_dimension() -> None:
    examples = small_table(("fermi", "cypress", "pocl"), (0, 1))
    folds = leave_one_family_out([example for example in examples if example.dimension == 0], examples)
    assert len(folds) == 4
    for fold in folds:
        (family,) = {example.family for example in fold.held_out}
        assert family not in {example.family for example in fold.training}
        assert len(fold.training) == sum(example.family != family for example in examples)


def test_mt_and_mt_local_are_held_out_together() -> None:
    examples = small_table(("fermi",))
    fold = next(fold for fold in leave_one_family_out(examples, examples) if fold.held_out[0].family == "mt")
    assert [example.kernel for example in fold.held_out] == ["mt", "mtLocal"]
    assert {example.kernel for example in fold.training} == {"sgemm", "spmv", "nbody"}


def test_kernels_that_nothing_could_be_learned_of_share_a_fold() -> None:
    others = [made_up("other", {2: 2.0}), made_up("sgemm", {2: 3.0}, "tahiti")]
    folds = leave_one_family_out(small_table(("fermi",)), others)
    assert [len(fold.held_out) for fold in folds] == [4, 1]
    assert [len(fold.training) for fold in folds] == [2, 1]


def test_held_out_examples_have_no_answers() -> None:
    examples = small_table()
    held_out = [example for fold in leave_one_family_out(examples, examples) for example in fold.held_out]
    assert all(example.speedup == {} and example.best_factor == 1 for example in held_out)


def test_a_fold_that_leaks_is_refused() -> None:
    mt, mt_local = made_up("mt", {2: 2.0}), made_up("mtLocal", {2: 2.0}, "cypress")
    with pytest.raises(InternalError, match="held out and learned from at once: mt"):
        Fold((mt_local,), (mt.blind(),))
    for seen in (mt, made_up("mt", {}, best=4)):
        with pytest.raises(InternalError, match="answers"):
            Fold((), (seen,))
