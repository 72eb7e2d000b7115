"""The second judge's kernels by name: they judge models, so that nothing may learn from them."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.errors import InvalidInputError

JUDGE_PREFIX = "judge-"


def is_judge(kernel: str) -> bool:
    """Return True for the name of a kernel of the second judge."""
    return kernel.startswith(JUDGE_PREFIX)


def refuse_judge(kernels: Iterable[str]) -> None:
    """Refuse to learn from the second judge. Raises InvalidInputError, which names the first of its kernels."""
    for kernel in kernels:
        if is_judge(kernel):
            raise InvalidInputError(
                f"{kernel} is a kernel of the second judge, and nothing may learn from those; leave it out"
            )
