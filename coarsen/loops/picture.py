"""A picture of a nest's kernels: their work-items, and the elements that one work-item and one work-group access.

Sizes are small, so that each point of a loop and each element is a cell; the steps of launches are the first.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import gt
from textwrap import shorten

import islpy as isl
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError
from coarsen.loops.algorithm1 import Memory, placements, transformation
from coarsen.loops.dependences import dependences, limited
from coarsen.loops.explain import MEMORY_WORDS
from coarsen.loops.kernels import NestKernel
from coarsen.loops.launches import extents_in, instances_at
from coarsen.loops.nest import Access, Nest, Statement, affine_text
from coarsen.loops.program import NestProgram
from coarsen.loops.schedules import bands, pieces_of

# What all sizes are, and a work-group along each of two dimensions.
_SIZE, _GROUP = 8, 4
_MOST_DRAWN, _MOST_CELLS = 10_000, 64
# Of what statements place in several memories, the first is drawn.
_COLOURS: Mapping[Memory, str] = {
    "local": "#d95f02",
    "constant": "#1b7f5c",
    "direct": "#3b6fb6",
    "register": "#8e3b8e",
}
_ITEMS, _OTHERS, _TINT = "#444444", "#ececec", 0.42
# The most panels beside each other, letters of a label; the side of a panel and what is above it, in inches.
_COLUMNS, _LONGEST = 5, 20
_SIDE, _HEAD = 1.85, 0.35
Point = tuple[int, ...]
Cell = tuple[int, int]


@dataclass(frozen=True)
class _Panel:
    """What is drawn of work-items or of an array.

    Attributes:
        title: above it.
        labels: of its columns and of its rows.
        colour: of what one work-item has.
        layers: the cells of all work-items, of a work-group, and of one work-item, each above the one before.
        least: how many rows and columns there are at least.
    """

    title: str
    labels: tuple[str, str]
    colour: str
    layers: Sequence[set[Cell]]
    least: Cell


def picture(program: NestProgram, suffix: str) -> bytes:
    """Return the picture as the content of a file with a suffix: `.svg`, `.png` or `.pdf`.

    Raises InvalidInputError if a kernel has no work-items where all sizes are small, or far too many.
    """
    nest, kernels = program.nest, [each.kernel for each in program.kernels]
    with limited(isl.DEFAULT_CONTEXT, nest.place):
        found = dependences(nest)
        memories: dict[tuple[str, str], Memory] = {
            (each.statement, each.array): each.memory
            for piece in pieces_of(bands(nest, found))
            for each in placements(nest, piece, transformation(nest, found, piece))
        }
        sizes = dict.fromkeys(nest.parameters, _SIZE)
        if any(instances_at(nest, each, sizes) > _MOST_DRAWN for each in nest.statements):
            many = f"no picture: where all sizes are {_SIZE}, there are more than {_MOST_DRAWN:,} iterations"
            raise InvalidInputError(f"{many}; make constant bounds smaller, by -D if they are macros")
        if any(_at(kernel.nest, kernel.box()).is_empty() for kernel in kernels):
            raise InvalidInputError(f"no picture: where all sizes are {_SIZE}, a kernel has no work-items")
        rows = [(kernel, [*_panels(kernel, memories)]) for kernel in kernels]
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "font.size": 8, "axes.linewidth": 0.5}):
        _drawn(nest, rows).savefig(content, format=suffix[1:], dpi=150)
    return content.getvalue()


def _at(nest: Nest, whole: isl.Set) -> isl.Set:
    """A set at the value of all parameters."""
    fixed = " and ".join(f"{name} = {_SIZE}" for name in nest.parameters) or "0 = 0"
    found = whole.intersect_params(isl.Set(nest.set_text(f": {fixed}")))
    return found.project_out(isl.dim_type.param, 0, found.dim(isl.dim_type.param))


def _points(whole: isl.Set) -> list[Point]:
    points: list[isl.Point] = []
    whole.foreach_point(points.append)
    axes = [(isl.dim_type.set, place) for place in range(whole.dim(isl.dim_type.set))]
    return sorted(tuple(int(point.get_coordinate_val(*axis).to_python()) for axis in axes) for point in points)


def _panels(kernel: NestKernel, memories: Mapping[tuple[str, str], Memory]) -> Iterator[_Panel]:
    """Yield what is drawn of a kernel: its work-items, then what these access."""
    parts, steps = _parts(kernel), len(kernel.steps)
    items = [{_cell((*each[steps:], 0, 0)[1::-1]) for each in part} for part in parts]
    dimensions = [f"{name} (dimension {number})" for number, name in enumerate(kernel.dimensions)]
    columns, rows, *_ = (*dimensions, "", "")
    yield _Panel("work-items", (columns, rows), _ITEMS, items, (_SIZE if rows else 1, _SIZE))
    accesses = [(each, access) for each in kernel.statements for access in each.accesses]
    for name in dict.fromkeys(access.array for _, access in accesses):
        array = kernel.nest.arrays[name]
        if array.is_scalar:
            continue
        own = [(each, access) for each, access in accesses if access.array == name]
        placed = {memories.get((each.name, name)) for each, _ in own}
        memory: Memory = next((each for each in _COLOURS if each in placed), "direct")
        labels = _subscripts(own, -1), _subscripts(own, -2) if len(array.extents) > 1 else ""
        sizes = dict.fromkeys(kernel.nest.parameters, _SIZE)
        every = (parse_expression(each).evaluate(sizes) for each in extents_in(kernel.nest, array))
        least = _cell([min(each, _MOST_CELLS) for each in every], 1)
        cells = [{*_accessed(kernel, own, part)} for part in parts]
        yield _Panel(array.spelled + "[]" * len(array.extents), labels, _COLOURS[memory], cells, least)


def _parts(kernel: NestKernel) -> tuple[list[Point], list[Point], list[Point]]:
    """The steps and places of all work-items, of those of a work-group, and of one."""
    steps = len(kernel.steps)
    every = _points(_at(kernel.nest, kernel.box()))
    # In the launch of the first steps; of further dimensions than two the first.
    launched = [each for each in every if each[:steps] == every[0][:steps]]
    launched = [each for each in launched if each[steps + 2 :] == launched[0][steps + 2 :]]
    first = [min(column) for column in zip(*launched, strict=True)]
    groups: dict[Point, list[Point]] = {}
    for point in launched:
        group = tuple((own - least) // _GROUP for own, least in zip(point, first, strict=True))
        groups.setdefault(group, []).append(point)
    whole = max(groups.values(), key=len)
    # Not the one in the corner, where there are others.
    inner = slice(steps, steps + 2)
    item = next((each for each in whole if all(map(gt, each[inner], whole[0][inner]))), whole[0])
    return launched, whole, [item]


def _subscripts(accesses: Sequence[tuple[Statement, Access]], place: int) -> str:
    """The forms in a subscript, of which -1 is the last."""
    forms = sorted((access.subscripts[place] for _, access in accesses), key=lambda form: form.constant_part)
    joined = ", ".join(dict.fromkeys(map(affine_text, forms)))
    return joined if len(joined) <= _LONGEST else "column" if place == -1 else "row"


def _accessed(
    kernel: NestKernel, accesses: Sequence[tuple[Statement, Access]], points: Iterable[Point]
) -> Iterator[Cell]:
    reached = isl.Set(f"{{ {'; '.join(str([*each]) for each in points)} }}")
    for statement, access in accesses:
        run = reached.apply(kernel.spread(statement).reverse())
        found = run.apply(isl.Map(kernel.nest.access(statement, access)))
        yield from map(_cell, _points(_at(kernel.nest, found)))


def _cell(point: Sequence[int], row: int = 0) -> Cell:
    """Row and column: the last two of a point's numbers; of a point with one the row is another."""
    return (*[row] * (2 - len(point)), *point)[-2], point[-1]


def _drawn(nest: Nest, rows: Sequence[tuple[NestKernel, Sequence[_Panel]]]) -> Figure:
    columns = min(_COLUMNS, max(len(panels) for _, panels in rows))
    lines = [-(-len(panels) // columns) for _, panels in rows]
    heights = [_HEAD + _SIDE * count for count in lines]
    figure = Figure(figsize=(columns * _SIDE, sum(heights) + 0.75), layout=ConstrainedLayoutEngine(h_pad=0.06))
    FigureCanvasAgg(figure)
    group = " × ".join([str(_GROUP)] * min(2, max(len(kernel.dimensions) for kernel, _ in rows)))
    sizes = " = ".join((*nest.parameters, str(_SIZE))) if nest.parameters else "sizes as they are"
    head, *parts, foot = figure.subfigures(len(rows) + 2, 1, height_ratios=[0.3, *heights, 0.45])
    head.suptitle(f"{nest.function}: {sizes}, work-groups of {group or 1}", x=0.01, ha="left", weight="bold")
    for part, (kernel, panels), count in zip(parts, rows, lines, strict=True):
        steps = f", for each {', '.join(kernel.steps)} (here the first)" if kernel.steps else ""
        text = f"{kernel.name}{steps}: {'; '.join(each.text for each in kernel.statements)}"
        part.suptitle(shorten(text, int(columns * _SIDE * 15), placeholder="…"), x=0.01, ha="left", fontsize=8)
        grid = [*part.subplots(count, columns, squeeze=False).flat]
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for axes, panel in zip(grid, panels, strict=False):
            _draw(axes, panel)
    used = {panel.colour for _, panels in rows for panel in panels}
    entries = {"one work-item": to_rgba(_ITEMS), "its work-group": to_rgba(_ITEMS, _TINT)}
    entries["other work-items"] = to_rgba(_OTHERS)
    entries |= {MEMORY_WORDS[memory]: to_rgba(colour) for memory, colour in _COLOURS.items() if colour in used}
    handles = [Patch(color=colour, label=label) for label, colour in entries.items()]
    foot.legend(handles=handles, loc="upper left", ncols=3, frameon=False, fontsize=7, borderaxespad=0.1)
    return figure


def _draw(axes: Axes, panel: _Panel) -> None:
    cells = panel.layers[0]
    # Places that are differences of loops may be negative.
    top, left = (min([0, *(cell[axis] for cell in cells)]) for axis in (0, 1))
    bottom, right = (max([least, *(cell[axis] + 1 for cell in cells)]) for axis, least in enumerate(panel.least))
    shown = np.zeros((bottom - top, right - left, 4))
    looks = to_rgba(_OTHERS), to_rgba(panel.colour, _TINT), to_rgba(panel.colour)
    for layer, look in zip(panel.layers, looks, strict=True):
        for row, column in layer:
            shown[row - top, column - left] = look
    axes.set_anchor("N")
    axes.imshow(shown, extent=(left - 0.5, right - 0.5, bottom - 0.5, top - 0.5), interpolation="none")
    for first, end, axis in ((left, right, axes.xaxis), (top, bottom, axes.yaxis)):
        axis.set_ticks(range(first, end, -(-(end - first) // 5)))
        axis.set_ticks([each - 0.5 for each in range(first, end + 1)], minor=True)
    axes.grid(which="minor", color="#bbbbbb", linewidth=0.4)
    axes.tick_params(which="both", length=0, labelsize=6)
    axes.set_title(panel.title, fontsize=8, color=panel.colour, weight="bold")
    axes.set_xlabel(panel.labels[0], fontsize=7)
    axes.set_ylabel(panel.labels[1], fontsize=7)
    if not panel.labels[1]:
        axes.set_yticks([])
