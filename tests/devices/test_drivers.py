"""Finding drivers, and the environment that PyOpenCL's loader then sees."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coarsen.devices import drivers

LIST_DEVICES = """
import json, os
from coarsen.devices.discovery import discover
found = discover()
print(json.dumps([[d.platform_name for d in found.devices], list(found.notes), os.environ.get("OCL_ICD_VENDORS")]))
"""


def run_python(code: str, cache: Path | None = None, **variables: str) -> tuple[list[str], list[str], str | None]:
    """Runs `code` in a fresh process; returns what it prints last: platforms, notes, OCL_ICD_VENDORS."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
    }
    if cache is not None:
        kept["XDG_CACHE_HOME"] = str(cache)
    finished = subprocess.run(
        [sys.executable, "-c", code], env=kept | variables, capture_output=True, text=True, check=True, timeout=120
    )
    platforms, notes, directory = json.loads(finished.stdout.splitlines()[-1])
    return platforms, notes, directory


def test_drivers_from_pip_appear_without_the_user_setting_anything(tmp_path: Path) -> None:
    platforms, notes, directory = run_python(LIST_DEVICES, cache=tmp_path)
    assert "Intel(R) OpenCL" in platforms
    assert not any("libintelocl.so" in note for note in notes)
    assert directory is not None and Path(directory).parent == tmp_path / "coarsen" / "opencl-vendors"
    libraries = [path.read_text().strip() for path in sorted(Path(directory).iterdir())]
    assert any(library.endswith("libintelocl.so") for library in libraries)


def test_system_drivers_stay_beside_those_from_pip(tmp_path: Path) -> None:
    _, _, directory = run_python(LIST_DEVICES, cache=tmp_path)
    assert directory is not None
    libraries = {path.read_text().strip() for path in Path(directory).iterdir()}
    assert {driver.library for driver in drivers.system_drivers()} <= libraries


def test_the_users_vendors_folder_is_left_to_decide(tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    platforms, _, directory = run_python(LIST_DEVICES, cache=tmp_path, OCL_ICD_VENDORS=str(chosen))
    assert directory == str(chosen)
    assert "Intel(R) OpenCL" not in platforms
    assert not (tmp_path / "coarsen").exists()


def test_the_users_vendor_path_is_left_to_decide(tmp_path: Path) -> None:
    platforms, _, directory = run_python(LIST_DEVICES, cache=tmp_path, OPENCL_VENDOR_PATH=str(tmp_path))
    assert directory is None
    assert "Intel(R) OpenCL" not in platforms


def test_an_empty_variable_is_no_choice(tmp_path: Path) -> None:
    platforms, _, directory = run_python(LIST_DEVICES, cache=tmp_path, OCL_ICD_VENDORS="")
    assert directory and "Intel(R) OpenCL" in platforms


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    obstacle = tmp_path / "file"
    obstacle.write_text("a file where the folder should be: not even root can write below it")
    platforms, _, directory = run_python(LIST_DEVICES, cache=obstacle)
    assert "Intel(R) OpenCL" in platforms
    assert directory is not None and not Path(directory).exists(), "the temporary folder goes with the process"


def test_a_folder_from_a_parent_process_is_not_the_users_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inherited = tmp_path / "coarsen" / "opencl-vendors" / "0123456789abcdef"
    assert drivers.deciding_variable({"OCL_ICD_VENDORS": str(inherited)}) is None
    assert drivers.deciding_variable({"OCL_ICD_VENDORS": str(tmp_path)}) == "OCL_ICD_VENDORS"
    assert drivers.deciding_variable({"OPENCL_VENDOR_PATH": "/x"}) == "OPENCL_VENDOR_PATH"
    assert drivers.deciding_variable({}) is None


def test_a_late_discovery_says_so(tmp_path: Path) -> None:
    queried_before = "import pyopencl\ntry: pyopencl.get_platforms()\nexcept pyopencl.Error: pass\n"
    platforms, notes, _ = run_python(queried_before + LIST_DEVICES, cache=tmp_path)
    assert "Intel(R) OpenCL" not in platforms
    assert any("libintelocl.so" in note and "queried before" in note for note in notes)


def test_importing_pyopencl_before_is_not_late(tmp_path: Path) -> None:
    platforms, notes, _ = run_python("import pyopencl\n" + LIST_DEVICES, cache=tmp_path)
    assert "Intel(R) OpenCL" in platforms
    assert not any("libintelocl.so" in note for note in notes)


def test_many_processes_at_once_write_one_whole_folder(tmp_path: Path) -> None:
    code = "from coarsen.devices.drivers import prepare_loader; print(prepare_loader().directory)"
    environment = {name: value for name, value in os.environ.items() if name not in ("OCL_ICD_VENDORS",)}
    environment["XDG_CACHE_HOME"] = str(tmp_path)
    children = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    directories = {child.communicate(timeout=60)[0].strip() for child in children}
    assert len(directories) == 1
    assert all(path.suffix == ".icd" and path.read_text() for path in Path(directories.pop()).iterdir())


def test_a_damaged_file_in_the_cache_is_mended(tmp_path: Path) -> None:
    directory = run_python(LIST_DEVICES, cache=tmp_path)[2]
    assert directory is not None
    for path in Path(directory).iterdir():
        path.write_text("")
    platforms, _, again = run_python(LIST_DEVICES, cache=tmp_path)
    assert again == directory and "Intel(R) OpenCL" in platforms


def test_what_somebody_else_put_into_the_cache_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loader runs each library that a file of its folder names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ours = drivers.Driver("/usr/lib/libours.so", "test")
    folder, _ = drivers._write_vendors((ours,))
    (folder / "99-foreign.icd").write_text("/tmp/evil.so\n")
    linked = tmp_path / "linked"
    linked.write_text("/usr/lib/libours.so\n")
    (folder / "00-libours.icd").unlink()
    (folder / "00-libours.icd").symlink_to(linked)
    folder.chmod(0o777)
    assert drivers._write_vendors((ours,))[0] == folder
    assert [path.name for path in folder.iterdir()] == ["00-libours.icd"]
    assert not (folder / "00-libours.icd").is_symlink()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)] == [0o700, 0o700]


def test_a_folder_that_is_a_link_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ours = drivers.Driver("/usr/lib/libours.so", "test")
    folder, _ = drivers._write_vendors((ours,))
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    other, temporary = drivers._write_vendors((ours,))
    assert other != folder and temporary is not None
    temporary.cleanup()


def test_icd_files_that_point_nowhere_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "etc" / "OpenCL" / "vendors"
    folder.mkdir(parents=True)
    (folder / "nowhere.icd").write_text("/no/such/libdriver.so\n")
    (folder / "empty.icd").write_text("\n")
    (folder / "by_name.icd").write_text("libdriver.so.1\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    libraries = [driver.library for driver in drivers.system_drivers()]
    assert "libdriver.so.1" in libraries
    assert "/no/such/libdriver.so" not in libraries and "" not in libraries


def linker_cache(path: Path, *libraries: Path) -> Path:
    """A file with the strings of the dynamic linker's cache: a name and a path for each library."""
    strings = (f"{library.name}\0{library}\0" for library in libraries)
    path.write_bytes(b"glibc-ld.so.cache1.1" + bytes(28) + "".join(strings).encode())
    return path


@pytest.fixture
def nvidia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """NVIDIA's library in a folder that only the dynamic linker's cache names."""
    library = tmp_path / "nvidia" / "libnvidia-opencl.so.1"
    library.parent.mkdir()
    library.touch()
    gone = tmp_path / "gone" / "libnvidia-opencl.so.1"
    monkeypatch.setattr(drivers, "_LINKER_CACHE", linker_cache(tmp_path / "ld.so.cache", gone, library))
    monkeypatch.setattr(drivers, "_NVIDIA_FOLDERS", ())
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return library


def test_nvidias_driver_without_an_icd_file(nvidia: Path) -> None:
    assert drivers.unnamed_nvidia_driver([]) == (drivers.Driver(str(nvidia), "NVIDIA's driver"),)
    nvidia.unlink()
    assert drivers.unnamed_nvidia_driver([]) == ()


def test_nvidias_driver_with_an_icd_file_is_not_named_twice(nvidia: Path) -> None:
    assert nvidia.exists()
    assert drivers.unnamed_nvidia_driver([drivers.Driver("libnvidia-opencl.so.1", "nvidia.icd")]) == ()


def test_nvidias_driver_where_only_the_library_path_leads(nvidia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "_LINKER_CACHE", nvidia.parent / "no cache")
    assert drivers.unnamed_nvidia_driver([]) == ()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{nvidia.parent / 'nowhere'}:{nvidia.parent}")
    assert [driver.library for driver in drivers.unnamed_nvidia_driver([])] == [str(nvidia)]


def test_a_program_that_is_run_does_not_see_debians_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, library = tmp_path / "bin" / "oclgrind", tmp_path / "lib" / "oclgrind" / "liboclgrind-rt-icd.so"
    for file in (command, library):
        file.parent.mkdir(parents=True)
        file.touch(0o755)
    monkeypatch.setenv("PATH", str(command.parent))
    monkeypatch.setattr(drivers, "_PIP_DRIVERS", ())
    assert [driver.library for driver in drivers.extra_drivers()] == [str(library)]
    assert not [*drivers.extra_drivers(is_for_program=True)]


def test_nothing_is_prepared_without_pyopencl(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['platformdirs'] = None\n"
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, package=None: None if name == 'pyopencl' else found(name, package)\n"
        "from coarsen.devices.drivers import prepare_loader\n"
        "import os, json\n"
        "print(json.dumps([[], list(prepare_loader().drivers), os.environ.get('OCL_ICD_VENDORS')]))"
    )
    assert run_python(code, cache=tmp_path) == ([], [], None)
