"""Python values to JSON text.

1. What JSON can express goes through unchanged, by the fast road of the standard encoder.
2. NaN and infinities become null. Integers that a double cannot hold become text: ids must survive.
3. Sets, tuples, views and iterators become lists; Decimal a number when that loses nothing, else text; bytes base64;
   dates ISO text; arrays, frames, models and dataclasses what they contain; anything else its text.
"""

import base64
import collections.abc
import datetime
import decimal
import enum
import json
import math
import re
import sys

_SAFE_INTEGER = 2**53 - 1
# A digit run that may be an integer too big for a double.
_LONG_DIGITS = re.compile(r"[0-9]{16,}(?![0-9.eE])")


class UnserialisableError(ValueError):
    """The result cannot be expressed in JSON."""


def to_json(value):
    try:
        text = json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if not _may_have_long_integer(text):
            return text
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        return json.dumps(_walk(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise UnserialisableError("the result contains itself or is nested too deeply for JSON") from None


def _may_have_long_integer(text):
    """May be wrong about digits inside text; then only time is lost."""
    return any(text[match.start() - 1] != "." for match in _LONG_DIGITS.finditer(text))


def _walk(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return _walk(value.value)
    if isinstance(value, int):
        return int(value) if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else str(int(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_key(key): _walk(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_walk(item) for item in value]
    return _walk(_plain(value))


def _key(key):
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, enum.Enum):
        return _key(key.value)
    if isinstance(key, (datetime.date, datetime.time)):
        return key.isoformat()
    return str(key)


def _plain(value):
    """One step towards JSON for a value that has no form in it."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        # pandas' "not a time" is a datetime that is not equal to itself.
        return value.isoformat() if value == value else None
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if isinstance(value, collections.abc.Set):
        return _in_order(value)
    if isinstance(value, (collections.abc.Sequence, collections.abc.MappingView, collections.abc.Iterator)):
        return list(value)
    if isinstance(value, BaseException):
        return "%s: %s" % (type(value).__name__, value)
    return _foreign(value)


def _in_order(values):
    """Sets have no order; a sorted list makes the same result twice the same text."""
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def _decimal(value):
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) <= _SAFE_INTEGER:
        return int(value)
    number = float(value)
    return number if math.isfinite(number) and decimal.Decimal(repr(number)) == value else str(value)


def _foreign(value):
    """Values of libraries, by what they can do, so that none has to be imported here."""
    if hasattr(type(value), "to_dict") and hasattr(type(value), "itertuples"):
        return value.to_dict(orient="records")
    for method in ("tolist", "model_dump"):
        if callable(getattr(type(value), method, None)):
            return getattr(value, method)()
    dataclasses = sys.modules.get("dataclasses")
    if dataclasses is not None and dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return str(value)
