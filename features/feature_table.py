"""The 17 static features, in the order of Magni, Dubach and O'Boyle (PACT 2014), table 3, over the factors.

A `Features` holds one value per feature, `FEATURES` says what each one is and in what unit it is counted; a
`FeatureTable` has a kernel's at each factor.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.ir.graph.printer import instruction_text
from coarsen.ir.kernel import Kernel

# A version whose values change for any kernel gets a new number: a model is valid for one version only.
FEATURE_SET_VERSION = 2
"""The version of the 17 features that models are trained on, and are valid for."""

FACTORS = (1, 2, 4, 8, 16, 32)
"""The factors that features are computed at, and that the predictors choose from: 1, 2, 4, 8, 16, 32."""

_METADATA = re.compile(r",? ?!\S+ !\S+|,? ?#\d+\b")
_NAME = re.compile(r'%"[^"]*"|%[-\w$.]+')


@dataclass(frozen=True, slots=True)
class FeatureDescription:
    """A feature's name, what it measures and its unit."""

    name: str
    description: str
    unit: str


def _described(description: str, unit: str) -> float:
    """Return a field without default, of a feature; mypy takes it as the float that it will hold."""
    value: float = field(metadata={"description": description, "unit": unit})
    return value


@dataclass(frozen=True)
class Features:
    """The features of one kernel at one factor (PACT 2014, table 3, in its order)."""

    basic_blocks: float = _described("basic blocks", "blocks")
    branches: float = _described("conditional branches", "instructions")
    divergent_instructions: float = _described(
        "instructions that depend on the thread-id, along any dimension", "instructions"
    )
    divergent_region_instructions: float = _described(
        "instructions in divergent regions, of any dimension", "instructions"
    )
    divergent_region_ratio: float = _described(
        "share of instructions that are in divergent regions, of any dimension", "ratio"
    )
    divergent_regions: float = _described("divergent regions of any dimension, nested ones too", "regions")
    instructions: float = _described("all instructions", "instructions")
    floating_point_instructions: float = _described("floating-point operations", "instructions")
    instruction_level_parallelism: float = _described(
        "instructions per dependence level of a block, phis and branches too", "ratio"
    )
    integer_floating_point_ratio: float = _described("integer by floating-point instructions", "ratio")
    integer_instructions: float = _described("integer operations", "instructions")
    math_builtins: float = _described("calls of mathematical builtins", "calls")
    memory_level_parallelism: float = _described("loads between a load and the first use of its value", "ratio")
    loads: float = _described("loads from memory", "instructions")
    stores: float = _described("stores to memory", "instructions")
    uniform_loads: float = _described("loads uniform along the dimension", "instructions")
    barriers: float = _described("barriers", "calls")

    def vector(self) -> NDArray[np.float64]:
        """Return the values as an array of shape (17,), in the order of `FEATURES`."""
        return np.array(list(vars(self).values()), dtype=np.float64)

    def by_name(self) -> Mapping[str, float]:
        """Return the values by feature name, in the order of `FEATURES`."""
        return dict(vars(self))


FEATURES = tuple(
    FeatureDescription(feature.name, feature.metadata["description"], feature.metadata["unit"])
    for feature in fields(Features)
)
"""What each of the 17 features is and its unit, in the order of table 3."""


@dataclass(frozen=True)
class FeatureTable:
    """The features of a kernel at each factor along one dimension.

    `kernel` is the kernel's name, `rows` the features by factor, in rising order of the factors; `identity` tells
    kernels apart by their code (`kernel_identity`), empty where it is not known.
    """

    kernel: str
    dimension: int
    rows: Mapping[int, Features]
    identity: str = ""

    @property
    def factors(self) -> tuple[int, ...]:
        """The factors that the table covers."""
        return tuple(self.rows)

    def at(self, factor: int) -> Features:
        """Return the features at one factor.

        Raises:
            InvalidInputError: the table does not cover the factor.
        """
        if factor not in self.rows:
            raise InvalidInputError(f"{self.kernel}: there are no features at factor {factor}")
        return self.rows[factor]

    def matrix(self) -> NDArray[np.float64]:
        """Return the features of shape (factors, features)."""
        return np.stack([row.vector() for row in self.rows.values()])

    def delta(self, before: int, after: int) -> NDArray[np.float64]:
        """Return how the features change, relatively, between two factors.

        Args:
            before: a factor of the table.
            after: another one.

        Returns:
            The changes in the order of `FEATURES`, shape (17,); see `relative_delta`.

        Raises:
            InvalidInputError: the table has no such factor.
        """
        return relative_delta(self.at(before).vector(), self.at(after).vector())


def relative_delta(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the relative change (after - before) / before of each feature (Magni et al., PACT 2014).

    Where `before` is 0, which the paper leaves open, the denominator is 1: no change gives 0, growth gives
    the plain difference.

    Args:
        before: the features at one factor, any shape.
        after: those at another, of the same shape.

    Returns:
        The changes, of that shape.
    """
    return (after - before) / np.where(before == 0.0, 1.0, before)


def kernel_identity(kernel: Kernel) -> str:
    """Return the first 16 hexadecimal digits of a SHA-256 that is the same for the same code, however laid out.

    It is of the normal form's blocks and of the arguments' types. Metadata, which differs between versions of
    clang, and the names of values, blocks and the kernel stay out of it.
    """
    numbers: defaultdict[str, str] = defaultdict(map("%{}".format, itertools.count()).__next__)
    arguments = " ".join(str(argument.type) for argument in kernel.arguments)
    for argument in kernel.arguments:
        _ = numbers[f"%{argument.name}"]
    lines = [arguments]
    for block in kernel.blocks:
        lines.append(f"{numbers[f'%{block.name}']}:")
        lines += [
            _NAME.sub(lambda found: numbers[found[0]], _METADATA.sub("", instruction_text(i)))
            for i in block.instructions
        ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
