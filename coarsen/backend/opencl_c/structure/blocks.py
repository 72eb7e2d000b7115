"""From branches to `if`, `while` and `goto`: structure out of the dominator tree.

A block is followed by the blocks that it dominates and that several edges meet at, in reverse postorder; what is
reached by one edge only stands inside of the `if`'s arm (N. Ramsey, "Beyond Relooper", ICFP 2022). C has `break`,
`continue` and falling through to what comes next; an edge that is none of these becomes a `goto`. Nothing is
written twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.control_flow import EXIT
from coarsen.backend.opencl_c.c.build import negation
from coarsen.backend.opencl_c.c.tree import Break, Continue, Goto, If, Label, Loop, Return, Statement, ends_in_jump
from coarsen.backend.opencl_c.structure.terminators import Arm, Node, SkippedFlow


@dataclass(frozen=True, slots=True)
class _Context:
    """The loop that the text stands in, as far as jumps go: where `continue` and `break` lead."""

    header: str | None = None
    again: str | None = None
    behind: str | None = None
    around: frozenset[str] = frozenset()


def structured(flow: SkippedFlow) -> list[Statement]:
    """Return the statements of a kernel; with a `goto` for each branch where loops have several entries."""
    if not flow.is_reducible:
        return _with_gotos(flow)
    body: list[Statement] = []
    _Structurer(flow).sequence(flow.entry, body, EXIT, _Context())
    return body


def _with_gotos(flow: SkippedFlow) -> list[Statement]:
    body: list[Statement] = []
    for name in flow.reverse_postorder:
        node = flow.nodes[name]
        body += [Label(name), *node.statements]
        arms: list[list[Statement]] = [[*arm.copies, Goto(arm.target)] for arm in node.arms]
        if not arms:
            body.append(Return())
        elif node.condition is None:
            body += arms[0]
        else:
            body += [If(node.condition, arms[0], []), *arms[1]]
    return body


class _Structurer:
    def __init__(self, flow: SkippedFlow) -> None:
        self.flow = flow
        self.nodes = flow.nodes
        self.order = {name: place for place, name in enumerate(flow.reverse_postorder)}

    @cached_property
    def incoming(self) -> Mapping[str, int]:
        """Return how many forward edges lead to each node."""
        counts = dict.fromkeys(self.order, 0)
        for name in self.order:
            for arm in self.nodes[name].arms:
                counts[arm.target] += self.order[arm.target] > self.order[name]
        return counts

    @cached_property
    def loops_of(self) -> Mapping[str, tuple[str, ...]]:
        """The headers of the loops around each node, innermost first, with what stands inside before a `break`."""
        around = {name: [loop.header for loop in self.flow.loops_around(name)] for name in self.order}
        for loop in reversed(self.flow.loops):
            exits = self._exits(loop.blocks)
            if len(exits) > 1:
                for name in exits:
                    if self._belongs_inside(name, loop.blocks, exits) and around[name] == around[loop.header][1:]:
                        around[name] = [loop.header, *around[name]]
        return {name: tuple(headers) for name, headers in around.items()}

    def _exits(self, blocks: frozenset[str]) -> list[str]:
        exits = {arm.target for name in blocks for arm in self.nodes[name].arms if arm.target not in blocks}
        return sorted(exits, key=self.order.__getitem__)

    def _belongs_inside(self, name: str, blocks: frozenset[str], exits: list[str]) -> bool:
        """Return True if an exit reads best before its `break`: `found = i; break;`."""
        node = self.nodes[name]
        if self.incoming[name] != 1 or node.condition is not None or name in self.flow.loop_at:
            return False
        if not node.arms:
            return name != exits[-1] and not node.is_empty_return
        return self.incoming[node.arms[0].target] > 1 and node.arms[0].target not in blocks

    @cached_property
    def _placed(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """The dominator tree's children that stand within a node's text, and those after each loop."""
        inside: dict[str, list[str]] = {name: [] for name in self.order}
        behind: dict[str, list[str]] = {name: [] for name in self.order}
        for name in self.flow.reverse_postorder:
            if name == self.flow.entry:
                continue
            parent = self.flow.immediate_dominator[name]
            own = set(self.loops_of[name])
            left = [header for header in self.loops_of[parent] if header not in own]
            (behind[left[-1]] if left else inside[parent]).append(name)
        return inside, behind

    def sequence(self, name: str, body: list[Statement], follow: str, context: _Context) -> None:
        """Write a node and all that it dominates, so that the end of `body` leads to `follow`."""
        while True:
            body.append(Label(again(name) if context.header == name else name))
            if self.loops_of[name][:1] == (name,) and context.header != name:
                following = self._loop(name, body, follow, context)
                rest = [*following, follow]
                for place, after in enumerate(following[:-1]):
                    self.sequence(after, body, rest[place + 1], context)
                if not following:
                    return
                name = following[-1]
                continue
            next_name = self._node(self.nodes[name], body, follow, context)
            if next_name is None:
                return
            name = next_name

    def _node(self, node: Node, body: list[Statement], follow: str, context: _Context) -> str | None:
        """Write a node; the name that is returned is to be written next, with the same `follow`."""
        body += node.statements
        # What is reached in several ways stands after its dominator.
        children = self._placed[0][node.name]
        merges = [child for child in children if child != context.again and not self._is_inline(node.name, child)]
        after = merges[0] if merges else follow
        if not node.arms:
            if follow != EXIT:
                body.append(Return())
        elif node.condition is None:
            onward = self._arm(node, node.arms[0], body, after, context, in_place=not merges)
            if onward is not None:
                return onward
        else:
            onward = self._branch(node, body, after, context, in_place=not merges)
            if onward is not None:
                return onward
        for place, merge in enumerate(merges[:-1]):
            self.sequence(merge, body, merges[place + 1], context)
        return merges[-1] if merges else None

    def _is_inline(self, parent: str, child: str) -> bool:
        reached = any(arm.target == child for arm in self.nodes[parent].arms)
        return reached and self.incoming[child] == 1 and child in self._placed[0][parent]

    def _arm(
        self, node: Node, arm: Arm, body: list[Statement], follow: str, context: _Context, *, in_place: bool
    ) -> str | None:
        """Write an edge and what only it leads to; with `in_place` the latter is left to the caller."""
        body += arm.copies
        if self._is_inline(node.name, arm.target) and arm.target != context.again:
            if in_place:
                return arm.target
            self.sequence(arm.target, body, follow, context)
        else:
            body += self._jump(arm.target, follow, context)
        return None

    def _branch(
        self, node: Node, body: list[Statement], follow: str, context: _Context, *, in_place: bool
    ) -> str | None:
        """Write a branch as an `if`; an arm that only leaves comes first, and the rest needs no `else`."""
        if node.condition is None:
            return None
        for place in (0, 1):
            leaving, staying = node.arms[place], node.arms[1 - place]
            jump = self._plain_jump(node, leaving, follow, context)
            if jump:
                condition = node.condition if place == 0 else negation(node.condition)
                body.append(If(condition, [*leaving.copies, *jump], []))
                return self._arm(node, staying, body, follow, context, in_place=in_place)
        then: list[Statement] = []
        otherwise: list[Statement] = []
        self._arm(node, node.arms[0], then, follow, context, in_place=False)
        self._arm(node, node.arms[1], otherwise, follow, context, in_place=False)
        body += _if(node, then, otherwise)
        return None

    def _plain_jump(self, node: Node, arm: Arm, follow: str, context: _Context) -> list[Statement]:
        if self._is_inline(node.name, arm.target) and arm.target != context.again:
            is_return = self.nodes[arm.target].is_empty_return and follow != EXIT
            return [Return()] if is_return else []
        return self._jump(arm.target, follow, context)

    def _jump(self, target: str, follow: str, context: _Context) -> list[Statement]:
        """Return how to get to a node that stands elsewhere; nothing where it comes next."""
        if target == follow:
            return []
        if target == context.behind:
            return [Break()]
        if target == context.again:
            return [Continue()]
        if self.nodes[target].is_empty_return:
            return [Return()]
        return [Goto(again(target) if target in context.around else target)]

    def _loop(self, header: str, body: list[Statement], follow: str, outer: _Context) -> list[str]:
        """Write a loop; gives the nodes that stand after it."""
        behind = [name for name in self._placed[1][header] if name != outer.again or name in outer.around]
        step = self._step(header)
        around = outer.around | {header}
        context = _Context(header, step.name if step else header, behind[0] if behind else follow, around)
        inner: list[Statement] = []
        self.sequence(header, inner, step.name if step else header, context)
        if step:
            inner.append(Label(step.name))
        copies = list(step.arms[0].copies) if step else []
        body.append(Loop("forever", inner, step=copies, unroll_hint=self.nodes[header].unroll_hint))
        return behind

    def _step(self, header: str) -> Node | None:
        """The block that only prepares the next iteration, where several edges lead to it."""
        latches = [name for name in self.flow.predecessors(header) if header in self.loops_of[name]]
        if len(latches) != 1 or latches[0] == header:
            return None
        latch = self.nodes[latches[0]]
        plain = not latch.statements and len(latch.arms) == 1 and self.loops_of[latch.name][:1] == (header,)
        return latch if plain and self.incoming[latch.name] > 1 else None


def again(header: str) -> str:
    """Return the label inside of a loop that leads to its next iteration.

    The header's own stands before the loop.
    """
    return f"{header}.again"


def _if(node: Node, then: list[Statement], otherwise: list[Statement]) -> list[Statement]:
    """An `if` without an empty arm, and without an `else` after an arm that leaves."""
    if node.condition is None:
        return []
    condition = node.condition
    then, otherwise = _visible(then), _visible(otherwise)
    if not then:
        condition, then, otherwise = negation(condition), otherwise, []
    if not then:
        return []
    if otherwise and ends_in_jump(otherwise) and not ends_in_jump(then):
        condition, then, otherwise = negation(condition), otherwise, then
    if otherwise and ends_in_jump(then):
        return [If(condition, then, []), *otherwise]
    return [If(condition, then, otherwise)]


def _visible(body: list[Statement]) -> list[Statement]:
    """No statements where there are only labels that nothing refers to yet."""
    return body if any(not isinstance(statement, Label) for statement in body) else []
