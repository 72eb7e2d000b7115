"""Rates are counted, balanced and refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.stream import Actor, Channel, Map, SplitJoin, Stencil, buffers, interpret, pipeline, repetitions

TAPS = "const float *h, int taps"


@pytest.mark.parametrize(
    "actor",
    [
        {"pop": 2, "work": "push(pop() * pop());"},
        {"pop": 2, "push": 3, "work": "push(pop()); push(peek(0)); push(pop());"},
        {"pop": 12,
         "work": "float s = 0; for (int a = 0; a < 4; a++) for (int b = 0; b < 3; b++) s += pop(); push(s);"},
        {"work": "float a = pop(); if (a > 0) push(a); else push(-a);"},
        {"peek": "taps", "arguments": TAPS,
         "work": "float s = 0; for (int j = 0; j < taps; j++) s += h[j] * peek(j); pop(); push(s);"},
        {"pop": "taps", "push": "2 * taps", "arguments": TAPS,
         "work": "for (int j = 0; j < taps; j++) { push(peek(0)); push(pop()); }"},
        {"work": "push(pop()); /* push(pop()) */ // pop()"},
    ],
)  # fmt: skip
def test_rates_of_the_work_are_as_told(actor: Mapping[str, Any]) -> None:
    pipeline(Actor("own", **actor))


@pytest.mark.parametrize(
    ("actor", "words"),
    [
        ({"pop": 2}, "own takes 1 elements a firing, and pop says 2"),
        ({"push": 2}, "own puts out 1 elements a firing, and push says 2"),
        ({"peek": 3, "work": "push(peek(3)); pop();"}, "none of the 3 that peek says"),
        ({"work": "push(pop()); peek(0);"}, "none of the 1 that peek says"),
        ({"work": "if (pop() > 0) push(1);"}, "whether push is 1 can't be told"),
        ({"work": "while (pop() > 0) { } push(1);"}, "whether pop is 1 can't be told"),
        (
            {"pop": "taps", "arguments": TAPS, "work": "for (int j = 1; j < taps; j++) pop(); push(1);"},
            "whether pop is taps",
        ),
        ({"pop": 3, "peek": 2}, "looks at 2 elements and takes 3"),
    ],
)
def test_rates_that_are_not_are_refused(actor: Mapping[str, Any], words: str) -> None:
    with pytest.raises(RefusalError, match=words) as refused:
        pipeline(Actor("own", **actor))
    assert refused.value.code == "stream-rates"


@pytest.mark.parametrize(
    ("actor", "words"),
    [
        ({"pop": 0}, "pop is a number of elements, at least 1"),
        ({"pop": "taps"}, "pop: 'taps' is no argument that is a whole number"),
        ({"type": "float4"}, "none of char to ulong, float and double"),
        ({"work": "push(pop() + get_global_id(0));"}, "can't have get_global_id"),
        ({"work": "push(pop()); barrier(0);"}, "can't have barrier"),
        ({"pop": 2, "work": "push(pop()); return 0;"}, "can't have return"),
        ({"work": "int s = sizeof(pop()); push(s + pop());"}, "can't have sizeof"),
        ({"work": "__typeof__(pop()) s = 1; push(s + pop());"}, "can't have __typeof__"),
        ({"work": "\n#define T 3\n push(pop() * T);"}, "can't have #define"),
        ({"border": "get_global_id(0)"}, "can't have get_global_id"),
        ({"border": "x + 1"}, "border is an expression of the arguments, and has x"),
        ({"arguments": "float max"}, "an argument can't be called 'max'"),
        ({"work": "int stream_i; push(pop());"}, "can't have stream_i"),
        ({"arguments": "float u"}, "an argument can't be called 'u'"),
        ({"name": "push"}, "an actor can't be called 'push'"),
        ({"work": "push(pip());"}, "the work of an actor can't be compiled: own:1"),
        ({"pop": 2, "work": "for (int j = 0; j < 1; j++) push(pop() - pop());"}, "which of two pop()"),
    ],
)
def test_actors_that_are_none(actor: Mapping[str, Any], words: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        pipeline(Actor(**{"name": "own", **actor}))
    assert words in str(error.value)


def test_what_firings_may_write_is_refused() -> None:
    with pytest.raises(RefusalError, match="'float \\*sum' could be written") as refused:
        Actor("own", arguments="int k, float *sum", work="sum[0] += pop(); push(sum[0]);")
    assert refused.value.code == "stateful-actor"


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ((Map("a", "u"), Map("a", "u")), "there are two of the name 'a'"),
        ((Map("a", "u"), Map("b", "a", arguments="float a")), "there are two of the name 'a'"),
        ((Map("a", "u", result="int"), Map("b", "u")), "a puts out elements of type int, and b takes float"),
        ((Map("a", "u * k", arguments="float k"), Map("b", "u * k", arguments="int k")), "'k' has another type"),
        (
            (Actor("a", pop=2, work="push(pop() + pop());"), Stencil("b", "u(0, 0)", border="0")),
            "b: it takes an image",
        ),
        ((), "one actor at least"),
    ],
)
def test_neighbours_that_do_not_go_together(stages: Any, words: str) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match=words):
        pipeline(*stages)


def test_types_have_several_names() -> None:
    pipeline(Map("a", "u", result="unsigned char"), Map("b", "u", type="uchar"))


def test_a_steady_state_of_rates_that_divide_nothing() -> None:
    channels = (Channel("a", "b", push=2, pop=3), Channel("b", "c", push=5, pop=4, peek=6))
    assert repetitions(channels) == {"a": 6, "b": 4, "c": 5}
    held = buffers(channels)
    # Each is emptied as soon as that is possible; two elements stay behind for who looks further than it takes.
    assert [held[each] for each in channels] == [4, 10]
    assert repetitions((Channel("a", "b", push="k", pop=2),), {"k": 6}) == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("channels", "code"),
    [
        ((Channel("a", "b"), Channel("a", "b", push=2)), "stream-rates"),
        ((Channel("a", "b"), Channel("b", "a")), "stream-deadlock"),
        ((Channel("a", "b", push=2, pop=2), Channel("b", "a", initial=1, push=2, pop=2)), "stream-deadlock"),
        ((Channel("a", "b"), Channel("b", "a", initial=2, peek=3)), "stream-deadlock"),
    ],
)
def test_graphs_that_never_balance_or_never_fire(channels: tuple[Channel, ...], code: str) -> None:
    with pytest.raises(RefusalError) as refused:
        buffers(channels)
    assert refused.value.code == code


def test_a_loop_with_elements_in_it_fires() -> None:
    back = Channel("b", "a", initial=2, push=2, pop=2)
    assert buffers((Channel("a", "b", push=2, pop=2), back))[back] == 2


def test_branches_that_do_not_balance_are_refused() -> None:
    halves = Actor("halves", pop=2, work="push(pop() + pop());")
    with pytest.raises(RefusalError, match="never balances") as refused:
        pipeline(SplitJoin(Map("all", "u"), halves))
    assert refused.value.code == "stream-rates"
    pipeline(SplitJoin(Map("all", "u"), halves, join=(2, 1)))


def test_the_interpreter_finds_other_rates_by_itself() -> None:
    taking = Actor("own", pop=2)
    with pytest.raises(RefusalError, match="own took 1 elements and put out 1") as refused:
        interpret([taking], np.zeros(4, np.float32))
    assert refused.value.code == "stream-rates"


def test_explained() -> None:
    pairs, fir = (
        Actor("pairs", pop=2, work="push(pop() + pop());"),
        Actor("near", peek=3, work="push(peek(2)); pop();"),
    )
    text = pipeline(pairs, Map("gain", "2 * u"), fir).explain()
    assert "channel gain -> near: 3 elements at most in a steady state" in text
    assert "max(n // 2 - 2, 0) elements after near" in text
    assert "FUSE_gain=1 FUSE_pairs=1: pairs_gain_near; what gain puts out is computed by each" in text
