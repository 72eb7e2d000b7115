"""From values and instructions of LLVM to C expressions: what all the writers of single instructions share.

Each opcode has a handler in a table (`opcodes.HANDLERS`); a handler asks the translator for its operands'
expressions, which names a variable or writes the folded instruction in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.backend.opencl_c.c.build import coerce
from coarsen.backend.opencl_c.c.tree import Expression, Name
from coarsen.backend.opencl_c.c.types import BOOL, CType, Record, Scalar, Vector, with_sign
from coarsen.backend.opencl_c.decide.folding import Dataflow, Folding
from coarsen.backend.opencl_c.decide.pointees import Pointees, Signs
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel

Handler = Callable[["Translator", Instruction], Expression]
LanesHandler = Callable[["Translator", Operand, bool], Sequence[Expression]]
ConstantHandler = Callable[["Translator", Operand, bool], Expression]


@dataclass(slots=True)
class Requirements:
    """What the text needs around the kernel, collected while it is written."""

    extensions: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    samplers: dict[int, str] = field(default_factory=dict)
    needs_2_0: bool = False
    uses_double: bool = False


@dataclass
class Translator:
    """Everything that is known about one kernel while its text is written."""

    kernel: Kernel
    dataflow: Dataflow
    folding: Folding
    signs: Signs
    pointees: Pointees
    names: Mapping[str, Expression]
    field_names: Mapping[tuple[str, int], str]
    handlers: Mapping[str, Handler]
    constant_handler: ConstantHandler
    constant_lanes_handler: LanesHandler
    sampler_names: Mapping[int, str]
    new_name: Callable[[str], str]
    requirements: Requirements = field(default_factory=Requirements)
    variable_types: dict[str, CType] = field(default_factory=dict)

    def new_variable(self, wish: str, type_: CType) -> Name:
        """Return a variable of the text's own."""
        name = self.new_name(wish)
        self.variable_types[name] = type_
        return Name(name, type_)

    def variable(self, value: str) -> Name:
        """Return the variable that a value has."""
        expression = self.names[value]
        if not isinstance(expression, Name):
            raise TypeError(f"'{value}' has no variable")
        return expression

    def value(self, value: Operand, *, signed: bool | None = None) -> Expression:
        """Return the expression of an operand; with `signed`, as an integer of that sign.

        Constants take the sign that is asked for, signed otherwise.
        """
        origin = self.dataflow.origin(value)
        if origin.kind is ValueKind.CONSTANT or origin.kind is ValueKind.GLOBAL:
            return self.constant_handler(self, origin, signed is not False)
        expression = self._local(origin)
        if signed is None or expression.type is BOOL:
            return expression
        return coerce(expression, with_sign(expression.type, signed=signed))

    def constant_lanes(self, value: Operand, signed: bool) -> Sequence[Expression]:
        """Return the elements of a constant vector."""
        return self.constant_lanes_handler(self, value, signed)

    def as_type(self, value: Operand, type_: CType) -> Expression:
        """Return the expression of an operand as a C type of the same bits."""
        signed = not isinstance(type_, (Scalar, Vector)) or with_sign(type_, signed=True) == type_
        origin = self.dataflow.origin(value)
        if origin.kind is ValueKind.CONSTANT:
            return coerce(self.constant_handler(self, origin, signed), type_)
        return coerce(self.value(origin), type_)

    def _local(self, value: Operand) -> Expression:
        known = self.names.get(value.text)
        if known is not None:
            return known
        instruction = self.kernel.definition.get(value.text)
        if instruction is None:
            raise RefusalError("unsupported-value", f"the value '{value.text}' can't be written as OpenCL C")
        return self.instruction(instruction)

    def instruction(self, instruction: Instruction) -> Expression:
        """Return the expression that computes an instruction's result."""
        handler = self.handlers.get(instruction.opcode)
        if handler is None:
            raise self.refusal(
                "unsupported-instruction",
                f"LLVM's '{instruction.opcode}' can't be written as OpenCL C",
                instruction,
            )
        try:
            return handler(self, instruction)
        except RefusalError as refusal:
            if refusal.position is None and instruction.position is not None:
                raise RefusalError(refusal.code, refusal.reason, instruction.position) from None
            raise

    @staticmethod
    def refusal(code: str, reason: str, instruction: Instruction) -> RefusalError:
        """Return a refusal that tells where in the source."""
        return RefusalError(code, reason, instruction.position)

    def field_name(self, record: Record, index: int) -> str:
        """Return a structure's field's name: what the source calls it where an access kept that."""
        return self.field_names.get((record.name, index), f"field{index}")


def unsupported(what: str) -> RefusalError:
    """Return a refusal of what has no faithful form; the position is added where the instruction is known."""
    return RefusalError("unsupported-instruction", f"{what} can't be written as OpenCL C")
