"""LLVM IR that is no OpenCL is refused in one line, whatever it holds."""

from __future__ import annotations

import re

import pytest

from coarsen.api import coarsen
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import list_kernels, lower

LAYOUT = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
STORE = "store float 1.0, ptr addrspace(1) %q\n  ret void"
ADDRESS = "%q = getelementptr float, ptr addrspace(1) %p, i64 %id\n  "


def module(
    body: str = ADDRESS + STORE,
    *,
    name: str = "@k",
    arguments: str = "ptr addrspace(1) %p",
    before: str = "",
    attributes: str = "",
    after: str = "",
    layout: str = LAYOUT,
) -> str:
    """A module of LLVM IR around a kernel's body, in which `%id` is the global id."""
    return f"""target datalayout = "{layout}"
target triple = "spir64-unknown-unknown"
{before}
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void {name}({arguments}) {attributes} {{
entry:
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  {body}
}}
{after}"""


def refusal(source: str) -> RefusalError:
    with pytest.raises(RefusalError) as caught:
        coarsen(source)
    assert "\n" not in str(caught.value)
    return caught.value


def invalid(source: str) -> str:
    with pytest.raises(InvalidInputError) as caught:
        coarsen(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_plain_module_is_coarsened() -> None:
    assert "1.0f" in coarsen(module()).opencl_c


@pytest.mark.parametrize(
    ("written", "told"),
    [('@"k\\C3\\A4"', "kä"), ('@"k x"', "k x"), ('@"a(b)"', "a(b)"), ("@0", "0"), ("@k.1", "k.1")],
)
def test_names_that_opencl_c_can_not_spell(written: str, told: str) -> None:
    assert invalid(module(name=written)).startswith(f"the kernel's name '{told}' can't be written as OpenCL C")
    assert list_kernels(module(name=written)) == [told]


def test_a_name_beyond_ascii_in_opencl_c() -> None:
    source = "kernel void größe(global float *p) { p[get_global_id(0)] = 1; }"
    assert invalid(source).startswith("the kernel's name 'größe' can't be written as OpenCL C")
    assert lower(f"{source} kernel void k(global float *p) {{ *p = 2; }}", "k").name == "k"


@pytest.mark.parametrize(
    "sizes",
    [
        *("", "i32 4, i32 2", "i32 4, i32 1, i32 1, i32 1", "i32 -4, i32 1, i32 1", "i32 0, i32 1, i32 1"),
        *("i64 4, i64 1, i64 1", "null, null, null", '!"four", i32 1, i32 1'),
    ],
)
def test_required_sizes_that_are_not_three_numbers(sizes: str) -> None:
    source = module(attributes="!reqd_work_group_size !0", after=f"!0 = !{{{sizes}}}\n")
    assert invalid(source) == "the kernel's reqd_work_group_size is not three numbers of type i32 from 1"


@pytest.mark.parametrize("distinct", ["", "distinct "])
def test_required_sizes_of_three_numbers(distinct: str) -> None:
    source = module(attributes="!reqd_work_group_size !0", after=f"!0 = {distinct}!{{i32 8, i32 2, i32 1}}\n")
    assert "reqd_work_group_size(4, 2, 1)" in coarsen(source).opencl_c


@pytest.mark.parametrize(
    ("layout", "entry"),
    [
        ("E-i64:64", "E"),
        ("e-p:32:32-i64:64", "p:32:32"),
        ("e-p1:16:16-i64:64", "p1:16:16"),
        ("e-i64:32", "i64:32"),
        ("e-i64:64-v96:32", "v96:32"),
        ("e-i64:64-A5", "A5"),
    ],
)
def test_data_layouts_of_other_targets(layout: str, entry: str) -> None:
    assert invalid(module(layout=layout)) == f"the LLVM IR's data layout is not SPIR's: '{entry}' in '{layout}'"


@pytest.mark.parametrize("layout", ["", "e-i64:64", "e-p:64:64:64-i64:64-n8:16:32:64-S128", f"{LAYOUT}-P0-A0"])
def test_data_layouts_that_say_the_same(layout: str) -> None:
    assert "1.0f" in coarsen(module(layout=layout)).opencl_c


def test_a_module_that_is_not_valid_with_debug_information() -> None:
    body = "store ptr blockaddress(@k, %entry), ptr addrspace(1) %p\n  ret void"  # which has no address
    version = '!llvm.module.flags = !{!0}\n!0 = !{i32 2, !"Debug Info Version", i32 3}\n'
    assert invalid(module(body, after=version)).startswith("not LLVM IR that LLVM")


def test_debug_information_that_is_valid_gives_no_warning(capfd: pytest.CaptureFixture[str]) -> None:
    store = f"{ADDRESS}store float 1.0, ptr addrspace(1) %p, !dbg !4"
    body = f"{store}\n  br label %next, !llvm.loop !6\nnext:\n  ret void"
    nodes = """
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "a.cl", directory: "/")
!3 = distinct !DISubprogram(name: "k", file: !2, line: 1, type: !5, unit: !1, spFlags: DISPFlagDefinition)
!4 = !DILocation(line: 3, column: 7, scope: !3)
!5 = !DISubroutineType(types: !{null})
!6 = distinct !{!6, !4}
"""
    assert "1.0f" in coarsen(module(body, attributes="!dbg !3", after=nodes)).opencl_c
    assert capfd.readouterr().err == ""


PERSONALITY = "declare i32 @__gxx_personality_v0(...)\ndeclare void @f()"
REFUSED = {
    "an address space": (
        module(
            "store float 1.0, ptr addrspace(999) %q\n  ret void", arguments="ptr addrspace(999) %q"
        ),
        "unsupported-type",
    ),
    "a scalable vector": (
        module(
            f"{ADDRESS}%v = load <vscale x 4 x float>, ptr addrspace(1) %q\n"
            "  store <vscale x 4 x float> %v, ptr addrspace(1) %p\n  ret void"
        ),
        "unsupported-type",
    ),
    "an invoke": (
        module(
            f"{ADDRESS}invoke void @f() to label %done unwind label %failed\n"
            f"done:\n  {STORE}\nfailed:\n  %pad = landingpad {{ ptr, i32 }} cleanup\n  ret void",
            before=PERSONALITY,
            attributes="personality ptr @__gxx_personality_v0",
        ),
        "unsupported-instruction",
    ),
    "a callbr": (
        module(
            f'{ADDRESS}callbr void asm sideeffect "", "!i"() to label %done [label %failed]\n'
            f"done:\n  {STORE}\nfailed:\n  ret void"
        ),
        "unsupported-instruction",
    ),
    "a block's address": (
        module(
            f"{ADDRESS}store ptr blockaddress(@k, %end), ptr addrspace(1) %q\n  br label %end\nend:\n  ret void"
        ),
        "unsupported-instruction",
    ),
    "an array of a length known later": (
        module(f"%a = alloca float, i64 %id\n  store float 2.0, ptr %a\n  {ADDRESS}{STORE}"),
        "unsupported-instruction",
    ),
    "an argument in the caller's memory": (
        module(arguments="ptr addrspace(1) %p, ptr inalloca(i32) %x"),
        "unsupported-type",
    ),
    "local memory with a value": (
        module(
            f"%v = load float, ptr addrspace(3) @t\n  {ADDRESS}store float %v, ptr addrspace(1) %q\n  ret void",
            before="@t = internal addrspace(3) global float 4.0",
        ),
        "program-scope-variable",
    ),
    "local memory of a size known later": (
        module(
            f"%v = load float, ptr addrspace(3) @t\n  {ADDRESS}store float %v, ptr addrspace(1) %q\n  ret void",
            before="@t = external addrspace(3) global [0 x float]",
        ),
        "program-scope-variable",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_opencl_has_no_counterpart_of(what: str) -> None:
    source, code = REFUSED[what]
    assert refusal(source).code == code


@pytest.mark.parametrize(
    "declaration",
    ["i32 @_Z13get_global_idj(i32)", "i64 @_Z13get_global_idj(i64)", "void @_Z13get_global_idj()"],
)
def test_ids_that_are_declared_otherwise(declaration: str) -> None:
    result, arguments = declaration.split()[0], re.findall(r"\((.*)\)", declaration)[0]
    passed = f"{arguments} 0" if arguments else ""
    name = "" if result == "void" else "%id = "
    source = f"""declare spir_func {declaration}
define spir_kernel void @k(ptr addrspace(1) %p) {{
  {name}call spir_func {result} @_Z13get_global_idj({passed})
  {STORE.replace("%q", "%p")}
}}
"""
    assert invalid(source) == "get_global_id is not declared as OpenCL declares it: 'i64 (i32)'"


@pytest.mark.parametrize("index", [4, 7, 1 << 31])
def test_an_element_beyond_the_vector(index: int) -> None:
    inserted = "insertelement <4 x float> %v, float %e, i32 1"
    source = module(
        f"{ADDRESS}%v = load <4 x float>, ptr addrspace(1) %q\n"
        "  %w = shufflevector <4 x float> %v, <4 x float> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>\n"
        f"  %e = extractelement <4 x float> %w, i32 {index}\n"
        f"  %x = {inserted.replace('%v', '%w')}\n"
        "  store <4 x float> %x, ptr addrspace(1) %q\n  ret void"
    )
    assert coarsen(source).opencl_c.startswith("kernel void k(")


def test_structures_whose_names_need_quotes() -> None:
    body = '%q = getelementptr %"struct.ä b", ptr addrspace(1) %p, i64 %id, i32 1\n  ' + STORE
    source = module(body, before='%"struct.ä b" = type { i32, float }\n%struct.___b = type { i64 }')
    assert "1.0f" in coarsen(source).opencl_c
