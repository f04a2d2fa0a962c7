"""Plugins by name: how a layer offers what another layer fills in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")


class UnknownName(LookupError):
    """A name that no plugin is registered under; the message lists those that are."""


class Registry(dict[str, T]):
    """Plugins by name; registering a name twice is an error, so is asking for none."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def add(self, name: str, plugin: T) -> T:
        if name in self:
            raise ImproperlyConfigured(
                f"The {self.kind} {name!r} is already registered."
            )
        self[name] = plugin
        return plugin

    def register(self, name: str) -> Callable[[T], T]:
        """Decorate a plugin to register it under `name`."""
        return lambda plugin: self.add(name, plugin)

    def __missing__(self, name: str) -> T:
        known = ", ".join(sorted(self)) or "none"
        raise UnknownName(f"There is no {self.kind} {name!r}; there are: {known}.")
