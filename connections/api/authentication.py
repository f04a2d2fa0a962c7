"""Who calls: the bearer of an API token."""

from __future__ import annotations

import re
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from connections.models import ApiToken, User, record_audit

# How exact `last_used_at` is: reads must not each cost a write.
USE_IS_NOTED_EVERY = timedelta(minutes=1)
TOKEN_TEXT = re.compile(r"fab_[0-9a-f]{8}_[A-Za-z0-9_-]{20,100}")


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN` is the token's user; `request.auth` is the token.

    A token that is unknown, expired or revoked is a 401, as is no caller at all.
    """

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, text = (
            get_authorization_header(request).decode("latin-1").partition(" ")
        )
        if scheme.lower() != "bearer":
            return None
        text = text.strip()
        token = ApiToken.objects.presented(text) if TOKEN_TEXT.fullmatch(text) else None
        if token is None:
            raise AuthenticationFailed(
                "The token is unknown, expired or revoked; use another one.",
                code="invalid_token",
            )
        _note_use(token, request)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="fabric"'


def _note_use(token: ApiToken, request: Request) -> None:
    """Audit that a token is used, once a minute: its first call in that minute.

    What the calls do has rows of its own. Of several at once one writes; none waits
    for the audit, whose rows are only inserted.
    """
    now = timezone.now()
    due = now - USE_IS_NOTED_EVERY
    if token.last_used_at is not None and token.last_used_at > due:
        return
    unused = Q(last_used_at=None) | Q(last_used_at__lte=due)
    with transaction.atomic():
        rows = ApiToken.objects.filter(unused, pk=token.pk)
        if not rows.update(last_used_at=now):
            return
        record_audit(
            "token.used" if token.last_used_at else "token.first_used",
            target=str(token),
            tenant=token.tenant,
            actor=token.user,
            token_id=token.pk,
            method=str(request.method),
            path=request.path,
            address=str(request.META.get("REMOTE_ADDR", "")),
        )
