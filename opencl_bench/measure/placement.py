"""A workload on a machine, and what its outputs should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.errors import InternalError
from coarsen.opencl_bench.measure.comparison import is_same, padding_of, without_padding
from coarsen.opencl_bench.measure.machine import BuildError, Executor, LaunchError
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, Workload
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Oracle:
    """An uncoarsened kernel whose outputs are the measure of others.

    `name`: what it is called in messages. `variant`: its macros and local size. `launches`: in place of the
    workload's own; None for these.
    """

    name: str
    code: Code
    variant: Variant
    launches: Sequence[Launch] | None = field(default=None, compare=False)


class Placement:
    """A workload on the machine.

    Args:
        workload: what is placed.
        executor: where it is.
    """

    def __init__(self, workload: Workload, executor: Executor) -> None:
        self.workload = workload
        self.executor = executor
        self._expected: Mapping[str, Array] | None = None
        self._oracle: Oracle | None = None

    @property
    def byte_count(self) -> int:
        """The size of its buffers, and of the outputs once more."""
        buffers = self.workload.buffers
        return sum(map(_byte_count, buffers.values())) + sum(
            _byte_count(buffers[n]) for n in self.workload.outputs
        )

    @property
    def expected(self) -> Mapping[str, Array]:
        """Return the expected outputs that were found. Raises InternalError if none were."""
        if self._expected is None:
            raise InternalError("nobody found out what the outputs should be")
        return self._expected

    def find_expected(self, oracle: Oracle) -> None:
        """Compute the outputs by the reference; by the oracle where there is none. Raises LaunchError."""
        reference = self.workload.reference
        if reference is None and oracle != self._oracle:
            self._expected = self._outputs_of_oracle(oracle)
            self._oracle = oracle
        elif reference is not None and self._expected is None:
            self._expected = reference()

    def outputs_of(self, oracle: Oracle) -> Mapping[str, Array]:
        """Return the outputs of an oracle, started from the workload's inputs. Raises LaunchError."""
        try:
            job = self.executor.load(oracle.code, Variant(), launches=oracle.launches)
        except BuildError as error:
            raise LaunchError(f"{oracle.name}, which the results are compared with: {error}") from error
        self.executor.reset()
        job(Clock.SUM)
        return self.executor.outputs()

    def _outputs_of_oracle(self, oracle: Oracle) -> Mapping[str, Array]:
        """Return the outputs of an oracle that has written some. Raises LaunchError."""
        outputs = self.outputs_of(oracle)
        padding = padding_of(oracle.code, oracle.launches or self.workload.launches)
        before = without_padding(self.workload.buffers, padding)
        now = without_padding(outputs, padding)
        if all(is_same(now[name], before[name]) for name in self.workload.outputs):
            names = ", ".join(self.workload.outputs)
            raise LaunchError(
                f"{oracle.name} leaves all outputs as they were ({names}): nothing could be verified"
            )
        return outputs


def _byte_count(array: Array) -> int:
    return int(array.nbytes)
