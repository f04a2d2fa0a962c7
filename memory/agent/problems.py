"""What went wrong with an answer, as the API tells any other problem."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from connections.api.problems import handle
from connections.providers.base import ProviderError
from connections.providers.chat import BadAnswer, ModelRefused, ModelUnavailable
from connections.refusals import Refused
from connections.usage import BudgetSpent


class AnswerFailed(Refused):
    """An answer that could not be made; the message says why and what to do."""

    status_code: ClassVar[int] = 502
    code = "answer_failed"


class ModelAway(AnswerFailed):
    status_code = 503
    code = "model_unavailable"


class NoBudget(AnswerFailed):
    status_code = 429
    code = "budget_spent"


class ModelWillNot(AnswerFailed):
    code = "model_refused"


class ModelBabbles(AnswerFailed):
    code = "bad_model_answer"


class TooManySteps(AnswerFailed):
    code = "too_many_steps"


def clear(error: Exception) -> Exception:
    """Return `error` as one that tells its reader what to do; others as they are."""
    if isinstance(error, BudgetSpent):
        return NoBudget(str(error))
    if isinstance(error, ModelUnavailable):
        return ModelAway(
            f"The model could not be reached, or broke off. Ask again in a moment; what "
            f"had come is kept. ({_short(error)})"
        )
    if isinstance(error, ModelRefused):
        return ModelWillNot(
            "The model's provider does not take the request; whoever runs Fabric has "
            f"to look at its key and model. ({_short(error)})"
        )
    if isinstance(error, BadAnswer):
        return ModelBabbles(
            f"The model sent something that is no answer. Ask again. ({_short(error)})"
        )
    if isinstance(error, ProviderError):
        return AnswerFailed(_short(error))
    return error


def problem_of(error: Exception) -> dict[str, Any]:
    """Return `error` as a problem; what nobody foresaw is logged, and not told."""
    problem: dict[str, Any] = json.loads(
        handle(clear(error), {"request": None}).content
    )
    return problem


def can_retry(error: Exception) -> bool:
    """Return whether asking the same again may help."""
    known = clear(error)
    return not isinstance(known, Refused) or (
        isinstance(known, AnswerFailed)
        and not isinstance(known, (ModelWillNot, NoBudget))
    )


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
