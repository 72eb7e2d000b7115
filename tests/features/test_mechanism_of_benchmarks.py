"""The mechanism features of the benchmarks say what their sources say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from coarsen.analysis.algebra.affine import INDIRECT, SYMBOLIC, Access, Stride, access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.features import MechanismFeatures, mechanism_table
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE

CASES = [(name, dimension) for name, driver in SUITE.items() for dimension in driver.dimensions]


@cache
def kernel_of(name: str) -> Kernel:
    return lower(SUITE[name].source, SUITE[name].kernel, SUITE[name].build_options)


@cache
def accesses_of(name: str) -> tuple[Access, ...]:
    return access_patterns(IndexForms(kernel_of(name), ControlFlow(kernel_of(name))))


def features(name: str, dimension: int = 0, factor: int = 1) -> MechanismFeatures:
    return mechanism_table(kernel_of(name), dimension, None, (factor,)).at(factor)


def strides(name: str, base: str, dimension: int) -> set[Stride]:
    """The strides of a benchmark's accesses to one of its buffers."""
    return {a.stride_along(dimension) for a in accesses_of(name) if a.base is not None and a.base.text == base}


@pytest.mark.parametrize(("name", "dimension"), CASES)
def test_all_features_are_finite_and_shares_are_shares(name: str, dimension: int) -> None:
    table = mechanism_table(kernel_of(name), dimension)
    assert np.isfinite(table.matrix()).all()
    for row in table.rows.values():
        shares = {key: value for key, value in row.by_name().items() if key.endswith("share")}
        assert all(0 <= share <= 1 for share in shares.values()), shares
        patterns = ("coalesced", "broadcast", "strided", "indirect")
        assert sum(shares[f"{pattern}_share"] for pattern in patterns) == pytest.approx(1)


@pytest.mark.parametrize(("name", "dimension"), CASES)
def test_coarsening_never_adds_accesses_or_bytes(name: str, dimension: int) -> None:
    table = mechanism_table(kernel_of(name), dimension)
    assert all(0 < row.load_growth <= 1 and 0 < row.memory_growth <= 1 for row in table.rows.values())
    assert table.at(32).work_growth <= 1.0
    assert table.at(32).live_words >= table.at(1).live_words


@pytest.mark.parametrize(
    ("name", "base", "along_x", "along_y"),
    [
        ("sgemm", "left", 4, 0),
        ("sgemm", "right", 0, 4),
        ("sgemm", "result", 4, SYMBOLIC),
        ("mt", "input", 4, SYMBOLIC),
        ("mt", "output", SYMBOLIC, 4),
        ("mvUncoal", "matrix", SYMBOLIC, 0),
        ("mvUncoal", "vector", 0, 0),
        ("mvCoal", "matrix", 4, 0),
        ("mvCoal", "vector", 4, 0),
        ("spmv", "vector", INDIRECT, 0),
        ("spmv", "values", 4, 0),
        ("blackscholes", "prices", 4, 0),
        ("convolution", "input", 4, 0),
        ("convolution", "mask", 0, 0),
        ("fastWalsh", "elements", 4, 0),
        ("sobel", "input", 4, SYMBOLIC),
        ("stencil", "input", 4, SYMBOLIC),
        ("mtLocal", "input", 16, SYMBOLIC),
        ("mtLocal", "output", 16, SYMBOLIC),
        ("binarySearch", "bounds", 8, 0),
        ("nbody", "velocities", 16, 0),
        ("reduce", "input", 32, 0),
    ],
)
def test_strides(name: str, base: str, along_x: Stride, along_y: Stride) -> None:
    assert strides(name, base, 0) == {along_x}
    assert strides(name, base, 1) == {along_y}


@pytest.mark.parametrize("name", ["blackscholes", "spmv", "mvCoal"])
def test_loops_that_work_items_leave_apart(name: str) -> None:
    assert features(name).divergent_loop_share > 0.4


def test_guards() -> None:
    assert features("stencil").divergent_guard_share > 0.75
    assert features("mvUncoal").guarded_loop_share > 0.9
    assert features("sgemm").divergent_work_share < 0.5


def test_mt_trades_one_coalesced_access_for_the_other() -> None:
    assert features("mt").coalesced_share == features("mt").strided_share == 1 / 2
    assert features("mt", 0, 2).coalesced_share == 0
    assert features("mt", 1, 2).coalesced_share == 1 / 2


def test_reuse_makes_loads_fewer() -> None:
    assert features("sgemm", 0, 8).load_growth == pytest.approx(0.6, abs=0.05)
    assert features("nbody", 0, 8).load_growth < 0.2
    assert features("mt", 0, 8).load_growth == 1
