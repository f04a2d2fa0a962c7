"""Whether a sentence takes a thing up or gives it up: "use Redis", "stop using Redis"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.extract import listed
from graph.mentions import find_mentions, scan
from graph.sentences import Sentences

_GIVES_UP = re.compile(
    r"\b(?:stop(?:s|ped|ping)?(?: \w+)? us(?:e|ing)|no longer(?: us(?:e|es|ing))?"
    r"|not (?:to )?us(?:e|ing)|n['\u2019]t use|against(?: using)?"
    r"|drop(?:s|ped|ping)?|abandon(?:s|ed|ing)?|retir(?:e|es|ed|ing)"
    r"|remov(?:e|es|ed|ing)|replac(?:e|es|ed|ing)|decommission(?:s|ed|ing)?"
    r"|get(?:ting)? rid of|phas(?:e|es|ed|ing) out|instead of|rather than"
    r"|(?:mov|switch|migrat)(?:e|es|ed|ing) (?:away |off )?(?:from|off)|avoid(?:s|ing)?"
    r"|gave up|give up|giving up(?: on)?)\b",
    re.IGNORECASE,
)
_TAKES_UP = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|adopt(?:s|ed|ing)?|cho(?:ose|oses|se)|chosen|pick(?:s|ed)?"
    r"|go(?:ing)? with|went with|settled on|keep(?:s|ing)?|kept|stay(?:s|ing)? (?:on|with)"
    r"|(?:mov|switch|migrat)(?:e|es|ed|ing) to|switch to|standardi[sz](?:e|es|ed) on"
    r"|(?:in favou?r of|with|by|to)(?= \W*$))\b",
    re.IGNORECASE,
)
# What is only weighed is no stance.
_UNSURE = re.compile(
    r"\b(?:if|whether|should|could|might|would|maybe|perhaps|consider\w*|what about"
    r"|propos\w+|thinking (?:of|about))\b|\?\s*$",
    re.IGNORECASE,
)
# Nothing is said across these: another clause begins.
_BREAK = re.compile(
    r"[;:!?()]|\.\s|\b(?:but|because|although|while|whereas|if|unless)\b"
)


def stances(text: str) -> dict[str, bool]:
    """Return the technologies and patterns `text` takes up (True) or gives up (False).

    Each is judged by the last such words before it, in its own clause; a name that is
    both taken up and given up is left out.
    """
    hits = scan(listed(), text)
    if not hits.forms:
        return {}
    found: dict[str, set[bool]] = {}
    for mention in find_mentions(text, hits, Sentences(text)):
        if mention.type not in ("technology", "pattern"):
            continue
        if _UNSURE.search(mention.sentence.of(text)):
            continue
        stance = _stance(text[mention.sentence.start : mention.start])
        if stance is not None:
            found.setdefault(mention.name, set()).add(stance)
    return {name: said.pop() for name, said in found.items() if len(said) == 1}


def _stance(before: str) -> bool | None:
    clause = before[max((m.end() for m in _BREAK.finditer(before)), default=0) :]
    gives = [m.end() for m in _GIVES_UP.finditer(clause)]
    takes = [m.end() for m in _TAKES_UP.finditer(clause)]
    if not gives and not takes:
        return None
    # "stop using" ends where its "using" does: giving up is the stronger reading.
    return max(takes, default=-1) > max(gives, default=-1)


def opposed(one: Mapping[str, bool], other: Mapping[str, bool]) -> list[str]:
    """Return the names that one takes up and the other gives up."""
    return sorted(name for name in one if name in other and one[name] != other[name])
