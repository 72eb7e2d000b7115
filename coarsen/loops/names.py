"""Names that isl takes, each once; and the functions that only compute."""

from __future__ import annotations

from collections.abc import Set
from itertools import count

# What isl's notation reads as something else, whatever the case of its letters.
_KEYWORDS = frozenset(
    (
        *("and", "or", "not", "exists", "implies", "min", "max", "mod", "floor", "ceil", "floord", "ceild", "rat"),
        *("true", "false", "nan", "infty"),
    )
)
_MATHEMATICAL = (
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
    ),
    *("erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "lgamma"),
    *(
        "log",
        "log10",
        "log1p",
        "log2",
        "logb",
        "nearbyint",
        "nextafter",
        "pow",
        "remainder",
        "rint",
        "round",
        "sin",
    ),
    *("sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
)
# Of the standard library: they read and write no memory that a program sees.
PURE_FUNCTIONS = frozenset(f"{name}{suffix}" for name in _MATHEMATICAL for suffix in ("", "f", "l"))
PURE_FUNCTIONS |= {"abs", "labs", "llabs"}
ALLOCATING = frozenset(("malloc", "calloc", "aligned_alloc", "alloca", "__builtin_alloca", "free"))


class Names:
    """Gives each thing of a source a name: its own where that is free and isl takes it."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def of(self, identity: str, spelled: str) -> str:
        """Return the name of a thing; `identity` tells it from others, the source calls it `spelled`."""
        plain = "".join(letter if letter.isalnum() else "_" for letter in spelled.replace("->", "."))
        if plain.lower() in _KEYWORDS or not plain[:1].isalpha() or (plain[0] == "S" and plain[1:].isdigit()):
            plain = f"v_{plain}"
        if identity not in self._given:
            used = {*self._given.values()}
            tries = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
            self._given[identity] = next(name for name in tries if name not in used)
        return self._given[identity]

    def of_iterator(self, spelled: str, around: Set[str]) -> str:
        """Return the name of an iterator, which may come again where no loop `around` it has the same."""
        again = sum(name.startswith(spelled) for name in around)
        return self.of(f"iterator {spelled} {again}", spelled)
