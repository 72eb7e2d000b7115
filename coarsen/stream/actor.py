"""Actors: what takes elements from one channel and puts elements into the next, at rates that are told.

    Actor("pairs", pop=2, push=1, work="push(pop() * pop());")      2 elements ─▶ 1
    Actor("mean3", pop=1, peek=3, work="push((peek(0) + peek(1) + peek(2)) / 3); pop();")
    Map("gain", "k * u", arguments="float k")                       an element ─▶ an element
    Stencil("blur", "(u(-1, 0) + u(0, 0) + u(1, 0)) / 3", border="edge")
    SplitJoin(Map("low", "u"), Map("high", "-u"))                   each element to both, their results by turns

An actor's work is OpenCL C. It runs once for each firing: `pop()` takes the next element, `peek(k)` looks at the
k-th after those that were taken, `push(v)` puts one out; `i` is the firing's number, counted from 0. No firing
knows of another (Samadi et al., "Adaptic", PLDI 2012, section 2; Lee and Messerschmitt, "Synchronous Data Flow",
1987).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from pyopencl.tools import VectorArg, dtype_to_ctype

from coarsen.base.names import is_opencl_word
from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.stream.reduction_text import BUILTIN, Argument, parsed_arguments

Rate: TypeAlias = int | str
# What the kernels call their own: nobody else may.
OWN_NAMES = frozenset(
    (
        *("input", "output", "n", "width", "height", "i", "x", "y", "u", "place", "pop", "peek", "push"),
        *("from", "to", "value", "first", "pops", "pushes", "sink", "beside", "inside"),
    )
)
HIDDEN = "stream_"
EDGE = "edge"
_NAME = re.compile(r"[A-Za-z]\w{0,40}")
_OF_WORK_ITEMS = re.compile(
    r"\b(?:(?i:stream_)\w*|get_(?:global|local|group|num|work)\w*|\w*barrier|\w*mem_fence|goto|return|sizeof|typeof"
    r"|vec_step|alignof|asm|_[A-Z]\w*|__(?!private\b|constant\b|attribute__)\w*)\b|(?:#|%:)(?!\s*pragma\b)\s*\w*"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BRANCHES = re.compile(r"\b(?:for|while|do|if|switch)\b|[?#]|&&|\|\|")
_TAKE = re.compile(r"\b(pop|peek)\s*\(")
_NEIGHBOUR = re.compile(r"\bu\s*\(\s*[-+]?\s*(\d+)\s*,\s*[-+]?\s*(\d+)\s*\)")
_CALL = re.compile(r"\b(pop\s*\(\s*\)|peek\s*\(|push\s*\()")


@dataclass(frozen=True)
class Actor:
    """What is done to a stream, firing by firing.

    Attributes:
        name: as in C.
        type: of the elements that it takes, a number's in OpenCL C.
        pop: how many elements a firing takes, at least 1: a number, or an expression of whole arguments, each
            at least 1 at a call.
        push: how many it puts out, likewise.
        peek: how many it looks at, those that it takes among them; as many as it takes where it is left out.
        work: OpenCL C.
        arguments: what the work is given besides, `float k, const float *taps`.
        result: the type of the elements that it puts out; that of those that it takes where it is left out.
        border: of a `Stencil`, what is outside of the image.

    Raises:
        InvalidInputError: a name, a type or a rate that is none.
        RefusalError: `stateful-actor`, for an argument that firings may write; `stream-rates`, for a `peek` below
            `pop`.
    """

    name: str
    type: str = "float"
    pop: Rate = 1
    push: Rate = 1
    peek: Rate | None = None
    work: str = "push(pop());"
    arguments: str = ""
    result: str = ""
    border: str = ""

    def __post_init__(self) -> None:
        check_name(self.name, "an actor")
        object.__setattr__(self, "work", _COMMENT.sub(" ", self.work))
        if self.peek is None:
            object.__setattr__(self, "peek", self.pop)
        for word, text in (("result", self.result or self.type), ("type", self.type)):
            object.__setattr__(self, word, dtype_to_ctype(_dtype(text)))
        for text in filter(str.strip, self.arguments.split(",")):
            if "*" in text and "const" not in text.split():
                reason = (
                    f"{self.name}: '{text.strip()}' could be written, and firings would see that: make it const"
                )
                raise RefusalError("stateful-actor", reason)
        for argument in self.given:
            name = argument.name
            if is_own(name) or BUILTIN.fullmatch(name) or is_opencl_word(name):
                raise InvalidInputError(f"{self.name}: an argument can't be called '{name}'")
        whole = {each.name for each in self.given if not is_array(each) and each.dtype.kind in "iu"}
        for word in ("pop", "push", "peek"):
            self._check_rate(word, whole)
        if isinstance(self.pop, int) and isinstance(self.peek, int) and self.peek < self.pop:
            raise RefusalError("stream-rates", f"{self.name} looks at {self.peek} elements and takes {self.pop}")
        if (found := _OF_WORK_ITEMS.search(f"{self.work} {self.border}")) is not None:
            reason = f"{self.name}: its work can't have {found[0]}: a firing is its number `i`, pop, peek and push"
            raise InvalidInputError(reason)
        if own := OWN_NAMES.intersection(re.findall(r"\w+", self.border)):
            raise InvalidInputError(f"{self.name}: border is an expression of the arguments, and has {min(own)}")
        for statement in re.split("[;{}]", self.work) if self.has_branches else ():
            takes = _TAKE.findall(statement)
            if "pop" in takes and len(takes) > 1:
                raise InvalidInputError(f"{self.name}: which of two pop() in '{statement.strip()}' comes first?")

    def _check_rate(self, word: str, whole: set[str]) -> None:
        rate = getattr(self, word)
        if not isinstance(rate, int | str) or isinstance(rate, bool) or (isinstance(rate, int) and rate < 1):
            raise InvalidInputError(f"{self.name}: {word} is a number of elements, at least 1, not {rate!r}")
        names = parse_expression(rate).names
        known = whole | {"width", "height"} if self.border else whole
        if unknown := sorted(names - known):
            raise InvalidInputError(f"{self.name}: {word}: '{unknown[0]}' is no argument that is a whole number")

    @property
    def given(self) -> tuple[Argument, ...]:
        """The arguments, read."""
        return parsed_arguments(self.arguments) if self.arguments.strip() else ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements that it takes."""
        return _dtype(self.type)

    @property
    def result_dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements that it puts out."""
        return _dtype(self.result)

    @property
    def is_elementwise(self) -> bool:
        """Return True if each element is made of the one in its place, and of those around it in an image."""
        return bool(self.border) or (self.pop, self.push, self.peek) == (1, 1, 1)

    @property
    def reach(self) -> int | None:
        """Return how far a stencil looks along either axis; None unless numbers tell all of its neighbours."""
        found = _NEIGHBOUR.findall(self.work) if self.border else []
        is_told = not self.border or len(found) == len(re.findall(r"\bu\b", self.work))
        return max((int(each) for pair in found for each in pair), default=0) if is_told else None

    @property
    def puts_one(self) -> bool:
        """Return True if a firing puts out one element; that of an image is counted for each of its elements."""
        return self.is_elementwise or self.push == 1

    @property
    def has_branches(self) -> bool:
        """Return True if the order of its calls isn't that of the text."""
        return _BRANCHES.search(self.work) is not None

    def placed(self, is_numbered: bool) -> str:
        """Return the work with the place of each element in its call: `stream_pop(0) * stream_pop(1)`.

        Args:
            is_numbered: whether places are numbers, in the order of the text; else they are counted as it runs.
        """
        counts = {"pop": 0, "push": 0}

        def replaced(match: re.Match[str]) -> str:
            word = match[0].rstrip("( )").strip()
            place = HIDDEN + {"pop": "pops++", "peek": "pops", "push": "pushes++"}[word]
            if is_numbered:
                counter = "push" if word == "push" else "pop"
                place = str(counts[counter])
                counts[counter] += word != "peek"
            return f"{HIDDEN}{word}({place}" + (")" if word == "pop" else ", ")

        return _CALL.sub(replaced, self.work)


def Map(  # noqa: N802 (it makes an actor)
    name: str, expression: str, *, type: str = "float", arguments: str = "", result: str = ""
) -> Actor:
    """Return an actor that makes an element of each.

    Args:
        name: as in C.
        expression: OpenCL C of the element `u`, its place `i` and the arguments.
        type: of `u`.
        arguments: what the expression is given besides, `float k`.
        result: its type; that of `u` where it is left out.
    """
    work = f"const {type} u = pop(); push({expression});"
    return Actor(name, type, work=work, arguments=arguments, result=result)


def Stencil(  # noqa: N802 (it makes an actor)
    name: str, expression: str, *, border: str, type: str = "float", arguments: str = "", result: str = ""
) -> Actor:
    """Return an actor that makes each element of an image of those around it.

    An image is `height` rows of `width` elements; a call takes one.

    Args:
        name: as in C.
        expression: OpenCL C of the neighbours `u(dx, dy)`, `u(1, 0)` to the right, the place `x`, `y` and the
            arguments.
        border: what `u` is outside of the image: an expression of the arguments; "edge" for the nearest element.
        type: of the elements.
        arguments: what the expression is given besides, `float k`.
        result: its type; that of the elements where it is left out.
    """
    size = "width * height"
    return Actor(name, type, size, size, size, f"push({expression});", arguments, result, border)


@dataclass(frozen=True, init=False)
class SplitJoin:
    """Branches that all take the same elements; what they put out is joined by turns.

    Args:
        branches: actors, or sequences of actors one after the other.
        name: as in C.
        join: how many elements each branch puts out at its turn; one where it is left out.

    Raises:
        InvalidInputError: fewer than two branches, branches of different types, an actor that puts out several
            elements a firing.
    """

    branches: tuple[tuple[Actor, ...], ...]
    name: str
    join: tuple[int, ...]

    def __init__(
        self, *branches: Actor | Sequence[Actor], name: str = "join", join: Sequence[int] | None = None
    ) -> None:
        made = tuple((each,) if isinstance(each, Actor) else tuple(each) for each in branches)
        object.__setattr__(self, "branches", made)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "join", tuple(join or (1,) * len(made)))
        check_name(name, "a split-join")
        if len(made) < 2 or not all(made):
            raise InvalidInputError(f"{name}: a split-join has two branches at least, each of one actor at least")
        if len(self.join) != len(made) or not all(type(each) is int and each > 0 for each in self.join):
            raise InvalidInputError(f"{name}: join is a number of elements for each of {len(made)} branches")
        for branch in made:
            check_neighbours(branch)
            if several := [each.name for each in branch if not each.puts_one]:
                raise InvalidInputError(f"{name}: {several[0]} puts out several elements a firing, in a branch")
        if len({branch[0].type for branch in made}) > 1 or len({branch[-1].result for branch in made}) > 1:
            raise InvalidInputError(f"{name}: its branches take, or put out, elements of different types")

    @property
    def type(self) -> str:
        """The type of the elements that it takes."""
        return self.branches[0][0].type

    @property
    def result(self) -> str:
        """The type of the elements that it puts out."""
        return self.branches[0][-1].result

    @property
    def parts(self) -> Iterator[tuple[tuple[Actor, ...], int, int]]:
        """The branches, each with how many elements it puts out at its turn, and how many come before these."""
        for number, branch in enumerate(self.branches):
            yield branch, self.join[number], sum(self.join[:number])


Stage: TypeAlias = Actor | SplitJoin


def branches_of(stage: Stage) -> tuple[tuple[Actor, ...], ...]:
    """Return the branches of a split-join; an actor is the only one of its own."""
    return ((stage,),) if isinstance(stage, Actor) else stage.branches


def actors_of(stage: Stage) -> tuple[Actor, ...]:
    """Return the actors of a stage, those of all branches."""
    return tuple(each for branch in branches_of(stage) for each in branch)


def _dtype(type: str) -> np.dtype[Any]:
    return parsed_arguments(f"{type} element")[0].dtype


def is_array(argument: Argument) -> bool:
    """Return True for an array, False for a number."""
    return isinstance(argument, VectorArg)


def is_own(name: str) -> bool:
    """Return True for a name that means something in the kernels."""
    return name in OWN_NAMES or name.lower().startswith(HIDDEN)


def check_name(name: str, what: str) -> None:
    """Raise InvalidInputError for what is no short name in C, or one of the kernels' own."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or is_own(name):
        raise InvalidInputError(f"{what} can't be called {ascii(name)[:60]}")


def check_neighbours(stages: Sequence[Stage]) -> None:
    """Raise InvalidInputError where a stage puts out elements of another type than the next one takes."""
    for one, other in pairwise(stages):
        if one.result != other.type:
            reason = f"{one.name} puts out elements of type {one.result}, and {other.name} takes {other.type}"
            raise InvalidInputError(reason)


def arguments_of(stages: Sequence[Stage]) -> Mapping[str, Argument]:
    """Return the arguments of all actors by name; those of one name are one argument.

    Raises:
        InvalidInputError: actors have arguments of one name and different types.
    """
    found: dict[str, Argument] = {}
    for actor in (each for stage in stages for each in actors_of(stage)):
        for own in actor.given:
            other = found.setdefault(own.name, own)
            if (is_array(own), own.dtype) != (is_array(other), other.dtype):
                raise InvalidInputError(f"{actor.name}: another actor's argument '{own.name}' has another type")
    return found
