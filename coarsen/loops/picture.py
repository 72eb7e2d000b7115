"""A picture of a nest's kernels: their work-items, and the elements that one work-item and one work-group access.

Sizes are small, so that each point of a loop and each element is a cell; the steps of launches are the first.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import groupby, zip_longest
from operator import gt
from textwrap import shorten

import islpy as isl
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from coarsen.errors import InvalidInputError
from coarsen.loops.dependences import dependences, limited
from coarsen.loops.explain import MEMORY_WORDS
from coarsen.loops.kernels import NestKernel
from coarsen.loops.nest import Access, Nest, affine_text
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
# The most letters of a label; the sides of a panel with what is around it, in inches.
_LONGEST = 20
_SIDE, _HEIGHT = 1.85, 2.2
Point = tuple[int, ...]
Cell = tuple[int, int]
Memories = Mapping[tuple[str, str], Memory]


def picture(program: NestProgram, suffix: str) -> bytes:
    """Return the picture as the content of a file with a suffix: `.svg`, `.png` or `.pdf`.

    Raises InvalidInputError if a kernel has no work-items where all sizes are small, or far too many.
    """
    nest, kernels = program.nest, [each.kernel for each in program.kernels]
    content = io.BytesIO()
    style = {"svg.fonttype": "none", "font.size": 8, "axes.linewidth": 0.5}
    with limited(isl.DEFAULT_CONTEXT, nest.place), matplotlib.rc_context(style):
        found = dependences(nest)
        memories: Memories = {
            (each.statement, each.array): each.memory
            for piece in pieces_of(bands(nest, found))
            for each in placements(nest, piece, transformation(nest, found, piece))
        }
        if program.instances_at(dict.fromkeys(nest.parameters, _SIZE)) > _MOST_DRAWN:
            many = f"no picture: where all sizes are {_SIZE}, there are more than {_MOST_DRAWN:,} iterations"
            raise InvalidInputError(f"{many}; make constant bounds smaller, by -D if they are macros")
        if any(_at(nest, kernel.box()).is_empty() for kernel in kernels):
            raise InvalidInputError(f"no picture: where all sizes are {_SIZE}, a kernel has no work-items")
        columns = 1 + max(len(_arrays(kernel)) for kernel in kernels)
        figure = Figure(figsize=(columns * _SIDE, len(kernels) * _HEIGHT + 0.75), layout="constrained")
        group = " × ".join([str(_GROUP)] * min(2, max(len(kernel.dimensions) for kernel in kernels)))
        sizes = " = ".join((*nest.parameters, str(_SIZE))) if nest.parameters else "sizes as they are"
        head = f"{nest.function}: {sizes}, work-groups of {group or 1}"
        figure.suptitle(head, x=0.01, ha="left", weight="bold", fontsize=10)
        parts = figure.subfigures(len(kernels), 1, squeeze=False)[:, 0]
        used = {
            each
            for kernel, part in zip(kernels, parts, strict=True)
            for each in _draw_kernel(part, columns, program, kernel, memories)
        }
        entries = {"one work-item": to_rgba(_ITEMS), "its work-group": to_rgba(_ITEMS, _TINT)}
        entries["other work-items"] = to_rgba(_OTHERS)
        entries |= {MEMORY_WORDS[memory]: to_rgba(_COLOURS[memory]) for memory in _COLOURS if memory in used}
        handles = [Patch(color=colour, label=label) for label, colour in entries.items()]
        figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False, fontsize=7)
        figure.savefig(content, format=suffix[1:], dpi=150)
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


def _arrays(kernel: NestKernel) -> list[str]:
    """The arrays that a kernel accesses, in the order in which it does."""
    every = dict.fromkeys(access.array for each in kernel.statements for access in each.accesses)
    return [name for name in every if not kernel.nest.arrays[name].is_scalar]


def _draw_kernel(
    part: SubFigure, columns: int, program: NestProgram, kernel: NestKernel, memories: Memories
) -> list[Memory]:
    """Draw a kernel: its work-items, then what these access. Return the memories of its arrays."""
    nest, steps, items = program.nest, len(kernel.steps), _items(kernel)
    often = f", for each {', '.join(kernel.steps)} (here the first)" if steps else ""
    text = f"{kernel.name}{often}: {'; '.join(each.text for each in kernel.statements)}"
    part.suptitle(shorten(text, int(columns * _SIDE * 15), placeholder="…"), x=0.01, ha="left", fontsize=8)
    first, *panels = part.subplots(1, columns, squeeze=False)[0]
    across, down, *_ = (*(f"{name} (dimension {number})" for number, name in enumerate(kernel.dimensions)), "", "")
    cells = [{_cell((*each[steps:], 0, 0)[1::-1]) for each in layer} for layer in items]
    _draw(first, "work-items", _ITEMS, cells, (_SIZE if down else 1, _SIZE), (across, down))
    used: list[Memory] = []
    for axes, name in zip_longest(panels, _arrays(kernel)):
        if name is None:
            axes.set_axis_off()
            continue
        array = nest.arrays[name]
        own = [(each, access) for each in kernel.statements for access in each.accesses if access.array == name]
        placed = {memories.get((each.name, name)) for each, _ in own}
        used.append(next((each for each in _COLOURS if each in placed), "direct"))
        relations = (
            kernel.spread(each).reverse().apply_range(isl.Map(nest.access(each, one))) for each, one in own
        )
        where = reduce(isl.Map.union, relations)
        reached = (isl.Set(f"{{ {'; '.join(str([*each]) for each in layer)} }}").apply(where) for layer in items)
        cells = [{*map(_cell, _points(_at(nest, each)))} for each in reached]
        extents = (each.evaluate(dict.fromkeys(nest.parameters, _SIZE)) for each in program.extents[name])
        least = _cell([min(each, _MOST_CELLS) for each in extents], 1)
        labels = [_subscripts([one for _, one in own], place) for place in (-1, -2)[: len(array.extents)]]
        title = array.spelled + "[]" * len(array.extents)
        _draw(axes, title, _COLOURS[used[-1]], cells, least, (*labels, "")[:2])
    return used


def _items(kernel: NestKernel) -> tuple[list[Point], list[Point], list[Point]]:
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


def _subscripts(accesses: Sequence[Access], place: int) -> str:
    """The forms in a subscript, of which -1 is the last."""
    forms = sorted((each.subscripts[place] for each in accesses), key=lambda form: form.constant_part)
    joined = ", ".join(dict.fromkeys(map(affine_text, forms)))
    return joined if len(joined) <= _LONGEST else "column" if place == -1 else "row"


def _cell(point: Sequence[int], row: int = 0) -> Cell:
    """Row and column: the last two of a point's numbers; of a point with one the row is another."""
    return (*[row] * (2 - len(point)), *point)[-2], point[-1]


def _draw(
    axes: Axes, title: str, colour: str, layers: Sequence[set[Cell]], least: Cell, labels: Sequence[str]
) -> None:
    """Draw work-items or an array.

    Args:
        axes: where.
        title: above it.
        colour: of what one work-item has.
        layers: the cells of all work-items, of a work-group, and of one work-item, each above the one before.
        least: how many rows and columns there are at least.
        labels: of its columns and of its rows.
    """
    # Places that are differences of loops may be negative.
    every = np.array([*layers[0], (0, 0), np.subtract(least, 1)])
    (top, left), (bottom, right) = every.min(axis=0), every.max(axis=0)
    levels = np.zeros((bottom - top + 1, right - left + 1))
    for level, layer in enumerate(layers, 1):
        for row, column in layer:
            levels[row - top, column - left] = level
    colours = ListedColormap(["white", _OTHERS, to_rgba(colour, _TINT), colour])
    grid = {"edgecolors": "#bbbbbb", "linewidth": 0.4}
    edges = (np.arange(first, last + 2) - 0.5 for first, last in ((left, right), (top, bottom)))
    axes.pcolormesh(*edges, levels, cmap=colours, vmin=0, vmax=3, **grid)
    axes.set(aspect="equal", anchor="N")
    axes.invert_yaxis()
    axes.locator_params(nbins=5, integer=True)
    axes.tick_params(length=0, labelsize=6)
    axes.set_title(title, fontsize=8, color=colour, weight="bold")
    axes.set_xlabel(labels[0], fontsize=7)
    axes.set_ylabel(labels[1], fontsize=7)
    if not labels[1]:
        axes.set_yticks([])
