"""Constant addresses in a variable, made instructions, so that all of its uses are followed alike.

store float 1, getelementptr ([4 x [4 x float]], ptr @k.tile, i64 0, i64 1)

%address = getelementptr [4 x [4 x float]], ptr @k.tile, i64 0, i64 1
store float 1, ptr %address
"""

from __future__ import annotations

from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.instruction_parser import parse_instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Constant, Variable
from coarsen.ir.graph.value_parser import ValueParser

_ADDRESS = "getelementptr "


def expand_addresses(module: Module, variable: Variable, called: str) -> None:
    """Replace constant expressions that name a variable by instructions before their users.

    Args:
        module: in which the variable is.
        variable: whose addresses they are.
        called: its name in the source.

    Raises:
        RefusalError: `layout-pointer-escapes`, an expression that is no address, or the operand of a phi.
    """
    waiting = list(variable.uses)
    while waiting:
        use = waiting.pop()
        user = use.user
        assert isinstance(user, Instruction)
        operand = user.operands[use.slot]
        if not isinstance(operand, Constant):
            continue
        if not operand.text.startswith(_ADDRESS) or user.opcode is Opcode.PHI:
            reason = f"an address in {called} is in a constant: only accesses to its elements can be rewritten"
            raise RefusalError("layout-pointer-escapes", reason, user.position)
        address = _expanded(module, operand, user)
        user.set_operand(use.slot, address)
        waiting += [inner for inner in variable.uses if inner.user is address]


def _expanded(module: Module, constant: Constant, user: Instruction) -> Instruction:
    """The instruction that computes what a constant expression says, before its user."""
    head, _, operands = constant.text.partition("(")
    values = ValueParser({**module.variables, **module.callees})
    line = f"%address = {head.rstrip()} {operands.removesuffix(')')}"
    address = parse_instruction(line, values, dict(module.structures))
    address.origin = user.origin
    return Builder.replacing(user).insert(address)
