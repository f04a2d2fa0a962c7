"""What every list of the admin shows above and instead of its rows."""

from __future__ import annotations

from typing import Any

from django import template
from django.http import HttpRequest

from connections.empty_lists import EMPTY, Empty, nothing_yet
from connections.models import SavedView, User
from connections.roles import Act, projects_where
from connections.saved_views import address_of_view

register = template.Library()
VIEWS_SHOWN, PROJECTS_OFFERED = 12, 100


@register.inclusion_tag("admin/saved_views.html", takes_context=True)
def saved_views(context: template.Context, cl: Any) -> dict[str, Any]:
    """Show the views of this list that the user may open, and the form to keep it."""
    request: HttpRequest = context["request"]
    label, user = cl.opts.label_lower, request.user
    if not isinstance(user, User):
        return {"views": [], "label": label, "query": "", "projects": []}
    views = SavedView.objects.visible_to(user).filter(model=label)
    shown = views.select_related("owner").order_by("name", "pk")[:VIEWS_SHOWN]
    query = request.GET.urlencode()
    return {
        "views": [(view, address_of_view(view), view.query == query) for view in shown],
        "label": label,
        "query": query,
        "projects": projects_where(user, Act.SHARE_VIEWS).select_related("tenant")[
            :PROJECTS_OFFERED
        ],
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag
def empty_state(cl: Any) -> Empty:
    """Return what an empty list says: what would be in it, and what to do next."""
    return EMPTY.get(cl.opts.label_lower) or nothing_yet(cl.opts.verbose_name_plural)
