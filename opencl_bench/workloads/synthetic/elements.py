"""Code of a synthetic kernel from the elements that it reads up to the result that it stores."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.synthetic.arithmetic import combined, mixed, transformed
from coarsen.opencl_bench.workloads.synthetic.axes import (
    Access,
    Element,
    LocalMemory,
    Loop,
    Reuse,
    Store,
)
from coarsen.opencl_bench.workloads.synthetic.indices import block as block_size
from coarsen.opencl_bench.workloads.synthetic.indices import has_trips, input_index, neighbours, weight_index
from coarsen.opencl_bench.workloads.synthetic.specification import Combination, Specification
from coarsen.opencl_bench.workloads.synthetic.text import indented

FIELD_NAMES = ("x", "y", "z", "w", "r", "g", "b", "a")
# Bytes are computed with as fractions.
BYTE_SCALE = "0.00392f"
RESULT_SCALE = 100.0


def loaded(specification: Specification, buffer: str, index: str) -> str:
    """The expression of an element of a buffer, as it is computed with."""
    if specification.axes.element is Element.UCHAR4:
        return f"convert_float4({buffer}[{index}]) * {BYTE_SCALE}"
    return f"{buffer}[{index}]"


def element(specification: Specification) -> tuple[list[str], str]:
    """The lines before an element can be read, and the expression that reads it."""
    access = specification.axes.access
    if access is Access.RECORDS:
        fields = FIELD_NAMES[: specification.fields]
        sum_ = " + ".join(f"records[entry].{field}" for field in fields)
        return [f"uint entry = {input_index(specification)};"], sum_
    if access is Access.STENCIL and not has_trips(specification):
        middle, *beside = neighbours(specification)
        shifted = [f"middle{index.removeprefix(middle)}" for index in beside]
        return [f"uint middle = {middle};"], weighted(specification, specification.input_name, "middle", shifted)
    if access is Access.BLOCK_CYCLIC and not has_trips(specification):
        return pair(specification)
    return [], loaded(specification, specification.input_name, input_index(specification))


def pair(specification: Specification) -> tuple[list[str], str]:
    """Two elements that are a block apart."""
    size, name = block_size(specification), specification.input_name
    lines = [
        f"uint first = position / {size} * {size} * 2 + position % {size};",
        f"uint second = first + {size};",
    ]
    left, right = (loaded(specification, name, index) for index in ("first", "second"))
    return lines, f"{left} ^ {right}" if specification.is_whole_number else f"{left} - 0.5f * {right}"


def weighted(specification: Specification, buffer: str, middle: str, beside: list[str]) -> str:
    """The weighted sum of a neighbourhood."""
    sum_ = " + ".join(loaded_again(specification, buffer, index) for index in beside)
    centre = loaded_again(specification, buffer, middle)
    if specification.is_whole_number:
        return f"{centre} + {sum_}"
    return f"0.4f * {centre} + {0.6 / len(beside):.3f}f * ({sum_})"


def loaded_again(specification: Specification, buffer: str, index: str) -> str:
    """An element of a global buffer, or one that is staged as it is computed with."""
    return f"{buffer}[{index}]" if buffer == "scratch" else loaded(specification, buffer, index)


def own_lines(specification: Specification) -> list[str]:
    """Return the lines that read an item's own element, where all else is the same for its neighbours."""
    if specification.axes.access is not Access.BROADCAST:
        return []
    buffer = "data" if specification.axes.store is Store.IN_PLACE else "owned"
    return [f"{specification.compute_type} own = {loaded(specification, buffer, 'position')};"]


def accumulated(specification: Specification, value: str, *, into_total: bool) -> list[str]:
    """Return the lines that take a value, mixed with the second operands and transformed, into `result`.

    Args:
        specification: of the kernel.
        value: the expression of an element.
        into_total: `result` is a total of several; else it is declared.
    """
    operands = _operands(specification)
    lines = []
    if operands:
        lines.append(f"{specification.compute_type} value = {value};")
        lines += [f"value = {mixed(specification, 'value', operand)};" for operand in operands]
        value = "value"
    result = transformed(specification, value)
    if into_total:
        return [*lines, combined(specification, "result", result)]
    return [*lines, f"{specification.compute_type} result = {result};"]


def _operands(specification: Specification) -> list[str]:
    operands = ["own"] if specification.axes.access is Access.BROADCAST else []
    if specification.axes.reuse is not Reuse.NONE:
        operands.append(f"weights[{weight_index(specification)}]")
    if specification.axes.local_memory is LocalMemory.TABLE:
        operands.append(f"scratch[{_table_index(specification)}]")
    return operands


def _table_index(specification: Specification) -> str:
    size = specification.group_size
    if has_trips(specification):
        return f"trip % {size}" if specification.stride % 2 else f"(lane + trip) % {size}"
    return f"{size - 1} - lane"


def stored(specification: Specification, target: str) -> list[str]:
    """Return the lines that put `result` into a buffer, at the index `target`."""
    axes = specification.axes
    if axes.store is not Store.IN_PLACE:
        return [f"output[{target}] = {_finished(specification, 'result')};"]
    if axes.access is Access.BROADCAST or specification.is_single_buffer:
        return [f"data[{target}] = {_finished(specification, 'result')};"]
    if axes.element is Element.UCHAR4:
        before = f"{loaded(specification, 'data', target)} * {RESULT_SCALE}f"
        return [f"data[{target}] = convert_uchar4_sat({before} + {_scaled(specification)});"]
    if specification.is_whole_number:
        return [f"data[{target}] ^= result;"]
    return [f"data[{target}] = 0.5f * data[{target}] + result;"]


def replaced_pair(specification: Specification) -> list[str]:
    """A step of a fast transform: a pair of elements becomes its sum and its difference."""
    lines, _ = pair(specification)
    left, right = (loaded(specification, "data", index) for index in ("first", "second"))
    value_type = specification.compute_type
    both = [f"{value_type} left = {left};", f"{value_type} right = {right};"]
    if specification.axes.reuse is not Reuse.NONE:
        both.append(f"right = {mixed(specification, 'right', f'weights[{weight_index(specification)}]')};")
    if specification.axes.local_memory is LocalMemory.TABLE:
        both.append(f"right = {mixed(specification, 'right', f'scratch[{_table_index(specification)}]')};")
    sum_ = transformed(specification, "left + right")
    difference = transformed(specification, "left ^ right" if specification.is_whole_number else "left - right")
    return [
        *lines,
        *both,
        f"data[first] = {_finished(specification, sum_)};",
        f"data[second] = {_finished(specification, difference)};",
    ]


def _finished(specification: Specification, result: str) -> str:
    if specification.axes.element is not Element.UCHAR4:
        return result
    return f"convert_uchar4_sat({_scaled(specification, result)} + 90.0f)"


def _scaled(specification: Specification, result: str = "result") -> str:
    count = 1
    if specification.combination is Combination.ADD:
        count = specification.trips if specification.axes.loop is Loop.LOCAL_STRIDE else specification.planes
    bracketed = result if result == "result" or result.startswith("transform(") else f"({result})"
    return f"{bracketed} * {RESULT_SCALE / count:.3f}f"


def record_type(specification: Specification) -> list[str]:
    """The declaration of a record, where there are such."""
    if specification.axes.access is not Access.RECORDS:
        return []
    fields = [f"{specification.scalar_type} {field};" for field in FIELD_NAMES[: specification.fields]]
    return ["typedef struct {", *indented(fields), "} Record;", ""]
