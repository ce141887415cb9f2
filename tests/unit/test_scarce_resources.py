"""No memory and no thread is one clear error, and no wait for either is without an end."""

import _thread
import errno
import os
import resource
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pymongo import periodic_executor

from brimline import leaving, threads
from brimline.cli import app
from brimline.errors import ResourceError
from brimline.execution import memory, stop
from brimline.plan import NullTarget, resolve
from brimline.spec import load_spec
from brimline.threads import BoundedThread, Worker


def _chained() -> Exception:
    try:
        try:
            raise RuntimeError("can't start new thread")
        except RuntimeError as error:
            raise ValueError("a library's own") from error
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "there is not enough memory"),
        (MemoryError("no thread for worker 3 of 8"), "there is not enough memory: no thread for worker 3 of 8"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "there is not enough memory"),
        (ImportError("x.so: failed to map segment from shared object"), "there is not enough memory: a library"),
        (_chained(), "no thread can be started"),
    ],
)
def test_what_says_that_something_is_scarce(error: Exception, said: str) -> None:
    found = ResourceError.behind(error)
    assert found is not None
    assert found.message.startswith(said)
    assert "ulimit -v" in str(found.hint)


@pytest.mark.parametrize("error", [ValueError("x"), ImportError("no module named x"), OSError(errno.ENOENT, "no")])
def test_what_is_about_something_else(error: Exception) -> None:
    assert ResourceError.behind(error) is None


def test_the_program_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_program(_called: str | None) -> None:
        raise _chained()

    monkeypatch.setattr(app, "_program", no_program)
    with pytest.raises(SystemExit) as ended:
        app.main(["workloads"])
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert told.startswith("error: no thread can be started")
    assert "Traceback" not in told
    assert "internal" not in told


def test_a_library_s_thread_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    error = _chained()
    app._tell_of_thread(threading.ExceptHookArgs((type(error), error, error.__traceback__, None)))
    assert capsys.readouterr().err == "warning: no thread can be started for the work\n"


def test_a_thread_that_does_its_work_and_ends() -> None:
    done = threading.Event()
    worker = Worker(done.set, name="a test")
    worker.start()
    assert worker.join(5)
    assert done.is_set()


def _refused(*_: object) -> int:
    raise RuntimeError("can't start new thread")


def _lost(*_: object) -> int:
    """As a thread does that dies before Python gets to run anything in it."""
    return 0


@pytest.mark.parametrize("start", [_refused, _lost])
def test_a_thread_that_cant_be_had(monkeypatch: pytest.MonkeyPatch, start: Callable[..., int]) -> None:
    monkeypatch.setattr(_thread, "start_new_thread", start)
    monkeypatch.setattr(threads, "_BEGIN_WITHIN_S", 0.01)
    with pytest.raises(ResourceError, match="no thread can be started for watching"):
        Worker(lambda: None, name="watching").start()


def test_an_address_space_that_is_too_small_is_told_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = resolve(load_spec("ycsb-c").spec, target=NullTarget())
    monkeypatch.setattr(resource, "getrlimit", lambda _: (600_000 * 1024, 600_000 * 1024))
    with pytest.raises(ResourceError, match="may reserve 614 MB"):
        memory.allow_memory(plan)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2_000_000 * 1024, resource.RLIM_INFINITY))
    memory.allow_memory(plan)


def test_a_second_signal_breaks_a_wait_that_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop, "_END_WITHIN_S", 0.05)
    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(KeyboardInterrupt), stop.interruptible() as token:
        os.kill(os.getpid(), signal.SIGINT)
        assert token.requested
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(60)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_third_signal_breaks_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[int] = []
    monkeypatch.setattr(leaving, "give_up", given_up.append)
    with stop.interruptible():
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGTERM)
    assert given_up == [signal.SIGTERM]


def test_a_thread_of_a_library_that_never_says_it_runs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PyMongo's watch over a server, for whose thread there was no memory."""
    monkeypatch.setattr(threads, "_BEGIN_WITHIN_S", 0.05)
    assert vars(periodic_executor)["threading"].Thread is BoundedThread
    started = BoundedThread(target=lambda: None)
    started.start()
    started.join(5)
    for name in ("_start_new_thread", "_start_joinable_thread"):
        monkeypatch.setattr(threading, name, lambda *_, **__: 0, raising=False)
    with pytest.raises(ResourceError, match="no thread can be started for watch"):
        BoundedThread(target=lambda: None, name="watch").start()


@pytest.mark.parametrize(
    ("words", "what"),
    [(("import", "t.csv", "--headerline", "--uri", "mongodb://127.0.0.1:1", "-d", "d"), "this import"),
     (("generate", "ycsb-c", "--rows", "10", "-o", "rows.csv"), "writing these rows")],
)  # fmt: skip
def test_work_that_can_not_have_its_memory_is_told_before_it_begins(
    words: tuple[str, ...],
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a\n1\n")
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (1_000_000, 1_000_000))
    with pytest.raises(SystemExit) as ended:
        app.main(list(words))
    assert ended.value.code == 1
    assert f"and {what} needs" in capsys.readouterr().err
    assert not Path("rows.csv").exists()
