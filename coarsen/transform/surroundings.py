"""What a slow path, or copies one after the other, need to know of the kernel around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.rewriting import ValueMap
from coarsen.transform.copies import Copies
from coarsen.transform.names import NameSupply
from coarsen.transform.replica_values import ReplicaValues
from coarsen.transform.template import Template


@dataclass(frozen=True)
class Surroundings:
    """The kernel around a region.

    Attributes:
        divergence: of the kernel.
        template: the kernel of which copies are made.
        copies: makes and writes them.
        values: what stands for values and blocks in each replica.
        replicas: the same for one value at a time.
        variables: the private variables of the kernel's start; stands nowhere.
        supply: hands out fresh names.
        keeps_loops_out: whether a region without a loop is copied, so as not to bring a loop into the kernel.
    """

    divergence: Divergence
    template: Template
    copies: Copies
    values: Sequence[ValueMap]
    replicas: ReplicaValues
    variables: Block
    supply: NameSupply
    keeps_loops_out: bool
