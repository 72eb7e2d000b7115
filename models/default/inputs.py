"""What the forest sees of a kernel on a device at one factor, and which inputs belong to one feature.

    17 features at factor 1            log2(1 + v)
    their growth                       v(f) / (f · v(1)), 1 where v(1) is 0
    mechanism features at factor 1     sign(v) · log2(1 + |v|)
    mechanism features at factor f     sign(v) · log2(1 + |v|)
    launch                             log2 f, the dimension (the mechanism features hold the work-group's size)
    device                             its descriptor, log2(1 + v)

All inputs are rounded to half precision, so that thresholds between them can be stored in half precision without
changing an answer. Counts go in as logarithms because a tree that draws its thresholds at random would spend them
all on the few kernels with the largest counts. A logarithm keeps the order, so what a tree can tell apart stays
the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coarsen.features import FACTORS, FEATURES, MECHANISM_FEATURES, FeatureTable, MechanismTable
from coarsen.models.device_descriptors import DESCRIPTOR_FEATURES, DeviceDescriptor
from coarsen.models.trees.arrays import Array as Array
from coarsen.models.trees.arrays import Rows as Rows
from coarsen.models.trees.arrays import in_half_precision

COARSENED = FACTORS[1:]
LAUNCH = ("log2_factor", "dimension")
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)
MECHANISM_NAMES = tuple(feature.name for feature in MECHANISM_FEATURES)

INPUT_NAMES: tuple[str, ...] = (
    *FEATURE_NAMES,
    *(f"{name} growth" for name in FEATURE_NAMES),
    *MECHANISM_NAMES,
    *(f"{name} at factor" for name in MECHANISM_NAMES),
    *LAUNCH,
    *DESCRIPTOR_FEATURES,
)


def _columns_by_feature() -> Mapping[str, tuple[int, int]]:
    paper, mechanism = len(FEATURE_NAMES), len(MECHANISM_NAMES)
    start = 2 * paper
    of_paper = {name: (index, index + paper) for index, name in enumerate(FEATURE_NAMES)}
    of_mechanism = {name: (start + index, start + index + mechanism) for index, name in enumerate(MECHANISM_NAMES)}
    return {**of_paper, **of_mechanism}


# A feature's two inputs, for each of the 17 features and each mechanism feature.
COLUMNS_OF_FEATURE: Mapping[str, tuple[int, int]] = _columns_by_feature()


def input_rows(
    table: FeatureTable,
    mechanism: MechanismTable,
    descriptor: DeviceDescriptor,
    factors: Sequence[int] = COARSENED,
) -> Rows:
    """Return the inputs of a kernel on a device, shape (len(factors), len(INPUT_NAMES)).

    Raises:
        InvalidInputError: a table lacks factor 1 or one of the factors.
    """
    count = len(factors)
    before = table.at(1).vector()
    growth = np.stack([_growth(before, table.at(factor).vector(), factor) for factor in factors])
    kernel = _repeated(compressed(before), count)
    mechanism_before = _repeated(compressed(mechanism.at(1).vector()), count)
    mechanism_after = compressed(np.stack([mechanism.at(factor).vector() for factor in factors]))
    launch = np.array([[np.log2(factor), table.dimension] for factor in factors])
    device = _repeated(compressed(descriptor.vector()), count)
    columns = [kernel, growth, mechanism_before, mechanism_after, launch, device]
    return in_half_precision(np.concatenate(columns, axis=1))


def kernel_point(table: FeatureTable, mechanism: MechanismTable) -> Array:
    """Return where a kernel lies among others, whatever the device: its inputs at factor 1, shape (k,)."""
    values = np.concatenate([table.at(1).vector(), mechanism.at(1).vector()])
    return np.append(compressed(values), float(table.dimension))


POINT_NAMES: tuple[str, ...] = (*FEATURE_NAMES, *MECHANISM_NAMES, "dimension")


def compressed(values: Array) -> Array:
    """sign(v) · log2(1 + |v|)."""
    return np.sign(values) * np.log2(1.0 + np.abs(values))


def _growth(before: Array, after: Array, factor: int) -> Array:
    nothing = before == 0.0
    return np.where(nothing, 1.0, after / (factor * np.where(nothing, 1.0, before)))


def _repeated(values: Array, count: int) -> Array:
    return np.tile(values, (count, 1))
