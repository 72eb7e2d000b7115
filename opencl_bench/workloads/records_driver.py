"""What the drivers of kernels on records share: names, NumPy types that match OpenCL's structures, benchmarks.

record(key="ulong", number="uint", group="ushort", flag="uchar")
─▶ uint64 at 0, uint32 at 8, uint16 at 12, uint8 at 14, 16 bytes in all
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    KERNEL_FOLDER,
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import round_up, unwritten_records

RECORDS_PREFIX = "records-"
Record = np.dtype[Any]

_SCALARS: Mapping[str, type[np.generic]] = {
    "uchar": np.uint8,
    "ushort": np.uint16,
    "uint": np.uint32,
    "ulong": np.uint64,
    "float": np.float32,
}


@dataclass(frozen=True, slots=True)
class Contents:
    """The buffers of a workload before its launches, and what is known of the outputs after them.

    Args:
        buffers: by name.
        outputs: the names of those that are compared.
        reference: computes the outputs.
        relative_tolerance: of floating-point numbers, as a `Workload` has it.
        absolute_tolerance: likewise.
    """

    buffers: Mapping[str, Array]
    outputs: tuple[str, ...]
    reference: Callable[[], Mapping[str, Array]]
    relative_tolerance: float = 0.0
    absolute_tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class RecordsKernel:
    """A kernel on records, as its driver describes it.

    Args:
        kernel: the name of the kernel's function.
        file: the name of its file in `kernels/records`, without the ending.
        records: the NumPy type of each parameter that points to structures.
        contents: makes the buffers, which depend on the sizes alone.
        launches: makes the launches.
        presets: `test`, `small` (for spaces that are measured as a whole), `cpu` and `gpu`.
        local_sizes: the work-groups worth trying.
        tunables: as a `Benchmark` has them; no result depends on them.
        other_kernels: those of the same file that launches name besides.
    """

    kernel: str
    file: str
    records: Mapping[str, Record]
    contents: Callable[[Size, np.random.Generator], Contents]
    launches: Callable[[Size, LocalSize], tuple[Launch, ...]]
    presets: Mapping[str, Preset]
    local_sizes: tuple[LocalSize, ...]
    tunables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    other_kernels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return f"{RECORDS_PREFIX}{self.kernel}"

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that a sweep measures."""
        group = self.presets["test"].local_size
        dimensions = tuple(range(len(group)))
        return Benchmark(
            name=self.name,
            dimensions=dimensions,
            presets=self.presets,
            divisible_local_sizes=dict.fromkeys(dimensions, group),
            make_workload=self._workload,
            make_launches=self.launches,
            local_sizes=self.local_sizes,
            tunables=self.tunables,
            kernel_name=self.kernel,
            source_file=KERNEL_FOLDER / "records" / f"{self.file}.cl",
            other_kernels=self.other_kernels,
            input_macros=(),
            buffers_fit_any_local_size=True,
        )

    def _workload(self, size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
        made = self.contents(size, generator)
        return Workload(
            buffers=made.buffers,
            launches=self.launches(size, local_size),
            outputs=made.outputs,
            reference=made.reference,
            relative_tolerance=made.relative_tolerance,
            absolute_tolerance=made.absolute_tolerance,
        )


def record(**fields: str) -> Record:
    """Return the NumPy type of an OpenCL structure, every field at a multiple of its size.

    Args:
        fields: the OpenCL type of each, in their order.
    """
    return np.dtype([(name, _SCALARS[kind]) for name, kind in fields.items()], align=True)


def filled(kind: Record, /, **fields: Array) -> Array:
    """Return records of these fields; bytes that belong to none are not 0, so that reading them shows.

    A copy of the array need not have these bytes.
    """
    shape = np.broadcast_shapes(*(np.shape(values) for values in fields.values()))
    made = unwritten_records(kind, shape)
    for name, values in fields.items():
        made[name] = values
    return made


def stacked(records: Array, *names: str) -> Array:
    """Return some fields of records in double precision, the field as the first axis."""
    return np.stack([records[name].astype(np.float64) for name in names])


def covering(extents: tuple[int, ...], local_size: LocalSize) -> tuple[int, ...]:
    """Return the smallest NDRange of whole work-groups that covers some extents."""
    return tuple(round_up(extent, items) for extent, items in zip(extents, local_size, strict=True))


def fields_at(kind: np.dtype[Any]) -> list[tuple[int, str, int]]:
    """Return the offset of each field, its letter in NumPy without the sign of integers, and its size in bytes."""
    fields: Mapping[str, Any] = kind.fields or {}
    found = (fields[name] for name in kind.names or ())
    return [(entry[1], "i" if entry[0].kind == "u" else entry[0].kind, entry[0].itemsize) for entry in found]
