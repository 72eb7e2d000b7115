"""Levels at which a kernel can't be coarsened are no part of what its launch is tuned over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.frontend.device_macros import PORTABLE
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.launch_space import launch_space, lowered_own, without_refused
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DEFAULT

LOCK = "while (atomic_cmpxchg(lock, 0, 1) != 0) { } *lock = 0;"


@pytest.mark.parametrize(
    ("body", "levels"),
    [
        ("*lock = 1;", (Level.ITEM, Level.GROUP)),
        (f"if (get_local_id(0) == 0) {{ {LOCK} }}", (Level.ITEM,)),
        (LOCK, ()),
        ("lock[0] = work_group_reduce_add(1);", ()),
    ],
)
def test_levels(body: str, levels: tuple[Level, ...]) -> None:
    source = f"kernel void k(volatile global int *lock) {{ {body} }}"
    space = launch_space((64,), (), DEFAULT, Tune(levels=("item", "group")))
    options = ("-cl-std=CL2.0",)
    suited = replace(
        find_benchmark("mt"), source_text=source, source_file=None, kernel_name="k", build_options=options
    )
    kernel = lowered_own(suited, PORTABLE)
    assert kernel is not None
    assert without_refused(space, kernel, (0,)) == replace(space, levels=levels)
