"""The places and pads of arrays that a program is asked for: for all its kernels, or for each of them by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.variant.data_plan import ArrayPlan, chosen_plans

Arrays: TypeAlias = Sequence[ArrayPlan] | Mapping[str, Sequence[ArrayPlan]]
_Plans: TypeAlias = tuple[ArrayPlan, ...]


@dataclass(frozen=True, slots=True)
class RequestedArrays:
    """The requested plans: `common` to all kernels, or `by_kernel` by name."""

    common: _Plans = ()
    by_kernel: Mapping[str, _Plans] = field(default_factory=dict)

    def of(self, kernel: str) -> _Plans:
        """Return the plans for a kernel's arrays."""
        return self.by_kernel.get(kernel, self.common)

    def check_kernels(self, known: Sequence[str]) -> None:
        """Raise InvalidInputError for plans by name for a kernel that is not among those to coarsen."""
        for name in self.by_kernel:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InvalidInputError(f"arrays names the kernel '{name}', which is not to be coarsened{hint}")


NO_ARRAYS = RequestedArrays()


def requested_arrays(arrays: Arrays) -> RequestedArrays:
    """Return what a program's argument asks for.

    Raises:
        InvalidInputError: a plan that is none, or of a layout or an order; two plans for one array.
    """
    if isinstance(arrays, Mapping):
        return RequestedArrays(by_kernel={name: _checked(plans) for name, plans in arrays.items()})
    return RequestedArrays(_checked(arrays))


def _checked(plans: Iterable[ArrayPlan]) -> _Plans:
    given = tuple(plans)
    for plan in given:
        if not isinstance(plan, ArrayPlan):
            raise InvalidInputError(f"arrays are given as coarsen.array_plan(…), not {plan!r}")
    chosen = chosen_plans(given)
    for plan in chosen:
        if plan.moves_fields:
            raise InvalidInputError(f"{plan.argument} is to lie otherwise: that takes coarsen.LaidOutProgram")
    return chosen
