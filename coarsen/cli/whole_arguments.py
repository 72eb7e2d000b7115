"""The option `--size NAME=NUMBER`: whole arguments of a launch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType
from coarsen.near_names import did_you_mean

_ARGUMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(-?[0-9]{1,18})\s*")


def whole_arguments(kernel: Kernel, words: Sequence[str]) -> dict[str, int]:
    """Return what was given to `--size`, by name. Raises InvalidInputError for what the kernel hasn't got."""
    names = [argument.name for argument in kernel.arguments if isinstance(argument.type, IntegerType)]
    found: dict[str, int] = {}
    for word in words:
        match = _ARGUMENT.fullmatch(word)
        if match is None:
            raise InvalidInputError(f"--size takes a name and a whole number, such as width=1024, not '{word}'")
        if match[1] not in names:
            near = did_you_mean(match[1], names)
            raise InvalidInputError(f"kernel {kernel.name} has no whole argument '{match[1]}'{near}")
        found[match[1]] = int(match[2])
    return found
