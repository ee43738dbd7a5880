"""JSON text → plain data → frozen dataclasses, every field checked against its type."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import types
import typing

_hints = functools.cache(typing.get_type_hints)  # evaluated once a class, not once an object


def parse(text: str | bytes) -> typing.Any:
    """JSON text as plain data; ValueError in a sentence if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"This is not JSON: {error}") from None


def build(kind: typing.Any, data: typing.Any, where: str) -> typing.Any:
    """`data` as an instance of `kind`; ValueError names the field (`where`) that does not fit.

    Knows what traces use: dataclasses, tuples (of one kind, or of fixed kinds), unions with None,
    int, float, str, bool, literals. Numbers must be finite; unknown fields are refused.
    """
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, data, where)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        if not isinstance(data, str) or data not in args:
            raise ValueError(f"{where}: one of {', '.join(args)} was expected.")
        return data
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in args:
            return None
        return build(next(a for a in args if a is not type(None)), data, where)
    if origin is tuple:
        if not isinstance(data, list | tuple):
            raise ValueError(f"{where}: a list was expected, not {_name(data)}.")
        kinds = [args[0]] * len(data) if args[-1] is Ellipsis else list(args)
        if len(kinds) != len(data):
            raise ValueError(f"{where}: {len(kinds)} items were expected, not {len(data)}.")
        return tuple(build(k, d, f"{where}[{i}]") for i, (k, d) in enumerate(zip(kinds, data)))
    return _scalar(kind, data, where)


def _dataclass(kind: typing.Any, data: typing.Any, where: str) -> typing.Any:
    if not isinstance(data, dict):
        raise ValueError(f"{where}: an object was expected, not {_name(data)}.")
    hints, fields = _hints(kind), dataclasses.fields(kind)
    unknown = set(data) - {f.name for f in fields}
    if unknown:
        raise ValueError(f"{where}: unknown field {sorted(map(str, unknown))[0]!r}.")
    required = {f.name for f in fields if f.default is f.default_factory}  # both MISSING
    missing = required - set(data)
    if missing:
        raise ValueError(f"{where}: field {sorted(missing)[0]!r} is missing.")
    values = {name: build(hints[name], value, f"{where}.{name}") for name, value in data.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _scalar(kind: type, data: typing.Any, where: str) -> typing.Any:
    fits = isinstance(data, kind) or (kind is float and isinstance(data, int))
    if not fits or (isinstance(data, bool) and kind is not bool):
        raise ValueError(f"{where}: {kind.__name__} was expected, not {_name(data)}.")
    if kind is not float:
        return data
    if not abs(data) <= sys.float_info.max:  # also NaN
        raise ValueError(f"{where}: a finite number was expected.")
    return float(data)


def _name(data: typing.Any) -> str:
    return "nothing" if data is None else type(data).__name__
