"""Calls of OpenCL's builtins, by their names in OpenCL C, with arguments of the types that choose the overload."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from coarsen.backend.opencl_c.c.build import (
    call,
    coerce,
    converted,
    converted_integer,
    converted_pointer,
    literal_int,
)
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Integer, Name, String
from coarsen.backend.opencl_c.c.types import (
    DOUBLE,
    FLOAT,
    INT,
    VOID,
    CType,
    Opaque,
    Pointer,
    Scalar,
    Vector,
    from_llvm,
    size_of,
)
from coarsen.backend.opencl_c.decide.builtins import Signature, signature
from coarsen.backend.opencl_c.decide.constants import Elements, Number, parse_constant
from coarsen.backend.opencl_c.express.intrinsics import intrinsic
from coarsen.backend.opencl_c.express.literals import string_literal
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.opencl.builtins import builtin_named
from coarsen.ir.types import AddressSpace, VoidType

# Functions with one version only, whose integer arguments C converts by itself.
_NOT_OVERLOADED = re.compile(
    r"get_\w+|vload(?:\d+|a?_half\d*)|vstore(?:\d+|a?_half\d*(?:_rt[ezpn])?)|async_work_group_(?:strided_)?copy"
    r"|prefetch|wait_group_events|work_group_barrier|barrier|(?:read_|write_)?mem_fence|atomic_work_item_fence"
)
_FENCES = {1: "CLK_LOCAL_MEM_FENCE", 2: "CLK_GLOBAL_MEM_FENCE", 4: "CLK_IMAGE_MEM_FENCE"}
_ENUMERATIONS: Mapping[str, Mapping[int, str]] = {
    "memory_order": {
        0: "memory_order_relaxed",
        2: "memory_order_acquire",
        3: "memory_order_release",
        4: "memory_order_acq_rel",
        5: "memory_order_seq_cst",
    },
    "memory_scope": {
        0: "memory_scope_work_item",
        1: "memory_scope_work_group",
        2: "memory_scope_device",
        3: "memory_scope_all_svm_devices",
        4: "memory_scope_sub_group",
    },
}
_EXTENSION_OF_ATOM = {"min", "max", "and", "or", "xor"}


def write_call(translator: Translator, instruction: Instruction) -> Expression:
    """Return the call of a builtin or an intrinsic."""
    callee = instruction.callee
    if not callee:
        raise translator.refusal("indirect-call", "an indirect call can't be written as OpenCL C", instruction)
    if callee.startswith("llvm."):
        return intrinsic(translator, instruction)
    if callee in _SPECIAL:
        return _SPECIAL[callee](translator, instruction)
    known = signature(instruction)
    if known is None:
        raise translator.refusal("unknown-function", f"the function '{callee}' has no definition", instruction)
    return _builtin(translator, instruction, known)


def _builtin(translator: Translator, instruction: Instruction, known: Signature) -> Expression:
    _note_requirements(translator, known)
    arguments = [_argument(translator, value, known, index) for index, value in enumerate(instruction.arguments)]
    if isinstance(instruction.type, VoidType):
        return call(known.name, arguments, VOID)
    actual = from_llvm(instruction.type)
    if known.result is not None:
        return call(known.name, arguments, known.result)
    if isinstance(actual, Vector):
        return call(f"as_{actual}", [call(known.name, arguments, actual)], actual)
    if isinstance(actual, (Opaque, Pointer)):
        return call(known.name, arguments, actual)
    return Cast(call(known.name, arguments, actual), actual)


def _argument(translator: Translator, value: Operand, known: Signature, index: int) -> Expression:
    if index >= len(known.parameters):
        return translator.value(value)
    type_ = known.parameters[index]
    if index == 0 and builtin_named(known.name).is_fence and value.kind is ValueKind.CONSTANT:
        return _flags(int(value.text))
    if isinstance(type_, Opaque):
        return _named_number(value, type_) or translator.value(value)
    if isinstance(type_, Pointer):
        return _pointer(translator.value(value), type_)
    if isinstance(type_, Scalar) and type_.is_integer and _NOT_OVERLOADED.fullmatch(known.name):
        return _converted_by_c(translator.value(value, signed=None), type_)
    return _exactly(translator.as_type(value, type_), type_)


def _converted_by_c(argument: Expression, type_: Scalar) -> Expression:
    """An argument of a function that isn't overloaded: C's implicit conversion is as good as a cast."""
    if isinstance(argument, Integer):
        return literal_int(argument.value) if 0 <= argument.value < 1 << 31 else coerce(argument, type_)
    bare = converted_integer(argument)
    return bare if bare is not None and size_of(bare.type) <= size_of(argument.type) else argument


def _exactly(argument: Expression, type_: CType) -> Expression:
    """A literal of a type narrower than int needs a cast to choose the overload."""
    if isinstance(argument, Integer) and isinstance(type_, Scalar) and type_.size < INT.size:
        return Cast(argument, type_)
    return argument


def _flags(number: int) -> Expression:
    names: list[Expression] = [Name(text, INT) for bit, text in _FENCES.items() if number & bit]
    if not names or number > sum(_FENCES):
        return literal_int(number)
    return functools.reduce(lambda left, right: Binary(left, "|", right, INT), names)


def _named_number(value: Operand, type_: Opaque) -> Expression | None:
    if value.kind is not ValueKind.CONSTANT or type_.name not in _ENUMERATIONS:
        return None
    return Name(_ENUMERATIONS[type_.name].get(int(value.text), value.text), type_)


def _pointer(argument: Expression, type_: Pointer) -> Expression:
    """A pointer argument: into the generic address space C converts by itself."""
    if isinstance(type_.pointee, Opaque) and type_.pointee.name.startswith("ocl_"):
        return argument
    before = converted_pointer(argument)
    if type_.space == AddressSpace.GENERIC and before is not None:
        argument = before
        have = argument.type
        if isinstance(have, Pointer) and have.pointee == type_.pointee:
            return argument
        if isinstance(have, Pointer):
            return coerce(argument, replace(type_, space=have.space))
    return coerce(argument, type_)


def _note_requirements(translator: Translator, known: Signature) -> None:
    needs = translator.requirements
    pointer = next((type_ for type_ in known.parameters if isinstance(type_, Pointer)), None)
    if pointer is None:
        return
    is_wide = isinstance(pointer.pointee, Scalar) and pointer.pointee.size == 8
    if known.name.startswith(("atom_", "atomic_")) and is_wide:
        extended = known.name.partition("_")[2] in _EXTENSION_OF_ATOM
        needs.extensions.add(f"cl_khr_int64_{'extended' if extended else 'base'}_atomics")
    elif known.name.startswith("atom_"):
        kind = "extended" if known.name.partition("_")[2] in _EXTENSION_OF_ATOM else "base"
        space = "local" if pointer.space == AddressSpace.LOCAL else "global"
        needs.extensions.add(f"cl_khr_{space}_int32_{kind}_atomics")


def _printf(translator: Translator, instruction: Instruction) -> Expression:
    first, *rest = instruction.arguments
    arguments = [_text(translator, first), *(_variadic(translator, value) for value in rest)]
    return call("printf", arguments, INT)


def _text(translator: Translator, value: Operand) -> Expression:
    """A string literal again, where the value is the address of one."""
    variable = translator.kernel.globals.get(value.text) if value.kind is ValueKind.GLOBAL else None
    if variable is None or not variable.is_constant:
        raise unsupported("a printf whose format is not a literal")
    parsed = parse_constant(variable.value_type, variable.initializer)
    if not isinstance(parsed, Elements):
        return String('""', translator.value(value).type)
    numbers = [item.value & 0xFF if isinstance(item, Number) else 0 for _, item in parsed.items]
    return String(string_literal(bytes(numbers[:-1])), INT)


def _variadic(translator: Translator, value: Operand) -> Expression:
    if value.kind is ValueKind.GLOBAL:
        return _text(translator, value)
    argument = translator.value(value)
    before = converted(argument)
    if argument.type == DOUBLE and before is None:
        translator.requirements.uses_double = True
    return before if argument.type == DOUBLE and before is not None and before.type == FLOAT else argument


def _sampler(translator: Translator, instruction: Instruction) -> Expression:
    flags = int(instruction.arguments[0].text)
    names: Sequence[str] = (
        "CLK_NORMALIZED_COORDS_TRUE" if flags & 1 else "CLK_NORMALIZED_COORDS_FALSE",
        _ADDRESSING.get(flags & 0xE, "CLK_ADDRESS_NONE"),
        "CLK_FILTER_LINEAR" if flags & 0x20 else "CLK_FILTER_NEAREST",
    )
    translator.requirements.samplers.setdefault(flags, " | ".join(names))
    return Name(translator.sampler_names[flags], Opaque("sampler_t"))


_ADDRESSING = {
    2: "CLK_ADDRESS_CLAMP_TO_EDGE",
    4: "CLK_ADDRESS_CLAMP",
    6: "CLK_ADDRESS_REPEAT",
    8: "CLK_ADDRESS_MIRRORED_REPEAT",
}


def _to_space(function: str, space: int) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        translator.requirements.needs_2_0 = True
        argument = translator.value(instruction.arguments[0])
        if not isinstance(argument.type, Pointer):
            raise unsupported(f"{function} of something else than a pointer")
        return call(function, [argument], replace(argument.type, space=space))

    return write


_SPECIAL: Mapping[str, Callable[[Translator, Instruction], Expression]] = {
    "printf": _printf,
    "__translate_sampler_initializer": _sampler,
    "__to_global": _to_space("to_global", AddressSpace.GLOBAL),
    "__to_local": _to_space("to_local", AddressSpace.LOCAL),
    "__to_private": _to_space("to_private", AddressSpace.PRIVATE),
}
