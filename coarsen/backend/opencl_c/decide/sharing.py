"""Gives a phi and the values that it takes one C variable, where that is right.

%i = phi [0, %entry], [%i.next, %body]  and  %i.next = add %i, 1   →   i = i + 1;
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.backend.opencl_c.decide.liveness import Liveness

_LARGEST_COMPARISON = 4096


def share_variables(liveness: Liveness) -> Mapping[str, str]:
    """Return the representative of each candidate's variable; values with the same one share it."""
    groups = _Groups(liveness)
    for block in liveness.flow.reverse_postorder:
        for phi in liveness.phis(block):
            for value in phi.operands:
                operand = liveness.dataflow.origin(value)
                if operand.text in liveness.candidates and operand.is_local:
                    groups.merge(phi.name, operand.text)
    return {name: groups.representative(name) for name in liveness.candidates}


class _Groups:
    """Sets of values with one variable each."""

    def __init__(self, liveness: Liveness) -> None:
        self.liveness = liveness
        self.group_of = {name: [name] for name in liveness.candidates}
        # Of each group, by its representative: its members, and what is live where one is defined, as bits.
        self.members = {name: 1 << bit for name, bit in liveness.candidates.items()}
        self.live = dict(liveness.live_behind)

    def representative(self, name: str) -> str:
        return self.group_of[name][0]

    def merge(self, first: str, second: str) -> None:
        """Put two values' groups together unless a pair among them interferes."""
        one, other = self.group_of[first], self.group_of[second]
        if one is other or len(one) * len(other) > _LARGEST_COMPARISON:
            return
        definition = self.liveness.kernel.definition
        if definition[first].type != definition[second].type:
            return
        if self.members[one[0]] & self.live[other[0]] or self.live[one[0]] & self.members[other[0]]:
            return
        self.members[one[0]] |= self.members[other[0]]
        self.live[one[0]] |= self.live[other[0]]
        one.extend(other)
        for name in other:
            self.group_of[name] = one
