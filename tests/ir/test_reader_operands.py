"""Types and operands that the reader takes from the text are those that LLVM's own objects give."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import assembly_module
from coarsen.ir.types import parse_type

KERNELS = sorted((Path(__file__).parents[1] / "frontend" / "kernels").glob("*.cl"))
KERNELS += sorted((Path(__file__).parents[2] / "opencl_bench" / "kernels").glob("*.cl"))
NAMED = {ValueKind.INSTRUCTION, ValueKind.ARGUMENT, ValueKind.GLOBAL, ValueKind.FUNCTION}


def asked_of_llvm(kernel: Kernel) -> list[tuple[str, str, list[str]]]:
    """Opcode, type and operands' names (constants left out) of every instruction, asked of LLVM one by one."""
    with assembly_module(module_text(kernel.graph)) as module:
        return [
            (
                instruction.opcode,
                str(parse_type(str(instruction.type))),
                [operand.name for operand in instruction.operands if operand.name],
            )
            for block in module.get_function(kernel.name).blocks
            for instruction in block.instructions
        ]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_operands_are_those_of_llvm(path: Path) -> None:
    options = "-cl-std=CL2.0" if "generic" in path.stem else ""
    for name in kernel_names(path):
        kernel = lower(path, name, options)
        read = [(i.opcode, str(i.type), named_operands(i)) for i in kernel.instructions()]
        assert read == asked_of_llvm(kernel)


def named_operands(instruction: Instruction) -> list[str]:
    """The names of operands and targets in LLVM's order, in which a branch's last target is first."""
    names = [operand.text for operand in instruction.operands if operand.kind in NAMED]
    return [*names, *reversed(instruction.targets)]


def kernel_names(path: Path) -> list[str]:
    """The kernels of a file, by the words after `kernel void`."""
    words = path.read_text().replace("(", " ").split()
    return [words[i + 2] for i in range(len(words) - 2) if words[i : i + 2] == ["kernel", "void"]]
