"""Control flow: loops, dominators, control dependence, regions."""

from __future__ import annotations

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region, divergent_regions
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

# A vendor's compiler knows these; clang takes them from declarations.


NESTED = """
kernel void k(global int *out, global const int *in, int n) {
    int id = get_global_id(0);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            out[i] += in[j];
        }
        if (in[i] > 3) out[id] = i;
    }
}
"""


def kernel_of(body: str) -> Kernel:
    return lower(f"kernel void k(global int *out, global const int *in, int n) {{ {body} }}")


def regions_of(body: str) -> tuple[Kernel, tuple[Region, ...]]:
    kernel = kernel_of(body)
    return kernel, divergent_regions(Divergence(kernel, 0))


def test_loops_are_found_and_nested() -> None:
    flow = ControlFlow(lower(NESTED))
    outer, inner = flow.loops
    assert inner.parent == outer.header
    assert inner.blocks < outer.blocks
    assert flow.loops_around(inner.header) == [inner, outer]
    assert flow.loop_of[flow.entry] is None
    assert flow.is_reducible


def test_dominators_and_post_dominators() -> None:
    kernel = kernel_of("if (in[0]) { out[1] = 1; } else { out[2] = 2; } out[3] = 3;")
    flow = ControlFlow(kernel)
    entry = kernel.blocks[0].name
    left, right = flow.successors(entry)
    join = flow.immediate_post_dominator[entry]
    assert flow.dominates(entry, join) and not flow.dominates(left, join)
    assert flow.common_dominator([left, right]) == entry
    assert flow.between(entry, join) == {left, right}
    assert flow.deciding_edges[left] == [(entry, left)]
    assert flow.deciding_edges[join] == []


def test_control_dependence_goes_through_others() -> None:
    kernel = kernel_of("if (in[0]) { out[9] = 1; if (in[1]) { barrier(CLK_LOCAL_MEM_FENCE); } out[8] = 1; }")
    flow = ControlFlow(kernel)
    block = next(b.name for b in kernel.blocks if any("barrier" in i.callee for i in b.instructions))
    assert len(flow.deciding_edges[block]) == 1
    assert len(flow.controlling(block)) == 2


def test_a_loop_depends_on_its_own_condition() -> None:
    kernel = kernel_of("for (int i = 0; i < n; i++) { barrier(CLK_LOCAL_MEM_FENCE); }")
    flow = ControlFlow(kernel)
    assert flow.loops[0].header in flow.controlling(flow.loops[0].header)


def test_one_region_for_nested_divergence() -> None:
    _, regions = regions_of(
        "int v = in[get_global_id(0)]; if (v > 1) { out[v] = 1; if (v > 2) { out[v + 1] = 2; } } out[0] = 1;"
    )
    assert len(regions) == 1
    assert len(regions[0].blocks) == 2


def test_two_regions_in_a_row() -> None:
    _, regions = regions_of(
        "int v = in[get_global_id(0)]; if (v > 1) { out[v] = 1; } out[n] = 3; if (v > 2) { out[v + 1] = 2; }"
    )
    assert len(regions) == 2
    assert regions[0].join == regions[1].head


def test_a_region_covers_a_loop_with_divergent_exit() -> None:
    kernel, regions = regions_of("int i = 0; while (in[get_global_id(0) + i]) { i++; } out[get_global_id(0)] = i;")
    flow = ControlFlow(kernel)
    assert flow.loops[0].blocks <= regions[0].blocks
    assert regions[0].head not in regions[0].blocks


def test_a_region_entered_from_the_side_grows() -> None:
    kernel, regions = regions_of(
        "int v = in[get_global_id(0)]; if (n > 2) goto inside; if (v > 1) { out[v] = 1; inside: out[v + 1] = n; }"
        " out[0] = 1;"
    )
    flow = ControlFlow(kernel)
    for region in regions:
        for block in region.blocks:
            assert all(p in region.blocks or p == region.head for p in flow.predecessors(block))
