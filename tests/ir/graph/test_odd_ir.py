"""LLVM IR that clang does not write for OpenCL: read, to the letter, or refused with a code and a place."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coarsen.errors import RefusalError, SourcePosition
from coarsen.frontend.lower import lower
from coarsen.ir.graph import module_parser
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.operands import Constant, Variable
from coarsen.ir.graph.printer import instruction_text, module_text
from coarsen.ir.graph.rewriting import copy_module
from coarsen.ir.modules import assembly_module
from coarsen.ir.types import IntegerType, StructType, Type, parse_type
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel

AROUND = """\
{before}
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n){attributes} {{
entry:
  {line}
  ret void
}}
{after}
"""


def module(line: str, before: str = "", attributes: str = "", after: str = "") -> str:
    """A module of LLVM IR around one line of a kernel."""
    return AROUND.format(line=line, before=before, attributes=attributes, after=after)


READ = {
    "assumptions": module(
        'call void @llvm.assume(i1 true) [ "align"(ptr addrspace(1) %p, i64 16), "nonnull"(ptr addrspace(1) %p) ]',
        "declare void @llvm.assume(i1)",
    ),
    "convergence": module(
        "%t = call token @llvm.experimental.convergence.entry()\n"
        '  call spir_func void @_Z7barrierj(i32 %n) #0 [ "convergencectrl"(token %t) ]',
        "declare token @llvm.experimental.convergence.entry()\ndeclare spir_func void @_Z7barrierj(i32) #0",
        " #0",
        "attributes #0 = { convergent nounwind }",
    ),
    "inline assembly": module('%r = call i32 asm sideeffect "mov $0, $1", "=r,r"(i32 %n)'),
    "an opaque type": module(
        "%v = getelementptr %held, ptr null, i64 1", "%unknown = type opaque\n%held = type { ptr, i32 }"
    ),
    "a comdat": module(
        "%v = load i32, ptr addrspace(2) @c, align 4",
        "$c = comdat any\n\n@c = linkonce_odr addrspace(2) constant i32 1, comdat, align 4",
    ),
    "an alias that nothing uses": module(
        "%v = load i32, ptr addrspace(2) @v, align 4",
        "@v = internal addrspace(2) constant i32 5\n\n@other = alias i32, ptr addrspace(2) @v",
    ),
    "an ifunc that nothing uses": module(
        "store i32 1, ptr addrspace(1) %p, align 4",
        "@i = ifunc void (), ptr @choose\n\ndefine ptr @choose() {\nentry:\n  ret ptr null\n}\n",
    ),
    "attributes in quotes": module("store i32 1, ptr addrspace(1) %p, align 4").replace(
        "i32 %n", 'i32 "kind"="number" "plain" %n'
    ),
    "a function as an argument": module(
        "call spir_func void @takes(ptr @given)",
        "declare spir_func void @given()\n\ndeclare spir_func void @takes(ptr)",
    ),
    "metadata as an operand": module(
        "%r = call i32 @llvm.read_register.i32(metadata !0)",
        "declare i32 @llvm.read_register.i32(metadata)",
        after='!0 = !{!"sp\\00"}',
    ),
    "metadata of any name": module("store i32 1, ptr addrspace(1) %p, align 4", after="!a-b$c = !{!0}\n!0 = !{}"),
    "a section": module(
        "%v = load i32, ptr addrspace(2) @v, align 4",
        '@v = internal addrspace(2) constant i32 3, section "a, align 64, !dbg !1", align 4',
    ),
    "a string like a variable": module(
        'store { [2 x i8], ptr addrspace(3) } { [2 x i8] c"@v", ptr addrspace(3) @v }, ptr addrspace(1) %p',
        "@v = internal addrspace(3) global i32 undef, align 4",
    ),
    "a string like metadata": module('store [9 x i8] c", !dbg !1", ptr addrspace(1) %p, align 1'),
}  # fmt: skip
DEBUG = """
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "own.cl", directory: "/")
!4 = !DISubroutineType(types: !{})
!5 = distinct !DISubprogram(name: "k", file: !2, line: 3, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!8 = !DILocation(line: 4, column: 7, scope: !5)
"""
REFUSED = {
    "va_arg": "%v = va_arg ptr null, i32",
    "a scalable vector": "store <vscale x 4 x i32> zeroinitializer, ptr addrspace(1) %p, align 16",
    "a block's address": (
        "store ptr blockaddress(@k, %next), ptr addrspace(1) %p, align 8\n  br label %next\nnext:\n"
        "  store i64 ptrtoint (ptr blockaddress(@k, %next) to i64), ptr addrspace(1) %p, align 8"
    ),
    "a signed pointer": "store ptr ptrauth (ptr @f, i32 1), ptr addrspace(1) %p, align 8",
    "a function without checks": "store ptr no_cfi @f, ptr addrspace(1) %p, align 8",
    "an alias": "call void @other()",
}


def printed_by_llvm(text: str) -> str:
    with assembly_module(text) as parsed:
        return str(parsed)


@pytest.mark.parametrize("word", READ)
def test_what_is_read_comes_back_to_the_letter(word: str) -> None:
    expected = printed_by_llvm(READ[word])
    read = parse_module(expected)
    copied, _ = copy_module(read)
    assert printed_by_llvm(module_text(read)) == expected
    assert printed_by_llvm(module_text(copied)) == expected


@pytest.mark.parametrize("word", REFUSED)
def test_what_is_not_read_is_refused_where_it_stands(word: str) -> None:
    before = "declare void @f()\n@other = alias void (), ptr @k"
    text = module(f"{REFUSED[word]}, !dbg !8", before, " !dbg !5", DEBUG)
    with pytest.raises(RefusalError) as caught:
        lower(text)
    assert caught.value.code in ("unsupported-instruction", "unsupported-type")
    assert "\n" not in str(caught.value)
    if word not in ("a scalable vector", "a block's address"):  # refused for the whole text, before it is read
        assert caught.value.position == SourcePosition(4, 7)


@pytest.mark.parametrize(
    "line",
    [
        *REFUSED.values(),
        "%v = alloca inalloca i32, align 4",
        "invoke void @f() to label %entry unwind label %entry",
    ],
)
def test_the_parser_refuses_with_a_code(line: str) -> None:
    with pytest.raises(RefusalError, match=r"\[unsupported-instruction\]"):
        parse_module(module(line, "declare void @f()"))


@pytest.mark.parametrize("definition", ["alias void (i32), ptr @f", "ifunc void (i32), ptr @f"])
def test_functions_of_several_names_are_not_called_recursive(definition: str) -> None:
    before = f"@other = {definition}\n\ndefine ptr @f(i32 %x) {{\n  ret ptr null\n}}"
    with pytest.raises(
        RefusalError, match=r"'@other', another name of the function 'f', .*\[unsupported-instruction\]"
    ):
        lower(module("call void @other(i32 1)", before))


def test_operands_of_bundles_are_replaced_and_no_arguments() -> None:
    function = parse_module(READ["assumptions"]).function("k")
    assume, *_ = function.entry.instructions
    assert [operand.text for operand in assume.arguments] == ["true"]
    function.arguments[0].replace_all_uses(Constant(function.arguments[0].type, "null"))
    assert instruction_text(assume).endswith(
        '[ "align"(ptr addrspace(1) null, i64 16), "nonnull"(ptr addrspace(1) null) ]'
    )
    kernel = lower(READ["assumptions"])
    assert [len(i.arguments) for i in kernel.instructions() if i.callee] == [1]


def test_a_string_keeps_what_looks_like_a_variable() -> None:
    read = parse_module(READ["a string like a variable"])
    variable = read.variables["v"]
    variable.replace_all_uses(Variable("v.1", 3, variable.definition))
    (store, _) = read.function("k").entry.instructions
    assert '{ [2 x i8] c"@v", ptr addrspace(3) @v.1 }' in instruction_text(store)


def test_a_kernel_with_assumptions_is_coarsened() -> None:
    coarsened = coarsen_kernel(lower(READ["assumptions"]), [Coarsening(2, 0)])
    assert any(i.callee == "llvm.assume" for i in coarsened.instructions())


def test_structures_inside_of_structures_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(text: str, structures: Mapping[str, StructType]) -> Type:
        parsed.append(text)
        return parse_type(text, structures)

    monkeypatch.setattr(module_parser, "parse_type", counted)
    lines = [f"%s{n} = type {{ i32, %s{n + 1} }}" for n in range(50)]
    module = parse_module("\n".join([*lines, "%s50 = type { i32 }"]) + "\n")
    assert len(parsed) == 51
    assert list(module.structures) == [f"s{n}" for n in range(51)]
    innermost: Type = module.structures["s0"]
    while isinstance(innermost, StructType) and len(innermost.elements) > 1:
        innermost = innermost.elements[1]
    assert innermost == StructType("s50", (IntegerType(32),))


def test_a_structure_inside_of_itself_is_refused() -> None:
    with pytest.raises(RefusalError, match=r"\[unsupported-instruction\]"):
        parse_module("%a = type { %b }\n%b = type { %a }\n")


def test_constants_know_their_numbers() -> None:
    kernel = lower(module("%v = add i32 %n, -7\n  store i32 %v, ptr addrspace(1) null"))
    (add,) = [i for i in kernel.instructions() if i.opcode == "add"]
    assert [operand.number for operand in add.operands] == [None, -7]
    assert add.operands[1].type == IntegerType(32)
