"""The laws that an operator must keep to be reduced by it in any order, tried out on the device.

    (a · b) · c = a · (b · c)      work-groups combine neighbours
    a · b = b · a                  work-items take every so-manieth element
    e · a = a = a · e              what has no element has the identity e

They are tried for small whole numbers, on which rounding has hardly a say; whole types try all, and real ones the
last, for the largest numbers too. That finds `a - b`, and 0 as the identity of a maximum; it proves nothing.
"""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np
import pyopencl
from pyopencl.tools import dtype_to_ctype

from coarsen.devices.building import build_for_launches
from coarsen.errors import RefusalError, one_line
from coarsen.stream.reduction_text import OPTIONS, Operation, numbers_of

# The operations that were found to keep the laws, in this process.
_KEPT: set[tuple[str, ...]] = set()
_SMALL = (-3, -2, -1, 0, 1, 2, 5)
_SMALL_UNSIGNED = (0, 1, 2, 3, 5, 7, 12)
# So large that float holds its square.
_LARGE_REAL = 2.0**50
_NOT_ASSOCIATIVE, _NOT_COMMUTATIVE, _NOT_IDENTITY = 1, 2, 4


def check_laws(queue: pyopencl.CommandQueue, operation: Operation) -> None:
    """Try the laws of an operator out, once in a process; waits for the device.

    Args:
        queue: where.
        operation: with an operator of two values.

    Raises:
        RefusalError: one of them is broken.
        pyopencl.Error: the operator does not compile.
    """
    key = (operation.operator, operation.identity, operation.preamble, str(operation.dtype))
    if key in _KEPT:
        return
    kind, count = numbers_of(operation.dtype)
    small = _SMALL_UNSIGNED if kind.kind == "u" else _SMALL
    large = [_LARGE_REAL, -_LARGE_REAL, np.inf, -np.inf]
    if kind.kind != "f":
        large = [np.iinfo(kind).max, np.iinfo(kind).min]
    # Of a vector each component has another small number.
    values = np.array([[*np.roll(small, turn), *large] for turn in range(count)], kind).T
    broken = _broken(queue, operation, values, len(small if kind.kind == "f" else values))
    words, identity = f"`{one_line(operation.operator)}`", one_line(operation.identity)

    def first(law: int) -> str:
        found = values[(broken & law) > 0]
        return ", ".join(map(str, found[0])).join(("", "") if count == 1 else "()") if len(found) else ""

    if found := first(_NOT_ASSOCIATIVE):
        reason = f"{words} depends on how operands are grouped, as for a = {found}"
        raise RefusalError("reduction-not-associative", reason)
    if found := first(_NOT_COMMUTATIVE):
        reason = f"{words} depends on the order of a and b, as for a = {found}"
        raise RefusalError("reduction-not-commutative", reason)
    if found := first(_NOT_IDENTITY):
        raise RefusalError("reduction-identity", f"{identity} is no identity of {words}, as for {found}")
    _KEPT.add(key)


def _broken(
    queue: pyopencl.CommandQueue, operation: Operation, values: np.ndarray[Any, Any], small: int
) -> np.ndarray[Any, Any]:
    """Return for each operand which laws are broken with it as the first."""
    kind, count = numbers_of(operation.dtype)
    text = _TEXT.substitute(
        preamble=operation.preamble,
        type=dtype_to_ctype(operation.dtype),
        identity=one_line(operation.identity),
        number=dtype_to_ctype(kind),
        count=count,
        operator=one_line(operation.operator),
        same=_SAME_REAL if kind.kind == "f" else "a == b",
        undefined="isnan(a) && isinf(b)" if kind.kind == "f" else "0",
        not_associative=_NOT_ASSOCIATIVE,
        not_commutative=_NOT_COMMUTATIVE,
        not_identity=_NOT_IDENTITY,
    )
    program = build_for_launches(queue.context, text, OPTIONS, [queue.device])
    flags = pyopencl.mem_flags
    given = np.ascontiguousarray(values)
    operands = pyopencl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=given)
    broken = np.zeros(len(values), np.uint32)
    result = pyopencl.Buffer(queue.context, flags.WRITE_ONLY, broken.nbytes)
    kernel = pyopencl.Kernel(program, "reduce_laws")
    event = kernel(queue, (len(values),), None, operands, np.int32(small), result)
    pyopencl.enqueue_copy(queue, broken, result, wait_for=[event])
    return broken


# Products and quotients are rounded otherwise in another order.
_SAME_REAL = (
    "isinf(a) || isinf(b) ? a == b : fabs(a - b) <= 1e-4f * (fabs(a) + fabs(b)) || a == b || (a != a && b != b)"
)
_TEXT = Template("""\
$preamble
typedef $type reduce_t;

reduce_t reduce_two(reduce_t a, reduce_t b)
{
    return $operator;
}

int reduce_same(reduce_t found, reduce_t expected, int reduce_may_be_undefined)
{
    for (int component = 0; component < $count; ++component) {
        const $number a = (($number *) &found)[component], b = (($number *) &expected)[component];
        if (!($same) && !(reduce_may_be_undefined && $undefined))
            return 0;
    }
    return 1;
}

kernel void reduce_laws(global const reduce_t *values, int small, global uint *broken)
{
    const int x = get_global_id(0);
    const reduce_t first = values[x], identity = (reduce_t) ($identity);
    uint found = 0;
    for (int y = 0; y < small && x < small; ++y) {
        const reduce_t second = values[y];
        if (!reduce_same(reduce_two(first, second), reduce_two(second, first), 0))
            found |= $not_commutative;
        for (int z = 0; z < small; ++z)
            if (!reduce_same(reduce_two(reduce_two(first, second), values[z]),
                             reduce_two(first, reduce_two(second, values[z])), 0))
                found |= $not_associative;
    }
    if (!reduce_same(reduce_two(identity, first), first, 1) || !reduce_same(reduce_two(first, identity), first, 1))
        found |= $not_identity;
    if (!reduce_same(reduce_two(identity, identity), identity, 0))
        found |= $not_identity;
    broken[x] = found;
}
""")
