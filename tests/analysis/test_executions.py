"""How often guarded blocks run, compared with what every work-item of a small NDRange decides."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.executions import Executions
from coarsen.analysis.expressions import evaluate
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import instruction_text
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms, Use
from tests.coarsened_kernel import coarsen_kernel

GLOBAL, LOCAL, HEIGHT = 64, 16, 8
SIZES = {"global_size(0)": GLOBAL, "local_size(0)": LOCAL, "groups(0)": GLOBAL // LOCAL, "n": 40, "m": 4}
SIZES |= {"global_size(1)": HEIGHT, "local_size(1)": 1, "groups(1)": HEIGHT}
N, M = SIZES["n"], SIZES["m"]
START = "int x = get_global_id(0), y = get_global_id(1), lane = get_local_id(0);"


def executions(body: str) -> tuple[Executions, list[str]]:
    """The executions of a kernel's blocks, and the blocks that store."""
    kernel = lower(f"kernel void k(global int *data, int n, int m)\n{{\n{START}\n{body}\n}}\n")
    runs = Executions(LoopCounts(IndexForms(kernel, ControlFlow(kernel))))
    return runs, [block.name for block in kernel.blocks if any(i.opcode == "store" for i in block.instructions)]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("x < n", lambda x, y: x < N),
        ("x >= n", lambda x, y: x >= N),
        ("n > x", lambda x, y: x < N),
        ("x <= n", lambda x, y: x <= N),
        ("2 * x + 1 < n", lambda x, y: 2 * x + 1 < N),
        ("lane == 0", lambda x, y: x % LOCAL == 0),
        ("lane != 3", lambda x, y: x % LOCAL != 3),
        ("lane < m", lambda x, y: x % LOCAL < M),
        ("x / m < 5", lambda x, y: x // M < 5),
        ("x / m > 5", lambda x, y: x // M > 5),
        ("x % m < m", lambda x, y: True),
        ("x % 4 == 0", lambda x, y: x % 4 == 0),
        ("x % 8 < 3", lambda x, y: x % 8 < 3),
        ("x < n && y < 5", lambda x, y: x < N and y < 5),
        ("x < n && x < 12", lambda x, y: x < 12),
        ("x > 0 && x < n - 1", lambda x, y: 0 < x < N - 1),
        ("x == 0 || y == 0 || x == 9 || y == 5", lambda x, y: x in (0, 9) or y in (0, 5)),
        ("x >= n || y >= m", lambda x, y: x >= N or y >= M),
        ("(x < n && y < 5) || (x < 50 && y < 5)", lambda x, y: x < 50 and y < 5),
        ("(x < 50 && y < 5) && !(x < n && y < 5)", lambda x, y: N <= x < 50 and y < 5),
        ("!(x < n)", lambda x, y: x >= N),
        ("4 * x + 2 * y * m + 1 == 40", lambda x, y: False),
        ("(int)(y * get_global_size(0)) + x < 100", lambda x, y: y * GLOBAL + x < 100),
        ("n > m", lambda x, y: True),
        ("n == m", lambda x, y: False),
    ],
)
def test_a_guarded_block_runs_for_a_share(condition: str, holds: Callable[[int, int], bool]) -> None:
    runs, [block] = executions(f"if ({condition}) data[x] = n;")
    share = sum(holds(x, y) for x in range(GLOBAL) for y in range(HEIGHT)) / (GLOBAL * HEIGHT)
    assert evaluate(runs.of(block), SIZES) == pytest.approx(share)
    assert not runs.undecided


@pytest.mark.parametrize("end", [8, 40, 72, 100])
def test_ids_that_step_by_a_size_run_for_about_a_share(end: int) -> None:
    condition = f"(int)(2 * get_group_id(0) * get_local_size(0)) + lane < {end}"
    runs, [block] = executions(f"if ({condition}) data[x] = n;")
    share = sum(2 * (x // LOCAL) * LOCAL + x % LOCAL < end for x in range(GLOBAL)) / GLOBAL
    assert evaluate(runs.of(block), SIZES) == pytest.approx(share, abs=0.1)


def test_a_guard_within_a_guard_is_not_independent() -> None:
    runs, [block] = executions("if (x >= n) return; if (x > 0 && x < n - 1) data[x] = n;")
    assert evaluate(runs.of(block), SIZES) == pytest.approx((N - 2) / GLOBAL)


def test_a_branch_behind_a_loop_is_that_of_its_last_round() -> None:
    body = "int k = lane; for (; k < n; k += 16) data[k] = 1; if (k < n + 16) data[y] = k;"
    runs, blocks = executions(body)
    assert evaluate(runs.of(blocks[-1]), SIZES) == 1


def test_both_ways_of_a_branch_add_up() -> None:
    runs, blocks = executions("if (x < n) data[x] = n; else data[y] = m; data[m] = x + y;")
    assert [evaluate(runs.of(block), SIZES) for block in blocks] == pytest.approx([N / GLOBAL, 1 - N / GLOBAL, 1])


def test_what_data_decide_is_taken_to_run_always() -> None:
    runs, blocks = executions("if (data[x] > n) data[y] = n; else data[y] = m;")
    assert [evaluate(runs.of(block), SIZES) for block in blocks] == [1, 1]
    assert len(runs.undecided) == 1


def test_without_the_arguments_guards_let_all_pass_and_loops_go_round_eight_times() -> None:
    runs, [block] = executions("if (x < n) for (int k = 0; k < m; ++k) data[k] = n;")
    assert evaluate(runs.of(block), {name: size for name, size in SIZES.items() if name not in ("n", "m")}) == 8


def test_a_loop_in_a_guard_in_a_loop() -> None:
    runs, [block] = executions(
        "for (int j = 0; j < n; ++j) { if (lane == 0) for (int k = 0; k < m; ++k) data[k] = j; }"
    )
    assert evaluate(runs.of(block), SIZES) == pytest.approx(N * M / LOCAL)


GUARDED = """
kernel void k(global int *data, global const int *from, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (CONDITION) {
        int value = from[x];
        for (int k = 0; k < n; ++k)
            value = value * 3 + from[k];
        data[y * n + x] = value;
    }
}
"""
TOGETHER = Transforms(fast_path=Use.ALWAYS, lock_step=Use.ALWAYS)


def coarsened_stores(condition: str, *coarsenings: Coarsening) -> tuple[Executions, float]:
    """The executions of a coarsened kernel whose replicas go together, and how many stores a work-item does."""
    kernel = coarsen_kernel(lower(GUARDED.replace("CONDITION", condition)), coarsenings, transforms=TOGETHER)
    runs = Executions(LoopCounts(IndexForms(kernel, ControlFlow(kernel))))
    stores = {
        block.name: sum(
            " store " in f" {instruction_text(i)}" and "addrspace(1)" in instruction_text(i)
            for i in block.instructions
        )
        for block in kernel.blocks
    }
    return runs, sum(count * evaluate(runs.of(block), SIZES) for block, count in stores.items())


@pytest.mark.parametrize("coarsenings", [(Coarsening(2),), (Coarsening(4),), (Coarsening(2, 0), Coarsening(2, 1))])
def test_replicas_are_taken_to_agree_where_data_decide(coarsenings: tuple[Coarsening, ...]) -> None:
    runs, stores = coarsened_stores("from[x + y] > 3", *coarsenings)
    assert stores == math.prod(coarsening.factor for coarsening in coarsenings)
    assert runs.agreed


def test_replicas_part_at_a_border_that_is_known() -> None:
    runs, stores = coarsened_stores("x < n + 2", Coarsening(4))
    assert stores == pytest.approx((N + 2) / GLOBAL, rel=0.1)
    assert not runs.agreed


def test_a_choice_between_two_conditions_is_no_test_for_agreement_of_one() -> None:
    runs, blocks = executions("if (data[x] > n && data[y] > n) data[x] = n; else data[y] = m;")
    assert [evaluate(runs.of(block), SIZES) for block in blocks] == [1, 1]
    assert not runs.agreed
