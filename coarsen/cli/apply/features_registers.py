"""`coarsen apply --features --registers`: how many registers a kernel takes at each factor, estimated and real."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from coarsen.backend.registers import RegisterUse, registers_on
from coarsen.cli.output import print_line, print_table
from coarsen.cost.register_pressure import maximum_live_words
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import coarsen_kernel
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening

_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers at one factor: the estimate that the features hold, and the compiler's figures."""

    live_words: int
    use: RegisterUse


def registers_by_factor(
    kernel: Kernel, dimension: int, factors: Iterable[int], chip: str
) -> Mapping[int, Registers]:
    """Coarsen a kernel by each factor and compile it for a chip.

    Raises:
        RefusalError, DeviceError, InvalidInputError: as `coarsen.backend.registers.registers_on` does.
    """
    analysed = analyse(kernel, dimension)
    found = {}
    for factor in factors:
        coarsened = coarsen_kernel(kernel, [Coarsening(factor, dimension)])
        found[factor] = Registers(maximum_live_words(analysed, factor), registers_on(coarsened, chip))
    return found


def registers_as_data(registers: Mapping[int, Registers]) -> object:
    """Return the registers as JSON: by factor, with the unknown as null."""
    return {str(factor): {"live_words": row.live_words, **asdict(row.use)} for factor, row in registers.items()}


def print_registers(registers: Mapping[int, Registers], chip: str) -> None:
    """Print a row per figure and a column per factor."""
    headings = [str(factor) for factor in registers]
    rows = list(registers.values())
    figures: dict[str, list[int | None]] = {
        "live words, estimated": [row.live_words for row in rows],
        "registers per work-item": [row.use.per_work_item for row in rows],
        "scalar registers": [row.use.scalar for row in rows],
        "occupancy": [row.use.occupancy for row in rows],
        "scratch bytes": [row.use.scratch_bytes for row in rows],
    }
    told = {name: numbers for name, numbers in figures.items() if any(n is not None for n in numbers)}
    print_line()
    cells = [[name, *(_UNKNOWN if n is None else str(n) for n in numbers)] for name, numbers in told.items()]
    print_table([f"on {chip}", *headings], cells, numbers=headings)
