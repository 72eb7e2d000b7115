"""What OpenCL's queries of the NDRange give, as polynomials over ids and sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coarsen.analysis.builtins import builtin_name
from coarsen.analysis.polynomial import Polynomial
from coarsen.analysis.symbols import ONE, ZERO, global_id, local_id
from coarsen.ir.kernel import Instruction, ValueKind

_SIZES = ("get_global_size", "get_local_size", "get_enqueued_local_size", "get_num_groups", "get_global_offset")
_QUERIES: Mapping[str, Callable[[int], str]] = {
    "get_global_id": global_id,
    "get_local_id": local_id,
    "get_group_id": "group_id({})".format,
    **{name: (name + "({})").format for name in _SIZES},
}
_LINEAR_IDS = {
    "get_global_linear_id": (global_id, "get_global_size"),
    "get_local_linear_id": (local_id, "get_local_size"),
}


def query_form(call: Instruction) -> Polynomial | None:
    """The polynomial of a query; None for another call, and where the dimension is only known at run time."""
    name = builtin_name(call.callee)
    if name in _LINEAR_IDS:
        return _linear(*_LINEAR_IDS[name])
    if name not in _QUERIES or call.arguments[0].kind is not ValueKind.CONSTANT:
        return None
    return Polynomial.symbol(_QUERIES[name](int(call.arguments[0].text)))


def _linear(along: Callable[[int], str], size: str) -> Polynomial:
    """A linear id: each dimension's id times the sizes of those before it."""
    total, factor = ZERO, ONE
    for dimension in range(3):
        total = total + factor * Polynomial.symbol(along(dimension))
        factor = factor * Polynomial.symbol(f"{size}({dimension})")
    return total
