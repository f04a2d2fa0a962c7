"""What a sentence states: certain or not, whose words, and the cues of each type."""

from __future__ import annotations

import re

FEWEST_WORDS, MOST_WORDS = 4, 60

_FIRST_PERSON = re.compile(r"\b(?:I|we|my|our|me|us|mine|ours)\b(?!\.)", re.IGNORECASE)
# Without what was said before nobody knows what these speak of.
_POINTS_BACK = re.compile(
    r"(?:(?:and|but|so|or|because|which|well|also|plus|anyway|otherwise|besides"
    r"|indeed|actually"
    r"|in other words|reminder|fyi|iirc|oh|ah|ok|okay|yeah)\b|(?:right|yes|no|then"
    r"|now|sure),"
    r"|(?:it|this|that|these|those|they|he|she|its|their|his|her|such|same|both|neither"
    r"|one of (?:them|those)|the (?:former|latter|other|same))\b)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|apparently"
    r"|hopefully|i (?:think"
    r"|guess|suppose|believe|hope|wonder|assume|imagine|feel)|we (?:think|hope"
    r"|wonder|could"
    r"|should|might|may)|not (?:\w+ )?(?:sure|certain|clear)|unsure|unclear|might"
    r"|should|would"
    r"|could|seems?|sort of|kind of|if|whether|unless|imagine|what if|i'd|or something"
    r"|wish|let's|let us|why not|how about)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:hi|hello|hey|dear|thanks?|thank you|many thanks|sorry|welcome|good"
    r" (?:morning|afternoon"
    r"|evening|day)|regards|best|cheers|please|congratulations|happy)\b",
    re.IGNORECASE,
)
# What a sentence must not contain to be one of running text.
_NO_PROSE = re.compile(r"[{}|<>\\]|\w\(\)|::|=>|->|https?://\S+\s*$|[=_]{2,}|\t")
_LOOSE_QUOTE = re.compile(r"^(?:[A-Z]{1,4})?>")

RISK = re.compile(
    r"\b(?:(?:is|are|was|were|be|puts?|putting|now|still) at risk\b|at risk of\b"
    r"|risks? (?:of \w+|that|is|are|here|for|in)\b|(?:puts?|run(?:s|ning)?) (?:\w+"
    r" )?(?:a|the) risk\b"
    r"|(?:big|biggest|main|real|serious|only|largest|greatest|new|remaining|open"
    r"|second|first"
    r"|key|major|legal|security) risks?\b|\brisks?:"
    r"|(?:might|may|could|will (?:probably |likely )?|(?:is|are) likely to|(?:is"
    r"|are) going to)"
    r"\s*(?:slip|be late|be delayed|run out|overrun|churn|miss (?:the|our|its|their)"
    r"|not (?:make|hold|fit"
    r"|be ready|arrive|meet|finish|work))\b"
    r"|worr(?:ied|ies|y) (?:me |us )?(?:that|about|is)\b|afraid that\b"
    r"|(?:my|our|main|big|biggest|real|only|serious|a) concerns? (?:is|are|was|about"
    r"|that|with)\b"
    r"|in danger\b|jeopardi[sz]\w+|single point of failure|running out of\b)",
    re.IGNORECASE,
)
_NO_RISK = re.compile(
    r"(?:\b(?:no|not|never|without|zero|nobody|nothing|none|little|low|less|lower"
    r"|mitigat\w+"
    r"|avoid\w*|reduc\w+|remov\w+|eliminat\w+|don't|doesn't|didn't|isn't|aren't"
    r"|wasn't|own)\b"
    r"[^,;:]{0,30})$",
    re.IGNORECASE,
)
PATTERN = re.compile(
    r"\b(?:every (?:single )?(?:time|day|week|month|quarter|year|morning|evening"
    r"|night|release"
    r"|sprint|winter|summer|spring|autumn|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|other \w+)"
    r"|each (?:time|day|week|month|quarter|year|release|sprint)|whenever|usually"
    r"|typically"
    r"|as a rule|tends? to|again and again|over and over|keeps? \w+ing|always"
    r"|for the (?:second|third|fourth|fifth|sixth|\d+th) time|(?:on|in) most \w+s"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
_NO_PATTERN = re.compile(
    r"\bas (?:always|usual)\b|\balways (?:a pleasure|welcome|happy|good|been)\b"
    r"|\bif\b|\bcan always\b|\bcould always\b|\bnot always\b|\bevery time i see\b",
    re.IGNORECASE,
)
INSIGHT = re.compile(
    r"\b(?:turn(?:s|ed) out (?:that|to)|we(?:'ve| have)? (?:learn(?:ed|t)|found out"
    r"|realised"
    r"|realized|discovered)\b|lessons? (?:learn(?:ed|t)|is|was|are|:)|root cause(?:"
    r" of [^.,;]{3,40})? (?:is|was)\b"
    r"|(?:the |real |main |actual )(?:reason|cause) (?:is|was|for|behind|why)|(?:was"
    r"|were|is|are) caused by"
    r"|(?:shows|showed|proved|revealed|confirmed|suggests) that"
    r"|what (?:works|worked|helped|helps) (?:is|was|best))",
    re.IGNORECASE,
)

# Speech as it was spoken, not as one would write it down.
_HALTING = re.compile(
    r"\b(?:u+h+|u+m+|e+h+|e+r+m*|hm+|mm+)\b|\b(\w+),? \1\b", re.IGNORECASE
)
# A fact has a verb: not "R Project Developer Sprint" or "Plan to keep going".
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|cannot|does|do|did|won't|isn't"
    r"|aren't|wasn't"
    r"|doesn't|didn't|hasn't|must)\b|\w['\u2019](?:s|re|ve|ll) |\b[a-z]{2,}ed\b"
    r"|\b[a-z]{2,}s (?:the|an?|on|in|at|from|to|by|with|until|for|back|out|up|its"
    r"|their|our|his"
    r"|her|no|all|not|into|only|about|\d)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"[\"'\u201c\u2018(@#]*[A-Z\u00c0-\u00de0-9]")
_NO_SUBJECT = re.compile(
    r"(?:not|to|as|with|without|for|by|say|see|note|use|go|ensure|remember"
    r"|consider|do|don't|never|be|keep|likely|\w+ed|\w+ing)\b",
    re.IGNORECASE,
)
_FLEETING = re.compile(
    r"\b(?:in (?:a|the next) (?:few|couple)|right now|at the moment|just now|a few"
    r" (?:hours|minutes|seconds)"
    r"|(?:this|last) (?:minute|second)|see you|got it|sounds good)\b",
    re.IGNORECASE,
)

# Of the moment between two people; what holds for all is said otherwise.
_PERSONAL = re.compile(r"\b(?:I|you|your|yours)\b", re.IGNORECASE)
_ENDS = re.compile(r"[.!\u2026][\"'\u201d\u2019)*_]*(?:\s*:[a-z_+-]+:)*$")


def is_statement(sentence: str) -> bool:
    """Return whether it is a whole sentence of running text that asks nothing."""
    words = sentence.split()
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS:
        return False
    if "?" in sentence or _COURTESY.match(sentence) or _LOOSE_QUOTE.match(sentence):
        return False
    letters = sum(c.isalpha() or c.isspace() for c in sentence)
    return letters >= 0.7 * len(sentence) and not _NO_PROSE.search(sentence)


def is_written(sentence: str) -> bool:
    """Return whether it begins and goes on as a written sentence does."""
    return _BEGINS.match(sentence) is not None and not _HALTING.search(sentence)


def is_fact(sentence: str) -> bool:
    """Return whether it has a subject and a verb, and holds longer than a moment."""
    return (
        _VERB.search(sentence) is not None
        and not _NO_SUBJECT.match(sentence)
        and not _FLEETING.search(sentence)
        and not _PERSONAL.search(sentence)
        and _ENDS.search(sentence) is not None
    )


def is_sure(sentence: str) -> bool:
    """Return whether it says what is, without a guess, a wish or a condition."""
    return _UNSURE.search(sentence) is None


def points_back(sentence: str) -> bool:
    """Return whether its subject was named before it: "It failed."."""
    return _POINTS_BACK.match(sentence) is not None


def is_own_voice(sentence: str) -> bool:
    """Return whether it speaks of its author, "we decided", so that it needs them."""
    return _FIRST_PERSON.search(sentence) is not None


def states_risk(sentence: str) -> bool:
    cue = RISK.search(sentence)
    return cue is not None and not _NO_RISK.search(sentence[: cue.start()])


def states_pattern(sentence: str) -> bool:
    return PATTERN.search(sentence) is not None and not _NO_PATTERN.search(sentence)


def states_insight(sentence: str) -> bool:
    return INSIGHT.search(sentence) is not None
