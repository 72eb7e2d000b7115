"""Counts the rounded operations on the way to a kernel's results, as an expression of the sizes of its benchmark.

Every floating-point operation that a work-item performs is counted, as often as the loops around it are run: an
upper bound of those that follow each other. Where a loop's trip count is no number in the code, it counts as `n`.
`measure/comparison.py` makes a tolerance of the count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.loop_counts import trip_counts
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import FloatType, Type, scalar

# Exponents of two of the unit roundoffs.
_PRECISION: Mapping[str, int] = {"bfloat": 8, "half": 11, "float": 24, "double": 53}

# Errors in units in the last place that the OpenCL C specification allows (section "Relative error as ULPs"), the
# largest of each kind. Those of native functions are the device's own; this is more than devices document.
_ULPS_OF_DIVISION = 3
_ULPS_OF_FUNCTION = 4
_ULPS: Mapping[str, int] = {
    **dict.fromkeys(("pow", "pown", "powr", "rootn", "tgamma", "lgamma", "erf", "erfc"), 16),
    **dict.fromkeys(("fma", "mad", "fabs", "fmax", "fmin", "floor", "ceil", "rint", "trunc", "round"), 1),
    **dict.fromkeys(("max", "min", "clamp", "mix", "step", "sign", "select", "dot"), 2),
}
_ULPS_OF_NATIVE = 64
_ULPS_OF_HALF = 8192

_ROUNDED = frozenset({"fadd", "fsub", "fmul", "fptrunc", "sitofp", "uitofp", "atomicrmw"})
_DIVISIONS = frozenset({"fdiv", "frem"})
_TO_INTEGER = frozenset({"fptosi", "fptoui"})
UNKNOWN_TRIPS = "n"


def rounding_steps(kernel: Kernel, output_types: Iterable[str]) -> str | None:
    """Return the count of roundings as the text of an expression; None if no output is of a floating-point type.

    A function that is wrong by `e` units in the last place counts as `e²` operations, since the bound grows with
    the root of the count; likewise an operation in a type that is less precise than the outputs.

    Args:
        kernel: the lowered kernel.
        output_types: names of the element types of the outputs, in OpenCL C, without a number of components.
    """
    precisions = [_PRECISION[name] for name in output_types if name in _PRECISION]
    if not precisions:
        return None
    control_flow = ControlFlow(kernel)
    trips = trip_counts(IndexForms(kernel, control_flow))
    steps: Counter[int] = Counter()
    for block in kernel.blocks:
        weight = sum(_weight(instruction, min(precisions)) for instruction in block.instructions)
        loops = [trips.get(loop.header) for loop in control_flow.loops_around(block.name)]
        for known in loops:
            weight *= known if known is not None else 1
        steps[loops.count(None)] += weight
    return _expression(steps)


def rounds_to_integers(kernel: Kernel) -> bool:
    """Return True if a floating-point number becomes a whole one, which rounding of the former may tip."""
    return any(
        instruction.opcode in _TO_INTEGER or builtin_name(instruction.callee).startswith("convert_")
        for instruction in kernel.instructions()
        if any(_float_kind(operand.type) for operand in instruction.arguments)
        and not _float_kind(instruction.type)
    )


def _expression(steps: Counter[int]) -> str:
    """The sum of `steps[depth]` times the unknown trip counts of as many loops, at least 1."""
    terms = [" * ".join([str(count), *[UNKNOWN_TRIPS] * depth]) for depth, count in sorted(steps.items()) if count]
    return " + ".join(terms) or "1"


def _weight(instruction: Instruction, precision: int) -> int:
    kind = _float_kind(instruction.type) or _stored_kind(instruction)
    if not kind:
        return 0
    lost = precision - _PRECISION.get(kind, precision)
    return _steps(instruction) * int(4 ** max(lost, 0))


def _stored_kind(instruction: Instruction) -> str:
    """The floating-point type that a call such as `vstore_half` or an atomic operation rounds to."""
    kinds = [_float_kind(operand.type) for operand in instruction.arguments]
    return next(filter(None, kinds), "") if instruction.opcode in ("call", "atomicrmw") else ""


def _steps(instruction: Instruction) -> int:
    """As how many roundings an instruction counts; 0 if it is exact."""
    if instruction.opcode in _ROUNDED:
        return 1
    if instruction.opcode in _DIVISIONS:
        return _ULPS_OF_DIVISION**2
    if not instruction.callee:
        return 0
    if instruction.callee.startswith("llvm."):
        return 2 if instruction.callee.startswith("llvm.fmuladd") else 1
    return _ulps(builtin_name(instruction.callee)) ** 2


def _ulps(name: str) -> int:
    """The error of a builtin function in units in the last place, rounded up."""
    if name.startswith("native_"):
        return _ULPS_OF_NATIVE
    if name.startswith("half_"):
        return _ULPS_OF_HALF
    return _ULPS.get(name, _ULPS_OF_FUNCTION)


def _float_kind(type_: Type) -> str:
    element = scalar(type_)
    return element.kind if isinstance(element, FloatType) else ""
