"""Pragmas become parameters, and the source becomes one in which `-D` chooses their values."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import Declaration, read_annotations, source_without_pragmas
from coarsen.frontend.compile import Source, compilations
from coarsen.frontend.device_macros import PORTABLE
from coarsen.frontend.lower import lower
from coarsen.frontend.options import parse_options
from coarsen.frontend.parameters import Kind, Parameter, parse_parameter

SOURCE = """\
/* #pragma erange 1,2,2 is a comment */
#pragma erange 64,512,2  // as the paper has it
#define BLKSZ 256
#pragma coarsen range 1,4,1

#define ROWS 1 /* of an item */
enum { unused, more = 7 };
#define rows 0
#define lanes 1
#define even (0x2u) /* in hexadecimal */
#pragma coarsen select IMPL rows,lanes,even
#pragma coarsen where BLKSZ % ROWS == 0
#pragma coarsen input aspect = log2(height / width)
#pragma coarsen input pixels = height * width
kernel void f(global float *x, int height, int width)
{
    local float part[BLKSZ];
    float sum = ROWS;
#pragma coarsen unroll LU 1,8,2
    for (int i = 0; i < width; i++)
        sum += x[i * height];
#if IMPL == lanes // lanes
    sum *= 2;
#elif IMPL == even
    sum *= 3;
#endif
    part[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = part[0];
}
"""


WORDS = "#define a 0\n#define b 1\n#define c 2\n"


def test_declares_parameters_with_the_value_of_the_define_first() -> None:
    found = read_annotations(SOURCE, "f.cl")
    assert found.parameters == (
        Parameter("BLKSZ", Kind.MACRO, ("256", "64", "128", "512"), "f.cl:2"),
        Parameter("ROWS", Kind.MACRO, ("1", "2", "3", "4"), "f.cl:4"),
        Parameter("IMPL", Kind.SELECT, ("0", "1", "2"), "f.cl:11", (("rows", "0"), ("lanes", "1"), ("even", "2"))),
        Parameter("LU", Kind.UNROLL, ("1", "2", "4", "8"), "f.cl:19"),
    )


def test_declares_conditions_and_features() -> None:
    found = read_annotations(SOURCE, "f.cl")
    assert found.conditions == (Declaration("BLKSZ % ROWS == 0", "f.cl:12"),)
    assert found.features == (
        Declaration("log2(height / width)", "f.cl:13", "aspect"),
        Declaration("height * width", "f.cl:14", "pixels"),
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("erange 64,512,2", ("64", "128", "256", "512")),
        ("erange 1,100,3", ("1", "3", "9", "27", "81")),
        ("range 1,8,3", ("1", "4", "7")),
        ("range -1, 1, 1", ("-1", "0", "1")),
        ("values 3,1,float4,1", ("3", "1", "float4")),
        ("unroll 2,8,2", ("1", "2", "4", "8")),
        ("select 0,1", ("0", "1")),
        ("select a,b", ("3", "-1")),
    ],
)
def test_values_of_each_word(text: str, values: tuple[str, ...]) -> None:
    assert parse_parameter("P", text, "here", {"a": "3", "b": "(-1)"}).values == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("erange 64,512", "here: 'erange' takes the first value, the last and the step: erange 64,512,2"),
        ("erange 0,512,2", "must begin at 1 or above"),
        ("erange 64,512,1", "a step of at least 2"),
        ("range 8,1,1", "from a first value to a last not below it"),
        ("range 1,8,0", "a step of at least 1"),
        ("range 1,5000,1", "5000 values"),
        ("values 1,,2", "commas between"),
        ("select a", "two names or more"),
        ("select a,b,a", "each once"),
        ("select a,2b", "'2b' is no name"),
        ("select a,c", "'c' is defined nowhere in the source, so that other compilers take it for 0"),
        ("select a,far", "'far' is '2.5f' in the source: it must be a whole number"),
        ("select a,octal", "'octal' is '010' in the source: it must be a whole number"),
        ("select a,same", "a and same are both 0 in the source"),
        ("erang 64,512,2", "here: 'erang' is no word (did you mean erange or range?)"),
    ],
)
def test_a_mistake_in_values_is_one_line(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as failure:
        parse_parameter("P", text, "here", {"a": "0", "same": "0x0", "far": "2.5f", "octal": "010"})
    assert message in str(failure.value) and "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("#pragma erange 64,512,2\nint x;", "f.cl:1: a line must follow that defines the macro"),
        ("\n#pragma erange 64,512,2\n#define N 100", "f.cl:2: N is 100 in the source, which is none of 64, 128"),
        ("#pragma coarsen ranges 1,2,1", "f.cl:1: no such pragma 'ranges' (did you mean range or erange?)"),
        ("#pragma coarsen where", "f.cl:1: 'where' lacks what it declares"),
        ("#pragma coarsen where a == \\\n b", "f.cl:1: a pragma of coarsen stands in one line"),
        ("#pragma coarsen unroll LU 1,8,2\nint x;", "f.cl:1: a loop must follow"),
        (
            "#pragma coarsen input a = n\n#pragma coarsen input a = m",
            "f.cl:2: there is a feature a already, at f.cl:1",
        ),
        ("#pragma coarsen input a =", "f.cl:1: the feature a lacks '= EXPRESSION'"),
        ("#pragma coarsen input a", "f.cl:1: the feature a lacks '= EXPRESSION'"),
        (
            f"{WORDS}#pragma coarsen select I a,b\n#pragma coarsen select I a,c",
            "f.cl:5: I is a parameter already, at f.cl:4",
        ),
        (
            f"{WORDS}#pragma coarsen select I a,b\n#define I c",
            "f.cl:4: I is c in the source, which is none of a, b",
        ),
        ("#pragma coarsen select I rows,columns", "f.cl:1: 'rows' is defined nowhere in the source"),
        (
            "#define a 0\n#ifdef B\n#define a 1\n#endif\n#pragma coarsen select I a,b",
            "f.cl:5: 'a' is defined nowhere",
        ),
        ("enum { a = ONE, b };\n#pragma coarsen select I a,b", "f.cl:2: 'a' is defined nowhere"),
        (
            "#define a 1\n#define b 2\n#pragma coarsen select I a,b",
            "f.cl:3: I is 0 where nothing defines it, and none of its implementations is: add a line such as "
            "#define I a",
        ),
    ],
)
def test_a_mistake_in_a_pragma_names_its_line(source: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as failure:
        read_annotations(source, "f.cl")
    assert str(failure.value).startswith(message) and "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("#pragma erange 1,4,2\n#define N 1\n#define N 2", "f.cl:3: N is a parameter with a #define in line 2"),
        ("#pragma erange 1,4,2\n#define N 1\n#undef N", "f.cl:3: N is a parameter with a #define in line 2"),
        (
            f"{WORDS}#pragma coarsen select I a,b\n#if I == c\n#endif",
            "f.cl:5: I is compared with c, which is none of a, b",
        ),
        (
            "#define a 0\n#pragma coarsen select I a,b\n#if I == b\n#endif\n#define b 1",
            "f.cl:3: b is 0 to the preprocessor here",
        ),
        ("enum { a, b };\n#pragma coarsen select I a,b\n#if I == b\n#endif", "f.cl:3: b is 0 to the preprocessor"),
    ],
)
def test_a_source_that_would_choose_values_itself_is_refused(source: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        source_without_pragmas(source, "f.cl")


def test_definitions_choose_the_values_and_the_default_is_the_source_as_it_was() -> None:
    prepared = source_without_pragmas(SOURCE, "f.cl")
    assert _code(prepared) == _code(SOURCE)
    # What no line of the source defines, a compiler takes from the options just so without this package.
    for implementation in "012":
        assert _code(prepared, f"-DIMPL={implementation}") == _code(SOURCE, f"-DIMPL={implementation}")
    choices = [[], ["-DBLKSZ=64"], ["-DROWS=2"], ["-DIMPL=1"], ["-DIMPL=2"], ["-DLU=4"]]
    assert len({_code(prepared, *options) for options in choices}) == len(choices)


def _code(source: str, *options: str) -> str:
    """What clang makes of a source, without what tells the lines."""
    assembly = next(compilations(Source(source), parse_options(["-cl-std=CL1.2", *options]), PORTABLE))
    kept = [line.partition(", !dbg")[0] for line in assembly.splitlines() if "#dbg" not in line]
    metadata = [line.split(" = ")[1] for line in kept if "llvm.loop.unroll" in line]
    return "\n".join([line.partition(", !llvm")[0] for line in kept if not line.startswith("!")] + metadata)


def test_lines_keep_their_numbers() -> None:
    lines = [i.position.line for i in lower(source_without_pragmas(SOURCE)).instructions() if i.position]
    assert max(lines) == len(SOURCE.splitlines())  # the kernel's end


def test_comments_around_a_removed_line_stay() -> None:
    source = """/* size
*/ #define BLK 256
kernel void f(global int *a) { a[0] = BLK; }
#define ROWS 4 /* how many,
one after the other */
kernel void g(global int *a) { a[0] = ROWS; }
/* end */
"""
    prepared = source_without_pragmas(source, "f.cl", ("BLK", "ROWS"))
    assert "#define BLK 256\nkernel" not in prepared
    for name in "fg":
        assert lower(prepared, name).name == name


def test_a_source_without_pragmas_stays_as_it_is() -> None:
    source = "#pragma unroll\r\n// #pragma erange 1,2,2\nkernel void f() {}\n"
    assert source_without_pragmas(source) == source


@pytest.mark.parametrize(
    "condition",
    [
        *("IMPL == lanes", "lanes == IMPL", "(IMPL) == (lanes)", "( lanes ) == ( IMPL )", "IMPL == \\\n    lanes"),
        *("IMPL >= lanes", "!(IMPL != lanes)", "!(lanes != IMPL)", "lanes <= IMPL", "IMPL /* or */ == lanes"),
        *("defined(IMPL) && lanes == IMPL", "IMPL + 0 == 1", "lanes /* not rows */ \\\n == IMPL"),
    ],
)
def test_an_implementation_is_chosen_however_it_is_compared(condition: str) -> None:
    source = f"""\
#define rows 0
#define lanes 1
#pragma coarsen select IMPL rows,lanes
kernel void f(global int *x)
{{
#if {condition}
    *x = 7;
#endif
}}
"""
    prepared = source_without_pragmas(source)
    assert "i32 7" in _code(prepared, "-DIMPL=1") and "i32 7" not in _code(prepared, "-DIMPL=0")
    assert "i32 7" in _code(source, "-DIMPL=1") and "i32 7" not in _code(source)
    assert len(prepared.splitlines()) - len(source.splitlines()) == 4


@pytest.mark.parametrize("condition", ["lane == IMPL", "(lane) != (IMPL)", "IMPL == \\\n lane"])
def test_a_name_that_is_no_implementation_is_refused_on_either_side(condition: str) -> None:
    source = f"#define rows 0\n#define lanes 1\n#pragma coarsen select IMPL rows,lanes\n#if {condition}\n#endif\n"
    with pytest.raises(InvalidInputError, match=r"^f\.cl:4: IMPL is compared with lane, which is none of"):
        source_without_pragmas(source, "f.cl")


def test_a_variable_may_be_compared_with_the_number_of_an_implementation() -> None:
    source = """\
enum { rows, lanes };
#pragma coarsen select IMPL rows,lanes
kernel void f(global int *x) { int item = 0; if (item == IMPL) *x = 1 << IMPL; if (item < IMPL) x[1] = 2; }
"""
    assert source_without_pragmas(source).splitlines()[-1] == source.splitlines()[-1]


CONTINUED = """\
#define ITEMS \\
    4 + \\
    1
#pragma coarsen values 64,128
#define BLKSZ \\
    64
#define TWICE(value) \\
    ((value) * 2)
#define OTHER 1 \\
#define BLKSZ 9
// A comment that goes on \\
#define BLKSZ 8
kernel void f(global int *x) { x[0] = TWICE(BLKSZ) + ITEMS; }
"""


def test_a_define_may_go_on_over_lines() -> None:
    assert read_annotations(CONTINUED, "f.cl").parameters[0].values == ("64", "128")
    prepared = source_without_pragmas(CONTINUED, "f.cl")
    # Warnings apart, it is the same code.
    assert _code(prepared) == _code(CONTINUED)
    assert "i32 261" in _code(prepared, "-DBLKSZ=128")
    lines = [i.position.line for i in lower(prepared).instructions() if i.position]
    assert max(lines) == len(CONTINUED.splitlines())


def test_a_define_that_goes_on_gives_way_where_no_pragma_declares_it() -> None:
    prepared = source_without_pragmas(CONTINUED, "f.cl", ("ITEMS",))
    assert _code(prepared) == _code(CONTINUED)
    assert "i32 137" in _code(prepared, "-DITEMS=9")


def test_a_pragma_within_a_macro_is_none() -> None:
    source = "#define M \\\n#pragma erange 1,2,2\n#define N 1\n"
    assert not read_annotations(source, "f.cl").pragmas
    with pytest.raises(InvalidInputError, match="stands in one line"):
        read_annotations("#pragma coarsen values \\\n1,2\n#define N 1", "f.cl")


def test_macros_that_no_pragma_declares_give_way_too() -> None:
    source = "#define N 3\n#define M 4\nkernel void f(global int *x) { *x = N * M; }\n"
    prepared = source_without_pragmas(source, macros=("N", "ABSENT"))
    assert _code(prepared) == _code(source)
    assert _code(prepared, "-DN=2") == _code(source.replace("N 3", "N 2"))
