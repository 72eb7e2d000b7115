"""What of a variant a person may choose: each option once, as the field that holds it declares it.

    a field of      Coarsening      factor dim stride level             one value for each coarsening
                    Transforms      fast-path lock-step wide-accesses clean-up distinct
                    Variant         any-size
                    ArrayPlan       layout order shape place pad        NAME=VALUE, for each array

The command line makes its options of these, and `--space` takes their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from types import MappingProxyType
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import ArrayLayout, Order, parse_shape
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.padding import Pad
from coarsen.variant.placement import parse_place
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

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
    """

    name: str
    field: str
    default: Any
    help: str
    metavar: str = ""

    def read(self, word: str) -> Any:  # noqa: ANN401 (a number, a choice, or a layout)
        """Return the value that a word means. Raises InvalidInputError for a word that means none."""
        if self.field in _READ:
            return _READ[self.field](word)
        kind = type(self.default)
        legal = _FLAGS if kind is bool else {str(value): value for value in kind}
        if word not in legal:
            raise InvalidInputError(f"{self.name} is {', '.join(legal)}, not '{word}'")
        return legal[word]


_READ: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "layout": ArrayLayout.parse,
        "order": Order.parse,
        "shape": parse_shape,
        "place": parse_place,
        "pad": Pad.parse,
    }
)


def _options_of(kind: type[Any]) -> dict[str, VariantOption]:
    """The options that the fields of a dataclass declare, by the names of the fields."""
    return {each.name: _option(each) for each in fields(kind) if "help" in each.metadata}


def _option(declared: Field[Any]) -> VariantOption:
    told = declared.metadata
    name = told.get("option", declared.name.replace("_", "-"))
    default = declared.default if isinstance(declared.default, bool | int | str) else None
    return VariantOption(name, declared.name, default, told["help"], told.get("metavar", ""))


COARSENING_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(_options_of(Coarsening))
TRANSFORM_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(
    {**_options_of(Transforms), **_options_of(Variant)}
)
ARRAY_OPTIONS: Mapping[str, VariantOption] = MappingProxyType(_options_of(ArrayPlan))
