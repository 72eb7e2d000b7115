"""How fast operations issue, by class: with 1 to 8 independent chains in a work-item, and one chain alone.

A chain's operations depend on each other. All work-items together give the throughput, a lone one with a single
chain the latency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyopencl as cl

from coarsen.models.analytic.machine import (
    DIVISION,
    DOUBLE,
    FLOAT,
    FLOAT_VECTOR,
    INTEGER,
    MATH,
    MULTIPLY,
    IssueRate,
    Quantity,
)
from coarsen.opencl_bench.calibration.device import ProbedDevice
from coarsen.opencl_bench.calibration.fitting import curve_of

_STEPS_OF_A_ROUND = 8


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of which chains are made.

    Args:
        type: of the values, in OpenCL C; `WIDE` stands for the device's vector of `float`.
        step: the next value of `{x}`, from it and the constants `a` and `b`.
        count: how many operations a step is for each element; one with an addition is one.
    """

    type: str
    step: str
    count: int


# A step must not come to something that a compiler knows a shorter way to, nor to infinities and denormals.
CHAINED: Mapping[str, Operation] = MappingProxyType(
    {
        FLOAT: Operation("float", "{x} * a + b", 1),
        FLOAT_VECTOR: Operation("WIDE", "{x} * a + b", 1),
        DOUBLE: Operation("double", "{x} * a + b", 1),
        INTEGER: Operation("uint", "({x} ^ a) + b", 2),
        MULTIPLY: Operation("uint", "{x} * a + b", 1),
        DIVISION: Operation("float", "b / ({x} + a)", 1),
        MATH: Operation("float", "exp(-{x})", 1),
    }
)


def issue_rates(probed: ProbedDevice) -> Mapping[str, IssueRate]:
    """Return the rates of all classes of operations that the device has."""
    width = _vector_width(probed)
    has_doubles = "cl_khr_fp64" in probed.description.extensions.split()
    found: dict[str, IssueRate] = {}
    for name, operation in CHAINED.items():
        if (name == DOUBLE and not has_doubles) or (name == FLOAT_VECTOR and width == 1):
            continue
        found[name] = _issue_rate(probed, operation, width)
    return MappingProxyType(found)


def _issue_rate(probed: ProbedDevice, operation: Operation, width: int) -> IssueRate:
    source = "\n".join(chain_kernel(operation, chains, width) for chains in probed.settings.chains)
    program = probed.build(source)
    values = operation.count * (width if operation.type == "WIDE" else 1)
    local_size = probed.usual_group
    items = probed.units * local_size * (8 if probed.is_gpu else 4)
    throughputs = {
        chains: _throughput(probed, program, chains, values, items, local_size)
        for chains in probed.settings.chains
    }
    alone = _throughput(probed, program, 1, operation.count, 1, 1)
    return IssueRate(
        throughput=max(throughputs.values(), key=lambda each: each.value),
        latency=Quantity(1 / alone.value, alone.spread),
        by_chains=curve_of(throughputs),
    )


def _throughput(
    probed: ProbedDevice, program: cl.Program, chains: int, values: int, items: int, local_size: int
) -> Quantity:
    kernel = cl.Kernel(program, f"chains_{chains}")

    def run(rounds: int) -> float:
        return probed.event_seconds(kernel, items, local_size, (np.uint32(rounds), probed.sink))

    return probed.rate(run, items * chains * values * _STEPS_OF_A_ROUND, 8)


def chain_kernel(operation: Operation, chains: int, width: int) -> str:
    """Return the OpenCL C of a kernel with so many chains of an operation.

    Args:
        operation: to chain.
        chains: in a work-item.
        width: elements of a vector, where the operation is on vectors.
    """
    type_ = f"float{width}" if operation.type == "WIDE" else operation.type
    scalar = "float" if operation.type == "WIDE" else operation.type
    # `rounds` is no constant, so that nothing is known of the values.
    constants = (
        ("3u + 2u * (rounds >> 31)", "7u + (rounds >> 31)")
        if scalar == "uint"
        else (f"({scalar})0.5 + (rounds >> 31)", f"({scalar})0.25 + (rounds >> 31)")
    )
    names = [f"x{chain}" for chain in range(chains)]
    steps = [f"        {name} = {operation.step.format(x=name)};" for name in names] * _STEPS_OF_A_ROUND
    lines = [
        *(["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"] if scalar == "double" else []),
        f"kernel void chains_{chains}(uint rounds, global uint *sink)",
        "{",
        f"    {type_} a = ({type_})({constants[0]}), b = ({type_})({constants[1]});",
        f"    {scalar} start = ({scalar})(get_global_id(0) & 7);",
        *(f"    {type_} {name} = ({type_})(start + {index});" for index, name in enumerate(names)),
        "    for (uint round = 0; round < rounds; round++) {",
        *steps,
        "    }",
        f"    {type_} sum = {' + '.join(names)};",
        f"    if ({'sum' if type_ == scalar else 'sum.s0 + sum.s1'} == ({scalar})123456789)",
        "        sink[0] = 1;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _vector_width(probed: ProbedDevice) -> int:
    """The elements of the vector that the device's own arithmetic takes, 1 for none."""
    width = int(probed.device.native_vector_width_float or 1)
    return width if width in (2, 4, 8, 16) and not probed.is_gpu else 1
