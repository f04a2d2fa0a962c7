"""The published rule as a loop: what the closed form must equal."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Kept:
    importance: float = 0.5
    is_pinned: bool = False
    is_protected: bool = False
    has_left: bool = False
    was_faded: bool = False  # by the latest tick


@dataclass
class Naive:
    """Multiplies everything at every end; a tick is a conversation, or the first one
    of a day."""

    by_day: bool = False
    held: dict[int, Kept] = field(default_factory=dict)
    ticked_today: bool = False

    def add(self, name: int, is_protected: bool) -> None:
        self.held[name] = Kept(is_protected=is_protected)

    def next_day(self) -> None:
        self.ticked_today = False

    def end(self, referenced: set[int], born: set[int] = frozenset()) -> bool:
        """Return whether the clock moved."""
        ticks = not (self.by_day and self.ticked_today)
        self.ticked_today = True
        for name, kept in self.held.items():
            if kept.has_left:
                continue
            if ticks:
                kept.was_faded = False
            if name in referenced | born:
                if kept.was_faded and not kept.is_pinned:
                    kept.importance /= 0.9  # it was in a conversation of this tick
                kept.was_faded = False
                if name not in born:
                    kept.importance = min(1.0, kept.importance * 1.1)
            elif ticks and not kept.is_pinned:
                kept.importance *= 0.9
                kept.was_faded = True
        if ticks:
            for kept in self.held.values():
                stays = kept.is_pinned or kept.is_protected
                kept.has_left = kept.has_left or (not stays and kept.importance < 0.05)
        return ticks

    def pin(self, name: int, is_pinned: bool) -> None:
        kept = self.held[name]
        if kept.is_pinned != is_pinned and not kept.has_left:
            kept.is_pinned, kept.was_faded = is_pinned, False
            if not is_pinned and not kept.is_protected:
                kept.has_left = kept.importance < 0.05

    def restore(self, name: int) -> None:
        if self.held[name].has_left:
            self.held[name].has_left = False
            self.held[name].importance, self.held[name].was_faded = 0.5, False
