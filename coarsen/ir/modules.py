"""LLVM modules with an explicit end, and passes over them.

llvmlite frees modules and contexts when Python collects them. Objects of one garbage cycle (an exception's
traceback makes cycles) may be collected in any order, and a module that is freed after its context crashes the
process; hence both are closed here, in the right order, whatever happens in between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import llvmlite.binding as llvm


@contextmanager
def assembly_module(text: str) -> Iterator[Any]:
    """Parse and verify LLVM IR text. Raises RuntimeError, with LLVM's message, if it isn't valid."""
    with _open(lambda context: llvm.parse_assembly(text, context)) as module:
        yield module


@contextmanager
def bitcode_module(content: bytes) -> Iterator[Any]:
    """Read and verify bitcode. Raises RuntimeError, with LLVM's message, if it isn't valid."""
    with _open(lambda context: llvm.parse_bitcode(content, context)) as module:
        yield module


@contextmanager
def _open(parse: Callable[[Any], Any]) -> Iterator[Any]:
    context = llvm.create_context()
    try:
        module = parse(context)
        try:
            module.verify()
            yield module
        finally:
            module.close()
    finally:
        context.close()


def run_passes(module: Any, passes: Iterable[str], machine: Any = None) -> None:  # noqa: ANN401
    """Run LLVM passes, by llvmlite's names, over a module; the machine is the target they may ask about."""
    builder = llvm.create_pass_builder(machine or _spirv(), llvm.create_pipeline_tuning_options())
    _manager(tuple(passes)).run(module, builder)


@cache
def _manager(passes: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Return a manager of passes, which keeps nothing of the modules that it has run over."""
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    return manager


@cache
def _spirv() -> Any:  # noqa: ANN401
    """Return the target of modules that are for none in particular.

    It is made once, since that takes LLVM longer than most passes do; passes only ask it, and llvmlite lets one
    thread at a time into LLVM.
    """
    return target_machine("spirv64-unknown-unknown")


def target_machine(triple: str, processor: str = "") -> Any:  # noqa: ANN401
    """Return a machine that emits code for a target, for a processor if one is named."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple).create_target_machine(cpu=processor, opt=2)


def reason(error: RuntimeError) -> str:
    """Return LLVM's message on invalid text or bitcode in one line, without the words that introduce each."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if line not in ("LLVM IR parsing error", "LLVM bitcode parsing error")]
    return re.sub(r"^<string>:", "line ", (told or lines or ["no reason given"])[0])
