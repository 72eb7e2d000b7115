"""From a C function to its loop nest: domains of statements, and what each reads and writes.

Whole numbers that never change are parameters, members of records among them; whole locals that are set once are what
they are set to; all other scalars are arrays without subscripts, or with those of the loops in which they are declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.delinearise import RawAccess, located
from coarsen.loops.forms import compared, condition, not_affine, pieces, polynomial
from coarsen.loops.loop_heads import check_kept, limits, loop_form, reached, step_of
from coarsen.loops.memory import (
    Addresses,
    Pointer,
    Root,
    Shape,
    alias,
    extent_expression,
    path_of,
    scalar_shape,
    shape_of,
)
from coarsen.loops.names import PURE_FUNCTIONS, Names
from coarsen.loops.nest import Access, Array, Loop, Nest, Statement
from coarsen.loops.tree import (
    Assignment,
    Call,
    CFunction,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Member,
    Name,
    Number,
    Operation,
    Other,
    Region,
    Subscript,
    Unknown,
    Variable,
    expressions_of,
    inside,
    parts_of,
)
from coarsen.loops.tree import Statement as CStatement

_ALLOCATING = ("malloc", "calloc", "aligned_alloc", "alloca", "__builtin_alloca", "free")
_INDEX, _BOUND, _CONDITION = "an index", "a loop's bound", "a condition"


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


def nest_of(function: CFunction) -> Nest:
    """Return the loop nest of a C function.

    Args:
        function: as `clang_tree.functions_of` has it.

    Raises:
        RefusalError: it is no affine loop nest; the error names the place.
    """
    return _Reading(function).nest()


class _Reading:
    def __init__(self, function: CFunction) -> None:
        self._function = function
        self._names = Names()
        self._changed = {*_changed(function)}
        self._values: dict[str, Expression] = {}
        self._pointers: dict[str, Pointer] = {}
        self._declared: dict[str, Root] = {}
        self._addresses = Addresses(self._declared, self._pointers)
        self._stack: list[tuple[str, Loop]] = []  # the iterators' variables with their loops, the outermost first
        self._conditions: list[str] = []
        self._position: list[int] = [0]
        self._loops = 0
        self._region: Region | None = None
        self._raw: list[_Raw] = []
        self._parameters: dict[str, str] = {}  # paths in C by the nest's names
        self._is_unsigned = False
        self._assumed: dict[str, None] = {}

    def nest(self) -> Nest:
        self._walk(self._function.body)
        if not any(each.loops for each in self._raw):
            raise RefusalError(
                "no-loop", f"{self._function.name} has no loop with a statement", self._function.place
            )
        arrays, found = self._arrays()
        statements = []
        for number, raw in enumerate(self._raw):
            accesses = [(found[number, place], is_write) for place, (_, is_write) in enumerate(raw.accesses)]
            reads, writes = ([each for each, is_write in accesses if is_write is kind] for kind in (False, True))
            statements.append(
                Statement(
                    f"S{number + 1}",
                    raw.loops,
                    raw.position,
                    raw.conditions,
                    _once(reads),
                    tuple(writes),
                    raw.text,
                    raw.accumulates,
                    raw.place,
                )
            )
        assumed = self._assumptions(arrays)
        parameters, place = tuple(sorted(self._parameters)), self._function.place
        return Nest(self._function.name, parameters, arrays, tuple(statements), place, assumed, self._parameters)

    def _arrays(self) -> tuple[dict[str, Array], dict[tuple[int, int], Access]]:
        """The arrays, and the accesses by the number of their statement and their place in it."""
        grouped: dict[str, list[tuple[int, int, Pointer]]] = {}
        for number, raw in enumerate(self._raw):
            for place, (pointer, _) in enumerate(raw.accesses):
                key = f"{pointer.root.variable.identity} {pointer.root.spelled}"
                grouped.setdefault(key, []).append((number, place, pointer))
        visible = {each.variable.name: each.variable for each in self._function.all() if isinstance(each, Declare)}
        visible |= {each.name: each for each in (*self._function.globals, *self._function.parameters)}
        extents = {key: self._extents(found, visible) for key, found in grouped.items()}
        arrays: dict[str, Array] = {}
        accesses: dict[tuple[int, int], Access] = {}
        for key, found in grouped.items():
            root, name = found[0][2].root, self._names.of(key, found[0][2].root.spelled)
            raw = [self._raw_access(number, pointer) for number, _, pointer in found]
            where = located(root.spelled, raw, extents[key], sorted(self._parameters))
            self._assumed |= dict.fromkeys(where.assumed)
            shape = root.shape
            arrays[name] = Array(
                *(name, root.spelled, shape.element, where.extents, root.variable.kind),
                *(where.is_split, shape.is_restrict, not shape.extents),
            )
            for (number, place, _), form, one in zip(found, where.subscripts, raw, strict=True):
                accesses[number, place] = Access(name, form, one.place)
        return arrays, accesses

    def _extents(
        self, found: Sequence[tuple[int, int, Pointer]], visible: dict[str, Variable]
    ) -> tuple[Polynomial | None, ...]:
        """The extents of an array's type, behind one for each loop around its declaration."""
        root, place = found[0][2].root, self._raw[found[0][0]].place
        if any(each.root.shape.extents != root.shape.extents for _, _, each in found):
            raise alias(f"'{root.spelled}', an array of several shapes,", place)
        forms: list[Polynomial | None] = [None] * root.depth
        for text in root.shape.extents:
            bound = text and self._bound(extent_expression(text, visible, place), _INDEX)
            forms.append(polynomial(bound) if bound else None)
        return tuple(forms)

    def _raw_access(self, number: int, pointer: Pointer) -> RawAccess:
        raw = self._raw[number]
        place = pointer.place or raw.place
        return RawAccess(pointer.indices, tuple(loop.iterator for loop in raw.loops), raw.conditions, place)

    def _assumptions(self, arrays: dict[str, Array]) -> tuple[str, ...]:
        assumed = list(self._assumed)
        reached_by_pointer = [
            each for each in arrays.values() if each.kind != "local" and None in each.extents[:1]
        ]
        open_ones = [each.spelled for each in reached_by_pointer if not each.is_restrict]
        if open_ones and len(reached_by_pointer) > 1:
            assumed.append(f"no other array overlaps {', '.join(open_ones)}")
        if self._is_unsigned:
            assumed.append("no difference of unsigned numbers is below 0")
        return tuple(assumed)

    # Statements.

    def _walk(self, statements: Sequence[CStatement]) -> None:
        for each in statements:
            match each:
                case For():
                    self._for(each)
                case If():
                    holds = condition(self._bound(each.condition, _CONDITION), _CONDITION)
                    for test, branch in ((holds, each.then), (f"not ({holds})", each.otherwise)):
                        self._conditions.append(test)
                        self._walk(branch)
                        self._conditions.pop()
                case Declare():
                    self._declare(each)
                case Evaluate():
                    self._evaluate(each)
                case Region():
                    if self._region is not None or self._stack:
                        raise _unsupported("a parallel region inside of another or of a loop", each.place)
                    self._region = each
                    self._walk(each.body)
                    self._region = None
                case Other():
                    if "loop" in each.what or each.what in ("a break", "a continue"):
                        raise loop_form(each.what, each.place)
                    raise _unsupported(each.what, each.place)

    def _for(self, loop: For) -> None:
        first = loop.first
        match first:
            case Declare(variable=variable, value=value) if value is not None:
                start: Expression = value
            case Assignment(target=Name(variable=variable), operator="", value=start):
                pass
            case _:
                raise loop_form("a loop that does not set its iterator first", loop.place)
        if not variable.is_whole:
            raise loop_form(f"a loop over '{variable.name}', which is no whole number,", loop.place)
        step = step_of(loop, variable)
        for each in loop.body:
            check_kept(each, variable)
        begin = pieces(self._bound(start, _BOUND), _BOUND)
        name = self._names.of(variable.identity, variable.name, taken={each.iterator for _, each in self._stack})
        self._loops += 1
        entry = Loop(name, step, loop.place, self._loops, loop.directives)
        bounds = [reached(begin, name, step)]
        for relation, bound in limits(loop, variable, step):
            bounds.append(compared([("0 = 0", name)], relation, pieces(self._bound(bound, _BOUND), _BOUND)))
        self._stack.append((variable.identity, entry))
        self._conditions += bounds
        self._position.append(0)
        self._walk(loop.body)
        self._position.pop()
        del self._conditions[-len(bounds) :]
        self._stack.pop()
        self._position[-1] += 1

    def _declare(self, each: Declare) -> None:
        variable, value = each.variable, each.value
        shape = shape_of(variable.type)
        is_changed = variable.identity in self._changed
        if variable.kind == "local" and shape is not None:
            self._declare_memory(each, shape)
            return
        if variable.kind == "local":
            root = Root(variable.name, variable, scalar_shape(variable.type), len(self._stack))
            if value is not None and variable.is_whole and not is_changed:
                try:
                    self._values[variable.identity] = self._bound(value, _INDEX)
                    return
                except RefusalError:
                    pass
            if value is not None and not is_changed and not any(True for _ in self._reads(value)):
                return  # a value of parameters and iterators alone: no memory
            self._declared[variable.identity] = root
        if value is not None:
            self._add(Name(variable, each.place), "", value, each.text, each.place)

    def _declare_memory(self, each: Declare, shape: Shape) -> None:
        variable, value = each.variable, each.value
        if "*" not in variable.type or (isinstance(value, Call) and value.function in _ALLOCATING):
            self._declared[variable.identity] = Root(variable.name, variable, shape, len(self._stack))
            if value is not None and not isinstance(value, Call):
                raise _unsupported("an array with first values", each.place)
        elif value is not None and variable.identity not in self._changed:
            found = self._addresses.pointer(value)
            if len(shape.extents) > 1 and len(found.indices) == 1 and _is_zero(found.indices[0]):
                found = Pointer(
                    Root(found.root.spelled, found.root.variable, shape, found.root.depth), found.indices
                )
            self._pointers[variable.identity] = replace(
                found, indices=tuple(self._bound(index, _INDEX) for index in found.indices)
            )

    def _evaluate(self, each: Evaluate) -> None:
        match each.expression:
            case Assignment(target=target, operator=operator, value=value):
                if isinstance(target, Name) and target.variable.is_memory:
                    raise alias(f"the pointer '{target.variable.name}', which is set more than once,", each.place)
                self._add(target, operator, value, each.text, each.place)
            case Call(function=function) if function in _ALLOCATING:
                return
            case expression if each.is_return:
                reads = tuple((pointer, False) for pointer in self._reads(expression))
                if reads:
                    self._append(reads, each.text, "", each.place)
            case expression:
                for _ in self._reads(expression):
                    pass  # refuses calls of what is not known

    def _add(self, target: Expression, operator: str, value: Expression, text: str, place: SourcePosition) -> None:
        written = self._element(target)
        reads = [*self._reads(value), *([written] if operator else [])]
        kind = operator or _accumulating(target, value)
        self._append((*((each, False) for each in reads), (written, True)), text, kind, place)

    def _append(
        self, accesses: tuple[tuple[Pointer, bool], ...], text: str, accumulates: str, place: SourcePosition
    ) -> None:
        loops = tuple(loop for _, loop in self._stack)
        is_shared = any("for" in each.words for loop in loops for each in loop.directives)
        if self._region is not None and not is_shared:
            raise _unsupported("what every thread of a parallel region does", place)
        self._raw.append(
            _Raw(loops, tuple(self._position), tuple(self._conditions), accesses, text, accumulates, place)
        )
        self._position[-1] += 1

    # Expressions.

    def _reads(self, expression: Expression) -> Iterator[Pointer]:
        """The elements that an expression's value is made of."""
        match expression:
            case Name(variable=variable):
                if variable.is_memory:
                    raise alias(f"'{variable.name}', a whole array as a value,", expression.place)
                if self._is_scalar_memory(variable):
                    yield self._element(expression)
            case Subscript() | Operation(operator="*", operands=(_,)):
                yield self._element(expression)
            case Member():
                path = path_of(expression)
                if path is None or path[1] in self._changed:
                    yield self._element(expression)
            case Operation(operator="&"):
                raise alias("an address as a value", expression.place)
            case Call(function=function) if function not in PURE_FUNCTIONS:
                called = f"'{function}'" if function else "a function"
                raise RefusalError(
                    "unknown-call", f"what {called} reads and writes is not known", expression.place
                )
            case Assignment():
                raise RefusalError("side-effect", "an assignment stands inside of an expression", expression.place)
            case Unknown(what=what) if what != "UnaryExprOrTypeTraitExpr":
                raise _unsupported(f"clang's {what}", expression.place)
            case _:
                for part in parts_of(expression):
                    yield from self._reads(part)

    def _is_scalar_memory(self, variable: Variable) -> bool:
        if any(identity == variable.identity for identity, _ in self._stack) or variable.identity in self._values:
            return False
        return variable.identity in self._declared or variable.identity in self._changed

    def _element(self, expression: Expression) -> Pointer:
        """The element that an expression is, its indices bound."""
        if isinstance(expression, Name):
            variable = expression.variable
            shape = scalar_shape(variable.type)
            root = self._declared.get(variable.identity, Root(variable.name, variable, shape))
            return Pointer(
                root, tuple(_symbol(loop.iterator, expression.place) for _, loop in self._stack[: root.depth])
            )
        path = path_of(expression)
        if path is not None:
            return Pointer(Root(path[1], path[0], scalar_shape(expression.type)), ())  # type: ignore[union-attr]
        found = self._addresses.element(expression)
        if len(found.indices) != len(found.root.shape.extents):
            raise alias(f"a row of '{found.root.spelled}' as a value", expression.place)
        indices = tuple(self._bound(index, _INDEX) for index in found.indices)
        outer = tuple(_symbol(loop.iterator, expression.place) for _, loop in self._stack[: found.root.depth])
        return Pointer(found.root, (*outer, *indices), expression.place)

    def _bound(self, expression: Expression, what: str) -> Expression:
        """A whole expression with the nest's names for iterators and parameters, and locals as what they are set to."""
        place = expression.place
        match expression:
            case Number(value=int()):
                return expression
            case Name(variable=variable):
                for identity, loop in reversed(self._stack):
                    if identity == variable.identity:
                        return _symbol(loop.iterator, place)
                if variable.identity in self._values:
                    return self._values[variable.identity]
                is_fixed = variable.identity not in self._changed and variable.identity not in self._declared
                if variable.kind == "symbol" or (variable.is_whole and is_fixed and variable.kind != "local"):
                    return (
                        expression
                        if variable.kind == "symbol"
                        else self._parameter(variable.identity, variable.name, place)
                    )
            case Member(type=spelled):
                path = path_of(expression)
                whole = Variable("", "", spelled, "global").is_whole
                if path is not None and whole and path[1] not in self._changed:
                    return self._parameter(path[1], path[1], place)
            case Operation(operator=operator, operands=operands) if (
                operator not in ("cast", "&", "*") or len(operands) > 1
            ):
                if operator != "cast":
                    self._is_unsigned |= expression.is_unsigned and operator == "-"
                    return replace(expression, operands=tuple(self._bound(each, what) for each in operands))
        if what == _INDEX:
            raise not_affine(what, place)
        if what == _BOUND:
            raise RefusalError("data-dependent-bound", "a loop's bound depends on what is computed", place)
        raise RefusalError("data-dependent-condition", "an if depends on what is computed", place)

    def _parameter(self, identity: str, spelled: str, place: SourcePosition) -> Expression:
        name = self._names.of(identity, spelled)
        self._parameters[name] = spelled
        return _symbol(name, place)


def _changed(function: CFunction) -> Iterator[str]:
    """What is set after its declaration: variables, and members of records by their paths."""
    for statement in function.all():
        for whole in expressions_of(statement):
            for each in inside(whole):
                target = None
                if isinstance(each, Assignment):
                    target = each.target
                elif isinstance(each, Operation) and each.operator == "&":
                    target = each.operands[0]
                path = None if target is None else path_of(target)
                if path is not None:
                    yield path[0].identity if isinstance(target, Name) else path[1]


def _accumulating(target: Expression, value: Expression) -> str:
    """The operator of `x = x + …`; empty for any other assignment."""
    if isinstance(value, Operation) and value.operator in ("+", "*", "-"):
        first, *others = value.operands
        if _same(first, target) or (value.operator != "-" and others and _same(others[0], target)):
            return value.operator
    return ""


def _same(first: Expression, second: Expression) -> bool:
    """Return True for expressions that differ in their places alone."""
    match first, second:
        case Number(text=one), Number(text=other):
            return one == other
        case Name(variable=one), Name(variable=other):
            return one == other
        case Operation(operator=one), Operation(operator=other) if one != other:
            return False
        case Member(field=one), Member(field=other) if one != other:
            return False
    mine, others = parts_of(first), parts_of(second)
    same_kind = type(first) is type(second) and len(mine) == len(others) > 0
    return same_kind and not isinstance(first, Call | Unknown) and all(map(_same, mine, others))


def _once(accesses: Sequence[Access]) -> tuple[Access, ...]:
    """Accesses without those that were there before, wherever they stand."""
    found: list[Access] = []
    for each in accesses:
        if all((each.array, each.subscripts) != (other.array, other.subscripts) for other in found):
            found.append(each)
    return tuple(found)


def _symbol(name: str, place: SourcePosition) -> Name:
    return Name(Variable("", name, "int", "symbol"), place)


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Number) and expression.value == 0


def _unsupported(what: str, place: SourcePosition) -> RefusalError:
    return RefusalError("unsupported-statement", f"{what} is not read as a part of an affine loop nest", place)
