"""From a C function to its loop nest: domains of statements, and what each reads and writes.

Whole numbers that never change are parameters, members of records among them; whole locals that are set once are
what they are set to; all other scalars are arrays without subscripts, or with those of the loops of their
declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.bindings import ALLOCATING, BOUND, CONDITION, INDEX, Bindings, accumulating, symbol, unsupported
from coarsen.loops.delinearise import RawAccess, constraint_text, located
from coarsen.loops.forms import check_kept, condition, counted_from, limits, loop_form, polynomial, step_of
from coarsen.loops.memory import Pointer, alias, extent_expression, shape_of
from coarsen.loops.nest import Access, Array, Loop, Nest, Statement


@dataclass(frozen=True)
class _Raw:
    """A statement before its accesses are told in rows and columns."""

    loops: tuple[Loop, ...]
    position: tuple[int, ...]
    conditions: tuple[str, ...]
    accesses: tuple[tuple[Pointer, bool], ...]
    text: str
    accumulates: str
    place: SourcePosition
    code: tree.Assignment | RefusalError | None


def nest_of(function: tree.CFunction) -> Nest:
    """Return the loop nest of a C function.

    Args:
        function: as `clang_tree.functions_of` has it.

    Raises:
        RefusalError: it is no affine loop nest; the error names the place.
    """
    try:
        return _Reading(function).nest()
    except RecursionError:
        raise RefusalError("too-deep", "statements or expressions are nested too deeply", function.place) from None


class _Reading:
    def __init__(self, function: tree.CFunction) -> None:
        self._function = function
        self._bindings = Bindings(function)
        self._conditions: list[isl.Set] = []
        self._position: list[int] = [0]
        self._loops = 0
        self._is_shared = False  # in a parallel region
        self._raw: list[_Raw] = []
        self._assumed: dict[str, None] = {}

    def nest(self) -> Nest:
        function = self._function
        self._walk(function.body)
        if not any(each.loops for each in self._raw):
            raise RefusalError("no-loop", f"'{function.name}' has no loop with a statement", function.place)
        arrays, found = self._arrays()
        statements = []
        for number, raw in enumerate(self._raw):
            accesses = [(found[number, place], is_write) for place, (_, is_write) in enumerate(raw.accesses)]
            reads, writes = ([each for each, is_write in accesses if is_write is kind] for kind in (False, True))
            code, refusal = (None, raw.code) if isinstance(raw.code, RefusalError) else (raw.code, None)
            how = (raw.text, raw.accumulates, raw.place, code, refusal)
            name = f"S{number + 1}"
            statements.append(
                Statement(name, raw.loops, raw.position, raw.conditions, _once(reads), tuple(writes), *how)
            )
        bindings, assumed = self._bindings, self._assumptions(arrays)
        names, spelled = tuple(sorted(bindings.parameters)), bindings.parameters | bindings.numbers
        return Nest(
            function.name, names, arrays, tuple(statements), function.place, assumed, spelled, bindings.types
        )

    # Statements.

    def _walk(self, statements: Sequence[tree.Statement]) -> None:
        for each in statements:
            if (
                isinstance(each, tree.Evaluate | tree.Other)
                and each.is_return
                and each is not self._function.body[-1]
            ):
                raise unsupported("a return before the end", each.place)
            match each:
                case tree.For():
                    self._for(each)
                case tree.If():
                    holds = condition(self._bindings.bound(each.condition, CONDITION), CONDITION)
                    for test, branch in ((holds, each.then), (holds.complement(), each.otherwise)):
                        self._conditions.append(test)
                        self._walk(branch)
                        self._conditions.pop()
                case tree.Declare(variable=variable) if variable.kind == "global" and not variable.is_memory:
                    raise unsupported("a static variable", each.place)
                case tree.Declare(variable=variable, value=value):
                    is_local = variable.kind == "local"
                    if is_local and self._bindings.declare(each, shape_of(variable.type)) and value is not None:
                        self._assign(
                            tree.Assignment(tree.Name(variable, each.place), "", value, each.place), each.text
                        )
                case tree.Evaluate():
                    self._evaluate(each)
                case tree.Region():
                    if self._is_shared or self._bindings.loops:
                        raise unsupported("a parallel region inside of another or of a loop", each.place)
                    self._is_shared = True
                    self._walk(each.body)
                    self._is_shared = False
                case tree.Other(what=what) if not each.is_return:
                    is_loop = "loop" in what or what in ("a break", "a continue")
                    raise loop_form(what, each.place) if is_loop else unsupported(what, each.place)

    def _for(self, loop: tree.For) -> None:
        match loop.first:
            case tree.Declare(variable=variable, value=start) if start is not None:
                pass
            case tree.Assignment(target=tree.Name(variable=variable), operator="", value=start):
                pass
            case _:
                raise loop_form("a loop that does not set its iterator first", loop.place)
        if not variable.is_whole:
            raise loop_form(f"a loop over '{variable.name}', which is no whole number,", loop.place)
        step = step_of(loop, variable)
        check_kept(loop.body, variable)
        bindings = self._bindings
        name = bindings.iterator_name(variable)
        iterator = symbol(name, variable.type, loop.place)
        bounds = [counted_from(iterator, bindings.bound(start, BOUND), step, BOUND)]
        for relation, limit in limits(loop, variable, step):
            below = tree.Operation(relation, (iterator, bindings.bound(limit, BOUND)), loop.place)
            bounds.append(condition(below, BOUND))
        self._loops += 1
        bindings.enter(variable, Loop(name, step, loop.place, self._loops, loop.directives, variable.type))
        self._conditions += bounds
        self._position.append(0)
        self._walk(loop.body)
        self._position.pop()
        del self._conditions[-len(bounds) :]
        bindings.leave()
        self._position[-1] += 1

    def _evaluate(self, each: tree.Evaluate) -> None:
        match each.expression:
            case tree.Assignment() as assignment:
                self._assign(assignment, each.text)
            case tree.Call(function=function) if function in ALLOCATING:
                return
            case expression:
                reads = [(pointer, False) for pointer in self._bindings.reads(expression)]
                if reads and each.is_return:
                    self._append(reads, each.text, "", each.place, None)

    def _assign(self, each: tree.Assignment, text: str) -> None:
        target, value = each.target, each.value
        if isinstance(target, tree.Name) and target.variable.is_memory:
            raise alias(f"the pointer '{target.variable.name}', which is set more than once,", each.place)
        written = self._bindings.element(target)
        reads = [*self._bindings.reads(value), *([written] if each.operator else [])]
        accesses = [*((pointer, False) for pointer in reads), (written, True)]
        code: tree.Assignment | RefusalError
        try:
            sides = self._bindings.resolved(target), self._bindings.resolved(value)
            code = tree.Assignment(sides[0], each.operator, sides[1], each.place)
        except RefusalError as refusal:
            code = refusal
        self._append(accesses, text, accumulating(target, each.operator, value), each.place, code)

    def _append(
        self,
        accesses: Sequence[tuple[Pointer, bool]],
        text: str,
        accumulates: str,
        place: SourcePosition,
        code: tree.Assignment | RefusalError | None,
    ) -> None:
        loops = self._bindings.loops
        is_divided = any("for" in each.words for loop in loops for each in loop.directives)
        if self._is_shared and not is_divided:
            raise unsupported("what every thread of a parallel region does", place)
        around = tuple(self._position), tuple(map(constraint_text, self._conditions))
        self._raw.append(_Raw(loops, *around, tuple(accesses), text, accumulates, place, code))
        self._position[-1] += 1

    # Arrays.

    def _arrays(self) -> tuple[dict[str, Array], dict[tuple[int, int], Access]]:
        """The arrays, and the accesses by the number of their statement and their place in it."""
        grouped: dict[tuple[str, str], list[tuple[int, int, Pointer]]] = {}
        for number, each in enumerate(self._raw):
            for place, (pointer, _) in enumerate(each.accesses):
                key = pointer.root.variable.identity, pointer.root.spelled
                grouped.setdefault(key, []).append((number, place, pointer))
        extents = {key: self._extents(found) for key, found in grouped.items()}
        parameters = sorted(self._bindings.parameters)
        arrays: dict[str, Array] = {}
        accesses: dict[tuple[int, int], Access] = {}
        for (identity, spelled), found in grouped.items():
            root = found[0][2].root
            _check_apart((identity, spelled), grouped, found[0][2].place or self._function.place)
            name = self._bindings.array_name(root)
            raw = [self._raw_access(number, pointer) for number, _, pointer in found]
            where = located(spelled, raw, extents[identity, spelled], parameters)
            self._assumed |= dict.fromkeys(where.assumed)
            is_scalar = not root.shape.extents
            what = (root.shape.element, where.extents, root.variable.kind)
            arrays[name] = Array(name, spelled, *what, where.is_split, root.shape.is_restrict, is_scalar)
            for (number, place, _), form, one in zip(found, where.subscripts, raw, strict=True):
                accesses[number, place] = Access(name, form, one.place)
        return arrays, accesses

    def _extents(self, found: Sequence[tuple[int, int, Pointer]]) -> tuple[Polynomial | None, ...]:
        """The extents of an array's type, behind one for each loop around its declaration."""
        root, place = found[0][2].root, self._raw[found[0][0]].place
        if any(each.root.shape.extents != root.shape.extents for _, _, each in found):
            raise alias(f"'{root.spelled}', an array of several shapes,", place)
        forms: list[Polynomial | None] = [None] * root.depth
        for text in root.shape.extents:
            bound = text and self._bindings.bound(extent_expression(text, self._function.variables, place), INDEX)
            forms.append(polynomial(bound) if bound else None)
        return tuple(forms)

    def _raw_access(self, number: int, pointer: Pointer) -> RawAccess:
        raw = self._raw[number]
        iterators = tuple(loop.iterator for loop in raw.loops)
        return RawAccess(pointer.indices, iterators, raw.conditions, pointer.place or raw.place)

    def _assumptions(self, arrays: dict[str, Array]) -> tuple[str, ...]:
        assumed = list(self._assumed)
        by_pointer = [each for each in arrays.values() if each.kind != "local" and None in each.extents[:1]]
        open_ones = [each.spelled for each in by_pointer if not each.is_restrict]
        if open_ones and len(by_pointer) > 1:
            assumed.append(f"no other array overlaps {', '.join(open_ones)}")
        if self._bindings.is_unsigned:
            assumed.append("no difference of unsigned numbers is below 0")
        return tuple(assumed)


def _check_apart(key: tuple[str, str], others: Iterable[tuple[str, str]], place: SourcePosition) -> None:
    """Raise RefusalError (`pointer-alias`) for records that are accessed whole and by their members."""
    identity, spelled = key
    plain = spelled.replace("->", ".")
    for other_identity, other in others:
        if (
            other_identity == identity
            and other != spelled
            and f"{other.replace('->', '.')}.".startswith(f"{plain}.")
        ):
            raise alias(f"'{spelled}', a record accessed whole and by its members,", place)


def _once(accesses: Sequence[Access]) -> tuple[Access, ...]:
    """Accesses without those that were there before, wherever they stand."""
    found: list[Access] = []
    for each in accesses:
        if all((each.array, each.subscripts) != (other.array, other.subscripts) for other in found):
            found.append(each)
    return tuple(found)
