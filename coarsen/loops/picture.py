"""A picture of a nest's kernels: their work-items, and the elements that one work-item and one work-group access.

Sizes are small, so that each point of a loop and each element is a cell; the steps of launches are the first.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from operator import gt
from textwrap import shorten

import islpy as isl
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError
from coarsen.loops.dependences import dependences, limited
from coarsen.loops.explain import MEMORY_WORDS
from coarsen.loops.kernels import NestKernel
from coarsen.loops.launches import extents_in
from coarsen.loops.nest import Access, Nest, Statement, affine_text
from coarsen.loops.program import NestProgram
from coarsen.loops.schedules import Memory, bands, pieces_of, placements, transformation

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
# The most panels beside each other, letters of a label; the sides of a panel with what is around it, in inches.
_COLUMNS, _LONGEST = 5, 20
_SIDE, _HEIGHT = 1.85, 2.2
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
        if program.instances_at(dict.fromkeys(nest.parameters, _SIZE)) > _MOST_DRAWN:
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
    found = whole.intersect_params(nest.at(dict.fromkeys(nest.parameters, _SIZE)))
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

    def group_of(point: Point) -> Point:
        return tuple((own - least) // _GROUP for own, least in zip(point, first, strict=True))

    whole = max(([*group] for _, group in groupby(sorted(launched, key=group_of), group_of)), key=len)
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
    lines = [
        (_sentence(kernel, columns) if not first else "", panels[first : first + columns])
        for kernel, panels in rows
        for first in range(0, len(panels), columns)
    ]
    figure = Figure(figsize=(columns * _SIDE, len(lines) * _HEIGHT + 0.75), layout="constrained")
    FigureCanvasAgg(figure)
    group = " × ".join([str(_GROUP)] * min(2, max(len(kernel.dimensions) for kernel, _ in rows)))
    sizes = " = ".join((*nest.parameters, str(_SIZE))) if nest.parameters else "sizes as they are"
    head = f"{nest.function}: {sizes}, work-groups of {group or 1}"
    figure.suptitle(head, x=0.01, ha="left", weight="bold", fontsize=10)
    parts = figure.subfigures(len(lines), 1, squeeze=False)[:, 0]
    for part, (sentence, panels) in zip(parts, lines, strict=True):
        part.suptitle(sentence, x=0.01, ha="left", fontsize=8)
        for axes, panel in zip_longest(part.subplots(1, columns, squeeze=False)[0], panels):
            if panel is None:
                axes.set_axis_off()
            else:
                _draw(axes, panel)
    used = {panel.colour for _, panels in rows for panel in panels}
    entries = {"one work-item": to_rgba(_ITEMS), "its work-group": to_rgba(_ITEMS, _TINT)}
    entries["other work-items"] = to_rgba(_OTHERS)
    entries |= {MEMORY_WORDS[memory]: to_rgba(colour) for memory, colour in _COLOURS.items() if colour in used}
    handles = [Patch(color=colour, label=label) for label, colour in entries.items()]
    figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False, fontsize=7)
    return figure


def _sentence(kernel: NestKernel, columns: int) -> str:
    """What a kernel runs, and how often, as long as its panels are wide."""
    steps = f", for each {', '.join(kernel.steps)} (here the first)" if kernel.steps else ""
    text = f"{kernel.name}{steps}: {'; '.join(each.text for each in kernel.statements)}"
    return shorten(text, int(columns * _SIDE * 15), placeholder="…")


def _draw(axes: Axes, panel: _Panel) -> None:
    # Places that are differences of loops may be negative.
    every = np.array([*panel.layers[0], (0, 0), np.subtract(panel.least, 1)])
    (top, left), (bottom, right) = every.min(axis=0), every.max(axis=0)
    levels = np.zeros((bottom - top + 1, right - left + 1))
    for level, layer in enumerate(panel.layers, 1):
        for row, column in layer:
            levels[row - top, column - left] = level
    colours = ListedColormap(["white", _OTHERS, to_rgba(panel.colour, _TINT), panel.colour])
    grid = {"edgecolors": "#bbbbbb", "linewidth": 0.4}
    axes.pcolormesh(range(left, right + 1), range(top, bottom + 1), levels, cmap=colours, vmin=0, vmax=3, **grid)
    axes.set(aspect="equal", anchor="N")
    axes.invert_yaxis()
    axes.locator_params(nbins=5, integer=True)
    axes.tick_params(length=0, labelsize=6)
    axes.set_title(panel.title, fontsize=8, color=panel.colour, weight="bold")
    axes.set_xlabel(panel.labels[0], fontsize=7)
    axes.set_ylabel(panel.labels[1], fontsize=7)
    if not panel.labels[1]:
        axes.set_yticks([])
