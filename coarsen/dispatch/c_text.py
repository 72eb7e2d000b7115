"""C99 functions written from checked steps and trees, which come to the same bits as the Python functions do.

Operations of doubles go through functions of their own, whose results are volatile: no compiler may join two of
them into one that is rounded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from coarsen.dispatch.steps import (
    COEFFICIENTS,
    SMALLEST,
    SQUARE_ROOT_OF_HALF,
    Kind,
    Named,
    Operand,
    Operation,
    Result,
    Step,
    Steps,
)
from coarsen.dispatch.tree import Leaf, Tree

TYPES: Mapping[Kind, str] = MappingProxyType({Kind.WHOLE: "int64_t", Kind.REAL: "double"})
# By operation: the function of whole numbers, which returns 0 where there is no value, and that of doubles.
_OF_WHOLE: Mapping[Operation, str] = MappingProxyType(
    {
        Operation.ADD: "coarsen_add",
        Operation.SUBTRACT: "coarsen_subtract",
        Operation.MULTIPLY: "coarsen_multiply",
        Operation.QUOTIENT: "coarsen_quotient",
        Operation.REMAINDER: "coarsen_remainder",
    }
)
_OF_REAL: Mapping[Operation, str] = MappingProxyType(
    {
        Operation.ADD: "coarsen_real_sum",
        Operation.SUBTRACT: "coarsen_real_difference",
        Operation.MULTIPLY: "coarsen_real_product",
        Operation.DIVIDE: "coarsen_real_quotient",
    }
)
_LAST, *_OTHERS = reversed(COEFFICIENTS)
ARITHMETIC = f"""\
#ifndef COARSEN_ARITHMETIC
#define COARSEN_ARITHMETIC
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0 || DBL_MANT_DIG != 53 || defined(__FAST_MATH__)
#error "choices need IEEE doubles, rounded at each operation: compile without -ffast-math and x87"
#endif

/* Whole numbers: 0 is returned where the result is beyond 64 bits or not defined. */
static inline int coarsen_add(int64_t a, int64_t b, int64_t *result)
{{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return 0;
    *result = a + b;
    return 1;
}}

static inline int coarsen_subtract(int64_t a, int64_t b, int64_t *result)
{{
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b)
        return 0;
    *result = a - b;
    return 1;
}}

static inline int coarsen_multiply(int64_t a, int64_t b, int64_t *result)
{{
    if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
              : (b > 0 ? a < INT64_MIN / b : a != 0 && b < INT64_MAX / a))
        return 0;
    *result = a * b;
    return 1;
}}

static inline int coarsen_quotient(int64_t a, int64_t b, int64_t *result)
{{
    if (a < 0 || b <= 0)
        return 0;
    *result = a / b;
    return 1;
}}

static inline int coarsen_remainder(int64_t a, int64_t b, int64_t *result)
{{
    if (a < 0 || b <= 0)
        return 0;
    *result = a % b;
    return 1;
}}

/* Doubles: each result is stored, so that it is rounded by itself. */
static inline double coarsen_real_sum(double a, double b)
{{
    volatile double result = a + b;
    return result;
}}

static inline double coarsen_real_difference(double a, double b)
{{
    volatile double result = a - b;
    return result;
}}

static inline double coarsen_real_product(double a, double b)
{{
    volatile double result = a * b;
    return result;
}}

static inline double coarsen_real_quotient(double a, double b)
{{
    volatile double result = a / b;
    return result;
}}

static inline int coarsen_is_finite(double a)
{{
    return a >= -DBL_MAX && a <= DBL_MAX;
}}

/* The logarithm to the base 2 of a positive finite number: its exponent, and a series for the rest. */
static inline double coarsen_logarithm(double a)
{{
    static const double coefficients[] = {{
        {", ".join(value.hex() for value in _OTHERS)}
    }};
    int exponent;
    size_t index;
    double mantissa = frexp(a, &exponent), ratio, square, total = {_LAST.hex()};
    if (mantissa < {SQUARE_ROOT_OF_HALF.hex()}) {{
        mantissa += mantissa;
        exponent -= 1;
    }}
    ratio = coarsen_real_quotient(mantissa - 1.0, mantissa + 1.0);
    square = coarsen_real_product(ratio, ratio);
    for (index = 0; index < sizeof coefficients / sizeof *coefficients; index++)
        total = coarsen_real_sum(coarsen_real_product(total, square), coefficients[index]);
    return coarsen_real_sum((double)exponent, coarsen_real_product(ratio, total));
}}
#endif
"""


def statements(
    formulas: Sequence[Steps],
    invalid: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    functions: Mapping[Operation, str] = MappingProxyType({}),
) -> tuple[list[str], list[str]]:
    """Return C statements that compute formulas, and the expressions of their results.

    Args:
        formulas: over the members of `in`.
        invalid: the statement for a formula that has no value.
        variables: of names that are no members, what stands for them.
        functions: what operations of whole numbers are to call in place of `ARITHMETIC`'s functions.
    """
    functions = {**_OF_WHOLE, **functions}
    lines: list[str] = []
    results: list[str] = []
    count = 0
    for formula in formulas:

        def text(operand: Operand, first: int = count) -> str:
            if isinstance(operand, Result):
                return f"t{first + operand.step}"
            if isinstance(operand, Named):
                return variables.get(operand.name, f"in->{operand.name}")
            return _constant(operand.value)

        for number, step in enumerate(formula.steps, count):
            lines += _step(step, f"t{number}", [text(operand) for operand in step.operands], invalid, functions)
        results.append(text(formula.result))
        if formula.kind is Kind.REAL:
            lines += (f"if (!coarsen_is_finite({results[-1]}))", f"    {invalid}")
        count += len(formula.steps)
    return lines, results


def function(head: str, lines: Iterable[str]) -> str:
    """Return a function of a header: `head` has its type, its name and its parameters."""
    return f"static inline {head}\n{{\n{indented(lines)}}}\n"


def indented(lines: Iterable[str]) -> str:
    """Return lines as they stand in a function."""
    return "".join(f"    {line}\n" for line in lines)


def declarations(formulas: Sequence[Steps]) -> list[str]:
    """Return the declarations of what `statements` sets."""
    steps = [step for formula in formulas for step in formula.steps]
    return [f"{TYPES[step.kind]} t{number};" for number, step in enumerate(steps)]


def tree_lines(tree: Tree, places: Mapping[str, str], indent: str) -> Iterator[str]:
    """Yield nested comparisons that return the version a tree chooses."""
    if isinstance(tree, Leaf):
        yield f"{indent}return {tree.version};"
        return
    yield f"{indent}if ({places[tree.feature]} <= {tree.threshold.hex()}) {{"
    yield from tree_lines(tree.at_most, places, f"{indent}    ")
    yield f"{indent}}}"
    yield from tree_lines(tree.above, places, indent)


def _step(
    step: Step, target: str, values: Sequence[str], invalid: str, functions: Mapping[Operation, str]
) -> Iterator[str]:
    operation = step.operation
    if step.kind is Kind.WHOLE and operation in (*_OF_WHOLE, Operation.NEGATE):
        function = functions.get(operation, "coarsen_subtract")
        operands = ["0", *values] if operation is Operation.NEGATE else values
        yield f"if (!{function}({', '.join(operands)}, &{target}))"
        yield f"    {invalid}"
        return
    if operation is Operation.DIVIDE:
        yield f"if ({values[1]} == 0.0)"
        yield f"    {invalid}"
    elif operation is Operation.LOGARITHM:
        yield f"if (!({values[0]} > 0.0 && {values[0]} <= DBL_MAX))"
        yield f"    {invalid}"
    yield f"{target} = {_value(operation, values)};"


def _value(operation: Operation, values: Sequence[str]) -> str:
    first = values[0]
    if operation in _OF_REAL:
        return f"{_OF_REAL[operation]}({', '.join(values)})"
    if operation is Operation.NEGATE:
        return f"-{first}"
    if operation is Operation.REAL:
        return f"(double){first}"
    if operation is Operation.LOGARITHM:
        return f"coarsen_logarithm({first})"
    sign = "<=" if operation is Operation.SMALLER else ">="
    return f"{first} {sign} {values[1]} ? {first} : {values[1]}"


def _constant(value: int | float) -> str:
    if isinstance(value, float):
        return f"({value.hex()})"
    # The smallest whole number has no constant in C.
    return "INT64_MIN" if value == SMALLEST else f"INT64_C({value})"
