"""Kernels whose work-items lock, count or update memory in turn: they end, merged as far as that is allowed."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.drop_in.program import Program
from coarsen.errors import RefusalError

LOCK = "while (atomic_cmpxchg(lock, 0, 1) != 0) { }"
GIVEN_BACK = "mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_xchg(lock, 0);"
KERNELS = {
    "each work-item": f"{LOCK} *total += i; {GIVEN_BACK}",
    "each group": (
        "local int part; if (get_local_id(0) == 0) part = 0; barrier(CLK_LOCAL_MEM_FENCE);"
        "atomic_add(&part, i); barrier(CLK_LOCAL_MEM_FENCE);"
        f"if (get_local_id(0) == 0) {{ {LOCK} *total += part; {GIVEN_BACK} }}"
    ),
    "each iteration": (
        "bool done = false; while (!done) if (atomic_cmpxchg(lock, 0, 1) == 0) {"
        f"*total += i; {GIVEN_BACK} done = true; }}"
    ),
    "exchange": "int old; do old = *total; while (atomic_cmpxchg(total, old, old + i) != old);",
    "queue": "int k; while ((k = atomic_inc(lock)) < 1024) atomic_add(total, k);",
    "gives up": "for (int k = 0; k < 3 && atomic_add(lock, 0) == 0; ++k) { } atomic_add(total, i);",
}
REFUSED = {("each work-item", "item"), ("each work-item", "group"), ("each group", "group")}
SECONDS = 240


def launch_or_refuse(description: DeviceDescription, name: str, level: str | None) -> None:
    """Check a kernel's total, or that a coarsening which might not end is refused."""
    if (name, level) not in REFUSED:
        launch(description, KERNELS[name], level)
        return
    with pytest.raises(RefusalError) as caught:
        launch(description, KERNELS[name], level)
    assert caught.value.code == "waits-for-another"


def launch(description: DeviceDescription, body: str, level: str | None) -> None:
    """Launch a kernel and check its total."""
    context = cl.Context([open_device(description)])
    queue = cl.CommandQueue(context)
    source = (
        "kernel void adds(volatile global int *lock, volatile global int *total)\n"
        f"{{ int i = get_global_id(0); {body} }}"
    )
    asked: dict[str, Any] = {} if level is None else {"factor": 4, "level": level}
    program = Program(context, source, **asked).build()
    memory = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32)) for _ in range(2)]
    program.adds(queue, (1024,), (32,), *memory)
    total = np.empty(1, np.int32)
    cl.enqueue_copy(queue, total, memory[1])
    assert total[0] == sum(range(1024)), total


@pytest.mark.parametrize("level", [None, "item", "group"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernel_ends(device: DeviceDescription, name: str, level: str | None) -> None:
    """Launch it in a process that can be ended; without a level, with whatever factor is predicted, if any."""
    child = multiprocessing.get_context("spawn").Process(target=launch_or_refuse, args=(device, name, level))
    child.start()
    child.join(SECONDS)
    if child.is_alive():
        child.kill()
        pytest.fail("the kernel doesn't end")
    assert child.exitcode == 0
