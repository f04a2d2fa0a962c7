"""Settings of a request that not every server takes: the next one when one is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Of this process, by address and model: what was refused once is not tried again.
_RUNGS: dict[tuple[str, str], dict[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Ladder:
    """By name, the values to try in turn; it stands on one of each."""

    values: Mapping[str, Sequence[Any]]
    rungs: dict[str, int]

    @classmethod
    def of(
        cls, base_url: str, model: str, values: Mapping[str, Sequence[Any]]
    ) -> Ladder:
        return cls(values, _RUNGS.setdefault((base_url, model), {}))

    def __getitem__(self, name: str) -> Any:
        return self.values[name][self.rungs.get(name, 0)]

    def lower(self, refusal: str) -> bool:
        """Go to the next value of what a refusal names; return whether there is one."""
        for name, values in self.values.items():
            rung = self.rungs.get(name, 0)
            if name in refusal and rung + 1 < len(values):
                self.rungs[name] = rung + 1
                return True
        return False
