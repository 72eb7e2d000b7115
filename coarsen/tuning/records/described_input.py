"""An input that is tuned over, described: a preset of a benchmark, which no measurement's key depends on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

Numbers = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class DescribedInput:
    """The parameters and the features of an input.

    Attributes:
        benchmark: the benchmark's name.
        preset: the name of the input among its presets.
        seed: of the contents.
        parameters: what it was made from, by name: sizes, and settings of the contents.
        features: what is known of it where a version is chosen, by name.
    """

    benchmark: str
    preset: str
    seed: int
    parameters: tuple[tuple[str, int], ...]
    features: Numbers

    @property
    def key(self) -> str:
        """Return the SHA-256, in hexadecimal digits, of what names it: benchmark, preset and seed."""
        text = json.dumps([self.benchmark, self.preset, self.seed])
        return hashlib.sha256(text.encode()).hexdigest()
