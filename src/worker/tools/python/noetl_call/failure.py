"""An exception as data: its type and ancestry, its text, and a traceback that shows the user's own lines."""

import linecache
import os

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
_MOST_TRACEBACK = 4096
_MOST_MESSAGE = 8192


def remember_source(filename, source):
    """Lets tracebacks quote code that was never in a file."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)


def describe(error):
    kind = type(error)
    described = {
        "type": kind.__name__,
        "ancestry": [base.__name__ for base in kind.__mro__],
        "message": _text_of(error)[:_MOST_MESSAGE],
        "traceback": _traceback(error)[-_MOST_TRACEBACK:],
    }
    for name in ("retryable", "retry_after"):
        value = getattr(error, name, None)
        if isinstance(value, (bool, int, float)):
            described[name] = value
    return described


def _text_of(error):
    try:
        if isinstance(error, SyntaxError) and error.lineno is not None:
            return "%s (line %d)" % (error.msg, error.lineno)
        return str(error)
    except Exception:
        return "<no text: str() of the exception failed>"


def _traceback(error):
    import traceback

    try:
        formatted = traceback.TracebackException.from_exception(error)
        _hide_own_frames(formatted, set())
        return "".join(formatted.format())
    except Exception:
        return ""


def _hide_own_frames(formatted, seen):
    """Drops this program's frames, also in the causes of the exception."""
    if formatted is None or id(formatted) in seen:
        return
    seen.add(id(formatted))
    formatted.stack[:] = [frame for frame in formatted.stack if not frame.filename.startswith(_OWN_DIRECTORY)]
    _hide_own_frames(formatted.__cause__, seen)
    _hide_own_frames(formatted.__context__, seen)
