"""Vectors that are put together and taken apart: `(float4)(x, y, v.zw)`, `v.xyz`, `v.s3`.

An index that is only known at run time becomes `shuffle` (to read) or `select` (to write), which need no memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from coarsen.backend.opencl_c.c.build import call, coerce, comparison, constructed, literal_int, without_conversion
from coarsen.backend.opencl_c.c.tree import Expression, Integer, Member, Retyped, Unary
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    VECTOR_COUNTS,
    Vector,
    element_of,
    from_llvm,
    integer,
    is_signed,
)
from coarsen.backend.opencl_c.decide.folding import Lane, constant_index
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.backend.opencl_c.printing.expressions import written
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind

_SHORT = "xyzw"
_DIGITS = "0123456789abcdef"
_UNSHUFFLED = 3


def components(vector: Expression, indices: Sequence[int]) -> Expression:
    """Return a vector's components: one of them, or several as a vector."""
    type_ = vector.type
    if not isinstance(type_, Vector):
        raise unsupported(f"a component of {written(vector)}")
    if list(indices) == list(range(type_.count)):
        return vector
    if type_.count <= len(_SHORT):
        selector = "".join(_SHORT[index] for index in indices)
    else:
        selector = "s" + "".join(_DIGITS[index] for index in indices)
    result = type_.element if len(indices) == 1 else replace(type_, count=len(indices))
    return Member(vector, selector, result)


def build(translator: Translator, instruction: Instruction) -> Expression:
    """Return the vector that an `insertelement`, a `shufflevector` or a constant `select` leads to."""
    lanes = translator.dataflow.lanes(instruction)
    type_ = from_llvm(instruction.type, signed=translator.signs.is_signed(instruction.name))
    if not isinstance(type_, Vector):
        raise unsupported(f"a vector of type {instruction.type}")
    known = [lane for lane in lanes if lane is not None]
    if not known:
        return constructed(type_, [literal_int(0)])
    if type_.is_mask:
        type_ = _mask_type(translator, known, type_)
    if all(lane.value == known[0].value and lane.index is not None for lane in known):
        return _swizzle(translator, known[0].value, lanes)
    if all(lane == known[0] for lane in known):
        return constructed(type_, [_scalar(translator, known[0].value, type_)])
    return constructed(type_, list(_parts(translator, lanes, type_)))


def _mask_type(translator: Translator, lanes: Sequence[Lane], type_: Vector) -> Vector:
    """A mask takes its elements' width from the masks that it is made of."""
    for lane in lanes:
        source = translator.value(lane.value).type
        if isinstance(source, Vector):
            return replace(type_, element=source.element)
    return type_


def _swizzle(translator: Translator, source: Operand, lanes: Sequence[Lane | None]) -> Expression:
    vector = translator.value(source)
    count = vector.type.count if isinstance(vector.type, Vector) else 1
    indices = [
        (position if position < count else 0) if lane is None or lane.index is None else lane.index
        for position, lane in enumerate(lanes)
    ]
    return components(vector, indices)


def _parts(translator: Translator, lanes: Sequence[Lane | None], type_: Vector) -> Iterator[Expression]:
    for run in _runs(lanes):
        lane = run[0]
        if lane is None:
            yield literal_int(0)
        elif lane.index is None:
            yield _scalar(translator, lane.value, type_)
        elif lane.value.kind is ValueKind.CONSTANT:
            yield from (_constant_component(translator, one, type_) for one in run)
        else:
            indices = [one.index for one in run if one is not None and one.index is not None]
            part = components(translator.value(lane.value), indices)
            yield (
                coerce(part, replace(type_, count=len(indices)))
                if len(indices) > 1
                else coerce(part, type_.element)
            )


def _constant_component(translator: Translator, lane: Lane | None, type_: Vector) -> Expression:
    """An element of a constant vector, as the number that it is."""
    if lane is None or lane.index is None:
        return literal_int(0)
    constant = translator.constant_lanes(lane.value, is_signed(type_))[lane.index]
    return constant if type_.is_mask else coerce(constant, type_.element)


def _runs(lanes: Sequence[Lane | None]) -> Iterator[list[Lane | None]]:
    """Neighbouring lanes of one vector together, in lengths that OpenCL C has vectors of."""

    def source(numbered: tuple[int, Lane | None]) -> Operand | int:
        place, lane = numbered
        return place if lane is None or lane.index is None else lane.value

    for _, numbered in groupby(enumerate(lanes), source):
        run = [lane for _, lane in numbered]
        yield from [run] if len(run) in VECTOR_COUNTS else ([lane] for lane in run)


def _scalar(translator: Translator, value: Operand, type_: Vector) -> Expression:
    scalar = translator.value(value)
    if scalar.type is BOOL:
        return Unary("-", Retyped(scalar, INT), INT)
    if isinstance(scalar, Integer) and type_.element.kind in ("signed", "unsigned"):
        return coerce(scalar, type_.element)
    return without_conversion(scalar) if scalar.type == type_.element else coerce(scalar, type_.element)


def _insert(translator: Translator, instruction: Instruction) -> Expression:
    if translator.dataflow.builds_vector(instruction):
        return build(translator, instruction)
    vector = translator.value(instruction.operands[0])
    type_ = vector.type
    if not isinstance(type_, Vector) or type_.is_mask:
        raise unsupported("an element inserted at a variable place into a vector of conditions")
    scalar = constructed(type_, [translator.as_type(instruction.operands[1], type_.element)])
    mask = Vector(integer(type_.element.size * 8, signed=True), type_.count, is_mask=True)
    places = constructed(mask, [literal_int(index) for index in range(type_.count)])
    wanted = coerce(translator.value(instruction.operands[2], signed=True), mask.element)
    chosen = comparison(places, "==", constructed(mask, [wanted]), mask)
    return call("select", [vector, scalar, chosen], type_)


def _extract(translator: Translator, instruction: Instruction) -> Expression:
    index = constant_index(instruction.operands[1])
    if index is None:
        return _extract_variable(translator, instruction)
    lanes = translator.dataflow.lanes(instruction.operands[0])
    lane = lanes[index] if index < len(lanes) else None
    if lane is None:
        return coerce(literal_int(0), from_llvm(instruction.type))
    if lane.index is None:
        return translator.value(lane.value)
    if lane.value.kind is ValueKind.CONSTANT:
        return translator.constant_lanes(lane.value, True)[lane.index]
    return components(translator.value(lane.value), [lane.index])


def _extract_variable(translator: Translator, instruction: Instruction) -> Expression:
    vector = translator.value(instruction.operands[0])
    index = translator.value(instruction.operands[1], signed=False)
    if not isinstance(vector.type, Vector):
        raise unsupported("an element of something else than a vector")
    if vector.type.count == _UNSHUFFLED:
        vector = constructed(replace(vector.type, count=4), [vector, literal_int(0)])
    return _shuffled(vector, index, vector.type if isinstance(vector.type, Vector) else Vector(INT, 4))


def _shuffled(vector: Expression, index: Expression, type_: Vector) -> Expression:
    mask = Vector(integer(element_of(type_).size * 8, signed=False), type_.count)
    shuffled = call("shuffle", [vector, constructed(mask, [coerce(index, mask.element)])], type_)
    return components(shuffled, [0])


def extract_element(translator: Translator, instruction: Instruction) -> Expression:
    """`extractelement`; an element of a mask is a condition again."""
    element = _extract(translator, instruction)
    if from_llvm(instruction.type) is BOOL and element.type is not BOOL:
        return comparison(element, "!=", literal_int(0))
    return element


VECTORS: Mapping[str, Handler] = {
    "insertelement": _insert,
    "extractelement": extract_element,
    "shufflevector": build,
}
