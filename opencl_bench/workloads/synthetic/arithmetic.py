"""Arithmetic of a synthetic kernel: a function `transform` of an element, of straight-line operations.

Every operation brings values nearer to each other, but not by much: rounding errors must not grow, and a wrong
element must stay visible in what is made of it.
"""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.synthetic.axes import Arithmetic, Element
from coarsen.opencl_bench.workloads.synthetic.specification import Combination, Specification

# The operations that a builtin counts as, and those that a multiplication with an addition counts as.
BUILTIN_OPERATIONS = 8
PAIR_OPERATIONS = 2
CHAIN_NAMES = ("first", "second", "third", "fourth")
# Signed numbers must not overflow, nor their sum over a work-group.
INTEGER_MASK = "0xffff"
TOTAL_MASK = "0xfffff"


def has_transform(specification: Specification) -> bool:
    """Return True if anything is computed of an element at all."""
    return specification.axes.operations > 0


def statements(specification: Specification) -> int:
    """Return the number of operations of `transform`, one after the other or side by side."""
    builtin = specification.axes.arithmetic not in (Arithmetic.MULTIPLY_ADD, Arithmetic.INTEGER)
    return max(1, specification.axes.operations // (BUILTIN_OPERATIONS if builtin else PAIR_OPERATIONS))


def transform_function(specification: Specification) -> list[str]:
    """The definition of `transform`, line by line; none where nothing is computed."""
    if not has_transform(specification):
        return []
    value_type = specification.compute_type
    generator = np.random.default_rng([specification.seed, specification.index, 2])
    count = statements(specification)
    chains = min(specification.chains, count)
    if chains == 1:
        lines = [_statement(specification, "value", generator) for _ in range(count)]
        return _function(value_type, [*lines, "return value;"])
    names = CHAIN_NAMES[:chains]
    starts = [f"{value_type} {name} = {_start(specification, generator)};" for name in names]
    lines = [_statement(specification, names[number % chains], generator) for number in range(count)]
    return _function(value_type, [*starts, *lines, f"return {_joined(specification, names)};"])


def transformed(specification: Specification, value: str) -> str:
    """The expression of a transformed value."""
    return f"transform({value})" if has_transform(specification) else value


def mixed(specification: Specification, left: str, right: str) -> str:
    """The expression of an element and a second operand together."""
    return f"{left} ^ {right}" if specification.axes.element is Element.INT else f"{left} * {right}"


def combined(specification: Specification, total: str, value: str) -> str:
    """The statement that takes another value into a total."""
    if specification.combination is Combination.ADD:
        if specification.axes.element is Element.INT:
            return f"{total} = ({total} + {_bracketed(value)}) & {TOTAL_MASK};"
        return f"{total} += {value};"
    maximum = "max" if specification.is_whole_number else "fmax"
    return f"{total} = {maximum}({total}, {value});"


def zero(specification: Specification) -> str:
    """Zero, of the type that is computed with."""
    number = {"float": "0.0f", "int": "0", "uint": "0u"}[specification.scalar_type]
    return f"({specification.compute_type})({number})" if specification.is_vector else number


def _bracketed(value: str) -> str:
    """An expression as an operand of a sum; XOR is the only weaker operator here."""
    return f"({value})" if " ^ " in value and not value.startswith("transform(") else value


def _function(value_type: str, body: list[str]) -> list[str]:
    return [f"{value_type} transform({value_type} value)", "{", *(f"    {line}" for line in body), "}", ""]


def _start(specification: Specification, generator: np.random.Generator) -> str:
    if specification.is_whole_number:
        return f"value ^ {int(generator.integers(1, 1 << 10))}"
    return f"value + {_coefficient(generator, 0.05, 0.5)}"


def _joined(specification: Specification, names: tuple[str, ...]) -> str:
    if specification.is_whole_number:
        return " ^ ".join(names)
    return f"({' + '.join(names)}) * {1 / len(names):.2f}f"


def _statement(specification: Specification, name: str, generator: np.random.Generator) -> str:
    arithmetic = specification.axes.arithmetic
    if arithmetic is Arithmetic.INTEGER:
        return _integer_statement(specification, name, generator)
    if arithmetic is Arithmetic.MULTIPLY_ADD:
        sign = "-" if generator.random() < 0.5 else ""
        factor, offset = _coefficient(generator, 0.93, 0.99), _coefficient(generator, 0.05, 0.3)
        return f"{name} = {name} * {sign}{factor} + {offset};"
    return f"{name} = 0.9f * {name} + 0.1f * {_builtin(arithmetic, name, generator)};"


def _builtin(arithmetic: Arithmetic, name: str, generator: np.random.Generator) -> str:
    offset = _coefficient(generator, 1.2, 2.5)
    second = generator.random() < 0.5
    if arithmetic is Arithmetic.SQUARE_ROOT:
        return f"{'sqrt' if second else 'rsqrt'}({name} * {name} + {offset})"
    if arithmetic is Arithmetic.EXPONENTIAL:
        return f"exp(-{name} * {name})" if second else f"log({name} * {name} + {offset})"
    return f"{'sin' if second else 'cos'}({offset} * {name})"


def _integer_statement(specification: Specification, name: str, generator: np.random.Generator) -> str:
    masked = specification.axes.element is Element.INT
    kind, number = int(generator.integers(3)), 2 * int(generator.integers(2, 60)) + 1
    if kind == 0:
        shifted = f"({name} >> {1 + number % 7})"
        return f"{name} = {name} ^ {shifted};"
    sum_ = f"{name} * {number} + {int(generator.integers(1, 1000))}"
    if masked:
        return f"{name} = ({sum_}) & {INTEGER_MASK};"
    return (
        f"{name} = {sum_};" if kind == 1 else f"{name} = rotate({name}, (uint4)({1 + number % 13}u)) + {number};"
    )


def _coefficient(generator: np.random.Generator, low: float, high: float) -> str:
    return f"{low + (high - low) * float(generator.random()):.3f}f"
