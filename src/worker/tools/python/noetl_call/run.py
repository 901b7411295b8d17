"""Runs the user's code of one call and writes one JSON answer to the result pipe.

1. The answer is eight bytes of length and then JSON: a reader can tell a whole answer from one that a crash cut short.
2. The code runs as the module `__main__` of its process, with its inputs as globals.
3. Result: the global `result` when it was set and is not None; else what a top-level `return` gives; else what `main`
   returns, called with the inputs that its parameters name; else none.
"""

import json
import os
import resource
import struct
import sys
import types

from . import code as code_module
from . import convert, failure, names

ANSWER_LENGTH = struct.Struct(">Q")


def run(payload, result_pipe):
    """Returns the exit code of the call's process."""
    exit_code = 0
    try:
        answer, exit_code = _answer(payload)
        _write(result_pipe, answer)
    finally:
        _finish(exit_code)
    return exit_code


def _answer(payload):
    request = json.loads(payload)
    filename = "<step %s>" % request["step"]
    try:
        _prepare_process(request)
        found, value = _execute(request, filename)
        data = convert.to_json(value) if found else "null"
        return '{"ok":true,"found":%s,"data":%s}' % ("true" if found else "false", data), 0
    except SystemExit as exit_request:
        if exit_request.code in (None, 0):
            return _answer_after_exit(), 0
        described = failure.describe(exit_request, filename)
        return json.dumps({"ok": False, "failure": described}), _exit_code(exit_request.code)
    except BaseException as error:
        return json.dumps({"ok": False, "failure": failure.describe(error, filename)}), 1


def _answer_after_exit():
    """`sys.exit(0)` ends the code early but not in failure: a result that was set before counts."""
    value = sys.modules["__main__"].__dict__.get("result")
    if value is None:
        return '{"ok":true,"found":false,"data":null}'
    return '{"ok":true,"found":true,"data":%s}' % convert.to_json(value)


def _exit_code(code):
    return code & 0xFF or 1 if isinstance(code, int) else 1


def _prepare_process(request):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = request.get("memoryBytes")
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.environ.update(request.get("env") or {})
    if request.get("cwd"):
        os.chdir(request["cwd"])
    sys.path[:0] = request.get("sysPath") or []
    sys.argv = [request["step"]]


def _execute(request, filename):
    """Answers (found, value)."""
    source = request["code"]
    failure.remember_source(filename, source)
    program = code_module.parse(source, filename)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    space = module.__dict__
    names.fill(space, request)
    given = space.get("result")

    returned = program.run(space)
    value = space.get("result")
    # An input called `result` that the code never touched is an input, not a result.
    if value is not None and value is not given:
        return True, value
    if program.returns:
        return True, returned
    main = space.get("main")
    if callable(main) and not program.calls_main:
        return True, code_module.call_main(main, request["input"])
    return False, None


def _write(pipe, answer):
    data = answer.encode("utf-8", "replace")
    view = memoryview(ANSWER_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(pipe, view):]


def _finish(exit_code):
    """What the interpreter does at a normal end: waits for threads, runs exit handlers, flushes."""
    try:
        threading = sys.modules.get("threading")
        if threading is not None and exit_code == 0:
            threading._shutdown()
        atexit = sys.modules.get("atexit")
        if atexit is not None:
            atexit._run_exitfuncs()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
