"""A function of the graph as `ir.Kernel`, the view of it that analyses, features and back ends read.

    Function, Block, Instruction (linked, sealed) ─▶ Kernel, Block, Instruction, Value (frozen, equal by content)

Every field is taken from the graph; nothing is read from a line of text. The view keeps the graph, which never
changes again: who wants to edit it copies it (`Kernel.editable_graph`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from coarsen.ir.graph import instruction as graph
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module, attributes_of_callees
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.graph.printer import argument_text
from coarsen.ir.graph.variables import global_variable
from coarsen.ir.kernel import Argument, Block, Instruction, Kernel, Value
from coarsen.ir.metadata import Metadata


def kernel_view(module: Module, name: str) -> Kernel:
    """Return what a module says of one of its functions; the view keeps the module.

    Args:
        module: without debug information; the function's names are unique (`names.py`). It is sealed.
        name: the function's.

    Raises:
        InternalError: there is no such function.
        RefusalError: `unsupported-instruction`, for a program-scope variable that can't be read.
    """
    function = module.function(name)
    metadata = Metadata(module.metadata)
    described = dict(function.attachments)
    variables = [variable for variable in module.variables.values() if not variable.is_alias]
    module.seal()
    return Kernel(
        name=name,
        arguments=tuple(_arguments(function, described, metadata)),
        blocks=tuple(_Views().blocks(function)),
        globals={variable.name: global_variable(variable, module.structures) for variable in variables},
        graph=module,
        required_work_group_size=_required_size(described, metadata),
        function_attributes=attributes_of_callees(module),
    )


def _arguments(function: Function, described: Mapping[str, str], metadata: Metadata) -> Iterator[Argument]:
    # Each node lists all arguments: it is read once, not once for each of them.
    strings = {
        key: metadata.strings(described.get(f"kernel_arg_{key}", "").removeprefix("!"))
        for key in ("type", "base_type", "access_qual", "type_qual")
    }
    spaces = metadata.integers(described.get("kernel_arg_addr_space", "").removeprefix("!"))
    for index, argument in enumerate(function.arguments):
        yield Argument(
            name=argument.name,
            type=argument.type,
            attributes=argument_text(argument),
            type_name=_at(strings["type"], index),
            base_type_name=_at(strings["base_type"], index),
            address_space=spaces[index] if index < len(spaces) else 0,
            access=_at(strings["access_qual"], index) or "none",
            qualifiers=tuple(_at(strings["type_qual"], index).split()),
        )


def _at(items: tuple[str, ...], index: int) -> str:
    return items[index] if index < len(items) else ""


def _required_size(described: Mapping[str, str], metadata: Metadata) -> tuple[int, int, int] | None:
    if "reqd_work_group_size" not in described:
        return None
    sizes = metadata.integers(described["reqd_work_group_size"].removeprefix("!"))
    return (sizes[0], sizes[1], sizes[2])


def instruction_view(instruction: graph.Instruction) -> Instruction:
    """Return what an instruction says; its operands' names are unique."""
    return _Views().instruction(instruction)


@dataclass(slots=True)
class _Views:
    """Views of blocks and instructions; an operand that stands in several places is viewed once."""

    _values: dict[int, Value] = field(default_factory=dict)

    def blocks(self, function: Function) -> Iterator[Block]:
        """Yield the view of each block of a function."""
        for block in function.blocks:
            yield Block(block.name, tuple(map(self.instruction, block.instructions)))

    def instruction(self, instruction: graph.Instruction) -> Instruction:
        """Return the view of an instruction."""
        blocks = tuple([block.name for block in instruction.blocks]) if instruction.blocks else ()
        is_phi = instruction.opcode is Opcode.PHI
        return Instruction(
            instruction.name,
            instruction.opcode,
            instruction.type,
            tuple(map(self._value, instruction.operands)),
            blocks if is_phi else (),
            () if is_phi else blocks,
            instruction.origin,
            instruction.flags,
            instruction.detail,
            instruction.attachments,
        )

    def _value(self, operand: Operand) -> Value:
        # By identity, which the function keeps: to hash a constant is to hash its text.
        key = id(operand)
        known = self._values.get(key)
        if known is None:
            mentioned = (
                tuple(named.name for named in operand.referenced()) if isinstance(operand, Constant) else ()
            )
            known = self._values[key] = Value(operand.kind, operand.type, operand.text, mentioned)
        return known
