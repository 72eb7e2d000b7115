"""The budget of a search, as it is given on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.search.evaluator import Budget


def parsed_budget(text: str, *, in_seconds: bool = False) -> Budget:
    """Return the budget that a text means: `5%`, `200`, and where seconds are allowed `90s`.

    Args:
        text: of `--budget`.
        in_seconds: a search takes time at all.

    Raises:
        InvalidInputError: the text is none, or out of range.
    """
    from coarsen.opencl_bench.search.evaluator import Budget

    words = text.strip()
    try:
        if words.endswith("%"):
            return Budget(share=float(words.removesuffix("%")) / 100)
        if in_seconds and words.endswith("s"):
            return Budget(seconds=float(words.removesuffix("s")))
        return Budget(trials=int(words))
    except ValueError:
        kinds = "a share such as 5%, seconds such as 90s," if in_seconds else "a share such as 5%"
        raise InvalidInputError(f"--budget is {kinds} or a whole number, not '{text}'") from None
