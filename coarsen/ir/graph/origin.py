"""Where a value or block comes from: a place in the source, a name there, and what a transform made it for."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from coarsen.errors import SourcePosition
from coarsen.ir.graph.display_name import NAMELESS, DisplayName


class Role(enum.Enum):
    """What a value or block is for."""

    SOURCE = "the kernel's own"
    ID = "computes ids or sizes"
    GUARD = "keeps work-items out that the original launch did not have"
    VOTE = "tests whether all replicas go the same way"
    DIVERGED = "follows where not all replicas go one way"
    SLOW_PATH = "one replica alone"
    REPLICA_LOOP = "the loop over the replicas, or what it keeps for them"
    WIDE = "part of a vector access that was several accesses"
    COMPILER = "made by LLVM's passes"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value or block comes from.

    Attributes:
        position: of the source; None where it isn't known.
        call_position: where `position` is in an inlined function, the kernel's call of it.
        name: how the value is called for a reader, by the source or a transform.
        role: what it is for.
        replica: whose it is; None where all replicas share it.
    """

    position: SourcePosition | None = None
    call_position: SourcePosition | None = None
    name: DisplayName = NAMELESS
    role: Role = Role.SOURCE
    replica: int | None = None

    def __hash__(self) -> int:
        # Roles, derivations and files apart: origins are looked up for each instruction, and these tell nearly all
        # of them apart. The lines of an inlined function have one position, and as many calls as there are.
        place, call, name = self.position, self.call_position, self.name
        at = place and (place.line, place.column, call and (call.line, call.column))
        return hash((name.base, name.number, self.replica, at))

    def for_replica(self, replica: int | None, role: Role | None = None) -> Origin:
        """Return the origin of a replica's copy, in another role if one is given."""
        return Origin(self.position, self.call_position, self.name, role or self.role, replica)

    def with_role(self, role: Role) -> Origin:
        """Return the same place and name in another role."""
        return Origin(self.position, self.call_position, self.name, role, self.replica)

    def called(self, name: DisplayName) -> Origin:
        """Return the same place and role of a value of another name."""
        if name is self.name or name == self.name:
            return self
        return Origin(self.position, self.call_position, name, self.role, self.replica)

    def merged(self, other: Origin) -> Origin:
        """Return the origin of a value that now stands for another one as well: this one's, for both replicas."""
        return self if self.replica == other.replica else self.for_replica(None)


UNKNOWN = Origin(role=Role.COMPILER)
