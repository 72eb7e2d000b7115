"""mriQ: sums over k-space samples of |phi|² · exp(2πi · k·x), one complex number per voxel at x.

The samples come in chunks that fit constant memory, one launch each.
"""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, round_up, uint32, uniform

SAMPLES_PER_CHUNK = 1024
VOXELS_PER_STEP = 1024


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """A sample is (k_x, k_y, k_z, |phi|²); the voxels lie in a cube of side 1."""
    voxels = round_up(size["voxels"], local_size[0])
    samples = uniform(generator, -4, 4, (size["samples"], 4))
    samples[:, 3] = uniform(generator, 0, 1, size["samples"])
    places = {f"voxels_{axis}": uniform(generator, -0.5, 0.5, voxels) for axis in "xyz"}
    begun = {"q_real": uniform(generator, -1, 1, voxels), "q_imaginary": uniform(generator, -1, 1, voxels)}
    starts = range(0, len(samples), SAMPLES_PER_CHUNK)
    chunks = {f"samples_{i}": samples[start : start + SAMPLES_PER_CHUNK] for i, start in enumerate(starts)}

    def reference() -> dict[str, Array]:
        q = _transform(samples.astype(np.float64), np.stack(list(places.values()), axis=1).astype(np.float64))
        return {
            "q_real": (begun["q_real"] + q.real).astype(np.float32),
            "q_imaginary": (begun["q_imaginary"] + q.imag).astype(np.float32),
        }

    def launch(name: str, chunk: Array) -> Launch:
        arguments = (*buffers(name), *uint32(len(chunk)), *buffers(*places, *begun))
        return Launch("mriQ", (voxels,), local_size, arguments)

    return Workload(
        buffers={**chunks, **places, **begun},
        launches=tuple(launch(name, chunk) for name, chunk in chunks.items()),
        outputs=tuple(begun),
        reference=reference,
        relative_tolerance=1e-5,
        # An angle of some 30 radians is off by 2e-6, and so is each of the terms.
        absolute_tolerance=1e-6 * size["samples"] ** 0.5 + 2e-5,
    )


def _transform(samples: Array, places: Array) -> Array:
    """The complex sums, for some voxels at a time to bound the memory."""
    sums = np.empty(len(places), np.complex128)
    for start in range(0, len(places), VOXELS_PER_STEP):
        voxels = slice(start, start + VOXELS_PER_STEP)
        sums[voxels] = np.exp(2j * np.pi * (places[voxels] @ samples[:, :3].T)) @ samples[:, 3]
    return sums


BENCHMARK = Benchmark(
    name="mriQ",
    dimensions=(0,),
    presets={
        # More samples than a chunk holds, in chunks of unequal length.
        "test": Preset({"voxels": 384, "samples": 1100}, (192,)),
        "cpu": Preset({"voxels": 4096, "samples": 1536}, (64,)),
        "paper": Preset({"voxels": 1 << 19, "samples": 2048}, (256,), feasible=False),
        "gpu": Preset({"voxels": 1 << 20, "samples": 2048}, (256,), feasible=False),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
