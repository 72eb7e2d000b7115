"""Operators that break a law are refused, those that keep them are not."""

from __future__ import annotations

from contextlib import nullcontext

import pyopencl as cl
import pytest
from pyopencl import cltypes

from coarsen.errors import RefusalError
from coarsen.stream.laws import check_laws
from coarsen.stream.reduce import Reduce

pytestmark = pytest.mark.compiled_devices
ROUNDED = "a + b + 0.1f * a * b"


def check(operator: str, identity: str, kind: str, queue: cl.CommandQueue) -> None:
    check_laws(queue, Reduce(operator, identity=identity, arguments=f"const {kind} *x")._operation)


@pytest.mark.parametrize(
    ("operator", "identity", "kind", "code"),
    [
        ("a - b", "0", "int", "reduction-not-associative"),
        ("a - b", "0", "float", "reduction-not-associative"),
        ("(a + b) / 2", "0", "double", "reduction-not-associative"),
        ("a", "0", "int", "reduction-not-commutative"),
        ("fmax(a, b)", "0", "float", "reduction-identity"),
        ("min(a, b)", "1000", "long", "reduction-identity"),
        ("a * b", "0", "uint", "reduction-identity"),
        ("max(a, b)", "-127", "char", "reduction-identity"),
        ("add_sat(a, b)", "0", "int", "reduction-not-associative"),
        ("fmax(a, b)", "-FLT_MAX", "float", "reduction-identity"),
    ],
)
def test_what_breaks_a_law_is_refused(
    operator: str, identity: str, kind: str, code: str, queue: cl.CommandQueue
) -> None:
    with pytest.raises(RefusalError) as refused:
        check(operator, identity, kind, queue)
    assert refused.value.code == code


PRODUCT = "({0})(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)"


@pytest.mark.parametrize(
    ("operator", "identity", "kind", "code"),
    [
        (PRODUCT.format("float2"), "(float2)(1, 0)", "float2", ""),
        ("min(a, b)", "INT_MAX", "int4", ""),
        (PRODUCT.format("float2"), "1", "float2", "reduction-identity"),
        ("(double2)(a.x + b.x, a.y - b.y)", "0", "double2", "reduction-not-associative"),
        ("(int4)(a.xyz + b.xyz, a.w)", "0", "int4", "reduction-not-commutative"),
    ],
)
def test_vectors(operator: str, identity: str, kind: str, code: str, queue: cl.CommandQueue) -> None:
    dtype = getattr(cltypes, kind)
    operation = Reduce(operator, identity=identity, arguments="const float *x", dtype=dtype)._operation
    with pytest.raises(RefusalError, match=r"as for (a = )?\(") if code else nullcontext() as refused:
        check_laws(queue, operation)
    assert code == (refused.value.code if refused else "")


@pytest.mark.parametrize(
    ("operator", "identity", "kind"),
    [
        ("a + b", "0", "float"),
        ("a * b", "1", "double"),
        ("fmax(a, b)", "-INFINITY", "float"),
        ("min(a, b)", "LONG_MAX", "long"),
        ("max(a, b)", "0", "uchar"),
        ("a ^ b", "0", "uint"),
        ("a & b", "~0", "ulong"),
        ("a | b", "0", "short"),
        ("add_sat(a, b)", "0", "uint"),
        (ROUNDED, "0", "float"),
    ],
)
def test_what_keeps_the_laws_is_not(operator: str, identity: str, kind: str, queue: cl.CommandQueue) -> None:
    check(operator, identity, kind, queue)


def test_the_result_is_waited_for_in_a_queue_out_of_order(queue: cl.CommandQueue) -> None:
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    own = cl.CommandQueue(queue.context, queue.device, properties=out_of_order)
    check("a + (b)", "0", "float", own)
    with pytest.raises(RefusalError):
        check("a - (b)", "0", "float", own)
