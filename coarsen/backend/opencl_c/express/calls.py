"""Calls of OpenCL's builtins, with arguments of the types that choose the overload, and LLVM's intrinsics."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from coarsen.backend.opencl_c.c.build import (
    call,
    coerce,
    comparison,
    converted,
    converted_integer,
    converted_pointer,
    literal_int,
    negated_number,
)
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Integer, Name, Retyped, String, Unary
from coarsen.backend.opencl_c.c.types import (
    DOUBLE,
    FLOAT,
    INT,
    UCHAR,
    VOID,
    CType,
    Opaque,
    Pointer,
    Scalar,
    Vector,
    element_of,
    from_llvm,
    size_of,
    with_sign,
)
from coarsen.backend.opencl_c.decide.builtins import Signature, signature
from coarsen.backend.opencl_c.decide.constants import Elements, Number, parse_constant
from coarsen.backend.opencl_c.express.arithmetic import vector_operation
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.backend.opencl_c.express.vectors import components
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
    "memory_order": {0: "relaxed", 2: "acquire", 3: "release", 4: "acq_rel", 5: "seq_cst"},
    "memory_scope": dict(enumerate(("work_item", "work_group", "device", "all_svm_devices", "sub_group"))),
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
    word = _ENUMERATIONS[type_.name].get(int(value.text))
    return Name(value.text if word is None else f"{type_.name}_{word}", type_)


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


def string_literal(content: bytes) -> str:
    """Return a string literal; an escape by number never runs into a digit after it, since it has three digits."""
    escapes = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\"}
    characters = (escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in content)
    # Two question marks may begin a trigraph.
    both = zip(content, b" " + content, strict=False)
    text = "".join("\\?" if pair == (63, 63) else one for one, pair in zip(characters, both, strict=True))
    return f'"{text}"'


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


# LLVM's intrinsics as OpenCL builtins or expressions.

_TYPE_SUFFIX = re.compile(r"(?:\.(?:[ifp]\d+|v\d+[ifp]\d+|bf16))+$")


def stem(callee: str) -> str:
    """Return an intrinsic's name without prefix and types: `llvm.smax.v4i32` gives `smax`."""
    return _TYPE_SUFFIX.sub("", callee.removeprefix("llvm."))


def intrinsic(translator: Translator, instruction: Instruction) -> Expression:
    """Return the expression of an intrinsic that computes a value."""
    writer = _INTRINSICS.get(stem(instruction.callee))
    if writer is None:
        raise unsupported(f"LLVM's intrinsic '{instruction.callee}'")
    return writer(translator, instruction)


def _function(name: str) -> Handler:
    """The builtin of that name on operands as they are (floating-point ones)."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        operands = [translator.value(value) for value in instruction.arguments]
        return call(name, operands, operands[0].type)

    return write


def _integers(name: str, signed: bool, count: int | None = None, *, signed_result: bool | None = None) -> Handler:
    """The builtin of that name on integers of a sign: its first `count` operands, or all."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        type_ = with_sign(from_llvm(instruction.type), signed=signed)
        operands = [exact_operand(translator, value, type_) for value in instruction.arguments[:count]]
        result = type_ if signed_result is None else with_sign(type_, signed=signed_result)
        return call(name, operands, result)

    return write


def exact_operand(translator: Translator, value: Operand, type_: CType) -> Expression:
    """Return an argument of exactly this type, so that the right overload is taken."""
    operand = translator.as_type(value, type_)
    if isinstance(operand, Integer) and isinstance(type_, Scalar) and type_.size < INT.size:
        return Cast(operand, type_)
    return operand


def _multiply_add(translator: Translator, instruction: Instruction) -> Expression:
    """`a * b + c` in one expression, which C may contract as LLVM may."""
    left, right, addend = (translator.value(value) for value in instruction.arguments)
    if isinstance(left.type, Vector):
        product = vector_operation(left, "*", right)
    else:
        product = Binary(left, "*", right, left.type)
    subtracted = negated_number(addend)
    if subtracted is not None:
        return Binary(product, "-", subtracted, left.type)
    return Binary(product, "+", addend, left.type)


def _trailing_zeros(translator: Translator, instruction: Instruction) -> Expression:
    """The bits below the lowest one that is set: `popcount(~x & (x - 1))`, which OpenCL C 1.2 has."""
    type_ = with_sign(from_llvm(instruction.type), signed=False)
    operand = exact_operand(translator, instruction.arguments[0], type_)
    below = Binary(operand, "-", literal_int(1), type_)
    bits: Expression = Binary(Unary("~", operand, type_), "&", below, type_)
    if isinstance(type_, Scalar) and type_.size < INT.size:
        bits = Cast(bits, type_)
    return call("popcount", [bits], type_)


def _funnel(left: bool) -> Handler:
    """Funnel shifts: of a value with itself a rotation, else two shifts joined."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        type_ = with_sign(from_llvm(instruction.type), signed=False)
        high, low, amount = (exact_operand(translator, value, type_) for value in instruction.arguments)
        if translator.dataflow.origin(instruction.arguments[0]) == translator.dataflow.origin(
            instruction.arguments[1]
        ):
            turned = amount if left else coerce_result(Unary("-", amount, type_), type_)
            return call("rotate", [high, turned], type_)
        return _joined_shifts(high, low, amount, type_, left=left)

    return write


def coerce_result(expression: Expression, type_: CType) -> Expression:
    """Return an expression that C computes as int, as its narrow type."""
    is_narrow = isinstance(type_, Scalar) and type_.size < INT.size
    return Cast(Retyped(expression, INT), type_) if is_narrow else expression


def _joined_shifts(
    high: Expression, low: Expression, amount: Expression, type_: CType, *, left: bool
) -> Expression:
    bits = element_of(type_).size * 8
    limit = literal_int(bits - 1)
    used: Expression = Binary(amount, "&", limit, type_)
    rest: Expression = Binary(Unary("~", amount, type_), "&", limit, type_)
    if isinstance(amount, Integer) and isinstance(type_, Scalar):
        used, rest = literal_int(amount.value % bits), literal_int(bits - 1 - amount.value % bits)
    one = literal_int(1)
    if left:
        upper = Binary(high, "<<", used, type_)
        lower = Binary(Binary(low, ">>", one, type_), ">>", rest, type_)
    else:
        upper = Binary(Binary(high, "<<", one, type_), "<<", rest, type_)
        lower = Binary(low, ">>", used, type_)
    return coerce_result(Binary(upper, "|", lower, type_), type_)


def _byte_swap(translator: Translator, instruction: Instruction) -> Expression:
    type_ = with_sign(from_llvm(instruction.type), signed=False)
    if not isinstance(type_, Scalar):
        raise unsupported("a byte swap of a vector")
    count = type_.size
    parts = call(
        f"as_uchar{count}", [exact_operand(translator, instruction.arguments[0], type_)], Vector(UCHAR, count)
    )
    return call(f"as_{type_}", [components(parts, range(count - 1, -1, -1))], type_)


def _three_way(signed: bool) -> Handler:
    """`(a > b) - (a < b)`."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(value, signed=signed) for value in instruction.arguments)
        right = coerce(right, left.type)
        greater, less = (Retyped(comparison(left, sign, right), INT) for sign in "><")
        difference = Binary(greater, "-", less, INT)
        return coerce(difference, from_llvm(instruction.type))

    return write


def _reduction(operator: str, signed: bool | None = None) -> Handler:
    """A vector's components joined, from the first on: by an operator, or by a function such as `max`."""
    is_function = operator.isalpha()

    def write(translator: Translator, instruction: Instruction) -> Expression:
        *start, vector_value = instruction.arguments
        vector = translator.value(vector_value, signed=False if operator in "+*" else signed)
        if not isinstance(vector.type, Vector):
            raise unsupported("a reduction of something else than a vector")
        if vector.type.is_mask:
            return _mask_reduction(vector, operator)
        element = vector.type.element
        total, *parts = [
            *map(translator.value, start),
            *(components(vector, [index]) for index in range(vector.type.count)),
        ]
        if is_function:
            return reduce(lambda left, right: call(operator, [left, right], element), parts, total)
        joined = reduce(lambda left, right: Binary(left, operator, right, element), parts, total)
        return coerce_result(joined, element)

    return write


def _mask_reduction(mask: Expression, operator: str) -> Expression:
    functions = {"|": "any", "&": "all"}
    if operator not in functions:
        raise unsupported("a reduction of conditions")
    return comparison(call(functions[operator], [mask], INT), "!=", literal_int(0))


_SAME_NAME = (
    *("fma", "fabs", "sqrt", "floor", "ceil", "trunc", "rint", "round", "copysign", "ldexp", "pow"),
    *("exp", "exp2", "exp10", "log", "log2", "log10"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
)
_OTHER_NAMES = {
    **dict.fromkeys(("nearbyint", "roundeven"), "rint"),
    **dict.fromkeys(("minnum", "minimumnum"), "fmin"),
    **dict.fromkeys(("maxnum", "maximumnum"), "fmax"),
    "powi": "pown",
}
_WITH_SIGN = {"min": "min", "max": "max", "add.sat": "add_sat", "sub.sat": "sub_sat"}
_JOINED_BY = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^", "fadd": "+", "fmul": "*"}
_INTRINSICS: Mapping[str, Handler] = {
    **{name: _function(name) for name in _SAME_NAME},
    **{name: _function(function) for name, function in _OTHER_NAMES.items()},
    **{f"{sign}{name}": _integers(each, sign == "s") for sign in "su" for name, each in _WITH_SIGN.items()},
    "fmuladd": _multiply_add,
    "abs": _integers("abs", True, 1, signed_result=False),
    "ctpop": _integers("popcount", False, 1),
    "ctlz": _integers("clz", False, 1),
    "cttz": _trailing_zeros,
    "fshl": _funnel(True),
    "fshr": _funnel(False),
    "bswap": _byte_swap,
    **dict.fromkeys(
        ("expect", "canonicalize", "arithmetic.fence"), lambda translator, one: translator.value(one.arguments[0])
    ),
    "scmp": _three_way(True),
    "ucmp": _three_way(False),
    **{f"vector.reduce.{name}": _reduction(operator) for name, operator in _JOINED_BY.items()},
    **{f"vector.reduce.{sign}{name}": _reduction(name, sign == "s") for sign in "su" for name in ("min", "max")},
    **{f"vector.reduce.{name}": _reduction(name) for name in ("fmin", "fmax")},
}
