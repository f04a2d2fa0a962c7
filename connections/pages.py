"""What pages share: who reads them, which project they are of, what a cache may keep."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.db.models import Max, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect

from connections.models import Audience, Project, Source, SyncRun, User

# The project last opened, by any page, in the session.
PROJECT_KEY = "project"

View = Callable[..., HttpResponse]


def signed_in(view: View) -> View:
    """Send who is not signed in to the login page, also from within a page."""

    @functools.wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        htmx: Any = request.htmx  # type: ignore[attr-defined] # set by its middleware
        if htmx:
            after = urlencode({"next": htmx.current_url_abs_path or reverse("chat")})
            return HttpResponseClientRedirect(f"{reverse('login')}?{after}")
        return redirect_to_login(request.get_full_path())

    return checked


def reader(request: HttpRequest) -> User:
    """Return the user who is signed in."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def projects_of(user: User) -> list[Project]:
    """Return the projects that `user` is a member of, by path."""
    visible = Project.objects.visible_to(user).select_related("tenant")
    return list(visible.order_by("tenant__slug", "slug"))


def project_asked_for(request: HttpRequest) -> Project | None:
    """Return the project named in the address and remember it; None: none is named.

    One that its reader is no member of does not exist.
    """
    asked = request.GET.get("project")
    if not asked:
        return None
    mine = projects_of(reader(request))
    found = next((project for project in mine if project.path == asked), None)
    if found is None:
        raise Http404(f"You are not a member of a project {asked}.")
    request.session[PROJECT_KEY] = found.pk
    return found


def chosen_project(
    request: HttpRequest, *, last_used: Callable[[], int | None] = lambda: None
) -> Project | None:
    """Return the project asked for, else the last opened, else the first with a source.

    `last_used` gives the id of one that comes before the first.
    """
    if asked := project_asked_for(request):
        return asked
    projects = projects_of(reader(request))
    mine = {project.pk: project for project in projects}
    if project := mine.get(request.session.get(PROJECT_KEY, 0)):
        return project
    last = mine.get(last_used() or 0)
    return last or first_with_source(projects) or next(iter(projects), None)


def first_with_source(projects: Sequence[Project]) -> Project | None:
    """Return the first of `projects` that has a source; None where none has."""
    known = Source.objects.filter(project__in=projects)
    filled = set(known.values_list("project_id", flat=True))
    return next((project for project in projects if project.pk in filled), None)


def sources_of(user: User, project: Project) -> list[Source]:
    """Return the sources the user may know of, each with when it was last read."""
    open_to_user = Q(audience=None) | Q(audience__in=Audience.objects.ids_of(user))
    finished = Q(runs__state=SyncRun.State.FINISHED)
    rows = project.sources.filter(open_to_user)
    read_at = Max("runs__finished_at", filter=finished)
    return list(rows.annotate(read_at=read_at).order_by("name"))


def private(response: HttpResponse, *varies_with: str) -> HttpResponse:
    """Return `response` as one that nobody keeps; it differs by those headers."""
    if varies_with:
        patch_vary_headers(response, varies_with)
    response["Cache-Control"] = "private, no-store"
    return response
