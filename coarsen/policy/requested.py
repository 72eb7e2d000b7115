"""The policy of what a program asks for: factors for all kernels, or by name, plans for arrays; one of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.runtime.advice import Decision, KernelFile, LaunchRequest, Policy
from coarsen.variant.coarsening import Configuration, Level, configuration_of
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan


Arrays: TypeAlias = "Sequence[ArrayPlan] | Mapping[str, Sequence[ArrayPlan]]"
_Plans: TypeAlias = "tuple[ArrayPlan, ...]"
Numbers: TypeAlias = int | Sequence[int]
Names: TypeAlias = str | Sequence[str]


class Requested(Policy):
    """Decides as is asked for: `common` for all kernels, or `by_kernel` by name, where others stay as they are."""

    def __init__(self, common: Configuration = (), by_kernel: Mapping[str, Configuration] | None = None) -> None:
        self._common = common
        self._by_kernel = by_kernel

    def requested(self, kernel: str) -> Configuration:
        """Return the coarsening of a kernel."""
        return self._common if self._by_kernel is None else self._by_kernel.get(kernel, ())

    def choose(self, request: LaunchRequest) -> Decision:
        """Return the coarsening of a launch's kernel."""
        return Decision(Variant(coarsenings=self.requested(request.kernel)), "", is_programs=True)

    @property
    def kernels(self) -> tuple[str, ...] | None:
        """The kernels asked for by name; None if none is named."""
        return None if self._by_kernel is None else tuple(self._by_kernel)


def requested_of(
    factor: Numbers | Mapping[str, Numbers] | None,
    dim: Numbers | Mapping[str, Numbers],
    stride: Numbers | Mapping[str, Numbers],
    level: Names | Mapping[str, Names],
) -> Requested | None:
    """Return what a program's arguments ask for, each one value for all kernels, or one by name; None for nothing.

    Raises:
        InvalidInputError: a value out of range, or one by name for a kernel that has no factor.
    """
    others = {"dim": (dim, 0), "stride": (stride, 1), "level": (level, Level.ITEM)}
    if isinstance(factor, Mapping):
        return Requested(by_kernel={name: _of_kernel(name, factor, others) for name in _known(factor, others)})
    if factor is None and any(value != default for value, default in others.values()):
        raise InvalidInputError("dim and stride go with a factor, level too: give the factor")
    if isinstance(dim, Mapping) or isinstance(stride, Mapping) or isinstance(level, Mapping):
        raise InvalidInputError(
            'dim, stride and level by kernel go with factors by kernel: factor={"name": 4, …}, for each of them'
        )
    return None if factor is None else Requested(configuration_of(factor, dim, stride, level))


def _known(factor: Mapping[str, Numbers], others: Mapping[str, tuple[Any, Any]]) -> tuple[str, ...]:
    """Return the kernels with a factor; raises InvalidInputError where something else names another."""
    names = tuple(factor)
    for option, (value, _) in others.items():
        for name in value if isinstance(value, Mapping) else ():
            if name not in names:
                hint = did_you_mean(str(name), names)
                raise InvalidInputError(f"{option} names the kernel {name!r}, which has no factor{hint}")
    return names


def _of_kernel(name: str, factor: Mapping[str, Numbers], others: Mapping[str, tuple[Any, Any]]) -> Configuration:
    values = [
        value.get(name, default) if isinstance(value, Mapping) else value for value, default in others.values()
    ]
    return configuration_of(factor[name], *values)


class RequestedArrays(NamedTuple):
    """The requested plans: `common` to all kernels, or `by_kernel` by name."""

    common: _Plans = ()
    by_kernel: Mapping[str, _Plans] = MappingProxyType({})

    def of(self, kernel: str) -> _Plans:
        """Return the plans for a kernel's arrays."""
        return self.by_kernel.get(kernel, self.common)

    def check_kernels(self, known: Sequence[str]) -> None:
        """Raise InvalidInputError for plans by name for a kernel that is not among those to coarsen."""
        for name in self.by_kernel:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InvalidInputError(f"arrays names the kernel '{name}', which is not to be coarsened{hint}")


def requested_arrays(arrays: Arrays) -> RequestedArrays:
    """Return what a program's argument asks for.

    Raises:
        InvalidInputError: a plan that is none, or of a layout or an order; two plans for one array.
    """
    if isinstance(arrays, Mapping):
        return RequestedArrays(by_kernel={name: _checked(plans) for name, plans in arrays.items()})
    return RequestedArrays(_checked(arrays))


def _checked(plans: Sequence[ArrayPlan]) -> _Plans:
    if isinstance(plans, tuple | list) and not plans:
        return ()
    # Imported late: most programs ask for none.
    from coarsen.variant.data_plan import checked_plans, chosen_plans

    chosen = chosen_plans(checked_plans(plans))
    for plan in chosen:
        if plan.moves_fields:
            raise InvalidInputError(
                f"{plan.argument} is to lie otherwise: give its coarsen.Layout by its name, arrays={{…: layout}}"
            )
    return chosen


class FirstOf(Policy):
    """Decides as the first of several policies that does."""

    def __init__(self, *policies: Policy) -> None:
        self._policies = policies

        self.looks_at_arguments = any(policy.looks_at_arguments for policy in policies)

    def file_of(self, kernel: str) -> KernelFile | None:
        """Return the first tuned file that one of them has for a kernel."""
        return next(filter(None, (policy.file_of(kernel) for policy in self._policies)), None)

    def requested(self, kernel: str) -> Configuration | None:
        """Return what the first of them that is asked for something is asked for."""
        asked = (policy.requested(kernel) for policy in self._policies)
        return next((each for each in asked if each is not None), None)

    def known_variants(self, request: LaunchRequest) -> Iterable[Variant]:
        """Return what any of them knows."""
        return [variant for policy in self._policies for variant in policy.known_variants(request)]

    def choose(self, request: LaunchRequest) -> Decision | None:
        """Return the first decision; None where none of them has one."""
        decisions = (policy.choose(request) for policy in self._policies)
        return next((decision for decision in decisions if decision is not None), None)
