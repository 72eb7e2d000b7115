"""What a tuned file keeps of its tuning over inputs, as commands tell it."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.opencl_bench.inputs.cold_changes import ColdChange, cold_changes
from coarsen.opencl_bench.inputs.evidence import evidence_of
from coarsen.opencl_bench.inputs.worth import ChoiceWorth, VersionWorth, worth_of_choice, worth_of_versions


@dataclass(frozen=True, slots=True)
class FoundOverInputs:
    """What a tuning over inputs found.

    Attributes:
        worth: of each version.
        choice: what choosing between them is worth.
        caches: what a check with cold caches found.
        is_cold: True if the caches were flushed before every timed run.
    """

    worth: tuple[VersionWorth, ...]
    choice: ChoiceWorth
    caches: tuple[ColdChange, ...]
    is_cold: bool


def found_over_inputs(file: TunedFile) -> FoundOverInputs:
    """Return what a tuned file keeps of its tuning. Raises InvalidInputError where it keeps no times."""
    return FoundOverInputs(
        worth_of_versions(file), worth_of_choice(file), cold_changes(file), evidence_of(file).is_cold
    )
