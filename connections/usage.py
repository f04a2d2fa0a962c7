"""What a project may use of a model."""

from __future__ import annotations

from connections.providers.chat import ModelUnavailable


class BudgetSpent(ModelUnavailable):
    """The project has used up its tokens of today."""
