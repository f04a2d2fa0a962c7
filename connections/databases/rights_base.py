"""What a login may do beyond reading, as the test of a connection tells it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

# `superuser`: it may do everything, or can come to; `beyond`: it may do more than read;
# `note`: worth knowing, harmless while statements run in a read-only transaction.
Level: TypeAlias = Literal["superuser", "beyond", "note"]
SHOWN_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A right that a reading login does not need: on what, and in plain words."""

    level: Level
    right: str
    where: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What a login may beyond reading, gravest first, and what would make a good one."""

    findings: tuple[Finding, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def is_superuser(self) -> bool:
        return any(finding.level == "superuser" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        return {
            "findings": [asdict(finding) for finding in self.findings],
            "advice": list(self.advice),
        }


ORDER: tuple[Level, ...] = ("superuser", "beyond", "note")


def sort_findings(found: list[Finding]) -> tuple[Finding, ...]:
    """Return findings gravest first, each once, in the order found."""
    once = list(dict.fromkeys(found))
    return tuple(sorted(once, key=lambda finding: ORDER.index(finding.level)))


def listed(names: list[str]) -> str:
    """Return names as one text: the first ones, and how many more there are."""
    more = len(names) - SHOWN_MOST
    shown = ", ".join(names[:SHOWN_MOST])
    return f"{shown} and {more} more" if more > 0 else shown
