"""The new words of a mail: without the quoted mails, headers and signature in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mailparser_reply.constants import MAIL_LANGUAGES
from mailparser_reply.parser import EmailMessage

# The library's patterns take quadratic time on long lines and texts.
MAX_LINE = 400
MAX_SEARCHED = 60_000
MAX_SIGNATURE_LINES = 12
_FEWEST_WORDS = 5

_QUOTE = re.compile(r"\s*>(?!From )")
_DELIMITER = re.compile(r"[-_]{2,} ?$|[-_=*~]{20,}$")
_FORWARD = re.compile(
    r"(?im)^[ ]*(?:"
    r"-{2,}[ ]*(?:forwarded (?:message|mail|by)|weitergeleitete nachricht"
    r"|message transf[eé]r[eé]|mensaje reenviado|messaggio inoltrato"
    r"|doorgestuurd bericht|mensagem encaminhada|vidarebefordrat meddelande"
    r"|videresendt (?:besked|melding)|переслан\w* (?:сообщение|письмо)).*"
    r"|begin forwarded message ?:|anfang der weitergeleiteten nachricht ?:"
    r"|début du message (?:transféré|réexpédié) ?:)"
)
# The words above a quotation: "On Monday Ann wrote:", "Ann <ann@acme.test>:".
_VERBS = (
    r"wrote|writes|said|says|mentioned|schrieb|schreibt|a écrit|escribió|ha scritto"
    r"|schreef|skrev|написал\w*|пишет|napsal\w*|napisał\w*|kirjoitti|escreveu|yazd\u0131"
)
_SAYS = re.compile(rf"\b(?:{_VERBS})\b|@", re.IGNORECASE)
_WROTE = re.compile(rf"\b(?:{_VERBS})\b.{{0,60}}:\s*$", re.IGNORECASE)
_OTHER_MARK = re.compile(r"\s*(--\]|[|#:}\]+]|[A-Z]{1,3}>)")
_STARTS_ATTRIBUTION = re.compile(
    r"(?:On|At|In|Am|Le|El|Il|Op|Den|Dne|Dnia|W dniu|Em|Quoting|Thus)\b|.*<.*@.*>|\d"
)
# Words by which a mail is seen to quote in a language; only its patterns are tried,
# for those of all languages together cut ordinary English.
_MARKS = {
    "de": ("schrieb", "Von:"),
    "cs": ("napsal", "Odesláno:"),
    "da": ("Sendt:", "skrev"),
    "es": ("escribió", "Enviado:"),
    "fr": ("a écrit", "Envoyé :"),
    "it": ("ha scritto", "Inviato:"),
    "ja": ("年",),
    "ko": ("작성", "보낸"),
    "nl": ("schreef", "Verzonden:"),
    "pl": ("napisał", "Wysłano:"),
    "sv": ("Skickat:",),
    "zh": ("写道", "发件人"),
}
_SENT_FROM = re.compile(
    "|".join(
        filter(
            None,
            (
                said["sent_from"]
                for said in MAIL_LANGUAGES.values()
                if "sent_from" in said
            ),
        )
    ),
    re.IGNORECASE,
)
_SIGNATURE_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "cs", "zh", "ko")


@dataclass(frozen=True, slots=True)
class Words:
    """A mail's own words, and what stood beside them."""

    text: str
    quoted: bool = False
    signed: bool = False


def new_words(body: str, *, answers: bool = True, forwards: bool = False) -> Words:
    """Return what the writer of a mail added; the whole text where that is nothing.

    `answers` says that the mail replies to another: in any other one a line with ">"
    may be anything. A forwarded mail counts as new: `forwards` says that the whole
    mail is one.
    """
    mark = _FORWARD.search(body)
    at = len(body) if mark is None or forwards else mark.start()
    lines, forwarded = body[:at].split("\n"), body[at:]
    kept = lines if forwards else _above_header(_without_quotes(lines, answers))
    unsigned = kept if forwarded else kept[: _signature(kept)]
    quoted = len(kept) < len(lines)
    text = "\n".join(unsigned).strip()
    text = re.sub(r"\n{3,}", "\n\n", f"{text}\n\n{forwarded}".strip())
    if not text:
        return Words(body, quoted=quoted, signed=False)
    return Words(text, quoted=quoted, signed=len(unsigned) < len(kept))


def _above_header(lines: list[str]) -> list[str]:
    """Cut at the headers of a quoted mail, save where only a greeting is above them.

    There the writer answers below, among words that nothing marks as quoted.
    """
    above = lines[: _first_header(lines)]
    return above if len(" ".join(above).split()) >= _FEWEST_WORDS else lines


def _without_quotes(lines: list[str], answers: bool) -> list[str]:
    """Drop the lines that are marked as quoted, and those that say whose they are."""
    kept: list[str] = []
    in_quote, introduced = False, False
    quote = _quote_mark(lines)
    for line in lines:
        if quote.match(line):
            if not in_quote:
                introduced |= _drop_attribution(kept)
            in_quote = True
        else:
            kept.append(line)
            in_quote = in_quote and not line.strip()
    return kept if answers or introduced else lines


def _quote_mark(lines: list[str]) -> re.Pattern[str]:
    """Return the pattern of quoted lines: ">", or what follows "Ann wrote:" instead."""
    for number, line in enumerate(lines[:-1]):
        if len(line) > MAX_LINE or not _WROTE.search(line):
            continue
        following = next(filter(str.strip, lines[number + 1 :]), "")
        if (mark := _OTHER_MARK.match(following)) and not _QUOTE.match(following):
            return re.compile(rf"\s*{re.escape(mark[1])}|{_QUOTE.pattern}")
        break
    return _QUOTE


def _drop_attribution(kept: list[str]) -> bool:
    """Remove the one to three lines that introduce the quotation that follows."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    if not end or len(kept) - end > 2 or not _ends_attribution(kept[end - 1]):
        return False
    for start in range(end - 1, max(-1, end - 4), -1):
        words = " ".join(kept[start:end])
        if not kept[start].strip() or len(words) > MAX_LINE:
            return False
        whole = _STARTS_ATTRIBUTION.match(kept[start].strip())
        alone = start == 0 or not kept[start - 1].strip()
        if _SAYS.search(words) and (whole or alone):
            del kept[start:]
            return True
    return False


def _ends_attribution(line: str) -> bool:
    return line.rstrip().endswith((":", "\uff1a", ": -", "..."))


def _first_header(lines: list[str]) -> int:
    """Return the number of the line where a quoted mail's headers begin."""
    text = _searchable(lines)
    found = [
        match.start() + len(match.group()) - len(match.group().lstrip())
        for language in _languages(text)
        if (match := _patterns(language).HEADER_REGEX.search(text)) and match.group()
    ]
    return text.count("\n", 0, min(found)) if found else len(lines)


def _languages(text: str) -> list[str]:
    english = ["en"] if "wrote:" in text or ":" in text else []
    return english + [
        language
        for language, marks in _MARKS.items()
        if language in MAIL_LANGUAGES and any(mark in text for mark in marks)
    ]


@cache
def _patterns(language: str) -> EmailMessage:
    """Return the library's patterns of one language, compiled once.

    They are used directly: its splitter finds a header again by the text of a group
    within it, strips the indentation of code, and takes lists for signatures.
    """
    patterns = EmailMessage(
        text="", languages=[language], include_english=False, keep_hyphen_lists=True
    )
    patterns.default_language = language
    return patterns


def _searchable(lines: list[str]) -> str:
    """Return the lines stripped, overlong ones blanked, so that numbers stay right."""
    stripped = (line.strip() for line in lines)
    text = "\n".join(line if len(line) <= MAX_LINE else "…" for line in stripped)
    return text[:MAX_SEARCHED]


def _signature(lines: list[str]) -> int:
    """Return the number of the line where the signature begins.

    Only the last lines are looked at: what is longer is no signature.
    """
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:
        return len(lines)
    first = max(1, filled[max(0, len(filled) - MAX_SIGNATURE_LINES)])
    for number in range(first, len(lines)):
        line = lines[number].strip()
        if _DELIMITER.fullmatch(line) or (line and _closes(line)):
            return number
    return len(lines)


def _ends_in_names(line: str, words: list[str]) -> bool:
    """Return whether no sentence follows the formula ("Thanks, that fixed it")."""
    if _SENT_FROM.match(line):
        return True
    return not any(word[0].islower() for word in words[2:])


@cache
def _closing(language: str) -> re.Pattern[str]:
    return _patterns(language).SIGNATURE_REGEX


def _closes(line: str) -> bool:
    """Return whether a line is a closing formula and no more ("Best regards, Ann")."""
    words = line.split()
    if len(line) > 60 or len(words) > 6 or not _ends_in_names(line, words):
        return False
    # The patterns want a line before the signature.
    text = f"…\n{line}"
    return any(
        (match := _closing(language).search(text)) and match.group().strip() == line
        for language in _SIGNATURE_LANGUAGES
    )
