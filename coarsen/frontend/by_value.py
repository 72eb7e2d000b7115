"""Structures passed by value that the kernel changes become variables of its own.

    before                                          after
    define … (ptr byval(%struct.S) align 4 %s) {    define … (ptr byval(%struct.S) align 4 %s) {
    entry:                                          entry:
                                                      %s.own = alloca %struct.S, align 4
                                                      %s.whole = load %struct.S, ptr %s, align 4
                                                      store %struct.S %s.whole, ptr %s.own, align 4
      store i32 1, ptr %s                             store i32 1, ptr %s.own

So a transform need not know of them; and PoCL 3.1, like Intel's runtime given SPIR-V, keeps one structure for all
work-items of a group, where changes of the argument itself would meet. One that is only read stays as it is.

Nobody reads the body for that: LLVM says what is done to the argument, the argument gets another name and the
variable its old one, so that the body is about the variable; and when LLVM has read it, both are called as above.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from coarsen.frontend.input_checks import parsed
from coarsen.frontend.source_names import set_name
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import open_module, parse_signature
from coarsen.ir.graph.operands import Argument
from coarsen.ir.graph.printer import module_text, signature_text
from coarsen.ir.graph.scanner import Scanner
from coarsen.ir.graph.unread import UnreadFunction

_BY_VALUE = "byval("
_ADDRESSES = frozenset({"getelementptr", "addrspacecast", "bitcast"})
_READING = _ADDRESSES | {"icmp"}
_COPY = "llvm.memcpy"


@contextmanager
def module_with_own_structures(module: Module, kernel: str) -> Iterator[Any]:
    """Give a kernel variables for the structures passed by value that it changes.

    Args:
        module: around the kernel, its functions unread.
        kernel: its name.

    Yields:
        the `llvmlite.binding.ModuleRef`, which is closed at the end of the `with`.

    Raises:
        InvalidInputError: LLVM can't read it.
        RefusalError: `unsupported-instruction`, for a signature that no kernel has.
    """
    with parsed(module_text(module)) as read:
        changed = _changed_structures(read.get_function(kernel))
        if not changed:
            yield read
            return
        named = open_module(str(read))
    edited, passed = _with_own_structures(named, kernel, changed)
    with parsed(module_text(edited)) as read_again:
        for name, meanwhile in passed.items():
            _name(read_again.get_function(kernel), name, meanwhile)
        yield read_again


def _changed_structures(function: Any) -> list[int]:  # noqa: ANN401 (llvmlite has no types)
    """Return the places of changed structures among the arguments, all of which then get plain names."""
    arguments = list(function.arguments)
    changed = [
        place
        for place, argument in enumerate(arguments)
        if any(each.startswith(_BY_VALUE.encode()) for each in argument.attributes)
        and _is_changed(function, argument)
    ]
    for place, argument in enumerate(arguments) if changed else ():
        if argument.name or place in changed:
            set_name(argument, argument.name or "argument", set())
    return changed


def _with_own_structures(module: Module, kernel: str, changed: list[int]) -> tuple[Module, dict[str, str]]:
    """Return the module with variables named like the changed structures, and the names of these meanwhile."""
    signature = parse_signature(module.unread[kernel])
    body = module.unread[kernel].body
    # After the name of the first block, if it has one.
    head = 0 if body[0].startswith(" ") else 1
    passed: dict[str, str] = {}
    for place in changed:
        argument = signature.arguments[place]
        meanwhile = f"{argument.name}.passed"
        while any(f"%{meanwhile}" in line for line in body):
            meanwhile += "_"
        passed[argument.name] = meanwhile
        body = (*body[:head], *_copying(argument, meanwhile), *body[head:])
        argument.name = meanwhile
    edited = UnreadFunction(kernel, signature_text(signature), body)
    return replace(module, unread={**module.unread, kernel: edited}), passed


def _is_changed(function: Any, argument: Any) -> bool:  # noqa: ANN401
    """Return True if something may be stored through an argument."""
    users: dict[Any, list[Any]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            for operand in instruction.operands:
                users.setdefault(operand, []).append(instruction)
    pending = [argument]
    pointers = {argument}
    while pending:
        for user in users.get(pointer := pending.pop(), ()):
            if user in pointers:
                continue
            if not _only_reads(user, pointer):
                return True
            if user.opcode in _ADDRESSES:
                pointers.add(user)
                pending.append(user)
    return False


def _only_reads(user: Any, pointer: Any) -> bool:  # noqa: ANN401
    operands = list(user.operands)
    if user.opcode == "call" and operands[-1].name.startswith(_COPY):
        return bool(operands[0] != pointer)
    if user.opcode == "load":
        return " load volatile " not in str(user)
    return user.opcode in _READING


def _copying(argument: Argument, passed: str) -> Iterator[str]:
    """Yield the lines that copy what was passed into a variable with the argument's name."""
    before, _, after = argument.attributes.partition(_BY_VALUE)
    line = Scanner(f"({after}", {})
    type_ = line.bracketed()[1:-1]
    words = [*before.split(), *line.rest.split()]
    aligned = f", align {words[words.index('align') + 1]}" if "align" in words else ""
    yield f"  %{argument.name} = alloca {type_}{aligned}"
    yield f"  %{argument.name}.whole = load {type_}, ptr %{passed}{aligned}"
    yield f"  store {type_} %{argument.name}.whole, ptr %{argument.name}{aligned}"


def _name(function: Any, name: str, passed: str) -> None:  # noqa: ANN401
    """Give a variable, and the argument from which it is filled, the names that they are to have."""
    entry = next(iter(function.blocks))
    own = next(i for i in entry.instructions if i.opcode == "alloca" and i.name == name)
    own.name = f"{name}.own"
    argument = next(each for each in function.arguments if each.name == passed)
    argument.name = name
