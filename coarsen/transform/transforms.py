"""Which transforms besides replication a coarsening may use, and when."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Use(enum.StrEnum):
    """When a transform is used: where it seems to pay, wherever it is legal, or not at all."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Transforms:
    """The transforms that a coarsening may use.

    Attributes:
        fast_path: run a divergent region once, interleaved, when all replicas take the same side of its branch.
        lock_step: run a divergent loop for all replicas at once for as long as none of them leaves it.
        wide_accesses: one vector access in place of scalar ones to consecutive addresses.
        clean_up: let LLVM's passes remove what the rewriting of ids left over.
    """

    fast_path: Use = Use.AUTO
    lock_step: Use = Use.AUTO
    wide_accesses: bool = False
    clean_up: bool = True


DEFAULT = Transforms()
REPLICATION_ALONE = Transforms(fast_path=Use.NEVER, lock_step=Use.NEVER, clean_up=False)
