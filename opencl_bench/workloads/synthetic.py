"""The 300 synthetic kernels that models learned from: all that a model needs to learn from their rows anew.

A generator drew them (it is last in commit 669175ec). Their sources, launches, families and mechanisms are kept
in `data/synthetic_kernels.json.gz`, the contents of their buffers are not: they can't be measured again.

    data/synthetic_kernels.json.gz ─▶ {"synthetic-0-0": Benchmark, …}
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.tuning.workload.benchmark import (
    Argument,
    Benchmark,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    ScalarArgument,
    Size,
    Workload,
)
from coarsen.variant.variant import shape

FILE = "synthetic_kernels.json.gz"
_EXTENTS = ("items_x", "items_y")


@cache
def synthetic_kernels() -> Mapping[str, Benchmark]:
    """Return the kernels by their names, `synthetic-0-NUMBER`, each with the presets that it was measured at."""
    # Found from the package: the folder may be installed elsewhere than this file.
    data = resources.files("coarsen.opencl_bench") / "data" / FILE
    listed = json.loads(gzip.decompress(data.read_bytes()))
    return MappingProxyType({entry["name"]: _benchmark(entry) for entry in listed})


def _benchmark(entry: Mapping[str, Any]) -> Benchmark:
    local_size = tuple(entry["local_size"])
    launches = {
        name: Launch(entry["kernel"], tuple(found["global_size"]), local_size, _arguments(found["arguments"]))
        for name, found in entry["presets"].items()
    }
    dimensions = tuple(range(len(local_size)))
    return Benchmark(
        name=entry["name"],
        dimensions=dimensions,
        presets={name: Preset(_size(launch), local_size) for name, launch in launches.items()},
        divisible_local_sizes=dict.fromkeys(dimensions, local_size),
        make_workload=partial(_refused, entry["name"]),
        make_launches=partial(_launches, entry["name"], tuple(launches.values())),
        kernel_name=entry["kernel"],
        source_text=entry["source"],
        family=entry["family"],
        mechanisms=frozenset(entry["mechanisms"]),
    )


def _size(launch: Launch) -> Size:
    return dict(zip(_EXTENTS, launch.global_size, strict=False))


def _arguments(listed: list[Any]) -> tuple[Argument, ...]:
    """The arguments: a name is a buffer, a number a `uint`, `{"local": BYTES}` local memory."""
    return tuple(map(_argument, listed))


def _argument(found: str | int | dict[str, int]) -> Argument:
    if isinstance(found, str):
        return BufferArgument(found)
    return ScalarArgument(np.uint32(found)) if isinstance(found, int) else LocalArgument(found["local"])


def _launches(name: str, known: tuple[Launch, ...], size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launch of a size. Raises InvalidInputError for a local size other than that of the kernel's source."""
    own = known[0].local_size
    if local_size != own:
        raise InvalidInputError(f"{name}: its local size is {shape(own)} and no other")
    return tuple(launch for launch in known if _size(launch) == size)[:1]


def _refused(name: str, _size: Size, _local_size: LocalSize, _generator: np.random.Generator) -> Workload:
    raise InvalidInputError(
        f"{name} is known by the rows that were measured of it, and its inputs are not kept; "
        "measure a kernel that is drawn, launch-0-0 for one"
    )
