"""The cache of coarsened text: what is found in it and what is not, and that nothing in it can do harm."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.errors import InternalError, InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend import included
from coarsen.frontend.compile import files_read
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.included import included_files, tells_more_than_text
from coarsen.frontend.options import parse_options
from coarsen.ir.kernel import AddedArgument
from coarsen.runtime.text_cache import store, versions
from coarsen.runtime.text_cache import toolchain as cached
from coarsen.runtime.text_cache.entry import Entry, StoredKernel, entry_file, read_entry
from coarsen.runtime.text_cache.location import text_folder
from coarsen.runtime.text_cache.request_key import key_of
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.toolchain import CoarsenedKernel, CoarseningRequest
from coarsen.variant.transforms import Use

SOURCE = """
kernel void scale(global int *values, int by) {
    size_t item = get_global_id(0);
    values[item] = values[item] * by + (int)get_local_id(0);
}
"""
REFUSED = """
kernel void knot(global int *values, int count) {
    int i = 0;
    if (count > 3) goto inside;
again:
    values[i++] = 1;
inside:
    values[i++] = 2;
    if (i < count) goto again;
}
"""
REQUEST: CoarseningRequest = {
    "kernel": "scale",
    "factor": (4,),
    "dim": (0,),
    "stride": (1,),
    "level": ("item",),
    "any_size": False,
    "fast_path": "auto",
    "lock_step": "auto",
    "wide_accesses": False,
    "clean_up": True,
    "device_kind": "cpu",
    "options": (),
}
PLAIN = "kernel void plain(global int *values) { values[get_global_id(0)] *= 2; }"
ITEMS = 96
ADDED = (AddedArgument("global-size", 1),)
KERNEL = StoredKernel("kernel void scale() {}", None, "-cl-std=CL1.2", ADDED, True, False, 1 << 34, 2, ((0, 2),))


@dataclass
class Compiler:
    """Stands in for the compiler: returns the kernel or raises the refusal, and counts its calls."""

    outcome: StoredKernel | RefusalError | InvalidInputError = KERNEL
    calls: list[str] = field(default_factory=list)

    def __call__(self, source: str, **request: Unpack[CoarseningRequest]) -> CoarsenedKernel:
        self.calls.append(request["kernel"])
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def asked(compiler: Compiler, folder: Path, source: str = SOURCE, form: str = "opencl_c", **other: Any) -> Any:  # noqa: ANN401 (values of the request; a kernel)
    """The answer of a fresh cache in the folder to a request."""
    macros = other.pop("macros", PORTABLE)
    function = cached.CachedCoarsening(compiler, macros, form, Store(folder))
    request: Any = {**REQUEST, **other}
    return function(source, **request)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_the_second_time_nothing_is_coarsened(tmp_path: Path) -> None:
    compiler = Compiler()
    first, second = (asked(compiler, tmp_path / "text") for _ in range(2))
    assert first == second == KERNEL
    assert compiler.calls == ["scale"]


CHANGED_SOURCE = SOURCE.replace("+", "-")


@pytest.mark.parametrize(
    "changed",
    [
        {"source": CHANGED_SOURCE},
        {"kernel": "other"},
        {"factor": (2,)},
        {"dim": (1,)},
        {"stride": (2,)},
        {"level": ("group",)},
        {"any_size": True},
        {"fast_path": Use.NEVER.value},
        {"lock_step": "always"},
        {"clean_up": False},
        {"wide_accesses": True},
        {"device_kind": "gpu"},
        {"options": ("-DN=2",)},
        {"macros": DeviceMacros(frozenset({"cl_khr_fp64"}))},
        {"macros": DeviceMacros(opencl_version=200)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_each_part_of_a_request_counts(changed: dict[str, Any], tmp_path: Path) -> None:
    compiler = Compiler()
    asked(compiler, tmp_path)
    asked(compiler, tmp_path, **changed)
    asked(compiler, tmp_path, **changed)
    assert len(compiler.calls) == 2


def test_the_form_counts(tmp_path: Path) -> None:
    spirv = Compiler(replace(KERNEL, text=None, code=b"\x03\x02#\x07"))
    asked(Compiler(), tmp_path)
    for _ in range(2):
        assert asked(spirv, tmp_path, form="spirv").spirv == b"\x03\x02#\x07"
    assert len(spirv.calls) == 1
    with pytest.raises(InternalError, match="was cached as OpenCL C"):
        _ = asked(Compiler(), tmp_path).spirv


@pytest.mark.parametrize("name", ["coarsen", "code", "llvmlite", "ziglang", "clang"])
def test_each_version_counts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = versions._installed()
    assert installed is not None
    compiler = Compiler()
    asked(compiler, tmp_path)
    monkeypatch.setattr(versions, "_installed", lambda: {**installed, name: "another"})
    asked(compiler, tmp_path)
    assert len(compiler.calls) == 2


def test_other_compilers_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COARSEN_CLANG", "clang-99")
    compiler = Compiler()
    for _ in range(2):
        assert asked(compiler, tmp_path) == KERNEL
    assert len(compiler.calls) == 2
    assert not any(tmp_path.iterdir())


def test_all_code_that_coarsens_counts() -> None:
    """A module that takes part and isn't hashed would leave texts of older code in use."""
    for folder in versions.FOLDERS:
        assert (versions.PACKAGE / folder).is_dir()
    code = (
        "import sys, coarsen\n"
        f"coarsen.coarsen({PLAIN!r}, any_size=True).spirv\n"
        f"coarsen.coarsen({SOURCE!r}).opencl_c\n"
        "print(*(name for name in sys.modules if name.startswith('coarsen.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "coarsen.transform.coarsen" in loaded
    packages = {module.name for module in pkgutil.iter_modules([str(versions.PACKAGE)]) if module.ispkg}
    parts = {name.split(".")[1] for name in loaded} & packages
    # Features and models say what should be done, not how.
    assert parts <= {*versions.FOLDERS}


def test_a_refusal_is_kept(tmp_path: Path) -> None:
    compiler = Compiler(RefusalError("collective", "it calls a reduction", SourcePosition(3, 7, "a.h")))
    raised = []
    for _ in range(2):
        with pytest.raises(RefusalError) as caught:
            asked(compiler, tmp_path)
        raised.append((caught.value.code, caught.value.reason, caught.value.position, str(caught.value)))
    assert raised[0] == raised[1]
    assert raised[1][:3] == ("collective", "it calls a reduction", SourcePosition(3, 7, "a.h"))
    assert len(compiler.calls) == 1


@pytest.mark.parametrize(
    "error",
    [
        RefusalError("too-deep", "nested too deeply"),
        RefusalError("spirv-unsupported", "it took more than 60 seconds"),
        InvalidInputError("clang can't be run"),
    ],
)
def test_what_may_be_otherwise_next_time_is_not_kept(
    error: RefusalError | InvalidInputError, tmp_path: Path
) -> None:
    for _ in range(2):
        with pytest.raises(type(error)):
            asked(Compiler(error), tmp_path)
    assert asked(Compiler(), tmp_path) == KERNEL


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def changed_inside(content: bytes) -> bytes:
    return content.replace(b"void scale", b"void other")


def of_another_format(content: bytes) -> bytes:
    return b"\x80\x04pickle"


def of_another_kernel(content: bytes) -> bytes:
    return entry_file(Entry("0" * 64, KERNEL))


@pytest.mark.parametrize(
    "damaged", [cut, changed_inside, of_another_format, of_another_kernel, lambda content: b""]
)
def test_damaged_files_are_written_anew(damaged: Any, tmp_path: Path) -> None:  # noqa: ANN401 (bytes to bytes)
    compiler = Compiler()
    asked(compiler, tmp_path)
    file = only_file(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damaged(whole))
    assert asked(compiler, tmp_path) == KERNEL
    assert file.read_bytes() == whole
    assert asked(compiler, tmp_path) == KERNEL
    assert len(compiler.calls) == 2


@pytest.mark.parametrize("content", [{"key": "k"}, {"key": "k", "kernel": None, "refusal": None}, [[]], 7])
def test_whole_files_without_an_entry_are_none(content: object) -> None:
    text = json.dumps(content).encode()
    checksum = entry_file(Entry("k")).partition(b"\n")[0]
    assert read_entry(b"%s\n%s" % (checksum, text), "k", "opencl_c") is None
    from coarsen.runtime.text_cache.checked_file import _checksum

    assert read_entry(b"%s\n%s" % (_checksum(text), text), "k", "opencl_c") is None


def test_folder_and_files_are_the_users_alone(tmp_path: Path) -> None:
    folder = tmp_path / "text"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    asked(Compiler(), folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert only_file(folder).stat().st_mode & 0o777 == 0o600
    only_file(folder).chmod(0o666)
    compiler = Compiler()
    asked(compiler, folder)
    assert compiler.calls, "others could have written to the file"


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder, other = tmp_path / "text", tmp_path / "other"
    asked(Compiler(), folder)
    file = only_file(folder)
    file.rename(other)
    before = other.read_bytes()
    file.symlink_to(other)
    compiler = Compiler()
    asked(compiler, folder)
    assert compiler.calls
    assert not file.is_symlink()
    assert other.read_bytes() == before
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    asked(compiler, folder)
    assert len(compiler.calls) == 2


def test_without_a_folder_everything_works(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    compiler = Compiler()
    with caplog.at_level("DEBUG", "coarsen"):
        for _ in range(2):
            assert asked(compiler, blocked / "text") == KERNEL
    assert len(compiler.calls) == 2
    assert {record.levelname for record in caplog.records} == {"DEBUG"}


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **options: Any) -> None:  # noqa: ANN401 (those of os.rename)
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "rename", full)
    assert asked(Compiler(), tmp_path) == KERNEL
    assert not any(tmp_path.iterdir())


def test_what_was_not_used_for_longest_gives_way(tmp_path: Path) -> None:
    kept = Store(tmp_path, most_bytes=40 * 4096)
    for number in range(40):
        kept.write(f"{number:02}", b"x")
        os.utime(tmp_path / f"{number:02}", (1e9 + number, 1e9 + number))
    kept.read("00")  # used again just now
    Store(tmp_path, most_bytes=40 * 4096).write("new", b"x")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["00", *(f"{number:02}" for number in range(12, 40)), "new"]


def test_large_texts_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LARGEST_FILE", 10)
    asked(Compiler(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_two_processes_at_once(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from coarsen.runtime.text_cache.store import Store\n"
        f"store = Store(Path({str(tmp_path)!r}), most_bytes=1 << 16)\n"
        "for number in range(400):\n"
        "    content = sys.argv[1].encode() * 20000\n"
        "    store.write(f'{number % 4}', content)\n"
        "    found = store.read(f'{(number + 1) % 4}')\n"
        "    assert found is None or len(found) == 20000 and len(set(found)) == 1, found[:10]\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, letter]) for letter in "ab"]
    assert [process.wait(60) for process in both] == [0, 0]
    assert {path.name for path in tmp_path.iterdir()} <= set("0123")


HEADER = "#define BY 3\n"
INCLUDING = '#include "by.h"\n' + SOURCE


def options_of(*folders: Path) -> tuple[str, ...]:
    return tuple(word for folder in folders for word in ("-I", str(folder)))


def test_options_that_tell_the_time_are_not_cached() -> None:
    assert tells_more_than_text("-DSTAMP=__TIME__") and not tells_more_than_text("-DSTAMP=12")


def test_headers_count(tmp_path: Path) -> None:
    near, far, text = tmp_path / "near", tmp_path / "far", tmp_path / "text"
    for folder in (near, far):
        folder.mkdir()
    (far / "by.h").write_text('#include "deep.h"\n')
    (far / "deep.h").write_text(HEADER)
    compiler = Compiler()

    def calls() -> int:
        for _ in range(2):
            asked(compiler, text, INCLUDING, options=options_of(near, far))
        return len(compiler.calls)

    assert calls() == 1
    (far / "deep.h").write_text("#define BY 4\n")
    assert calls() == 2
    (near / "by.h").write_text(HEADER)  # is found first from now on
    assert calls() == 3


def test_a_header_that_changes_meanwhile_is_not_kept(tmp_path: Path) -> None:
    header = tmp_path / "by.h"
    header.write_text(HEADER)

    class Slow(Compiler):
        def __call__(self, source: str, **request: Unpack[CoarseningRequest]) -> CoarsenedKernel:
            header.write_text(HEADER + "#define MORE\n")
            return super().__call__(source, **request)

    asked(Slow(), tmp_path / "text", INCLUDING, options=options_of(tmp_path))
    assert not (tmp_path / "text").exists()


UNTOLD = (
    "#define WHICH <by.h>\n#include WHICH\n",
    "#if __has_include(<by.h>)\n#endif\n",
    '#em\\\nbed "by.h"\n',
    "#include_next <by.h>\n",
    "constant char built[] = __TIME__;\n",
    "constant char built[] = __TI\\\nME__;\n",
)


@pytest.mark.parametrize("line", UNTOLD)
def test_what_text_does_not_tell_is_not_cached(line: str, tmp_path: Path) -> None:
    (tmp_path / "by.h").write_text(HEADER)
    assert key_of(line + SOURCE, {**REQUEST, "options": options_of(tmp_path)}, PORTABLE, "opencl_c") is None
    (tmp_path / "by.h").write_text(line)
    assert key_of(INCLUDING, {**REQUEST, "options": options_of(tmp_path)}, PORTABLE, "opencl_c") is None


def test_a_file_among_the_folders_is_not_cached(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("")
    request: CoarseningRequest = {**REQUEST, "options": options_of(tmp_path / "map")}
    assert key_of(SOURCE, request, PORTABLE, "opencl_c") is None


def test_headers_of_other_languages_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "by.h").write_text(f"#ifdef __cplusplus\n#include <iterator>\n#endif\n{HEADER}")
    compiler = Compiler()
    for _ in range(2):
        asked(compiler, tmp_path / "text", INCLUDING, options=options_of(tmp_path))
    assert len(compiler.calls) == 1


def test_headers_from_elsewhere_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clang finds a header in a folder that no option names: a change there would not be seen."""
    (tmp_path / "by.h").write_text(HEADER)
    monkeypatch.setenv("CPATH", str(tmp_path))
    compiler = Compiler()
    for _ in range(2):
        asked(compiler, tmp_path / "text", "#include <by.h>\n" + SOURCE)
    assert len(compiler.calls) == 2


def test_many_headers_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(included, "_MOST_FILES", 1)
    (tmp_path / "by.h").write_text('#include "deep.h"\n')
    assert included_files(INCLUDING, [tmp_path]) is not None
    (tmp_path / "deep.h").write_text("")
    assert included_files(INCLUDING, [tmp_path]) is None


def test_clang_says_what_it_reads(tmp_path: Path) -> None:
    folder = tmp_path / "a b$c"
    folder.mkdir()
    (folder / "by #1.h").write_text(HEADER)
    options = parse_options(options_of(folder))
    assert files_read('#include "by #1.h"\n' + SOURCE, options) == frozenset({(folder / "by #1.h").resolve()})
    assert files_read(SOURCE, options) == frozenset()
    assert files_read("#include <nowhere.h>\n", options) is None


def test_the_folder_and_its_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COARSEN_NO_CACHE", "PYOPENCL_NO_CACHE", "COARSEN_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert text_folder(None) == tmp_path / "user" / "coarsen" / "coarsened-text"
    monkeypatch.setenv("COARSEN_CACHE_DIR", str(tmp_path / "chosen"))
    assert text_folder(None) == tmp_path / "chosen" / "coarsened-text"
    assert text_folder(str(tmp_path / "named")) == tmp_path / "named" / "coarsened-text"
    assert text_folder(False) is None
    for name in ("COARSEN_NO_CACHE", "PYOPENCL_NO_CACHE"):
        monkeypatch.setenv(name, "false")
        assert text_folder(None) is not None
        monkeypatch.setenv(name, "1")
        assert text_folder(None) is None
        monkeypatch.delenv(name)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache that programs use."""
    monkeypatch.delenv("COARSEN_NO_CACHE", raising=False)
    monkeypatch.setenv("COARSEN_CACHE_DIR", str(tmp_path))
    return tmp_path / "coarsened-text"


def results(queue: cl.CommandQueue, program: cl.Program) -> list[int]:
    values = np.arange(ITEMS, dtype=np.int32)
    flags = cl.mem_flags
    buffer = cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=values)
    program.scale(queue, (ITEMS,), (24,), buffer, np.int32(3))
    cl.enqueue_copy(queue, values, buffer)
    return [int(value) for value in values]


@pytest.mark.compiled_devices
def test_results_from_the_cache_are_the_same(
    context: cl.Context, queue: cl.CommandQueue, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [item * 3 + item % 24 for item in range(ITEMS)]
    assert results(queue, coarsen.Program(context, SOURCE, factor=4).build()) == expected
    (file,) = cache.iterdir()

    def compiled(*arguments: object, **options: object) -> None:
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(importlib.import_module("coarsen.api"), "coarsen", compiled)
    program = coarsen.Program(context, SOURCE, factor=4).build()
    assert results(queue, program) == expected
    assert program.scale.divided(context.devices[0], (ITEMS,), (24,)).global_size == (ITEMS // 4,)
    with pytest.raises(AssertionError, match="in the cache"):
        coarsen.Program(context, SOURCE, factor=4).build(cache_dir=False)
    file.write_bytes(file.read_bytes()[:99])
    with pytest.raises(AssertionError, match="in the cache"):
        coarsen.Program(context, SOURCE, factor=4).build()


@pytest.mark.compiled_devices
def test_a_refused_kernel_is_not_lowered_again(
    context: cl.Context, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    for _ in range(2):
        with pytest.raises(RefusalError) as caught:
            coarsen.Program(context, REFUSED, factor=2).build()
        said.append(str(caught.value))
        monkeypatch.setattr(importlib.import_module("coarsen.api"), "coarsen", None)
    assert said[0] == said[1]
    assert "[irreducible]" in said[0]
    assert only_file(cache)


def fresh_process(words: Sequence[str]) -> list[str]:
    """The compilers that a process has loaded after it has built a program from the cache."""
    code = (
        "import subprocess, sys\n"
        "import coarsen, pyopencl\n"
        "device = coarsen.open_device(coarsen.find_device(sys.argv[1]))\n"
        f"coarsen.Program(pyopencl.Context([device]), {SOURCE!r}, factor=4).build().scale\n"
        "print(*(name for name in ('llvmlite', 'networkx', 'coarsen.api') if name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_a_warm_process_loads_no_compiler(cache: Path) -> None:
    assert "llvmlite" in fresh_process(["intel"])
    assert fresh_process(["intel"]) == []
