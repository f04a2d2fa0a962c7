"""What retrieval refuses."""

from __future__ import annotations

from connections.refusals import Refused


class RetrievalError(Refused):
    """A search that cannot be made."""

    code = "unusable_search"


class UnusableOperator(RetrievalError):
    """A filter operator was typed with a value that means nothing."""

    code = "unusable_operator"
