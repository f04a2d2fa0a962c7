"""What an empty list of the admin says, by model: filled by every layer."""

from __future__ import annotations

from dataclasses import dataclass

from connections.registry import Registry


@dataclass(frozen=True, slots=True)
class Empty:
    """What would be in a list, what to do so that something is, and where.

    `address` is the name of a page, `link` says what is there; `command` is what an
    operator types.
    """

    says: str
    does: str
    address: str = ""
    command: str = ""
    link: str = "Go there"


EMPTY: Registry[Empty] = Registry("text of an empty list")


def nothing_yet(name: str) -> Empty:
    """Return what a list without a text of its own says."""
    return Empty(f"There are no {name} yet.", "They appear here once there are some.")
