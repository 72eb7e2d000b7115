"""Folds: what is held out, and all that is like it, is not learned from."""

from __future__ import annotations

from collections import Counter

from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.settling import family_folds, mechanism_folds
from tests.models.launch.made_up import case

MECHANISMS = ("guard", "tile", "gather")
KERNELS = [
    case(n, 0.5, family=f"family {n % 5}", mechanisms=frozenset({MECHANISMS[n % 3]}), device=device)
    for n in range(10)
    for device in ("intel", "pocl")
]


def held_out_once(folds: list[tuple[LaunchCase, ...]]) -> bool:
    counts = Counter((each.kernel, each.device) for held_out in folds for each in held_out)
    return set(counts.values()) == {1} and len(counts) == len(KERNELS)


def test_no_family_is_on_both_sides_on_any_device() -> None:
    folds = list(family_folds(KERNELS, KERNELS, 3))
    for fold in folds:
        assert not {each.family for each in fold.training} & {each.family for each in fold.held_out}
    assert held_out_once([fold.held_out for fold in folds])


def test_no_mechanism_is_on_both_sides() -> None:
    folds = list(mechanism_folds(KERNELS, KERNELS, 2))
    for fold in folds:
        learned = frozenset[str]().union(*(each.mechanisms for each in fold.training))
        assert not learned & frozenset[str]().union(*(each.mechanisms for each in fold.held_out))
    assert held_out_once([fold.held_out for fold in folds])


def test_a_kernel_with_several_mechanisms_is_held_out_once_and_learned_from_without_any_of_them() -> None:
    both = case(50, 0.5, mechanisms=frozenset({"guard", "rare"}))
    folds = list(mechanism_folds([*KERNELS, both], [*KERNELS, both], 4))
    assert sum(both in fold.held_out for fold in folds) == 1
    for fold in folds:
        if any("guard" in each.mechanisms for each in fold.held_out if each is not both):
            assert both not in fold.training


def test_families_that_are_judged_but_not_learned_from_change_nothing() -> None:
    (fold, *_) = family_folds(KERNELS[:4], KERNELS[4:], 5)
    assert all(each in KERNELS[:4] for each in fold.training)
