"""Λ: how much was looked at for an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping

TOOL_CALL = 2
TOKENS = 1000


def effort(
    *, arms: Mapping[str, int], hops: int = 0, calls: int = 0, tokens: int = 0
) -> int:
    """Return Λ, the effort an answer took, as a small whole number.

    Λ = a + h + ceil(log2(1 + c)) + 2 t + ceil(m / 1000), where `a` arms found
    something, the walks among them went `h` hops, the arms scored `c` candidates in
    all, `t` tools were called, and models read and wrote `m` tokens.
    """
    worked = sum(1 for found in arms.values() if found)
    scored = math.ceil(math.log2(1 + sum(arms.values())))
    return worked + hops + scored + TOOL_CALL * calls + math.ceil(tokens / TOKENS)
