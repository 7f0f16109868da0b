"""Run ``eigentoken`` as a new process that need not load its libraries again: torch, sympy and the rest take two seconds.

``command()`` starts, once, a server that has imported the libraries and nothing of ours, and returns the command to call
instead of ``python -m eigentoken``.  Each call is a fork of that server with the caller's folder, environment, arguments,
standard streams and exit code: every module of ours is imported anew, so a missing import is seen as in a fresh process.  The
tests use it; what is about processes themselves (signals, memory, what is imported) starts Python.  ``tools/docs.py``, which is
about what a command prints, asks for a server that has read the book too: ``command(book=True)``.

    warm.py --serve SOCKET      the server; it ends when its standard input does
    warm.py SOCKET ARGUMENT...  one command, as the server's fork
    warm.py SOCKET -c CODE      Python code, likewise
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import sys

LIBRARIES = (
    *("numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "sympy", "mpmath", "flint", "z3", "networkx"),
    *("torch", "torch.func", "hypothesis", "safetensors.numpy", "joblib", "matplotlib.figure", "typer", "rich.table"),
    *("rich.progress", "rich.console"),
)
#: where the running servers listen, for every copy of this module in a process
SOCKET = "EIGENTOKEN_WARM_SOCKET"
BOOK_SOCKET = "EIGENTOKEN_WARM_BOOK_SOCKET"


def command(book: bool = False) -> list[str]:
    """``[python, warm.py, socket]``: put the arguments of ``eigentoken`` behind it."""
    name = BOOK_SOCKET if book else SOCKET
    if name not in os.environ:
        _start(name)
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), os.environ[name]]


def _start(name: str) -> None:
    """A server that lives as long as this process."""
    import atexit
    import shutil
    import subprocess
    import tempfile

    folder = tempfile.mkdtemp(prefix="eigentoken-warm-")
    place = os.path.join(folder, "socket")
    here = os.path.abspath(__file__)
    serving = [sys.executable, here, "--serve", place]
    if name == BOOK_SOCKET:  # a fork of the other one, which has the libraries
        code = (
            f"import sys; sys.path.insert(0, {os.path.dirname(here)!r}); import warm; warm.serve({place!r}, book=True)"
        )
        serving = [*command(), "-c", code]
    server = subprocess.Popen(
        serving,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt from the keyboard is for the tests
    )
    assert server.stdin is not None
    assert server.stdout is not None
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of warm commands did not start: run tools/warm.py --serve SOCKET to see why")
    os.environ[name] = place
    owner = os.getpid()

    def stop() -> None:
        if os.getpid() != owner:  # a fork of the tests
            return
        server.stdin.close()  # type: ignore[union-attr]
        server.wait()
        server.stdout.close()  # type: ignore[union-attr]
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)


def serve(place: str, book: bool = False) -> None:
    """Import the libraries (and read the book), then answer each caller by a fork, until standard input ends."""
    import gc
    import importlib
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in LIBRARIES:
            importlib.import_module(name)
        if book:
            _read_the_book()
    gc.collect()
    gc.freeze()  # what the forks share is not looked at by their collectors, and so not copied
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the handlers
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        caller, _ = listening.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            _answer(caller)
        caller.close()


def _read_the_book() -> None:
    """All our modules, and the statements."""
    import importlib
    import pkgutil

    import eigentoken

    for module in pkgutil.walk_packages(eigentoken.__path__, "eigentoken."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    eigentoken.statements()


def _answer(caller: socket.socket) -> None:
    """Run what the caller asks for in a fork, and tell the exit code; if the caller goes away, end the fork."""
    text, streams, _, _ = socket.recv_fds(caller, 1 << 16, 3)
    (size,) = struct.unpack("!I", text[:4])
    text = text[4:]
    while len(text) < size:
        text += caller.recv(1 << 16)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        caller.close()
        _become(json.loads(text), streams)
    with contextlib.suppress(PermissionError):  # it has done so itself, and gone on
        os.setpgid(child, child)
    for each in streams:
        os.close(each)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            caller.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))
            os._exit(0)
        if select.select([caller], [], [], 0.01)[0]:  # nothing is sent after the request: the caller is gone
            os.killpg(child, signal.SIGKILL)
            os._exit(0)


def _become(asked: dict[str, object], streams: list[int]) -> None:
    """The command itself."""
    for target, source in enumerate(streams):
        os.dup2(source, target)
        os.close(source)
    os.chdir(str(asked["folder"]))
    environment = dict(asked["environment"])  # type: ignore[call-overload]
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0:1] = [str(asked["folder"]), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = ["eigentoken", *asked["arguments"]]  # type: ignore[misc]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    code = 1
    try:
        if sys.argv[1:2] == ["-c"]:
            exec(compile(sys.argv[2], "<string>", "exec"), {"__name__": "__main__"})
        else:
            from eigentoken.cli import main as eigentoken

            eigentoken()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    _leave(code)


def _leave(code: int) -> None:
    """End as an interpreter does: threads end, then what was registered for the exit runs, then streams are flushed."""
    import atexit
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    os._exit(code)


def call(place: str, arguments: list[str]) -> int:
    """One command: its exit code; a signal that ended it ends the caller too."""
    asked = {"folder": os.getcwd(), "environment": dict(os.environ), "arguments": arguments}
    text = json.dumps(asked).encode()
    server = socket.socket(socket.AF_UNIX)
    server.connect(place)
    whole = struct.pack("!I", len(text)) + text
    sent = socket.send_fds(server, [whole], [0, 1, 2])
    server.sendall(whole[sent:])
    (code,) = struct.unpack("!i", server.recv(4))
    if code < 0:
        os.kill(os.getpid(), -code)
    return int(code)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
