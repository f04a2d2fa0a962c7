"""Typed readers of the environment; an unusable value stops start-up with its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")


def _read(name: str, default: T, convert: Callable[[str], T], expected: str) -> T:
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    try:
        return convert(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw!r} is not {expected}.") from None


def text(
    name: str,
    default: str = "",
    *,
    fits: Callable[[str], object] = bool,
    expected: str = "text",
) -> str:
    """Read a text for which `fits` holds; `expected` says what that is."""

    def convert(raw: str) -> str:
        if not fits(raw):
            raise ValueError
        return raw

    return _read(name, default, convert, expected)


def is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True


def is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (ValueError, OSError):
        return False


def words(
    name: str,
    default: tuple[str, ...] = (),
    *,
    each: Callable[[str], object] = str,
    expected: str = "a comma-separated list",
) -> tuple[str, ...]:
    """Read a comma-separated list; `each` raises ValueError for an unusable entry."""

    def convert(raw: str) -> tuple[str, ...]:
        found = tuple(word.strip() for word in raw.split(",") if word.strip())
        for word in found:
            each(word)
        return found

    return _read(name, default, convert, expected)


def flag(name: str, default: bool) -> bool:
    known = dict.fromkeys(("1", "true", "yes", "on"), True)
    known |= dict.fromkeys(("0", "false", "no", "off"), False)

    def convert(raw: str) -> bool:
        if raw.lower() not in known:
            raise ValueError
        return known[raw.lower()]

    return _read(name, default, convert, "true or false")


def whole(name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
    def convert(raw: str) -> int:
        number = int(raw)
        if not least <= number <= most:
            raise ValueError
        return number

    return _read(name, default, convert, f"a whole number from {least} to {most}")


def number(name: str, default: float, *, least: float, most: float) -> float:
    def convert(raw: str) -> float:
        value = float(raw)
        if not least <= value <= most:
            raise ValueError
        return value

    return _read(name, default, convert, f"a number from {least} to {most}")
