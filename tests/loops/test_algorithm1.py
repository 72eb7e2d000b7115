"""Algorithm 1: the paper's examples, with other names and orders, and all schedules in a box beside it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import islpy as isl
import numpy as np
import pytest

from coarsen.loops.affine_of import nest_of
from coarsen.loops.dependences import analysed
from coarsen.loops.nest import reuse_of
from coarsen.loops.schedules import Band, Piece, Transformation, bands, pieces_of, placements, transformation
from coarsen.loops.tree import CFunction
from tests.loops.conftest import Analysed, Read
from tests.loops.executed import Element, Executed, execute, pairs

MV = """
void mv(int n, float a[restrict n][n], float x[restrict n], float y[restrict n])
{
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < n; j++)
            x[i] += a[i][j] * y[j];
    }
}
"""
TMV = MV.replace("a[i][j]", "a[j][i]")


def solved(text: str, analyse: Analysed, launch: int = -1) -> tuple[Transformation, dict[str, str]]:
    """What Algorithm 1 says of a launch, the last one of a function, and where its arrays go."""
    nest, found = analyse(text)
    piece = list(pieces_of(bands(nest, found)))[launch]
    answer = transformation(nest, found, piece)
    return answer, {each.array: each.memory for each in placements(nest, piece, answer)}


def test_matrices_of_the_paper(analyse: Analysed) -> None:
    nest, _ = analyse(TMV)
    t = nest.statement("S2")
    (domain,) = isl.Set(nest.domain(t)).get_basic_sets()
    matrix = np.array([[1, 0, 0, 0], [-1, 0, 1, -1], [0, 1, 0, 0], [0, -1, 1, -1]])
    rows = [f"{' + '.join(map('{}*{}'.format, row, ('i', 'j', 'n', '1')))} >= 0" for row in matrix]
    assert domain.is_equal(isl.BasicSet(nest.set_text(f"S2[i, j] : {' and '.join(rows)}")))
    a = next(access for access in t.reads if access.array == "a")
    assert a.matrix((*t.iterators, *nest.parameters)) == ((0, 1, 0, 0), (1, 0, 0, 0))
    assert reuse_of(a, t).rank == 2 and not reuse_of(a, t).is_higher_order


def test_mv_copies_its_matrix(analyse: Analysed) -> None:
    answer, places = solved(MV, analyse)
    assert answer.times == {"S2": ((0, 1),)} and answer.places == {"S2": ((1, 0),)}
    assert not answer.served
    assert [each.access.array for each in answer.copied] == ["a"]
    assert places == {"a": "local", "y": "constant", "x": "register"}


def test_tmv_reads_its_matrix_where_it_is(analyse: Analysed) -> None:
    answer, places = solved(TMV, analyse)
    assert answer.times == {"S2": ((0, 1),)} and answer.places == {"S2": ((1, 0),)}
    assert [each.access.array for each in answer.served] == ["a"]
    assert places == {"a": "direct", "y": "constant", "x": "register"}


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ("c[i][j] += a[i][k] * b[k][j];", ["j", "i"]),
        ("c[j][i] += a[j][k] * b[k][i];", ["i", "j"]),
        ("c[i][j] += a[k][i] * b[j][k];", ["j", "i"]),
        ("c[i][j] += a[k][i] * b[k][j];", ["j", "i"]),
    ],
)
@pytest.mark.parametrize("order", ["ijk", "ikj", "jik", "jki", "kij", "kji"])
def test_products_of_matrices_in_every_order(body: str, places: list[str], order: str, analyse: Analysed) -> None:
    """Dimension 0 is the loop along which most accesses are to the next element."""
    loops = "".join(f"for (int {each} = 0; {each} < n; {each}++)" for each in order)
    text = f"void f(int n, float a[n][n], float b[n][n], float c[n][n]) {{ {loops} {body} }}"
    answer, memory = solved(text, analyse)
    assert memory["a"] == memory["b"] == "local" and memory["c"] == "register"
    assert [order[row.index(1)] for row in answer.places["S1"]] == places
    assert answer.times == {"S1": (tuple(int(each == "k") for each in order),)}


def test_other_names(analyse: Analysed) -> None:
    renamed = re.sub(r"\b(a|x|y|i|j|n)\b", lambda word: f"{word[0]}_other", MV)
    answer, places = solved(renamed, analyse)
    assert [each.access.array for each in answer.copied] == ["a_other"]
    assert places == {"a_other": "local", "y_other": "constant", "x_other": "register"}


def test_a_transposed_sum(analyse: Analysed) -> None:
    swapped = re.sub(r"x\[i\] \+= .*;", "x[j] += a[i][j] * y[i];", MV).replace("x[i] = 0;", "")
    answer, places = solved(swapped, analyse)
    assert answer.times == {"S1": ((1, 0),)} and answer.places["S1"] == ((0, 1),)
    assert [each.access.array for each in answer.served] == ["a"] and places["a"] == "direct"


def test_a_wavefront_has_a_skewed_time(analyse: Analysed) -> None:
    text = """void f(int n, float a[n][n]) { for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)
        a[i][j] = a[i - 1][j] + a[i][j - 1]; }"""
    nest, found = analyse(text)
    piece = Piece(Band({"S1": ((1, 0), (0, 1))}, (False, False)), ())
    answer = transformation(nest, found, piece)
    assert answer.times == {"S1": ((1, 1),)}
    assert not answer.served and len(answer.copied) == 3


def test_a_stencil_s_time_loop_is_fixed(analyse: Analysed) -> None:
    text = """void f(int steps, int n, float a[n], float b[n]) { for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < n - 1; i++) a[i] = b[i]; } }"""
    for launch in (0, 1):
        answer, places = solved(text, analyse, launch)
        assert answer.places == {f"S{launch + 1}": ((0, 1),)} and answer.times == {f"S{launch + 1}": ()}
        assert set(places.values()) == {"direct"} and not answer.copied


def test_of_a_transposed_copy_the_store_is_served(analyse: Analysed) -> None:
    """The place i + j is one further for both, but neighbours would differ along dimension 1 as well."""
    text = """void f(int n, float *a, float *b) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        b[i * n + j] = a[j * n + i]; }"""
    answer, places = solved(text, analyse)
    assert places == {"a": "local", "b": "direct"} and answer.places == {"S1": ((0, 1), (1, 0))}


def test_a_sum_over_two_loops_has_the_times_of_the_band(analyse: Analysed) -> None:
    text = """void f(int n, int m, float a[n][n], float k[m][m], float b[n][n]) {
        for (int i = 0; i < n - m; i++) for (int j = 0; j < n - m; j++)
            for (int p = 0; p < m; p++) for (int q = 0; q < m; q++) b[i][j] += a[i + p][j + q] * k[p][q]; }"""
    answer, places = solved(text, analyse)
    assert not answer.is_one_dimensional
    assert answer.times == {"S1": ((0, 0, 1, 0), (0, 0, 0, 1))}
    assert answer.places == {"S1": ((0, 1, 0, 0), (1, 0, 0, 0))}
    assert places == {"b": "register", "a": "local", "k": "constant"}


def test_what_a_skewed_loop_goes_through_is_no_dimension(analyse: Analysed) -> None:
    text = """void f(int n, float a[n][n]) { for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)
        a[i][j] = a[i - 1][j] + a[i][j - 1]; }"""
    nest, found = analyse(text)
    (piece,) = pieces_of(bands(nest, found))
    assert [band.rows["S1"] for band in piece.around] == [((1, 1),)]
    answer = transformation(nest, found, piece)
    assert answer.times == {"S1": ()} and len(answer.places["S1"]) == 1 and not answer.served


def test_statements_without_loops_of_their_own_are_launches_too(analyse: Analysed) -> None:
    text = """void f(int n, float l[n][n], float x[n]) { for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= l[i][j] * x[j];
        x[i] /= l[i][i]; } }"""
    nest, found = analyse(text)
    pieces = list(pieces_of(bands(nest, found)))
    assert {name for each in pieces for name in each.statements} == {"S1", "S2"}
    assert {each.statements: transformation(nest, found, each).places for each in pieces} == {
        ("S2",): {"S2": ()},
        ("S1",): {"S1": ((1, 0),)},
    }


# Random statements, and every schedule whose coefficients are from -1 to 1.

SIZE = 5


def random_function(seed: int) -> str:
    draw = random.Random(seed)
    iterators = "ijk"[: draw.choice((1, 2, 2, 2, 3, 3))]
    ranks = {"a": draw.choice((1, 2)), "b": draw.choice((1, 2))}

    def index() -> str:
        numbers = [draw.choice((-1, 0, 0, 1, 1)) for _ in iterators]
        terms = [f"{number} * {each}" for number, each in zip(numbers, iterators, strict=True) if number]
        return " + ".join([*terms, str(draw.choice((-1, 0, 0, 0, 1)))])

    def access(array: str) -> str:
        return array + "".join(f"[{index()}]" for _ in range(ranks[array]))

    loops = "".join(f"for (int {each} = 0; {each} < n; {each}++) " for each in iterators)
    reads = " + ".join(access(draw.choice("ab")) for _ in range(draw.randint(1, 3)))
    arrays = ", ".join(f"float {array}[n]{'[n]' * (rank - 1)}" for array, rank in ranks.items())
    return f"void f{seed}(int n, {arrays}) {{ {loops}{access('a')} = {reads}; }}\n"


def vectors(depth: int) -> Iterator[np.ndarray]:
    yield from (np.array(each) for each in product((-1, 0, 1), repeat=depth))


def differences(related: Sequence[tuple[Executed, Executed]]) -> np.ndarray:
    return np.array([np.subtract(two.iterators, one.iterators) for one, two in related])


def neighbours(executed: Sequence[Executed], elements: Sequence[Element]) -> list[tuple[Executed, Executed]]:
    """Pairs of instances of which the second reaches the element after that of the first."""
    at: dict[Element, list[Executed]] = {}
    for each, element in zip(executed, elements, strict=True):
        at.setdefault(element, []).append(each)
    return [
        (each, other)
        for each, (array, (*outer, last)) in zip(executed, elements, strict=True)
        for other in at.get((array, (*outer, last + 1)), ())
    ]


class Box:
    """All schedules of a function's only statement with coefficients from -1 to 1, tried on executed instances."""

    def __init__(self, function: CFunction) -> None:
        self.executed = execute(function, {"n": SIZE})
        self.depth = len(self.executed[0].iterators)
        related = differences([pair for each in pairs(self.executed).values() for pair in each])
        self.legal = [each for each in vectors(self.depth) if not len(related) or (related @ each >= 1).all()]

    def elements(self, subscripts: Sequence[tuple[list[int], int]], array: str) -> list[Element]:
        return [
            (array, tuple(int(np.dot(row, each.iterators)) + constant for row, constant in subscripts))
            for each in self.executed
        ]

    def times(self, adjacent: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [each for each in self.legal if all((related @ each == 0).all() for related in adjacent)]

    def places(self, adjacent: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [each for each in vectors(self.depth) if all((related @ each == 1).all() for related in adjacent)]

    def serves(self, adjacent: Sequence[np.ndarray]) -> bool:
        """A time, the innermost place, and as many further places, the same for neighbours, as the loops need."""
        same = [each for each in vectors(self.depth) if all((related @ each == 0).all() for related in adjacent)]
        return any(
            np.linalg.matrix_rank(np.array([time, place])) == 1 + bool(time.any())
            and np.linalg.matrix_rank(np.array([time, place, *same])) == self.depth
            for time in self.times(adjacent)
            for place in self.places(adjacent)
        )


def test_random_statements_have_the_answer_of_all_schedules(read: Read) -> None:
    functions = read("".join(map(random_function, range(205))))
    outcomes = []
    for name, function in functions.items():
        nest, found = analysed(nest_of(function))
        (statement,) = nest.statements
        depth = len(statement.iterators)
        loops = tuple(tuple(map(int, row)) for row in np.eye(depth))
        piece = Piece(Band({"S1": loops}, (False,) * depth), ())
        answer = transformation(nest, found, piece)
        box = Box(function)
        assert answer.is_one_dimensional == bool(box.legal), name
        candidates = [*answer.served, *answer.copied]
        adjacent = []
        for each in candidates:
            columns = [
                ([form.terms.get((i,), 0) for i in statement.iterators], form.constant_part)
                for form in each.access.subscripts
            ]
            elements = box.elements(columns, each.access.array)
            assert len(set(elements)) == len(elements), "an element is reached by one instance alone"
            adjacent.append(differences(neighbours(box.executed, elements)))
        reachable = [place for place, related in enumerate(adjacent) if len(related)]
        most = next(
            (
                count
                for count in range(len(reachable), 0, -1)
                if any(
                    box.serves([adjacent[each] for each in chosen]) for chosen in combinations(reachable, count)
                )
            ),
            0,
        )
        assert len(answer.served) == most, name
        if answer.served:
            time = np.array([*answer.times["S1"], (0,) * box.depth][0])
            place, *others = map(np.array, answer.places["S1"])
            assert len(others) == box.depth - 1 - len(answer.times["S1"])
            own = adjacent[: len(answer.served)]
            assert any((time == each).all() for each in box.times(own)), name
            assert any((place == each).all() for each in box.places(own)), name
            assert all((related @ each == 0).all() for each in others for related in own), name
        outcomes.append((answer.is_one_dimensional, len(answer.served), len(answer.copied)))
    assert len(outcomes) >= 200
    assert len({*outcomes}) >= 8, "the draw is of many kinds"
    assert sum(not is_legal for is_legal, _, _ in outcomes) >= 10
    assert sum(served > 0 and copied > 0 for _, served, copied in outcomes) >= 10
