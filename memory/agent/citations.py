"""What a model writes, made safe while it streams: only citations, no other links.

A state machine over text in any chunks. What could still become something else is held
back. It knows Markdown well enough that a renderer cannot read its output otherwise:
code is re-fenced, what is left open is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from memory.agent.markup import (
    AUTOLINK,
    DEFINITION,
    FENCE,
    FULL_WIDTH,
    FULL_WIDTH_SO_FAR,
    HOLD,
    MAYBE_AUTOLINK,
    MAYBE_DEFINITION,
    MAYBE_FENCE,
    URL,
    WORD,
    closing,
    destination,
    numbers_in,
)

REMOVED = "(link removed)"
DEEPEST = 6
_BLANKS = re.compile(r"[ \t]+")
_PLAIN = re.compile(r"[^\sA-Za-z0-9\\`!\[【\uff3b</]+")
_ESCAPABLE = frozenset("\\`*_{}()#+-.!~|>\"'&$%,:;=?@^")
# What was read, and where reading goes on; None: more text could change it.
Step = tuple[str, int] | None


@dataclass(slots=True)
class CitationFilter:
    """Turns text with the numbers of sources into text with those of citations.

    `is_known` says whether a source of that number was given, `number_of` the number
    of the source at an address. Numbers of no source are taken out and counted, as are
    links: one to a source becomes its citation. Images leave their words.
    """

    is_known: Callable[[int], bool]
    number_of: Callable[[str], int | None]
    # By the number of a source that of its citation, in the order of first use.
    cited: dict[int, int] = field(default_factory=dict)
    unknown_numbers: int = 0
    links_removed: int = 0
    _waiting: str = ""
    _blanks: str = ""
    _fence: str = ""
    _begins_line: bool = True
    # Round brackets or a colon right after square ones would make them a link.
    _ends_bracket: bool = False
    _depth: int = 0
    _references: dict[str, str] = field(default_factory=dict)

    def feed(self, text: str) -> str:
        """Return what of the text so far is settled and was not returned before."""
        self._waiting += text
        return self._take(is_last=False)

    def close(self) -> str:
        """Return the rest."""
        rest = self._take(is_last=True) + self._blanks
        self._blanks = ""
        if self._fence:
            self._fence = ""
            rest += "```" if self._begins_line else "\n```"
        return rest

    def whole(self, text: str) -> str:
        """Return all of `text` at once; for a filter that is used only once."""
        return self.feed(text) + self.close()

    def _take(self, *, is_last: bool) -> str:
        text, place, said = self._waiting, 0, []
        while place < len(text):
            step = self._step(text, place, is_last)
            if step is None:
                break
            piece, place = step
            if piece:
                if self._ends_bracket and not self._blanks and piece[0] in "(:":
                    self._blanks = " "
                said.append(self._blanks + piece)
                self._blanks = ""
                self._begins_line = piece.endswith("\n")
                self._ends_bracket = piece.endswith("]") and "[" in piece
        self._waiting = text[place:]
        return "".join(said)

    def _step(self, text: str, at: int, is_last: bool) -> Step:
        if self._fence:
            return self._in_fence(text, at, is_last)
        if self._begins_line and not self._blanks and not self._depth:
            known, step = self._line(text, at, is_last)
            if known:
                return step
        sign = text[at]
        if sign == "\n":
            return "\n", at + 1
        if blanks := _BLANKS.match(text, at):
            self._blanks += blanks[0]
            return "", blanks.end()
        if sign == "\\":
            return self._escape(text, at, is_last)
        if sign == "`":
            return self._code(text, at, is_last)
        if sign == "!":
            return self._image(text, at, is_last)
        if sign == "[":
            return self._bracket(text, at, is_last)
        if sign in "【\uff3b":
            return self._full_width(text, at, is_last)
        if sign == "<":
            return self._angle(text, at, is_last)
        return self._words(text, at, is_last)

    # --- lines ------------------------------------------------------------------------

    def _line(self, text: str, at: int, is_last: bool) -> tuple[bool, Step]:
        """Return whether a fence or a definition begins here, or may, and what of it."""
        is_whole = is_last or "\n" in text[at:]
        if not is_whole:
            may_be = MAYBE_FENCE.fullmatch(text, at) or MAYBE_DEFINITION.fullmatch(
                text, at
            )
            is_short = len(text) - at < HOLD
            return bool(may_be and is_short), None
        if found := FENCE.match(text, at):
            self._fence = found["fence"][0]
            return True, (f"```{found['language']}\n", found.end())
        if found := DEFINITION.match(text, at):
            self._references.setdefault(found["label"].casefold(), found["address"])
            self.links_removed += 1
            return True, ("", found.end())
        return False, None

    def _in_fence(self, text: str, at: int, is_last: bool) -> Step:
        end = text.find("\n", at) + 1
        if not end:
            if not is_last:
                return None
            end = len(text)
        line = text[at:end]
        if line.lstrip().startswith(("```", self._fence * 3)):
            self._fence = ""
            return ("```\n" if line.endswith("\n") else "```"), end
        return line, end

    # --- signs ------------------------------------------------------------------------

    def _escape(self, text: str, at: int, is_last: bool) -> Step:
        if at + 1 == len(text):
            return ("\\\\", at + 1) if is_last else None
        after = text[at + 1]
        if after in _ESCAPABLE:
            return text[at : at + 2], at + 2
        # It would only hide a number, a tag or an address; before others it says
        # nothing.
        return ("", at + 1) if after in "[]</" else ("\\", at + 1)

    def _code(self, text: str, at: int, is_last: bool) -> Step:
        """A span of code ends on its line, or is none: its signs are then escaped."""
        run = 1
        while text.startswith("`", at + run):
            run += 1
        line = text.find("\n", at)
        is_whole = is_last or line >= 0
        if at + run == len(text) and not is_last:
            return None
        until = line if line >= 0 else len(text)
        fence = re.compile(rf"(?<!`)`{{{run}}}(?!`)")
        found = fence.search(text, at + run, until)
        if found and (found.end() < len(text) or is_last):
            return text[at : found.end()], found.end()
        if not is_whole and len(text) - at < HOLD:
            return None
        return "\\`" * run, at + run

    def _image(self, text: str, at: int, is_last: bool) -> Step:
        if at + 1 == len(text):
            return ("!", at + 1) if is_last else None
        if text[at + 1] != "[":
            return "!", at + 1
        return self._bracket(text, at + 1, is_last, is_image=True)

    def _angle(self, text: str, at: int, is_last: bool) -> Step:
        if found := AUTOLINK.match(text, at):
            return self._address(found[1]), found.end()
        is_short = len(text) - at < HOLD
        if not is_last and is_short and MAYBE_AUTOLINK.fullmatch(text, at):
            return None
        after = text[at + 1 : at + 2]
        # A mark that is taken out must not leave a tag behind it.
        is_text = not after or after.isspace() or after.isdigit() or after in "=-"
        return ("<" if is_text else "&lt;"), at + 1

    def _full_width(self, text: str, at: int, is_last: bool) -> Step:
        if found := FULL_WIDTH.match(text, at):
            if found.end() == len(text) and not is_last:
                return None
            return self._marked(numbers_in(found[1]), text, found.end()), found.end()
        may_be = FULL_WIDTH_SO_FAR.fullmatch(text, at)
        if may_be and not is_last and len(text) - at < HOLD:
            return None
        return text[at], at + 1

    def _words(self, text: str, at: int, is_last: bool) -> Step:
        """Words as they are; an address among them becomes a citation, or goes."""
        is_open = not is_last and len(text) - at < HOLD
        if word := WORD.match(text, at):
            rest = text[word.end() : word.end() + 3]
            if is_open and "://".startswith(rest):
                return None
            if rest != "://" and not word[0].lower().startswith("www."):
                return word[0], word.end()
        elif text.startswith("/", at):
            if is_open and len(text) - at < 3 and text[at:].strip("/") == "":
                return None
            if not (text.startswith("//", at) and text[at + 2 : at + 3].isalnum()):
                return "/", at + 1
        elif plain := _PLAIN.match(text, at):
            return plain[0], plain.end()
        else:
            return text[at], at + 1
        found = URL.match(text, at)
        assert found  # noqa: S101 # it matches anything that came here
        if is_open and found.end() == len(text):
            return None
        bare = found[0].rstrip(".,;:!?)*_~'\"")
        return self._address(bare), at + len(bare)

    # --- brackets ---------------------------------------------------------------------

    def _bracket(
        self, text: str, at: int, is_last: bool, *, is_image: bool = False
    ) -> Step:
        is_open = not is_last and len(text) - at < HOLD
        end = closing(text, at, "[", "]")
        if end is None or (end + 1 == len(text) and is_open):
            if is_open and (end is not None or "\n\n" not in text[at:]):
                return None
            if end is None:
                return "\\[", at + 1
        inner, after = text[at + 1 : end], text[end + 1 : end + 2]
        numbers = () if is_image else numbers_in(inner)
        if after == "(":
            close = closing(text, end + 1, "(", ")")
            if close is None and is_open and "\n\n" not in text[end:]:
                return None
            address = destination(text[end + 2 : close]) if close else None
            if close and address is not None:
                if numbers:
                    return self._marked(numbers, text, close + 1), close + 1
                return self._link(inner, address), close + 1
        elif after == "[" and not numbers:
            close = closing(text, end + 1, "[", "]")
            if close is None and is_open and "\n\n" not in text[end:]:
                return None
            label = text[end + 2 : close] if close else ""
            if close and not numbers_in(label):
                known = self._references.get((label or inner).casefold(), "")
                return self._link(inner, known), close + 1
        if numbers:
            return self._marked(numbers, text, end + 1), end + 1
        if is_image or inner.casefold() in self._references:
            known = self._references.get(inner.casefold(), "")
            return self._link(inner, known), end + 1
        words = self._inside(inner)
        said = f"({words})" if numbers_in(words) else f"[{words}]"
        return (f"{said} " if after == "[" else said), end + 1

    def _marked(self, numbers: tuple[int, ...], text: str, end: int) -> str:
        """Return the citations of those numbers; where none is left, no gap either."""
        said = ""
        for number in numbers:
            if not self.is_known(number):
                self.unknown_numbers += 1
                continue
            said += f"[{self.cited.setdefault(number, len(self.cited) + 1)}]"
        if not said and not text[end : end + 1].isalnum():
            self._blanks = ""
        return said

    def _link(self, inner: str, address: str) -> str:
        words = self._inside(inner)
        number = self.number_of(address)
        if number is None:
            self.links_removed += 1
            return words or REMOVED
        return f"{words} {self._marked((number,), '', 0)}".lstrip()

    def _address(self, address: str) -> str:
        number = self.number_of(address)
        if number is not None:
            return self._marked((number,), "", 0)
        if "@" in address and "://" not in address and not address.startswith("//"):
            return address.removeprefix("mailto:")
        self.links_removed += 1
        return REMOVED

    def _inside(self, inner: str) -> str:
        """Return what stands in brackets, made safe like the rest."""
        if self._depth >= DEEPEST:
            return re.sub(r"[\[\]<>`!\\]|\w*:?//\S*", " ", inner)
        kept = (self._waiting, self._blanks, self._begins_line, self._ends_bracket)
        self._waiting, self._blanks, self._begins_line = inner, "", False
        self._ends_bracket = False
        self._depth += 1
        said = self._take(is_last=True) + self._blanks
        self._depth -= 1
        self._waiting, self._blanks, self._begins_line, self._ends_bracket = kept
        return said
