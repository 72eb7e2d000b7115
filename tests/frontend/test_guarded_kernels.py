"""Kernels under an `#ifdef` of an extension: found where a device's compiler finds them, and right."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy
import pyopencl
import pytest

from coarsen.api import coarsen, explain
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, device_macros
from coarsen.frontend.lower import compile_source, list_kernels, lower

HALVES = """
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void scaled(global half *a) { int i = get_global_id(0); half x = a[i]; a[i] = x * x + (half)1; }
kernel void scaled4(global half4 *a) { int i = get_global_id(0); half4 x = a[i]; a[i] = x.wzyx * (half4)3; }
#endif
"""
WITHOUT_PRAGMA = HALVES.replace("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", "")
PLAIN = "kernel void plain(global float *a) { a[get_global_id(0)] *= 3; }\n"
GUARDS = (
    *("cl_khr_fp16", "cl_khr_fp64", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"),
    *("cl_khr_global_int32_base_atomics", "cl_khr_3d_image_writes", "cl_khr_byte_addressable_store"),
    *("cl_khr_extended_bit_ops", "cl_khr_integer_dot_product", "cl_khr_depth_images", "cl_khr_subgroups"),
    *("cl_khr_subgroup_shuffle", "cl_khr_subgroup_rotate", "cl_intel_subgroups", "cl_intel_subgroups_short"),
    *("cl_intel_required_subgroup_size", "cl_ext_float_atomics", "cl_amd_media_ops"),
    *("__IMAGE_SUPPORT__", "__ENDIAN_LITTLE__", "__OPENCL_VERSION__", "__OPENCL_C_VERSION__", "CL_VERSION_1_2"),
)


def guarded(macro: str) -> str:
    return f"#ifdef {macro}\nkernel void k(global int *p) {{ p[get_global_id(0)] = 1; }}\n#endif\n"


def test_threads_find_a_kernel_beside_others_at_once() -> None:
    unit, start = compile_source(HALVES + PLAIN), Barrier(4)

    def found() -> str:
        start.wait()
        return lower(unit, "scaled").name

    with ThreadPoolExecutor(4) as threads:
        assert [each.result() for each in [threads.submit(found) for _ in range(4)]] == ["scaled"] * 4


@pytest.mark.parametrize("macro", [*GUARDS, "cl_arm_integer_dot_product_int8", "cl_qcom_reqd_sub_group_size"])
def test_the_only_kernel_of_a_source_is_found(macro: str) -> None:
    assert list_kernels(guarded(macro)) == ["k"]
    assert list_kernels(guarded(macro), macros=device_macros("", "OpenCL 1.2")) == ["k"]
    assert coarsen(guarded(macro), factor=2).opencl_c.count("= 1;") == 2


def test_a_kernel_that_is_named_is_found_beside_others() -> None:
    unit = compile_source(PLAIN + HALVES)
    assert unit.kernels == ("plain",)
    assert lower(unit).name == "plain"
    for kernel in ("scaled", "scaled4"):
        assert lower(unit, kernel).name == kernel
        assert explain(PLAIN + HALVES, kernel=kernel).regions == 0
    with pytest.raises(InvalidInputError, match=r"no kernel 'scaled8' \(did you mean|no kernel 'scaled8'.*plain"):
        lower(unit, "scaled8")


def test_a_device_with_the_extension_has_its_kernels_at_once() -> None:
    assert list_kernels(PLAIN + HALVES, macros=device_macros("cl_khr_fp16 cl_khr_fp64", "OpenCL 3.0")) == [
        *("plain", "scaled", "scaled4")
    ]
    assert list_kernels(PLAIN + HALVES, macros=PORTABLE) == ["plain"]


def test_a_guard_of_the_programs_own_is_told() -> None:
    with pytest.raises(InvalidInputError, match=r"no kernel in the source; .*-D NAME"):
        lower(guarded("WITH_KERNELS"))
    assert list_kernels(guarded("WITH_KERNELS"), "-D WITH_KERNELS") == ["k"]


@pytest.mark.parametrize("standard", ["", "-cl-std=CL2.0"])
def test_each_kernel_that_a_device_finds_is_found(
    device: DeviceDescription, context: pyopencl.Context, standard: str
) -> None:
    source = PLAIN + "".join(guarded(macro).replace(" k(", f" k{i}(") for i, macro in enumerate(GUARDS))
    program = build_uncached(context, source, [standard])
    unit = compile_source(source, standard, device.macros)
    for name in str(program.get_info(pyopencl.program_info.KERNEL_NAMES)).split(";"):
        assert lower(unit, name).name == name


@pytest.mark.parametrize("source", [HALVES, WITHOUT_PRAGMA], ids=["pragma", "no pragma"])
@pytest.mark.parametrize("kernel", ["scaled", "scaled4"])
@pytest.mark.parametrize("known", [True, False], ids=["device", "no device"])
def test_halves_are_right_where_a_device_builds_them(
    device: DeviceDescription, queue: pyopencl.CommandQueue, source: str, kernel: str, known: bool
) -> None:
    values = (numpy.arange(64 * (4 if kernel == "scaled4" else 1)) / 8).astype(numpy.float16)
    try:
        plain = build_uncached(queue.context, source)
        expected = result_of(queue, getattr(plain, kernel), values, 64)
    except (pyopencl.Error, AttributeError):
        return  # the device has no halves
    made = coarsen(source, kernel=kernel, factor=4, macros=device.macros if known else PORTABLE)
    rewritten = build_uncached(queue.context, made.opencl_c)
    assert (result_of(queue, getattr(rewritten, kernel), values, 16) == expected).all()


def result_of(
    queue: pyopencl.CommandQueue, kernel: pyopencl.Kernel, values: numpy.ndarray, items: int
) -> numpy.ndarray:
    flags = pyopencl.mem_flags
    buffer = pyopencl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=values)
    kernel(queue, (items,), None, buffer)
    found = numpy.empty_like(values)
    pyopencl.enqueue_copy(queue, found, buffer)
    return found
