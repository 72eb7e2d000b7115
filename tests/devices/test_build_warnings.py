"""What compilers say of builds that the user did not ask for is not shown; of the user's own, PyOpenCL decides.

A program that each start builds comes out of PyOpenCL's cache of binaries, on PoCL too.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
import pyopencl
import pytest

from coarsen.devices.building import build_for_launches, build_uncached
from coarsen.devices.discovery import DeviceDescription

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


TWICE = "kernel void twice(global int *p) { p[get_global_id(0)] *= FACTOR; }"


def multiplied(context: pyopencl.Context, program: pyopencl.Program) -> list[int]:
    queue = pyopencl.CommandQueue(context)
    numbers = np.arange(64, dtype=np.int32)
    buffer = pyopencl.Buffer(context, pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
    pyopencl.Kernel(program, "twice")(queue, (64,), (16,), buffer)
    pyopencl.enqueue_copy(queue, numbers, buffer)
    return numbers.tolist()


def is_from_binary(program: pyopencl.Program) -> bool:
    return not program.get_info(pyopencl.program_info.SOURCE)


@pytest.mark.compiled_devices
def test_what_each_start_builds_is_kept_as_a_binary(
    device: DeviceDescription, context: pyopencl.Context, tmp_path: Path
) -> None:
    def built(factor: int, by_each_start: bool = True) -> pyopencl.Program:
        options = [f"-DFACTOR={factor}"]
        return build_for_launches(context, TWICE, options, None, str(tmp_path), by_each_start)

    programs = [built(2, by_each_start=False), built(2), built(2), built(3)]
    results = [multiplied(context, each) for each in programs]
    assert results == [[*range(0, 64 * factor, factor)] for factor in (2, 2, 2, 3)]
    # To the others PyOpenCL's cache was open before.
    found = [is_from_binary(each) for each in programs]
    assert found == ([False, False, True, False] if device.is_called("pocl") else [False, True, True, False])


def test_a_program_is_built_where_no_binary_can_be_kept(
    device: DeviceDescription, context: pyopencl.Context, tmp_path: Path
) -> None:
    folder = tmp_path / "file"
    folder.touch()
    # Without a place for its cache, PyOpenCL builds nothing for the others.
    place = str(folder) if device.is_called("pocl") else None
    program = build_for_launches(context, TWICE, ["-DFACTOR=2"], None, place, by_each_start=True)
    assert multiplied(context, program) == [*range(0, 128, 2)]
    with pytest.raises(pyopencl.RuntimeError):
        build_for_launches(context, "kernel void k( {", (), None, str(tmp_path), by_each_start=True)


def test_a_program_is_built_at_once_where_another_process_holds_the_cache(
    device: DeviceDescription, context: pyopencl.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*_: object) -> None:
        pytest.fail("PyOpenCL waits for the lock")

    (tmp_path / "lock").touch()
    monkeypatch.setattr("pyopencl.cache.CacheLockManager", wait)
    # The others' programs wait without this package, too.
    place: str | Literal[False] = str(tmp_path) if device.is_called("pocl") else False
    program = build_for_launches(context, TWICE, ["-DFACTOR=2"], None, place, by_each_start=True)
    assert multiplied(context, program) == [*range(0, 128, 2)]
