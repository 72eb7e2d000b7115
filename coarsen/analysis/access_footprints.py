"""Where the accesses of a kernel go, as expressions over the sizes of the launch.

    matrix[row * width + column]      neighbours along dimension 0: 4·width bytes apart; iterations: 4 bytes
                                      a work-item touches 4·width bytes, the launch 4·width·global_size(0)

A stride is that from one work-item, or one iteration of a loop, to the next. What an access touches is counted
from the numbers of its steps: each step to new bytes, or all bytes from the first to the last, whichever is less.
Guards are left out: a footprint is that of all work-items of the NDRange. Where groups are numbered in an order of
their own, each is taken to touch bytes of its own.

Accesses that are not affine, through a loaded index for example, have no expressions. For predictions only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.affine import Access, access_patterns
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.size_forms import extent_of_id
from coarsen.analysis.algebra.symbols import iteration
from coarsen.analysis.expressions import ONE, ZERO, Expression, Name, magnitude, minimum, number, product, total
from coarsen.analysis.loop_counts import LoopCounts

_DIMENSIONS = 3
_GROUPS = tuple(f"groups({dimension})" for dimension in range(_DIMENSIONS))


@dataclass(frozen=True, slots=True)
class AccessFootprint:
    """Where an access goes.

    Attributes:
        access: that goes there.
        strides: bytes between neighbours along the three dimensions; None where they are irregular.
        iteration_strides: bytes between iterations of the loops around it, by header; None likewise.
        of_item: bytes that a work-item touches; None where the access is not affine.
        of_group: bytes that a work-group touches.
        of_launch: bytes that all work-items touch.
    """

    access: Access
    strides: tuple[Expression | None, ...]
    iteration_strides: Mapping[str, Expression | None]
    of_item: Expression | None
    of_group: Expression | None
    of_launch: Expression | None


@dataclass(frozen=True, slots=True)
class _Axis:
    """A direction in which an access moves: in how many steps, of how many bytes.

    `is_dependent`: whether the steps are those of another axis too, as those of id / w are of id.
    """

    steps: Expression
    stride: Expression
    is_dependent: bool = False


def access_footprints(counts: LoopCounts) -> tuple[AccessFootprint, ...]:
    """Return the footprints of a kernel's accesses to memory of any kind, in the order of its instructions."""
    return tuple(_footprint(counts, access) for access in access_patterns(counts.forms))


def _footprint(counts: LoopCounts, access: Access) -> AccessFootprint:
    form = counts.sizes.expanded(access.form)
    strides = tuple(_stride(counts, access, dimension) for dimension in range(_DIMENSIONS))
    around = [loop.header for loop in counts.forms.control_flow.loops_around(access.block)]
    steps = {header: _gain(counts, form, iteration(header)) for header in around}
    if access.base is None:
        return AccessFootprint(access, strides, steps, None, None, None)
    size = number(access.access_bytes)
    loops = _along_loops(counts, steps)
    group = _along_ids(strides, "local_size", counts)
    launch = _over_launch(counts, form, {iteration(header) for header in around})
    of_group = _touched(size, loops, group)
    of_launch = _touched(size, loops, launch)
    if launch is None and of_group is not None:
        of_launch = product([of_group, *map(Name, _GROUPS)])
    return AccessFootprint(access, strides, steps, _touched(size, loops), of_group, of_launch)


def _stride(counts: LoopCounts, access: Access, dimension: int) -> Expression | None:
    gain = counts.forms.symbols.difference(access.form, dimension)
    if gain is None or any(extent_of_id(symbol) is not None for symbol in gain.symbols):
        return None
    return counts.means.settled(counts.sizes.resolved(gain))


def _gain(counts: LoopCounts, form: Polynomial, symbol: str) -> Expression | None:
    """Return what an address gains where a symbol grows by 1; None where that is not the same everywhere."""
    if symbol not in counts.forms.symbols.origins(form):
        return ZERO if _is_known(counts, form, symbol) else None
    gain = form.factor_of(symbol)
    rest = form - gain * Polynomial.symbol(symbol) if gain is not None else form
    if gain is None or symbol in counts.forms.symbols.origins(rest) or not _is_known(counts, rest, symbol):
        return None
    return counts.means.settled(counts.sizes.resolved(gain))


def _is_known(counts: LoopCounts, form: Polynomial, symbol: str) -> bool:
    """Return True if nothing in a form changes with a loop's iteration but along the axes of loops."""
    loop = counts.forms.control_flow.loop_at[counts.sizes.counters[symbol]]
    return counts.sizes.changing(form, loop) <= counts.sizes.counters.keys()


def _along_loops(counts: LoopCounts, steps: Mapping[str, Expression | None]) -> list[_Axis] | None:
    axes: list[_Axis] = []
    for header, stride in steps.items():
        count = counts.of(header).count
        if stride is None or (count is None and stride != ZERO):
            return None
        if count is not None and stride != ZERO:
            axes.append(_Axis(count, stride))
    return axes


def _along_ids(strides: Sequence[Expression | None], size: str, counts: LoopCounts) -> list[_Axis] | None:
    axes: list[_Axis] = []
    for dimension, stride in enumerate(strides):
        extent = counts.sizes.resolved(Polynomial.symbol(f"get_{size}({dimension})"))
        if stride is None or extent is None:
            return None
        if stride != ZERO:
            axes.append(_Axis(extent, stride))
    return axes


def _over_launch(counts: LoopCounts, form: Polynomial, iterations: set[str]) -> list[_Axis] | None:
    """The axes of an address's ids, and of the quotients of ids."""
    axes: list[_Axis] = []
    for symbol in sorted(form.symbols - iterations):
        steps = counts.means.steps_of(symbol)
        if steps is None:
            return None
        factor = form.factor_of(symbol)
        stride = counts.means.settled(counts.sizes.resolved(factor)) if factor is not None else None
        if stride is None:
            return None
        if steps != ONE and stride != ZERO:
            is_dependent = extent_of_id(symbol) is None and not counts.means.ids_of(symbol).isdisjoint(
                form.symbols
            )
            axes.append(_Axis(steps, stride, is_dependent))
    return axes


def _touched(size: Expression, *directions: Iterable[_Axis] | None) -> Expression | None:
    """The bytes that an access touches on its way along axes."""
    axes: list[_Axis] = []
    for direction in directions:
        if direction is None:
            return None
        axes.extend(direction)
    if not axes:
        return size
    each = product([size, *(axis.steps for axis in axes if not axis.is_dependent)])
    if len(axes) == 1 and axes[0].stride in (size, product([number(-1), size])):
        return each
    spans = (product([magnitude(axis.stride), total([axis.steps, number(-1)])]) for axis in axes)
    return minimum(each, total([size, *spans]))
