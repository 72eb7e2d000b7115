"""No launch that works uncoarsened fails coarsened: random launches of kernels of every class.

Sizes, local sizes, offsets and numbers of dimensions are drawn; a failure's message has the launch.
`COARSEN_DIFFERENTIAL=full` draws more, and combines each kernel with each configuration.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in.program import Program
from coarsen.runtime.kernel import Kernel, enqueue_nd_range_kernel
from tests.runtime.any_size_kernels import KERNELS
from tests.selection import everything_is_asked_for

SEED = 20261120
FULL = everything_is_asked_for()
LAUNCHES = 16 if FULL else 8
LAUNCHES_ON_POCL = 8  # which compiles a kernel for each local size
# PoCL 3.1 compiles for many seconds where barriers stand under a condition, as they do in guarded work-groups.
GUARDED_BARRIERS_ON_POCL = 3
BEYOND = 64
CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"factor": 4},
    {"factor": 4, "level": "group"},
    {"factor": 3, "stride": 2},
    {"factor": (2, 3), "dim": (0, 1), "stride": (1, 2)},
    {"factor": (2, 2), "dim": (0, 1), "level": ("group", "item")},
    {"factor": (2, 3), "dim": (0, 0), "level": ("item", "group")},
)
SOME = (
    *(("plain", 2), ("plain", 4), ("early", 0), ("early", 3), ("early", 5), ("parts", 0), ("parts", 1)),
    *(("fixed", 1), ("fixed", 2), ("passed", 1), ("passed", 4)),
)
COMBINATIONS = tuple(itertools.product(KERNELS, range(len(CONFIGURATIONS)))) if FULL else SOME


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Oclgrind interprets; two combinations of each level are enough for it."""
    device: DeviceDescription = parameters["device"]
    return not device.is_called("oclgrind") or parameters.get("chosen", 0) <= 1


@dataclass(frozen=True)
class Launch:
    """A launch of the original kernel."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...] | None = None

    @property
    def sizes(self) -> tuple[Any, Any]:
        """Both sizes; PyOpenCL's annotations want them of up to three numbers each."""
        return self.global_size, self.local_size


def drawn(draw: random.Random) -> Launch:
    """A launch that OpenCL allows."""
    dimensions = draw.choice((1, 1, 2, 2, 3))
    most = {1: 90, 2: 24, 3: 10}[dimensions]
    global_size = tuple(draw.randint(1, most) for _ in range(dimensions))
    local_size = None
    if draw.random() < 0.7:
        local_size = tuple(draw.choice([d for d in range(1, 13) if size % d == 0]) for size in global_size)
        if math.prod(local_size) > 64:
            local_size = None
    offset = tuple(draw.randint(0, 9) for _ in range(dimensions)) if draw.random() < 0.4 else None
    return Launch(global_size, local_size, offset)


def options(context: cl.Context, standard: str = "") -> list[str]:
    """Oclgrind does not know the odd integers that its own optimiser makes of loops."""
    interpreted = "Oclgrind" in context.devices[0].platform.name
    return [*(["-cl-opt-disable"] if interpreted else []), *([standard] if standard else [])]


@functools.cache
def original_of(context: cl.Context, name: str, standard: str = "") -> cl.Kernel:
    return cl.Kernel(build_uncached(context, KERNELS[name], options(context, standard)), name)


def coarsened_of(context: cl.Context, name: str, standard: str = "", **chosen: Any) -> Kernel:  # noqa: ANN401
    program = Program(context, KERNELS[name], **chosen).build(options(context, standard))
    kernel: Kernel = getattr(program, name)
    return kernel


def outcome(
    queue: cl.CommandQueue, kernel: cl.Kernel, launch: Launch, set_before: bool = False
) -> NDArray[np.int32]:
    """What a kernel writes for a launch, and behind what it should write."""
    result = np.full(math.prod(launch.global_size) + BEYOND, -7, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=result)
    local: list[Any] = [cl.LocalMemory(4 * 1024)] * (kernel.num_args - 2)
    if set_before:
        kernel.set_args(buffer, np.int32(4), *local)
        kernel.set_arg(1, np.int32(5))
        enqueue_nd_range_kernel(queue, kernel, *launch.sizes, launch.offset)
    else:
        kernel(queue, *launch.sizes, buffer, np.int32(5), *local, global_offset=launch.offset)
    cl.enqueue_copy(queue, result, buffer)
    return result


def launches_on(device: DeviceDescription, name: str) -> int:
    """How many launches are tried."""
    if not device.is_called("pocl"):
        return LAUNCHES
    return GUARDED_BARRIERS_ON_POCL if name in ("fixed", "passed") else LAUNCHES_ON_POCL


@pytest.mark.parametrize(("name", "chosen"), COMBINATIONS)
def test_every_launch_gives_the_originals_results(
    device: DeviceDescription, queue: cl.CommandQueue, name: str, chosen: int
) -> None:
    draw = random.Random(f"{SEED} {name} {chosen}")
    original = original_of(queue.context, name)
    coarsened = coarsened_of(queue.context, name, **CONFIGURATIONS[chosen])
    for number in range(launches_on(device, name)):
        launch = drawn(draw)
        wanted = outcome(queue, original, launch)
        got = outcome(queue, coarsened, launch, set_before=number % 3 == 0)
        decided = coarsened.divided(queue.device, *launch.sizes)
        np.testing.assert_array_equal(got, wanted, f"{launch} {CONFIGURATIONS[chosen]} {decided}")


@pytest.mark.parametrize(
    ("name", "chosen", "launch", "expected"),
    [
        ("plain", 0, Launch((96,), (16,)), (4, False, (24,), (4,))),
        ("plain", 0, Launch((96,), None), (4, False, (24,), None)),
        ("plain", 0, Launch((97,), None), (4, True, (26,), None)),
        ("plain", 0, Launch((97,), (1,)), (4, True, (25,), (1,))),
        ("plain", 0, Launch((90,), (6,)), (4, True, (24,), (6,))),
        ("plain", 0, Launch((84,), (21,)), (4, False, (21,), (21,))),
        ("parts", 0, Launch((90,), (6,)), (3, False, (30,), (2,))),
        ("parts", 0, Launch((35,), (7,)), (1, False, (35,), (7,))),
        ("parts", 1, Launch((35,), (7,)), (4, True, (14,), (7,))),
        ("parts", 1, Launch((84,), (7,)), (4, False, (21,), (7,))),
        ("plain", 4, Launch((35, 9), (7, 1)), (2, True, (21, 5), (7, 1))),
        ("plain", 5, Launch((35,), (5,)), (3, True, (10,), (5,))),
        ("fixed", 1, Launch((7,), (7,)), (1, False, (7,), (7,))),
    ],
)
@pytest.mark.compiled_devices
def test_the_variant_is_the_best_that_the_kernel_allows(
    queue: cl.CommandQueue,
    name: str,
    chosen: int,
    launch: Launch,
    expected: tuple[int, bool, tuple[int, ...], tuple[int, ...] | None],
) -> None:
    kernel = coarsened_of(queue.context, name, **CONFIGURATIONS[chosen])
    decided = kernel.divided(queue.device, *launch.sizes)
    factor = decided.coarsenings[0].factor if decided.coarsenings else 1
    assert (factor, decided.guarded, decided.global_size, decided.local_size) == expected
    # Of one work-group, there is nothing to say.
    asked = kernel._launches.plan._requested(name)
    assert asked is not None
    is_as_asked = decided.coarsenings == asked or launch.global_size == launch.local_size
    assert (decided.note is None) == is_as_asked


def test_work_groups_of_different_sizes(queue: cl.CommandQueue, device: DeviceDescription) -> None:
    """From OpenCL C 2.0 on the local size need not divide the global size; not every device takes that."""
    if device.is_called("pocl"):
        assert coarsened_of(queue.context, "plain", factor=4).divided(queue.device, (10,), (4,)).coarsenings == ()
        return
    launch = Launch((90,), (8,), (3,))
    for name, guarded in (("plain", True), ("parts", False)):
        kernel = coarsened_of(queue.context, name, "-cl-std=CL2.0", factor=4)
        wanted = outcome(queue, original_of(queue.context, name, "-cl-std=CL2.0"), launch)
        np.testing.assert_array_equal(outcome(queue, kernel, launch), wanted)
        assert kernel.divided(queue.device, *launch.sizes).guarded == guarded


@pytest.mark.compiled_devices
@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_ids_beyond_32_bits(queue: cl.CommandQueue, chosen: int) -> None:
    launch = Launch((39,), (3,), (2**33 + 5,))
    wanted = outcome(queue, original_of(queue.context, "plain"), launch)
    kernel = coarsened_of(queue.context, "plain", **CONFIGURATIONS[chosen])
    np.testing.assert_array_equal(outcome(queue, kernel, launch), wanted)
    assert kernel.divided(queue.device, *launch.sizes).guarded


@pytest.mark.compiled_devices
def test_local_memory_of_merged_groups_has_a_limit(
    queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = coarsened_of(queue.context, "passed", factor=8, level="group")
    available = queue.device.local_mem_size
    result = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4 * 64)
    kernel(queue, (4,), (4,), result, np.int32(5), cl.LocalMemory(available // 4))
    assert kernel.divided(queue.device, (4,), (4,)).coarsenings == () and caplog.messages == []
    for _ in range(2):
        kernel(queue, (64,), (4,), result, np.int32(5), cl.LocalMemory(available // 4))
    decided = kernel.divided(queue.device, (64,), (4,))
    assert decided.coarsenings[0].factor == 4 and (decided.global_size, decided.local_size) == ((16,), (4,))
    assert len(caplog.messages) == 1 and "bytes of local memory" in caplog.messages[0]
    kernel(queue, (64,), (4,), result, np.int32(5), cl.LocalMemory(64))
    assert kernel.divided(queue.device, (64,), (4,)).coarsenings[0].factor == 8


@pytest.mark.compiled_devices
def test_argument_types_of_variants_cover_what_they_take_more(queue: cl.CommandQueue) -> None:
    kernel = coarsened_of(queue.context, "passed", factor=4, level="group")
    kernel.set_scalar_arg_dtypes([None, np.int32, None])
    original = original_of(queue.context, "passed")
    launch = Launch((24,), (4,))
    result = np.empty(24, np.int32)
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, result.nbytes)
    kernel(queue, *launch.sizes, buffer, 5, cl.LocalMemory(64))
    cl.enqueue_copy(queue, result, buffer)
    np.testing.assert_array_equal(result, outcome(queue, original, launch)[:24])
    assert kernel.num_args == 3
    assert kernel.divided(queue.device, *launch.sizes).guarded


def test_a_demanded_local_size_that_the_factor_does_not_divide(queue: cl.CommandQueue) -> None:
    source = KERNELS["plain"].replace("kernel void", "kernel __attribute__((reqd_work_group_size(6, 1, 1))) void")
    kernel = Program(queue.context, source, factor=4, kernels=["plain"]).build(options(queue.context)).plain
    launch = Launch((90,), None)
    np.testing.assert_array_equal(
        outcome(queue, kernel, launch), outcome(queue, original_of(queue.context, "plain"), launch)
    )
    assert kernel.divided(queue.device, *launch.sizes).guarded
