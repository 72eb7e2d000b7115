"""The versions of a tuned file as sources of their own, for a host program in C, with the header that chooses.

choose.h        which version, with which sizes
version_0.cl    its macros defined, coarsened where the version is one launch
version_1_k.cl  the kernel k of a version of several launches, which is coarsened
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coarsen.base.files import read_file
from coarsen.base.limits import MOST_INPUT_BYTES
from coarsen.dispatch.header import c_header, comment_text
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.frontend.lower import lower
from coarsen.frontend.source_text import hash_with_headers
from coarsen.pipeline import run_pipeline
from coarsen.policy.tuned_checks import check_arguments, check_definitions, uses_arguments
from coarsen.runtime.text_cache.signature import signature_of
from coarsen.variant.variant import Variant

HEADER = "choose.h"


def exported_files(file: TunedFile, source: Path) -> Iterator[tuple[str, str]]:
    """Return the names and texts of the files for a host program.

    Args:
        file: the tuned file.
        source: the kernel's file, that was tuned.

    Raises:
        InvalidInputError: the source is another, does not compile, has other arguments or declares other macros
            than the file; or the header can't choose between versions.
    """
    text = read_file(source, MOST_INPUT_BYTES).decode(errors="replace")
    if hash_with_headers(text, file.build_options, source.parent) != file.source_hash:
        raise InvalidInputError(f"{source}: it is not the source that was tuned; tune it again")
    check_definitions(file, text, str(source))
    if uses_arguments(file):
        check_arguments(file, signature_of(lower(source, file.kernel, file.build_options)))
    macros = {name for version in file.versions for name, _ in version.variant.definitions}
    prepared = source_without_pragmas(text, str(source), macros)
    header = c_header(file)
    yield HEADER, header
    for number, version in enumerate(file.versions):
        coarsened = {
            each.kernel: version.variant_of(each, file.kernel) for each in version.launches if each.coarsened
        }
        # Of several launches those kernels that are coarsened have programs of their own.
        variant = version.variant.uncoarsened() if coarsened else version.variant
        made = _coarsened(file, prepared, file.kernel, variant) if variant.is_rewritten else prepared
        yield f"version_{number}.cl", f"{_first_lines(file, variant, file.kernel)}{made}"
        for kernel, variant in coarsened.items():
            made = _coarsened(file, prepared, kernel, variant)
            yield f"version_{number}_{kernel}.cl", f"{_first_lines(file, variant, kernel)}{made}"


def _first_lines(file: TunedFile, variant: Variant, kernel: str) -> str:
    """Return what the version is, how it is built, and for a source as it was written the values of its macros."""
    options = comment_text(" ".join(file.build_options), MOST_INPUT_BYTES)
    lines = [f"/* {kernel}: {variant}. Build with: {options} */"]
    if not variant.is_rewritten:
        lines += [f"#define {name} {value}" for name, value in variant.definitions]
    return "".join(f"{line}\n" for line in lines)


def _coarsened(file: TunedFile, prepared: str, kernel: str, variant: Variant) -> str:
    options = [*file.build_options, *(f"-D{name}={value}" for name, value in variant.definitions)]
    return run_pipeline(lower(prepared, kernel, options), variant).opencl_c
