"""Kernels with builtin functions of sub-groups and of vendors: refused, or coarsened; a typo stays an error."""

from __future__ import annotations

import pyopencl
import pytest

from coarsen.api import coarsen
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower

STANDARDS = ("", "-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CLC++2021")
NEIGHBOUR = "kernel void neighbour(global float *out) { out[get_global_id(0)] = 3; }"

# An extension, and statements of a kernel that has p, p4, an image, and tile in local memory.
SUB_GROUPS = {
    "cl_khr_subgroups": (
        "*p = get_sub_group_size() + get_max_sub_group_size() + get_num_sub_groups();",
        "*p = get_enqueued_num_sub_groups() + get_sub_group_id() + get_sub_group_local_id();",
        "sub_group_barrier(CLK_LOCAL_MEM_FENCE);",
        "*p = sub_group_all(*p) + sub_group_any(*p) + sub_group_broadcast(*p, 1);",
        "*p = sub_group_reduce_add(*p) + sub_group_scan_exclusive_max(1.0f) + sub_group_scan_inclusive_min(1ul);",
    ),
    "cl_khr_subgroup_extended_types": (
        "*p = sub_group_broadcast((float4)(1), 1).x + sub_group_reduce_add((short)1);",
    ),
    "cl_khr_subgroup_non_uniform_vote": ("*p = sub_group_elect() + sub_group_non_uniform_all_equal(1.0f);",),
    "cl_khr_subgroup_ballot": (
        "uint4 m = sub_group_ballot(*p); *p = sub_group_inverse_ballot(m) + sub_group_ballot_find_lsb(m);",
        "*p = sub_group_broadcast_first(*p) + get_sub_group_ge_mask().x;",
    ),
    "cl_khr_subgroup_non_uniform_arithmetic": (
        "*p = sub_group_non_uniform_reduce_mul(*p) + sub_group_non_uniform_scan_inclusive_logical_and(*p);",
    ),
    "cl_khr_subgroup_shuffle": ("*p = sub_group_shuffle(*p, 1u) + sub_group_shuffle_xor(*p, 1u);",),
    "cl_khr_subgroup_shuffle_relative": ("*p = sub_group_shuffle_up(*p, 1u) + sub_group_shuffle_down(*p, 1u);",),
    "cl_khr_subgroup_clustered_reduce": ("*p = sub_group_clustered_reduce_xor(*p, 4u);",),
    "cl_khr_subgroup_rotate": ("*p = sub_group_rotate(*p, 1) + sub_group_clustered_rotate(*p, 1, 4u);",),
    "cl_intel_subgroups": (
        "float4 v = intel_sub_group_shuffle((float4)(1.f), 1); *p = v.x;",
        "*p = intel_sub_group_shuffle_down(*p, *p, 1) + intel_sub_group_shuffle_xor(*p, 1);",
        "uint8 w = intel_sub_group_block_read8(tile); intel_sub_group_block_write4((global uint*)p, w.lo);",
        "uint2 v = intel_sub_group_block_read2(image, (int2)(0, 0)); *p = v.x;",
    ),
    "cl_intel_subgroups_char": ("uchar16 v = intel_sub_group_block_read_uc16((global uchar*)p); *p = v.s0;",),
    "cl_intel_subgroups_short": ("ushort8 v = intel_sub_group_block_read_us8((global ushort*)p); *p = v.s0;",),
    "cl_intel_subgroups_long": ("ulong2 v = intel_sub_group_block_read_ul2((global ulong*)p); *p = v.s0;",),
    "cl_intel_subgroup_local_block_io": ("*p = intel_sub_group_block_read(tile);",),
    "cl_intel_subgroup_buffer_prefetch": ("intel_sub_group_block_prefetch_ui2((global uint*)p);",),
    "cl_intel_subgroup_matrix_multiply_accumulate": (
        "float4 c = intel_sub_group_f16_f16_matrix_mad_k16((short4)(1), (int8)(1), (float4)(0)); *p = c.x;",
    ),
    "cl_qcom_subgroup_shuffle": (
        "*p = qcom_sub_group_shuffle_xor(1.0f, 1, CLK_SUB_GROUP_SHUFFLE_WIDTH_WAVE_SIZE_QCOM, 0.0f);",
    ),
    "cl_amd_printf": ("*p = __builtin_amdgcn_ds_bpermute(*p, 1); __builtin_amdgcn_wave_barrier();",),
}  # fmt: skip
PER_ITEM = {
    "cl_arm_integer_dot_product_accumulate_int8": "p[i] = arm_dot_acc((char4)(p[i]), (char4)(2), i);",
    "cl_intel_bfloat16_conversions": "p[i] = intel_convert_bfloat164_as_ushort4((float4)(i)).y;",
    "cl_khr_extended_bit_ops": "p[i] = bitfield_insert(p[i], i, 1, 2) + bit_reverse(p[i]);",
}


def source_of(statement: str, extension: str = "", neighbour: str = "") -> str:
    pragma = f"#pragma OPENCL EXTENSION {extension} : enable" if extension else ""
    return f"{pragma}\n{neighbour}\nkernel void k(global int *p, read_only image2d_t image)\n" + (
        f"{{\n    int i = get_global_id(0);\n    local uint tile[64];\n    tile[0] = 1;\n{statement}\n}}\n"
    )


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("extension", SUB_GROUPS)
def test_sub_groups_are_refused_where_they_are_called(extension: str, standard: str) -> None:
    for statement in SUB_GROUPS[extension]:
        for pragma in ("", extension):
            with pytest.raises(RefusalError) as caught:
                coarsen(source_of(statement, pragma), options=standard)
            assert (caught.value.code, caught.value.position and caught.value.position.line) == ("sub-group", 8)


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("extension", PER_ITEM)
def test_what_a_work_item_computes_alone_is_coarsened(extension: str, standard: str) -> None:
    name = PER_ITEM[extension].split("= ")[1].split("(")[0]
    assert coarsen(source_of(PER_ITEM[extension]), factor=2, options=standard).opencl_c.count(f"{name}(") == 2


@pytest.mark.parametrize("standard", ["-cl-std=CL2.0", "-cl-std=CL3.0"])
def test_null_events_and_reservations_are_refused(standard: str) -> None:
    for statement, code in (
        ("clk_event_t none = CLK_NULL_EVENT;", "device-enqueue"),
        ("reserve_id_t none = CLK_NULL_RESERVE_ID;", "pipe"),
    ):
        with pytest.raises(RefusalError) as caught:
            coarsen(source_of(statement), options=standard)
        assert caught.value.code == code


def test_kernels_beside_one_with_sub_groups_are_coarsened() -> None:
    unit = compile_source(source_of("*p = sub_group_any(*p);", neighbour=NEIGHBOUR))
    assert unit.kernels == ("neighbour", "k")
    assert coarsen(unit, kernel="neighbour", factor=2).opencl_c.count("= 3.0f;") == 2
    with pytest.raises(RefusalError):
        coarsen(unit, kernel="k")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("*p = sub_group_reduce_ad(*p);", "use of undeclared identifier 'sub_group_reduce_ad'"),
        ("*p = intel_sub_group_shufle(*p, 1);", "use of undeclared identifier 'intel_sub_group_shufle'"),
        ("*p = arm_position(*p);", "use of undeclared identifier 'arm_position'"),
        ("*p = sub_group_any(*p) + mispelt;", "use of undeclared identifier 'mispelt'"),
        ("*p = sub_group_any(*p, 3);", "too many arguments to function call"),
    ],
)
def test_a_typo_stays_an_error_of_its_own(statement: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        coarsen(source_of(statement, neighbour=NEIGHBOUR))
    assert str(caught.value).startswith("<source>:8:")
    assert str(caught.value).count("undeclared") <= 1


@pytest.mark.parametrize("standard", ["", "-cl-std=CL2.0", "-cl-std=CL3.0"])
@pytest.mark.parametrize("extension", ["cl_khr_subgroups", "cl_khr_subgroup_shuffle", "cl_intel_subgroups"])
def test_what_a_device_builds_is_no_invalid_input(
    device: DeviceDescription, context: pyopencl.Context, extension: str, standard: str
) -> None:
    source = source_of(SUB_GROUPS[extension][-2 if extension == "cl_intel_subgroups" else -1])
    try:
        build_uncached(context, source, [standard])
    except pyopencl.Error:
        return  # nothing is promised for what the device doesn't build
    with pytest.raises(RefusalError, match="sub-group"):
        lower_and_coarsen(source, standard, device)


def lower_and_coarsen(source: str, standard: str, device: DeviceDescription) -> None:
    """Lower a kernel as its device would compile it, and coarsen it."""
    lower(source, None, standard, device.macros)
    coarsen(source, options=standard, macros=device.macros)
