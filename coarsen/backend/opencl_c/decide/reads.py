"""Which variables an expression reads, folded values included."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.backend.opencl_c.decide.dataflow import Dataflow
from coarsen.backend.opencl_c.decide.folding import Folding
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value

_NOTHING: frozenset[str] = frozenset()


class Reads:
    """Answers, with memory: the variables read by an instruction's operands, and by a value."""

    def __init__(self, kernel: Kernel, dataflow: Dataflow, folding: Folding) -> None:
        self.kernel = kernel
        self.dataflow = dataflow
        self.folding = folding
        self._of_inlined: dict[str, frozenset[str]] = {}

    def of_values(self, values: Iterable[Value]) -> frozenset[str]:
        """Return the variables that the text of these values names."""
        return self._of_origins(map(self.dataflow.origin, values))

    def of_instruction(self, instruction: Instruction) -> frozenset[str]:
        """Return the variables that an instruction's own text names."""
        return self._of_origins(self.dataflow.operands(instruction))

    def _of_origins(self, origins: Iterable[Value]) -> frozenset[str]:
        found: set[str] = set()
        for value in origins:
            if value.kind is ValueKind.INSTRUCTION:
                found |= self._of(value.text)
        return frozenset(found)

    def _of(self, name: str) -> frozenset[str]:
        if name in self.folding.variables:
            return frozenset((name,))
        if name not in self.folding.inlined:
            return _NOTHING
        known = self._of_inlined.get(name)
        if known is None:
            known = self._of_inlined[name] = self.of_instruction(self.kernel.definition[name])
        return known
