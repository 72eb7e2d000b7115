"""What a work-item of a nest's kernel runs: isl's loops over its instances, in the order of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from coarsen.loops import tree
from coarsen.loops.expression_text import Writer, names_in, opencl_type, operation, variable
from coarsen.loops.nest import Nest, Statement, free_name

INDENT = "    "


@dataclass(frozen=True)
class _Run:
    """A node that runs a statement, and what the statement's iterators are there."""

    statement: Statement
    iterators: Mapping[str, tree.Expression]

    @property
    def code(self) -> tree.Assignment:
        assert self.statement.code is not None, "kernels_of refuses a statement without"
        return self.statement.code

    @property
    def target(self) -> tree.Element:
        assert isinstance(self.code.target, tree.Element)
        return self.code.target


@dataclass(frozen=True)
class _Kept:
    """An element that is kept in a variable from one node of a block to another."""

    element: str
    array: str
    first: int
    last: int


@dataclass(frozen=True)
class Lanes:
    """What work-items share: `shared` has the iterator of a shared loop by statement, `parts` what they add to.

    `lane` is what a work-item's own number is called, `count` how many there are.
    """

    lane: str
    count: str
    shared: Mapping[str, str]
    parts: frozenset[str]


class Body:
    """The lines of a work-item's body.

    Each work-item runs the statements that `always` names at least once; `lanes` are the loops that they share.
    """

    def __init__(
        self,
        nest: Nest,
        statements: Sequence[Statement],
        writer: Writer,
        always: frozenset[str],
        lanes: Lanes | None = None,
    ) -> None:
        self._nest, self._writer, self._always, self._lanes = nest, writer, always, lanes
        self._statements = {each.name: each for each in statements}
        self._undeclared = {*writer.private} & {*nest.arrays}

    def lines(self, node: isl.AstNode) -> Iterator[str]:
        """Yield the lines of isl's tree."""
        yield from self._block([*children_of(node)], is_whole=True)

    def _type(self, array: str) -> str:
        return opencl_type(self._nest.arrays[array].element, self._nest.place)

    def _c(self, expression: isl.AstExpr) -> str:
        return self._writer.plain(self._writer.of_isl(expression))

    # Blocks, loops and conditions.

    def _block(self, parts: Sequence[isl.AstNode], *, is_whole: bool = False) -> Iterator[str]:
        for name in sorted(self._undeclared):
            using = [each for each in parts if self._uses(each, name)]
            if using and not self._is_set_first(using, name):
                yield f"{self._type(name)} {name};"
                self._undeclared.discard(name)
        kept, names = [*self._kept_in(parts, is_whole)], set[str]()
        for place, part in enumerate(parts):
            yield from self._begun([each for each in kept if each.first == place], part, names)
            for each in kept:
                if each.last == place:
                    yield f"{each.element} = {self._writer.kept.pop(each.element)};"

    def _is_set_first(self, using: Sequence[isl.AstNode], name: str) -> bool:
        """Return True if of nodes that use a variable the first sets it, or the only one does inside."""
        first, *others = using
        if kind_of(first) == "user":
            return _sets(run := self._run(first)) and run.target.array == name
        is_only = not others and not (kind_of(first) == "if_" and first.if_has_else_node())
        return is_only and self._is_set_first([n for n in _inner_nodes(first) if self._uses(n, name)], name)

    def _uses(self, node: isl.AstNode, name: str) -> bool:
        return any(name in _arrays_in(run.code) for run in self._runs(node))

    def _begun(self, kept: Sequence[_Kept], part: isl.AstNode, names: set[str]) -> Iterator[str]:
        """The lines of a node at which some elements begin to be kept; `names` are those of the block so far."""
        own = self._run(part) if kind_of(part) == "user" else None
        set_one = own.target.array if own is not None and _sets(own) else ""
        # What the node reads is in its variable before what it sets is.
        for each in sorted(kept, key=lambda each: each.array == set_one):
            iterators = (loop.iterator for loop in self._nest.loops)
            taken = {*self._nest.arrays, *self._nest.types, *iterators, *self._writer.kept.values()}
            name = free_name(f"{each.array}_value", taken | names)
            names.add(name)
            is_own = own is not None and each.array == set_one
            first = (
                self._writer.text(own.code.value, own.iterators) if own is not None and is_own else each.element
            )
            yield f"{self._type(each.array)} {name} = {first};"
            self._writer.kept[each.element] = name
            if is_own:
                return
        yield from self._node(part)

    def _node(self, node: isl.AstNode) -> Iterator[str]:
        match kind_of(node):
            case "user":
                run = self._run(node)
                if self._lanes is not None and run.target.array in self._lanes.parts:
                    # The shared loop has one trip, and isl made none of it.
                    yield f"if ({self._lanes.lane} == 0)"
                    yield f"{INDENT}{self._statement(run)}"
                else:
                    yield self._statement(run)
            case "if_":
                yield f"if ({self._c(node.if_get_cond())}) {{"
                yield from self._inner(node.if_get_then_node())
                if node.if_has_else_node():
                    yield "} else {"
                    yield from self._inner(node.if_get_else_node())
                yield "}"
            case "for_":
                yield from self._loop(node)
            case _:
                yield from self._block([*children_of(node)])

    def _loop(self, node: isl.AstNode) -> Iterator[str]:
        name, first, is_once = (
            self._c(node.for_get_iterator()),
            self._c(node.for_get_init()),
            node.for_is_degenerate(),
        )
        lanes, writer = self._lanes, self._writer
        if lanes is not None and all(lanes.shared.get(run.statement.name) == name for run in self._runs(node)):
            step = "1" if is_once else self._c(node.for_get_inc())
            own, all_steps = (each if step == "1" else f"{step} * {each}" for each in (lanes.lane, lanes.count))
            begin = operation("+", writer.of_isl(node.for_get_init()), variable(own))
            start = own if first == "0" else writer.plain(begin)
            last = f"{name} <= {first}" if is_once else self._c(node.for_get_cond())
            yield f"for ({self._writer.whole} {name} = {start}; {last}; {name} += {all_steps}) {{"
            self._lanes = None
        elif is_once:
            yield "{"
            yield f"{INDENT}const {self._writer.whole} {name} = {first};"
        else:
            step = self._c(node.for_get_inc())
            counting = f"{name}++" if step == "1" else f"{name} += {step}"
            yield f"for ({self._writer.whole} {name} = {first}; {self._c(node.for_get_cond())}; {counting}) {{"
        yield from self._inner(node.for_get_body())
        self._lanes = lanes
        yield "}"

    def _inner(self, node: isl.AstNode) -> Iterator[str]:
        yield from (f"{INDENT}{line}" for line in self._block([*children_of(node)]))

    # Elements that loops go back to: c[i][j] += …  ->  c_value = c[i][j]; c_value += …; c[i][j] = c_value

    def _kept_in(self, parts: Sequence[isl.AstNode], is_whole: bool) -> Iterator[_Kept]:
        """The elements that a loop of a block writes again and again, and of whose arrays it accesses no other.

        They are accessed outside of loops, too, or by each work-item: others may lie beside their array.
        """
        for place, part in enumerate(parts):
            if kind_of(part) != "for_" or part.for_is_degenerate():
                continue
            counted = {self._c(each.for_get_iterator()) for each in _all(part) if kind_of(each) == "for_"}
            for array in sorted({each.target.array for each in self._runs(part)} - self._writer.private):
                (element, *others), (names, *_) = zip(*self._elements(part, array).items(), strict=True)
                if others or element in self._writer.kept or counted & names:
                    continue
                first = last = place
                while first and self._elements(parts[first - 1], array).keys() <= {element}:
                    first -= 1
                while last + 1 < len(parts) and self._elements(parts[last + 1], array).keys() <= {element}:
                    last += 1
                using = [at for at in range(first, last + 1) if self._elements(parts[at], array)]
                if any(kind_of(parts[at]) == "for_" for at in using if at < place):
                    continue  # it is kept since that loop
                own = [run for run in self._runs(part) if array in _arrays_in(run.code)]
                if any(kind_of(parts[at]) == "user" for at in using):
                    yield _Kept(element, array, using[0], using[-1])
                elif is_whole and any(run.statement.name in self._always for run in own):
                    yield _Kept(element, array, place, place)

    def _elements(self, node: isl.AstNode, array: str) -> dict[str, set[str]]:
        """The elements of an array that a node accesses, each with the names that its indices are made of."""
        found: dict[str, set[str]] = {}
        for run in self._runs(node):
            for each in tree.inside(run.code):
                if isinstance(each, tree.Element) and each.array == array:
                    names = found.setdefault(self._writer.element(each, run.iterators), set())
                    inner = (run.iterators.get(own) for own in names_in(each))
                    names |= {name for own in inner if own is not None for name in names_in(own)}
        return found

    # Statements.

    def _run(self, node: isl.AstNode) -> _Run:
        call = node.user_get_expr()
        statement = self._statements[call.op_get_arg(0).id_get_id().get_name()]
        given = (call.op_get_arg(place) for place in range(1, call.op_get_n_arg()))
        return _Run(statement, dict(zip(statement.iterators, map(self._writer.of_isl, given), strict=True)))

    def _runs(self, node: isl.AstNode) -> list[_Run]:
        return [self._run(each) for each in _all(node) if kind_of(each) == "user"]

    def _statement(self, run: _Run) -> str:
        name = run.target.array
        declared = f"{self._type(name)} " if name in self._undeclared else ""
        self._undeclared.discard(name)
        return f"{declared}{self._writer.assignment(run.code, run.iterators)}"


def _arrays_in(expression: tree.Expression) -> set[str]:
    return {each.array for each in tree.inside(expression) if isinstance(each, tree.Element)}


def _sets(run: _Run) -> bool:
    """Return True for an assignment that does not read what it writes."""
    return not run.code.operator and run.target.array not in _arrays_in(run.code.value)


def kind_of(node: isl.AstNode) -> str:
    """Return the kind of a node of isl's: `block`, `for_`, `if_` or `user`."""
    return isl.ast_node_type(node.get_type()).name


def children_of(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """Yield the nodes of a block, those of blocks inside of it among them; of another node itself."""
    if kind_of(node) == "block":
        children = node.block_get_children()
        for place in range(children.n_ast_node()):
            yield from children_of(children.get_at(place))
    else:
        yield node


def _all(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """A node and all inside of it."""
    yield node
    for each in _inner_nodes(node):
        yield from _all(each)


def _inner_nodes(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """The nodes directly inside of another one."""
    match kind_of(node):
        case "block":
            yield from children_of(node)
        case "for_":
            yield from children_of(node.for_get_body())
        case "if_":
            yield from children_of(node.if_get_then_node())
            if node.if_has_else_node():
                yield from children_of(node.if_get_else_node())
