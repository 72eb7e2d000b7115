"""Origins of merged values, and what makes instructions that look alike differ."""

from __future__ import annotations

import pytest

from coarsen.errors import SourcePosition
from coarsen.frontend.lower import lower
from coarsen.ir.graph.builder import number
from coarsen.ir.graph.details import CallSite, Comparison, Detail, Opcode
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Callee
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.types import IntegerType
from coarsen.transform.coarsen import analyse, coarsened_module
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.transform.value_numbering.shared_values import share_values
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT
from tests.transform.value_numbering.straight_line import NARROW, StraightLine

CONDITION = IntegerType(1)


def quotient(line: StraightLine, origin: Origin) -> Instruction:
    line.build.origin = origin
    return line.build.binary(Opcode.UDIV, line.argument("a"), line.argument("b"), "quotient")


@pytest.mark.parametrize(("other", "joined"), [(0, 0), (1, None), (None, None)])
def test_a_merged_value_has_the_leader_s_origin_for_both_replicas(other: int | None, joined: int | None) -> None:
    line = StraightLine()
    first, second = SourcePosition(3, 1), SourcePosition(9, 1)
    leader = quotient(line, Origin(first, name=DisplayName("x"), role=Role.ID, replica=0))
    later = quotient(line, Origin(second, name=DisplayName("y"), replica=other))
    line.build.store(later, line.argument("p"))
    line.number_values()
    assert later.block is None
    assert leader.origin == Origin(first, name=DisplayName("x"), role=Role.ID, replica=joined)


def test_a_neighbour_that_two_replicas_load_belongs_to_both() -> None:
    source = "kernel void k(global const int *in, global int *out)"
    kernel = lower(source + " { size_t i = get_global_id(0); out[i] = in[i] - in[i + 1]; }")
    analysed, chosen = analyse(kernel, 0), Coarsening(2)
    plan = plan_regions(analysed.divergence, analysed.regions, DEFAULT)
    module = coarsened_module(analysed, chosen, plan)
    share_values(module, "k")
    loads = [i for i in module.function("k").instructions() if i.opcode is Opcode.LOAD]
    assert [load.origin.replica for load in loads] == [0, None, 1]


def test_a_sum_that_is_written_anew_keeps_its_origin() -> None:
    line = StraightLine()
    a, b, c = (line.argument(name) for name in "abc")
    line.build.binary(Opcode.ADD, line.build.binary(Opcode.MUL, a, b, "row"), c, "index")
    line.build.origin = Origin(name=DisplayName("next"), replica=1)
    further = line.build.binary(Opcode.ADD, a, number(NARROW, 1), "further")
    product = line.build.binary(Opcode.MUL, further, b, "row.1")
    index = line.build.binary(Opcode.ADD, product, c, "index.1")
    line.build.store(index, line.argument("p"))
    line.number_values()
    assert [operand.text for operand in index.operands] == ["index", "b"]
    assert index.origin == Origin(name=DisplayName("next"), replica=1)


def compared(line: StraightLine, detail: Detail, flags: tuple[str, ...] = ()) -> Instruction:
    operands = [line.argument("a"), line.argument("b")]
    return line.build.insert(Instruction(Opcode.ICMP, CONDITION, operands, "c", detail=detail, flags=flags))


def are_merged(line: StraightLine, second: Instruction) -> bool:
    line.number_values()
    return second.block is None


def test_predicates_and_flags_belong_to_the_key() -> None:
    less = Comparison("slt")
    for detail, flags, expected in (
        (less, (), True),
        (Comparison("sgt"), (), False),
        (less, ("samesign",), False),
    ):
        line = StraightLine()
        compared(line, less)
        assert are_merged(line, compared(line, detail, flags)) == expected


def test_metadata_belongs_to_the_key() -> None:
    """A range that holds for one load need not hold for another."""
    for attachments, expected in (((), True), ((("range", "!7"),), False)):
        line = StraightLine()
        line.build.load(NARROW, line.argument("p"), "first")
        second = line.build.load(NARROW, line.argument("p"), "second")
        second.attachments = attachments
        assert are_merged(line, second) == expected


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        (CallSite("tail", "spir_func", argument_attributes=("", "zeroext"), attributes=" #3"), True),
        (CallSite("", "spir_func", argument_attributes=("noundef", "noundef zeroext")), True),
        (CallSite("", "spir_func"), False),
        (CallSite("", "spir_func", argument_attributes=("zeroext", "")), False),
        (CallSite("", "spir_func", "range(i32 0, 9)", argument_attributes=("", "zeroext")), False),
        (CallSite("", "", argument_attributes=("", "zeroext")), False),
    ],
    ids=["hints", "noundef", "extended", "another extended", "range", "convention"],
)
def test_hints_of_a_call_do_not_belong_to_the_key(site: CallSite, expected: bool) -> None:
    line = StraightLine()
    callee = Callee("_Z3maxii")
    arguments = [line.argument("a"), line.argument("b")]
    calls = [line.build.call(callee, NARROW, arguments, "r") for _ in range(2)]
    calls[0].detail = CallSite(convention="spir_func", argument_attributes=("", "zeroext"))
    calls[1].detail = site
    line.number_values("declare spir_func i32 @_Z3maxii(i32, i32) memory(none)")
    assert (calls[1].block is None) == expected
