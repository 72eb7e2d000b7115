"""Where another version is the fastest once caches are flushed, by the times that a tuned file keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.evidence import evidence_of, shipped_times


@dataclass(frozen=True, slots=True)
class ColdChange:
    """One input with warm and with cold caches.

    Attributes:
        input: its name.
        warm: the number of the file's fastest version there as it was tuned.
        cold: that of the fastest with flushed caches.
        gain: how many times as fast as `warm` that one is then.
        changes: True where this is more than noise.
        reason: why nothing was timed there; empty where it was, and else the numbers mean nothing.
    """

    input: str
    warm: int = 0
    cold: int = 0
    gain: float = 1.0
    changes: bool = False
    reason: str = ""

    def __str__(self) -> str:
        """Return what is to be said of it, in one line."""
        if self.reason:
            return f"{self.input}: not timed, for the default version does not run: {self.reason}"
        if not self.changes:
            return f"{self.input}: version {self.warm} is the fastest, or within noise of it, as otherwise"
        return (
            f"{self.input}: version {self.cold} is the fastest, {self.gain:.2f} times as fast as version "
            f"{self.warm}, which is otherwise"
        )


def cold_changes(file: TunedFile) -> tuple[ColdChange, ...]:
    """Return what a check with cold caches found at each of its inputs; nothing where there was none.

    Args:
        file: keeps the times.

    Raises:
        InvalidInputError: it keeps no times of its tuning.
    """
    kept = evidence_of(file)
    if kept.cold is None:
        return ()
    not_timed = tuple(ColdChange(name, reason=reason) for name, reason in kept.cold.left_out.items())
    if not kept.cold.inputs:
        return not_timed
    warm = shipped_times(file, kept)
    cold = kept.cold.matrix(warm)
    names = [point.name for point in warm.inputs]
    return (
        *(
            _change(name, warm.played[names.index(name)], cold.played[place], kept.margin)
            for place, name in enumerate(kept.cold.inputs)
        ),
        *not_timed,
    )


def _change(name: str, warm: Array, cold: Array, margin: float) -> ColdChange:
    usual, fastest = int(warm.argmin()), int(cold.argmin())
    gain = float(cold[usual] / cold[fastest])
    return ColdChange(name, usual, fastest, gain, gain > 1 + margin)


def cold_lines(changes: tuple[ColdChange, ...]) -> Iterator[str]:
    """Yield the sentences of a check with cold caches; none where there was none."""
    if changes:
        flips = sum(change.changes for change in changes)
        yield (
            f"With flushed caches, another version is the fastest at {flips} of {len(changes)} inputs that were "
            "looked at:"
        )
        yield from (f"    {change}" for change in changes)
