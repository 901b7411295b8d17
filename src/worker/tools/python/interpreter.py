"""A warm interpreter: reads calls from fd 3, runs each in a fork of itself, answers on fd 4.

1. The serving process never runs user code. A call lives and dies in its own process, session and process group, so it
   starts from clean state and whatever it does (exit, crash, leak, chdir) ends with it.
2. Output is read from the child's fds 1 and 2, so it contains what subprocesses and C code print. More than the limit
   is read and dropped, never left to block the child.
3. When the child is gone, its process group is killed before the exit is reported: nothing of a call survives it.
4. When the other side goes away (end of file on fd 3, or nobody who hears on fd 4) the running call is killed and the
   interpreter ends.

Frames, both ways: one byte type, four bytes length (big endian), payload.
  in   C call (JSON, not looked at here)   K kill the running call
  out  H hello (JSON)   S started (pid)   O stdout   E stderr   R part of the result   X exit (JSON)
"""

import gc
import os
import select
import signal
import struct
import sys

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
_write_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
import noetl_call.run  # noqa: E402  (found through sys.path[0], which is this directory)

sys.dont_write_bytecode = _write_bytecode

REQUESTS = 3
ANSWERS = 4
CHUNK = 1 << 16
OUTPUT_LIMIT = 256 * 1024
HEADER = struct.Struct(">cI")
OLDEST = (3, 9)
COLD_CALLS = 3


def send(kind, payload):
    view = memoryview(HEADER.pack(kind, len(payload)) + payload)
    while view:
        view = view[os.write(ANSWERS, view):]


def read_exactly(count):
    parts = []
    while count > 0:
        part = os.read(REQUESTS, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame():
    header = read_exactly(HEADER.size)
    if header is None:
        return None, b""
    kind, length = HEADER.unpack(header)
    payload = read_exactly(length)
    return (None, b"") if payload is None else (kind, payload)


class Stream:
    """One pipe of the running call and the frames it becomes."""

    def __init__(self, kind, limit):
        self.kind = kind
        self.left = limit
        self.dropped = 0
        self.source, self.sink = os.pipe()
        os.set_blocking(self.source, False)

    def forward(self):
        """Moves what is there now; False at the end of the pipe."""
        try:
            data = os.read(self.source, CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        if self.left is not None:
            kept, self.left = data[: self.left], self.left - min(self.left, len(data))
            self.dropped += len(data) - len(kept)
            data = kept
        if data:
            send(self.kind, data)
        return True

    def drain(self):
        """Moves everything that is already in the pipe."""
        while select.select([self.source], [], [], 0)[0]:
            if not self.forward():
                return

    def close(self):
        os.close(self.source)


def kill_group(pid):
    """True when there was such a group."""
    try:
        os.killpg(pid, signal.SIGKILL)
        return True
    except (ProcessLookupError, PermissionError):
        return False


def kill_call(pid):
    """Kills a child that has not been reaped yet. Before it made its own group there is only the child."""
    if not kill_group(pid):
        os.kill(pid, signal.SIGKILL)


def has_ended(pid):
    """True when the child is dead. Leaves it unreaped where possible, so that its group id cannot be reused yet."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        _reaped[pid] = status
    return done != 0


_reaped = {}


def reap(pid):
    status = _reaped.pop(pid, None)
    if status is None:
        status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status)


def watch(pid, streams, wakeup):
    """Forwards output until the child has ended. False when the other side went away meanwhile."""
    alive = True
    poller = select.poll()
    for descriptor in (REQUESTS, wakeup, *streams):
        poller.register(descriptor, select.POLLIN)
    while not has_ended(pid):
        for descriptor, _events in poller.poll():
            if descriptor == wakeup:
                os.read(wakeup, 512)
            elif descriptor == REQUESTS:
                kind, _payload = read_frame()
                if kind is None:
                    alive = False
                    poller.unregister(REQUESTS)
                kill_call(pid)
            elif not streams[descriptor].forward():
                poller.unregister(descriptor)
    return alive


def serve_call(payload, wakeup):
    """Runs one call; False when there is nobody left to serve."""
    streams = [Stream(b"O", OUTPUT_LIMIT), Stream(b"E", OUTPUT_LIMIT), Stream(b"R", None)]
    pid = os.fork()
    if pid == 0:
        become_call(payload, streams, wakeup)
    for stream in streams:
        os.close(stream.sink)
    try:
        send(b"S", b"%d" % pid)
        alive = watch(pid, {stream.source: stream for stream in streams}, wakeup)
    except OSError:
        # The answers broke before the end of the requests was seen.
        kill_call(pid)
        return False
    kill_group(pid)
    code = reap(pid)
    if not alive:
        return False
    for stream in streams:
        stream.drain()
        stream.close()
    dropped = tuple(stream.dropped for stream in streams[:2])
    send(b"X", b'{"code":%d,"stdoutDropped":%d,"stderrDropped":%d}' % (code, *dropped))
    return True


def become_call(payload, streams, wakeup):
    """The child's side of the fork. Never returns."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(streams[0].sink, 1)
        os.dup2(streams[1].sink, 2)
        for descriptor in (REQUESTS, ANSWERS, wakeup, streams[0].sink, streams[1].sink):
            os.close(descriptor)
        for stream in streams:
            os.close(stream.source)
        code = noetl_call.run.run(payload, streams[2].sink)
    finally:
        os._exit(code)


def warm_up():
    """Imports that calls are likely to need, made while nobody waits."""
    import asyncio  # noqa: F401
    import inspect  # noqa: F401
    import traceback  # noqa: F401

    gc.collect()
    gc.freeze()


def main():
    if sys.version_info < OLDEST:
        send(b"H", b'{"version":"%d.%d","tooOld":true}' % sys.version_info[:2])
        return
    # Calls see the path that a plain script in the working directory would see.
    sys.path[:] = [""] + [entry for entry in sys.path if os.path.abspath(entry or ".") != _OWN_DIRECTORY]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=False)
    wakeup, wakeup_sink = os.pipe()
    os.set_blocking(wakeup, False)
    os.set_blocking(wakeup_sink, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup_sink, warn_on_full_buffer=False)
    gc.freeze()
    send(b"H", b'{"version":"%d.%d"}' % sys.version_info[:2])

    calls = 0
    warm = False
    while True:
        # In the first pause, or without one when pauses do not come.
        if not warm and (calls == COLD_CALLS or not select.select([REQUESTS], [], [], 0.02)[0]):
            warm_up()
            warm = True
        kind, payload = read_frame()
        if kind is None:
            return
        # A kill that arrives after its call has ended is late, not wrong.
        if kind == b"C":
            calls += 1
            if not serve_call(payload, wakeup):
                return


if __name__ == "__main__":
    main()
