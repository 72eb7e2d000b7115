"""What each pointer points to: LLVM's pointers don't say, OpenCL C's do.

An argument's declared type, a variable's own type and the types that a `getelementptr` steps over tell; a pointer
that comes out of memory points to what is first loaded or stored through it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.types import (
    UCHAR,
    Array,
    CType,
    Opaque,
    Pointer,
    Record,
    from_llvm,
    same_bits,
    size_of,
)
from coarsen.backend.opencl_c.decide.arguments import by_value_type, declared_type
from coarsen.backend.opencl_c.decide.builtins import signature
from coarsen.backend.opencl_c.decide.constants import Operation, Symbol, parse_constant
from coarsen.backend.opencl_c.decide.dataflow import Dataflow
from coarsen.ir.details import source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Argument, Instruction, Kernel, Value
from coarsen.ir.types import PointerType, Type

_PASSED_ON = frozenset({"addrspacecast", "bitcast", "freeze"})


class Pointees:
    """The C types behind a kernel's pointers."""

    def __init__(self, kernel: Kernel, dataflow: Dataflow) -> None:
        self.kernel = kernel
        self.dataflow = dataflow
        self._used_as = self._uses()
        self.arguments = {a.name: self._declared(a) for a in kernel.arguments}
        self._by_value = {a.name for a in kernel.arguments if by_value_type(a, kernel.structures) is not None}
        self._found: dict[str, CType | None] = {}
        for instruction in kernel.instructions():  # in order, so that long chains need no deep recursion
            if isinstance(instruction.type, PointerType):
                self(Value(ValueKind.INSTRUCTION, instruction.type, instruction.name))

    def _declared(self, argument: Argument) -> CType:
        """An argument's type; where none was recorded, a pointer's first use tells what it points to."""
        type_ = declared_type(argument, self.kernel.structures)
        used = self._used_as.get(argument.name)
        if argument.type_name or used is None or not isinstance(type_, Pointer):
            return type_
        return replace(type_, pointee=from_llvm(used))

    def _uses(self) -> Mapping[str, Type]:
        """The type of the first access through each pointer."""
        found: dict[str, Type] = {}
        for instruction in self.kernel.instructions():
            if instruction.opcode in ("load", "atomicrmw"):
                found.setdefault(self.dataflow.origin(instruction.operands[0]).text, instruction.type)
            elif instruction.opcode == "store":
                stored = instruction.operands[0].type
                found.setdefault(self.dataflow.origin(instruction.operands[1]).text, stored)
            elif instruction.opcode == "getelementptr":
                base = self.dataflow.origin(instruction.operands[0]).text
                found.setdefault(base, source_element_type(instruction))
        return found

    def __call__(self, pointer: Value) -> CType | None:
        """Return what a pointer points to, or None where nothing tells."""
        origin = self.dataflow.origin(pointer)
        if origin.kind is ValueKind.ARGUMENT:
            type_ = self.arguments[origin.text]
            return type_ if origin.text in self._by_value else _pointee(type_)
        if origin.kind is ValueKind.GLOBAL:
            return from_llvm(self.kernel.globals[origin.text].value_type)
        if origin.kind is ValueKind.CONSTANT:
            return self._of_constant(origin)
        if origin.text not in self._found:
            self._found[origin.text] = None  # a pointer that only depends on itself
            self._found[origin.text] = self._of_instruction(self.kernel.definition[origin.text])
        return self._found[origin.text]

    def _of_constant(self, value: Value) -> CType | None:
        constant = parse_constant(value.type, value.text, self.kernel.structures)
        while isinstance(constant, Operation) and constant.opcode == "addrspacecast":
            constant = constant.operands[0][1]
        if isinstance(constant, Symbol) and constant.name in self.kernel.globals:
            return from_llvm(self.kernel.globals[constant.name].value_type)
        return None

    def _of_instruction(self, instruction: Instruction) -> CType | None:
        found: CType | None = None
        if instruction.opcode == "alloca":
            return from_llvm(source_element_type(instruction))
        if instruction.opcode == "getelementptr":
            found = self._of_address(instruction)
        elif instruction.opcode in _PASSED_ON:
            found = self(instruction.operands[0])
        elif instruction.opcode in ("phi", "select"):
            found = self._of_choices(instruction)
        elif instruction.opcode == "call" and (known := signature(instruction)) is not None:
            found = _pointee(known.result)
        return found if found is not None else self._of_use(instruction)

    def _of_choices(self, instruction: Instruction) -> CType | None:
        choices = instruction.operands if instruction.opcode == "phi" else instruction.operands[1:]
        types = [self(choice) for choice in choices if choice.text != instruction.name]
        return next((type_.element if isinstance(type_, Array) else type_ for type_ in types if type_), None)

    def _of_use(self, instruction: Instruction) -> CType | None:
        type_ = self._used_as.get(instruction.name)
        return from_llvm(type_) if type_ is not None else None

    def _of_address(self, instruction: Instruction) -> CType | None:
        source = from_llvm(source_element_type(instruction))
        base = self(instruction.operands[0])
        if same_bits(source, UCHAR):
            return self._of_bytes(instruction, base)
        type_: CType | None = source
        if base is not None and same_bits(base, source):
            type_ = base
        elif isinstance(base, Array) and same_bits(base.element, source):
            type_ = base.element
        for index in instruction.operands[2:]:
            type_ = _inside(type_, index)
        return type_

    def _of_bytes(self, instruction: Instruction, base: CType | None) -> CType | None:
        """An address that was computed in bytes points to what it is used as, if that isn't bytes."""
        used = self._used_as.get(instruction.name)
        if used is None or isinstance(used, PointerType):
            return base if base is not None and not isinstance(base, (Record, Array)) else None
        type_ = from_llvm(used)
        if base is not None and same_bits(base, type_):
            return base
        return type_ if size_of(type_) >= 1 else None


def _pointee(type_: CType | None) -> CType | None:
    if not isinstance(type_, Pointer):
        return None
    return None if type_.pointee == Opaque("void") else type_.pointee


def _inside(type_: CType | None, index: Value) -> CType | None:
    """The type of an element or a field."""
    if isinstance(type_, Array):
        return type_.element
    if isinstance(type_, Record) and index.text.isdigit():
        return from_llvm(type_.layout.elements[int(index.text)])
    element = getattr(type_, "element", None)
    return element if element is not None else None
