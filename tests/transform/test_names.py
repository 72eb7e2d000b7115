"""Fresh names of values and blocks."""

from __future__ import annotations

from coarsen.frontend.lower import lower
from coarsen.transform.names import NameSupply


def test_the_first_number_that_is_free() -> None:
    supply = NameSupply(lower("kernel void k(global int *sum) { sum[0] = 1; }"))
    assert [supply.fresh("sum") for _ in range(3)] == ["sum.1", "sum.2", "sum.3"]
    assert supply.fresh("other") == "other"
    assert supply.fresh("sum.2") == "sum.2.1"
    assert [supply.replica("other", k) for k in range(3)] == ["other", "other.1", "other.2"]
    assert supply.fresh("other") == "other.3"
