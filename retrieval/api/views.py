"""Search."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import JSONBody, project_or_only
from connections.api.permissions import caller, token_of
from retrieval.api.serializers import SearchParameters, SearchResponse
from retrieval.auditing import note_answer
from retrieval.search import search


class SearchView(APIView):
    """What the caller may see that answers a query, best first, each with why."""

    parser_classes = (JSONBody,)

    @extend_schema(
        tags=["search"],
        request=SearchParameters,
        responses=SearchResponse,
        summary="Search",
        operation_id="search",
    )
    def post(self, request: Request) -> Response:
        asked = SearchParameters.of_body(request)
        project = project_or_only(request, asked.get("project"))
        found = search(
            project,
            asked["query"],
            user=caller(request),
            limit=asked["limit"],
            profile=asked["profile"],
            filters=SearchParameters.filters_of(asked),
            ignore=asked.get("ignore", ()),
        )
        note_answer(
            project, caller(request), found, through="api", token_id=token_of(request)
        )
        return Response(found.as_json())
