"""Requests to a provider: bounded in time and size, made again where a fault passes.

Imported with an SDK only: its HTTP library is as slow to import.
"""

from __future__ import annotations

import email.utils
import json
import random
import socket
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeVar

import httpx2
from django.conf import settings

from connections.providers.base import ProviderError
from connections.providers.chat import (
    Access,
    BadAnswer,
    Delta,
    ModelRefused,
    ModelUnavailable,
)
from connections.providers.streamed import Cutter, Meter, Said, Streamed

T = TypeVar("T")

FIRST_WAIT, LONGEST_BACKOFF = 0.5, 8.0
# More than any answer: a server that sends without end must not fill the memory.
MOST_BYTES = 32 * 1024 * 1024
# What a provider says of its fault inside a stream, whose status was sent long before.
STATUS_OF_TYPE = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
}
# A 429 that no waiting helps against.
SPENT_CODES = frozenset(("insufficient_quota", "billing_hard_limit_reached"))

_cutter: ContextVar[Cutter | None] = ContextVar("cutter", default=None)


class _Bounded(httpx2.SyncByteStream):
    """A response's bytes, up to a bound."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise BadAnswer(
                    f"The answer is larger than {MOST_BYTES >> 20} MB and was not read."
                )
            yield part

    def close(self) -> None:
        self._stream.close()


def _watch(request: httpx2.Request) -> None:
    if (cutter := _cutter.get()) is None:
        return

    def saw(event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connection = info["return_value"].get_extra_info("socket")
            if isinstance(connection, socket.socket):
                cutter.holds(connection)

    request.extensions["trace"] = saw


def _check(response: httpx2.Response) -> None:
    """Bound what is read; refuse a redirect, which would carry the key elsewhere."""
    if response.has_redirect_location:
        raise ModelRefused(
            f"The address sends on to {response.headers['location'][:200]}: enter the "
            "address where the models are."
        )
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream)


@lru_cache(maxsize=1)
def http_client() -> httpx2.Client:
    """Return the process's client, which keeps no connection: each is its request's."""
    return httpx2.Client(
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        event_hooks={"request": [_watch], "response": [_check]},
    )


@dataclass(frozen=True, slots=True)
class Wire:
    """How requests to one model fare: their limits, faults and second tries."""

    model: str
    sdk: ModuleType
    base_error: type[Exception]
    access: Access

    def client_options(self, own_url: str) -> dict[str, Any]:
        """Return what the SDK's client is made with; retries are made here."""
        options = settings.FABRIC
        return {
            "api_key": self.access.key or "none",
            # Always given: an SDK would else look for one in the environment.
            "base_url": self.access.base_url or own_url,
            "timeout": httpx2.Timeout(
                options["MODEL_FIRST_SECONDS"], connect=options["MODEL_CONNECT_SECONDS"]
            ),
            "max_retries": 0,
            "http_client": http_client(),
        }

    def asked(self, send: Callable[[], T]) -> T:
        """Return what `send` returns, tried again after faults that pass."""
        for attempt in range(settings.FABRIC["MODEL_RETRIES"] + 1):
            try:
                with self.errors():
                    return send()
            except ModelUnavailable as error:
                time.sleep(_wait_after(error, attempt))
        raise AssertionError("The last attempt returns or raises.")

    def streamed(
        self,
        opened: Callable[[], Any],
        pieces: Callable[[Any, Meter], Iterator[Said]],
        meter: Meter,
    ) -> Streamed:
        """Return the pieces of the stream that `opened` returns.

        It is opened anew after a fault that passes, but not once a piece came.
        """
        cutter = Cutter()
        return Streamed(self._tries(opened, pieces, meter, cutter), cutter, meter)

    def _tries(
        self,
        opened: Callable[[], Any],
        pieces: Callable[[Any, Meter], Iterator[Said]],
        meter: Meter,
        cutter: Cutter,
    ) -> Generator[Said, None, None]:
        for attempt in range(settings.FABRIC["MODEL_RETRIES"] + 1):
            is_said = False
            try:
                for piece in self._once(opened, pieces, meter, cutter):
                    is_said = True
                    yield piece
                return
            except ModelUnavailable as error:
                if is_said or cutter.is_cut.wait(_wait_after(error, attempt)):
                    raise

    def _once(
        self,
        opened: Callable[[], Any],
        pieces: Callable[[Any, Meter], Iterator[Said]],
        meter: Meter,
        cutter: Cutter,
    ) -> Iterator[Said]:
        with self.errors():
            token = _cutter.set(cutter)
            try:
                stream = opened()
            finally:
                _cutter.reset(token)
            try:
                # What is read from here on is the answer: it may not be silent long.
                limits = stream.response.request.extensions["timeout"]
                limits["read"] = settings.FABRIC["MODEL_SILENCE_SECONDS"]
                meter.is_begun = True
                for piece in pieces(stream, meter):
                    if isinstance(piece, Delta):
                        meter.said_characters += len(piece.text)
                    yield piece
            finally:
                stream.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the errors of the SDK and its HTTP library as those of `ChatModel`.

        A stream must be read to its end within it. The SDKs of Anthropic and OpenAI
        are made by one generator and name their errors alike.
        """
        sdk, model = self.sdk, self.model
        try:
            yield
        except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
            raise ModelUnavailable(
                f"{model} was silent for too long; ask again."
            ) from error
        except sdk.APIStatusError as error:
            raise self._status_error(error) from error
        except (sdk.APIConnectionError, httpx2.TransportError) as error:
            if isinstance(error.__cause__, ProviderError):
                raise error.__cause__ from None
            why = self._hidden(str(error.__cause__ or error))
            raise ModelUnavailable(
                f"The connection to {model} broke: {why}; ask again.", passes=True
            ) from error
        except sdk.APIResponseValidationError as error:
            raise BadAnswer(f"{model} gave no message: {error}") from error
        except sdk.APIError as error:
            raise ModelUnavailable(
                f"{model} broke off: {self._hidden(str(error))}; ask again.",
                passes=True,
            ) from error
        except UnicodeDecodeError as error:
            raise BadAnswer(f"{model} sent broken text (no UTF-8).") from error
        except json.JSONDecodeError as error:
            raise BadAnswer(f"{model} sent what is no JSON: {error}.") from error
        # Whatever answers there may be another: of no shape that is known.
        except (
            self.base_error,
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
        ) as error:
            why = self._hidden(str(error))
            raise BadAnswer(f"{model} gave no message: {why}") from error

    def _status_error(self, error: Any) -> ProviderError:
        body: Any = error.body if isinstance(error.body, dict) else {}
        inner: Any = body.get("error") if isinstance(body.get("error"), dict) else body
        status = error.status_code
        if status < 400:
            status = STATUS_OF_TYPE.get(str(inner.get("type")), 500)
        words = inner.get("message") or error.message
        said = f"({status}): {self._hidden(str(words))}"
        if status in (408, 409, 429) or status >= 500:
            return ModelUnavailable(
                f"{self.model} takes no request now {said}",
                passes=inner.get("code") not in SPENT_CODES,
                wait=_retry_after(error.response.headers),
            )
        if status in (401, 403):
            return ModelRefused(f"The key for {self.model} is not accepted {said}")
        if status == 404:
            return ModelRefused(f"There is no model {self.model} there {said}")
        return ModelRefused(f"{self.model} refuses the request {said}")

    def _hidden(self, words: str) -> str:
        """Return the words short, on one line, and without the key."""
        key = self.access.key
        words = " ".join((words.replace(key, "…") if key else words).split())
        return words if len(words) <= 300 else f"{words[:299]}…"


def _wait_after(error: ModelUnavailable, attempt: int) -> float:
    """Return the seconds to wait before the next attempt; raise where none is made."""
    options = settings.FABRIC
    backoff = min(FIRST_WAIT * 2**attempt, LONGEST_BACKOFF)
    # Spread out, so that those who were refused together do not come back together.
    wait = backoff * random.uniform(0.75, 1)  # noqa: S311 - no secret
    if error.wait is not None:
        wait = error.wait
    is_last = attempt >= options["MODEL_RETRIES"]
    if not error.passes or is_last or wait > options["MODEL_WAIT_MOST"]:
        raise error
    return wait


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks to be left alone, None where it does not.

    RFC 9110, 10.2.3: a number of seconds, or a date; some say milliseconds besides.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    date = email.utils.parsedate_tz(headers.get("retry-after"))
    return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None
