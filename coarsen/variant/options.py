"""What of a variant a person may choose: each option once, as the field that holds it declares it.

    a field of      Coarsening      factor dim stride level             one value for each coarsening
                    Transforms      fast-path lock-step wide-accesses clean-up distinct tile
                                    long-indices
                    Variant         any-size
                    ArrayPlan       layout order shape place pad        NAME=VALUE, for each array

The command line makes its options of these, and `--space` takes their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from types import MappingProxyType
from typing import Any, Unpack, cast

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.data_plan import ArrayPlan, checked_plans
from coarsen.variant.transforms import DeviceKind, TransformKeywords, Transforms, transforms_of
from coarsen.variant.variant import Variant


class VariantKeywords(TransformKeywords, total=False):
    """How a kernel is coarsened, as keywords of `coarsen.coarsen`.

    Attributes:
        any_size: guard the kernel, so that the sizes of a launch need not divide; the original global size becomes
            an argument (see `CoarsenedKernel`).
        fast_path: whether a divergent region is run once for all replicas where they take the same side: "auto"
            (where it seems to pay), "always" (where it is legal) or "never".
        lock_step: whether a divergent loop is run for all replicas at once while none leaves it; as `fast_path`.
        wide_accesses: whether accesses to consecutive addresses become one of a vector.
        clean_up: whether equal guards become one branch, loads take what was just stored, and replicas share what
            they compute alike.
        distinct: whether the pointers that a launch passes lead to distinct memory (`CoarsenedKernel.apart`); what
            loops accumulate in memory is kept in registers then.
        long_indices: whether `int` indices with the place along dimension 0 are computed in 64 bits.
        device_kind: "cpu" or "gpu" where the kernel is for such a device alone, which decides whether some of the
            transforms pay; else "any".
    """

    any_size: bool
    device_kind: str


def variant_of(coarsenings: Configuration, arrays: Sequence[ArrayPlan], **how: Unpack[VariantKeywords]) -> Variant:
    """Return the variant that keywords name. Raises InvalidInputError for a value that is none."""
    any_size, kind = how.pop("any_size", False), how.pop("device_kind", DeviceKind.ANY)
    transforms = transforms_of(kind, **cast("TransformKeywords", how))
    return Variant(coarsenings=coarsenings, transforms=transforms, any_size=any_size, arrays=checked_plans(arrays))


_FLAGS = MappingProxyType({"no": False, "yes": True})


@dataclass(frozen=True, slots=True)
class VariantOption:
    """An option of a variant.

    Attributes:
        name: on the command line, `wide-accesses`.
        field: of the class that holds it, `wide_accesses`.
        default: its value where nobody gives one; None where there is no such value.
        help: one sentence.
        metavar: how a value is written, where that does not follow from its type.
        reader: of a value, where that does not follow from its type.
    """

    name: str
    field: str
    default: Any
    help: str
    metavar: str = ""
    reader: Callable[[str], Any] | None = None

    def read(self, word: str) -> Any:  # noqa: ANN401 (a number, a choice, or a layout)
        """Return the value that a word means. Raises InvalidInputError for a word that means none."""
        if self.reader is not None:
            return self.reader(word)
        kind = type(self.default)
        legal = _FLAGS if kind is bool else {str(value): value for value in kind}
        if word not in legal:
            raise InvalidInputError(f"{self.name} is {', '.join(legal)}, not '{word}'")
        return legal[word]


def _options_of(kind: type[Any]) -> dict[str, VariantOption]:
    """The options that the fields of a dataclass declare, by the names of the fields."""
    return {each.name: _option(each) for each in fields(kind) if "help" in each.metadata}


def _option(declared: Field[Any]) -> VariantOption:
    told = declared.metadata
    name = told.get("option", declared.name.replace("_", "-"))
    default = declared.default if isinstance(declared.default, bool | int | str) else None
    return VariantOption(name, declared.name, default, told["help"], told.get("metavar", ""), told.get("read"))


COARSENING_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(_options_of(Coarsening))
TRANSFORM_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(
    {**_options_of(Transforms), **_options_of(Variant)}
)
ARRAY_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(_options_of(ArrayPlan))
