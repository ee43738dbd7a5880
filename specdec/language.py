"""The words of the app by language: assets/text/en.toml; a second language is one more file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from specdec.presets import ASSETS
from specdec.schema import build

FOLDER = ASSETS / "text"
_NAME = re.compile(r"[a-z]{2}(-[A-Z]{2})?")  # en, pt-BR


@cache
def text(table: str, language: str = "en") -> Any:
    """One top-level table of a language file, read-only: a mapping, or a tuple of mappings.

    ValueError says which languages or tables there are.

    Example:
        >>> text("interview")["title"]
        'Interview'
    """
    return _frozen(_table(table, language))


def entries(table: str, kind: type, language: str = "en") -> tuple[Any, ...]:
    """A table of many entries, [[table]], as frozen dataclasses; ValueError names a wrong field."""
    rows = _table(table, language)
    if not isinstance(rows, list):
        raise ValueError(f"{language}.toml, {table}: write [[{table}]], it has many entries.")
    return tuple(build(kind, row, f"{language}.toml, {table}[{i}]") for i, row in enumerate(rows))


def languages() -> tuple[str, ...]:
    """The languages that there are, by the names of their files."""
    return tuple(sorted(f.stem for f in FOLDER.glob("*.toml") if _NAME.fullmatch(f.stem)))


def _table(table: str, language: str) -> Any:
    tables = _tables(language)
    if table not in tables:
        known = ", ".join(tables)
        raise ValueError(f"{language}.toml has no table {table!r}; its tables are {known}.")
    return tables[table]


@cache
def _tables(language: str) -> Mapping[str, Any]:
    if language not in languages():
        raise ValueError(f"There is no language {language!r}; there are {', '.join(languages())}.")
    file = FOLDER / f"{language}.toml"
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.name} is not TOML: {error}") from None


def _frozen(data: Any) -> Any:
    if isinstance(data, dict):
        return MappingProxyType({name: _frozen(value) for name, value in data.items()})
    return tuple(map(_frozen, data)) if isinstance(data, list) else data
