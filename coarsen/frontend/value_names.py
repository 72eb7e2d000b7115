"""What the spelling of a value's name tells: whether the source gave it or clang did, and how the source has it.

Debug information names variables alone; fields, helpers' values and LLVM IR without it have nothing but their
spelling. It is read here once: afterwards the name stands in `Origin.name`, and no one reads a spelling again.

A value that holds a variable of the source, by the debug information, may have a name that looks like one of the
compiler's: `mul`, `i`, `x10`. It is marked: `mul.source`. Stored rows are found by a hash of the text with these
names, so they stay as they are.
"""

from __future__ import annotations

import re

_MARK = ".source"
_TEMPORARY_NAME = re.compile(
    r"(?:i|call|conv|add|sub|mul|div|rem|shl|shr|and|or|xor|inc|dec|neg|cmp|tobool|lnot|cond|idxprom|idx\.ext|not"
    r"|arrayidx|arraydecay|add\.ptr|vecext|vecins|vecinit|splat(?:\.splat)?|sext|extractVec|storetmp|astype|fneg|tmp"
    r"|cast|incdec|ascast|xtraiter|unroll_iter|retval|brmerge|Pivot|SwitchLeaf|spec\.select|or\.cond|indvars|sub\.ptr"
    r"|rotl|rotr|bitcast|[usf](?:max|min)|(?:bf|wide|broadcast|vec|masked|narrow|reass|cleanup|niter)\.[a-z]+)"
    r"(?:[\d.]|i\b|\.i|\.iv|\.mux|\.lcssa|\.neg|\.not|\.next|\.alone|\.out)*$"
)
_SUFFIX = re.compile(
    r"\.(?:addr|next|lcssa|sroa|ph|in|i|loopexit|us|sink|copyload|vec|expand|extract|vecblend|be|prol|epil|unr|\d+)(?=\.|\d|$)\d*"
)
_DIGITS_OF_UNIQUENESS = re.compile(r"(?<=[a-zA-Z_])\d{2,}$")


def named_by_source(name: str) -> str:
    """Return a value's name for a name of the source, marked where it would be taken for another."""
    return f"{name}{_MARK}" if is_temporary_name(name) or readable(name) != name else name


def member_by_source(name: str) -> str:
    """Return the name of a field's address for the field's name, whose digits may else be taken for LLVM's."""
    return f"{name}{_MARK}" if is_temporary_name(name) or name[-1:].isdigit() else name


def is_temporary_name(name: str) -> bool:
    """Return True if a compiler invented the name, as far as it tells."""
    return bool(_TEMPORARY_NAME.match(name))


def readable(name: str) -> str:
    """Return a value's name without what LLVM's passes added to it."""
    given, mark, added = name.partition(_MARK)
    if mark:
        return given + _without_suffixes(added.lstrip("0123456789"))
    name = _without_suffixes(name)
    return _DIGITS_OF_UNIQUENESS.sub("", name) or name


def _without_suffixes(name: str) -> str:
    previous = None
    while previous != name:
        previous = name
        name = _SUFFIX.sub("", name)
    return name


def is_surely_readable(name: str) -> bool:
    """Return True if `readable` gives exactly what the source says."""
    return _MARK in name


def field_name(name: str) -> str:
    """Return the field whose address clang called so: the field's name, with a number where that was taken."""
    # No name of the source has a dot: what comes after one was added.
    plain = readable(name).partition(".")[0] or readable(name)
    if is_surely_readable(name):
        return plain
    shortened = plain.rstrip("0123456789")
    return shortened if shortened and not shortened.endswith("_") else plain
