"""From a C function to its loop nest: domains of statements, and what each reads and writes.

Whole numbers that never change are parameters, members of records among them; whole locals that are set once are
what they are set to; all other scalars are arrays without subscripts, or with those of the loops of their
declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.bindings import (
    ALLOCATING,
    BOUND,
    CONDITION,
    Bindings,
    alias,
    symbol,
    unsupported,
)
from coarsen.loops.forms import condition, constraint_text, located, number_of, polynomial
from coarsen.loops.nest import Access, Array, Loop, Nest, Statement

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def nest_of(function: tree.CFunction) -> Nest:
    """Return the loop nest of a C function. Raises RefusalError, with the place, for one that is none."""
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
        self._found: list[tuple[Statement, list[tree.Element], list[tree.Element]]] = []  # what it reads, writes
        self._assumed: dict[str, None] = {}

    def nest(self) -> Nest:
        function, bindings = self._function, self._bindings
        self._walk(function.body)
        if not any(each.loops for each, _, _ in self._found):
            raise RefusalError("no-loop", f"'{function.name}' has no loop with a statement", function.place)
        parameters = tuple(sorted(name for name, type_ in bindings.types.items() if tree.is_whole(type_)))
        arrays, accesses = self._arrays(parameters)
        statements = tuple(
            replace(
                each,
                reads=_once([accesses[each.name, element] for element in reads]),
                writes=tuple(accesses[each.name, element] for element in writes),
            )
            for each, reads, writes in self._found
        )
        assumed = self._assumptions(arrays)
        spelled, types = bindings.spelled, bindings.types
        return Nest(function.name, parameters, arrays, statements, function.place, assumed, spelled, types)

    # Statements.

    def _walk(self, statements: Sequence[tree.Statement]) -> None:
        for each in statements:
            if getattr(each, "is_return", False) and each is not self._function.body[-1]:
                raise unsupported("a return before the end", each.place)
            match each:
                case tree.For():
                    self._for(each)
                case tree.If():
                    holds = condition(self._bindings.bound(each.condition, CONDITION), CONDITION)
                    self._walk_where(holds, each.then)
                    self._walk_where(holds.complement(), each.otherwise)
                case tree.Declare(variable=variable) if variable.kind == "global" and not variable.is_memory:
                    raise unsupported("a static variable", each.place)
                case tree.Declare(variable=variable, value=value):
                    is_local = variable.kind == "local"
                    if is_local and self._bindings.declare(each) and value is not None:
                        self._assign(
                            tree.Assignment(tree.Name(variable, each.place), "", value, each.place), each.text
                        )
                case tree.Evaluate():
                    self._evaluate(each)
                case tree.Other(what=what) if not each.is_return:
                    is_loop = "loop" in what or what in ("a break", "a continue")
                    raise _loop_form(what, each.place) if is_loop else unsupported(what, each.place)

    def _walk_where(self, holds: isl.Set, statements: Sequence[tree.Statement]) -> None:
        self._conditions.append(holds)
        self._walk(statements)
        self._conditions.pop()

    def _for(self, loop: tree.For) -> None:
        match loop.first:
            case tree.Declare(variable=variable, value=start) if start is not None:
                pass
            case tree.Assignment(target=tree.Name(variable=variable), operator="", value=start):
                pass
            case _:
                raise _loop_form("a loop that does not set its iterator first", loop.place)
        if not variable.is_whole:
            raise _loop_form(f"a loop over '{variable.name}', which is no whole number,", loop.place)
        step = step_of(loop, variable)
        for target in tree.targets_in(loop.body):
            if _is_name(target, variable):
                raise _loop_form(f"a loop that changes its iterator '{variable.name}' itself", target.place)
        bindings = self._bindings
        name = bindings.iterator_name(variable)
        iterator = symbol(name, variable.type, loop.place)
        start, size = bindings.bound(start, BOUND), tree.Number(str(abs(step)), abs(step), loop.place)
        since = tree.Operation("-", (iterator, start), loop.place)
        holds = condition(tree.Operation("%", (since, size), loop.place), BOUND).complement()
        limited = ((relation, bindings.bound(limit, BOUND)) for relation, limit in limits(loop, variable, step))
        for relation, limit in ((">=" if step > 0 else "<=", start), *limited):
            holds = holds.intersect(condition(tree.Operation(relation, (iterator, limit), loop.place), BOUND))
        self._loops += 1
        bindings.enter(variable, Loop(name, step, loop.place, self._loops, loop.directives, variable.type))
        self._position.append(0)
        self._walk_where(holds, loop.body)
        self._position.pop()
        bindings.leave()
        self._position[-1] += 1

    def _evaluate(self, each: tree.Evaluate) -> None:
        match each.expression:
            case tree.Assignment() as assignment:
                self._assign(assignment, each.text)
            case tree.Call(function=function) if function in ALLOCATING:
                return
            case expression:
                reads = tree.elements_in(self._bindings.read(expression))
                if reads and each.is_return:
                    self._append(self._statement(each.text, each.place), reads, [])

    def _assign(self, each: tree.Assignment, text: str) -> None:
        bindings = self._bindings
        if isinstance(each.target, tree.Name) and each.target.variable.is_memory:
            raise alias(f"the pointer '{each.target.variable.name}', which is set more than once,", each.place)
        target, value = bindings.element(each.target), bindings.read(each.value)
        reads = [*tree.elements_in(value), *[target] * bool(each.operator)]
        statement = replace(
            self._statement(text, each.place),
            accumulates=_accumulating(target, each.operator, value),
            code=replace(each, target=target, value=value),
            refusal=next(filter(None, map(bindings.refusal, (target, *reads))), None),
        )
        self._append(statement, reads, [target])

    def _statement(self, text: str, place: SourcePosition) -> Statement:
        """A statement that stands here, without its accesses."""
        conditions = tuple(map(constraint_text, self._conditions))
        name = f"S{len(self._found) + 1}"
        return Statement(name, self._bindings.loops, tuple(self._position), conditions, (), (), text, "", place)

    def _append(self, statement: Statement, reads: list[tree.Element], writes: list[tree.Element]) -> None:
        self._found.append((statement, reads, writes))
        self._position[-1] += 1

    # Arrays.

    def _arrays(
        self, parameters: Sequence[str]
    ) -> tuple[dict[str, Array], dict[tuple[str, tree.Element], Access]]:
        """The arrays by name, and the accesses by statement and element."""
        grouped: dict[str, list[tuple[Statement, tree.Element]]] = {}
        for statement, reads, writes in self._found:
            for element in (*reads, *writes):
                grouped.setdefault(element.array, []).append((statement, element))
        arrays: dict[str, Array] = {}
        accesses: dict[tuple[str, tree.Element], Access] = {}
        for name, found in grouped.items():
            root, (_, first) = self._bindings.arrays[name], found[0]
            extents = [None if each is None else polynomial(each) for each in first.extents]
            where = located(root.spelled, found, extents, parameters)
            self._assumed |= dict.fromkeys(where.assumed)
            for (statement, element), form in zip(found, where.subscripts, strict=True):
                # What is declared in loops has an element for each of their iterations.
                own = map(Polynomial.symbol, statement.iterators[: root.depth])
                accesses.setdefault((statement.name, element), Access(name, (*own, *form), element.place))
            arrays[name] = Array(
                name,
                root.spelled,
                root.element,
                (*[None] * root.depth, *where.extents),
                root.variable.kind,
                where.is_split,
                root.is_restrict,
                is_scalar=not root.extents,
            )
        return arrays, accesses

    def _assumptions(self, arrays: dict[str, Array]) -> tuple[str, ...]:
        assumed = list(self._assumed)
        by_pointer = [each for each in arrays.values() if each.kind != "local" and None in each.extents[:1]]
        open_ones = [each.spelled for each in by_pointer if not each.is_restrict]
        if open_ones and len(by_pointer) > 1:
            assumed.append(f"no other array overlaps {', '.join(open_ones)}")
        if self._bindings.is_unsigned:
            assumed.append("no difference of unsigned numbers is below 0")
        return tuple(assumed)


def _accumulating(target: tree.Expression, operator: str, value: tree.Expression) -> str:
    """The operator by which an assignment adds to its target; nothing if it does not.

    Its `operator` is that of `+=` without the `=`, empty for a plain assignment; all is in the nest's names.
    """
    terms: list[tree.Expression] = [value]
    found = operator.replace("-", "+")
    if not operator:
        match value:
            case tree.Operation(operator="+" | "-" | "*" | "&" | "|" | "^" as found):
                terms = [*_terms(value, found)]
            case tree.Call(function=function, arguments=arguments) if function.rstrip("fl") in ("fmax", "fmin"):
                found, terms = function[1:4], [*arguments]
            case _:
                return ""
        if terms.count(target) != 1 or (found == "-" and terms[0] != target):
            return ""
        terms.remove(target)
    if any(part == target for each in terms for part in tree.inside(each)):
        return ""
    found = found.replace("-", "+")
    return found if found in ("+", "*", "&", "|", "^", "max", "min") else ""


def _terms(value: tree.Expression, operator: str) -> Iterator[tree.Expression]:
    """The terms of a sum or the factors of a product; of a difference its two sides."""
    if isinstance(value, tree.Operation) and value.operator == operator and len(value.operands) == 2:
        first, second = value.operands
        if operator == "-":
            yield from (first, second)
        else:
            yield from (*_terms(first, operator), *_terms(second, operator))
    else:
        yield value


def _once(accesses: Sequence[Access]) -> tuple[Access, ...]:
    """Accesses without those that were there before, wherever they stand."""
    return tuple(each for place, each in enumerate(accesses) if each not in accesses[:place])


# The heads of loops: by how much a loop counts, and up to which bound.


def _loop_form(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of a loop that is not counted as a `for` loop over one iterator is."""
    return RefusalError("loop-form", f"{what} does not count an iterator from a first value to a bound", place)


def step_of(loop: tree.For, variable: tree.Variable) -> int:
    """Return by how much a loop counts. Raises RefusalError (`loop-form`) if that is no number."""
    match loop.step:
        case tree.Assignment(target=tree.Name(variable=counted), operator="+" | "-" as operator, value=value):
            pass
        case tree.Assignment(
            target=tree.Name(variable=counted),
            operator="",
            value=tree.Operation(operator="+" | "-" as operator, operands=(tree.Name(variable=again), value)),
        ) if again == counted:
            pass
        case _:
            raise _loop_form("a loop without a step", loop.place)
    number = number_of(value)
    if counted != variable or not number:
        raise _loop_form("a loop whose step is no number other than 0", loop.place)
    return number if operator == "+" else -number


def limits(loop: tree.For, variable: tree.Variable, step: int) -> Iterator[tuple[str, tree.Expression]]:
    """Yield the bounds of a loop's iterator, each with how the iterator compares to it.

    Raises RefusalError (`loop-form`) if the condition is no bound in the direction of the step.
    """
    waiting = [loop.condition]
    while waiting:
        match waiting.pop():
            case tree.Operation(operator="&&", operands=(first, second)):
                waiting += [second, first]
                continue
            case tree.Operation(operator=operator, operands=(first, second)) if operator in _MIRRORED:
                first, second = tree.without_cast(first), tree.without_cast(second)
                if _is_name(second, variable):
                    first, second, operator = second, first, _MIRRORED[operator]
                is_bound = not any(_is_name(each, variable) for each in tree.inside(second))
                if _is_name(first, variable) and is_bound and (operator[0] == "<") == (step > 0):
                    yield operator, second
                    continue
        raise _loop_form("a loop whose condition is no bound of its iterator", loop.place)


def _is_name(expression: tree.Expression, variable: tree.Variable) -> bool:
    return isinstance(expression, tree.Name) and expression.variable == variable
