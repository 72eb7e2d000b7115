"""Remembered choices to test with."""

from __future__ import annotations

import dataclasses
from typing import Any

from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey, SizeClass, allowed_text
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

KEY = RememberedKey(
    ir_hash="3f" * 32,
    kernel="advect",
    vendor="GenuineIntel",
    device="Intel(R) Xeon(R) Processor @ 2.10GHz",
    platform="Intel(R) OpenCL",
    allowed=allowed_text({"wide_accesses": True, "fast_path": "auto", "levels": ["item", "group"]}),
    size_class=SizeClass((10, 8), (4, 4), (16, 16)),
)
CHOICE = RememberedChoice(
    key=KEY,
    variant=Variant((32, 8), (Coarsening(4, 1), Coarsening(2, 0, 8))),
    speedup=Speedup(2.5, 2.4, 2.625),
    speedup_over_uncoarsened=Speedup(1.5, 1.25, 1.75),
    global_size=(1500, 300),
    local_size=(16, 16),
    driver_version="2024.18.10.0.08_160000",
    platform_version="OpenCL 3.0 LINUX",
    versions=(("coarsen", "0.1.0"), ("llvmlite", "0.45.0")),
    trials=57,
    seconds=18.5,
    processes=2,
    found_at="2026-11-20T12:00:00+00:00",
)
AS_IT_IS = dataclasses.replace(
    CHOICE,
    key=dataclasses.replace(KEY, kernel="clear", size_class=SizeClass((20,), (1 << 15,), None)),
    variant=Variant(),
    speedup=Speedup(1.0, 0.99, 1.01),
    speedup_over_uncoarsened=None,
    global_size=(1 << 20,),
    local_size=None,
)


def some_choice(choice: RememberedChoice = CHOICE, **changes: Any) -> RememberedChoice:  # noqa: ANN401 (fields of several types)
    """A plausible choice with fields of it and of its key changed."""
    names = {field.name for field in dataclasses.fields(RememberedKey)}
    key = dataclasses.replace(choice.key, **{name: value for name, value in changes.items() if name in names})
    own = {name: value for name, value in changes.items() if name not in names}
    return dataclasses.replace(choice, key=key, **own)
