"""What every set of features has in common: named values, with what each one is, at some factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class FeatureDescription:
    """A feature's name, what it measures and its unit."""

    name: str
    description: str
    unit: str


def described(description: str, unit: str) -> float:
    """Return a field without default, of a feature; mypy takes it as the float that it will hold."""
    value: float = field(metadata={"description": description, "unit": unit})
    return value


@dataclass(frozen=True)
class FeatureValues:
    """The features of one kernel at one factor: a subclass names each by a `described` field."""

    @classmethod
    def descriptions(cls) -> tuple[FeatureDescription, ...]:
        """Return what each feature is, in their order."""
        return tuple(
            FeatureDescription(feature.name, feature.metadata["description"], feature.metadata["unit"])
            for feature in fields(cls)
        )

    def vector(self) -> NDArray[np.float64]:
        """Return the values as an array of shape (features,), in the order of the descriptions."""
        return np.array(list(vars(self).values()), dtype=np.float64)

    def by_name(self) -> Mapping[str, float]:
        """Return the values by feature name, in the order of the descriptions."""
        return dict(vars(self))


Values = TypeVar("Values", bound=FeatureValues)


class RowsByFactor(Generic[Values]):
    """The features of a kernel at some factors: a subclass is a dataclass with these two fields, or more.

    `kernel` is the kernel's name, `rows` the features by factor, in rising order of the factors.
    """

    kernel: str
    rows: Mapping[int, Values]

    @property
    def factors(self) -> tuple[int, ...]:
        """The factors that the table covers."""
        return tuple(self.rows)

    def at(self, factor: int) -> Values:
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
