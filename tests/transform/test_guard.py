"""The guard for sizes that don't divide: what it writes, what it refuses, and that results stay the original's."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.api import coarsen
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.pipeline import CoarsenedKernel
from coarsen.transform.guard import guards_of
from coarsen.variant.coarsening import Level, configuration_of
from tests.transform.harness import forms

# Writes nothing outside of the original NDRange, and asks for whatever the guard answers.
SIZES = """
kernel void sizes(global int *out, int which)
{
    int kept[3];
    for (int d = 0; d < 3; ++d)
        kept[d] = (int)get_global_size((which + d) % 3);
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    size_t place = y * get_global_size(0) + x;
    if (x % 3 == 1) {
        out[place] = -1;
        return;
    }
    out[place] = kept[0] * 10000 + kept[1] * 100 + kept[2] + (int)get_global_id(1) + (int)get_global_id(0) * 7;
}
"""
LINEAR = """
kernel void linear(global int *out, int which)
{
    out[get_global_linear_id()] = (int)get_global_linear_id() * 3 + (int)get_global_size(0) + which;
}
"""
# Meets at barriers, also in a loop, and asks for groups; local memory is static.
GROUPS = """
kernel void groups(global int *out, int which)
{
    local int tile[64];
    int item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    int items = get_local_size(0) * get_local_size(1);
    int place = (get_global_id(1) - get_global_offset(1)) * get_global_size(0)
        + get_global_id(0) - get_global_offset(0);
    tile[item] = place * 5 + which;
    for (int step = 1; step < 4; ++step) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int other = tile[(item + step) % items];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[item] += other;
    }
    out[place] = tile[item] + (int)(get_group_id(0) * 1000 + get_num_groups(0) * 100 + get_num_groups(1) * 10);
}
"""
# Asks twice for its id, once only to narrow it: replicas that part go through a loop.
NARROWED = """
kernel void narrowed(global int *out, int which)
{
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    int total = which;
    for (int i = 0; i < (int)(x % 5); ++i)
        total = 3 * total + i * (int)get_global_id(0);
    out[y * get_global_size(0) + x] = total;
}
"""
# Meets at barriers that order nothing.
MEETING = """
kernel void meeting(global int *out, int which)
{
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (which == 2)
        barrier(CLK_GLOBAL_MEM_FENCE);
    out[y * get_global_size(0) + x] = x * 100 + y;
    barrier(CLK_GLOBAL_MEM_FENCE);
}
"""
KERNELS = {"meeting": MEETING, "narrowed": NARROWED, "sizes": SIZES, "linear": LINEAR, "groups": GROUPS}
BEYOND = 512


@dataclass(frozen=True)
class Geometry:
    """An original launch, and what is launched of the coarsened kernel."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    coarsened: tuple[int, ...]
    coarsened_local: tuple[int, ...]


def run(
    queue: cl.CommandQueue,
    kernel: cl.Kernel,
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
    count: int,
    *further: Any,  # noqa: ANN401 (whatever PyOpenCL takes)
) -> NDArray[np.int32]:
    """What a kernel wrote for `count` work-items, and behind them."""
    result = np.full(count + BEYOND, -7, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=result)
    offset = tuple(3 * dimension + 1 for dimension in range(len(sizes[0])))
    kernel(queue, *sizes, buffer, np.int32(2), *further, global_offset=offset)
    cl.enqueue_copy(queue, result, buffer)
    return result


def built(context: cl.Context, coarsened: CoarsenedKernel, form: str) -> cl.Kernel:
    if form == "spirv":
        return cl.Kernel(build_uncached(context, coarsened.spirv), coarsened.kernel.name)
    options = [coarsened.opencl_c_standard]
    return cl.Kernel(build_uncached(context, coarsened.opencl_c, options), coarsened.kernel.name)


@functools.lru_cache(maxsize=64)
def guarded(name: str, **chosen: Any) -> CoarsenedKernel:  # noqa: ANN401 (whatever `coarsen` takes)
    """One of the kernels, coarsened for sizes that need not divide."""
    return coarsen(KERNELS[name], options="-cl-std=CL2.0", any_size=True, **chosen)


def check(queue: cl.CommandQueue, name: str, tried: tuple[str, ...], geometry: Geometry, **chosen: Any) -> None:  # noqa: ANN401
    coarsened = guarded(name, **chosen)
    count = math.prod(geometry.global_size)
    original = cl.Kernel(build_uncached(queue.context, KERNELS[name], ["-cl-std=CL2.0"]), name)
    wanted = run(queue, original, (geometry.global_size, geometry.local_size), count)
    assert wanted[count:].tolist() == [-7] * BEYOND
    sizes = [np.uint64(geometry.global_size[added.dimension]) for added in coarsened.added_arguments]
    for form in tried:
        kernel = built(queue.context, coarsened, form)
        got = run(queue, kernel, (geometry.coarsened, geometry.coarsened_local), count, *sizes)
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["sizes", "linear", "meeting"])
@pytest.mark.parametrize(
    ("chosen", "geometry"),
    [
        ({"factor": 4}, Geometry((13, 5), (13, 1), (6, 5), (3, 5))),
        ({"factor": 3, "dim": 1, "stride": 2}, Geometry((13, 5), (1, 5), (13, 2), (13, 1))),
        ({"factor": (2, 8), "dim": (0, 1), "stride": (4, 1)}, Geometry((13, 5), (1, 1), (8, 2), (8, 2))),
        ({"factor": 4, "stride": 8}, Geometry((70, 1), (7, 1), (24, 1), (3, 1))),
    ],
)
def test_work_items_of_any_number(
    device: DeviceDescription, queue: cl.CommandQueue, name: str, chosen: dict[str, Any], geometry: Geometry
) -> None:
    check(queue, name, forms(device), geometry, **chosen)


@pytest.mark.parametrize("name", ["sizes", "groups", "narrowed"])
@pytest.mark.parametrize(
    ("chosen", "geometry"),
    [
        ({"factor": 4}, Geometry((20, 4), (4, 2), (8, 4), (4, 2))),
        ({"factor": 2, "dim": 1}, Geometry((4, 9), (4, 3), (4, 6), (4, 3))),
        ({"factor": (3, 2), "dim": (0, 1)}, Geometry((20, 6), (4, 2), (8, 4), (4, 2))),
    ],
)
def test_work_groups_of_any_number(
    device: DeviceDescription, queue: cl.CommandQueue, name: str, chosen: dict[str, Any], geometry: Geometry
) -> None:
    check(queue, name, forms(device), geometry, level="group", **chosen)


def test_the_guard_takes_the_original_size_as_an_argument() -> None:
    coarsened = coarsen(SIZES, factor=(2, 2), dim=(0, 1), any_size=True)
    assert coarsened.added_arguments == (AddedArgument("global-size", 0), AddedArgument("global-size", 1))
    assert [argument.name for argument in coarsened.kernel.arguments[2:]] == ["global_size_x", "global_size_y"]
    assert "ulong global_size_x, ulong global_size_y)" in coarsened.opencl_c
    assert coarsen(SIZES, factor=2).added_arguments == ()


def test_a_demanded_local_size_is_that_of_the_launch_no_more() -> None:
    source = SIZES.replace("kernel void", "kernel __attribute__((reqd_work_group_size(6, 1, 1))) void")
    assert "reqd_work_group_size" not in coarsen(source, factor=4, any_size=True).opencl_c
    merged = coarsen(source, factor=4, any_size=True, level="group")
    assert "reqd_work_group_size(6, 1, 1)" in merged.opencl_c


@pytest.mark.parametrize(
    "body",
    [
        "out[get_global_id(0)] = get_local_id(0);",
        "out[get_global_id(0)] = get_local_size(0);",
        "out[get_global_id(0)] = get_group_id(0);",
        "out[get_global_id(0)] = get_num_groups(which);",
        "out[get_global_id(0)] = get_local_linear_id();",
        "out[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); out[0] += out[1];",
        "local int kept; kept = which; out[get_global_id(0)] = kept;",
        "local int kept[4]; kept[2] = which; out[get_global_id(0)] = kept[2];",
        "prefetch(out, 4); out[get_global_id(0)] = *part;",
    ],
)
def test_kernels_that_look_at_their_groups_are_refused(body: str) -> None:
    local = ", local int *part" if "part" in body else ""
    source = f"kernel void looks(global int *out, int which{local})\n{{\n{body}\n}}"
    with pytest.raises(RefusalError) as caught:
        coarsen(source, factor=2, any_size=True, options="-cl-std=CL2.0")
    assert caught.value.code == "needs-whole-groups"
    assert local or caught.value.position
    assert coarsen(source, factor=2, options="-cl-std=CL2.0").needs_whole_groups


def test_groups_along_other_dimensions_do_not_matter() -> None:
    source = "kernel void other(global int *out) { out[get_global_id(0)] += get_local_id(1) + get_group_id(1); }"
    assert not coarsen(source, factor=2, any_size=True).needs_whole_groups
    with pytest.raises(RefusalError, match="needs-whole-groups"):
        coarsen(source, factor=2, dim=1, any_size=True)


def test_other_refusals_keep_their_place_in_the_source() -> None:
    body = "kernel void asks(global uint *out)\n{\n    out[0] = get_sub_group_id();\n}"
    with pytest.raises(RefusalError) as caught:
        coarsen(f"\n{body}", factor=2, any_size=True)
    assert caught.value.code == "sub-group" and caught.value.position and caught.value.position.line == 4


def test_one_guard_for_a_dimension_that_is_coarsened_at_both_levels() -> None:
    chosen = configuration_of((2, 4, 2), (0, 0, 1), 1, ("item", "group", "group"))
    assert guards_of(chosen) == ((0, Level.ITEM), (1, Level.GROUP))


def test_choices_of_transforms_are_checked() -> None:
    wrong: Any = "perhaps"
    with pytest.raises(InvalidInputError, match="fast_path"):
        coarsen(SIZES, fast_path=wrong)
    with pytest.raises(InvalidInputError, match="level"):
        coarsen(SIZES, level="warp")
    assert coarsen(SIZES, fast_path="never", lock_step="always", clean_up=False).opencl_c
