"""What is known of the loops of a C function, in words and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import islpy as isl

from coarsen.errors import RefusalError, aligned
from coarsen.loops.affine_of import nest_of
from coarsen.loops.clang_tree import functions_of
from coarsen.loops.dependences import REDUCTION, Dependence, analysed, carried_by, limited, named
from coarsen.loops.launches import extents_in
from coarsen.loops.nest import Access, Array, Loop, Nest, Statement, affine_text, reuse_of
from coarsen.loops.schedules import (
    MOST_REFERENCES,
    Band,
    Memory,
    Piece,
    bands,
    pieces_of,
    placements,
    transformation,
)

_INDENT = "  "
MEMORY_WORDS: dict[Memory, str] = {
    "direct": "read and written where it is",
    "local": "copied to local memory",
    "constant": "in constant memory",
    "register": "in a register",
}


def explain_loops(
    path: Path, options: Sequence[str] = (), name: str | None = None
) -> tuple[str, list[RefusalError]]:
    """Explain the functions with loops of a C file.

    Args:
        path: the file.
        options: further words for clang: definitions of macros, folders of headers.
        name: the function; all that have loops where it is None.

    Returns:
        The text, and the refusals of functions that are no affine loop nests.

    Raises:
        InvalidInputError: the file can't be read, or has no such function.
    """
    texts: list[str] = []
    refusals: list[RefusalError] = []
    for function in functions_of(path, options, name):
        if name is None and not function.has_loops:
            continue
        try:
            with limited(isl.DEFAULT_CONTEXT, function.place):
                texts.append("".join(f"{line}\n" for line in lines_of(*analysed(nest_of(function)))))
        except RefusalError as refusal:
            refusals.append(refusal)
    return "\n".join(texts), refusals


def lines_of(nest: Nest, found: Sequence[Dependence]) -> Iterator[str]:
    """Yield the lines of what is known of a nest: arrays, statements, accesses, dependences, loops, launches."""
    yield f"{nest.place}: {nest.function}"
    spelled = [(name, nest.spelled.get(name, name)) for name in nest.parameters]
    if spelled:
        shown = (name if name == own else f"{name} for {own}" for name, own in spelled)
        yield f"parameters: {', '.join(shown)}"
    yield from (f"assumed: {assumption}" for assumption in nest.assumptions)
    arrays = [_array(nest, each) for each in nest.arrays.values()]
    yield from _table("arrays", ("array", "element", "what it is"), arrays)
    statements = [(each.name, _place(each), each.text, _instances(nest, each)) for each in nest.statements]
    yield from _table("statements", ("name", "place", "text", "instances"), statements)
    headings = ("", "", "element", "matrix over (iterators | parameters | 1)", "rank", "reuse")
    accesses = [
        (each.name, word, *_access(nest, each, access))
        for each in nest.statements
        for word, own in (("reads", each.reads), ("writes", each.writes))
        for access in own
        if access.subscripts
    ]
    yield from _table("accesses", headings, accesses)
    related = [_dependence(nest, each) for each in found]
    yield from _table("dependences", ("kind", "array", "statements", "distance", "carried by"), related)
    loops = [(each.iterator, _place(each), loop_sentence(nest, found, each)) for each in nest.loops]
    yield from _table("loops", ("loop", "place", ""), loops)
    outer = bands(nest, found)
    yield from ("", "bands of isl's schedule (1: parallel)")
    yield from (f"{_INDENT}{line}" for each in outer for line in _band(nest, each))
    yield from ("", "launches (Algorithm 1)")
    yield from (f"{_INDENT}{line}" for piece in pieces_of(outer) for line in _launch(nest, found, piece))


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield from ("", title)
        yield from (f"{_INDENT}{line}" for line in aligned(headings, rows))


def _place(each: Loop | Statement) -> str:
    return f"{each.place.line}:{each.place.column}"


def _array(nest: Nest, array: Array) -> tuple[str, str, str]:
    if array.is_scalar:
        depth = len(array.extents)
        own = f", its own in each iteration of {depth} loop{'s'[: depth > 1]}" if depth else ""
        return array.spelled, array.element, f"variable{own}"
    where = {"parameter": "argument", "local": "made here"}.get(array.kind, "global")
    extents = "".join(f"[{'' if each is None else affine_text(each)}]" for each in array.extents)
    reached, least = "0", ""
    with suppress(RefusalError):
        reached = extents_in(nest, array)[0]
    if array.extents[0] is None and reached != "0" and "max" not in reached:
        least = f", {reached} {'rows' if len(array.extents) > 1 else 'elements'} or more"
    split = "; flat indices, proved to stay in their rows" if array.is_split else ""
    return f"{array.spelled}{extents}", array.element, f"{where}{least}{split}"


def _instances(nest: Nest, each: Statement) -> str:
    """The instances of a statement, as C has them: isl's `-2 + n` is `n - 2`."""
    _, _, instances = str(isl.Set(nest.domain(each)).coalesce()).partition("{ ")
    return re.sub(r"-(\d+) \+ (\w+)", r"\2 - \1", instances.removesuffix(" }"))


def _access(nest: Nest, statement: Statement, access: Access) -> tuple[str, str, str, str]:
    """The element, the matrix, its rank, and the reuse of an access."""
    element = nest.arrays[access.array].spelled + "".join(f"[{affine_text(form)}]" for form in access.subscripts)
    split = len(statement.iterators)
    rows = access.matrix((*statement.iterators, *nest.parameters))
    parts = ((row[:split], row[split:-1], row[-1:]) for row in rows)
    matrix = "; ".join(" | ".join(" ".join(map(str, part)) for part in row if part) for row in parts)
    reuse = reuse_of(access, statement)
    words = []
    if reuse.is_higher_order:
        words.append(f"along {', '.join(reuse.redundant) or 'a combination of loops'}")
    if reuse.neighbours > 1:
        words.append(f"constant: {reuse.neighbours} neighbours")
    return element, matrix, f"{reuse.rank} of {reuse.depth}", "; ".join(words) or "none"


def _dependence(nest: Nest, each: Dependence) -> tuple[str, str, str, str, str]:
    distance = f"({', '.join(each.distance)})" if each.distance else ""
    carrier = "" if each.level is None else nest.statement(each.source).loops[each.level].iterator
    return each.kind, each.array, f"{each.source} -> {each.sink}", distance, carrier


def loop_sentence(nest: Nest, found: Sequence[Dependence], loop: Loop) -> str:
    """Return whether a loop is parallel, and if not which dependence is in the way."""
    carried = carried_by(nest, found, loop)
    if not carried:
        return "parallel"
    first = min(carried, key=lambda each: (each.is_accumulation, ("flow", "output", "anti").index(each.kind)))
    more = f", and {len(carried) - 1} more" if len(carried) > 1 else ""
    if not first.is_accumulation:
        return f"not parallel: {first}{more}"
    adding = nest.statement(first.sink)
    spelled = {nest.arrays[each.array].spelled for each in carried}
    if any(spelled <= named(directive.clauses, REDUCTION) for directive in loop.directives):
        return f"parallel as a reduction, which OpenMP allows: {adding.name} adds to {', '.join(sorted(spelled))}"
    return f"not parallel: {adding.name} accumulates ({adding.accumulates}): {first}{more}"


def _band(nest: Nest, band: Band) -> Iterator[str]:
    loops = ((name, ", ".join(map(nest.statement(name).combined, rows))) for name, rows in band.rows.items())
    flags = " ".join(str(int(each)) for each in band.coincident)
    yield f"{'; '.join(f'{name}: ({own})' for name, own in loops)}  {flags}".rstrip()
    for each in band.below:
        yield from (f"{_INDENT}{line}" for line in _band(nest, each))


def _launch(nest: Nest, found: Sequence[Dependence], piece: Piece) -> Iterator[str]:
    solved = transformation(nest, found, piece)
    first = nest.statement(piece.statements[0])
    times = [first.combined(row) for band in piece.around for row in band.rows[first.name]]
    yield f"{', '.join(piece.statements)}{', once for each ' * bool(times)}{', '.join(times)}"
    heads = {name: f"{name}: " if len(piece.statements) > 1 else "" for name in piece.statements}
    for name, where in heads.items():
        statement = nest.statement(name)
        if solved.times[name]:
            yield f"{_INDENT}{where}time {', '.join(map(statement.combined, solved.times[name]))}"
        for dimension, row in enumerate(solved.places[name]):
            yield f"{_INDENT}{where}dimension {dimension}: {statement.combined(row)}"
    for each in placements(nest, piece, solved):
        where = f"{nest.arrays[each.array].spelled} {MEMORY_WORDS[each.memory]}"
        yield f"{_INDENT}{heads[each.statement]}{where}: {each.reason}"
    if solved.left_out:
        yield f"{_INDENT}accesses that were not tried, after the first {MOST_REFERENCES}: {solved.left_out}"
