"""What PyOpenCL does with a program and its kernels works on ours, and launches by any route run coarsened."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Callable

import pyopencl as cl
import pytest
from pyopencl import _cl

import coarsen
from coarsen.drop_in.program import Program
from coarsen.runtime.kernel import Kernel
from tests.runtime.hand_coarsened import SOURCE, HandToolchain
from tests.runtime.launch_routes import (
    ROUTES,
    SIZE,
    Anything,
    Buffers,
    program_of,
)

pytestmark = pytest.mark.compiled_devices


@pytest.mark.parametrize("launch", ROUTES, ids=lambda route: route.__name__)
def test_a_launch_by_any_route_runs_coarsened(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    launch: Callable[[cl.CommandQueue, Program, Buffers], None],
) -> None:
    launch(queue, program_of(context), buffers)
    assert buffers.factor(queue) == 4


def test_kernels_of_others_are_pyopencls_own(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    names = cl.Kernel, cl.enqueue_nd_range_kernel
    program_of(context)
    program_of(context)
    plain = cl.Program(context, SOURCE).build()
    for kernel in (cl.Kernel(plain, "record"), plain.record, plain.all_kernels()[0]):
        assert type(kernel) is _cl.Kernel and isinstance(kernel, cl.Kernel)
    plain.record.set_args(*buffers.all)
    kernel = plain.record
    kernel.set_args(*buffers.all)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), None)
    assert buffers.factor(queue) == 1
    if names[0] is not _cl.Kernel:
        assert (cl.Kernel, cl.enqueue_nd_range_kernel) == names, "put there once"


def test_the_class_of_kernels_is_one_as_before(context: cl.Context) -> None:
    program = program_of(context)

    class Own(cl.Kernel):
        """A class derived from PyOpenCL's."""

    own = Own(cl.Program(context, SOURCE).build(), "record")
    assert isinstance(own, Own) and isinstance(own, _cl.Kernel) and own.num_args == 4
    assert issubclass(Kernel, cl.Kernel) and not isinstance(program, cl.Kernel)
    assert cl.Kernel.set_args is _cl.Kernel.set_args and cl.Kernel == _cl.Kernel
    with pytest.raises(cl.LogicError, match="INVALID_KERNEL_NAME"):
        cl.Kernel(program, "nothing")


def test_an_import_changes_nothing_in_pyopencl() -> None:
    code = (
        "import coarsen, coarsen.drop_in.program, pyopencl as cl; from pyopencl import _cl; "
        "assert cl.Kernel is _cl.Kernel and cl.enqueue_nd_range_kernel is _cl.enqueue_nd_range_kernel"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_program_and_its_kernels_say_what_they_are(context: cl.Context) -> None:
    program = program_of(context)
    kernel = program.record
    assert kernel.program is program and kernel.get_info(cl.kernel_info.PROGRAM) is program
    assert kernel.get_info(cl.kernel_info.FUNCTION_NAME) == "record"
    same = Program.from_int_ptr(program.int_ptr)
    assert type(same) is Program and same == program and hash(same) == hash(program)
    assert same.record.num_args == 4
    for whole in (program, kernel):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(whole)


def _error_of(code: Callable[[], object]) -> tuple[type[Exception], str]:
    with pytest.raises(Exception) as caught:
        code()
    return caught.type, str(caught.value)


def test_variants_are_not_coarsened_again_where_pyopencl_names_our_class(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Coarsened(Program):
        def __init__(self, context: cl.Context, source: str) -> None:
            made.append(source)
            super().__init__(context, source, factor=4, kernels=["record"], toolchain=HandToolchain())

    monkeypatch.setattr(cl, "Program", Coarsened)
    program: Anything = cl.Program(context, SOURCE).build()
    program.record(queue, (SIZE,), (16,), *buffers.all)
    assert buffers.factor(queue) == 4
    assert made == [SOURCE]


def test_options_of_a_launch_are_taken_by_position(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    # The offset's and the multiplication's places: 6 times 16 work-items.
    kernel(queue, (SIZE // 16,), (16,), *buffers.all, None, True)
    assert buffers.factor(queue) == 4
    with pytest.raises(TypeError, match="multiple values"):
        kernel(queue, (SIZE // 16,), (16,), *buffers.all, None, True, g_times_l=True)
    with pytest.raises(TypeError):
        kernel(queue, (SIZE,), (16,), *buffers.all, None, False, False, None, 5)


def test_what_pyopencl_rejects_is_rejected_in_its_words(context: cl.Context, buffers: Buffers) -> None:
    ours: Anything = program_of(context)
    plain: Anything = cl.Program(context, SOURCE).build()
    assert _error_of(lambda: ours.nothing) == _error_of(lambda: plain.nothing)
    kind, words = _error_of(lambda: ours.record(None, (SIZE,), None, *buffers.all))
    assert kind is TypeError and "incompatible function arguments" in words
    unbuilt: Anything = Program(context, SOURCE)
    before_build: Anything = cl.Program(context, SOURCE)
    kind, words = _error_of(lambda: before_build.record)
    assert _error_of(lambda: unbuilt.record) == (kind, f"{words}; kernels come with build()")


def test_a_kernel_made_from_its_address_is_the_same_and_of_its_class(context: cl.Context) -> None:
    kernel: Anything = program_of(context).record
    same = type(kernel).from_int_ptr(kernel.int_ptr)
    assert type(same) is type(kernel) and same == kernel and same.program is kernel.program
    plain: Anything = _cl.Kernel(cl.Program(context, SOURCE).build(), "record")
    assert type(kernel).from_int_ptr(plain.int_ptr) == plain


def test_a_call_is_captured_as_a_script(context: cl.Context, queue: cl.CommandQueue, buffers: Buffers) -> None:
    script = io.StringIO()
    kernel = program_of(context).record
    kernel.capture_call(script, queue, (SIZE,), None, *buffers.all)
    assert "kernel void record" in script.getvalue()


def test_other_forms_of_programs_run_as_they_are(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    binaries: Anything = cl.Program(context, SOURCE).build().get_info(cl.program_info.BINARIES)
    inner: Anything = _cl._Program
    forms: list[tuple[Anything, ...]] = [(context, context.devices, binaries), (inner(context, SOURCE),)]
    if context.devices[0].il_version:
        forms.append((context, coarsen.coarsen(SOURCE, kernel="record", factor=1).spirv))
    for form in forms:
        caplog.clear()
        program = Program(*form, factor=4).build()
        fresh = Buffers(context)
        program.record(queue, (SIZE,), (16,), *fresh.all)
        assert fresh.factor(queue) == 1
        assert [kernel.function_name for kernel in program.all_kernels()][:1] == ["record"]
        assert len(caplog.messages) == 1 and "is not coarsened" in caplog.messages[0]


def test_compiled_and_linked_programs_run_as_they_are(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    unbuilt = Program(context, SOURCE, factor=4, toolchain=HandToolchain())
    link: Anything = cl.link_program
    linked = link(context, [unbuilt.compile()])
    linked.record(queue, (SIZE,), (16,), *buffers.all)
    assert buffers.factor(queue) == 1
    assert len(caplog.messages) == 1 and "build() it in one step" in caplog.messages[0]
