"""Writes trees as OpenCL C, and reads what isl's code generator makes as trees of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree

INDENT = "    "
# How tightly an operator binds, the loosest first.
_LEVELS = ("?:", "||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / % //")
_BINDING = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs.split()}
_UNARY, _ALONE = len(_LEVELS), len(_LEVELS) + 1
_COMPARISONS = frozenset(sign for signs in _LEVELS[6:8] for sign in signs.split())
_TYPES = {
    **{name: name for name in ("char", "short", "int", "long", "uint", "ulong", "float", "double")},
    **{f"unsigned {name}": f"u{name}" for name in ("char", "short", "int", "long")},
    "signed char": "char",
    "unsigned": "uint",
    "long long": "long",
    "unsigned long long": "ulong",
}
# OpenCL C's own gives an unsigned number.
_ABSOLUTE = {"abs": "(int)abs", "labs": "(long)abs", "llabs": "(long)abs"}


def opencl_type(spelled: str, place: SourcePosition) -> str:
    """Return a C type in OpenCL C. Raises RefusalError (`c-type`) if that has none of the same size."""
    plain = " ".join(word for word in spelled.split() if word not in ("const", "volatile", "restrict"))
    found = "int" if plain.startswith("enum ") else _TYPES.get(plain)
    if found is None:
        raise RefusalError("c-type", f"OpenCL C has nothing for a number of the type '{plain}'", place)
    return found


@dataclass(frozen=True)
class Writer:
    """Writes expressions and statements. Raises RefusalError for what OpenCL C has not got.

    Attributes:
        whole: the type of iterators and sizes.
        private: variables of which a work-item has its own, by the nest's names.
    """

    whole: str
    private: frozenset[str] = frozenset()

    def of_isl(self, made: isl.AstExpr) -> tree.Expression:
        """Return an expression that isl's code generator made, as one of OpenCL C."""
        return expression_of(made, suffix="L" * (self.whole == "long"))

    def placed(
        self, node: tree.Expression, iterators: Mapping[str, tree.Expression], *, is_index: bool = False
    ) -> tree.Expression:
        """Return an expression in the nest's names at a place where iterators have these values."""
        match node:
            case tree.Name(variable=variable) if variable.name in iterators:
                value, type_ = iterators[variable.name], self._promoted(variable, node.place)
                is_same = type_ == self.whole and (type_ == "int" or not isinstance(value, tree.Number))
                return value if is_index or is_same else tree.Cast(type_, value, False, node.place)
            case tree.Element():
                is_index = True
        return tree.with_parts(node, lambda each: self.placed(each, iterators, is_index=is_index))

    def lines(self, statements: Sequence[tree.Statement]) -> Iterator[str]:
        """Yield the lines of statements; of a loop of one trip those of a block."""
        for each in statements:
            match each:
                case tree.Evaluate(expression=tree.Assignment(target, operator, value)):
                    yield f"{self.text(target)}{f' {operator}= '}{self.text(value)};"
                case tree.Declare(variable=variable, value=value):
                    first = "" if value is None else f" = {self.text(value)}"
                    yield f"{variable.type or self.whole} {variable.name}{first};"
                case tree.If(condition=condition, then=then, otherwise=otherwise):
                    yield f"if ({self.plain(condition)}) {{"
                    yield from self._inner(then)
                    if otherwise:
                        yield "} else {"
                        yield from self._inner(otherwise)
                    yield "}"
                case tree.For(first=tree.Declare() as first, condition=None):
                    yield "{"
                    yield from self._inner((first,), "const ")
                    yield from self._inner(each.body)
                    yield "}"
                case tree.For(first=tree.Declare() as first, condition=condition, step=step):
                    assert condition is not None and isinstance(step, tree.Assignment), "isl made them"
                    (start,), by = self.lines((first,)), self.plain(step.value)
                    counting = "++" if by == "1" else f" += {by}"
                    yield f"for ({start} {self.plain(condition)}; {first.variable.name}{counting}) {{"
                    yield from self._inner(each.body)
                    yield "}"

    def _inner(self, statements: Sequence[tree.Statement], before: str = "") -> Iterator[str]:
        yield from (f"{INDENT}{before}{line}" for line in self.lines(statements))

    def text(self, expression: tree.Expression) -> str:
        """Return an expression in the nest's names."""
        return self._part(expression)[0]

    def plain(self, expression: tree.Expression) -> str:
        """Return an expression all of which has one type, as `of_isl` returns it, or an index."""
        return self._part(expression, True)[0]

    def _element(self, each: tree.Element) -> str:
        """An element in memory, or a variable."""
        if not each.indices:
            return each.array if each.array in self.private else f"{each.array}[0]"
        first, *others = each.indices
        if not others:
            return f"{each.array}[{self.plain(first)}]"
        # As wide as sizes are: arrays that are larger have to be refused at the launch.
        text = _inside(self._part(first, True), _BINDING["*"])
        for place, (index, extent) in enumerate(zip(others, each.extents[1:], strict=True)):
            assert extent is not None, "the type of an array says its inner extents"
            row = f"({text})" if place else text
            column = _inside(self._part(index, True), _BINDING["*"])
            text = f"{row} * {_inside(self._part(extent, True), _UNARY)} + {column}"
        return f"{each.array}[{text}]"

    def _part(self, expression: tree.Expression, is_index: bool = False) -> tuple[str, int]:
        """The text, and how tightly its operator binds; in an index numbers may be wider than C has them."""

        def part(inner: tree.Expression) -> tuple[str, int]:
            return self._part(inner, is_index)

        match expression:
            case tree.Number(text=text):
                return text, _UNARY if text.startswith("-") else _ALONE
            case tree.Name(variable=variable, place=place):
                type_ = self.whole if is_index else self._promoted(variable, place)
                return (variable.name, _ALONE) if type_ == self.whole else (f"({type_}){variable.name}", _UNARY)
            case tree.Element():
                return self._element(expression), _ALONE
            case tree.Cast(type=type_, operand=operand, place=place):
                return f"({opencl_type(type_, place)}){_inside(part(operand), _UNARY)}", _UNARY
            case tree.Call(function=function, arguments=arguments):
                inner = ", ".join(part(each)[0] for each in arguments)
                return f"{_function(function)}({inner})", _UNARY if function in _ABSOLUTE else _ALONE
            case tree.Operation(operator="?:", operands=operands):
                test, one, other = (_inside(part(each), 1) for each in operands)
                return f"{test} ? {one} : {other}", 0
            case tree.Operation(operator=operator, operands=(only,)):
                return f"{operator}{_inside(part(only), _ALONE)}", _UNARY
            case tree.Operation(operator=operator, operands=(first, second)) if operator in _BINDING:
                level = _BINDING[operator]
                # Compilers take `a < b < c` for a mistake.
                least = _BINDING["<<"] if operator in _COMPARISONS else level
                further = level + (operator not in ("&&", "||"))
                left, right = _inside(part(first), least), _inside(part(second), max(least, further))
                return f"{left} {operator} {right}", level
        raise RefusalError("unsupported-statement", "a part of it can't be written as OpenCL C", expression.place)

    def _promoted(self, variable: tree.Variable, place: SourcePosition) -> str:
        """The type that C has a name's value in, in OpenCL C; that of iterators and sizes for what is no such."""
        if not variable.is_whole:
            return self.whole
        type_ = opencl_type(variable.type, place)
        return type_ if "int" in type_ or "long" in type_ else "int"


def _inside(part: tuple[str, int], level: int) -> str:
    """Return an operand, in parentheses where its own operator binds less tightly than a level."""
    text, own = part
    return text if own >= level else f"({text})"


def _function(name: str) -> str:
    """OpenCL C has one name for all types: `sqrtf` and `sqrt` are `sqrt`, their arguments say which."""
    if name in _ABSOLUTE:
        return _ABSOLUTE[name]
    plain = name if name == "erf" else name.removesuffix("f")
    return "rint" if plain == "nearbyint" else plain


# What isl makes.

_NOWHERE = SourcePosition(1, 1)
# The signs of isl's operators.
_SIGNS = {
    "or_": "||", "or_else": "||", "and_": "&&", "and_then": "&&", "eq": "==", "le": "<=", "lt": "<", "ge": ">=",
    "gt": ">", "add": "+", "sub": "-", "minus": "-", "mul": "*", "div": "/", "pdiv_q": "/", "fdiv_q": "/",
    "pdiv_r": "%", "zdiv_r": "%", "cond": "?:", "select": "?:",
}  # fmt: skip


def statements_of(
    node: isl.AstNode, expression: Callable[[isl.AstExpr], tree.Expression]
) -> Iterator[tree.Statement]:
    """Yield what a node runs: calls of statements by their names, loops around them, conditions.

    A loop of one trip has neither a condition nor a step. `expression` reads the expressions.
    """
    match isl.ast_node_type(node.get_type()).name:
        case "block":
            children = node.block_get_children()
            for place in range(children.n_ast_node()):
                yield from statements_of(children.get_at(place), expression)
        case "if_":
            then = tuple(statements_of(node.if_get_then_node(), expression))
            has_other = node.if_has_else_node()
            otherwise = tuple(statements_of(node.if_get_else_node(), expression)) if has_other else ()
            yield tree.If(expression(node.if_get_cond()), then, otherwise, _NOWHERE)
        case "for_":
            counted = variable(node.for_get_iterator().id_get_id().get_name())
            first = tree.Declare(counted.variable, expression(node.for_get_init()), "", _NOWHERE)
            loop = tree.For(first, None, None, tuple(statements_of(node.for_get_body(), expression)), _NOWHERE)
            if not node.for_is_degenerate():
                step = tree.Assignment(counted, "+", expression(node.for_get_inc()), _NOWHERE)
                loop = replace(loop, condition=expression(node.for_get_cond()), step=step)
            yield loop
        case _:
            run = node.user_get_expr()
            yield tree.Evaluate(expression(run), run.op_get_arg(0).id_get_id().get_name(), _NOWHERE)


def scanned(context: isl.Set, schedule: isl.UnionMap, names: Sequence[str]) -> isl.AstNode:
    """Return isl's loops over the instances of a schedule, whose iterators have these names."""
    ids = reduce(isl.IdList.add, map(isl.Id, names), isl.IdList.alloc(isl.DEFAULT_CONTEXT, 0))
    return isl.AstBuild.from_context(context).set_iterators(ids).node_from_schedule_map(schedule)


def expression_of(made: isl.AstExpr, quotient: str = "/", suffix: str = "") -> tree.Expression:
    """Return an expression that isl's code generator made.

    Args:
        made: by isl.
        quotient: the sign of a quotient; `//` is one downwards.
        suffix: of numbers to which `min` and `max` are applied: all that these are of has one type.
    """
    match isl.ast_expr_type(made.get_type()).name:
        case "id":
            return variable(made.id_get_id().get_name())
        case "int":
            return number(int(made.int_get_val().to_python()))
    operator = isl.ast_expr_op_type(made.op_get_type()).name
    arguments = [made.op_get_arg(place) for place in range(made.op_get_n_arg())]
    parts = [expression_of(each, quotient, suffix) for each in arguments]
    if operator == "call":
        return tree.Call(arguments[0].id_get_id().get_name(), tuple(parts[1:]), _NOWHERE)
    if operator in ("min", "max"):
        typed = (
            replace(each, text=each.text + suffix) if isinstance(each, tree.Number) else each for each in parts
        )
        return reduce(lambda one, other: tree.Call(operator, (one, other), _NOWHERE), typed)
    sign = _SIGNS[operator]
    if sign == "/" and quotient == "//":
        return operation("//", *parts)
    if operator == "fdiv_q":
        first, second = parts
        below = operation("-", operation("+", operation("-", first), second), number(1))
        cases = operation("/", first, second), operation("-", operation("/", below, second))
        return operation("?:", operation(">=", first, number(0)), *cases)
    return operation(sign, *parts)


def variable(name: str) -> tree.Name:
    """Return the use of a name of the kernel's text."""
    return tree.Name(tree.Variable("", name, "", "symbol"), _NOWHERE)


def operation(sign: str, *operands: tree.Expression) -> tree.Operation:
    """Return an operation that stands nowhere in the source."""
    return tree.Operation(sign, operands, _NOWHERE)


def number(value: int) -> tree.Number:
    """Return a number that stands nowhere in the source."""
    return tree.Number(str(value), value, _NOWHERE)
