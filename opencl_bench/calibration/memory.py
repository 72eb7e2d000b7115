"""What memory and operations cost: bandwidth and latency by footprint, strides of lanes, rates of operations.

Bandwidth is measured of data that others read before, and of data that each unit rereads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

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
    Curve,
    IssueRate,
    Quantity,
)
from coarsen.opencl_bench.calibration.device import NEVER, ProbedDevice, curve_of, falling, relative, rising

ELEMENT_BYTES = 4
READS_OF_AN_ITEM = 4
TILE_WORDS = 4096
_GPU_SIZES = 4
_CACHED_BYTES = 256 << 10
_CACHED_ITEMS = 1 << 18
_CYCLIC_BYTES = 16
_BLOCKED_BYTES = 64
_LOCAL_SIZE = 256
_ITEMS_OF_A_UNIT = 2048
_WORD_BYTES = 4
_CPU_LINE, _GPU_LINE = 64, 128
_SEED = 0


def bandwidth_curve(probed: ProbedDevice, program: cl.Program, *, private: bool) -> Curve:
    """Return bytes per second by footprint.

    On a GPU neighbouring items read neighbouring vectors (cyclic, after Baskaran et al.), on a CPU one item of
    each compute unit reads a run of them (blocked): what suits each.

    Args:
        probed: the device.
        program: of `memory.cl`.
        private: whether each item rereads what it read before; else it reads what another unit's item did.
    """
    data = probed.ones(probed.footprints[-1])
    measure = _cyclic if probed.is_gpu else _blocked
    found = {size: measure(probed, program, data, size, private) for size in probed.footprints}
    data.release()
    return falling(curve_of(found))


def _cyclic(probed: ProbedDevice, program: cl.Program, data: cl.Buffer, size: int, private: bool) -> Quantity:
    kernel = cl.Kernel(program, "cyclic")
    vectors = size // _CYCLIC_BYTES
    # A power of two, so that whole rounds go around the footprint.
    items = 1 << (probed.units * _ITEMS_OF_A_UNIT).bit_length() - 1
    local_size = min(_LOCAL_SIZE, probed.description.max_work_group_size)
    step = items % vectors + (0 if private else local_size)

    def run(rounds: int) -> float:
        arguments = (data, np.uint32(vectors - 1), np.uint32(rounds), np.uint32(step), probed.sink, NEVER)
        return probed.event_seconds(kernel, items, local_size, arguments)

    least = max(4, vectors // items)  # all of the footprint at least once
    return probed.rate(run, items * _CYCLIC_BYTES, least)


def _blocked(probed: ProbedDevice, program: cl.Program, data: cl.Buffer, size: int, private: bool) -> Quantity:
    kernel = cl.Kernel(program, "blocked")
    shares = probed.units
    length = size // _BLOCKED_BYTES // shares // 4 * 4
    if not length:
        shares, length = 1, size // _BLOCKED_BYTES

    def run(rounds: int) -> float:
        counts = (np.uint32(length), np.uint32(shares), np.uint32(rounds), np.uint32(not private))
        return probed.event_seconds(kernel, shares, 1, (data, *counts, probed.sink, NEVER))

    return probed.rate(run, shares * length * _BLOCKED_BYTES, 1)


def latency_curve(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the seconds of a load that waits for the one before, by footprint; `program` is of `memory.cl`."""
    return rising(curve_of({size: _latency(probed, program, size) for size in probed.footprints}))


def _latency(probed: ProbedDevice, program: cl.Program, size: int) -> Quantity:
    kernel = cl.Kernel(program, "chase")
    chain = probed.upload(chain_of_places(size, _GPU_LINE if probed.is_gpu else _CPU_LINE))
    place = probed.upload(np.zeros(1, np.uint32))
    _read_all(probed, program, chain, size)
    steps = probed.settings.chase_steps
    taken = probed.typical_seconds(kernel, 1, 1, (chain, np.uint32(steps), place))
    chain.release()
    return Quantity(taken.value / steps, taken.spread)


def chain_of_places(size: int, line: int) -> np.ndarray[Any, Any]:
    """Return a memory in which the first word of each line holds the index of another's, all in one cycle.

    Args:
        size: bytes of all of it.
        line: bytes between two places.
    """
    apart = line // _WORD_BYTES
    order = np.random.default_rng(_SEED).permutation(size // line).astype(np.uint32) * np.uint32(apart)
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))  # the chase begins at 0
    words = np.zeros(size // _WORD_BYTES, np.uint32)
    words[order] = np.roll(order, -1)
    return words


def _read_all(probed: ProbedDevice, program: cl.Program, data: cl.Buffer, size: int) -> None:
    """Have the caches hold what they can of the data."""
    kernel = cl.Kernel(program, "strided")
    items = size // _WORD_BYTES // 4
    local_size = min(64, probed.description.max_work_group_size, items)
    arguments = (data, np.uint32(size // _WORD_BYTES - 1), np.uint32(1), probed.sink, NEVER)
    probed.event_seconds(kernel, items, local_size, arguments)


def stride_cost(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the cost in memory: every run goes once through more than any cache holds."""
    size = probed.footprints[-1]
    if probed.is_gpu:  # whose runs would be too short to time
        size = min(_GPU_SIZES * size, 1 << probed.largest_buffer.bit_length() - 1)
    return _stride_cost(probed, program, size, lambda stride: size // ELEMENT_BYTES // stride)


def cached_stride_cost(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the cost where a second-level cache holds all data: that of the accesses themselves."""
    size = min(_CACHED_BYTES, probed.footprints[-1])
    return _stride_cost(probed, program, size, lambda _: _CACHED_ITEMS * READS_OF_AN_ITEM)


def _stride_cost(probed: ProbedDevice, program: cl.Program, size: int, accesses: Callable[[int], int]) -> Curve:
    data = probed.ones(size)
    found = {
        stride: _seconds_of_an_access(probed, program, data, size // ELEMENT_BYTES, stride, accesses(stride))
        for stride in probed.settings.strides
    }
    data.release()
    return relative(curve_of(found))


def _seconds_of_an_access(
    probed: ProbedDevice, program: cl.Program, data: cl.Buffer, elements: int, stride: int, accesses: int
) -> Quantity:
    kernel = cl.Kernel(program, "strided")
    local_size = probed.usual_group
    items = max(local_size, accesses // READS_OF_AN_ITEM // local_size * local_size)
    arguments = (data, np.uint32(elements - 1), np.uint32(stride), probed.sink, NEVER)
    taken = probed.typical_seconds(kernel, items, local_size, arguments)
    return Quantity(taken.value / (items * READS_OF_AN_ITEM), taken.spread)


def local_memory(probed: ProbedDevice, program: cl.Program) -> tuple[Quantity, Curve]:
    """Return local memory's bytes per second at stride 1, and the cost of other strides: bank conflicts."""
    kernel = cl.Kernel(program, "tile")
    local_size = probed.usual_group
    items = probed.units * local_size * (4 if probed.is_gpu else 1)

    def rate_at(stride: int) -> Quantity:
        def run(rounds: int) -> float:
            arguments = (np.uint32(rounds), np.uint32(stride), probed.sink, NEVER)
            return probed.event_seconds(kernel, items, local_size, arguments)

        return probed.rate(run, items * READS_OF_AN_ITEM * ELEMENT_BYTES, 64)

    rates = {stride: rate_at(stride) for stride in probed.settings.strides if stride < local_size}
    costs = {stride: Quantity(1 / rate.value, rate.spread) for stride, rate in rates.items()}
    return rates[probed.settings.strides[0]], relative(curve_of(costs))


# How fast operations issue, by class: with 1 to 8 independent chains in a work-item, and one chain alone.
#
# A chain's operations depend on each other. All work-items together give the throughput, a lone one with a single
# chain the latency.

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
