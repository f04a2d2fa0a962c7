"""Who took part in a meeting: attendees by address, speakers by their names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from connections.records import Identity, NodeDraft

_ADDRESS = re.compile(r"[^\s@<>,]{1,64}@[^\s@<>,]{1,190}")
_NOT_WORD = re.compile(r"[\W_]+")
# Labels that machines give to voices they do not know.
_GENERIC = frozenset(
    (
        "anonymous",
        "attendee",
        "caller",
        "guest",
        "participant",
        "person",
        "speaker",
        "unidentified",
        "unknown",
        "unnamed",
        "user",
        "voice",
    )
)


@dataclass(frozen=True, slots=True)
class Attendee:
    """Somebody a transcript lists; either part may be empty."""

    name: str
    address: str


def address(value: str) -> str:
    """Return `value` in lower case where it is a mail address, else ""."""
    return value.lower() if _ADDRESS.fullmatch(value) else ""


def normalised(name: str) -> str:
    """Return the words of a name, folded: equal for spellings of one name."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(_NOT_WORD.sub(" ", folded).split())


def is_generic(name: str) -> bool:
    """Say whether a speaker's name is only a label: "Speaker 2", "Unknown", "7"."""
    rest = [word for word in normalised(name).split() if word not in _GENERIC]
    labelled = len(rest) < len(normalised(name).split())
    numbers = all(word.isdigit() for word in rest)
    return numbers or (
        labelled and all(len(word) == 1 or word.isdigit() for word in rest)
    )


class People:
    """The people of one meeting and the identity that stands for each name."""

    def __init__(
        self, meeting_id: str, attendees: Iterable[Attendee], organizer: str = ""
    ) -> None:
        self._meeting_id = meeting_id
        self._nodes: dict[str, NodeDraft] = {}
        self._known: dict[str, str] = {}
        self._listed = [(person, self._identity(person)) for person in attendees]
        if organizer and f"person:{organizer}" not in self._nodes:
            self._identity(Attendee("", organizer))
        self._by_name = self._index(name=True)
        self._by_local_part = self._index(name=False)

    def _identity(self, person: Attendee) -> str:
        if not person.address:
            return self._named(person.name)
        key = f"person:{person.address}"
        names = (person.name,) if person.name and not is_generic(person.name) else ()
        identity = Identity("mail", person.address, names)
        self._nodes[key] = NodeDraft(
            key=key, node_type="address", title=person.address, identity=identity
        )
        return key

    def _index(self, *, name: bool) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for person, key in self._listed:
            said = person.name if name else person.address.partition("@")[0]
            if normalised(said):
                found.setdefault(normalised(said), set()).add(key)
        return found

    def speaker(self, name: str) -> str:
        """Return the key of who speaks under `name`.

        An attendee where exactly one is called so, by name or else by the local part
        of the address; else the name itself: project-wide where it is a full name,
        otherwise of this meeting only.
        """
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> str:
        mail = address(name)
        if f"person:{mail}" in self._nodes:
            return f"person:{mail}"
        for index in (self._by_name, self._by_local_part):
            keys = index.get(normalised(name), set())
            if len(keys) == 1:
                return next(iter(keys))
        return self._named(name)

    def _named(self, name: str) -> str:
        known, generic = normalised(name), is_generic(name)
        full = len(known.split()) > 1 and not generic
        key = f"name:{known}" if full else f"name:{self._meeting_id}/{known or name}"
        identity = Identity("name", names=() if generic else (name,))
        self._nodes.setdefault(
            key, NodeDraft(key=key, node_type="name", title=name, identity=identity)
        )
        return key

    def attendees(self) -> list[str]:
        """Return the key of each listed attendee."""
        return [key for _, key in self._listed]

    def names(self) -> list[str]:
        """Return what each attendee and speaker is called, sorted, each once."""
        listed = {person.name or person.address for person, _ in self._listed}
        return sorted(listed | {name for name in self._known if not is_generic(name)})

    def called(self, mail: str) -> str:
        """Return the name of an attendee by address, else the address."""
        named = (p.name for p, _ in self._listed if mail and p.address == mail)
        return next((name for name in named if name), mail)

    def nodes(self) -> list[NodeDraft]:
        """Return the node of each identity that was named so far, by key."""
        return [self._nodes[key] for key in sorted(self._nodes)]
