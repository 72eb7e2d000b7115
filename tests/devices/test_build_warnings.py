"""What compilers say of builds that the user did not ask for is not shown; of the user's own, PyOpenCL decides."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import pyopencl
import pytest

from coarsen.devices.building import build_for_launches, build_uncached

SOURCE = "kernel void k(global int *p) { int unused; p[get_global_id(0)] = %d; }"


@pytest.mark.compiled_devices
def test_own_builds_warn_of_nothing_and_leave_filters_as_they_were(context: pyopencl.Context) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda number: build_uncached(context, SOURCE % number), range(8)))
        build_for_launches(context, SOURCE % 9, cache_dir=False)
        assert warnings.filters == before
        assert caught == []


def test_a_filter_of_the_users_stays(context: pyopencl.Context) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pyopencl.CompilerWarning)
        before = list(warnings.filters)
        build_uncached(context, SOURCE % 1)
        assert warnings.filters == before


def test_filters_are_left_after_a_build_that_fails(context: pyopencl.Context) -> None:
    before = list(warnings.filters)
    with pytest.raises(pyopencl.RuntimeError):
        build_uncached(context, "kernel void k( {")
    assert warnings.filters == before
