"""The hand-written kernels, one for each hazard of merging work-items, and how each is launched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyopencl import cltypes

KERNELS = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class LocalMemory:
    """Dynamic local memory, in bytes per work-item of the original work-group."""

    bytes_per_item: int


@dataclass(frozen=True)
class Image:
    """A two-dimensional image of four floats a pixel; shape (height, width, 4)."""

    pixels: NDArray[np.float32]
    writable: bool = False


class BorderSampler:
    """A sampler made by the host: unnormalised, clamped, nearest."""


Argument = NDArray[Any] | np.generic | LocalMemory | Image | BorderSampler
MakeArguments = Callable[[np.random.Generator, int], list[Argument]]


@dataclass(frozen=True)
class Case:
    """A kernel and a launch of it; `arguments(rng, items)` makes the arguments for a number of work-items.

    `needs` is what Oclgrind lacks; `wrong_on` names a device that gets the *original* kernel wrong.
    """

    name: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: MakeArguments
    dimensions: tuple[int, ...] = (0,)
    factors: tuple[int, ...] = (2, 3, 4, 8, 12)
    options: tuple[str, ...] = ()
    global_offset: tuple[int, ...] | None = None
    tolerance: float = 0.0
    needs: str = ""
    text: str = ""
    wrong_on: str = ""

    @property
    def wrong_on_if_wide(self) -> str:
        """The device that gets it wrong with wide accesses: PoCL 3.1 has no `vstoren` in OpenCL C 2.0."""
        return "pocl" if "-cl-std=CL2.0" in self.options else self.wrong_on

    @property
    def source(self) -> str:
        """The kernel's source: its file's, unless it was generated."""
        return self.text or (KERNELS / f"{self.name}.cl").read_text()


def integers(rng: np.random.Generator, count: int, low: int = 0, high: int = 1000) -> NDArray[np.int32]:
    """Random 32-bit integers, shape (count,)."""
    return rng.integers(low, high, count).astype(np.int32)


def floats(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Random floats from 0 to 1."""
    return rng.random(shape, dtype=np.float32)


def zeros(count: int) -> NDArray[np.int32]:
    """Room for `count` results, filled with a pattern that no kernel computes."""
    return np.full(count, -77777777, np.int32)


RECORD = np.dtype([("first", np.int32), ("second", np.int32, 3)])
PARTICLE = np.dtype(
    {
        "names": ["position", "colour"],
        "formats": [(np.float32, 4), (np.uint8, 4)],
        "offsets": [0, 16],
        "itemsize": 32,
    }
)


def _records(rng: np.random.Generator, count: int) -> NDArray[Any]:
    records = np.zeros(count, RECORD)
    records["first"] = integers(rng, count)
    records["second"] = rng.integers(0, 1000, (count, 3))
    return records


def _particles(rng: np.random.Generator, count: int) -> NDArray[Any]:
    particles = np.zeros(count, PARTICLE)
    particles["position"] = rng.random((count, 4), dtype=np.float32) - 0.5
    particles["colour"] = rng.integers(0, 256, (count, 4))
    return particles


def _images(rng: np.random.Generator, items: int) -> list[Argument]:
    pixels = floats(rng, 24, items // 24, 4)
    return [Image(pixels), Image(np.zeros_like(pixels), writable=True), BorderSampler()]


CASES = (
    Case("atomic_uniform_address", (96,), (24,), lambda rng, n: [np.zeros(2, np.int32), np.zeros(1, np.int32)]),
    Case(
        "atomic_divergent_address",
        (96,),
        (24,),
        lambda rng, n: [rng.integers(0, 99, n).astype(np.uint32), np.zeros(16, np.uint32), np.zeros(1, np.uint32)],
    ),
    Case(
        "barrier_uniform_control",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), np.int32(3), np.int32(1), LocalMemory(4)],
    ),
    Case("barrier_group_uniform", (96,), (24,), lambda rng, n: [integers(rng, n), LocalMemory(4)]),
    Case("escaping_loop", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), zeros(n), np.int32(17)]),
    Case("jumping_back", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(9)]),
    Case("break_continue_return", (192,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(9)]),
    Case("private_array", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(6)]),
    Case(
        "uniform_reload",
        (96,),
        (24,),
        lambda rng, n: [floats(rng, n), np.zeros(n, np.float32), _records(rng, 5), np.int32(2)],
        tolerance=1e-6,
    ),
    Case(
        "variable_dimension",
        (48, 8),
        (24, 4),
        lambda rng, n: [zeros(n), np.int32(2), np.uint32(1)],
        dimensions=(0, 1),
    ),
    Case(
        "global_offset",
        (48, 8),
        (24, 4),
        lambda rng, n: [zeros(n), np.int32(48)],
        dimensions=(0, 1),
        global_offset=(5, 3),
    ),
    Case(
        "three_dimensions",
        (4, 6, 48),
        (2, 3, 24),
        lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(4)],
        dimensions=(0, 1, 2),
    ),
    Case(
        "configured_types",
        (96,),
        (24,),
        lambda rng, n: [rng.integers(0, 99, n), np.zeros(n, np.int64), np.int64(3)],
        options=("-DELEMENT=long", "-D", "REPEAT=5"),
    ),
    Case(
        "irregular_conditions",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), integers(rng, n), np.int32(1), np.int32(400)],
    ),
    Case("loop_with_two_exits", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(7)]),
    Case(
        "linear_ids",
        (24, 6, 12),
        (12, 3, 6),
        lambda rng, n: [zeros(n)],
        dimensions=(0, 1, 2),
        options=("-cl-std=CL2.0",),
        needs="OpenCL C 2.0",
    ),
    Case(
        "required_size",
        (48, 8),
        (16, 4),
        lambda rng, n: [floats(rng, n), np.zeros(n, np.float32)],
        dimensions=(0, 1),
        factors=(2, 4, 8, 16),
    ),
    Case(
        "group_copy",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(4)],
    ),
    *(
        Case(
            name,
            (192,),
            (48,),
            lambda rng, n: [integers(rng, n), zeros(n), np.int32(100)],
        )
        for name in ("tail_behind_barrier", "store_behind_barrier")
    ),
    Case(
        "event_chain",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n * 3), zeros(n), LocalMemory(12)],
    ),
    Case(
        "event_choice",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(16), np.int32(6)],
    ),
    Case(
        "event_double_buffer",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(8), np.int32(5)],
    ),
    Case(
        "vectors",
        (96,),
        (24,),
        lambda rng, n: [
            _particles(rng, n),
            floats(rng, n * 3),
            np.zeros((n, 4), np.uint32),
            np.array((0.5, -0.25, 0.125, 1.0), cltypes.float4),
        ],
        tolerance=1e-6,
    ),
    Case("image_filter", (24, 24), (24, 4), _images, dimensions=(0, 1), tolerance=1e-6, needs="images"),
    Case("shared_join", (96,), (24,), lambda rng, n: [integers(rng, n), integers(rng, n), np.int32(1)]),
    Case("local_id_both_ways", (64,), (32,), lambda rng, n: [integers(rng, n), zeros(n)], factors=(2, 4, 8)),
    Case("narrow_ids", (1536,), (768,), lambda rng, n: [zeros(n)], factors=(2, 3, 12)),
    Case(
        "struct_by_value",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(n), _records(rng, 1)[0], _records(rng, 1)[0]],
        wrong_on="pocl",  # PoCL 3.1 keeps one structure for all work-items of a group
    ),
    Case(
        "guarded_rows",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n * 5), zeros(n), np.int32(83), np.int32(5)],
    ),
)
