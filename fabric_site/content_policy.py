"""The admin's content policy: Unfold's scripts and styles need more than our pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

# Unfold's Alpine build evaluates the expressions in its attributes; the colours of its
# theme and what its htmx adds are styles within the page.
ADMIN_POLICY = {
    "script-src": ["'self'", "'unsafe-eval'"],
    "style-src": ["'self'", "'unsafe-inline'"],
}


class AdminContentPolicy(MiddlewareMixin):
    """Widens the policy for the admin's own pages, and for nothing else."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path.startswith(reverse("admin:index")):
            response._csp_replace = ADMIN_POLICY  # type: ignore[attr-defined] # csp's
        return response
