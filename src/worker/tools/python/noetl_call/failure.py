"""An exception as data: its type and ancestry, its text, and a traceback that shows the user's own lines."""

import linecache
import os

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
_MOST_TRACEBACK = 4096
_MOST_MESSAGE = 8192


def remember_source(filename, source):
    """Lets tracebacks quote code that was never in a file."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)


def describe(error, filename):
    kind = type(error)
    described = {
        "type": kind.__name__,
        "ancestry": [base.__name__ for base in kind.__mro__],
        "message": _text_of(error)[:_MOST_MESSAGE],
        "traceback": _traceback(error, filename)[-_MOST_TRACEBACK:],
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


def _traceback(error, filename):
    import traceback

    try:
        formatted = traceback.TracebackException.from_exception(error)
        pending, seen = [formatted], set()
        while pending:
            link = pending.pop()
            if link is not None and id(link) not in seen:
                seen.add(id(link))
                link.stack[:] = _frames_to_show(link.stack, filename, link is formatted)
                pending += [link.__cause__, link.__context__]
        return "".join(formatted.format())
    except Exception:
        return ""


def _frames_to_show(stack, filename, outermost):
    """What led to the user's code is nobody's business; without a line of it (a syntax error) nothing is."""
    for position, frame in enumerate(stack):
        if frame.filename == filename:
            return stack[position:]
    return [] if outermost else [frame for frame in stack if not frame.filename.startswith(_OWN_DIRECTORY)]
