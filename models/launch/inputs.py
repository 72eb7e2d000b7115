"""The inputs that the trees see of a launch.

    before, after ─▶ configuration, change of work, patterns of access, plan, filling of the device, analytic model
    uncoarsened   ─▶ the kernel, the launch, and how it lies among the local sizes that are compared

All is relative: to the uncoarsened launch, to a total, to the device. Of the device nothing enters but its kind,
and what its profile makes of a launch. Counts go in as logarithms (base 2); what isn't known is 0, with a flag.
Inputs are rounded to half precision, so that thresholds between them can be stored in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from coarsen.cost.work_counts import InstructionClass
from coarsen.features.kernel_facts import DIVERGENCE_FACTS, KERNEL_FACTS
from coarsen.models.launch.input_values import (
    ACCESS_NAMES,
    GATHER_NAMES,
    LEVELS,
    PARTS,
    VECTOR_NAMES,
    Pair,
    accesses_change,
    accesses_values,
    analytic_values,
    caches_values,
    code_values,
    configuration_values,
    device_values,
    divergence_values,
    filling_values,
    gather_values,
    kernel_values,
    launch_analytic_values,
    launch_values,
    patterns_values,
    plan_values,
    time_values,
    vector_values,
    work_values,
)
from coarsen.models.launch.planning import PATTERNS, PLAN_COSTS, DescribedLaunch
from coarsen.models.trees.arrays import Array, Rows, in_half_precision
from coarsen.variant.coarsening import DIMENSIONS

_CLASSES = tuple(kind.value for kind in InstructionClass)
_DIMENSION_NAMES = tuple(str(dimension) for dimension in range(DIMENSIONS))

_Subject = TypeVar("_Subject")


@dataclass(frozen=True, slots=True)
class InputGroup(Generic[_Subject]):
    """Inputs that belong together, and can be left out together.

    Attributes:
        name: of the group.
        names: of its inputs.
        values: gives as many numbers.
    """

    name: str
    names: tuple[str, ...]
    values: Callable[[_Subject], Sequence[float]]


def coarsening_row(pair: Pair) -> Array:
    """Return the inputs of a coarsened launch, (number of `COARSENING_INPUTS`,)."""
    return _row(COARSENING_GROUPS, pair)


def local_size_rows(uncoarsened: Sequence[DescribedLaunch]) -> Rows:
    """Return the inputs of a kernel's uncoarsened launches, (launches, number of `LOCAL_SIZE_INPUTS`).

    What depends on the local size stands there twice: as it is, and less its mean over these launches.
    """
    plain = np.array([_row(_LAUNCH_GROUPS, launch) for launch in uncoarsened])
    kernel = np.array([_row((*_KERNEL_GROUPS, _CODE_GROUP), launch) for launch in uncoarsened])
    return in_half_precision(np.concatenate([plain, plain - plain.mean(axis=0), kernel], axis=1))


def kernel_place(launch: DescribedLaunch) -> Array:
    """Return where a kernel lies among others, whatever its launch: (number of kernel inputs,)."""
    return _row(_KERNEL_GROUPS, launch)


def _row(groups: Sequence[InputGroup[_Subject]], subject: _Subject) -> Array:
    values = [list(group.values(subject)) for group in groups]
    for group, found in zip(groups, values, strict=True):
        assert len(found) == len(group.names), group.name
    return np.array([value for found in values for value in found], dtype=np.float64)


def _before(values: Callable[[DescribedLaunch], Sequence[float]]) -> Callable[[Pair], Sequence[float]]:
    return lambda pair: values(pair.before)


def _after(values: Callable[[DescribedLaunch], Sequence[float]]) -> Callable[[Pair], Sequence[float]]:
    return lambda pair: values(pair.after)


_ANALYTIC_NAMES = (
    "profile is known",
    "analytic speed-up",
    *(f"growth of {part} time" for part in PARTS),
    *(f"{part} share before" for part in PARTS),
    *(f"{part} share after" for part in PARTS),
)
_KERNEL_NAMES = (
    "work",
    *(f"share of {kind}" for kind in _CLASSES),
    *("bytes for each instruction", "barriers", "atomics", "local memory", "live words", "parallelism"),
    *("dependent accesses", "something unknown"),
    *(f"{pattern} accesses" for pattern in PATTERNS),
)
_KERNEL_GROUPS: tuple[InputGroup[DescribedLaunch], ...] = (
    InputGroup("kernel", _KERNEL_NAMES, kernel_values),
    InputGroup(
        "caches", ("footprint is known", *(f"footprint over level {n + 1}" for n in range(LEVELS))), caches_values
    ),
    InputGroup("device", ("is GPU", "vectorises work-items"), device_values),
)
_CODE_GROUP = InputGroup("code", KERNEL_FACTS, code_values)
_LAUNCH_GROUPS: tuple[InputGroup[DescribedLaunch], ...] = (
    InputGroup(
        "launch",
        (
            *(f"local extent {name}" for name in _DIMENSION_NAMES),
            *("group size", "groups for each unit", "idle share", "lanes left over"),
        ),
        launch_values,
    ),
    InputGroup(
        "analytic",
        ("profile is known", "analytic time", *(f"{part} share" for part in PARTS)),
        launch_analytic_values,
    ),
    InputGroup("time", ("whole time", "time of a group"), time_values),
    InputGroup("vectors", VECTOR_NAMES, vector_values),
)
COARSENING_GROUPS: tuple[InputGroup[Pair], ...] = (
    InputGroup(
        "configuration",
        (
            *(f"factor of items along {name}" for name in _DIMENSION_NAMES),
            *(f"factor of groups along {name}" for name in _DIMENSION_NAMES),
            *("merged items", "merged groups", "merged", "stride", "wide accesses"),
        ),
        configuration_values,
    ),
    InputGroup(
        "work",
        (
            "growth of work",
            *(f"change of {kind}" for kind in _CLASSES),
            *("growth of bytes", "growth of dependent operations", "growth of dependent accesses"),
            *("growth of barriers", "growth of live words", "live words after", "parallelism after"),
        ),
        work_values,
    ),
    InputGroup(
        "patterns",
        (
            *(f"{pattern} before" for pattern in PATTERNS),
            *(f"{pattern} after" for pattern in PATTERNS),
            "copies that touch",
        ),
        patterns_values,
    ),
    InputGroup("plan", tuple(f"plan: {name}" for name in PLAN_COSTS), plan_values),
    InputGroup(
        "filling",
        (
            *(
                "groups for each unit before",
                "groups for each unit after",
                "idle share before",
                "idle share after",
            ),
            *("items for each lane", "group size after"),
            *(f"local extent {name} after" for name in _DIMENSION_NAMES),
            *("vectors along 0", "lanes left over"),
        ),
        filling_values,
    ),
    InputGroup("analytic", _ANALYTIC_NAMES, analytic_values),
    InputGroup("accesses", tuple(f"{name} before" for name in ACCESS_NAMES), _before(accesses_values)),
    InputGroup("accesses", tuple(f"{name} after" for name in ACCESS_NAMES), _after(accesses_values)),
    InputGroup("accesses", ("growth of moved bytes", "moved bytes", "growth of accesses"), accesses_change),
    InputGroup("time", ("whole time before", "time of a group before"), _before(time_values)),
    InputGroup("time", ("whole time after", "time of a group after"), _after(time_values)),
    InputGroup("vectors", tuple(f"{name} after" for name in VECTOR_NAMES), _after(vector_values)),
    InputGroup("gathers", GATHER_NAMES, gather_values),
    InputGroup("divergence", DIVERGENCE_FACTS, divergence_values),
    *(InputGroup(group.name, group.names, _before(group.values)) for group in (*_KERNEL_GROUPS, _CODE_GROUP)),
)
"""The inputs of a coarsened launch."""


def _columns(groups: Sequence[InputGroup[_Subject]]) -> tuple[tuple[str, str], ...]:
    return tuple((group.name, name) for group in groups for name in group.names)


COARSENING_INPUTS = _columns(COARSENING_GROUPS)
"""Group and name of each input of a coarsened launch."""
LOCAL_SIZE_INPUTS = (
    *_columns(_LAUNCH_GROUPS),
    *((group, f"{name}, less the mean") for group, name in _columns(_LAUNCH_GROUPS)),
    *_columns((*_KERNEL_GROUPS, _CODE_GROUP)),
)
"""Group and name of each input of an uncoarsened launch."""
PLACE_NAMES = tuple(name for _, name in _columns(_KERNEL_GROUPS))
