"""Facts of machine code: sections and functions of ELF files, and what x86-64 instructions do."""

from __future__ import annotations

import pytest

from coarsen.devices.compiled import x86
from coarsen.devices.compiled.code_loops import Step, loop_depths
from coarsen.devices.compiled.elf import functions, sections
from coarsen.devices.compiled.machine_code import facts_of_code
from coarsen.devices.compiled.x86 import MachineCode, x86_code
from coarsen.models.compiled.facts import CompiledFacts
from tests.devices.compiled.files import AARCH64, SCALE, elf, with_function


def test_a_function_is_found_by_its_name() -> None:
    file = elf({".text": b"\x90" * 4 + SCALE, ".ocl.meta": b"12"}, {"other": (0, 4), "scale": (4, len(SCALE))})
    assert functions(file) == {"other": b"\x90" * 4, "scale": SCALE}
    assert sections(file)[".ocl.meta"] == b"12"


def test_what_is_cut_off_has_no_functions_that_it_lacks() -> None:
    file = with_function("scale")
    for length in range(0, len(file), 7):
        assert functions(file[:length]) in ({}, {"scale": SCALE})
    assert functions(b"\x7fELF" + b"\xff" * 200) == {}
    assert functions(b"") == {}


def test_another_machine_s_code_is_not_read() -> None:
    assert functions(with_function("scale", machine=AARCH64)) == {}


def test_a_vectorised_function() -> None:
    code = x86_code(SCALE)
    assert code is not None
    assert (code.instructions, code.gathers, code.scatters) == (39, 0, 0)
    assert (code.spilled_bytes, code.frame_bytes) == (0, 0)
    # Five instructions in either loop, twenty-nine in none.
    assert code.weighted_instructions == 29 + 8 * 10
    # In one loop two of 64 bytes, in the other two of 4; outside four of 8, `by` loaded and broadcast.
    assert code.operation_bytes == pytest.approx((8 * (2 * 64 + 2 * 4) + 4 * 8 + 2 * 4) / (8 * 4 + 6))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # vmovss xmm0, [rdi]; vaddsd xmm0, xmm0, xmm1; ret
        ("c5fa1007 c5fb58c1 c3", MachineCode(3, 3.0, 6.0, 0, 0, 0, 0)),
        # vpmaxsd ymm0, ymm0, ymm1, which is packed although it ends in sd; vpabsd zmm0, zmm1
        ("c4e27d3dc1 62f27d481ec1 c3", MachineCode(3, 3.0, 48.0, 0, 0, 0, 0)),
        # sub rsp, 0x40; vmovups [rsp+0x20], ymm0; vmovups ymm1, [rsp+0x20]; vmovups [rsp], ymm2; ret
        ("4883ec40 c5fc11442420 c5fc104c2420 c5fc111424 c3", MachineCode(5, 5.0, None, 0, 0, 32, 64)),
        # vgatherdps zmm1{k1}, [rax+zmm0*4]; vscatterqps [rax+zmm7]{k1}, ymm8: once for each element
        ("62f27d49920c80 62727d49a30438", MachineCode(2, 2.0, 4.0, 1, 1, 0, 0)),
        # sub rsp, 8; lock cmpxchg [rsp], ecx, which loads and stores; add rsp, 8; ret
        ("4883ec08 f00fb10c24 4883c408 c3", MachineCode(4, 4.0, None, 0, 0, 4, 8)),
        # add rsp, -0x80; cmp qword [rsp], 0; sub rsp, -0x80; notrack jmp rax; ud2
        ("4883c480 48833c2400 4883ec80 3effe0 0f0b", MachineCode(5, 5.0, None, 0, 0, 0, 128)),
        # add dword [rdi], 1; lea rax, [rdi+8]; dec rcx; jne to the start
        ("830701 488d4708 48ffc9 75f4", MachineCode(4, 32.0, 4.0, 0, 0, 0, 0)),
    ],
)
def test_what_instructions_do(code: str, expected: MachineCode) -> None:
    assert x86_code(bytes.fromhex(code)) == expected


def test_code_that_is_not_known_to_the_end_has_no_facts() -> None:
    assert x86_code(SCALE + b"\x06") is None
    assert x86_code(b"") is None
    assert facts_of_code(SCALE + b"\x06") == CompiledFacts(code_bytes=len(SCALE) + 1)


def test_without_a_disassembler_the_size_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(x86, "disassembler_version", lambda: None)
    assert facts_of_code(SCALE) == CompiledFacts(code_bytes=len(SCALE))
    assert facts_of_code(None) == CompiledFacts()


def steps_of(*words: str) -> list[Step]:
    """Return steps at addresses 0, 10, …: `x`, `jmp 30`, `if 0` or `ret`."""
    return [
        Step(10 * place, int(word.split()[1]) if " " in word else None, not word.startswith(("jmp", "ret")))
        for place, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("words", "depths"),
    [
        (("x", "x", "ret"), [0, 0, 0]),
        (("x", "x", "if 10", "ret"), [0, 1, 1, 0]),
        (("x", "x", "if 20", "x", "if 10", "ret"), [0, 1, 2, 1, 1, 0]),
        # What seldom runs stands after the end and jumps back: no loop.
        (("x", "if 40", "x", "ret", "x", "jmp 20"), [0] * 6),
        # The same within a loop, of which it is a part.
        (("x", "if 50", "x", "if 0", "ret", "x", "jmp 20"), [1, 1, 1, 1, 0, 1, 1]),
        # Two jumps to one header are one loop, and a loop of two headers is none.
        (("x", "if 0", "x", "if 0", "ret"), [1, 1, 1, 1, 0]),
        (("if 20", "x", "x", "if 10", "ret"), [0] * 5),
        # Targets outside of the function, or within an instruction, and code that nothing leads to.
        (("x", "if 5", "if 900", "ret", "x", "jmp 40"), [0] * 6),
        (("x", "jmp -50"), [0, 0]),
    ],
)
def test_loops_are_those_of_the_control_flow(words: tuple[str, ...], depths: list[int]) -> None:
    assert loop_depths(steps_of(*words)) == depths
