"""What an access takes again: along which dimensions work-items share it, and which loops repeat it.

for (i …) for (k …) sum += a[row * n + k]      loop i repeats it, with 4·n bytes in between
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.access_footprints import AccessFootprint
from coarsen.analysis.algebra.predict.symbols import global_id, local_id
from coarsen.analysis.expressions import ZERO, Expression, number, product
from coarsen.analysis.loop_counts import LoopCounts


@dataclass(frozen=True, slots=True)
class LoopReuse:
    """A loop in each iteration of which a work-item accesses the same bytes.

    Attributes:
        header: the loop's header, a block's name.
        line: of the source, from 1; None where it isn't known.
        bytes_between: that the access touches at most on the way back to the same ones, 0 where it stays there;
            None where data decide.
    """

    header: str
    line: int | None
    bytes_between: Expression | None


def shared_along(counts: LoopCounts, footprint: AccessFootprint) -> tuple[int, ...]:
    """Return the dimensions along which all work-items of a group access the same bytes."""
    origins = counts.forms.symbols.origins(footprint.access.form)
    return tuple(
        dimension
        for dimension, stride in enumerate(footprint.access.strides)
        if stride == 0 and origins.isdisjoint((global_id(dimension), local_id(dimension)))
    )


def repeated_in(counts: LoopCounts, footprint: AccessFootprint) -> tuple[LoopReuse, ...]:
    """Return the loops that repeat an access, innermost first."""
    return tuple(_repeated(counts, footprint))


def _repeated(counts: LoopCounts, footprint: AccessFootprint) -> Iterator[LoopReuse]:
    size = number(footprint.access.access_bytes)
    between: Expression | None = ZERO
    for header, stride in footprint.iteration_strides.items():
        if stride == ZERO:
            yield LoopReuse(header, _line(counts, header), between)
            continue
        rounds = counts.of(header).count
        if between is None or stride is None or rounds is None:
            between = None
        else:
            between = product([size if between == ZERO else between, rounds])


def _line(counts: LoopCounts, header: str) -> int | None:
    position = counts.forms.kernel.block[header].terminator.position
    return position.line if position is not None else None
