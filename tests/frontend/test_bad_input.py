"""Bad input is told in clear words, never by a traceback, and never ends the process."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from coarsen.base.limits import MOST_INPUT_BYTES
from coarsen.errors import InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.modules import assembly_module

KERNEL = "kernel void store(global int *out) { out[get_global_id(0)] = 1; }"


def message_of(source: str | Path, kernel: str | None = None) -> str:
    with pytest.raises(InvalidInputError) as caught:
        lower(source, kernel)
    return str(caught.value)


def file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.cl"
    assert message_of(path) == f"{path}: No such file or directory"


def test_folder(tmp_path: Path) -> None:
    assert message_of(tmp_path) == f"{tmp_path}: Is a directory"


def test_device_and_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.cl"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        assert message_of(path) == f"{path}: not a regular file"


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.cl"
    with path.open("wb") as stream:
        stream.truncate(MOST_INPUT_BYTES + 1)
    told = "larger than 64 MiB, the most that is read of a kernel's source"
    assert message_of(path) == f"{path}: {told}"
    assert message_of(" " * (MOST_INPUT_BYTES + 1)) == f"the source: {told}"


@pytest.mark.parametrize("content", ["", " \n\t\n"])
@pytest.mark.parametrize("name", ["empty.cl", "empty.ll"])
def test_empty_file(tmp_path: Path, name: str, content: str) -> None:
    path = file(tmp_path, name, content)
    assert message_of(path) == f"{path}: the file is empty"


def test_binary_file(tmp_path: Path) -> None:
    path = file(tmp_path, "image.cl", b"\x89PNG\0\xff\xfe")
    assert message_of(path) == f"{path}: neither text nor LLVM bitcode"


def test_no_kernel() -> None:
    assert message_of("void helper(void) {}").startswith("there is no kernel in the source; ")


def test_several_kernels_and_none_chosen() -> None:
    several = KERNEL + KERNEL.replace("store", "other")
    assert message_of(several) == "there are several kernels, choose one with -k (kernel= in Python): store, other"


def test_unknown_kernel() -> None:
    assert message_of(KERNEL, "load") == "there is no kernel 'load'; there is: store"


def test_syntax_error_has_file_line_and_column(tmp_path: Path) -> None:
    path = file(tmp_path, "broken.cl", "kernel void store(global int *out) {\n  out[0] = 1\n}\n")
    assert message_of(path).splitlines()[0] == f"{path}:2:13: error: expected ';' after expression"


def test_an_error_is_shown_with_its_line_and_a_caret(tmp_path: Path) -> None:
    path = file(tmp_path, "broken.cl", "kernel void store(global int *out) {\n  out[0] = missing;\n}\n")
    _, line, caret = message_of(path).splitlines()
    assert line.endswith("  out[0] = missing;")
    assert caret.rstrip("~").endswith("^")
    assert caret.index("^") == line.index("missing")


def test_syntax_error_in_text() -> None:
    assert message_of("kernel void store() {\n  missing = 1;\n}").startswith("<source>:2:3: error: ")


@pytest.mark.parametrize(
    "statement",
    [
        "a[0] = work_group_reduce_add(a[1]);",
        "a[0] = get_enqueued_local_size(0) + get_global_linear_id() + ctz(4);",
        "atomic_fetch_add_explicit((global atomic_int *)a, 1, memory_order_relaxed, memory_scope_device);",
        "work_group_barrier(CLK_LOCAL_MEM_FENCE);",
        "generic int *p = a; p[0] = 1;",
    ],
)
def test_what_a_newer_standard_has_is_hinted_at(statement: str) -> None:
    source = f"kernel void k(global int *a) {{ {statement} }}"
    first, *_, last = message_of(source).splitlines()
    assert first.startswith("<source>:1:")
    assert last.startswith("this is compiled as OpenCL C 1.2, the default; --cl-std CL2.0 ")
    assert lower(source, options="-cl-std=CL2.0").name == "k"


@pytest.mark.parametrize("name", ["work_groups", "atomic_ad", "get_globl_id", "pipes"])
def test_a_misspelt_name_is_no_newer_standards(name: str) -> None:
    assert "1.2" not in message_of(f"kernel void k(global int *a) {{ a[0] = {name}; }}")


def test_who_chose_a_standard_needs_no_hint() -> None:
    with pytest.raises(InvalidInputError) as caught:
        lower("kernel void k(global int *a) { a[0] = work_group_any(1); }", options="-cl-std=CL1.1")
    assert "-cl-std=CL2.0" not in str(caught.value)


def test_error_in_included_file(tmp_path: Path) -> None:
    file(tmp_path, "helper.h", "\nint helper(int n) { return m; }\n")
    path = file(tmp_path, "kernel.cl", f'#include "helper.h"\n{KERNEL}')
    assert "helper.h:2:28: error: use of undeclared identifier 'm'" in message_of(path)


def test_warnings_do_not_hide_the_error() -> None:
    message = message_of("#warning careful\nkernel void store(global int *out) { out[0] = nothing; }")
    assert message.startswith("<source>:2:47: error: ")
    assert "careful" not in message


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\nint f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
         "kernel void k(global int *a) { a[0] = f(a[1]); }", 2),
        ("int g(int n);\nint f(int n) { return n < 2 ? n : g(n - 1) * 2; }\n"
         "int g(int n) { return n < 3 ? n : f(n - 2) + 1; }\nkernel void k(global int *a) { a[0] = f(a[1]); }", 3),
    ],
)  # fmt: skip
def test_recursion_is_refused_with_its_place(source: str, line: int) -> None:
    with pytest.raises(RefusalError, match="calls itself") as caught:
        lower(source)
    assert caught.value.code == "recursion"
    assert caught.value.position == SourcePosition(line, 1)


def test_kernel_that_calls_itself() -> None:
    with pytest.raises(RefusalError, match="the kernel 'k' calls itself"):
        lower("kernel void k(global int *a) { if (a[0]) { --a[0]; k(a); } }")


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "nvptx64-nvidia-cuda", "amdgcn-amd-amdhsa"])
def test_assembly_for_another_target(tmp_path: Path, triple: str) -> None:
    assembly = f'target triple="{triple}"\ndefine spir_kernel void @store() {{ ret void }}\n'
    expected = f"the LLVM IR is for '{triple}'; it must be for spir64 (clang's -target spir64)"
    assert message_of(assembly) == expected
    assert message_of(file(tmp_path, "kernel.ll", assembly)) == expected


def test_broken_assembly(tmp_path: Path) -> None:
    message = message_of(file(tmp_path, "kernel.ll", "define spir_kernel void @store({\n"))
    assert message.startswith(f"not LLVM IR that LLVM {llvm.llvm_version_info[0]} reads: line 2:1: ")
    assert "\n" not in message


def bitcode() -> bytes:
    with assembly_module(module_text(lower(KERNEL).graph)) as module:
        content: bytes = module.as_bitcode()
    return content


def test_truncated_bitcode(tmp_path: Path) -> None:
    message = message_of(file(tmp_path, "kernel.bc", bitcode()[:700]))
    assert f"bitcode that LLVM {llvm.llvm_version_info[0]} can't read (" in message
    assert "\n" not in message


def test_not_bitcode(tmp_path: Path) -> None:
    path = file(tmp_path, "kernel.bc", KERNEL)
    assert message_of(path) == f"{path}: not LLVM bitcode"


def test_bitcode_of_a_newer_llvm(tmp_path: Path) -> None:
    # The identification block comes first, its length in words at byte 8. Its last record is the epoch, which LLVM
    # raises when older readers can't follow: 0 so far, 1 here.
    newer = bytearray(bitcode())
    (words,) = struct.unpack_from("<I", newer, 8)
    newer[12 + 4 * words - 4] ^= 1 << 3
    message = message_of(file(tmp_path, "newer.bc", bytes(newer)))
    assert "Incompatible epoch: Bitcode '1' vs current: '0'" in message
    assert "\n" not in message


def test_damaged_bitcode_never_ends_the_process(tmp_path: Path) -> None:
    content = bitcode()
    for position in range(300, 700, 88):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        try:
            lower(file(tmp_path, f"{position}.bc", bytes(damaged)))
        except InvalidInputError as error:
            assert "\n" not in str(error)
