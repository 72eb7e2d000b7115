"""Reductions whose launches all take one version, whatever their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.dispatch.tree import Leaf
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file, version_of

FORMS: Mapping[str, Mapping[str, int]] = {
    "lanes": {},
    "group": {"LOCAL": 32, "LANES": 4},
    "groups of lanes": {"GROUPS": 4},
    "strided": {"GROUPS": 16, "LOCAL": 256, "LANES": 4, "ACCESS": 1},
    "blocked": {"GROUPS": 4, "LOCAL": 16, "LANES": 1},
    "64 groups": {"GROUPS": 64, "LANES": 64},
    "256 groups": {"GROUPS": 256, "LOCAL": 32, "LANES": 8, "ACCESS": 1},
    "1024 groups": {"GROUPS": 1024, "LANES": 1},
}
# Of several rows.
BY_ITEM: Mapping[str, int] = {"FORM": 1, "LOCAL": 32, "LANES": 4}


def take(reduction: Reduce, values: Mapping[str, int], device: cl.Device) -> Reduce:
    """Make a reduction take one version on a device, and return it."""
    operation = reduction._operation
    file = default_file(operation, reduction.source, device, is_pinned=False)
    version = version_of(operation, values)
    versions = tuple(dict.fromkeys((file.default_version, version)))
    reduction._files = (replace(file, versions=versions, tree=Leaf(len(versions) - 1)),)
    return reduction


def summed(kind: str, **settings: Any) -> Reduce:  # noqa: ANN401 (as `Reduce` has them)
    """Return a sum of an array of a type of OpenCL C's."""
    return Reduce("a + b", identity="0", arguments=f"const {kind} *x", **settings)


def whole(count: int, dtype: type[np.generic] = np.float32, high: int = 4) -> np.ndarray[Any, Any]:
    """Return whole numbers from 0, whose sums have no rounding."""
    return np.random.default_rng(count).integers(0, high, count).astype(dtype)
