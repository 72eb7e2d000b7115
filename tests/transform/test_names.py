"""Fresh names of values and blocks."""

from __future__ import annotations

from coarsen.frontend.lower import lower
from coarsen.ir.graph.display_name import Derivation, DisplayName
from coarsen.transform.names import NameSupply, own


def test_the_first_number_that_is_free() -> None:
    supply = NameSupply(lower("kernel void k(global int *sum) { sum[0] = 1; }"))
    assert [supply.spelling("sum") for _ in range(3)] == ["sum.1", "sum.2", "sum.3"]
    assert supply.spelling("other") == "other"
    assert supply.spelling("sum.2") == "sum.2.1"
    assert [supply.replica(own("other"), k).spelling for k in range(3)] == ["other", "other.1", "other.2"]
    assert supply.spelling("other") == "other.3"


def test_a_reader_calls_copies_alike() -> None:
    kernel = lower("kernel void k(global int *out) { int sum = out[1] + 1; out[0] = sum; }")
    supply = NameSupply(kernel)
    (total,) = (i for i in kernel.instructions() if i.origin.name.base == "sum")
    names = [supply.derived(total, Derivation.ALONE) for _ in range(2)]
    assert [name.spelling for name in names] == ["sum.alone", "sum.alone.1"]
    assert {name.display for name in names} == {DisplayName("sum", "", (Derivation.ALONE,))}
