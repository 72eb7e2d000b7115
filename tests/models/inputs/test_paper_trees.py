"""The trees of Liu, Zhang and Shen on made-up times: linear leaves, legal values, vectors that were built."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.dispatch.tree import answer
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.times import CPU_MARGIN, InputPoint, VersionTimes, fixed_best
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.models.inputs.made_up import sizes, times_of
from tests.models.inputs.paper_trees import LinearLeaf, PaperTrees, Question, paper_trees
from tests.models.inputs.parameters import Parameter, parameters_of

BLOCKS = (64, 128, 256, 512)


def times_with_best(wanted: list[int], blocks: tuple[int, ...] = BLOCKS, repeated: int = 1) -> VersionTimes:
    """Inputs n = 1, 2, … on which these blocks are best, several of each n; the further from it the slower."""
    versions = tuple(Variant(definitions=(("BLOCK", str(block)),)) for block in blocks)
    points = tuple(
        InputPoint(f"{n}-{k}", f"{n}-{k}", {"n": float(n)})
        for n in range(1, len(wanted) + 1)
        for k in range(repeated)
    )
    seconds = [[1 + abs(np.log2(block / best)) for block in blocks] for best in wanted for _ in range(repeated)]
    return VersionTimes(points, versions, np.array(seconds), 0)


def test_parameters_are_what_versions_differ_in() -> None:
    merged = Coarsening(4, 0, 32)
    versions = [
        Variant((64,), (), (("BLOCK", "64"), ("SAME", "1"))),
        Variant((128, 2), (merged,), (("BLOCK", "0x80"), ("SAME", "1"))),
        Variant((64,), (Coarsening(2, 1, level=Level.GROUP),), (("BLOCK", "64"), ("SAME", "1"))),
    ]
    found = {parameter.name: parameter.values for parameter in parameters_of(versions)}
    assert found["factor item 0"] == (1, 4, 1)
    assert found["stride item 0"] == (1, 32, 1)
    assert found["factor group 1"] == (1, 1, 2)
    assert found["local size 0"] == (64, 128, 64)
    assert found["local size 1"] == (0, 2, 0)
    # What isn't written as a decimal number is a name: names are numbered in alphabetical order.
    assert found["-D BLOCK"] == (1, 0, 1)
    assert "-D SAME" not in found


def test_a_parameter_of_names_is_numbered_in_alphabetical_order() -> None:
    versions = [Variant(definitions=(("TYPE", name),)) for name in ("half", "double", "nan")]
    assert parameters_of(versions) == (Parameter("-D TYPE", (1.0, 0.0, 2.0)),)


def test_two_classes_are_parted_where_they_meet() -> None:
    trees = paper_trees(times_with_best([256] * 8 + [64] * 8), ["n"])
    assert [trees.version({"n": float(n)}) for n in (1, 8, 9, 16)] == [2, 2, 0, 0]
    assert trees.built == (0, 2)


def test_a_linear_relation_is_continued_within_a_leaf_then_snapped() -> None:
    # The best block is 32 n for n = 1 … 8: a constant leaf could only answer what it saw.
    blocks = tuple(32 * n for n in range(1, 13))
    times = times_with_best([32 * n for n in range(1, 9)], blocks, repeated=2)
    trees = paper_trees(times, ["n"])
    assert trees.vector({"n": 10.0}) == (320.0,)
    assert trees.vector({"n": 4.3}) == (128.0,)
    # No input has 320 as its best: that version wasn't built, and the nearest one that was stands in.
    assert not trees.is_built({"n": 10.0})
    assert times.versions[trees.version({"n": 10.0})].definitions == (("BLOCK", "256"),)
    assert trees.is_built({"n": 4.0})


def test_leaves_are_linear_not_constant() -> None:
    leaf = LinearLeaf(100.0, (2.0,), (50.0,))
    values = Parameter("-D BLOCK", (64.0, 128.0, 256.0))
    trees = PaperTrees(("n",), (values,), (Question(0, 10.0, leaf, LinearLeaf(256.0, (0.0,), (0.0,))),), (0, 1, 2))
    assert [trees.vector({"n": n})[0] for n in (1.0, 2.5, 5.0, 11.0)] == [64.0, 128.0, 256.0, 256.0]


def test_there_is_a_tree_for_each_parameter() -> None:
    versions = tuple(Variant(definitions=(("A", a), ("B", b))) for a in ("1", "2") for b in ("1", "2"))
    points = tuple(InputPoint(f"{k}", f"{k}", {"x": float(k % 4), "y": float(k // 4)}) for k in range(16))
    best = [2 * (point.features["x"] > 1) + (point.features["y"] > 1) for point in points]
    seconds = np.array([[1.0 if column == each else 2.0 for column in range(4)] for each in best])
    trees = paper_trees(VersionTimes(points, versions, seconds, 0), ["x", "y"])
    assert len(trees.trees) == 2
    assert all(trees.version(point.features) == each for point, each in zip(points, best, strict=True))


@pytest.mark.filterwarnings("error")
def test_a_parameter_with_another_value_on_each_input_is_no_reason_to_warn() -> None:
    blocks = tuple(32 * n for n in range(1, 13))
    paper_trees(times_with_best(list(blocks), blocks), ["n"])


def test_joint_answers_that_nobody_built_are_counted_and_replaced() -> None:
    # A is best at 2 for large x, B at 2 for large y; both large was never measured, so (2, 2) was never built.
    versions = tuple(Variant(definitions=(("A", a), ("B", b))) for a in ("1", "2") for b in ("1", "2"))
    places = [(x, y) for x in range(4) for y in range(4) if not (x > 1 and y > 1)]
    points = tuple(InputPoint(f"{x}-{y}", f"{x}-{y}", {"x": float(x), "y": float(y)}) for x, y in places)
    best = [2 * (x > 1) + (y > 1) for x, y in places]
    seconds = np.array([[1.0 if column == each else 2.0 for column in range(4)] for each in best])
    trees = paper_trees(VersionTimes(points, versions, seconds, 0), ["x", "y"])
    both = {"x": 3.0, "y": 3.0}
    assert trees.built == (0, 1, 2)
    assert trees.vector(both) == (2.0, 2.0)
    assert not trees.is_built(both)
    assert trees.version(both) in (1, 2)


def test_one_input_one_version_or_no_features() -> None:
    times = times_of([lambda n: n, lambda n: 2 * n], [1, 2, 3])
    assert paper_trees(times.of_inputs([0]), ["n"]).version({"n": 9.0}) == 0
    assert paper_trees(times.of_versions([0]), ["n"]).version({"n": 9.0}) == 0
    assert paper_trees(times, []).version({}) == 0


@pytest.mark.parametrize("failed", [0, 3])
def test_what_failed_is_no_best(failed: int) -> None:
    times = times_with_best([64] * 4 + [512] * 4)
    seconds = times.seconds.copy()
    seconds[:, failed] = np.nan
    trees = paper_trees(replace(times, seconds=seconds, default=1), ["n"])
    assert failed not in trees.built


@pytest.mark.parametrize("seed", range(4))
def test_it_and_the_regret_tree_gain_over_the_fixed_best(seed: int) -> None:
    laws = [lambda n: 3 * (10 + n), lambda n: 10 + n, lambda n: 100 + n / 100]
    times, truth = times_of(laws, sizes(24), noise=0.03, seed=seed), times_of(laws, sizes(24))
    tree, theirs = regret_tree(times, CPU_MARGIN), paper_trees(times, ["n"])
    points = [point.features for point in times.inputs]
    chosen = [fixed_best(times)] * 24, [answer(tree, each) for each in points], [*map(theirs.version, points)]
    fixed, ours, papers = (truth.regret[range(24), versions].mean() for versions in chosen)
    assert max(ours, papers) < 0.2 * fixed
