"""From clang's syntax tree of a C file, as JSON, to C functions as `tree.py` has them.

Clang writes a file name and a line only where they differ from those before, in the order of the text: they are
added to each place. It writes no clauses of OpenMP directives: these are read from the preprocessed text, where
macros in them are expanded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, SourcePosition
from coarsen.frontend.clang import Clang, find_clang, packaged_clang
from coarsen.loops import tree

Node = dict[str, Any]

_TARGET = "x86_64-linux-gnu"
# Of the packaged clang's own headers: its language's, then those of a C library.
_HEADERS = (
    *("include", "libc/include/x86-linux-gnu", "libc/include/x86_64-linux-gnu", "libc/include/generic-glibc"),
    *("libc/include/x86-linux-any", "libc/include/any-linux-any"),
)
_OPTIONS = ("-x", "c", "-fopenmp", "-fno-color-diagnostics", "-w", "-target", _TARGET)
# Directives that are declarations, so that they are no statement in the tree.
_DECLARATIVE = ("declare", "end", "begin", "requires", "threadprivate", "allocate", "assumes")

_FLOATING = frozenset(("float", "double", "long double", "_Float16", "__fp16"))
# A smaller type may hold another number than the expression has.
_NARROW = frozenset(("char", "signed char", "unsigned char", "short", "unsigned short", "_Bool"))
_CONVERSIONS = frozenset(("IntegralCast", "IntegralToFloating", "FloatingCast"))
_CONSTANT = re.compile(r"const (?!struct|union)[\w ]+")
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


def functions_of(path: Path, options: Sequence[str] = (), name: str | None = None) -> tuple[tree.CFunction, ...]:
    """Return the functions that a C file itself defines, in its order.

    Args:
        path: the file.
        options: further words for clang: definitions of macros, folders of headers.
        name: that of the only one that is wanted.

    Raises:
        InvalidInputError: the file can't be read or is no C that clang takes, or has no function of that name.
    """
    root = _syntax_tree(path, options)
    own = [each for each in root.get("inner", ()) if _is_defined_here(each, path)]
    chosen = [each for each in own if name in (None, each["name"])]
    if name is not None and not chosen:
        near = did_you_mean(name, [each["name"] for each in own])
        raise InvalidInputError(f"{path} defines no function '{name}'{near}")
    reader = _Reader(path.read_bytes(), root)
    return tuple(map(reader.function, chosen))


def _is_defined_here(node: Node, path: Path) -> bool:
    has_body = any(each.get("kind") == "CompoundStmt" for each in node.get("inner", ()))
    return node.get("kind") == "FunctionDecl" and has_body and Path(_place_of(node).file) == path


def _type(node: Node) -> str:
    found = node.get("type", {})
    return str(found.get("desugaredQualType") or found.get("qualType", ""))


def _first_value(node: Node) -> Node | None:
    """The node of a variable's first value."""
    values = [each for each in node.get("inner", ()) if each["kind"].endswith(("Expr", "Literal", "Operator"))]
    return values[-1] if values and node.get("init") else None


class _Reader:
    """Reads the functions of a text, of which `root` is clang's tree."""

    def __init__(self, text: bytes, root: Node) -> None:
        self._text = text
        top = root.get("inner", ())
        # What stands for a name in a type: a type, or a number in an extent.
        self._typedefs = {each["name"]: _type(each) for each in top if each.get("kind") == "TypedefDecl"}
        # By clang's names for them: the values of what never changes, and variables.
        self._constants: dict[str, tree.Expression] = {}
        self._variables: dict[str, tree.Variable] = {}
        self._add_enumerators(root)
        global_variables = [each for each in top if each.get("kind") == "VarDecl"]
        for each in global_variables:
            self._add_constant(each)
        self._globals = tuple(self._variable(each, "global") for each in global_variables)

    def _add_enumerators(self, root: Node) -> None:
        number = -1
        for node in _nodes(root):
            if node.get("kind") == "EnumDecl":
                number = -1
            elif node.get("kind") == "EnumConstantDecl":
                written = [each["value"] for each in node.get("inner", ()) if "value" in each]
                number = int(written[0]) if written else number + 1
                value: tree.Expression = tree.Number(str(abs(number)), abs(number), _place_of(node))
                if number < 0:
                    value = tree.Operation("-", (value,), value.place)
                self._constants[node["id"]] = value
                self._typedefs[node["name"]] = str(number)

    def _add_constant(self, node: Node) -> None:
        """Know the value of a variable that is a constant number."""
        type_, first = self._spelled(_type(node)), _first_value(node)
        if first is not None and _CONSTANT.fullmatch(type_):
            value = self._expression(first)
            self._constants[node["id"]] = tree.Cast(type_.removeprefix("const "), value, False, _place_of(node))
            if isinstance(value, tree.Number) and value.value is not None:
                self._typedefs[node["name"]] = str(value.value)

    def function(self, node: Node) -> tree.CFunction:
        inner = [each for each in node["inner"] if each.get("kind") in ("ParmVarDecl", "CompoundStmt")]
        parameters = tuple(self._variable(each, "parameter") for each in inner[:-1])
        return tree.CFunction(node["name"], parameters, self._block(inner[-1]), _place_of(node), self._globals)

    def _variable(self, node: Node, kind: Literal["parameter", "local", "global", "constant"]) -> tree.Variable:
        if node["id"] not in self._variables:
            type_ = self._spelled(_type(node))
            self._variables[node["id"]] = tree.Variable(node["id"], node.get("name", ""), type_, kind)
        return self._variables[node["id"]]

    def _spelled(self, type_: str) -> str:
        """A type with the typedefs resolved that stand inside of it."""
        found = re.sub(r"[A-Za-z_]\w*", lambda word: self._typedefs.get(word[0], word[0]), type_)
        # Clang has `struct name` for a record that has this name by a typedef alone, which is no C.
        return re.sub(
            r"\b(?:struct|union) (\w+)",
            lambda record: record[1] if self._typedefs.get(record[1]) == record[0] else record[0],
            found,
        )

    # Statements.

    def _block(self, node: Node | None) -> tuple[tree.Statement, ...]:
        """The statements of a body, be it a block or a single one."""
        return tuple(self._statements(node)) if node and "kind" in node else ()

    def _statements(self, node: Node) -> Iterator[tree.Statement]:
        kind, inner, place = node["kind"], node.get("inner", []), _place_of(node)
        match kind:
            case "CompoundStmt" | "AttributedStmt":
                for each in inner:
                    yield from self._block(each)
            case "DeclStmt":
                yield from (self._declaration(each) for each in inner if each["kind"] == "VarDecl")
            case "ForStmt":
                first, _, condition, step, body = inner
                opening = self._block(first)
                if len(opening) > 1:
                    yield tree.Other("a loop that declares several variables", place)
                    return
                begun = [each.expression if isinstance(each, tree.Evaluate) else each for each in opening]
                yield tree.For(
                    next((each for each in begun if isinstance(each, tree.Assignment | tree.Declare)), None),
                    self._expression(condition) if condition else None,
                    self._expression(step) if step else None,
                    self._block(body),
                    place,
                )
            case "IfStmt":
                condition, then, *otherwise = inner
                branches = self._block(then), self._block(next(iter(otherwise), None))
                yield tree.If(self._expression(condition), *branches, place)
            case "NullStmt":
                pass
            case "ReturnStmt" if inner:
                yield tree.Evaluate(self._expression(inner[0]), self._source(node), place, is_return=True)
            case _ if _is_directive(node):
                yield from self._directed(node)
            case _ if kind.endswith("Stmt"):
                yield tree.Other(_WORDS.get(kind, f"clang's {kind}"), place, kind == "ReturnStmt")
            case _:
                yield tree.Evaluate(self._expression(node), self._source(node), place)

    def _declaration(self, node: Node) -> tree.Declare:
        is_static = node.get("storageClass") == "static"
        if is_static:
            self._add_constant(node)
        is_known = node["id"] in self._constants
        variable = self._variable(node, "constant" if is_known else "global" if is_static else "local")
        first = None if is_static else _first_value(node)
        value = None if first is None else self._expression(first)
        text = "" if first is None else f"{variable.name} = {self._source(first)}"
        return tree.Declare(variable, value, text, _place_of(node, "loc"))

    def _directed(self, node: Node) -> Iterator[tree.Statement]:
        """A directive's statement: a loop with the directive, the loops of a region, or what can't be read."""
        place = _place_of(node)
        kind = node["kind"].removeprefix("OMP").removesuffix("Directive")
        words = tuple(re.sub(r"([A-Z])", r" \1", kind).lower().split())
        written: str | None = node.get("directive")
        clauses = None if written is None else written.removeprefix(" ".join(words)).strip()
        directive = tree.Directive(words, clauses, place)
        body = self._block(_captured(node))
        if words == ("parallel",):
            yield from (_divided(each, directive) for each in body)
        elif {"for", "simd", "distribute", "loop"} & {*words} and "taskloop" not in words:
            for each in body:
                if isinstance(each, tree.For):
                    each = replace(each, directives=(directive, *each.directives))
                yield each
        else:
            yield tree.Other(f"'omp {' '.join(words)}'", place)

    def _source(self, node: Node) -> str:
        """The text of a node on one line, as the user wrote it."""
        first, last = _bounds(node)
        if "offset" not in first or "offset" not in last or last.get("file") != first.get("file"):
            return ""
        end = last["offset"] + last.get("tokLen", 0)
        return " ".join(self._text[first["offset"] : end].decode(errors="replace").split())

    # Expressions.

    def _expression(self, node: Node) -> tree.Expression:
        inner, place, type_ = node.get("inner", []), _place_of(node), _type(node)
        match node.get("kind", ""):
            case "ParenExpr" | "ImplicitCastExpr" | "CStyleCastExpr" | "ConstantExpr" if inner:
                return self._cast(node)
            case "DeclRefExpr":
                known = self._constants.get(node["referencedDecl"]["id"])
                if known is not None:
                    return replace(known, place=place)
                return tree.Name(self._variable(node["referencedDecl"], "global"), place)
            case "IntegerLiteral" | "CharacterLiteral":
                suffix = "u" * type_.startswith("unsigned") + "L" * ("long" in type_)
                return tree.Number(f"{node['value']}{suffix}", int(node["value"]), place)
            case "FloatingLiteral":
                # The shortest text of the same value.
                is_float = type_ == "float"
                value = str(np.float32(node["value"])) + "f" if is_float else str(float(node["value"]))
                text = {"inff": "HUGE_VALF", "inf": "HUGE_VAL"}.get(value, value)
                number = tree.Number(text, None, place)
                return tree.Cast(type_, number, False, place) if type_ == "long double" else number
            case "MemberExpr" if "union " in _type(inner[0]):
                return tree.Unknown("union", (), place)
            case "CallExpr":
                callee = self._expression(inner[0])
                name = callee.variable.name if isinstance(callee, tree.Name) else ""
                return tree.Call(name, tuple(map(self._argument, inner[1:])), place)
        operands = tuple(self._expression(each) for each in inner if "kind" in each)
        operator = node.get("opcode", "")
        match node.get("kind", ""):
            case "ArraySubscriptExpr":
                return tree.Subscript(operands[0], operands[1], place)
            case "MemberExpr":
                field, is_arrow = node["name"], bool(node.get("isArrow"))
                return tree.Member(operands[0], field, is_arrow, self._spelled(type_), place)
            case "CompoundAssignOperator":
                return tree.Assignment(operands[0], operator.removesuffix("="), operands[1], place)
            case "BinaryOperator" if operator == "=":
                return tree.Assignment(operands[0], "", operands[1], place)
            case "UnaryOperator" if operator in ("++", "--"):
                return tree.Assignment(operands[0], operator[0], tree.Number("1", 1, place), place)
            case "UnaryOperator" if operator == "+":
                return operands[0]
            case "UnaryOperator" if operator == "*":
                return tree.Subscript(operands[0], tree.Number("0", 0, place), place)
            case "BinaryOperator" if operator in ("+", "-") and "*" in type_:
                base, index = operands if "*" in _type(inner[0]) else operands[::-1]
                if operator == "-":
                    index = tree.Operation("-", (index,), index.place)
                return tree.Operation("&", (tree.Subscript(base, index, place),), place)
            case "BinaryOperator" | "UnaryOperator":
                return tree.Operation(operator, operands, place, type_.startswith("unsigned"))
            case "ConditionalOperator":
                if _type(inner[0]) in _FLOATING:  # OpenCL C wants a whole number there
                    test = tree.Operation("!=", (operands[0], tree.Number("0", 0, place)), place)
                    operands = (test, *operands[1:])
                return tree.Operation("?:", operands, place)
            case kind:
                return tree.Unknown(kind, operands, place)

    def _argument(self, node: Node) -> tree.Expression:
        """A function's argument, with the conversion that its declaration asks for."""
        read = self._expression(node)
        is_implicit = node["kind"] == "ImplicitCastExpr" and node.get("castKind") in _CONVERSIONS
        if not is_implicit or (isinstance(read, tree.Cast) and read.type == _type(node)):
            return read
        return tree.Cast(_type(node), read, is_narrow=False, place=_place_of(node))

    def _cast(self, node: Node) -> tree.Expression:
        """The inside of parentheses or a cast, with the cast where the inside's type alone does not say it."""
        read = self._expression(node["inner"][-1])
        cast, target = node.get("castKind", ""), _type(node)
        is_narrow = cast == "FloatingToIntegral" or (cast == "IntegralCast" and target in _NARROW)
        is_written = node["kind"] == "CStyleCastExpr" and (target in _FLOATING or tree.is_whole(target))
        if is_narrow or is_written or (cast in _CONVERSIONS and target == "long double"):
            return tree.Cast(target, read, is_narrow, _place_of(node))
        return read


def _divided(statement: tree.Statement, region: tree.Directive) -> tree.Statement:
    """A statement of a parallel region as its threads divide it; what each of them would do can't be read."""
    words = {word for each in getattr(statement, "directives", ()) for word in each.words}
    if isinstance(statement, tree.For) and "for" in words and "parallel" not in words:
        return replace(statement, directives=(*statement.directives, region))
    if isinstance(statement, tree.For | tree.If | tree.Declare):
        return tree.with_blocks(statement, lambda block: [_divided(each, region) for each in block])
    return tree.Other("what every thread of a parallel region does", statement.place)


def _captured(node: Node) -> Node | None:
    """The statement that a directive stands before, out of what clang puts around it."""
    for each in node.get("inner", ()):
        found: Node = each
        if each.get("kind") in ("CapturedStmt", "CapturedDecl"):
            return _captured(found)
        if each.get("kind", "").endswith("Stmt") or _is_directive(each):
            return found
    return None


# Clang's JSON.


def _syntax_tree(path: Path, options: Sequence[str]) -> Node:
    """The root of clang's tree. What says a place has `file` and `line` always.

    A directive of OpenMP has its words after `omp` under `directive`, where they could be found.
    """
    if not path.is_file():
        raise InvalidInputError(f"{path}: there is no such file")
    clang = find_clang()
    words, file, line = words_of(clang, options), "", 1

    def completed(node: Node) -> Node:
        """Add what clang left out of a place; objects come in the order of the text."""
        nonlocal file, line
        if "offset" in node and "col" in node:
            file = node.setdefault("file", file)
            line = node.setdefault("line", line)
        return node

    outcome = clang.run([*words, "-fsyntax-only", "-Xclang", "-ast-dump=json", str(path)])
    if outcome.returncode != 0:
        errors = (each for each in outcome.stderr.splitlines() if "error:" in each)
        raise InvalidInputError(next(errors, f"{path}: clang stopped with {outcome.returncode}"))
    try:
        root: Node = json.loads(outcome.stdout, object_hook=completed)
    except (ValueError, RecursionError):
        raise InvalidInputError(f"{path}: statements or expressions are nested too deeply to be read") from None
    directives = [node for node in _nodes(root) if _is_directive(node)]
    if directives:
        lines = clang.run([*words, "-E", str(path)]).stdout.splitlines()
        split = [line.strip().removeprefix("#").split(None, 2) for line in lines]
        pragmas = [each[2] for each in split if each[:2] == ["pragma", "omp"] and len(each) == 3]
        pragmas = [each for each in pragmas if not each.startswith(_DECLARATIVE)]
        if len(pragmas) == len(directives):
            for node, pragma in zip(directives, pragmas, strict=True):
                node["directive"] = pragma
    return root


def _nodes(root: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.get("inner", ())))


def _is_directive(node: Node) -> bool:
    kind = node.get("kind", "")
    return bool(kind.startswith("OMP") and kind.endswith("Directive"))


def _bounds(node: Node) -> tuple[Node, Node]:
    """The places where a node and its last word begin, in the user's file where a macro made it."""
    span = node.get("range", {})
    first, last = span.get("begin", {}), span.get("end", {})
    return first.get("expansionLoc", first), last.get("expansionLoc", last)


def _place_of(node: Node, which: str = "") -> SourcePosition:
    """The place where a node begins; that of the name which it declares, if `which` is `loc`."""
    first: Node = node[which] if node.get(which) else _bounds(node)[0]
    first = first.get("expansionLoc", first)
    return SourcePosition(first.get("line", 1), first.get("col", 1), first.get("file", ""))


def words_of(clang: Clang, options: Sequence[str] = ()) -> list[str]:
    """Return the words after a clang's name that have it read C, with OpenMP and a C library's headers."""
    if clang != packaged_clang():
        return [*_OPTIONS, *options]
    # It has no folders of its own when it is called so.
    folder = Path(clang.command[0]).parent / "lib"
    found = (folder / name for name in _HEADERS)
    headers = [word for each in found if each.is_dir() for word in ("-isystem", str(each))]
    return [*_OPTIONS, "-nostdinc", *options, *headers]
