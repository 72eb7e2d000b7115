"""How much a decision may lose for what it may gain: the names of its rules."""

from __future__ import annotations

import enum


class Risk(enum.StrEnum):
    """A rule for how much may be lost for what may be gained."""

    CAUTIOUS = "cautious"
    NEUTRAL = "neutral"
    BOLD = "bold"

    @property
    def entrant(self) -> str:
        """The name in evaluations of the launch model with this rule."""
        return "launch" if self is Risk.NEUTRAL else f"launch-{self.value}"
