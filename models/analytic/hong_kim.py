"""The model of Hong and Kim (ISCA 2009), literally.

S. Hong and H. Kim, "An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism
Awareness". With N the active warps of a multiprocessor, u and c the shares of uncoalesced and coalesced memory
instructions, U the transactions of an uncoalesced one, and times in cycles:

    Mem_L_unc = Mem_LD + (U − 1)·Dep_unc        Mem_L_coal = Mem_LD
    Mem_L = u·Mem_L_unc + c·Mem_L_coal          Departure = u·U·Dep_unc + c·Dep_coal
    Mem_cycles = Mem_L_unc·#unc + Mem_L_coal·#coal
    Comp_cycles = Issue_cycles·#instructions
    BW_per_warp = Freq·Load_bytes_per_warp / Mem_L
    MWP_peak_BW = Mem_BW / (BW_per_warp·active multiprocessors)
    MWP = min(Mem_L / Departure, MWP_peak_BW, N)
    CWP = min((Mem_cycles + Comp_cycles) / Comp_cycles, N)
    Rep = blocks / (active blocks·active multiprocessors)

    MWP = N = CWP               (Mem_cycles + Comp_cycles + Comp_cycles/#mem·(MWP − 1))·Rep
    CWP ≥ MWP or Comp > Mem     (Mem_cycles·N/MWP + Comp_cycles/#mem·(MWP − 1))·Rep
    else                        (Mem_L + Comp_cycles·N)·Rep
    each with                   Departure·(MWP − 1)·#sync·active blocks·Rep

There are no caches in it, no cost of launching, and Rep may be a fraction. A kernel without accesses to memory,
for which the paper gives no case, takes Comp_cycles·N·Rep. One thing is added: MWP is at least 1. Where a single
warp's accesses ask for more than the whole bandwidth the equations give less, and then times below 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.cost.work_counts import InstructionClass, LaunchSizes, WorkCounts
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.estimate import (
    Estimate,
    bandwidth_at,
    instruction_total,
    latency_at,
    rate_of,
)
from coarsen.models.analytic.machine import DeviceProfile
from coarsen.models.analytic.occupancy import occupancy
from coarsen.models.analytic.transactions import sectors

_USUAL_LANES, _USUAL_SECTOR = 32, 32
# An access is coalesced if its lanes' data lie side by side, or are the same.
_COALESCED_WORDS = 4


@dataclass(frozen=True, slots=True)
class Parameters:
    """The model's inputs, by the paper's names; times in cycles.

    Args:
        mem_ld: latency of an access to memory.
        departure_unc: between two transactions of an uncoalesced access.
        departure_coal: between two coalesced accesses.
        issue_cycles: of an instruction of a warp.
        instructions: of a warp, those to memory included.
        coalesced: accesses to memory of a warp that are.
        uncoalesced: that are not.
        transactions: of an uncoalesced access.
        synchronisations: barriers of a warp.
        load_bytes: of a warp's access.
        frequency: cycles per second.
        mem_bandwidth: bytes per second.
        active_warps: N, of a multiprocessor.
        active_blocks: of a multiprocessor.
        active_multiprocessors: that have a block.
        blocks: of the launch.
    """

    mem_ld: float
    departure_unc: float
    departure_coal: float
    issue_cycles: float
    instructions: float
    coalesced: float
    uncoalesced: float
    transactions: float
    synchronisations: float
    load_bytes: float
    frequency: float
    mem_bandwidth: float
    active_warps: float
    active_blocks: float
    active_multiprocessors: float
    blocks: float


@dataclass(frozen=True, slots=True)
class Cycles:
    """The model's answer: MWP, CWP and the cycles; `case` is which of the paper's three it was."""

    mwp: float
    cwp: float
    cycles: float
    case: str


def cycles(given: Parameters) -> Cycles:
    """Return the cycles of a launch by the equations above."""
    rep = given.blocks / (given.active_blocks * given.active_multiprocessors)
    comp_cycles = given.issue_cycles * given.instructions
    memory = given.coalesced + given.uncoalesced
    if not memory:
        return Cycles(0.0, 1.0, comp_cycles * given.active_warps * rep, "compute")
    uncoalesced, coalesced = given.uncoalesced / memory, given.coalesced / memory
    mem_l_unc = given.mem_ld + (given.transactions - 1) * given.departure_unc
    mem_l = uncoalesced * mem_l_unc + coalesced * given.mem_ld
    departure = uncoalesced * given.transactions * given.departure_unc + coalesced * given.departure_coal
    mem_cycles = mem_l_unc * given.uncoalesced + given.mem_ld * given.coalesced
    bandwidth_per_warp = given.frequency * given.load_bytes / mem_l
    peak = given.mem_bandwidth / (bandwidth_per_warp * given.active_multiprocessors)
    n = given.active_warps
    mwp = max(1.0, min(mem_l / departure, peak, n))
    cwp = min((mem_cycles + comp_cycles) / comp_cycles, n)
    waiting = comp_cycles / memory * (mwp - 1)
    if mwp == n and cwp == n:
        time, case = mem_cycles + comp_cycles + waiting, "latency"
    elif cwp >= mwp or comp_cycles > mem_cycles:
        time, case = mem_cycles * n / mwp + waiting, "memory"
    else:
        time, case = mem_l + comp_cycles * n, "compute"
    barriers = departure * (mwp - 1) * given.synchronisations * given.active_blocks
    return Cycles(mwp, cwp, (time + barriers) * rep, case)


def hong_kim(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Estimate:
    """Estimate a launch by the published model, its parameters from a profile.

    The paper measured its departure delays by micro-benchmarks; here they are the time that a compute unit's share
    of the memory's bandwidth takes for a transaction.

    Raises:
        InvalidInputError: the profile has no clock, rate or bandwidth.
    """
    given = parameters(work, launch, machine)
    found = cycles(given)
    parts = {"mwp": found.mwp, "cwp": found.cwp}
    return Estimate(found.cycles / given.frequency, found.case, MappingProxyType(parts))


def parameters(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Parameters:
    """Return the model's inputs for a launch. Raises as `hong_kim` does."""
    if machine.clock is None:
        raise InvalidInputError(f"the profile '{machine.name}' has no clock")
    lanes, sector = machine.simd_width or _USUAL_LANES, machine.sector_bytes or _USUAL_SECTOR
    placed = occupancy(work, launch, machine)
    counts = _accesses(work, lanes, sector)
    bandwidth = bandwidth_at(machine, None)
    of_unit = bandwidth / machine.compute_units / machine.clock  # bytes per cycle
    rate = rate_of(machine, InstructionClass.FLOAT).throughput.value
    return Parameters(
        mem_ld=max(1.0, latency_at(machine, None) * machine.clock),
        departure_unc=sector / of_unit,
        departure_coal=lanes * _COALESCED_WORDS / of_unit,
        issue_cycles=lanes * machine.compute_units * machine.clock / rate,
        instructions=instruction_total(work),
        coalesced=counts["coalesced"],
        uncoalesced=counts["uncoalesced"],
        transactions=counts["transactions"],
        synchronisations=work.barriers,
        load_bytes=counts["bytes"] * lanes,
        frequency=machine.clock,
        mem_bandwidth=bandwidth,
        active_warps=placed.active_warps,
        active_blocks=placed.resident_groups,
        active_multiprocessors=placed.active_units,
        blocks=launch.groups,
    )


def _accesses(work: WorkCounts, lanes: int, sector: int) -> Mapping[str, float]:
    outer = [access for access in work.accesses if access.is_outer]
    apart = [
        (access, n)
        for access in outer
        if (n := sectors(access, lanes, sector)) > _side_by_side(access.bytes, lanes, sector)
    ]
    uncoalesced = sum(access.count for access, _ in apart)
    total = sum(access.count for access in outer)
    transactions = sum(access.count * n for access, n in apart) / uncoalesced if uncoalesced else 1.0
    mean_bytes = sum(access.count * access.bytes for access in outer) / total if total else 0.0
    return {
        "coalesced": total - uncoalesced,
        "uncoalesced": uncoalesced,
        "transactions": transactions,
        "bytes": mean_bytes,
    }


def _side_by_side(size: int, lanes: int, sector: int) -> int:
    return max(1, math.ceil(size * lanes / sector))
