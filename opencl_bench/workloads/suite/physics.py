"""Prices, k-space and bodies: much arithmetic for each element.

blackscholes  call and put prices of European options, more options than work-items.
mriQ          sums over k-space samples of |phi|² · exp(2πi · k·x), one complex number per voxel at x.
nbody         one time step of gravity among bodies, every body attracted by every other.
"""

from __future__ import annotations

import math

import numpy as np

from coarsen.opencl_bench.workloads.suite import Buffers, driver
from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import buffers, float32, round_up, uint32, uniform, unwritten

INTEREST = 0.02
VOLATILITY = 0.30


def _blackscholes(buffers: Buffers) -> Buffers:
    return _prices(*(buffers[name].astype(np.float64) for name in ("prices", "strikes", "years")))


def _prices(prices: Array, strikes: Array, years: Array) -> dict[str, Array]:
    deviation = VOLATILITY * np.sqrt(years)
    first = (np.log(prices / strikes) + (INTEREST + VOLATILITY**2 / 2) * years) / deviation
    second = first - deviation
    discounted = strikes * np.exp(-INTEREST * years)
    in_the_money, above_strike = _cumulative_normal(first), _cumulative_normal(second)
    calls = prices * in_the_money - discounted * above_strike
    puts = discounted * (1 - above_strike) - prices * (1 - in_the_money)
    return {"calls": calls.astype(np.float32), "puts": puts.astype(np.float32)}


def _cumulative_normal(values: Array) -> Array:
    """The cumulative normal distribution by the complementary error function, which the kernel does without."""
    scaled = values * -math.sqrt(0.5)
    return np.fromiter(map(math.erfc, scaled), np.float64, len(scaled)) / 2


BLACKSCHOLES = driver("blackscholes", _blackscholes)


# mriQ: sums over k-space samples of |phi|² · exp(2πi · k·x), one complex number per voxel at x.
#
# The samples come in chunks that fit constant memory, one launch each.

SAMPLES_PER_CHUNK = 1024
VOXELS_PER_STEP = 1024


def _make_mri_q(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """A sample is (k_x, k_y, k_z, |phi|²); the voxels lie in a cube of side 1."""
    voxels = round_up(size["voxels"], local_size[0])
    samples = uniform(generator, -4, 4, (size["samples"], 4))
    samples[:, 3] = uniform(generator, 0, 1, size["samples"])
    places = {f"voxels_{axis}": uniform(generator, -0.5, 0.5, voxels) for axis in "xyz"}
    begun = {"q_real": uniform(generator, -1, 1, voxels), "q_imaginary": uniform(generator, -1, 1, voxels)}
    starts = range(0, len(samples), SAMPLES_PER_CHUNK)
    chunks = {f"samples_{i}": samples[start : start + SAMPLES_PER_CHUNK] for i, start in enumerate(starts)}

    def reference() -> dict[str, Array]:
        q = _sampled_transform(
            samples.astype(np.float64), np.stack(list(places.values()), axis=1).astype(np.float64)
        )
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


def _sampled_transform(samples: Array, places: Array) -> Array:
    """The complex sums, for some voxels at a time to bound the memory."""
    sums = np.empty(len(places), np.complex128)
    for start in range(0, len(places), VOXELS_PER_STEP):
        voxels = slice(start, start + VOXELS_PER_STEP)
        sums[voxels] = np.exp(2j * np.pi * (places[voxels] @ samples[:, :3].T)) @ samples[:, 3]
    return sums


MRI_Q = Benchmark(
    name="mriQ",
    dimensions=(0,),
    presets={
        # More samples than a chunk holds, in chunks of unequal length.
        "test": Preset({"voxels": 384, "samples": 1100}, (192,)),
        "cpu": Preset({"voxels": 4096, "samples": 1536}, (64,)),
        "paper": Preset({"voxels": 1 << 19, "samples": 2048}, (256,), feasible=False),
        "gpu": Preset({"voxels": 1 << 20, "samples": 2048}, (256,), feasible=False),
    },
    make_workload=_make_mri_q,
    local_sizes=((32,), (64,), (128,), (256,)),
)


TIME_STEP = 0.05
SOFTENING_SQUARED = 0.01


def _make_nbody(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Positions are (x, y, z, mass) in a cube of side 2; the masses add up to about the number 1."""
    bodies = round_up(size["bodies"], local_size[0])
    positions = uniform(generator, -1, 1, (bodies, 4))
    positions[:, 3] = uniform(generator, 0.5, 1.5, bodies) / np.float32(bodies)
    velocities = uniform(generator, -1, 1, (bodies, 4))

    def reference() -> dict[str, Array]:
        return _nbody_step(positions.astype(np.float64), velocities.astype(np.float64))

    arguments = (
        *buffers("positions", "velocities"), *uint32(bodies), *float32(TIME_STEP, SOFTENING_SQUARED),
        *buffers("new_positions", "new_velocities"),
    )  # fmt: skip
    return Workload(
        buffers={
            "positions": positions,
            "velocities": velocities,
            "new_positions": unwritten((bodies, 4), np.float32),
            "new_velocities": unwritten((bodies, 4), np.float32),
        },
        launches=(Launch("nbody", (bodies,), local_size, arguments),),
        outputs=("new_positions", "new_velocities"),
        reference=reference,
        relative_tolerance=1e-4,
        absolute_tolerance=2e-6,
    )


def _nbody_step(positions: Array, velocities: Array) -> dict[str, Array]:
    acceleration = np.empty_like(positions[:, :3])
    for body, position in enumerate(positions):
        distance = positions[:, :3] - position[:3]
        weight = positions[:, 3] / (np.sum(distance**2, axis=1) + np.float32(SOFTENING_SQUARED)) ** 1.5
        acceleration[body] = weight @ distance
    new_positions, new_velocities = positions.copy(), velocities.copy()
    new_positions[:, :3] += velocities[:, :3] * TIME_STEP + acceleration * (0.5 * TIME_STEP**2)
    new_velocities[:, :3] += acceleration * TIME_STEP
    return {"new_positions": new_positions.astype(np.float32), "new_velocities": new_velocities.astype(np.float32)}


NBODY = Benchmark(
    name="nbody",
    dimensions=(0,),
    presets={
        "test": Preset({"bodies": 384}, (192,)),
        "cpu": Preset({"bodies": 4096}, (64,)),
        "paper": Preset({"bodies": 131072}, (256,), feasible=False),
        "gpu": Preset({"bodies": 131072}, (256,), feasible=False),
    },
    make_workload=_make_nbody,
    local_sizes=((32,), (64,), (128,), (256,)),
)
