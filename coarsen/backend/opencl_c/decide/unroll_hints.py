"""Unroll hints of loops, which clang attaches to the branch back to a loop's header.

br label %header, !llvm.loop !{…, !{!"llvm.loop.unroll.count", i32 4}}   →   opencl_unroll_hint(4)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.ir.details import attached
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import node_items

_HINT = "opencl_unroll_hint"
_COUNT = '!"llvm.loop.unroll.count"'
_WITHOUT_COUNT = {
    '!"llvm.loop.unroll.disable"': f"{_HINT}(1)",
    '!"llvm.loop.unroll.enable"': _HINT,
    '!"llvm.loop.unroll.full"': _HINT,
}


def unroll_hints(kernel: Kernel, flow: ControlFlow) -> Mapping[str, str]:
    """Return the attributes of loops that have a hint, by the loops' headers.

    A loop that became two, one inside of the other, has it once.
    """
    described = {loop.header: _described(kernel, flow, loop) for loop in flow.loops}
    hints = {}
    for loop in flow.loops:
        around = {described[outer.header] for outer in flow.loops_around(loop.header) if outer is not loop}
        node = described[loop.header]
        hint = _hint(kernel.metadata, node) if node and node not in around else ""
        if hint:
            hints[loop.header] = hint
    return hints


def _described(kernel: Kernel, flow: ControlFlow, loop: Loop) -> str:
    """The node that all branches back to a loop's header carry; empty where they differ."""
    latches = [name for name in flow.predecessors(loop.header) if name in loop.blocks]
    nodes = {attached(kernel.block[name].terminator, "llvm.loop") for name in latches}
    return nodes.pop() if len(nodes) == 1 else ""


def _hint(nodes: Mapping[str, str], loop: str) -> str:
    for name, *rest in _properties(nodes, loop, set()):
        if name == _COUNT:
            return f"{_HINT}({rest[0].split()[-1]})"
        if name in _WITHOUT_COUNT:
            return _WITHOUT_COUNT[name]
    return ""


def _properties(nodes: Mapping[str, str], node: str, seen: set[str]) -> Iterator[list[str]]:
    """Yield the lists that begin with a word, those that hold after vectorising among them."""
    if node in seen:
        return
    seen.add(node)
    items = node_items(nodes, node)
    if items[0].startswith('!"'):
        yield items
    for item in items:
        if item.startswith("!") and item[1:] in nodes:
            yield from _properties(nodes, item, seen)
