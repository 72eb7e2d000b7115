"""neighbour_force: Lennard-Jones forces of atoms in a periodic-free box on neighbours within a cutoff."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

CUTOFF = 2.5
SPACING = 1.2
# Lists have what is a little farther away as well, for some steps of a simulation.
MARGIN = 0.3
SHIFTS = range(-3, 4)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Atoms stand on a shaken cubic lattice, in no order; neighbours are found among lattice places."""
    side = size["side"]
    atoms = side**3
    names = generator.permutation(atoms)
    places = np.stack(np.unravel_index(np.arange(atoms), (side,) * 3), axis=1)
    shaken = SPACING * places + generator.uniform(-0.1, 0.1, (atoms, 3))
    positions = np.zeros((atoms, 4), np.float32)
    positions[names, :3] = shaken
    neighbours, counts = _lists(positions[:, :3], places, names, side)

    def reference() -> dict[str, Array]:
        return {"forces": _forces(positions[:, :3].astype(np.float64), neighbours, counts)}

    arguments = (
        *buffers("positions", "neighbours", "counts", "forces"),
        *int32(atoms),
        *float32(CUTOFF**2),
    )
    return Workload(
        buffers={
            "positions": positions,
            "neighbours": neighbours,
            "counts": counts,
            "forces": unwritten((atoms, 4), np.float32),
        },
        launches=(Launch("neighbour_force", covering((atoms,), local_size), local_size, arguments),),
        outputs=("forces",),
        reference=reference,
        relative_tolerance=1e-4,
        # Forces of both signs cancel; the largest of one pair is about 50.
        absolute_tolerance=2e-3,
    )


def _lists(positions: Array, places: Array, names: Array, side: int) -> tuple[Array, Array]:
    """The k-th neighbour of each atom in row k, and how many it has; what is not there is atom 0."""
    own: list[tuple[Array, Array]] = []
    for shift in ((x, y, z) for x in SHIFTS for y in SHIFTS for z in SHIFTS if (x, y, z) != (0, 0, 0)):
        other = places + np.array(shift)
        inside = np.flatnonzero(((other >= 0) & (other < side)).all(axis=1))
        first, second = names[inside], names[np.ravel_multi_index(tuple(other[inside].T), (side,) * 3)]
        near = np.square(positions[first] - positions[second]).sum(axis=1) < (CUTOFF + MARGIN) ** 2
        own.append((first[near], second[near]))
    first, second = (np.concatenate(parts) for parts in zip(*own, strict=True))
    order = np.argsort(first, kind="stable")
    counts = np.bincount(first, minlength=len(names))
    ranks = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbours = np.zeros((int(counts.max()), len(names)), np.int32)
    neighbours[ranks, first[order]] = second[order]
    return neighbours, counts.astype(np.int32)


def _forces(positions: Array, neighbours: Array, counts: Array) -> Array:
    """Forces and, in the last component, energies, in double precision."""
    forces = np.zeros((len(positions), 4))
    for k, others in enumerate(neighbours):
        apart = positions - positions[others]
        squared = np.square(apart).sum(axis=1)
        counted = (k < counts) & (squared < np.float32(CUTOFF**2))
        inverse = np.where(counted, 1 / np.where(counted, squared, 1), 0)
        sixth = inverse**3
        forces[:, :3] += (24 * inverse * sixth * (2 * sixth - 1))[:, None] * apart
        forces[:, 3] += 4 * sixth * (sixth - 1)
    return forces.astype(np.float32)


BENCHMARK = judge_benchmark(
    "neighbour_force",
    make_workload,
    {
        "test": Preset({"side": 6}, (64,)),
        "cpu": Preset({"side": 36}, (64,)),
        "gpu": Preset({"side": 64}, (128,)),
    },
    ((32,), (64,), (128,), (256,)),
)
