"""What must not be remembered: secrets, card numbers, account numbers."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from itertools import combinations

from stdnum import iban, luhn


class Screened(StrEnum):
    """Why a text is not remembered."""

    SECRET = "a key, token or password"  # noqa: S105 - what it is called
    CARD = "a card number"
    ACCOUNT = "a bank account number"


# The formats detect-secrets 1.5 does not know, or knows in an older form.
_NEWER_KEYS = re.compile(
    r"\bsk-(?:ant|proj|svcacct|admin|or)-[\w-]{16,}"  # Anthropic, OpenAI, OpenRouter
    r"|\bsk-[A-Za-z0-9]{32,}"
    r"|\bgithub_pat_\w{22,}"
    r"|\bAIza[\w-]{35}"  # Google
    r"|\bGOCSPX-[\w-]{20,}"
    r"|\bya29\.[\w-]{20,}"
    r"|\bhf_[A-Za-z0-9]{30,}"
    r"|\bxox[abdeoprs]-[\w-]{10,}|\bxapp-[\w-]{20,}"
    r"|\b(?:sk|rk|pk)_(?:live|test)_\w{16,}"
    r"|\bwhsec_[\w+/=]{24,}"
    r"|\bfab_[0-9a-f]{8}_[\w-]{20,}"  # our own
    r"|\bBEGIN [A-Z0-9 ]*PRIVATE KEY"
    r"|\bAGE-SECRET-KEY-1[0-9A-Z]{40,}"
    r"|\b[Bb]earer\s+[A-Za-z0-9._~+/-]{20,}=*"
)
# postgres://user:password@host, also without the user.
_CONNECTION = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s:/@]*:[^\s/@]+@[^\s/]", re.I)
_NAMED = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret(?:\s+key)?|client[ _-]secret"
    r"|(?:api|access|auth|private|secret|service|account|encryption|signing)[ _-]?key"
    r"|(?:access|auth|api|refresh|bearer|session)?[ _-]?token|credentials?|PIN)"
)
_ASSIGNED = re.compile(
    rf"\b[\w-]*?{_NAMED}\b[\"'`*_\]]*\s*(?::=|=>|={{1,3}}"
    rf"|:)\s*[\"'`*_]*(?P<value>[^\s\"'`]+)",
    re.IGNORECASE,
)
_STATED = re.compile(
    rf"\b{_NAMED}\b(?:\s+(?:for|of|to)(?:\s+[\w'\u2019.-]+){{1,4}}?)?"
    r"\s+(?:is|was|now|=)(?:\s+now)?\s*:?\s*[\"'`\u201c]*(?P<value>[^\s\"'`\u201d]+)",
    re.IGNORECASE,
)
FEWEST_OF_A_PASSWORD = 4
# One group of digits after another, as people and machines write card numbers; what
# begins with a plus or 00 is a telephone number.
_DIGITS = re.compile(r"(?<![\w+])\d(?:[ \u00a0.\u2009-]{0,2}\d){11,22}(?!\w)")
# Who issues cards (ISO/IEC 7812), and how long the numbers are. Others with a right
# check digit are mere chance: one number in ten has it.
_ISSUERS = (
    (re.compile("4"), (13, 16, 19)),  # Visa
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),  # Mastercard
    (re.compile("3[47]"), (15,)),  # American Express
    (re.compile("30[0-59]|3[689]"), range(14, 20)),  # Diners
    (re.compile("352[89]|35[3-8]"), range(16, 20)),  # JCB
    (
        re.compile("6011|64[4-9]|65|62|81|60|508|82"),
        range(16, 20),
    ),  # Discover, UnionPay
    (re.compile("50|5[6-8]|6[37]"), range(13, 20)),  # Maestro
)
_GROUPED = re.compile(r"\d+|4(?: 4)*(?: [1-4])|4 6 [45]|6 13|8 8")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ \u00a0-]?[A-Z0-9]){11,30}\b", re.IGNORECASE)


def screen(text: str) -> Screened | None:
    """Return why `text` may not be remembered; None where it may."""
    if _holds_secret(text):
        return Screened.SECRET
    if any(_holds_account(match.group()) for match in _IBAN.finditer(text)):
        return Screened.ACCOUNT
    if any(_holds_card(match.group()) for match in _DIGITS.finditer(text)):
        return Screened.CARD
    return None


def _holds_secret(text: str) -> bool:
    if _NEWER_KEYS.search(text) or _CONNECTION.search(text):
        return True
    if any(pattern.search(text) for pattern in _known_keys()):
        return True
    for match in _ASSIGNED.finditer(text):
        if len(match["value"].rstrip(".,;")) >= FEWEST_OF_A_PASSWORD:
            return True
    return any(_is_made_up(match["value"]) for match in _STATED.finditer(text))


def _is_made_up(value: str) -> bool:
    """Return whether it is no word: "the password is hunter2", not "is expired"."""
    value = value.rstrip(".,;:!?)")
    is_word = re.fullmatch(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*", value) is not None
    # A date or a percentage is no password.
    is_number = re.fullmatch(r"[\d.,:/%-]+", value) is not None
    if is_number:
        return value.isdigit() and len(value) >= FEWEST_OF_A_PASSWORD
    mixed = value != value.lower() and not value.istitle() and not value.isupper()
    return len(value) >= FEWEST_OF_A_PASSWORD and (not is_word or mixed)


def _holds_card(said: str) -> bool:
    """Return whether a run of its groups is a card number, as one is grouped."""
    groups = re.findall(r"\d+", said)
    if groups[0].startswith("00"):
        return False
    places = range(len(groups) + 1)
    return any(
        _GROUPED.fullmatch(" ".join(str(len(g)) for g in groups[first:end]))
        and _is_issued("".join(groups[first:end]))
        for first, end in combinations(places, 2)
    )


def _is_issued(digits: str) -> bool:
    issued = any(
        len(digits) in lengths and issuer.match(digits) for issuer, lengths in _ISSUERS
    )
    return issued and bool(luhn.is_valid(digits))


def _holds_account(said: str) -> bool:
    """Return whether an IBAN stands at the beginning; words may follow it."""
    compact = re.sub(r"[ \u00a0-]", "", said).upper()
    return any(
        iban.is_valid(compact[:length], check_country=False)
        for length in range(15, len(compact) + 1)
    )


@cache
def _known_keys() -> tuple[re.Pattern[str], ...]:
    """Return the formats detect-secrets knows; only its patterns are used, for its
    verification asks the provider."""
    # It imports an HTTP client, which nothing else of a light process needs.
    from detect_secrets.plugins import (
        aws,
        azure_storage_key,
        discord,
        github_token,
        gitlab_token,
        jwt,
        mailchimp,
        npm,
        openai,
        private_key,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    detectors = (
        aws.AWSKeyDetector,
        azure_storage_key.AzureStorageKeyDetector,
        discord.DiscordBotTokenDetector,
        github_token.GitHubTokenDetector,
        gitlab_token.GitLabTokenDetector,
        jwt.JwtTokenDetector,
        mailchimp.MailchimpDetector,
        npm.NpmDetector,
        openai.OpenAIDetector,
        private_key.PrivateKeyDetector,
        pypi_token.PypiTokenDetector,
        sendgrid.SendGridDetector,
        slack.SlackDetector,
        square_oauth.SquareOAuthDetector,
        stripe.StripeDetector,
        telegram_token.TelegramBotTokenDetector,
        twilio.TwilioKeyDetector,
    )
    return tuple(p for detector in detectors for p in detector.denylist)
