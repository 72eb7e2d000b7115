"""A launch of a real program as an input: what it passes, by the names of the kernel's arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.benchmark import Size
from coarsen.opencl_bench.workloads.described.launch_list import (
    PassedArgument,
    PassedBuffer,
    argument_as_data,
)

# Tells the launch among an input's sizes; a whole number that a double holds exactly.
LAUNCH = "recorded_launch"
GLOBAL_SIZE = "recorded_global_size_"
_DIGITS = 13


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """A launch as an input.

    Args:
        launched: how often the program made it.
        sizes: those that the kernel's description names.
        global_size: in work-items, with the description's local size.
        arguments: by their names.
        files: the contents of buffers, by the names of their arguments: in the description's folder or below.
    """

    launched: int
    sizes: Size
    global_size: tuple[int, ...]
    arguments: Mapping[str, PassedArgument]
    files: Mapping[str, str]

    @property
    def number(self) -> int:
        """A number that tells it from others, whatever they are called."""
        passed = {name: argument_as_data(each) for name, each in sorted(self.arguments.items())}
        content = json.dumps([dict(sorted(self.sizes.items())), self.global_size, passed, dict(self.files)])
        return int(hashlib.sha256(content.encode()).hexdigest()[:_DIGITS], 16)

    @property
    def group(self) -> str:
        """Return what inputs with the same sizes have in common.

        A global size tells inputs apart only where the description names no sizes: a program rounds it up to its
        local size, and one size with two local sizes is still one size.
        """
        named = [f"{name}={value}" for name, value in sorted(self.sizes.items())]
        named = named or [f"global={'x'.join(map(str, self.global_size))}"]
        buffers = [
            f"{name}={each.byte_count}" for name, each in self.arguments.items() if isinstance(each, PassedBuffer)
        ]
        return " ".join((*named, *buffers))

    def size(self, takes_global_size: bool) -> dict[str, int]:
        """Return the sizes of the input's preset; with the global size where the description doesn't say it."""
        extents = {f"{GLOBAL_SIZE}{i}": extent for i, extent in enumerate(self.global_size)}
        return {**self.sizes, **(extents if takes_global_size else {}), LAUNCH: self.number}
