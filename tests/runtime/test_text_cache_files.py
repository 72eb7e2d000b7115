"""The files of the cache of coarsened text: nothing in them can do harm, and they don't grow beyond a limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coarsen.runtime.text_cache import store
from coarsen.runtime.text_cache.store import Entry, Store, entry_of, file_of, text_folder
from coarsen.runtime.toolchain import Code
from tests.runtime.text_cache_requests import KERNEL, Compiler, asked, only_file


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def changed_inside(content: bytes) -> bytes:
    return content.replace(b"void scale", b"void other")


def of_another_format(content: bytes) -> bytes:
    return b"\x80\x04pickle"


def of_another_kernel(content: bytes) -> bytes:
    return file_of(Entry("0" * 64, KERNEL, None))


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


@pytest.mark.parametrize("content", [{"key": "k"}, {"key": "k", "value": None, "refusal": None}, [[]], 7])
def test_whole_files_without_an_entry_are_none(content: object) -> None:
    text = json.dumps(content).encode()
    checksum = file_of(Entry("k", None, None)).partition(b"\n")[0]
    assert entry_of(b"%s\n%s" % (checksum, text), "k", Code) is None
    from coarsen.runtime.text_cache.store import _checksum

    assert entry_of(b"%s\n%s" % (_checksum(text), text), "k", Code) is None


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
