"""A picture of a nest's kernels: their work-items, and the elements that one work-item and one work-group access.

Sizes are small, so that each point of a loop and each element is a cell; the steps of launches are the first.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import gt

import islpy as isl
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError
from coarsen.loops.algorithm1 import Memory, placements, transformation
from coarsen.loops.dependences import dependences, limited
from coarsen.loops.explain import MEMORY_WORDS
from coarsen.loops.kernels import NestKernel
from coarsen.loops.launches import extents_in, instances_at
from coarsen.loops.nest import Array, Nest, affine_text
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
_ITEMS, _OTHERS = "#444444", "#ececec"
# The most panels beside each other, letters of a label; in inches panels, rows of cells, and what is above.
_COLUMNS, _LONGEST = 5, 20
_SIDE, _STRIP, _HEAD = 1.85, 0.85, 0.35
Point = tuple[int, ...]
Cell = tuple[int, int]
# Layers of cells, each above the one before, and how many rows and columns there are at least.
Drawn = tuple[list[set[Cell]], Cell]


def picture(program: NestProgram, suffix: str) -> bytes:
    """Return the picture as the content of a file.

    Args:
        program: the nest and its kernels.
        suffix: of the file: `.svg`, `.png` or `.pdf`.

    Raises:
        InvalidInputError: a kernel has no work-items where all sizes are small.
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
        rows = [_Row(kernel, memories) for kernel in kernels]
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


class _Row:
    """What is drawn of a kernel: cells of all work-items, those of a work-group, and one; what these access."""

    def __init__(self, kernel: NestKernel, memories: Mapping[tuple[str, str], Memory]) -> None:
        self.kernel, self._memories = kernel, memories
        steps = len(kernel.steps)
        every = _points(_at(kernel.nest, kernel.box()))
        # In the launch of the first steps; of further dimensions than two the first.
        launched = [each for each in every if each[:steps] == every[0][:steps]]
        launched = [each for each in launched if each[steps + 2 :] == launched[0][steps + 2 :]]
        first = [min(column) for column in zip(*launched, strict=True)]
        groups: dict[tuple[int, ...], list[Point]] = {}
        for point in launched:
            group = tuple((own - least) // _GROUP for own, least in zip(point, first, strict=True))
            groups.setdefault(group, []).append(point)
        whole = max(groups.values(), key=len)
        # Not the one in the corner, where there are others.
        inner = slice(steps, steps + 2)
        item = next((each for each in whole if all(map(gt, each[inner], whole[0][inner]))), whole[0])
        self._parts = [launched, whole, [item]]
        self.arrays = [
            kernel.nest.arrays[name]
            for name in dict.fromkeys(access.array for each in kernel.statements for access in each.accesses)
            if not kernel.nest.arrays[name].is_scalar
        ]

    def items(self) -> Drawn:
        cells = [{_cell((*each[len(self.kernel.steps) :], 0, 0)[1::-1]) for each in part} for part in self._parts]
        return cells, (_SIZE if len(self.kernel.dimensions) > 1 else 1, _SIZE)

    def elements(self, array: Array) -> Drawn:
        sizes = dict.fromkeys(self.kernel.nest.parameters, _SIZE)
        every = (parse_expression(each).evaluate(sizes) for each in extents_in(self.kernel.nest, array))
        extents = [min(each, _MOST_CELLS) for each in every]
        return [{*self._accessed(array, part)} for part in self._parts], _cell(extents, 1)

    def memory(self, array: Array) -> Memory:
        own = {self._memories.get((each.name, array.name)) for each in self.kernel.statements}
        return next((each for each in _COLOURS if each in own), "direct")

    def subscripts(self, array: Array, place: int) -> str:
        """Return what stands in a subscript, from the last on."""
        accesses = [access for each in self.kernel.statements for access in each.accesses]
        forms = (each.subscripts[place] for each in accesses if each.array == array.name)
        joined = ", ".join(dict.fromkeys(map(affine_text, sorted(forms, key=lambda form: form.constant_part))))
        return joined if len(joined) <= _LONGEST else "column" if place == -1 else "row"

    def _accessed(self, array: Array, points: Iterable[Point]) -> Iterator[Cell]:
        nest = self.kernel.nest
        reached = isl.Set(f"{{ {'; '.join(str([*each]) for each in points)} }}")
        for statement in self.kernel.statements:
            run = reached.apply(self.kernel.spread(statement).reverse())
            for access in statement.accesses:
                if access.array == array.name:
                    found = run.apply(isl.Map(nest.access(statement, access)))
                    yield from map(_cell, _points(_at(nest, found)))


def _cell(point: Sequence[int], row: int = 0) -> Cell:
    """Row and column: the last two of a point's numbers; of a point with one the row is another."""
    return (*[row] * (2 - len(point)), *point)[-2], point[-1]


def _drawn(nest: Nest, rows: Sequence[_Row]) -> Figure:
    columns = min(_COLUMNS, 1 + max(len(each.arrays) for each in rows))
    lines = [-(-len(each.arrays) // (columns - 1)) or 1 for each in rows]
    heights = [
        _HEAD + count * (_SIDE + 0.1 if max(len(each.extents) for each in row.arrays) > 1 else _STRIP)
        for row, count in zip(rows, lines, strict=True)
    ]
    figure = Figure(figsize=(columns * _SIDE, sum(heights) + 0.75), layout=ConstrainedLayoutEngine(h_pad=0.06))
    FigureCanvasAgg(figure)
    group = " × ".join([str(_GROUP)] * min(2, max(len(each.kernel.dimensions) for each in rows)))
    sizes = " = ".join((*nest.parameters, str(_SIZE))) if nest.parameters else "sizes as they are"
    head, *parts, foot = figure.subfigures(len(rows) + 2, 1, height_ratios=[0.3, *heights, 0.45])
    head.suptitle(f"{nest.function}: {sizes}, work-groups of {group or 1}", x=0.01, ha="left", weight="bold")
    for part, row, count in zip(parts, rows, lines, strict=True):
        _draw_row(part, row, count, columns)
    used = {row.memory(array) for row in rows for array in row.arrays}
    shades = {"one work-item": _ITEMS, "its work-group": _tint(_ITEMS), "other work-items": _OTHERS}
    colours = {MEMORY_WORDS[each]: colour for each, colour in _COLOURS.items() if each in used}
    for entries, place in ((shades, "upper left"), (colours, "lower left")):
        handles = [Patch(color=colour, label=label) for label, colour in entries.items()]
        foot.legend(handles=handles, loc=place, ncols=4, frameon=False, fontsize=7, borderaxespad=0.1)
    return figure


def _draw_row(part: SubFigure, row: _Row, lines: int, columns: int) -> None:
    kernel = row.kernel
    steps = f", for each {', '.join(kernel.steps)} (here the first)" if kernel.steps else ""
    text = f"{kernel.name}{steps}:  {';  '.join(each.text for each in kernel.statements)}"
    most = int(columns * _SIDE * 15)
    part.suptitle(text if len(text) <= most else f"{text[:most]}…", x=0.01, ha="left", fontsize=8)
    panels = part.subplots(lines, columns, squeeze=False)
    for axes in panels.flat:
        axes.set_axis_off()
    dimensions = [f"{name} (dimension {number})" for number, name in enumerate(kernel.dimensions)]
    _draw(panels[0][0], row.items(), _ITEMS, "work-items", (*dimensions, "", "")[:2])
    for array, place in zip(row.arrays, product(range(lines), range(1, columns)), strict=False):
        title = array.spelled + "[]" * len(array.extents)
        labels = row.subscripts(array, -1), row.subscripts(array, -2) if len(array.extents) > 1 else ""
        _draw(panels[place], row.elements(array), _COLOURS[row.memory(array)], title, labels)


def _draw(axes: Axes, drawn: Drawn, colour: str, title: str, labels: Sequence[str]) -> None:
    """Draw cells; labels are of columns and of rows."""
    layers = drawn[0]
    # Places that are differences of loops may be negative.
    top, left = (min([0, *(cell[axis] for cell in layers[0])]) for axis in (0, 1))
    height, width = (max([least, *(cell[axis] + 1 for cell in layers[0])]) for axis, least in enumerate(drawn[1]))
    shown = np.ones((height - top, width - left, 3))
    for cells, look in zip(layers, (to_rgb(_OTHERS), _tint(colour), to_rgb(colour)), strict=True):
        for row, column in cells:
            shown[row - top, column - left] = look
    axes.set_axis_on()
    axes.set_anchor("N")
    axes.imshow(shown, extent=(left - 0.5, width - 0.5, height - 0.5, top - 0.5), interpolation="none")
    for first, behind, axis in ((left, width, axes.xaxis), (top, height, axes.yaxis)):
        axis.set_ticks(range(first, behind, -(-(behind - first) // 5)))
        axis.set_ticks([each - 0.5 for each in range(first, behind + 1)], minor=True)
    axes.grid(which="minor", color="#bbbbbb", linewidth=0.4)
    axes.tick_params(which="both", length=0, labelsize=6)
    axes.set_title(title, fontsize=8, color=colour, weight="bold")
    axes.set_xlabel(labels[0], fontsize=7)
    axes.set_ylabel(labels[1], fontsize=7)
    if not labels[1]:
        axes.set_yticks([])


def _tint(colour: str) -> tuple[float, float, float]:
    red, green, blue = (0.58 + 0.42 * part for part in to_rgb(colour))
    return red, green, blue
