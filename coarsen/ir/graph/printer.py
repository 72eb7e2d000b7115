"""The graph as LLVM IR text, to the letter as LLVM prints it (comments and debug information apart)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from coarsen.errors import InternalError
from coarsen.ir.graph.details import (
    Access,
    Allocation,
    AtomicUpdate,
    CallSite,
    Comparison,
    ElementAddress,
    Indices,
    Mask,
)
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.opcode import BINARY, CASTS, COMPARISONS, Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import StructType, VoidType, quoted

_Kind = TypeVar("_Kind")
Suffix = Callable[[Instruction], str]
"""What to write after an instruction: a debug location, or nothing."""


def no_suffix(_instruction: Instruction) -> str:
    """Write nothing after an instruction."""
    return ""


def module_text(
    module: Module, suffix: Suffix = no_suffix, function_suffix: Callable[[Function], str] = lambda _function: ""
) -> str:
    """Return a module's text.

    Args:
        module: whose functions have unique names (`names.py`).
        suffix: what to write after each instruction.
        function_suffix: what to write before each function's body.
    """
    lines = [f'source_filename = "{module.source_name}"'] if module.source_name else []
    lines += [f'target datalayout = "{module.data_layout}"', f'target triple = "{module.triple}"']
    lines += [f"{structure} = type {_body_of(structure, module)}" for structure in module.structures.values()]
    lines += [f"{variable.spelling} = {variable.definition}" for variable in module.variables.values()]
    for name, callee in module.callees.items():
        function = module.functions.get(name)
        lines += (
            [callee.declaration]
            if function is None
            else ["", *function_lines(function, suffix, function_suffix(function)), ""]
        )
    lines += [f"attributes #{number} = {{ {text} }}" for number, text in module.attribute_groups.items()]
    lines += [f"!{key} = {body}" for key, body in module.metadata.items()]
    return "\n".join(lines) + "\n"


def function_lines(function: Function, suffix: Suffix = no_suffix, function_suffix: str = "") -> Iterator[str]:
    """Yield the lines of a function, `function_suffix` standing before its body."""
    yield f"{signature_text(function)}{function_suffix} {{"
    for block in function.blocks:
        yield from block_lines(block, suffix)
    yield "}"


def signature_text(function: Function) -> str:
    """Return a function's `define` line, without the brace."""
    arguments = ", ".join(
        " ".join(part for part in (str(a.type), a.attributes, a.spelling) if part) for a in function.arguments
    )
    attached = "".join(f" !{kind} {node}" for kind, node in function.attachments)
    return f"{function.prefix} @{quoted(function.name)}({arguments}){function.suffix}{attached}"


def block_lines(block: Block, suffix: Suffix = no_suffix) -> Iterator[str]:
    """Yield the lines of a block, its name first."""
    yield f"{block.name}:"
    for instruction in block.instructions:
        yield f"  {instruction_text(instruction)}{suffix(instruction)}"


def instruction_text(instruction: Instruction) -> str:
    """Return LLVM's line of an instruction, without indentation."""
    assignment = f"%{instruction.name} = " if not isinstance(instruction.type, VoidType) else ""
    attached = "".join(f", !{kind} {node}" for kind, node in instruction.attachments)
    return f"{assignment}{_WRITERS[instruction.opcode](instruction)}{attached}"


def _typed(operand: Operand) -> str:
    return f"{operand.type} {operand.spelling}"


def _all_typed(instruction: Instruction) -> str:
    return ", ".join(map(_typed, instruction.operands))


def _head(instruction: Instruction) -> str:
    """The opcode and the flags."""
    return " ".join((instruction.opcode, *instruction.flags))


def _plain(instruction: Instruction) -> str:
    """Operands of one type, which is written once."""
    operands = ", ".join(operand.spelling for operand in instruction.operands)
    return f"{_head(instruction)} {instruction.operands[0].type} {operands}"


def _comparison(instruction: Instruction) -> str:
    detail = _detail(instruction, Comparison)
    first, second = instruction.operands
    return f"{_head(instruction)} {detail.predicate} {_typed(first)}, {second.spelling}"


def _cast(instruction: Instruction) -> str:
    return f"{_head(instruction)} {_typed(instruction.operands[0])} to {instruction.type}"


def _with_types(instruction: Instruction) -> str:
    return f"{_head(instruction)} {_all_typed(instruction)}"


def _phi(instruction: Instruction) -> str:
    pairs = ", ".join(f"[ {value.spelling}, {block.spelling} ]" for value, block in instruction.edges())
    return f"{_head(instruction)} {instruction.type} {pairs}"


def _element_address(instruction: Instruction) -> str:
    source_type = _detail(instruction, ElementAddress).source_type
    return f"{_head(instruction)} {source_type}, {_all_typed(instruction)}"


def _allocation(instruction: Instruction) -> str:
    detail = _detail(instruction, Allocation)
    count = "".join(f", {_typed(operand)}" for operand in instruction.operands)
    space = getattr(instruction.type, "address_space", 0)
    in_space = f", addrspace({space})" if space else ""
    return f"alloca {detail.type}{count}{_aligned(detail.alignment)}{in_space}"


def _load(instruction: Instruction) -> str:
    access = _detail(instruction, Access)
    return f"load{_before(access)} {instruction.type}, {_typed(instruction.operands[0])}{_after(access)}"


def _store(instruction: Instruction) -> str:
    access = _detail(instruction, Access)
    return f"store{_before(access)} {_all_typed(instruction)}{_after(access)}"


def _atomic_update(instruction: Instruction) -> str:
    detail = _detail(instruction, AtomicUpdate)
    words = [*(["weak"] if detail.is_weak else []), *(["volatile"] if detail.access.is_volatile else [])]
    head = " ".join([instruction.opcode, *words, *([detail.operation] if detail.operation else [])])
    failure = f" {detail.failure}" if detail.failure else ""
    orderings = f"{_ordering(detail.access)}{failure}{_aligned(detail.access.alignment)}"
    return f"{head} {_all_typed(instruction)}{orderings}"


def _fence(instruction: Instruction) -> str:
    return f"fence{_ordering(_detail(instruction, Access))}"


def _before(access: Access) -> str:
    return f"{' atomic' if access.ordering else ''}{' volatile' if access.is_volatile else ''}"


def _after(access: Access) -> str:
    return f"{_ordering(access)}{_aligned(access.alignment)}"


def _ordering(access: Access) -> str:
    scope = f' syncscope("{access.scope}")' if access.scope else ""
    return f"{scope} {access.ordering}" if access.ordering else ""


def _aligned(alignment: int) -> str:
    return f", align {alignment}" if alignment else ""


def _shuffle(instruction: Instruction) -> str:
    mask = _detail(instruction, Mask).elements
    body = ", ".join(f"i32 {'poison' if element is None else element}" for element in mask)
    spelled = f"<{body}>"
    if all(element == 0 for element in mask):
        spelled = "zeroinitializer"
    elif all(element is None for element in mask):
        spelled = "poison"
    return f"shufflevector {_all_typed(instruction)}, <{len(mask)} x i32> {spelled}"


def _aggregate(instruction: Instruction) -> str:
    indices = "".join(f", {index}" for index in _detail(instruction, Indices).indices)
    return f"{instruction.opcode} {_all_typed(instruction)}{indices}"


def _call(instruction: Instruction) -> str:
    site = _detail(instruction, CallSite)
    *arguments, callee = instruction.operands
    attributes = site.argument_attributes or ("",) * len(arguments)
    spelled = (
        f"{a.type} {attribute} {a.spelling}" if attribute else _typed(a)
        for a, attribute in zip(arguments, attributes, strict=True)
    )
    words = (site.tail, "call", *instruction.flags, site.convention, site.result_attributes)
    head = " ".join(word for word in words if word)
    returned = site.signature or instruction.type
    return f"{head} {returned} {callee.spelling}({', '.join(spelled)}){site.attributes}"


def _branch(instruction: Instruction) -> str:
    labels = [f"label {block.spelling}" for block in instruction.blocks]
    return f"br {', '.join([*map(_typed, instruction.operands), *labels])}"


def _return(instruction: Instruction) -> str:
    return f"ret {_all_typed(instruction)}" if instruction.operands else "ret void"


def _detail(instruction: Instruction, kind: type[_Kind]) -> _Kind:
    if not isinstance(instruction.detail, kind):
        raise InternalError(f"'{instruction.opcode}' lacks its {kind.__name__}")
    return instruction.detail


def _body_of(structure: StructType, module: Module) -> str:
    if structure.name in module.opaque:
        return "opaque"
    return str(StructType("", structure.elements, structure.packed))


_WRITERS: dict[Opcode, Callable[[Instruction], str]] = {
    **dict.fromkeys((*BINARY, Opcode.FNEG), _plain),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys((Opcode.SELECT, Opcode.FREEZE, Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT), _with_types),
    **dict.fromkeys((Opcode.ATOMICRMW, Opcode.CMPXCHG), _atomic_update),
    **dict.fromkeys((Opcode.EXTRACTVALUE, Opcode.INSERTVALUE), _aggregate),
    Opcode.PHI: _phi,
    Opcode.GETELEMENTPTR: _element_address,
    Opcode.ALLOCA: _allocation,
    Opcode.LOAD: _load,
    Opcode.STORE: _store,
    Opcode.FENCE: _fence,
    Opcode.SHUFFLEVECTOR: _shuffle,
    Opcode.CALL: _call,
    Opcode.BR: _branch,
    Opcode.RET: _return,
    Opcode.UNREACHABLE: lambda _instruction: "unreachable",
}
