"""The settings of tuning: how long, over which variants, where what was found is remembered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Level

if TYPE_CHECKING:
    from coarsen.tuning.progress import TuningProgress

_LEVELS = (Level.ITEM, Level.GROUP)


@dataclass(frozen=True, slots=True)
class Tune:
    """The settings of a kernel's tuning.

    Attributes:
        seconds: the most that one kernel's search may take at one class of sizes, with timing the best again in
            new processes.
        trials: the most variants that are tried; None for no limit but the seconds.
        seed: what the search draws from; the same seed asks for the same variants where the times are alike.
        levels: what may be merged: "item" for work-items, "group" for work-groups.
        wide_accesses: whether accesses to consecutive addresses may become one of a vector.
        distinct: whether variants may take it that arguments lead to distinct memory, where that changes the code;
            each launch is checked for it.
        tiles: whether loops may get tiles in local memory, at local sizes that suit them.
        local_sizes: whether other local sizes than the program's own may be taken where the kernel does not care.
        most_bytes: launches whose buffers hold more in all are not tuned: they are copied to the disk and to the
            device once more. None for a part of the memory and of the disk (`most_captured_bytes`).
        store: where what was found is remembered, a file; None for the user's store.
        progress: is told how a tuning goes on, in place of the line that is shown otherwise.

    Raises:
        InvalidInputError: a value out of range.
    """

    seconds: float = 20.0
    trials: int | None = None
    seed: int = 0
    levels: tuple[str, ...] = _LEVELS
    wide_accesses: bool = True
    distinct: bool = True
    tiles: bool = True
    local_sizes: bool = True
    most_bytes: int | None = None
    store: str | None = None
    progress: Callable[[TuningProgress], None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise InvalidInputError(f"tuning takes more than 0 seconds, not {self.seconds}")
        if self.trials is not None and self.trials < 1:
            raise InvalidInputError(f"tuning takes at least one trial, not {self.trials}")
        if self.most_bytes is not None and self.most_bytes < 1:
            raise InvalidInputError(f"the buffers of a launch hold at least one byte, not {self.most_bytes}")
        unknown = [level for level in self.levels if level not in _LEVELS]
        if unknown or not self.levels:
            raise InvalidInputError(
                f"the levels are 'item' and 'group', not {unknown[0] if unknown else 'none'!r}"
            )
