"""The global names that the code of a call starts with."""

import datetime
import importlib
import json
import logging
import math
import os
import re
import time
import uuid

# Common modules for code that forgot to import them.
_FALLBACKS = {
    "os": os,
    "json": json,
    "re": re,
    "math": math,
    "time": time,
    "datetime": datetime,
    "uuid": uuid,
    "logging": logging,
}
_SELF_NAMES = ("data", "result")


class ResultView(dict):
    """A step's result that answers `data` and `result` with itself unless it has such a key.

    Code may read a step as `context["step"]["field"]` or as `context["step"]["data"]["field"]`.
    """

    __slots__ = ()

    def __missing__(self, key):
        if key in _SELF_NAMES:
            return self
        raise KeyError(key)

    def get(self, key, default=None):
        if key in self:
            return self[key]
        return self if key in _SELF_NAMES else default


def fill(space, request):
    inputs = request["input"]
    variables = request["variables"]
    space.update(_FALLBACKS)
    space.update(
        args=inputs,
        input_data=dict(inputs),
        variables=variables,
        context=_context(variables, inputs),
        execution_id=request["executionId"],
        step=request["step"],
    )
    if request.get("auth") is not None:
        space["auth"] = request["auth"]
    space.update((name, value) for name, value in inputs.items() if not name.startswith("__"))
    for name, wanted in (request.get("libs") or {}).items():
        space[name] = _library(name, wanted)


def _context(variables, inputs):
    merged = {**variables, **inputs}
    return {name: ResultView(value) if type(value) is dict else value for name, value in merged.items()}


def _library(name, wanted):
    """`alias: module`, `alias: module.attribute`, `alias: {from: module, import: name}`, `alias: {import: module}`."""
    if isinstance(wanted, dict):
        module, attribute = wanted.get("from"), wanted.get("import")
        if not module:
            return importlib.import_module(attribute or name)
        return _member(importlib.import_module(module), attribute or name)
    path = wanted or name
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        module, _, attribute = path.rpartition(".")
        # Only when it is this path that does not exist, not something the module itself needs.
        if not module or error.name != path:
            raise
        return _member(importlib.import_module(module), attribute)


def _member(module, attribute):
    try:
        return getattr(module, attribute)
    except AttributeError:
        try:
            return importlib.import_module("%s.%s" % (module.__name__, attribute))
        except ModuleNotFoundError:
            raise ImportError("cannot import name %r from %r" % (attribute, module.__name__)) from None
