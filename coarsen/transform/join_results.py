"""What the phis of a region's join are called behind the region, where its replicas went through it alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from coarsen.analysis.divergence import Divergence
from coarsen.ir.kernel import Instruction
from coarsen.transform.names import NameSupply


@dataclass(frozen=True)
class JoinResults:
    """Names (with `%`) of the results, one for each replica unless all have the same."""

    divergence: Divergence
    supply: NameSupply
    _names: dict[tuple[str, int], str] = field(init=False, default_factory=dict)

    def name(self, phi: Instruction, k: int) -> str:
        """What one of the join's phis is for replica k."""
        replica = k if self.divergence.is_divergent(phi) else 0
        if (phi.name, replica) not in self._names:
            self._names[phi.name, replica] = "%" + self.supply.fresh(f"{phi.name}.out")
        return self._names[phi.name, replica]
