"""Tuned files with made-up times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.evidence import Evidence
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

VERSIONS = (Variant((64,)), Variant((64,), (Coarsening(4),)), Variant((256,)))
LENGTHS = (1, 16, 256, 4096, 65536)
# The second version takes long to begin with and less for each item; the third fails where there is little to do.
SECONDS = [[1e-6 + 1e-9 * n, 4e-6 + 0.3e-9 * n, np.nan if n < 100 else 5e-6 + 1e-9 * n] for n in LENGTHS]
# Width and height; the first four have their height in common, and no other three do.
SHAPES = ((16, 8), (64, 8), (256, 8), (1024, 8), (32, 128), (512, 32), (90, 33))


def tuned(
    seconds: Sequence[Sequence[float]] = SECONDS, threshold: float = 5000.0, device: str = "a device"
) -> TunedFile:
    """A kernel with one size."""
    points = [InputPoint(f"input-{n}", f"n={n}", {"length": float(n), "order": n % 3 / 2}) for n in LENGTHS]
    features = (Feature("length", "n"), Feature("order", None))
    return _file(points, seconds, features, Split("length", threshold, Leaf(0), Leaf(1)), device)


def tuned_over_shapes() -> TunedFile:
    """A kernel with two sizes, for which the first version is the fastest up to a width of 200."""
    points = [
        InputPoint(f"input-{w}-{h}", f"height={h} width={w}", {"width": float(w), "aspect": w / h})
        for w, h in SHAPES
    ]
    seconds = [[w * h * 1e-9, 200 * h * 1e-9, 4 * w * h * 1e-9] for w, h in SHAPES]
    features = (Feature("width", "width"), Feature("aspect", "width / height"))
    return _file(points, seconds, features, Split("width", 200.0, Leaf(0), Leaf(1)), "a device")


def _file(
    points: Sequence[InputPoint],
    seconds: Sequence[Sequence[float]],
    features: tuple[Feature, ...],
    tree: Tree,
    device: str,
) -> TunedFile:
    times = VersionTimes(tuple(points), VERSIONS, np.array(seconds), 0)
    return TunedFile(
        kernel="scan",
        arguments=tuple(KernelArgument(name, ArgumentKind.WHOLE) for name in ("n", "width", "height")),
        source_hash="0",
        device=device,
        driver="1",
        build_options=(),
        coarsen_version="1",
        features=features,
        versions=tuple(map(TunedVersion, VERSIONS)),
        default=0,
        tree=tree,
        evidence=Evidence("scan.toml", 0.05, times).to_json(),
    )
