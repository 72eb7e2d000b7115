"""The graph as LLVM IR text, to the letter as LLVM prints it (comments and debug information apart)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Attachment, Block, Instruction
from coarsen.ir.graph.instruction_writers import WRITERS
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument
from coarsen.ir.graph.written import Written
from coarsen.ir.types import StructType, VoidType, quoted

Suffix = Callable[[Instruction, str], str]
"""What to write after an instruction, by it and its text without attachments: a debug location, or nothing."""
FunctionSuffix = Callable[[Function], str]
"""What to write before a function's body: its debug information, or nothing."""


def no_suffix(_instruction: Instruction, _text: str) -> str:
    """Write nothing after an instruction."""
    return ""


def no_function_suffix(_function: Function) -> str:
    """Write nothing before a function's body."""
    return ""


def module_text(
    module: Module, suffix: Suffix = no_suffix, function_suffix: FunctionSuffix = no_function_suffix
) -> str:
    """Return a module's text.

    Args:
        module: whose functions have unique names (`names.py`).
        suffix: what to write after each instruction.
        function_suffix: what to write before each function's body.
    """
    functions = lines_of_functions(module, module.callees, suffix, function_suffix)
    return "\n".join([*head_lines(module), *functions, *tail_lines(module)]) + "\n"


def head_lines(module: Module) -> Iterator[str]:
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


def lines_of_functions(
    module: Module,
    names: Iterable[str],
    suffix: Suffix = no_suffix,
    function_suffix: FunctionSuffix = no_function_suffix,
) -> Iterator[str]:
    """Yield the lines of functions, declarations of those without a body."""
    for name in names:
        if name in module.functions:
            function = module.functions[name]
            yield from ("", *function_lines(function, suffix, function_suffix(function)))
        elif name in module.unread:
            unread = module.unread[name]
            yield from ("", f"{unread.definition} {{", *unread.body, "}")
        else:
            yield module.callees[name].declaration


def tail_lines(module: Module) -> Iterator[str]:
    """Yield the lines of attribute groups and metadata."""
    yield from (f"attributes #{number} = {{ {text} }}" for number, text in module.attribute_groups.items())
    yield from (f"!{key} = {body}" for key, body in module.metadata.items())


def function_lines(function: Function, suffix: Suffix = no_suffix, function_suffix: str = "") -> list[str]:
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


def block_lines(block: Block, suffix: Suffix = no_suffix) -> list[str]:
    """Return the lines of a block, its name first."""
    lines = [f"{block.name}:"]
    for instruction in block.instructions:
        text = _without_attachments(instruction)
        attached = _written(instruction.attachments) if instruction.attachments else ""
        lines.append(f"  {text}{attached}{suffix(instruction, text)}")
    return lines


def instruction_text(instruction: Written) -> str:
    """Return LLVM's line of an instruction, without indentation."""
    text = _without_attachments(instruction)
    return text + _written(instruction.attachments) if instruction.attachments else text


def _without_attachments(instruction: Written) -> str:
    text = WRITERS[instruction.opcode](instruction)
    return text if isinstance(instruction.type, VoidType) else f"%{instruction.name} = {text}"


def _written(attachments: tuple[Attachment, ...]) -> str:
    return "".join([f", !{kind} {node}" for kind, node in attachments])


def _body_of(structure: StructType, module: Module) -> str:
    if structure.name in module.opaque:
        return "opaque"
    return str(StructType("", structure.elements, structure.packed))
