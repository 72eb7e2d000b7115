"""The proving rules of what is no ring operation: it is one under conditions, or it is a symbol of its own."""

from __future__ import annotations

from coarsen.analysis.algebra.numbers import width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.prove.form import ModularForm
from coarsen.analysis.algebra.prove.proof import Proof
from coarsen.ir.kernel import Instruction


def disjoint_or(proof: Proof, instruction: Instruction) -> ModularForm | None:
    """`or` of numbers without a common bit is their sum."""
    if "disjoint" not in instruction.flags:
        return None
    return proof.form(instruction.operands[0]) + proof.form(instruction.operands[1])


def extend(proof: Proof, instruction: Instruction) -> ModularForm:
    """`sext`, `zext`: a symbol, by its kind and its operand's polynomial (`exact_forms.py`)."""
    return proof.extended(instruction.opcode, instruction.operands[0])


def truncate(proof: Proof, instruction: Instruction) -> ModularForm:
    """`trunc`: what was extended from as many bits, or more, is what it was before."""
    width = width_of(instruction.type)

    def narrowed(symbol: str) -> Polynomial:
        extension = proof.extension(symbol)
        if extension is None or extension.width < width:
            return Polynomial.symbol(symbol)
        return extension.operand

    form = proof.form(instruction.operands[0])
    return ModularForm(form.polynomial.replaced(narrowed), form.grain)
