"""Interface of what chooses a version by an input's features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Chooser(Protocol):
    """Chooses among the versions of the matrix that it was fitted to."""

    def version(self, features: Mapping[str, float]) -> int:
        """Return the number of the version for an input of these features."""
        ...
