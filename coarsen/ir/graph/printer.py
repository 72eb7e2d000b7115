"""The graph as LLVM IR text, to the letter as LLVM prints it (comments and debug information apart)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from coarsen.ir.graph.details import (
    BINARY,
    CASTS,
    COMPARISONS,
    Access,
    Allocation,
    AtomicUpdate,
    CallSite,
    Comparison,
    ElementAddress,
    Indices,
    Mask,
    Opcode,
)
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction, detail_of
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Operand
from coarsen.ir.types import StructType, VoidType, quoted

Suffix = Callable[[Instruction], str]
"""What to write after an instruction: a debug location."""


def module_text(
    module: Module, suffix: Suffix | None = None, function_suffix: Callable[[Function], str] = lambda _: ""
) -> str:
    """Return a module's text.

    Args:
        module: whose functions have unique names (`names.py`).
        suffix: what to write after each instruction.
        function_suffix: what to write before each function's body.
    """
    lines = [*_head_lines(module)]
    for name, callee in module.callees.items():
        if name in module.functions:
            function = module.functions[name]
            lines += ("", *function_lines(function, suffix, function_suffix(function)))
        elif name in module.unread:
            unread = module.unread[name]
            lines += ("", f"{unread.definition} {{", *unread.body, "}")
        else:
            lines.append(callee.declaration)
    lines += (f"attributes #{number} = {{ {text} }}" for number, text in module.attribute_groups.items())
    lines += (f"!{key} = {body}" for key, body in module.metadata.items())
    return "\n".join(lines) + "\n"


def _head_lines(module: Module) -> Iterator[str]:
    """Yield the lines that say the target, those of the preamble, of types and of variables."""
    if module.source_name:
        yield f'source_filename = "{module.source_name}"'
    if module.data_layout:
        yield f'target datalayout = "{module.data_layout}"'
    if module.triple:
        yield f'target triple = "{module.triple}"'
    yield from module.preamble
    for structure in module.structures.values():
        yield f"{structure} = type {_body_of(structure, module)}"
    for variable in module.variables.values():
        yield f"{variable.spelling} = {variable.definition}"


def function_lines(function: Function, suffix: Suffix | None = None, function_suffix: str = "") -> list[str]:
    """Return the lines of a function, `function_suffix` standing before its body."""
    lines = [f"{signature_text(function)}{function_suffix} {{"]
    for block in function.blocks:
        if block is not function.entry:
            lines.append("")
        lines += block_lines(block, suffix)
    lines.append("}")
    return lines


def signature_text(function: Function) -> str:
    """Return a function's `define` line, without the brace."""
    arguments = ", ".join(map(argument_text, function.arguments))
    attached = "".join(f" !{kind} {node}" for kind, node in function.attachments)
    return f"{function.prefix} @{quoted(function.name)}({arguments}){function.suffix}{attached}"


def argument_text(argument: Argument) -> str:
    """Return an argument as a `define` line has it: type, attributes and name."""
    return " ".join(part for part in (str(argument.type), argument.attributes, argument.spelling) if part)


def block_lines(block: Block, suffix: Suffix | None = None) -> list[str]:
    """Return the lines of a block, its name first."""
    lines = [f"{block.name}:"]
    for instruction in block.instructions:
        lines.append(f"  {instruction_text(instruction)}{suffix(instruction) if suffix else ''}")
    return lines


def instruction_text(instruction: Instruction) -> str:
    """Return LLVM's line of an instruction, without indentation."""
    text = WRITERS[instruction.opcode](instruction)
    if not isinstance(instruction.type, VoidType):
        text = f"%{instruction.name} = {text}"
    return text + "".join([f", !{kind} {node}" for kind, node in instruction.attachments])


def _body_of(structure: StructType, module: Module) -> str:
    if structure.name in module.opaque:
        return "opaque"
    return str(StructType("", structure.elements, structure.packed))


def _typed(operand: Operand) -> str:
    return f"{operand.type} {operand.spelling}"


def _all_typed(instruction: Instruction) -> str:
    return ", ".join(map(_typed, instruction.operands))


def _head(instruction: Instruction) -> str:
    """Return the opcode and the flags."""
    return " ".join((instruction.opcode, *instruction.flags))


def _plain(instruction: Instruction) -> str:
    """Operands of one type, which is written once."""
    operands = ", ".join([operand.spelling for operand in instruction.operands])
    return f"{_head(instruction)} {instruction.operands[0].type} {operands}"


def _comparison(instruction: Instruction) -> str:
    detail = detail_of(instruction, Comparison)
    first, second = instruction.operands
    return f"{_head(instruction)} {detail.predicate} {_typed(first)}, {second.spelling}"


def _phi(instruction: Instruction) -> str:
    edges = zip(instruction.operands, instruction.incoming, strict=True)
    pairs = ", ".join([f"[ {value.spelling}, %{block} ]" for value, block in edges])
    return f"{_head(instruction)} {instruction.type} {pairs}"


def _element_address(instruction: Instruction) -> str:
    source_type = detail_of(instruction, ElementAddress).source_type
    return f"{_head(instruction)} {source_type}, {_all_typed(instruction)}"


def _allocation(instruction: Instruction) -> str:
    detail = detail_of(instruction, Allocation)
    count = "".join(f", {_typed(operand)}" for operand in instruction.operands)
    space = getattr(instruction.type, "address_space", 0)
    in_space = f", addrspace({space})" if space else ""
    return f"alloca {detail.type}{count}{_aligned(detail.alignment)}{in_space}"


def _load(instruction: Instruction) -> str:
    access = detail_of(instruction, Access)
    return f"load{_before(access)} {instruction.type}, {_typed(instruction.operands[0])}{_after(access)}"


def _store(instruction: Instruction) -> str:
    access = detail_of(instruction, Access)
    return f"store{_before(access)} {_all_typed(instruction)}{_after(access)}"


def _atomic_update(instruction: Instruction) -> str:
    detail = detail_of(instruction, AtomicUpdate)
    words = [*(["weak"] if detail.is_weak else []), *(["volatile"] if detail.access.is_volatile else [])]
    head = " ".join([instruction.opcode, *words, *([detail.operation] if detail.operation else [])])
    failure = f" {detail.failure}" if detail.failure else ""
    orderings = f"{_ordering(detail.access)}{failure}{_aligned(detail.access.alignment)}"
    return f"{head} {_all_typed(instruction)}{orderings}"


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
    mask = detail_of(instruction, Mask).elements
    body = ", ".join(f"i32 {'poison' if element is None else element}" for element in mask)
    spelled = f"<{body}>"
    if all(element == 0 for element in mask):
        spelled = "zeroinitializer"
    elif all(element is None for element in mask):
        spelled = "poison"
    return f"shufflevector {_all_typed(instruction)}, <{len(mask)} x i32> {spelled}"


def _aggregate(instruction: Instruction) -> str:
    indices = "".join(f", {index}" for index in detail_of(instruction, Indices).indices)
    return f"{instruction.opcode} {_all_typed(instruction)}{indices}"


def _call(instruction: Instruction) -> str:
    site = detail_of(instruction, CallSite)
    arguments, callee = instruction.arguments, instruction.operands[-1]
    attributes = site.argument_attributes or ("",) * len(arguments)
    spelled = [
        f"{a.type} {attribute} {a.spelling}" if attribute else _typed(a)
        for a, attribute in zip(arguments, attributes, strict=True)
    ]
    words = (site.tail, "call", *instruction.flags, site.convention, site.result_attributes)
    head = " ".join([word for word in words if word])
    returned = site.signature or instruction.type
    bundles = _bundles(site, instruction.operands[len(arguments) : -1])
    return f"{head} {returned} {callee.spelling}({', '.join(spelled)}){site.attributes}{bundles}"


def _bundles(site: CallSite, operands: Sequence[Operand]) -> str:
    if not site.bundles:
        return ""
    left = iter(operands)
    spelled = (f"{tag}({', '.join(map(_typed, islice(left, count)))})" for tag, count in site.bundles)
    return f" [ {', '.join(spelled)} ]"


def _branch(instruction: Instruction) -> str:
    labels = [f"label %{target}" for target in instruction.targets]
    return f"br {', '.join([*map(_typed, instruction.operands), *labels])}"


WRITERS: Mapping[str, Callable[[Instruction], str]] = {
    **dict.fromkeys((*BINARY, Opcode.FNEG), _plain),
    **dict.fromkeys(CASTS, lambda each: f"{_head(each)} {_typed(each.operands[0])} to {each.type}"),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(
        (Opcode.SELECT, Opcode.FREEZE, Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT),
        lambda each: f"{_head(each)} {_all_typed(each)}",
    ),
    **dict.fromkeys((Opcode.ATOMICRMW, Opcode.CMPXCHG), _atomic_update),
    **dict.fromkeys((Opcode.EXTRACTVALUE, Opcode.INSERTVALUE), _aggregate),
    Opcode.PHI: _phi,
    Opcode.GETELEMENTPTR: _element_address,
    Opcode.ALLOCA: _allocation,
    Opcode.LOAD: _load,
    Opcode.STORE: _store,
    Opcode.FENCE: lambda each: f"fence{_ordering(detail_of(each, Access))}",
    Opcode.SHUFFLEVECTOR: _shuffle,
    Opcode.CALL: _call,
    Opcode.BR: _branch,
    Opcode.RET: lambda each: f"ret {_all_typed(each)}" if each.operands else "ret void",
    Opcode.UNREACHABLE: lambda _instruction: "unreachable",
}
"""The text of an instruction without its result and attachments, by opcode."""
