"""Compares the outputs of a run with what they should be.

Structures are compared field by field, without their padding. Of other outputs, padding is what the code of the
kernel says it is: `without_padding` makes it the same everywhere. Outputs of any order are sorted before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coarsen.ir.kernel import WrittenArgument
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Array, BufferArgument, Launch, Workload

# Elements that are compared at once: intermediate results then stay in a processor's cache.
PIECE = 1 << 17


@dataclass(frozen=True, slots=True)
class _Allowance:
    """By how much an element of one output may differ: `fixed`, and `relative` to its magnitude."""

    fixed: float
    relative: float


def compare(outputs: Mapping[str, Array], expected: Mapping[str, Array], workload: Workload) -> list[str]:
    """Compare every output with its expected contents, within the workload's tolerances.

    Args:
        outputs: the buffers after the run.
        expected: the reference's buffers; or another run's, to compare two kernels.
        workload: names the outputs and holds the tolerances.

    Returns:
        One sentence per wrong buffer, with the number of wrong elements, the largest error and the first
        wrong index; empty if all is right.
    """
    other_kinds = {name: _other_kind(name, outputs[name], expected[name]) for name in workload.outputs}
    if any(other_kinds.values()):
        return [mismatch for mismatch in other_kinds.values() if mismatch is not None]
    got, wanted = _sorted(outputs, workload.order_free), _sorted(expected, workload.order_free)
    mismatches = (_first_mismatch(name, got[name], wanted[name], workload) for name in workload.outputs)
    return [mismatch for mismatch in mismatches if mismatch is not None]


def is_same(now: Array, before: Array) -> bool:
    """Return True if two arrays have the same contents, NaN where the other has it."""
    if now.dtype.names is not None:  # structures, whose numbers np.array_equal does not look into
        return np.array_equal(now.view(np.uint8), before.view(np.uint8))
    return np.array_equal(now, before, equal_nan=np.issubdtype(now.dtype, np.floating))


def padding_of(code: Code, launches: Sequence[Launch]) -> dict[str, WrittenArgument]:
    """Return the padding of the buffers that launches write, by name: what no kernel gives a value there.

    Args:
        code: that of the kernels as they are written.
        launches: with the buffers that are passed.
    """
    known = {(each.kernel, each.index): each for each in code.written}
    found: dict[str, WrittenArgument] = {}
    for launch in launches:
        kernel = launch.kernel if code.is_sequence else code.kernel
        for index, argument in enumerate(launch.arguments):
            written = known.get((kernel, index))
            if written is not None and isinstance(argument, BufferArgument):
                found[argument.name] = _in_both(found.get(argument.name, written), written)
    return {name: each for name, each in found.items() if each.padding}


def without_padding(arrays: Mapping[str, Array], padding: Mapping[str, WrittenArgument]) -> Mapping[str, Array]:
    """Return arrays with zeros for their padding; those that have some are copied."""
    return {
        name: array if name not in padding else _blanked(array, padding[name]) for name, array in arrays.items()
    }


def _in_both(one: WrittenArgument, other: WrittenArgument) -> WrittenArgument:
    period = math.lcm(one.period, other.period)
    places = (
        place
        for place in range(period)
        if place % one.period in one.padding and place % other.period in other.padding
    )
    return replace(one, period=period, padding=tuple(places))


def _blanked(array: Array, written: WrittenArgument) -> Array:
    copy = np.array(array, order="C")
    data = copy.reshape(-1).view(np.uint8)
    for place in written.padding:
        data[place :: written.period] = 0
    return copy


def _other_kind(name: str, got: Array, wanted: Array) -> str | None:
    if got.shape != wanted.shape:
        return f"{name}: shape {got.shape} instead of {wanted.shape}"
    if got.dtype != wanted.dtype:
        return f"{name}: type {got.dtype} instead of {wanted.dtype}"
    return None


def _sorted(arrays: Mapping[str, Array], order_free: Sequence[Sequence[str]]) -> Mapping[str, Array]:
    """The arrays, those of any order with their elements sorted; those of one group keep theirs together."""
    put_in_order = dict(arrays)
    for names in order_free:
        columns = [column for name in names for column in _columns(arrays[name])]
        order = np.lexsort(columns[::-1])  # its last key counts most
        put_in_order |= {name: arrays[name][order] for name in names}
    return put_in_order


def _columns(array: Array) -> Iterator[Array]:
    """The numbers of each element, one column each."""
    for _, numbers in _fields("", array):
        yield from numbers.reshape(len(numbers), -1).T


def _fields(name: str, array: Array) -> Iterator[tuple[str, Array]]:
    """An array of structures as arrays of its fields, with their names; any other as it is."""
    if array.dtype.names is None:
        yield name, array
    for field in array.dtype.names or ():
        yield from _fields(f"{name}.{field}", array[field])


def _first_mismatch(name: str, got: Array, wanted: Array, workload: Workload) -> str | None:
    before = _before(name, wanted, workload)
    image = workload.images.get(name)
    if image is not None and image.is_normalized:
        # Fractions that a device rounds to whole numbers: what rounding explains may tip one.
        workload = replace(workload, integer_tolerance=max(workload.integer_tolerance, 1))
    trios = zip(_fields(name, got), _fields(name, wanted), _fields(name, before), strict=True)
    found = (_mismatch(field, own, other, old, workload) for (field, own), (_, other), (_, old) in trios)
    return next((mismatch for mismatch in found if mismatch is not None), None)


def _before(name: str, wanted: Array, workload: Workload) -> Array:
    """The content of an output before the run; zeros, which say nothing, where there is none or it was sorted."""
    before = workload.buffers.get(name)
    is_sorted = any(name in names for names in workload.order_free)
    if before is None or is_sorted or (before.shape, before.dtype) != (wanted.shape, wanted.dtype):
        return np.zeros_like(wanted)
    return before


def _mismatch(name: str, got: Array, wanted: Array, before: Array, workload: Workload) -> str | None:
    allowance = _allowance(wanted, before, workload)
    if not _any_wrong(got, wanted, allowance):
        return None
    error, wrong = _error_and_wrong(got, wanted, allowance)
    first = tuple(int(index) for index in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    position = ", ".join(map(str, first))
    return (
        f"{name}: {int(wrong.sum())} of {wrong.size} elements wrong, largest error {_largest(error[wrong])}, "
        f"first at [{position}]: {got[first]} instead of {wanted[first]}{_of_tolerance(got, allowance)}"
    )


def _allowance(wanted: Array, before: Array, workload: Workload) -> _Allowance:
    if np.issubdtype(wanted.dtype, np.integer):
        return _Allowance(workload.integer_tolerance, 0.0)
    if not workload.rounding_steps:
        return _Allowance(workload.absolute_tolerance, workload.relative_tolerance)
    bound = rounding_tolerance(workload.rounding_steps, wanted.dtype)
    return _Allowance(
        max(workload.absolute_tolerance, bound * typical_magnitude(wanted, before)),
        max(workload.relative_tolerance, bound),
    )


def _of_tolerance(got: Array, allowance: _Allowance) -> str:
    """Return a remark that no tolerance is given, if rounded numbers are compared without one."""
    has_any = allowance.fixed or allowance.relative
    return (
        ""
        if np.issubdtype(got.dtype, np.integer) or has_any
        else "; no tolerance is given, so every bit has to be the same"
    )


def _any_wrong(got: Array, wanted: Array, allowance: _Allowance) -> bool:
    """Return True if any element is wrong; large buffers are compared in pieces, on all processors."""
    flat_got, flat_wanted = got.reshape(-1), wanted.reshape(-1)

    def wrong_from(start: int) -> bool:
        piece = slice(start, start + PIECE)
        return bool(_error_and_wrong(flat_got[piece], flat_wanted[piece], allowance)[1].any())

    starts = range(0, got.size, PIECE)
    if len(starts) <= 1:
        return any(map(wrong_from, starts))
    with ThreadPoolExecutor() as pool:
        return any(pool.map(wrong_from, starts))


def _error_and_wrong(got: Array, wanted: Array, allowance: _Allowance) -> tuple[Array, Array]:
    """The difference of each element, and whether it is too large."""
    error, allowed = _error_and_allowed(got, wanted, allowance)
    # Written so that an error that is not a number counts as wrong; equal infinities are right.
    return error, ~(error <= allowed) & ~(got == wanted) & ~(_is_nan(got) & _is_nan(wanted))


def _error_and_allowed(got: Array, wanted: Array, allowance: _Allowance) -> tuple[Array, Array]:
    if np.issubdtype(got.dtype, np.integer):
        # A difference of unsigned numbers would wrap around, and so would a large one of signed numbers.
        unsigned = np.dtype(f"u{got.dtype.itemsize}")
        error = np.maximum(got, wanted).astype(unsigned) - np.minimum(got, wanted).astype(unsigned)
        return error, np.full(got.shape, int(allowance.fixed), np.uint64)
    exact = wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(got.astype(np.float64) - exact)
    # Nothing but infinity itself is near infinity.
    magnitude = np.where(np.isinf(exact), 0.0, np.abs(exact))
    return error, allowance.fixed + allowance.relative * magnitude


def _is_nan(array: Array) -> Array:
    return np.asarray(array != array)


def _largest(errors: Array) -> str:
    if _is_nan(errors).any():
        return "not a number"
    return f"{errors.max():g}"


# Bound on the difference of two right results of the same floating-point computation.
#
# Each of `k` rounded operations, one after the other, changes a partial result by at most the unit roundoff `u` of
# its type, so that the relative error of a sum of terms of one sign is at most γ_k = k·u / (1 − k·u) (Higham,
# Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM 2002, section 3.1). That is the worst case: as
# rounding errors have either sign, γ_k becomes λ·√k·u with a probability of at least 1 − 2·exp(−λ²/2) (Higham and
# Mary, A New Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019, theorem 2.4).
# Two results are compared, both of them rounded, hence twice the bound. A contracted multiply-add, or a sum in
# another order, is nothing else: it saves roundings or permutes them.
#
# The bound is relative to the partial results. Where terms cancel, the result is much smaller than those, and a
# bound relative to the result would call its rounding an error. The partial results themselves are gone. But what
# cancels in one element of an output seldom does in the others: the median magnitude of its elements that were
# written and are neither zero nor infinite stands for them. So
#
#     |got − wanted| ≤ tolerance · (|wanted| + median |wanted|),   tolerance = 2·λ·√k·u, at most a tenth

# λ: more than one element in 3·10⁷ is not beyond the bound of a result.
DEVIATIONS = 6.0

# With more, a comparison would find no mistake.
_LARGEST = 0.1

# The median of so many elements, spread evenly, is near enough to that of all.
_SAMPLED = 1 << 16


def rounding_tolerance(steps: int, kind: np.dtype[np.floating[Any]]) -> float:
    """Return the relative difference that rounding explains.

    Args:
        steps: rounded operations one after the other on the way to an element.
        kind: the floating-point type of the elements.
    """
    unit_roundoff = float(np.finfo(kind).eps) / 2
    return min(2 * DEVIATIONS * math.sqrt(steps) * unit_roundoff, _LARGEST)


def typical_magnitude(wanted: Array, before: Array | None = None) -> float:
    """Return the median magnitude of the elements that are finite and not zero; 0 if there are none.

    Args:
        wanted: the elements.
        before: what was in their place before the launch, if that is known: elements that are as they were say
            nothing of what is computed, and do not count where others do.
    """
    every = slice(None, None, max(1, wanted.size // _SAMPLED))
    sample = wanted.reshape(-1)[every]
    magnitudes = np.abs(sample.astype(np.float64))
    counting = np.isfinite(magnitudes) & (magnitudes > 0)
    if before is not None:
        written = counting & (sample != before.reshape(-1)[every])
        counting = written if written.any() else counting
    return float(np.median(magnitudes[counting])) if counting.any() else 0.0
