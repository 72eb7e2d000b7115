"""A tuned file of the program's own source that says something else than the source is refused, or its version is.

A file may come from anybody: what it says of macros, arguments and sizes must not change what a kernel computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_text import source_hash_of
from coarsen.policy.tuned_checks import check_definitions, problem_of_sizes
from coarsen.runtime.launch import LaunchLimits
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.runtime.tuned_files import ARGUMENTS, VERSIONS, Product, built, small_file, tuned

WORDS = """
#define rows 0
#define columns 1
#pragma coarsen select IMPL rows,columns
#pragma coarsen values 16,32,64
#define BLOCK 16
#pragma coarsen where BLOCK * IMPL <= 32
kernel void f(global int *y, int n)
{
#if IMPL == columns
    y[get_global_id(0)] = 2 * BLOCK;
#else
    y[get_global_id(0)] = BLOCK;
#endif
}
"""
OWN = (("BLOCK", "16"), ("IMPL", "0"))


def with_macros(
    *macros: tuple[tuple[str, str], ...], source: str = WORDS, device: cl.Device | None = None
) -> TunedFile:
    """A file whose versions have these macros, the first by default; the last is chosen."""
    launch = (TunedLaunch("f", ("n",)),)
    return TunedFile(
        kernel="f",
        arguments=(KernelArgument("y", ArgumentKind.BUFFER), KernelArgument("n", ArgumentKind.WHOLE)),
        source_hash=source_hash_of(source),
        device="" if device is None else device.name.strip(),
        driver="" if device is None else device.driver_version.strip(),
        build_options=(),
        coarsen_version=__version__,
        features=(),
        versions=tuple(TunedVersion(Variant((16,), (), each), launch) for each in macros),
        default=0,
        tree=Leaf(len(macros) - 1),
    )


@pytest.mark.parametrize(
    ("macros", "message"),
    [
        ((("float", "int"), *OWN), "version 1 of its tuned file defines float, which no pragma of the source"),
        ((("rows", "1"), *OWN), "version 1 of its tuned file defines rows, which no pragma of the source"),
        ((("get_global_id(x)", "0"), *OWN), "can't be called 'get_global_id"),
        ((("BLOCK", "8"),), "version 1 of its tuned file defines BLOCK as 8, which is none of the values"),
        ((("IMPL", "2"),), "version 1 of its tuned file defines IMPL as 2, which is none of the values"),
        ((("IMPL", "columns"),), "version 1 of its tuned file defines IMPL as columns, which is none"),
        ((("IMPL", "1"), ("BLOCK", "64")), r"version 1 of its tuned file has values .* rules out: where BLOCK"),
    ],
)
def test_macros_that_the_source_does_not_declare_are_refused(
    macros: tuple[tuple[str, str], ...], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        check_definitions(with_macros(OWN, macros), WORDS)


def test_a_default_version_that_the_source_does_not_build_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has IMPL=1, and the source builds IMPL=0: tune it again"):
        check_definitions(with_macros((("BLOCK", "16"), ("IMPL", "1"))), WORDS)
    check_definitions(with_macros(OWN, (("BLOCK", "32"), ("IMPL", "1"))), WORDS)


@pytest.mark.compiled_devices
def test_a_selects_implementations_are_what_plain_pyopencl_builds(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    """The source alone, `-D`, a factor and a tuned file agree on what an implementation is."""
    file = with_macros(OWN, (("BLOCK", "32"), ("IMPL", "1")), device=context.devices[0])
    y = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64 * 4)

    def found(program: cl.Program) -> Sequence[int]:
        program.f(queue, (64,), (16,), y, np.int32(64))
        values = np.empty(64, np.int32)
        cl.enqueue_copy(queue, values, y)
        return sorted(set(values.tolist()))

    assert found(cl.Program(context, WORDS).build()) == [16]
    assert found(cl.Program(context, WORDS).build("-DIMPL=1")) == [32]
    assert found(coarsen.Program(context, WORDS, factor=4).build()) == [16]
    assert found(coarsen.Program(context, WORDS, factor=4).build("-DIMPL=1")) == [32]
    assert found(coarsen.Program(context, WORDS, tuned=replace(file, tree=Leaf(0))).build()) == [16]
    assert found(coarsen.Program(context, WORDS, tuned=file).build()) == [64]
    # Other sizes are those of the source as it stands, which is the default version.
    program = coarsen.Program(context, WORDS, tuned=file).build()
    program.f(queue, (32,), (32,), y, np.int32(64))


SWAPPED = (*ARGUMENTS[:2], ARGUMENTS[3], ARGUMENTS[2], ARGUMENTS[4])


@pytest.mark.compiled_devices
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (SWAPPED, "its argument 2 is width, and height in its tuned file"),
        (
            (*ARGUMENTS[:2], KernelArgument("width", ArgumentKind.REAL), *ARGUMENTS[3:]),
            "its argument width is of the kind whole, and real in its tuned file",
        ),
        (
            (KernelArgument("a", ArgumentKind.LOCAL), *ARGUMENTS[1:]),
            "its argument a is of the kind buffer, and local in its tuned file",
        ),
    ],
)
def test_arguments_that_are_not_the_kernels_are_refused(
    context: cl.Context, arguments: tuple[KernelArgument, ...], message: str
) -> None:
    for _ in range(2):  # the second time, the kernel's own come from the cache
        with pytest.raises(InvalidInputError, match=message):
            built(context, small_file(context.devices[0], arguments=arguments))


@pytest.mark.compiled_devices
def test_a_macro_that_renames_a_type_is_refused(context: cl.Context) -> None:
    wrong = replace(VERSIONS[1], variant=replace(VERSIONS[1].variant, definitions=(("int", "float"),)))
    wrong = replace(wrong, launches=VERSIONS[0].launches)
    with pytest.raises(InvalidInputError, match="version 1 of its tuned file defines int, which no pragma"):
        built(context, small_file(context.devices[0], versions=(VERSIONS[0], wrong)))


LIMITS = LaunchLimits(256, (256, 256, 64))


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (Variant((64,), (Coarsening(3),)), "factor 3 along dimension 0 doesn't divide its local size"),
        (Variant((64,), (Coarsening(128),)), "factor 128 along dimension 0 doesn't divide"),
        (Variant((64,), (Coarsening(4, 0, 32),)), "with stride 32 doesn't divide"),
        (Variant((64,), (Coarsening(2, 1),)), "merges along dimension 1, which its local size"),
        (Variant((512,)), "a work-group of 512 work-items is too large for the device"),
        (Variant((1, 1, 128)), "a work-group of 1x1x128 work-items is too large"),
        (Variant((32, 32), (Coarsening(2, 0, 1, Level.GROUP),)), "a work-group of 32x32"),
        (Variant((512,), (Coarsening(2),)), ""),
        (Variant((), (Coarsening(3),)), ""),
        (Variant((1, 64), (Coarsening(4),)), ""),
    ],
)
def test_a_version_that_no_launch_can_have(variant: Variant, message: str) -> None:
    found = problem_of_sizes(variant, [LIMITS])
    assert message in found and bool(found) == bool(message)


def test_a_factor_that_would_be_built_for_minutes_is_refused() -> None:
    version = TunedVersion(Variant((), (Coarsening(512),)), (TunedLaunch("f", ("n",)),))
    with pytest.raises(InvalidInputError, match="a version merges 512 work-items into one, more than 256"):
        replace(with_macros((), source=WORDS), versions=(TunedVersion(Variant(), version.launches), version))


@pytest.mark.compiled_devices
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (
            TunedVersion(Variant((64,), (Coarsening(48),)), VERSIONS[0].launches),
            "the factor 48 along dimension 0 doesn't divide its local size (64,)",
        ),
        (
            TunedVersion(Variant((16,)), (TunedLaunch("mv", ("height * 70368744177664 * 16",)),)),
            "it has too many work-items",
        ),
        (
            TunedVersion(Variant((16,)), (TunedLaunch("mv", ("height * 4611686018427387904",)),)),
            "its sizes have no value",
        ),
        (TunedVersion(Variant((16,)), (TunedLaunch("mv", ("height * 16 + 1",)),)), "doesn't divide its global"),
    ],
)
def test_the_reason_against_a_version_is_said(
    version: TunedVersion,
    reason: str,
    context: cl.Context,
    queue: cl.CommandQueue,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = small_file(context.devices[0], versions=(VERSIONS[0], version), tree=Leaf(1), features=())
    program, product = built(context, file), Product(queue, 40, 3)
    program.mv(queue, *product.sizes, *product.arguments)
    product.check()
    tuned(program).launch(queue, *product.arguments)
    product.check()
    said = [
        record.message
        for record in caplog.records
        if "the version 1, which can't be launched so: " in record.message
    ]
    assert len(said) == 1 and reason in said[0]


@pytest.mark.compiled_devices
def test_what_a_terminal_would_obey_is_shown(context: cl.Context, caplog: pytest.LogCaptureFixture) -> None:
    escape = "\x1b]0;owned\x07\x9b31m"
    for field in ("device", "driver", "coarsen_version"):
        caplog.clear()
        built(context, small_file(context.devices[0], **{field: escape}))
        assert r"\x1b]0;owned\x07\x9b31m" in caplog.text and "\x1b" not in caplog.text
    caplog.clear()
    built(context, small_file(context.devices[0], build_options=(f"-DA={escape}",)))
    assert r"\x1b]0;owned\x07" in caplog.text and "\x1b" not in caplog.text
