"""The OpenCL C source of a synthetic kernel."""

from __future__ import annotations

import re

from coarsen.opencl_bench.workloads.signature import signature_lines
from coarsen.opencl_bench.workloads.synthetic.arithmetic import transform_function
from coarsen.opencl_bench.workloads.synthetic.axes import ELEMENT_LOOPS, LEVELS, Guard, LocalMemory, Loop
from coarsen.opencl_bench.workloads.synthetic.elements import (
    accumulated,
    element,
    own_lines,
    record_type,
    replaced_pair,
    stored,
)
from coarsen.opencl_bench.workloads.synthetic.indices import has_trips, store_index
from coarsen.opencl_bench.workloads.synthetic.local_memory import levels, staged_table, stores_per_group, tiled
from coarsen.opencl_bench.workloads.synthetic.loops import grid_stride_loop, local_stride_loop, total, trip_loop
from coarsen.opencl_bench.workloads.synthetic.parameters import parameters
from coarsen.opencl_bench.workloads.synthetic.specification import Specification
from coarsen.opencl_bench.workloads.synthetic.text import block, indented


def kernel_source(specification: Specification) -> str:
    """The source: one kernel, named after what it does."""
    body = kernel_body(specification)
    return "\n".join(
        [
            f"/* {_description(specification)} */",
            "",
            *record_type(specification),
            *transform_function(specification),
            *_head(specification, body),
            "{",
            *indented(body),
            "}",
            "",
        ]
    )


def kernel_body(specification: Specification) -> list[str]:
    """The lines between the kernel's braces."""
    lines = _statements(specification)
    return [*_scratch(specification), *_declarations(specification, lines), *lines]


def _statements(specification: Specification) -> list[str]:
    """Return all lines but the declarations that the kernel begins with."""
    local_memory, loop = specification.axes.local_memory, specification.axes.loop
    before = [*staged_table(specification), *_early_return(specification)]
    if local_memory is LocalMemory.TILE:
        store = stored(specification, store_index(specification))
        return [*before, *tiled(specification), *_guarded(specification, store)]
    if local_memory in LEVELS:
        return [*before, *_combined(specification)]
    if specification.is_pair_in_place:
        return [*before, *_guarded(specification, replaced_pair(specification))]
    store = stored(specification, store_index(specification))
    if loop is Loop.GRID_STRIDE:
        return [*before, *grid_stride_loop(_guarded(specification, [*_single(specification), *store]))]
    if loop is Loop.LOCAL_STRIDE:
        return [*before, *_row_total(specification), *store]
    if has_trips(specification):
        work = [*own_lines(specification), total(specification), *_trips(specification)]
        return [*before, *_guarded(specification, [*work, *store])]
    return [*before, *_guarded(specification, [*_single(specification), *store])]


def _combined(specification: Specification) -> list[str]:
    """Every item's result, guarded; then what the work-group makes of them."""
    if specification.axes.loop is Loop.LOCAL_STRIDE:
        lines = _row_total(specification)
    elif has_trips(specification):
        lines = [
            total(specification),
            *_guarded(specification, [*own_lines(specification), *_trips(specification)]),
        ]
    elif specification.axes.guard is Guard.NONE:
        lines = _single(specification)
    else:
        prepared, value = element(specification)
        work = [*own_lines(specification), *prepared, *accumulated(specification, value, into_total=True)]
        lines = [total(specification), *_guarded(specification, work)]
    lines += levels(specification)
    if stores_per_group(specification):
        return lines
    store = stored(specification, store_index(specification))
    return [*lines, *(_guarded(specification, store) if specification.axes.guard is Guard.SIZE else store)]


def _single(specification: Specification) -> list[str]:
    """The result of a single element."""
    lines, value = element(specification)
    return [*own_lines(specification), *lines, *accumulated(specification, value, into_total=False)]


def _trips(specification: Specification) -> list[str]:
    lines, value = element(specification)
    return trip_loop(specification, [*lines, *accumulated(specification, value, into_total=True)])


def _row_total(specification: Specification) -> list[str]:
    lines, value = element(specification)
    body = [*lines, *accumulated(specification, value, into_total=True)]
    return [total(specification), *local_stride_loop(_guarded(specification, body))]


def _guarded(specification: Specification, lines: list[str]) -> list[str]:
    condition = _condition(specification)
    return block(f"if ({condition})", lines) if condition else lines


def _condition(specification: Specification) -> str:
    guard, is_line = specification.axes.guard, specification.axes.dimensions == 1
    if guard is Guard.SIZE:
        return "position < count" if is_line else "x < width && y < height"
    if guard is Guard.DATA:
        return f"keys[position] < {specification.selected}"
    if guard is Guard.INTERIOR:
        radius = specification.radius
        sides = [("position", "count")] if is_line else [("x", "width"), ("y", "height")]
        return " && ".join(f"{at} >= {radius} && {at} < {end} - {radius}" for at, end in sides)
    return ""


def _early_return(specification: Specification) -> list[str]:
    if specification.axes.guard is not Guard.EARLY_RETURN:
        return []
    condition = "position >= count" if specification.axes.dimensions == 1 else "x >= width || y >= height"
    if specification.returns_by_data:
        condition = f"keys[position] >= {specification.selected}"
    return [f"if ({condition})", "    return;"]


def _declarations(specification: Specification, lines: list[str]) -> list[str]:
    """Ids and sizes that the statements name, declared in an order that works."""
    text = "\n".join(lines)
    declared: list[str] = []
    for name, value in reversed(_possible_declarations(specification)):
        if re.search(rf"\b{name}\b", text):
            declared.insert(0, f"uint {name} = {value};")
            text = f"{value}\n{text}"
    return declared


def _possible_declarations(specification: Specification) -> list[tuple[str, str]]:
    axes, is_line = specification.axes, specification.axes.dimensions == 1
    own_position = [] if axes.loop in ELEMENT_LOOPS else [("position", "get_global_id(0)")]
    line = [
        *([("count", "get_global_size(0)")] if takes_sizes_from_ndrange(specification) else []),
        *own_position,
        ("item", "get_global_id(0)"),
        ("lane", "get_local_id(0)"),
        ("group", "get_group_id(0)"),
        ("group_size", "get_local_size(0)"),
    ]
    sizes = [("width", "get_global_size(0)"), ("height", "get_global_size(1)")]
    plane = [
        *(sizes if takes_sizes_from_ndrange(specification) else []),
        ("x", "get_global_id(0)"),
        ("y", "get_global_id(1)"),
        ("position", "y * width + x"),
        ("column", "get_local_id(0)"),
        ("row", "get_local_id(1)"),
        ("lane", "get_local_id(1) * get_local_size(0) + get_local_id(0)"),
        ("group", "get_group_id(1) * get_num_groups(0) + get_group_id(0)"),
        ("group_size", "get_local_size(0) * get_local_size(1)"),
    ]
    return line if is_line else plane


def takes_sizes_from_ndrange(specification: Specification) -> bool:
    """Return True if the NDRange has the problem's size, and the kernel asks for it there."""
    axes = specification.axes
    fits = axes.guard not in (Guard.SIZE, Guard.EARLY_RETURN) and axes.loop not in ELEMENT_LOOPS
    return specification.sizes_from_ndrange and fits


def _scratch(specification: Specification) -> list[str]:
    if not specification.static_local or not specification.scratch_elements:
        return []
    return [f"local {specification.scratch_type} scratch[{specification.scratch_elements}];"]


def _head(specification: Specification, body: list[str]) -> list[str]:
    """The kernel's signature: the parameters that its body names."""
    declarations = (parameter.declaration for parameter in parameters(specification, body))
    return signature_lines(specification.kernel, declarations)


def _description(specification: Specification) -> str:
    axes = specification.axes
    words = [f"{axes.element.value} elements, access {axes.access.value}, loop {axes.loop.value}"]
    words.append(f"local memory {axes.local_memory.value}, guard {axes.guard.value}, reuse {axes.reuse.value}")
    words.append(f"{axes.operations} operations ({axes.arithmetic.value}), store {axes.store.value}")
    return "\n   ".join([f"{specification.name}: {words[0]},", f"{words[1]},", f"{words[2]}."]).replace("_", " ")
