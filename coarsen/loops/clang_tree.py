"""From clang's syntax tree to C functions as `tree.py` has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.loops.clang_json import Node, bounds, is_directive, nodes, place_of, syntax_tree
from coarsen.loops.tree import (
    Assignment,
    Call,
    Cast,
    CFunction,
    Declare,
    Directive,
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
    Statement,
    Subscript,
    Unknown,
    Variable,
    is_whole,
)

_WRAPPERS = frozenset(("ParenExpr", "ImplicitCastExpr", "CStyleCastExpr", "ConstantExpr"))
_FLOATING = frozenset(("float", "double", "long double", "_Float16", "__fp16"))
# A smaller type may hold another number than the expression has.
_NARROW = frozenset(("char", "signed char", "unsigned char", "short", "unsigned short", "_Bool"))
_CONVERSIONS = frozenset(("IntegralCast", "IntegralToFloating", "FloatingCast"))
_CONSTANT = re.compile(r"const [\w ]+")
_WORDS = {
    "WhileStmt": "a while loop",
    "DoStmt": "a do loop",
    "SwitchStmt": "a switch",
    "BreakStmt": "a break",
    "ContinueStmt": "a continue",
    "GotoStmt": "a goto",
    "LabelStmt": "a label",
    "ReturnStmt": "a return without a value",
}


def functions_of(path: Path, options: Sequence[str] = (), name: str | None = None) -> tuple[CFunction, ...]:
    """Return the functions that a C file itself defines, in its order.

    Args:
        path: the file.
        options: further words for clang: definitions of macros, folders of headers.
        name: that of the only one that is wanted.

    Raises:
        InvalidInputError: the file can't be read or is no C that clang takes, or has no function of that name.
    """
    tree = syntax_tree(path, options)
    text = path.read_bytes()
    top = [
        node for node in tree.get("inner", ()) if node.get("kind") in ("VarDecl", "FunctionDecl", "TypedefDecl")
    ]
    typedefs = {each["name"]: _type(each) for each in top if each["kind"] == "TypedefDecl"}
    variables = [each for each in top if each["kind"] == "VarDecl"]
    global_variables = tuple(_variable(each, "global") for each in variables)
    own = [each for each in top if _is_defined_here(each, path)]
    if name is not None:
        chosen = [each for each in own if each["name"] == name]
        if not chosen:
            near = did_you_mean(name, [each["name"] for each in own])
            raise InvalidInputError(f"{path} defines no function '{name}'{near}")
        own = chosen
    reader = _Reader(text, typedefs, {})
    reader.add_enumerators(tree)
    reader.add_constants(variables)
    return tuple(reader.function(each, global_variables) for each in own)


def _is_defined_here(node: Node, path: Path) -> bool:
    has_body = any(each.get("kind") == "CompoundStmt" for each in node.get("inner", ()))
    return node["kind"] == "FunctionDecl" and has_body and Path(place_of(node).file) == path


def _type(node: Node) -> str:
    found = node.get("type", {})
    return str(found.get("desugaredQualType") or found.get("qualType", ""))


def _variable(node: Node, kind: str) -> Variable:
    kinds = {"ParmVarDecl": "parameter", "EnumConstantDecl": "constant"}
    known: Any = kinds.get(node["kind"], kind)
    return Variable(node["id"], node.get("name", ""), _type(node), known)


@dataclass
class _Reader:
    """Reads functions of one text.

    `typedefs` has what stands for a name in a type: a type, or a number in an extent. `constants` has the values
    of what never changes, by clang's names for it.
    """

    text: bytes
    typedefs: dict[str, str]
    constants: dict[str, Expression]
    local: dict[str, Variable] = field(default_factory=dict)

    def add_enumerators(self, tree: Node) -> None:
        """Know the numbers of all enumerators."""
        number = -1
        for node in nodes(tree):
            if node.get("kind") == "EnumDecl":
                number = -1
            elif node.get("kind") == "EnumConstantDecl":
                written = [each["value"] for each in node.get("inner", ()) if "value" in each]
                number = int(written[0]) if written else number + 1
                positive = Number(str(abs(number)), abs(number), place_of(node))
                value = positive if number >= 0 else Operation("-", (positive,), positive.place)
                self.constants[node["id"]] = value
                self.typedefs[node["name"]] = str(number)

    def add_constants(self, variables: Sequence[Node]) -> None:
        """Know the values of global variables that are constant numbers."""
        for each in variables:
            self._add_constant(each)

    def _add_constant(self, node: Node) -> None:
        type_ = self._spelled(_type(node))
        if node.get("init") and _CONSTANT.fullmatch(type_) and "struct" not in type_ and "union" not in type_:
            value = self._expression(node["inner"][-1])
            self.constants[node["id"]] = Cast(type_.removeprefix("const "), value, False, place_of(node))
            if isinstance(value, Number) and value.value is not None:
                self.typedefs[node["name"]] = str(value.value)

    def function(self, node: Node, global_variables: tuple[Variable, ...]) -> CFunction:
        inner = node["inner"]
        self.local = {}
        global_variables = tuple(self._resolved(each) for each in global_variables)
        parameters = tuple(
            self._declared(each, "parameter") for each in inner if each.get("kind") == "ParmVarDecl"
        )
        body = next(each for each in inner if each.get("kind") == "CompoundStmt")
        read = self._block(body)
        return CFunction(node["name"], parameters, read, place_of(node), global_variables)

    def _declared(self, node: Node, kind: str) -> Variable:
        return self._resolved(_variable(node, kind))

    def _resolved(self, variable: Variable) -> Variable:
        """The variable, known from now on, with typedefs resolved that stand inside of its type."""
        found = replace(variable, type=self._spelled(variable.type))
        self.local[found.identity] = found
        return found

    def _spelled(self, type_: str) -> str:
        found = re.sub(r"[A-Za-z_]\w*", lambda word: self.typedefs.get(word[0], word[0]), type_)
        # Clang has `struct name` for a record that has this name by a typedef alone, which is no C.
        return re.sub(
            r"\b(?:struct|union) (\w+)",
            lambda record: record[1] if self.typedefs.get(record[1]) == record[0] else record[0],
            found,
        )

    # Statements.

    def _block(self, node: Node | None) -> tuple[Statement, ...]:
        """The statements of a body, be it a block or a single one."""
        if not node or "kind" not in node:
            return ()
        if node["kind"] in ("CompoundStmt", "AttributedStmt"):
            return tuple(each for inner in node.get("inner", ()) for each in self._block(inner))
        if node["kind"] == "DeclStmt":
            return tuple(self._declaration(each) for each in node["inner"] if each["kind"] == "VarDecl")
        return tuple(self._statement(node))

    def _statement(self, node: Node) -> Iterator[Statement]:
        kind, inner, place = node["kind"], node.get("inner", []), place_of(node)
        if kind == "ForStmt":
            first, _, condition, step, body = inner
            opening = self._block(first)
            if len(opening) > 1:
                yield Other("a loop that declares several variables", place)
                return
            opened = opening[0] if opening else None
            begun = opened.expression if isinstance(opened, Evaluate) else opened
            yield For(
                begun if isinstance(begun, Assignment | Declare) else None,
                self._expression(condition) if condition else None,
                self._expression(step) if step else None,
                self._block(body),
                place,
            )
        elif kind == "IfStmt":
            condition, then, *otherwise = inner
            branches = self._block(then), self._block(otherwise[0] if otherwise else None)
            yield If(self._expression(condition), *branches, place)
        elif is_directive(node):
            yield from self._directed(node)
        elif kind == "ReturnStmt" and inner:
            yield Evaluate(self._expression(inner[0]), self._source(node), place, is_return=True)
        elif kind == "NullStmt":
            return
        elif kind in _WORDS or kind.endswith("Stmt"):
            yield Other(_WORDS.get(kind, f"clang's {kind}"), place, kind == "ReturnStmt")
        else:
            yield Evaluate(self._expression(node), self._source(node), place)

    def _declaration(self, node: Node) -> Statement:
        is_static = node.get("storageClass") == "static"
        if is_static:
            self._add_constant(node)
        is_known = node["id"] in self.constants
        variable = self._declared(node, "constant" if is_known else "global" if is_static else "local")
        values = [each for each in node.get("inner", ()) if "Expr" in each.get("kind", "") or _is_value(each)]
        value = self._expression(values[-1]) if node.get("init") and values and not is_static else None
        text = f"{variable.name} = {self._source(values[-1])}" if value is not None else ""
        return Declare(variable, value, text, place_of(node, "loc"))

    def _directed(self, node: Node) -> Iterator[Statement]:
        """A directive's statement: a loop with the directive, a region of threads, or what can't be read."""
        place = place_of(node)
        written = node.get("directive")
        kind = node["kind"].removeprefix("OMP").removesuffix("Directive")
        words = tuple("".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind).split())
        clauses = None if written is None else written.removeprefix(" ".join(words)).strip()
        directive = Directive(words, clauses, place)
        body = self._block(_captured(node))
        if words == ("parallel",):
            yield Region(directive, body, place)
        elif {"for", "simd", "distribute", "loop"} & {*words} and "taskloop" not in words:
            for each in body:
                yield replace(each, directives=(directive, *each.directives)) if isinstance(each, For) else each
        else:
            yield Other(f"'omp {' '.join(words)}'", place)

    def _source(self, node: Node) -> str:
        """The text of a node on one line, as the user wrote it."""
        first, last = bounds(node)
        if "offset" not in first or "offset" not in last or last.get("file") != first.get("file"):
            return ""
        end = last["offset"] + last.get("tokLen", 0)
        return " ".join(self.text[first["offset"] : end].decode(errors="replace").split())

    # Expressions.

    def _expression(self, node: Node) -> Expression:
        kind, inner, place = node.get("kind", ""), node.get("inner", []), place_of(node)
        if kind in _WRAPPERS and inner:
            return self._cast(node)
        if kind == "DeclRefExpr":
            known = self.constants.get(node["referencedDecl"]["id"])
            if known is not None:
                return replace(known, place=place)
            return Name(self._named(node["referencedDecl"]), place)
        if kind in ("IntegerLiteral", "CharacterLiteral"):
            suffix = "u" * _type(node).startswith("unsigned") + "L" * ("long" in _type(node))
            return Number(f"{node['value']}{suffix}", int(node["value"]), place)
        if kind == "FloatingLiteral":
            number = Number(_floating(node), None, place)
            return Cast("long double", number, False, place) if _type(node) == "long double" else number
        read: Callable[[Node], Expression] = self._expression
        if kind == "ArraySubscriptExpr":
            return Subscript(read(inner[0]), read(inner[1]), place)
        if kind == "MemberExpr" and "union " in _type(inner[0]):
            return Unknown("union", (), place)
        if kind == "MemberExpr":
            return Member(
                read(inner[0]), node["name"], bool(node.get("isArrow")), self._spelled(_type(node)), place
            )
        if kind == "CallExpr":
            callee = read(inner[0])
            name = callee.variable.name if isinstance(callee, Name) else ""
            return Call(name, tuple(self._argument(each) for each in inner[1:]), place)
        operands = tuple(read(each) for each in inner if "kind" in each)
        unsigned = _type(node).startswith("unsigned")
        if kind == "CompoundAssignOperator":
            return Assignment(operands[0], node["opcode"].removesuffix("="), operands[1], place)
        if kind == "BinaryOperator" and node["opcode"] == "=":
            return Assignment(operands[0], "", operands[1], place)
        if kind == "UnaryOperator" and node["opcode"] in ("++", "--"):
            return Assignment(operands[0], node["opcode"][0], Number("1", 1, place), place)
        if kind == "UnaryOperator" and node["opcode"] == "+":
            return operands[0]
        if kind in ("BinaryOperator", "UnaryOperator"):
            return Operation(node["opcode"], operands, place, unsigned)
        if kind == "ConditionalOperator":
            if _type(inner[0]) in _FLOATING:  # OpenCL C wants a whole number there
                operands = (Operation("!=", (operands[0], Number("0", 0, place)), place), *operands[1:])
            return Operation("?:", operands, place)
        return Unknown(kind, operands, place)

    def _argument(self, node: Node) -> Expression:
        """A function's argument, with the conversion that its declaration asks for."""
        read = self._expression(node)
        is_implicit = node["kind"] == "ImplicitCastExpr" and node.get("castKind") in _CONVERSIONS
        if not is_implicit or (isinstance(read, Cast) and read.type == _type(node)):
            return read
        return Cast(_type(node), read, is_narrow=False, place=place_of(node))

    def _cast(self, node: Node) -> Expression:
        """The inside of parentheses or a cast, with the cast where the inside's type alone does not say it."""
        (inner,) = node["inner"][-1:]
        read = self._expression(inner)
        cast, target = node.get("castKind", ""), _type(node)
        is_narrow = cast == "FloatingToIntegral" or (cast == "IntegralCast" and target in _NARROW)
        is_written = node["kind"] == "CStyleCastExpr" and (target in _FLOATING or is_whole(target))
        if is_narrow or is_written or (cast in _CONVERSIONS and target == "long double"):
            return Cast(target, read, is_narrow, place_of(node))
        return read

    def _named(self, declared: Node) -> Variable:
        return self.local.get(declared["id"]) or _variable(declared, "global")


def _floating(node: Node) -> str:
    """The shortest text of a floating-point number that has the same value, with its type's suffix."""
    is_single = _type(node) == "float"
    value = np.float32(node["value"]) if is_single else np.float64(node["value"])
    is_usual = not value or 1e-5 <= abs(float(value)) < 1e9
    text = str(value) if is_usual else np.format_float_scientific(value, trim="-")
    return text + ("" if "." in text or "e" in text else ".0") + "f" * is_single


def _captured(node: Node) -> Node | None:
    """The statement that a directive stands before, out of what clang puts around it."""
    for each in node.get("inner", ()):
        kind = each.get("kind", "")
        if kind in ("CapturedStmt", "CapturedDecl"):
            return _captured(each)
        if kind.endswith("Stmt") or is_directive(each):
            found: Node = each
            return found
    return None


def _is_value(node: Node) -> bool:
    return str(node.get("kind", "")).endswith(("Literal", "Operator"))
