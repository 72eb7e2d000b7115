"""A child process answers, and whatever else it does costs no more than its own life."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coarsen.tuning.processes.child_process import ChildDiedError, ChildProcess, ChildTimedOutError

ROOT = Path(__file__).parents[3]
SERVICE = "tests.opencl_bench.sweep.misbehaving_service"
PATIENCE = 60.0


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChildProcess]:
    monkeypatch.chdir(ROOT)
    with ChildProcess(SERVICE) as process:
        yield process


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_it_answers_again_and_again_from_one_process(child: ChildProcess) -> None:
    answers = [child.ask({"do": "echo", "say": text}, PATIENCE) for text in ("one", "two\nlines")]
    assert [answer["said"] for answer in answers] == ["one", "two\nlines"]
    assert len({answer["process"] for answer in answers}) == 1


def test_a_request_may_be_larger_than_a_pipe(child: ChildProcess) -> None:
    text = "long " * 200_000
    assert child.ask({"do": "echo", "say": text}, PATIENCE)["said"] == text


def test_what_is_printed_does_not_disturb_the_answers(child: ChildProcess) -> None:
    assert child.ask({"do": "chatter", "say": "heard"}, PATIENCE) == {"said": "heard"}


def test_a_hang_ends_in_time_and_the_next_request_is_answered_by_another(child: ChildProcess) -> None:
    first = child.ask({"do": "echo", "say": ""}, PATIENCE)["process"]
    start = time.monotonic()
    with pytest.raises(ChildTimedOutError, match=r"no answer within 0\.5 s"):
        child.ask({"do": "hang", "seconds": PATIENCE}, 0.5)
    assert time.monotonic() - start < PATIENCE / 2
    assert not child.is_running
    assert not is_alive(first)
    assert child.ask({"do": "echo", "say": ""}, PATIENCE)["process"] != first


def test_a_child_that_does_not_read_times_out_too(child: ChildProcess) -> None:
    child.ask({"do": "echo", "say": ""}, PATIENCE)
    process = child.ask({"do": "echo", "say": ""}, PATIENCE)["process"]
    os.kill(process, signal.SIGSTOP)
    with pytest.raises(ChildTimedOutError):
        child.ask({"do": "echo", "say": "x" * 5_000_000}, 0.5)


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"do": "crash"}, "died of signal SIGSEGV: assertion failed: the last words"),
        ({"do": "leave", "code": 3}, "ended with code 3"),
        ({"do": "fail"}, "ended with code 1: ValueError: what a bug raises"),
    ],
)
def test_a_death_is_told_with_its_last_words(child: ChildProcess, request_: dict[str, object], told: str) -> None:
    with pytest.raises(ChildDiedError, match=told):
        child.ask(request_, PATIENCE)
    assert child.ask({"do": "echo", "say": "back"}, PATIENCE)["said"] == "back"


def test_megabytes_on_standard_error_are_read_and_forgotten(child: ChildProcess) -> None:
    assert child.ask({"do": "flood", "megabytes": 20}, PATIENCE) == {"said": "after the flood"}
    with pytest.raises(ChildDiedError, match="the last words"):
        child.ask({"do": "crash"}, PATIENCE)


def test_what_a_long_request_prints_does_not_fill_the_disk(child: ChildProcess) -> None:
    assert child.ask({"do": "print on"}, PATIENCE) == {"said": "forgotten"}


def test_a_child_that_hangs_while_it_ends_is_not_waited_for(
    child: ChildProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.tuning.processes.child_process.DYING_SECONDS", 1.0)
    with pytest.raises(ChildDiedError, match="hung when it was to end: ValueError: said before it hung"):
        child.ask({"do": "hang at the end"}, PATIENCE)
    assert not child.is_running


def test_another_thread_can_end_it_for_good(child: ChildProcess) -> None:
    process = child.ask({"do": "echo", "say": ""}, PATIENCE)["process"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(child.ask, {"do": "hang", "seconds": PATIENCE}, PATIENCE)
        time.sleep(0.1)
        child.end()
        with pytest.raises(ChildDiedError, match="SIGKILL"):
            waiting.result(PATIENCE / 2)
    assert not is_alive(process)
    with pytest.raises(ChildDiedError, match="no more processes are wanted"):
        child.ask({"do": "echo", "say": ""}, PATIENCE)


def test_a_module_in_the_current_folder_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('this is not the json that was meant')")
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.chdir(tmp_path)
    with ChildProcess(SERVICE) as process:
        assert process.ask({"do": "echo", "say": "hello"}, PATIENCE)["said"] == "hello"


def test_options_that_no_key_shows_do_not_reach_it(child: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-DN=1")
    assert child.ask({"do": "variable", "name": "PYOPENCL_BUILD_OPTIONS"}, PATIENCE) == {"value": None}


def test_a_process_that_cannot_be_started_is_a_death(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with ChildProcess(SERVICE) as process, pytest.raises(ChildDiedError, match="can't be started: No such file"):
        process.ask({"do": "echo", "say": ""}, PATIENCE)


def test_a_child_does_not_outlive_its_parent() -> None:
    code = (
        "from coarsen.tuning.processes.child_process import ChildProcess\n"
        f"child = ChildProcess({SERVICE!r})\n"
        "print(child.ask({'do': 'echo', 'say': ''}, 60)['process'], flush=True)\n"
        "child.ask({'do': 'hang', 'seconds': 600}, 600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    process = int(parent.stdout.readline())
    assert is_alive(process)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(process)


def test_a_child_whose_parent_ended_before_it_served_begins_nothing(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"""
from pathlib import Path
from coarsen.tuning.processes.child_process import serve
serve({{"begin": lambda request: Path({str(begun)!r}).touch() or {{}}}})
"""
    reading, writing = os.pipe()
    os.close(reading)
    subprocess.run([sys.executable, "-c", code], input=b'{"do": "begin"}\n', stdout=writing, check=True)
    os.close(writing)
    assert not begun.exists()
