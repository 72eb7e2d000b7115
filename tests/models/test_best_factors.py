"""The table of published best factors."""

from __future__ import annotations

import pytest

from coarsen.models.device_descriptors import DEVICES, PUBLISHED
from coarsen.opencl_bench.results.measured_curves import CurveData, read_curves
from coarsen.opencl_bench.workloads.lookup import SUITE


@pytest.fixture(scope="module")
def table() -> CurveData:
    return read_curves(str(PUBLISHED))


@pytest.mark.parametrize("gpu", DEVICES)
def test_the_table_covers_the_suite(gpu: str, table: CurveData) -> None:
    assert {curve.kernel for curve in table.curves if curve.device == gpu} == set(SUITE)
    assert set(table.predicted_on(gpu)) == set(SUITE)


def test_published_values(table: CurveData) -> None:
    best = {(curve.kernel, curve.device): curve.best_factor for curve in table.curves}
    assert (best["sgemm", "fermi"], table.predicted_on("fermi")["sgemm"]) == (32, 8)
    assert best["mt", "tahiti"] == 32
    assert not table.predicted_on("voodoo")
