"""The study of planned counts, on a few synthetic kernels."""

from __future__ import annotations

import pytest

from coarsen.cost.work_counts import LaunchSizes
from coarsen.opencl_bench.studies.planned_agreement import KINDS, agrees, fits, pairs_of, table
from coarsen.opencl_bench.studies.planned_budget import CONFIGURATIONS, Budget, configurations
from coarsen.opencl_bench.studies.planned_budget import table as budget_table
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_benchmark


@pytest.mark.parametrize("index", [0, 3, 4, 9, 12])
def test_plans_and_coarsened_kernels_agree(index: int) -> None:
    kinds = {kind: [variants[-1]] for kind, variants in KINDS.items() if kind not in ("always", "stride")}
    pairs = list(pairs_of(synthetic_benchmark(1, index), kinds))
    assert len(pairs) >= 4
    assert [pair.text for pair in pairs if not agrees(pair)] == []


def test_the_table_has_a_line_for_each_kind_and_one_for_all() -> None:
    pairs = list(pairs_of(synthetic_benchmark(1, 0), {kind: KINDS[kind][:1] for kind in ("factor", "alone")}))
    heading, *lines = table(pairs)
    assert heading.split() == ["kind", "pairs", "loads", "stores", "instr.", "all"]
    assert [line.split()[:2] for line in lines] == [["factor", "1"], ["alone", "1"], ["all", "2"]]


def test_configurations_that_do_not_divide_are_left_out() -> None:
    small = LaunchSizes((64, 1, 1), (16, 1, 1))
    assert fits(KINDS["factor"][0], small)
    assert not fits(KINDS["stride"][0], small)
    assert not fits(KINDS["dimension 1"][0], small)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_sixty_configurations(dimensions: int) -> None:
    assert len(set(configurations(dimensions))) == CONFIGURATIONS


def test_the_budget_is_the_sum_of_its_parts() -> None:
    heading, line = budget_table([Budget("k", 12, 3.0, (1.0, 2.0, 6.0))])
    assert line.split() == ["k", "12", "3.0", "2.00", "6.0", "12"]
    assert heading.endswith("milliseconds")
