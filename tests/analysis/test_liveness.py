"""Liveness: between instructions, around loops, on the edges that phis take values from."""

from __future__ import annotations

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.liveness import Liveness
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

SUM = lower(
    "kernel void sum(global int *out, global const int *in, int count)"
    "{ int total = 0; for (int i = 0; i < count; ++i) total += in[i]; out[count] = total; }"
)


def liveness_of(kernel: Kernel, at_start: dict[str, str] | None = None) -> Liveness:
    return Liveness(kernel, ControlFlow(kernel), at_start)


def test_arguments_live_until_their_last_use() -> None:
    liveness = liveness_of(SUM)
    assert liveness.at_entry["entry"] == {"out", "in", "count"}
    assert liveness.at_entry["for.end"] == {"out", "count", "total.0.lcssa"}
    assert liveness.at_exit["for.end"] == frozenset()


def test_values_live_around_a_loop() -> None:
    liveness = liveness_of(SUM)
    phis = SUM.block["for.cond"].phis
    carried = {phi.operands[phi.incoming.index("for.body")].text for phi in phis}
    assert len(carried) == 2
    assert liveness.at_entry["for.cond"] == {"out", "in", "count"} | {phi.name for phi in phis}
    assert liveness.at_exit["for.body"] == {"out", "in", "count"} | carried
    assert liveness.at_exit["entry"] == {"out", "in", "count"}


def test_steps_of_a_block_come_from_its_end() -> None:
    steps = list(liveness_of(SUM).steps("for.end"))
    assert len(steps) == len(SUM.block["for.end"].instructions) - 1  # one phi
    store = steps[1]
    assert store.dying >= {"total.0.lcssa"}
    assert not store.born
    dying, born = (frozenset[str]().union(*sets) for sets in zip(*((s.dying, s.born) for s in steps), strict=True))
    assert dying - born == {"out", "count", "total.0.lcssa"}


def test_values_computed_at_the_start_live_from_there() -> None:
    kernel = lower(
        "kernel void k(global int *out, int n) { for (int i = 0; i < n; ++i) out[get_global_id(0) + i] = i; }"
    )
    (query,) = (i.name for i in kernel.instructions() if i.opcode == "call")
    assert query not in liveness_of(kernel).at_entry["entry"]
    moved = liveness_of(kernel, {query: "first"})
    assert "first" in moved.at_entry["entry"]
    assert all(query not in live for live in moved.at_exit.values())
