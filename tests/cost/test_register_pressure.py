"""The estimate of live words against liveness in kernels that were really coarsened, and counts by hand."""

from __future__ import annotations

from functools import cache

import pytest

from coarsen.cost.register_pressure import array_words, maximum_live_words, value_words
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Block
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import parse_type
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from tests.coarsened_kernel import coarsen_kernel

CASES = [(name, dimension) for name, driver in SUITE.items() for dimension in driver.dimensions]


@cache
def kernel_of(name: str) -> Kernel:
    return lower(SUITE[name].source, SUITE[name].kernel, SUITE[name].build_options)


def lowered(body: str, parameters: str = "global float *data") -> Kernel:
    return lower(f"kernel void counted({parameters}) {{ {body} }}", None, "-cl-std=CL2.0")


def estimate(kernel: Kernel, factor: int, dimension: int = 0) -> int:
    return maximum_live_words(analyse(kernel, dimension), factor)


def words_in(kernel: Kernel) -> int:
    """The most words live in a kernel, by the textbook: a set per point, until nothing changes."""
    size = {argument.name: value_words(argument.type) for argument in kernel.arguments}
    size |= {i.name: 0 if i.opcode == "alloca" else value_words(i.type) for i in kernel.instructions()}
    arrays = sum(array_words(i) for i in kernel.instructions() if i.opcode == "alloca")
    behind_phis: dict[str, set[str]] = {block.name: set() for block in kernel.blocks}
    most, before = 0, -1
    while before != sum(map(len, behind_phis.values())):
        before = sum(map(len, behind_phis.values()))
        for block in kernel.blocks:
            live = at_end(kernel, block, behind_phis)
            most = max(most, sum(size[name] for name in live))
            for instruction in reversed(block.instructions[len(block.phis) :]):
                live.discard(instruction.name)
                live |= {operand.text for operand in instruction.operands if operand.is_local}
                most = max(most, sum(size[name] for name in live))
            behind_phis[block.name] = live
    return most + arrays


def at_end(kernel: Kernel, block: Block, behind_phis: dict[str, set[str]]) -> set[str]:
    live: set[str] = set()
    for target in block.terminator.targets:
        phis = kernel.block[target].phis
        live |= behind_phis[target] - {phi.name for phi in phis}
        taken = [phi.operands[phi.incoming.index(block.name)] for phi in phis]
        live |= {value.text for value in taken if value.is_local}
    return live


@pytest.mark.parametrize("factor", [1, 2, 4, 8])
@pytest.mark.parametrize(("name", "dimension"), CASES)
def test_the_estimate_is_the_liveness_of_the_coarsened_kernel(name: str, dimension: int, factor: int) -> None:
    kernel = kernel_of(name)
    coarsened = coarsen_kernel(kernel, [Coarsening(factor, dimension)], transforms=REPLICATION_ALONE)
    assert estimate(kernel, factor, dimension) == words_in(coarsened)


BODIES = {
    "guard in a loop": "int i = get_global_id(0); for (int j = 0; j < count; ++j)"
    " if (i < j) data[i + j] += data[j];",
    "result of a branch": "int i = get_global_id(0); float x = 1; if (i < count) x = data[i] * 3;"
    " data[2 * i] = x;",
    "two ids": "data[get_global_id(0)] = get_local_id(0) + get_global_id(1) * get_local_size(0);",
    "asked twice": "data[get_global_id(0)] += data[get_global_id(0) + count];",
    "divergent loop": "int i = get_global_id(0); float x = 0; for (int j = i; j < count; ++j)"
    " x += data[j]; data[i] = x;",
    "loop behind a loop": "int i = get_global_id(0); float x = 0; for (int j = i; j < count; ++j) x += data[j];"
    " for (int j = 0; j < i; ++j) data[j] = x * data[i];",
    "private array": "float kept[8]; int i = get_global_id(0); for (int j = 0; j < 8; ++j) kept[j] = data[i + j];"
    " data[i] = kept[count & 7];",
    "atomic": "atomic_inc((global int *)data + count); data[get_local_id(0)] = 1;",
    "vectors": "int i = get_global_id(0); float4 v = vload4(i, data); vstore4(v * v.wzyx, i + count, data);",
    "doubles": "int i = get_global_id(0); double d = data[i]; data[i] = d * d + count;",
}


@pytest.mark.parametrize("factor", [2, 5])
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_each_form_of_replication_is_followed(body: str, factor: int) -> None:
    kernel = lowered(body, "global float *data, int count")
    coarsened = coarsen_kernel(kernel, [Coarsening(factor, 0)], transforms=REPLICATION_ALONE)
    assert estimate(kernel, factor) == words_in(coarsened)


def test_a_kernel_counted_by_hand() -> None:
    kernel = lowered("size_t x = get_global_id(0); data[x] = data[x] + by;", "global float *data, float by")
    # The argument's two words, `by`, the id and the element's address, two words each; the id dies last.
    assert estimate(kernel, 1) == 2 + 1 + 2 + 2
    assert estimate(kernel, 4) == 2 + 1 + 4 * (2 + 2)


def test_uniform_work_counts_once() -> None:
    kernel = lowered("data[get_global_id(0)] = data[0] * data[1] + data[2];")
    along_other = [estimate(kernel, factor, dimension=1) for factor in (2, 8)]
    assert along_other == [estimate(kernel, 1)] * 2
    assert estimate(kernel, 8) > estimate(kernel, 2)


def test_replicas_of_a_region_follow_each_other() -> None:
    """Its own values count once, so that only what lives across the region grows with the factor."""
    work = " + ".join(f"data[i + {k}] * data[i - {k}]" for k in range(1, 9))
    straight = lowered(f"int i = get_global_id(0); data[i] = {work};")
    guarded = lowered(f"int i = get_global_id(0); if (i > 9) data[i] = {work};")
    assert estimate(straight, 8) > 4 * estimate(straight, 1)
    assert estimate(guarded, 8) < 2 * estimate(guarded, 1)


def test_private_arrays_count_by_their_size() -> None:
    body = "float kept[100]; kept[get_global_id({}) & 63] = data[0]; data[get_global_id(0)] = kept[count];"
    kernel = lowered(body.format(0), "global float *data, int count")
    assert estimate(kernel, 1) >= 100
    assert estimate(kernel, 4) >= 400
    uniform = lowered(body.format(1), "global float *data, int count")
    assert 100 <= estimate(uniform, 4) < 200


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("i1", 0),
        ("i8", 1),
        ("i32", 1),
        ("i64", 2),
        ("half", 1),
        ("double", 2),
        ("<4 x float>", 4),
        ("<3 x double>", 6),
        ("<16 x i8>", 16),
        ("ptr addrspace(1)", 2),
        ("ptr addrspace(3)", 1),
        ("{ float, i64 }", 3),
        ("void", 0),
    ],
)
def test_words_of_types(spelling: str, words: int) -> None:
    assert value_words(parse_type(spelling)) == words
