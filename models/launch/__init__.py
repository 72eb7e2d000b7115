"""The launch model: the launch to use for a kernel on a device, against its best uncoarsened local size.

A launch is coarsenings along dimensions (factor, stride, level), wide accesses and a local size. `METHOD.md` says
how it is made and judged. Prediction needs NumPy alone; `growing`, `training` and `evaluation` need scikit-learn,
and are not imported from here.
"""

from __future__ import annotations

import enum
from pathlib import Path

# Of the two files, which lie in the folder.
NAME = "launch"
SHIPPED = Path(__file__).parent / "data"


class Risk(enum.StrEnum):
    """A rule for how much a decision may lose for what it may gain."""

    CAUTIOUS = "cautious"
    NEUTRAL = "neutral"
    BOLD = "bold"

    @property
    def entrant(self) -> str:
        """The name in evaluations of the launch model with this rule."""
        return "launch" if self is Risk.NEUTRAL else f"launch-{self.value}"


def has_launch(folder: Path = SHIPPED) -> bool:
    """Return True if a folder holds a launch model."""
    return (folder / f"{NAME}.safetensors").exists()
