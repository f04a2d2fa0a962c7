"""The words of a question: how they are told apart, and which carry no meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass

# What is looked at of a question; the rest is still searched for.
CHARACTERS, WORDS = 2000, 40

WORD = re.compile(r"[#@]?[^\W_][\w]*(?:[.\-/&@'\u2019][^\W_]\w*)*(?:\+\+)?")
POSSESSIVE = re.compile(r"(?<=\w)['\u2019](?:s)?$", re.IGNORECASE)
NOT_PLAIN = re.compile(r"[\W_]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ASKING = _set("who whom whose what which when where why how")
AUXILIARIES = _set(
    "do does did is are was were am be been being has have had can could will would"
    " shall should may might must didn't doesn't don't isn't wasn't weren't hasn't"
    " haven't can't couldn't won't wouldn't"
)
# Articles, pronouns, prepositions and what asks rather than says.
FILLER = (
    ASKING
    | AUXILIARIES
    | _set(
        "a an the this that these those there here i me my mine you your yours we us"
        " our ours he him his she her hers it its they them their theirs and or but if"
        " so than then as of to in on at for from by with about into onto over under"
        " between during within through against regarding concerning per via not no"
        " any some all each every both such very just also too only own same again"
        " please tell show find give get me let know anything something anyone someone"
        " everything everyone what's who's where's how's it's that's there's i'm we're"
        " you're they're"
    )
)
# Given names, surnames and products that are ordinary words as well: in lower case
# the word is meant.
EVERYDAY = _set(
    "will may mark bill rose grace hope faith joy art sue pat frank chase drew jack"
    " miles robin dawn summer april june august max rich grant pierce chance hunter"
    " mason carol iris ivy jade crystal olive penny ray rob rusty sandy skip stone"
    " young long brown green black white gray king page price day dean earl duke"
    " prince bishop judge major ward wood woods field fields banks bush hill lake"
    " rivers brook brooks cook baker butler carter case cash clay cliff dale dash don"
    " dot eve fay gay gene guy heath holly honey jean jersey jewel justice kit lance"
    " lane love lucky merry nick norm pearl poppy red reed rick ruby sage sky star"
    " sterling sunny tab teddy tom trip van victor violet wade west winter wren best"
    " good little small short sharp strong swift wise wright church chapman english"
    " french german holland ireland paris london sydney israel jordan china chase"
    " go rust react spark flask express ruby elm dart julia scala swift vault consul"
    " nomad salt chef puppet ray beam storm kit make ant maven spring struts see an"
    " in so do can has one mine ours said date time new law low gold silver power"
    " key keys post rush cross bell ball cole ford glass hardy lamb moody noble parks"
    " pope potter rowe savage sells singer speed steel street temple walker waters"
    " weeks wells works current past last first second monday friday march"
)
SAYING = _set(
    "say says said think thinks thought write writes wrote written mention mentions"
    " mentioned ask asks asked tell tells told suggest suggests suggested recommend"
    " recommends recommended propose proposes proposed decide decides decided choose"
    " chose want wants wanted need needs needed do did does use uses used plan plans"
    " planned report reports reported agree agrees agreed explain explains explained"
    " like likes liked share shares shared send sends sent post posts posted promise"
    " promised work works worked feel feels felt believe believes believed"
    " raise raised argue argued object objected answer answered reply replied describe"
    " described discuss discussed call called request requested approve approved"
    " reject rejected buy bought make made go went get got find found start started"
    " finish finished join joined win won give gave take took"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question, from `begin` to `end`; `text` is without 's."""

    text: str
    begin: int
    end: int

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper()


def words_of(text: str) -> list[Word]:
    """Return the words of `text` in order."""
    return [
        Word(POSSESSIVE.sub("", found[0]), found.start(), found.end())
        for found in WORD.finditer(text)
    ]


def plain(name: str) -> str:
    """Return `name` in lower case, anything but letters and digits as one blank."""
    return NOT_PLAIN.sub(" ", name.lower()).strip()


def is_question(words: list[Word]) -> bool:
    """Say whether the words begin as a question or a request does."""
    return bool(words) and words[0].lower in ASKING | AUXILIARIES
