"""Which clang is taken, and what is said where there is none that will do."""

from __future__ import annotations

import importlib.util
import shutil
import stat
import sys
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend import clang
from coarsen.frontend.lower import lower
from coarsen.runtime.text_cache import versions

KERNEL = "kernel void store(global int *out) { out[get_global_id(0)] = 1; }"


@pytest.fixture
def wheel_clang(monkeypatch: pytest.MonkeyPatch) -> clang.Clang:
    monkeypatch.delenv("COARSEN_CLANG", raising=False)
    return clang.find_clang()


@pytest.fixture
def no_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the wheel with clang were not installed."""
    monkeypatch.delenv("COARSEN_CLANG", raising=False)
    monkeypatch.setattr(clang, "_package_folder", lambda package: Path("nowhere"))
    clang._find_clang.cache_clear()


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_wheel_comes_first(wheel_clang: clang.Clang) -> None:
    assert wheel_clang.origin == "the ziglang package"
    assert not wheel_clang.has_base_header
    assert int(wheel_clang.version().split(".")[0]) >= 15


def test_override_is_used(wheel_clang: clang.Clang, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "trace"
    chosen = script(tmp_path / "my clang", f'echo called >> "{trace}"\nexec {" ".join(wheel_clang.command)} "$@"')
    monkeypatch.setenv("COARSEN_CLANG", f"'{chosen}'")
    assert lower(KERNEL).name == "store"
    assert trace.read_text().startswith("called")


def test_override_may_hold_several_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COARSEN_CLANG", f"{sys.executable} -m ziglang clang")
    assert clang.find_clang().command == (sys.executable, "-m", "ziglang", "clang")
    assert lower(KERNEL).name == "store"


@pytest.mark.parametrize(
    ("override", "part"),
    [("/no/such/clang", "can't be run"), ("true", "is not a clang"), ("'clang", "No closing quotation")],
)
def test_bad_override(monkeypatch: pytest.MonkeyPatch, override: str, part: str) -> None:
    monkeypatch.setenv("COARSEN_CLANG", override)
    with pytest.raises(InvalidInputError, match=part) as caught:
        lower(KERNEL)
    assert "COARSEN_CLANG" in str(caught.value)


def test_path_is_the_fallback(no_wheels: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "clang", 'echo "clang version 99.0.0"')
    usable = script(tmp_path / "clang-16", 'echo "Debian clang version 16.0.6"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    found = clang.find_clang()
    assert found == clang.Clang((str(usable),), "PATH", has_base_header=True)
    assert found.version() == "16.0.6"


def test_no_clang_names_what_to_install(no_wheels: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInputError, match="pip install ziglang"):
        lower(KERNEL)


def test_clang_that_fails_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = script(tmp_path / "clang", '[ "$1" = --version ] && echo "clang version 17.0.1" && exit 0\nexit 3')
    monkeypatch.setenv("COARSEN_CLANG", str(failing))
    with pytest.raises(InvalidInputError, match="stopped with status 3"):
        lower(KERNEL)


def test_clang_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clang, "_TIME_LIMIT_SECONDS", 0.2)
    waiting = script(tmp_path / "clang", "exec sleep 20")
    with pytest.raises(InvalidInputError, match="did not come to an end"):
        clang.Clang((str(waiting),), "PATH", has_base_header=True).run(["-"])


def test_no_other_package_is_needed_for_the_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs compile, and what coarsens them is known, where the wheel of PoCL isn't installed."""
    found = importlib.util.find_spec

    def without_pocl(name: str, package: str | None = None) -> object:
        return None if name.startswith("pocl") else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_pocl)
    monkeypatch.delenv("COARSEN_CLANG", raising=False)
    clang._find_clang.cache_clear()
    versions._installed.cache_clear()
    opened = clang.find_clang().run(["-x", "cl", *clang.find_clang().header_options, "-M", "-"], KERNEL).stdout
    assert str(clang.HEADERS / "opencl-c-base.h") in opened
    assert opened.count(".h") == 1
    assert lower(KERNEL).name == "store"
    assert versions.versions() is not None
    assert not any("pocl" in name for name in versions.versions() or {})


@pytest.mark.parametrize("standard", ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0", "CLC++1.0", "CLC++2021"])
@pytest.mark.parametrize("further", [[], ["-include", str(clang.HEADERS / "opencl-c-further.h")]])
def test_headers_compile_without_a_warning(standard: str, further: list[str]) -> None:
    own = clang.find_clang()
    options = ["-x", "cl", f"-cl-std={standard}", "-target", "spir64-unknown-unknown", "-fsyntax-only", "-Wall"]
    result = own.run([*options, "-Wsystem-headers", *own.header_options, *further, "-"], KERNEL)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_changed_header_is_another_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "package"
    shutil.copytree(versions.PACKAGE / "frontend", folder / "frontend")
    for other in versions.FOLDERS:
        (folder / other).mkdir(exist_ok=True)
        (folder / other / "module.py").write_text("")
    monkeypatch.setattr(versions, "PACKAGE", folder)
    before = versions._stamp_of_code()
    with (folder / "frontend" / "headers" / "opencl-c-base.h").open("a") as stream:
        stream.write("// changed\n")
    assert versions._stamp_of_code() != before
