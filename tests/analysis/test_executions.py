"""How often guarded blocks run, compared with what every work-item of a small NDRange decides."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.executions import Executions
from coarsen.analysis.expressions import evaluate
from coarsen.analysis.index_forms import IndexForms
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.frontend.lower import lower

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
        ("n > m", lambda x, y: True),
        ("n == m", lambda x, y: False),
    ],
)
def test_a_guarded_block_runs_for_a_share(condition: str, holds: Callable[[int, int], bool]) -> None:
    runs, [block] = executions(f"if ({condition}) data[x] = n;")
    share = sum(holds(x, y) for x in range(GLOBAL) for y in range(HEIGHT)) / (GLOBAL * HEIGHT)
    assert evaluate(runs.of(block), SIZES) == pytest.approx(share)
    assert runs.undecided == ()


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
