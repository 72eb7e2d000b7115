"""What a conversion costs is measured on the arrays of the row, and set against what the row gains."""

from __future__ import annotations

import pytest

from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.conversion import conversion_of, runs_until_it_pays
from coarsen.tuning.tuned import Conversion
from coarsen.variant.data_layout import SOA
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement


@pytest.mark.parametrize(("seconds", "runs"), [(0.0, 1), (1e-6, 1), (2e-6, 1), (2.1e-6, 2), (1.0, 500_000)])
def test_runs_until_it_pays(seconds: float, runs: int) -> None:
    assert runs_until_it_pays(seconds, 2e-6) == runs


def test_what_is_not_faster_never_pays() -> None:
    assert runs_until_it_pays(0.5, 0.0) is None
    assert Conversion(0.5, None).sentence.endswith("took the host 500 ms, which never pays")
    assert Conversion(0.5, 2).sentence.endswith("500 ms: that pays after 2 runs on the same data")


def test_the_arrays_of_a_row_are_converted() -> None:
    laid = Variant((64,), arrays=(ArrayPlan("options", SOA), ArrayPlan("quotes", SOA)))
    name = "records-black_scholes_records"
    found = conversion_of(find_benchmark(name), some_measurement(candidate=laid, preset="test", benchmark=name))
    assert found.seconds > 0 and found.runs is not None
