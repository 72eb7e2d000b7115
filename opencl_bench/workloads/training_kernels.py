"""The kernels that models learn from, kept with their sources, launches and, but for the oldest, their inputs.

Two generators drew them, last in commits 669175ec (`synthetic-…`) and fcfdc148 (`launch-…`, `nest-…`).
What they drew is kept in `data`, a file for each:

    data/synthetic_kernels.json.gz ─▶ synthetic-0-0 … synthetic-0-299: one local size, no inputs
    data/launch_kernels.json.gz    ─▶ launch-0-0 … launch-0-999: several local sizes, sizes of three classes
    data/nest_kernels.json.gz      ─▶ nest-0-0 … nest-0-299: the same, loop nests with long loops

`few`: fewer work-groups than a large GPU has compute units. `caches`: buffers that fit caches. `memory`: buffers
that don't. The latter two are larger for GPUs.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.distributions import parse_distribution
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
from coarsen.tuning.workload.element_types import element_type
from coarsen.variant.variant import shape

# What inputs are made by; another number where they change.
_INPUTS_VERSION = 1
# What the presets that other kernels have, too, stand for.
_USUAL = {"cpu": "memory", "gpu": "gpu_memory"}
_RELATIVE_TOLERANCE = 1e-4
_ABSOLUTE_TOLERANCE_PER_TERM = 1e-5

_Entry = Mapping[str, Any]


@cache
def kept_kernels(kind: str) -> Mapping[str, _Entry]:
    """Return what is kept of the kernels of a kind, `synthetic`, `launch` or `nest`, by their names."""
    # Found from the package: the folder may be installed elsewhere than this file.
    data = resources.files("coarsen.opencl_bench") / "data" / f"{kind}_kernels.json.gz"
    return {entry["name"]: entry for entry in json.loads(gzip.decompress(data.read_bytes()))}


@lru_cache(maxsize=512)
def training_kernel(name: str) -> Benchmark:
    """Return the benchmark of a name such as `launch-0-13`, `nest-0-7` or `synthetic-0-1`.

    Raises:
        InvalidInputError: there is no such kernel.
    """
    known = kept_kernels(name.partition("-")[0])
    if name not in known:
        first, *_, last = known
        raise InvalidInputError(f"no benchmark {name!r}; there are {first} to {last}")
    return _benchmark(known[name])


def _benchmark(entry: _Entry) -> Benchmark:
    local_sizes = tuple(map(tuple, entry["local_sizes"]))
    presets = {name: Preset(found["size"], local_sizes[0]) for name, found in entry["presets"].items()}
    dimensions = range(len(local_sizes[0]))
    kept_inputs = "outputs" in entry
    version = json.dumps([entry["source"], _INPUTS_VERSION]).encode()
    return Benchmark(
        name=entry["name"],
        dimensions=tuple(dimensions),
        presets=presets | {usual: presets[name] for usual, name in _USUAL.items() if name in presets},
        make_workload=partial(_make_workload, entry),
        local_sizes=local_sizes if kept_inputs else (),
        make_launches=partial(_make_launches, entry),
        kernel_name=entry["kernel"],
        source_text=entry["source"],
        inputs_hash=hashlib.sha256(version).hexdigest() if kept_inputs else "",
        shared_local_size=local_sizes[0] if entry.get("is_shared") else None,
        family=entry["family"],
        mechanisms=frozenset(entry["mechanisms"]),
    )


def _make_launches(entry: _Entry, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launch of a size. Raises InvalidInputError for a local size that is none of the kernel's."""
    legal = entry["local_sizes"]
    if [*local_size] not in legal:
        raise InvalidInputError(
            f"{entry['name']}: its local sizes are {', '.join(map(shape, legal))}, not {shape(local_size)}"
        )
    found, place = _at(entry, size), legal.index([*local_size])
    groups = local_size if entry.get("is_per_group") else (1,) * len(local_size)
    global_size = tuple(extent * group for extent, group in zip(found["global_size"], groups, strict=True))
    arguments = tuple(_argument(each, place) for each in found["arguments"])
    return (Launch(entry["kernel"], global_size, local_size, arguments),)


def _at(entry: _Entry, size: Size) -> _Entry:
    found: _Entry = next(each for each in entry["presets"].values() if each["size"] == size)
    return found


def _argument(found: str | int | dict[str, list[int]], place: int) -> Argument:
    """An argument: a name is a buffer, a number a `uint`, `{"local": …}` the bytes at each of the local sizes."""
    if isinstance(found, str):
        return BufferArgument(found)
    return ScalarArgument(np.uint32(found)) if isinstance(found, int) else LocalArgument(found["local"][place])


def _make_workload(entry: _Entry, size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The workload of a size. Raises InvalidInputError as `_make_launches`, and where no inputs are kept."""
    if "outputs" not in entry:
        raise InvalidInputError(
            f"{entry['name']} is known by the rows that were measured of it, and its inputs are not kept; "
            "measure a kernel whose are, launch-0-0 for one"
        )
    launches = _make_launches(entry, size, local_size)
    return Workload(
        buffers={
            name: parse_distribution(values).fill(generator, element_type(kind), elements, {})
            for name, (kind, elements, values) in _at(entry, size)["buffers"].items()
        },
        launches=launches,
        outputs=tuple(entry["outputs"]),
        reference=None,
        relative_tolerance=_RELATIVE_TOLERANCE,
        absolute_tolerance=_ABSOLUTE_TOLERANCE_PER_TERM * (16 + size["trips"]),
    )
