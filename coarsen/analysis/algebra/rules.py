"""The table of rules: what each opcode's result is, from its operands' forms, in each semantics.

    predict      right where nothing wraps: extensions change nothing, quotients and choices are pieces
    prove        right for all inputs: ring operations, and what `prove/` says of extensions and phis
    bit-exact    right modulo 2^n: ring operations; value numbering applies them to the forms that it keeps itself

An opcode without a rule, and a rule that gives nothing, leave a result a symbol of its own: always right. A wrong
rule in the column `prove` is a wrong kernel, since transforms rely on it. Such a rule takes a `Proof`, and so it
can't ask for what is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra import numbers
from coarsen.analysis.algebra.numbers import F, RingRule, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict import operations, prediction
from coarsen.analysis.algebra.predict import prediction as predicted_phis
from coarsen.analysis.algebra.predict.prediction import Prediction, PredictRule
from coarsen.analysis.algebra.prove import proof as proofs
from coarsen.analysis.algebra.prove import proof as proven_phis
from coarsen.analysis.algebra.prove.proof import ModularForm, Proof, ProveRule
from coarsen.analysis.algebra.walk import Walk, address
from coarsen.ir.graph.instruction import Instruction


@dataclass(frozen=True, slots=True)
class Rule:
    """The rules of an opcode; None: its results are symbols of their own.

    Attributes:
        predict: where nothing wraps.
        prove: whatever wraps.
        exact: modulo 2^n, of the operands' forms alone.
    """

    predict: PredictRule | None = None
    prove: ProveRule | None = None
    exact: RingRule | None = None


def _of_operands(rule: RingRule, walk: Walk[F], instruction: Instruction) -> F | None:
    first, second = instruction.operands
    return rule(walk.form(first), walk.form(second), width_of(instruction.type))


def _predicted(rule: RingRule) -> PredictRule:
    def apply(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
        return _of_operands(rule, prediction, instruction)

    return apply


def _proven(rule: RingRule) -> ProveRule:
    def apply(proof: Proof, instruction: Instruction) -> ModularForm | None:
        return _of_operands(rule, proof, instruction)

    return apply


_UNCHANGED = Rule(operations.unchanged)
_EXTENSION = Rule(operations.unchanged, proofs.extend)
_QUOTIENT = Rule(operations.divide)
_REMAINDER = Rule(operations.remainder)
_SHIFT_RIGHT = Rule(operations.shift_right)

TABLE: Mapping[str, Rule] = {
    # Ring operations, in all three semantics.
    "add": Rule(_predicted(numbers.add), _proven(numbers.add), numbers.add),
    "sub": Rule(_predicted(numbers.subtract), _proven(numbers.subtract), numbers.subtract),
    "mul": Rule(operations.multiply, _proven(numbers.multiply), numbers.multiply),
    "getelementptr": Rule(address, address),
    # Ring operations for some operands: a number of bits, no common bit, a mask of ones.
    "shl": Rule(operations.shift_left, _proven(numbers.shift_left), numbers.shift_left),
    "or": Rule(operations.bitwise_or, proofs.disjoint_or),
    "xor": Rule(operations.exclusive_or, _proven(numbers.complement)),
    # The same number in other bits, or not.
    "sext": _EXTENSION,
    "zext": _EXTENSION,
    "trunc": Rule(operations.unchanged, proofs.truncate),
    "freeze": _UNCHANGED,
    "bitcast": _UNCHANGED,
    "addrspacecast": _UNCHANGED,
    "ptrtoint": _UNCHANGED,
    "inttoptr": _UNCHANGED,
    # Rounded: affine in pieces.
    "udiv": _QUOTIENT,
    "sdiv": _QUOTIENT,
    "urem": _REMAINDER,
    "srem": _REMAINDER,
    "lshr": _SHIFT_RIGHT,
    "ashr": _SHIFT_RIGHT,
    "and": Rule(operations.bitwise_and),
    # One of several values.
    "select": Rule(prediction.select),
    "phi": Rule(predicted_phis.phi, proven_phis.phi),
    "extractelement": Rule(operations.component),
    "call": Rule(operations.call),
}

PREDICT: Mapping[str, PredictRule] = {
    opcode: rule.predict for opcode, rule in TABLE.items() if rule.predict is not None
}
PROVE: Mapping[str, ProveRule] = {opcode: rule.prove for opcode, rule in TABLE.items() if rule.prove is not None}
