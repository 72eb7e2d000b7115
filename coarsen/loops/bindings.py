"""What the names of a C function stand for at a place in it: iterators, parameters, values, memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from keyword import iskeyword

from coarsen.base.names import MATHEMATICAL, is_opencl_function, is_opencl_word
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.forms import not_affine
from coarsen.loops.nest import Loop
from coarsen.loops.writer import opencl_type

# What isl's notation reads as something else, whatever the case of its letters.
_OF_ISL = "and or not exists implies min max mod floor ceil floord ceild rat true false nan infty"
# Of the standard library: they read and write no memory that a program sees.
PURE_FUNCTIONS = frozenset(f"{name}{suffix}" for name in MATHEMATICAL for suffix in ("", "f", "l"))
PURE_FUNCTIONS |= {"abs", "labs", "llabs"}
ALLOCATING = frozenset(("malloc", "calloc", "aligned_alloc", "alloca", "__builtin_alloca", "free"))


def is_taken(name: str) -> bool:
    """Return True for a name that isl's notation, an expression of sizes or OpenCL C reads as something else."""
    is_in_opencl = is_opencl_word(name) or is_opencl_function(name) or name.endswith("_t")
    return is_in_opencl or name.lower() in _OF_ISL.split() or iskeyword(name)


class _Names:
    """Gives each thing of a source a name: its own where that is free, and isl and OpenCL C take it."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def of(self, identity: str, spelled: str) -> str:
        """Return the name of a thing; `identity` tells it from others, the source calls it `spelled`."""
        plain = re.sub(r"\W", "_", spelled.replace("->", "."), flags=re.ASCII)
        if is_taken(plain) or not plain[:1].isalpha() or re.fullmatch(r"S\d+", plain):
            plain = f"v_{plain}"
        if identity not in self._given:
            used = {*self._given.values()}
            tries = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
            self._given[identity] = next(name for name in tries if name not in used)
        return self._given[identity]


INDEX, BOUND, CONDITION = "an index", "a loop's bound", "a condition"


class Bindings:
    """Reads expressions of a function, loop by loop.

    Attributes:
        spelled: by the nest's names, how C spells the numbers that the function is given and keeps.
        types: the types of these.
        arrays: what has elements in memory, by the nest's names.
        is_unsigned: whether unsigned numbers were taken from each other in an index, a bound or a condition.
    """

    def __init__(self, function: tree.CFunction) -> None:
        self.spelled: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.arrays: dict[str, Root] = {}
        self.is_unsigned = False
        self._names = _Names()
        self._function = function
        self._stack: list[tuple[str, Loop]] = []  # the iterators' variables with their loops, the outermost first
        self._iterators: set[str] = set()
        self._changed = {*_changed(function)}
        self._values: dict[str, tree.Expression] = {}
        # What local pointers were set to for good, and the arrays that the function declares, by variable.
        self._pointers: dict[str, Pointer] = {}
        self._declared: dict[str, Root] = {}

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around the place, the outermost first."""
        return tuple(loop for _, loop in self._stack)

    def enter(self, variable: tree.Variable, loop: Loop) -> None:
        """Go into a loop."""
        self._iterators.add(variable.identity)
        self._stack.append((variable.identity, loop))

    def leave(self) -> None:
        """Go out of the innermost loop."""
        self._stack.pop()

    def iterator_name(self, variable: tree.Variable) -> str:
        """Return the nest's name for the iterator of a loop that stands here; loops in a row may have the same."""
        again = sum(loop.iterator.startswith(variable.name) for loop in self.loops)
        return self._names.of(f"iterator {variable.name} {again}", variable.name)

    def declare(self, each: tree.Declare) -> bool:
        """Take a local variable in; return True if its first value is to be stored.

        Raises RefusalError for one that leads nowhere that is known, or is of an array.
        """
        variable, value = each.variable, each.value
        own = _array(variable.name, variable, variable.type, len(self._stack))
        if own is not None:
            self._declare_memory(each, own)
            return False
        if value is not None and variable.identity not in self._changed:
            kept = self._value_for_good(variable, value)
            if kept is not None:
                self._values[variable.identity] = kept
                return False
        self._declared[variable.identity] = _scalar(variable.name, variable, variable.type, len(self._stack))
        return value is not None

    def _value_for_good(self, variable: tree.Variable, value: tree.Expression) -> tree.Expression | None:
        """The value of a variable that is set once, of parameters and iterators alone; None if it is in memory."""
        type_ = variable.type.replace("const ", "")
        if variable.is_whole:
            try:
                found = self.bound(value, INDEX)
                if type_ == "int" and _is_int(found):
                    return found
                return tree.Cast(type_, found, is_narrow=False, place=value.place)
            except RefusalError:
                pass
        found = self.read(value)
        return None if tree.elements_in(found) else tree.Cast(type_, found, variable.is_whole, value.place)

    def _declare_memory(self, each: tree.Declare, own: Root) -> None:
        variable, value = each.variable, each.value
        is_made = isinstance(value, tree.Call) and value.function in ALLOCATING
        if "*" not in variable.type or is_made:
            self._declared[variable.identity] = own
            if value is not None and not is_made:
                raise unsupported("an array with first values", each.place)
        elif value is not None and variable.identity not in self._changed:
            found = self._pointer(value)
            indices, root = tuple(self.bound(index, INDEX) for index in found.indices), found.root
            if len(own.extents) > 1 and len(indices) == 1 and getattr(indices[0], "value", None) == 0:
                root = replace(own, spelled=root.spelled, variable=root.variable, depth=root.depth)
            self._pointers[variable.identity] = Pointer(root, indices)

    def bound(self, expression: tree.Expression, what: str) -> tree.Expression:
        """Return a whole expression in the nest's names, locals replaced by what they are set to.

        It is an `INDEX`, a `BOUND` or a `CONDITION`. Raises RefusalError if it depends on what is computed.
        """
        found = self.read(expression)
        for part in tree.inside(found):
            if not _stays(part):
                if what == INDEX:
                    raise not_affine(what, part.place)
                if what == BOUND:
                    reason = "a loop's bound depends on what is computed"
                    raise RefusalError("data-dependent-bound", reason, part.place)
                raise RefusalError("data-dependent-condition", "an if depends on what is computed", part.place)
            self.is_unsigned |= isinstance(part, tree.Operation) and part.is_unsigned and part.operator == "-"
        return found

    def _parameter(self, identity: str, spelled: str, type_: str, place: SourcePosition) -> tree.Expression:
        name = self._names.of(identity, spelled)
        self.spelled[name] = spelled
        self.types[name] = type_.replace("const ", "").replace("volatile ", "")
        return symbol(name, type_, place)

    def read(self, expression: tree.Expression) -> tree.Expression:
        """Return an expression in the nest's names. Raises RefusalError where it is not known what it accesses."""
        place = expression.place
        match expression:
            case tree.Name(variable=tree.Variable(kind="symbol")):
                return expression
            case tree.Name(variable=variable):
                if variable.is_memory:
                    raise alias(f"'{variable.name}', a whole array as a value,", place)
                for identity, loop in reversed(self._stack):
                    if identity == variable.identity:
                        return symbol(loop.iterator, variable.type, place)
                if variable.identity in self._iterators:
                    raise not_affine(f"'{variable.name}' after its loop", place)
                if variable.identity in self._values:
                    return self._values[variable.identity]
                if variable.identity in self._declared or variable.identity in self._changed:
                    return self.element(expression)
                return self._parameter(variable.identity, variable.name, variable.type, place)
            case tree.Subscript():
                return self.element(expression)
            case tree.Member(type=spelled):
                path = path_of(expression)
                if path is None or path[0].kind == "local" or path[1] in self._changed:
                    return self.element(expression)
                return self._parameter(path[1], path[1], spelled, place)
            case tree.Operation(operator="&", operands=(_,)):
                raise alias("an address as a value", place)
            case tree.Call(function=function) if function not in PURE_FUNCTIONS:
                called = f"'{function}'" if function else "a function"
                raise RefusalError("unknown-call", f"what {called} reads and writes is not known", place)
            case tree.Assignment():
                raise RefusalError("side-effect", "an assignment stands inside of an expression", place)
            case tree.Unknown(what=what) if what != "UnaryExprOrTypeTraitExpr":
                raise unsupported(f"clang's {what}", place)
        return tree.with_parts(expression, self.read)

    def element(self, expression: tree.Expression) -> tree.Element:
        """Return the element that an expression is, its indices in the nest's names. Raises RefusalError."""
        place = expression.place
        found = self._address(expression)
        root = found.root
        if len(found.indices) != len(root.extents):
            raise alias(f"a row of '{root.spelled}' as a value", place)
        opencl_type(root.element, place)
        indices = tuple(self.bound(index, INDEX) for index in found.indices)
        name = self._names.of(f"array {root.variable.identity} {root.spelled}", root.spelled)
        if self.arrays.setdefault(name, root).extents != root.extents:
            raise alias(f"'{root.spelled}', an array of several shapes,", place)
        extents = tuple(
            self.bound(_extent(text, self._function.variables, place), INDEX) if text else None
            for text in root.extents
        )
        return tree.Element(name, indices, extents, place)

    # Where expressions lead in memory.

    def _pointer(self, expression: tree.Expression) -> Pointer:
        """The address that an expression of a pointer's or an array's type is."""
        zero = tree.Number("0", 0, expression.place)
        match expression:
            case tree.Name(variable=variable) if variable.identity in self._pointers:
                return self._pointers[variable.identity]
            case tree.Name() | tree.Member():
                return Pointer(self._root(expression), (zero,))
            case tree.Subscript():
                found = self._address(expression)
                if len(found.indices) < len(found.root.extents):
                    return Pointer(found.root, (*found.indices, zero))
            case tree.Operation(operator="&", operands=(inner,)):
                found = self._address(inner)
                if found.indices:
                    return found
        raise alias("a pointer", expression.place)

    def _address(self, expression: tree.Expression) -> Pointer:
        """The element that an expression is; a variable is one without indices."""
        path = path_of(expression)
        match expression:
            case tree.Subscript(base=base, index=index):
                return self._pointer(base).element(index)
            case tree.Name(variable=variable):
                own = _scalar(variable.name, variable, variable.type)
                return Pointer(self._declared.get(variable.identity, own), ())
            case tree.Member(type=type_) if path is not None and path[0].kind != "local":
                return Pointer(_scalar(path[1], path[0], type_), ())
            case tree.Member():
                raise unsupported("a member of a record of the function's own, or of an array's", expression.place)
        raise alias("an expression", expression.place)

    def _root(self, expression: tree.Expression) -> Root:
        """The array that a name or a member of a record is."""
        if isinstance(expression, tree.Name) and expression.variable.identity in self._declared:
            return self._declared[expression.variable.identity]
        path = path_of(expression)
        if path is None:
            raise alias("a pointer in a record", expression.place)
        variable, spelled = path
        own = _array(spelled, variable, expression.type if isinstance(expression, tree.Member) else variable.type)
        if own is None:
            raise alias(f"'{spelled}'", expression.place)
        if variable.kind == "local":
            raise alias(f"the pointer '{spelled}', which is set more than once,", expression.place)
        return own

    def refusal(self, element: tree.Element) -> RefusalError | None:
        """Return why no kernel can be given an array as C has it; None for an array that can be given."""
        root = self.arrays[element.array]
        variable = root.variable
        is_global = variable.kind == "global"
        what = ""
        if root.depth and root.extents:
            what = "an array that each iteration has for itself"
        elif is_global and all(variable.identity != each.identity for each in self._function.globals):
            what = "a static variable of a function"
        elif is_global and "[" in variable.type and variable.type.startswith("const "):
            what = "a constant array"
        return unsupported(f"'{root.spelled}', {what},", element.place) if what else None


def _changed(function: tree.CFunction) -> Iterator[str]:
    """Variables that are set after their declaration, and members of records by their paths."""
    for target in tree.targets_in(function.body):
        path = path_of(target)
        if path is not None:
            yield path[0].identity if isinstance(target, tree.Name) else path[1]


def symbol(name: str, type_: str, place: SourcePosition) -> tree.Name:
    """Return a use of an iterator or a parameter of a nest, by its name there."""
    return tree.Name(tree.Variable("", name, type_, "symbol"), place)


def _is_int(expression: tree.Expression) -> bool:
    """Return True for an expression of numbers that are all C's `int`, or smaller, and stay so."""
    match expression:
        case tree.Number(text=text):
            return text.isdecimal()
        case tree.Name(variable=variable):
            return "long" not in variable.type and "unsigned int" not in variable.type
        case tree.Cast(type=type_):
            return type_ == "int"
    return all(map(_is_int, tree.parts_of(expression)))


def _stays(part: tree.Expression) -> bool:
    """Return True for a part of an expression that an index or a bound may have: it stays the same."""
    match part:
        case tree.Number(value=value):
            return value is not None
        case tree.Name(variable=variable):
            return variable.is_whole
        case tree.Cast(is_narrow=is_narrow):
            return not is_narrow
        case tree.Operation(operator=operator, operands=operands):
            return len(operands) > 1 or operator in ("-", "!")
    return False


# Where an expression leads in memory: an array, and an index for each of its dimensions.

# Of a type: what stands before an array's extents, and the extents.
_EXTENTS = re.compile(r"\[([^\]]*)\]")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict|struct|extern|static)\b")


@dataclass(frozen=True)
class Root:
    """An array that a function reaches, or a variable as one without extents.

    Attributes:
        spelled: what the source calls it.
        variable: that leads there.
        element: the type of an element.
        extents: as C has them, None for one that the type does not say.
        is_restrict: whether nothing else points to it.
        depth: the number of loops around the declaration of what the function declares itself.
    """

    spelled: str
    variable: tree.Variable
    element: str
    extents: tuple[str | None, ...] = ()
    is_restrict: bool = False
    depth: int = 0


@dataclass(frozen=True)
class Pointer:
    """An address: that of the element of an array at these indices, as many of them as are given so far."""

    root: Root
    indices: tuple[tree.Expression, ...]

    def element(self, index: tree.Expression) -> Pointer:
        """Return the element so many further on."""
        *outer, last = self.indices
        is_first = isinstance(last, tree.Number) and last.value == 0
        return Pointer(self.root, (*outer, index if is_first else tree.Operation("+", (last, index), index.place)))


def alias(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of an address of which it isn't known where it leads."""
    return RefusalError("pointer-alias", f"which array {what} leads to is not known", place)


def unsupported(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of a statement that is no part of a loop nest."""
    return RefusalError("unsupported-statement", f"{what} is not read as a part of an affine loop nest", place)


def _array(spelled: str, variable: tree.Variable, type_: str, depth: int = 0) -> Root | None:
    """The array that a type leads to; None for a scalar, or pointers to pointers."""
    head, _, _ = type_.partition("[")
    extents: list[str | None] = [extent.strip() or None for extent in _EXTENTS.findall(type_)]
    stars = head.count("*")
    if stars > 1 or (stars and extents and "(" not in head) or not stars + len(extents):
        return None
    element, every = _element(head), (*[None] * stars, *extents)
    return Root(spelled, variable, element, every, "restrict" in head, depth)


def _scalar(spelled: str, variable: tree.Variable, type_: str, depth: int = 0) -> Root:
    return Root(spelled, variable, _element(type_), depth=depth)


def _element(spelled: str) -> str:
    return " ".join(re.sub(r"[*()]", " ", _QUALIFIERS.sub("", spelled)).split())


def _extent(text: str, names: Mapping[str, tree.Variable], place: SourcePosition) -> tree.Expression:
    """Return an extent of a type, which clang prints as text, as an expression of some variables.

    Raises RefusalError (`not-affine`) for what is more than sums and products of names, members and numbers.
    """

    def read(node: ast.expr) -> tree.Expression:
        match node:
            case ast.Constant(value=int(value)):
                return tree.Number(str(value), value, place)
            case ast.Name(id=name) if name in names:
                return tree.Name(names[name], place)
            case ast.Attribute(value=base, attr=field):
                inner = read(base)
                is_arrow = isinstance(inner, tree.Name) and "*" in inner.variable.type
                return tree.Member(inner, field, is_arrow, "int", place)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(operator)]
                return tree.Operation(sign, (read(left), read(right)), place)
        raise RefusalError("not-affine", f"an extent, {text}, is no sum or product of names and numbers", place)

    plain = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text.replace("->", ".")).replace("(int)", "")
    try:
        return read(ast.parse(plain.strip(), mode="eval").body)
    except SyntaxError:
        raise RefusalError("not-affine", f"an extent, {text}, can't be read", place) from None


def path_of(expression: tree.Expression) -> tuple[tree.Variable, str] | None:
    """Return the variable of `g->size.x` and the path as C has it; None for any other expression."""
    match expression:
        case tree.Name(variable=variable):
            return variable, variable.name
        case tree.Member(base=base, field=field, is_arrow=is_arrow):
            inner = path_of(base)
            return inner and (inner[0], f"{inner[1]}{'->' if is_arrow else '.'}{field}")
    return None
