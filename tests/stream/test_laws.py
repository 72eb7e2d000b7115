"""Operators that break a law are refused, those that keep them are not."""

from __future__ import annotations

import pyopencl as cl
import pytest

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
