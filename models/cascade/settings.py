"""The choices that a cascade leaves: its networks, its features, its components.

`PUBLISHED` is the paper's cascade; the others are evaluated beside it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURE_SET_VERSION, PUBLISHED_FEATURE_SET_VERSION
from coarsen.features.feature_vector import check_feature_set


class Networks(enum.StrEnum):
    """The networks of a cascade."""

    ONE = "one"
    PER_FACTOR = "per-factor"


@dataclass(frozen=True)
class CascadeSettings:
    """How a cascade is built.

    Args:
        networks: one that is asked at every factor (PACT 2014, section 6.2), or one for each factor.
        feature_set: the version of the 17 features; 2 is that of the paper.
        components: how many principal components are kept; None: the fewest that hold 95 % of the variance.
    """

    networks: Networks = Networks.ONE
    feature_set: int = PUBLISHED_FEATURE_SET_VERSION
    components: int | None = None

    def __post_init__(self) -> None:
        check_feature_set(self.feature_set)
        if self.components is not None and self.components < 1:
            raise InvalidInputError("a cascade needs at least one component")


PUBLISHED = CascadeSettings()
# As many components as the paper's table 4 lists.
PUBLISHED_COMPONENTS = 7
VARIANTS: Mapping[str, CascadeSettings] = MappingProxyType(
    {
        "cascade": PUBLISHED,
        "cascade-seven": CascadeSettings(components=PUBLISHED_COMPONENTS),
        "cascade-per-factor": CascadeSettings(Networks.PER_FACTOR),
        "cascade-first": CascadeSettings(Networks.PER_FACTOR, FEATURE_SET_VERSION),
    }
)
"""The cascades that are evaluated, by their names there."""
