"""Tables of the codes of refusals and of reasons, and of exit codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coarsen import errors
from coarsen.base.codes import REFUSALS, REGION_REASONS


def refusals_in_markdown() -> str:
    """Why a kernel is refused."""
    return _table(REFUSALS)


def region_reasons_in_markdown() -> str:
    """Why no more is done to a divergent region."""
    return _table(REGION_REASONS)


def _table(codes: Mapping[str, str]) -> str:
    rows = (f'| <span id="{code}"></span>`{code}` | {meaning} |' for code, meaning in codes.items())
    return "\n".join(["| code | meaning |", "| --- | --- |", *rows])


def exit_codes_in_markdown() -> str:
    """The exit codes, each with its error class."""
    rows = "\n".join(_exit_codes())
    return f"| exit code | when | error in Python |\n| --- | --- | --- |\n{rows}"


def _exit_codes() -> Iterator[str]:
    yield "| 0 | done | |"
    for error in _classes(errors.CoarsenError):
        meaning = (error.__doc__ or "").strip().split("\n")[0]
        yield f"| {error.exit_code} | {meaning} | [`{error.__name__}`][coarsen.errors.{error.__name__}] |"
    yield "| 130 | Interrupted (Ctrl-C). | `KeyboardInterrupt` |"


def _classes(base: type[errors.CoarsenError]) -> Iterable[type[errors.CoarsenError]]:
    return sorted(base.__subclasses__(), key=lambda error: error.exit_code)
