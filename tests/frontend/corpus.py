"""The kernels beside this file, each with arguments and sizes of a launch, for tests that run them on a device.

Inputs come from a fixed seed; the results do not depend on the order in which work-items run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

FOLDER = Path(__file__).parent / "kernels"
GLOBAL_ITEMS = 128
GROUP_ITEMS = 32


@dataclass(frozen=True)
class LocalMemory:
    """A `local` pointer argument; its size in bytes, for a work-group of `GROUP_ITEMS` uncoarsened items."""

    size: int


@dataclass(frozen=True)
class ReadImage:
    """An image to read: float RGBA pixels, shape (height, width, 4)."""

    pixels: np.ndarray[Any, Any]


@dataclass(frozen=True)
class WrittenImage:
    """An image of float RGBA pixels to write; shape (height, width, 4)."""

    pixels: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel of the corpus.

    An argument is a NumPy array (a buffer, compared afterwards), a NumPy scalar (or structure, as a void scalar),
    or one of the classes above.
    """

    file: str
    kernel: str
    arguments: tuple[Any, ...]
    global_size: tuple[int, ...] = (GLOBAL_ITEMS,)
    local_size: tuple[int, ...] = (GROUP_ITEMS,)
    options: str = ""
    tolerance: float = 2e-5  # relative, of floating-point results

    @property
    def path(self) -> Path:
        """The kernel's source file."""
        return FOLDER / self.file

    @property
    def uses_images(self) -> bool:
        """Whether a device needs images for it."""
        return any(isinstance(argument, ReadImage | WrittenImage) for argument in self.arguments)


def run(launch: Launch, program: cl.Program, queue: cl.CommandQueue) -> list[np.ndarray[Any, Any]]:
    """Run a built program's kernel and give back every buffer and written image, in the order of the arguments."""
    context = queue.context
    objects = [_device_object(context, argument) for argument in launch.arguments]
    kernel = cl.Kernel(program, launch.kernel)
    kernel(queue, launch.global_size, launch.local_size, *objects)
    results = []
    for argument, handle in zip(launch.arguments, objects, strict=True):
        if isinstance(argument, np.ndarray):
            result = np.empty_like(argument)
            cl.enqueue_copy(queue, result, handle)
            results.append(result)
        elif isinstance(argument, WrittenImage):
            pixels = np.empty_like(argument.pixels)
            cl.enqueue_copy(queue, pixels, handle, origin=(0, 0), region=pixels.shape[1::-1])
            results.append(pixels)
    queue.finish()
    return results


def assert_same(left: list[np.ndarray[Any, Any]], right: list[np.ndarray[Any, Any]], launch: Launch) -> None:
    """Fail where two runs differ by more than the launch's tolerance."""
    for index, (one, other) in enumerate(zip(left, right, strict=True)):
        message = f"{launch.kernel}: output {index} differs"
        if one.dtype.names:
            for field in one.dtype.names:
                np.testing.assert_allclose(one[field], other[field], launch.tolerance, 1e-5, err_msg=message)
        elif one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, launch.tolerance, 1e-5, err_msg=message)
        else:
            np.testing.assert_array_equal(one, other, err_msg=message)


def _device_object(context: cl.Context, argument: Any) -> Any:  # noqa: ANN401
    flags = cl.mem_flags.COPY_HOST_PTR
    if isinstance(argument, np.ndarray):
        return cl.Buffer(context, cl.mem_flags.READ_WRITE | flags, hostbuf=argument.copy())
    if isinstance(argument, LocalMemory):
        return cl.LocalMemory(argument.size)
    if isinstance(argument, ReadImage | WrittenImage):
        mode = cl.mem_flags.READ_ONLY if isinstance(argument, ReadImage) else cl.mem_flags.WRITE_ONLY
        pixels = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
        return cl.create_image(
            context, mode | flags, pixels, shape=argument.pixels.shape[1::-1], hostbuf=argument.pixels
        )
    return argument


@cache
def launches() -> dict[str, Launch]:
    """A launch of every kernel of the corpus, by the kernel's name."""
    found: dict[str, Launch] = {}
    for make in _MAKERS:
        for launch in make(np.random.default_rng(20140817)):
            found[launch.kernel] = launch
    return found


def _atomics(random: np.random.Generator) -> list[Launch]:
    values = random.integers(0, 256, 1000, dtype=np.uint8)
    left, right = (random.integers(-(2**30), 2**30, GLOBAL_ITEMS, dtype=np.int32) for _ in range(2))
    starts = np.arange(0, 4 * GLOBAL_ITEMS + 1, 4, dtype=np.int32)
    edges = random.integers(0, GLOBAL_ITEMS, 4 * GLOBAL_ITEMS, dtype=np.int32)
    level = np.where(np.arange(GLOBAL_ITEMS) % 9 == 0, 2, -1).astype(np.int32)
    nodes = np.int32(GLOBAL_ITEMS)
    return [
        Launch("histogram.cl", "histogram", (values, np.zeros(256, np.uint32), np.uint32(1000))),
        Launch("atomics_64.cl", "wide_statistics", (left, right, np.zeros(4, np.int64))),
        Launch(
            "breadth_first.cl", "breadth_first", (starts, edges, level, np.zeros(1, np.int32), np.int32(2), nodes)
        ),
    ]


def _images(random: np.random.Generator) -> list[Launch]:
    pixels = random.random((12, 20, 4), dtype=np.float32)
    weights = random.random(9, dtype=np.float32)
    arguments = (ReadImage(pixels), WrittenImage(np.zeros_like(pixels)), weights)
    planar = random.random(3 * GLOBAL_ITEMS, dtype=np.float32)
    packed, unpacked = np.zeros(4 * GLOBAL_ITEMS, np.uint8), np.zeros(GLOBAL_ITEMS, np.float32)
    pixel_count = 16 * 16
    fractal = (np.zeros((pixel_count, 4), np.uint8), np.zeros(pixel_count, np.int32))
    view = (np.float32(-2.1), np.float32(-1.3), np.float32(0.17), np.int32(60))
    return [
        Launch("image_convolution.cl", "image_convolution", arguments, (24, 16), (8, 4)),
        Launch("pack_pixels.cl", "pack_pixels", (planar, packed, unpacked, np.float32(300))),
        Launch("mandelbrot.cl", "mandelbrot", (*fractal, *view), (16, 16), (8, 4)),
    ]


def _sorting(random: np.random.Generator) -> list[Launch]:
    numbers = random.integers(-100, 100, 2 * GLOBAL_ITEMS, dtype=np.int32)
    sums = np.zeros(GLOBAL_ITEMS // GROUP_ITEMS, np.int32)
    keys = random.permutation(GLOBAL_ITEMS).astype(np.uint32)
    scan = (numbers, np.zeros_like(numbers), sums, LocalMemory(8 * GROUP_ITEMS))
    return [
        Launch("prefix_sum.cl", "prefix_sum", scan),
        Launch("bitonic_sort.cl", "bitonic_sort", (keys, keys * 3), options=f"-D BLOCK={GROUP_ITEMS}"),
    ]


def _numbers(random: np.random.Generator) -> list[Launch]:
    rows = 100
    lengths = random.integers(0, 7, rows)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = random.integers(-1, rows, starts[-1], dtype=np.int32)
    entries = random.random(starts[-1], dtype=np.float32)
    vector, product = random.random(rows, dtype=np.float32), np.full(rows, -1, np.float32)
    grid = random.random((16, 24))
    halves = random.random(4 * GLOBAL_ITEMS).astype(np.float16)
    half_sums = np.zeros(GLOBAL_ITEMS, np.float32)
    waves = random.normal(size=GLOBAL_ITEMS).astype(np.float32)
    return [
        Launch("sparse_rows.cl", "sparse_rows", (entries, columns, starts, vector, product, np.int32(rows))),
        Launch(
            "jacobi.cl",
            "jacobi",
            (grid, np.zeros_like(grid), np.zeros_like(grid), np.int32(24), np.int32(16)),
            (24, 16),
            (8, 8),
        ),
        Launch("half_storage.cl", "half_storage", (halves, np.zeros_like(halves), half_sums, np.float32(0.75))),
        # What native functions give may differ from one vector width to another.
        Launch("waves.cl", "waves", (waves, np.zeros_like(waves), np.zeros_like(waves)), tolerance=1e-3),
    ]


def _integers(random: np.random.Generator) -> list[Launch]:
    words = random.integers(0, 2**32, 16 * GLOBAL_ITEMS, dtype=np.uint32)
    digests = np.zeros((GLOBAL_ITEMS, 4), np.uint32)
    numbers = np.zeros(5 * GLOBAL_ITEMS, np.float32)
    program = np.array([5, 0, 3, 0, 2, 0, 0, 7, 1, 0, 5, 0, 7, 1, 6, 6, 4, 0, 1, 0, 8, 0], np.int32)
    results = np.zeros(GLOBAL_ITEMS, np.int32)
    text = random.choice(np.frombuffer(b"abc", np.int8), GLOBAL_ITEMS)
    pattern = np.frombuffer(b"a?b", np.int8).copy()
    return [
        Launch("integer_mixing.cl", "integer_mixing", (words, digests, np.uint32(99))),
        Launch("mersenne_twister.cl", "mersenne_twister", (words[:GLOBAL_ITEMS].copy(), numbers, np.int32(5))),
        Launch(
            "interpreter.cl",
            "interpreter",
            (program, np.arange(GLOBAL_ITEMS, dtype=np.int32), results, np.int32(99)),
        ),
        Launch("n_queens.cl", "n_queens", (np.zeros(GROUP_ITEMS, np.uint32), np.int32(6)), (GROUP_ITEMS,), (8,)),
        Launch(
            "string_match.cl",
            "string_match",
            (text, np.int32(GLOBAL_ITEMS), pattern, np.int32(3), LocalMemory(16), np.zeros(1, np.int32), results),
        ),
    ]


def _structures(random: np.random.Generator) -> list[Launch]:
    table = np.zeros(1, np.dtype([("weight", "f4", 4), ("offset", "i4", 4), ("tag", "i1"), ("rest", "i1", 3)]))
    table["weight"], table["offset"], table["tag"] = [3, 1, -1, 2], [1, 0, 2, 3], ord("b")
    values = random.random(GLOBAL_ITEMS + 4, dtype=np.float32)
    output = np.zeros(GLOBAL_ITEMS, np.float32)
    particle = np.dtype(
        [("position", "f4", 4), ("velocity", "f4", 4), ("cell", "i4"), ("alive", "i4"), ("rest", "i8")]
    )
    particles = np.zeros(GLOBAL_ITEMS, particle)
    particles["position"], particles["velocity"] = random.normal(size=(2, GLOBAL_ITEMS, 4))
    particles["alive"] = random.integers(0, 4, GLOBAL_ITEMS)
    settings = np.zeros(
        (), np.dtype([("gravity", "f4", 4), ("step", "f4"), ("size", "f4"), ("cells", "i4"), ("rest", "i4")])
    )
    settings["gravity"], settings["step"], settings["size"], settings["cells"] = [0, -9.8, 0, 0], 0.1, 0.5, 8
    spheres = np.array([[0, 0, 3, 1], [1, 0.5, 4, 0.8], [-0.5, 0, 5, 2]], np.float32)
    directions = (random.normal(size=(GLOBAL_ITEMS, 4)) * 0.2 + [0, 0, 1, 0]).astype(np.float32)
    return [
        Launch("constant_tables.cl", "constant_tables", (values, table, output, np.int32(1))),
        Launch("particles.cl", "particles", (particles, settings[()])),
        Launch("rays.cl", "rays", (spheres, np.int32(3), directions, output, np.zeros_like(directions))),
    ]


def _dialects(random: np.random.Generator) -> list[Launch]:
    data = random.integers(-50, 50, GLOBAL_ITEMS, dtype=np.int32)
    volume = random.integers(-9, 9, (8, 12, 8), dtype=np.int32)
    values = random.normal(size=GLOBAL_ITEMS).astype(np.float32)
    shaped = Launch("calls.cl", "shape", (values, np.float32(0.25)))
    return [
        Launch("generic_pointers.cl", "generic_pointers", (data, data * 0, np.int32(8)), options="-cl-std=CL2.0"),
        Launch("volume_sum.cl", "volume_sum", (volume, volume * 0), (8, 12, 8), (4, 4, 4)),
        shaped,
        replace(shaped, kernel="shape_and_scale", arguments=(*shaped.arguments, np.float32(3))),
    ]


_MAKERS: tuple[Callable[[np.random.Generator], list[Launch]], ...] = (
    *(_atomics, _images, _sorting, _numbers),
    *(_integers, _structures, _dialects),
)
