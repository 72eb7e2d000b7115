"""Phis that stay at a constant distance from each other.

    %x   = phi [ %id, %entry ],   [ %x.next, %latch ]        %x.next   = add %x, %n
    %x.1 = phi [ %id.1, %entry ], [ %x.next.1, %latch ]      %x.next.1 = add %x.1, %n

A phi is another of its block plus a constant if it is so on every way in, given that it was before. This is an
induction over the times that the block is entered, so it holds at any of them.
"""

from __future__ import annotations

import functools

from coarsen.analysis.algebra.prove.form import ModularForm, finer
from coarsen.analysis.algebra.prove.proof import Proof
from coarsen.ir.kernel import Instruction


def phi(proof: Proof, instruction: Instruction) -> ModularForm | None:
    """Return a phi as another of its block and a constant, None where there is no such other."""
    if not proof.may_try:
        return None
    block = proof.block_of(instruction)
    for other in proof.kernel.block[block].phis:
        if other.name == instruction.name:
            break
        if other.type == instruction.type and other.incoming == instruction.incoming:
            distance = _lasting_distance(proof, instruction, other)
            if distance is not None:
                return proof.of_instruction(other) + distance
    return None


def _lasting_distance(proof: Proof, phi: Instruction, other: Instruction) -> ModularForm | None:
    """Return the distance of two phis if it is a constant; a grain that a way in adds is assumed from then on."""
    assumed = _possible_distance(proof, phi, other)
    while assumed is not None:
        forms = proof.trial({other.name: proof.own(other), phi.name: proof.own(other) + assumed})
        distances = [forms.distance(*pair) for pair in zip(phi.operands, other.operands, strict=True)]
        if any(distance.polynomial != assumed.polynomial for distance in distances):
            return None
        found = functools.reduce(finer, (distance.grain for distance in distances), assumed.grain)
        if found == assumed.grain:
            break
        assumed = ModularForm(assumed.polynomial, found)
    return assumed


def _possible_distance(proof: Proof, phi: Instruction, other: Instruction) -> ModularForm | None:
    """Return the distance of two phis on the first way in where it is a constant."""
    forms = proof.apart(proof.block_of(phi))
    for pair in zip(phi.operands, other.operands, strict=True):
        distance = forms.distance(*pair)
        if distance.polynomial.is_constant:
            return distance
    return None
