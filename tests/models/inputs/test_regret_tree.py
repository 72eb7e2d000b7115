"""The regret tree on made-up times with known answers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from coarsen.dispatch.tree import Leaf, Split, answer, nodes, versions_of
from coarsen.models.inputs.regret_tree import (
    MOST_DEPTH,
    TreeSettings,
    between,
    grown,
    prunings,
    regret_table,
    regret_tree,
    renumbered,
    shortened,
)
from coarsen.models.inputs.times import CPU_MARGIN, InputPoint, VersionTimes
from tests.models.inputs.made_up import Law, sizes, times_of, version

# A launch costs the second version more, and each element less: it is faster above 90.
CROSSING = times_of([lambda n: 10 + n, lambda n: 100 + n / 100], sizes(20, first=0))


def best_near(number: int) -> Law:
    """A version that is the best near 16 to the power of its number."""
    return lambda n: 1 + abs(math.log2(n) - 4 * number)


def content_times(weight: float) -> VersionTimes:
    """Sixteen sizes with two contents each: a skew of 4 costs the first version a weight."""
    points = [
        InputPoint(f"{n}-{skew}", f"{n}", {"n": float(n), "skew": skew}) for n in sizes(16) for skew in (0.5, 4.0)
    ]
    seconds = [[1.0 + weight * (point.features["skew"] > 1), 1.0 + weight / 2] for point in points]
    return VersionTimes(tuple(points), (version(0), version(1)), np.array(seconds), 0)


def test_a_tree_splits_where_the_curves_cross() -> None:
    tree = regret_tree(CROSSING, CPU_MARGIN)
    assert isinstance(tree, Split)
    assert (tree.at_most, tree.above) == (Leaf(0), Leaf(1))
    assert 64 <= tree.threshold < 128


def test_one_leaf_is_the_fixed_best_where_the_input_does_not_matter() -> None:
    for seed in range(4):
        times = times_of([lambda n: 1.1 * n, lambda n: n, lambda n: 1.02 * n], sizes(20), noise=0.02, seed=seed)
        tree = regret_tree(times, CPU_MARGIN)
        assert isinstance(tree, Leaf)
        assert versions_of(tree) < {1, 2}


def test_an_input_measured_wrong_does_not_hide_the_crossing() -> None:
    outliers = CROSSING.seconds.copy()
    outliers[3] = outliers[3, ::-1]
    tree = regret_tree(replace(CROSSING, seconds=outliers), CPU_MARGIN)
    assert [answer(tree, {"n": 2.0**k}) for k in (0, 1, 2, 8, 10, 19)] == [0, 0, 0, 1, 1, 1]


def test_sizes_beyond_single_precision_are_told_apart() -> None:
    near = [2.0**40 + k for k in range(8)]
    times = times_of([lambda n: 1.0, lambda n: 3.0 if n < near[4] else 0.3], near)
    tree = regret_tree(times, CPU_MARGIN)
    assert isinstance(tree, Split)
    assert [answer(tree, {"n": n}) for n in near] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_leaf_never_answers_what_failed_on_its_inputs_where_something_ran() -> None:
    seconds = CROSSING.seconds.copy()
    seconds[10:14, 1] = np.nan
    times = replace(CROSSING, seconds=seconds)
    table = regret_table(times, (0, 1), ["n"])
    tree = grown(table, TreeSettings(1, 0.0))
    assert [answer(tree, {"n": float(n)}) for n in (2**9, 2**11, 2**12, 2**18)] == [1, 0, 0, 1]


def test_trees_are_at_most_six_questions_deep() -> None:
    # Odd and even exponents by turns, more than six questions can tell apart.
    laws: list[Law] = [lambda n: 1.0 + math.log2(n) % 2, lambda n: 2.0 - math.log2(n) % 2]
    times = times_of(laws, sizes(200, first=0))
    tree = grown(regret_table(times, (0, 1), ["n"]), TreeSettings(1, 0.0))

    def depth(part: Leaf | Split) -> int:
        return 0 if isinstance(part, Leaf) else 1 + max(depth(part.at_most), depth(part.above))

    assert depth(tree) <= MOST_DEPTH


def test_more_pruning_never_makes_more_leaves() -> None:
    times = times_of([best_near(k) for k in range(5)], sizes(20, 0), noise=0.05)
    table = regret_table(times, range(5), ["n"])
    leaves = [
        sum(isinstance(node, Leaf) for node in nodes(grown(table, TreeSettings(1, p)))) for p in prunings(table, 1)
    ]
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] >= 5


def test_what_decides_is_asked() -> None:
    found = regret_tree(content_times(2.0), CPU_MARGIN)
    assert isinstance(found, Split) and found.feature == "skew"


def test_the_same_times_make_the_same_tree() -> None:
    times = times_of([best_near(k) for k in range(5)], sizes(20, 0), noise=0.1)
    assert regret_tree(times, CPU_MARGIN) == regret_tree(times, CPU_MARGIN)


def test_one_input_or_no_features_make_one_leaf() -> None:
    assert regret_tree(CROSSING.of_inputs([3]), CPU_MARGIN) == Leaf(0)
    bare = replace(CROSSING, inputs=tuple(replace(point, features={}) for point in CROSSING.inputs))
    assert isinstance(regret_tree(bare, CPU_MARGIN), Leaf)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (16.0, 64.0, 32.0),
        (0.0, 3.0, 1.5),
        (-2.0, 2.0, 0.0),
        (1.0, math.nextafter(1.0, 2.0), 1.0),
        (1e200, 1e300, 1e250),
    ],
)
def test_a_threshold_lies_between_two_values(low: float, high: float, expected: float) -> None:
    assert between(low, high) == pytest.approx(expected)
    assert low <= between(low, high) < high


def test_thresholds_are_between_values_of_all_inputs_not_of_the_node_s_alone() -> None:
    # Where the kind is 0, sizes are 1 and 64; in between lie those of the other kind.
    points = [(0.0, 1.0), (0.0, 64.0), (1.0, 2.0), (1.0, 4.0), (1.0, 8.0)]
    inputs = tuple(InputPoint(f"{n}", f"{n}", {"kind": k, "n": size}) for n, (k, size) in enumerate(points))
    seconds = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 4.0], *[[4.0, 4.0, 1.0]] * 3])
    times = VersionTimes(inputs, tuple(map(version, range(3))), seconds, 0)
    tree = grown(regret_table(times, (0, 1, 2), ("kind", "n")), TreeSettings(1, 0.0))
    # Of the ranks 0 and 4 the middle is 2, between 4 and 8; the node's own values would give 8.
    assert tree == Split("kind", 0.5, Split("n", math.sqrt(32), Leaf(0), Leaf(1)), Leaf(2))


def test_questions_that_change_nothing_are_dropped_and_versions_renumbered() -> None:
    tree = Split("n", 4.0, Split("n", 2.0, Leaf(5), Leaf(5)), Split("n", 8.0, Leaf(5), Leaf(7)))
    assert shortened(tree) == Split("n", 4.0, Leaf(5), Split("n", 8.0, Leaf(5), Leaf(7)))
    assert renumbered(Split("n", 1.0, Leaf(5), Leaf(7)), {5: 0, 7: 1}) == Split("n", 1.0, Leaf(0), Leaf(1))
