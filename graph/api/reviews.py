"""The queue of the review over the API: read, decided, taken back; and the trash."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import JSONBody, project_or_only
from connections.api.permissions import caller, visible
from connections.models import Scope
from connections.roles import Act, must
from graph.api.review_fields import (
    ME,
    NOBODY,
    AssignParameters,
    DecidedSerializer,
    DetailSerializer,
    EditParameters,
    ItemParameters,
    KeepParameters,
    MergeParameters,
    PrunedSerializer,
    PruneParameters,
    ReportLineSerializer,
    ReportParameters,
    RestoredSerializer,
    ReviewItemSerializer,
    SnoozeParameters,
    TrashedSerializer,
    TrashParameters,
    UndoParameters,
)
from graph.models import ReviewDecision, ReviewItem, Trashed
from graph.querysets import ScopedQuerySet
from graph.review import deciding
from graph.review.errors import NoSuchItem, Unconfirmed
from graph.review.kinds import Decision, Verb
from graph.review.pruning import restore
from graph.review.reading import (
    HEAVY,
    ORDERS,
    detail_of,
    history_of,
    queue_of,
    report_of,
    trash_of,
)

PROBLEM = "application/problem+json"
COLLIDES: dict[Any, Any] = {
    (409, PROBLEM): OpenApiResponse(
        OpenApiTypes.OBJECT,
        description="Somebody else is at it, or was faster; `detail` says who.",
    )
}
ACTS = (
    *("keep", "prune", "snooze", "merge", "edit", "assign"),
    *("hold", "release", "undo", "restore"),
)


def decides(parameters: type, summary: str) -> Any:
    """Describe an act that decides an item."""
    return extend_schema(
        request=parameters,
        responses={200: DecidedSerializer, **COLLIDES},
        summary=summary,
        filters=False,
    )


def acts() -> Any:
    return action(detail=True, methods=["post"], pagination_class=None)


@extend_schema(tags=["review"])
class ReviewItemViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet
):
    """Items of the projects where the caller decides them."""

    serializer_class = ReviewItemSerializer
    queryset = ReviewItem.objects.none()
    parser_classes = (JSONBody,)
    lookup_value_converter = "int"
    page_by = ORDERS["priority"]
    scopes = dict.fromkeys(ACTS, Scope.REVIEW)

    def get_queryset(self) -> ScopedQuerySet[ReviewItem]:
        rows = self._asked() if self.action == "list" else ReviewItem.objects.all()
        return (
            visible(rows, self.request)
            .select_related("node", "project__tenant", "assigned_to", "held_by")
            .defer(*HEAVY)
        )

    def get_object(self) -> ReviewItem:
        """Return the item; one that may be seen and not decided is a 403."""
        item: ReviewItem = super().get_object()
        must(caller(self.request), Act.REVIEW, item.project_id)
        return item

    @extend_schema(parameters=[ItemParameters], summary="What waits for a decision")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(
        responses=DetailSerializer, summary="One, with all that its decision needs"
    )
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        detail = detail_of(self.get_object(), caller(request))
        return Response(DetailSerializer(detail).data)

    @decides(KeepParameters, "Keep: it holds")
    @acts()
    def keep(self, request: Request, pk: int) -> Response:
        return self._decide(Verb.KEEP, KeepParameters.of_body(request))

    @extend_schema(
        request=PruneParameters,
        responses={200: PrunedSerializer, **COLLIDES},
        summary="Prune: without `confirm` only the consequences are answered",
        filters=False,
    )
    @acts()
    def prune(self, request: Request, pk: int) -> Response:
        asked = PruneParameters.of_body(request)
        asked["token"] = asked.pop("confirm")
        told: dict[str, Any] = {
            "done": True, "why": "", "consequences": None, "decision": None
        }  # fmt: skip
        try:
            told["decision"] = self._decided(Verb.PRUNE, asked)
        except Unconfirmed as error:
            told |= {
                "done": False,
                "why": str(error),
                "consequences": error.consequences,
            }
        return Response(PrunedSerializer(told).data)

    @decides(SnoozeParameters, "Snooze until a day")
    @acts()
    def snooze(self, request: Request, pk: int) -> Response:
        return self._decide(Verb.SNOOZE, SnoozeParameters.of_body(request))

    @decides(MergeParameters, "Merge the two into one")
    @acts()
    def merge(self, request: Request, pk: int) -> Response:
        return self._decide(Verb.MERGE, MergeParameters.of_body(request))

    @decides(EditParameters, "Give it other words")
    @acts()
    def edit(self, request: Request, pk: int) -> Response:
        return self._decide(Verb.EDIT, EditParameters.of_body(request))

    @decides(AssignParameters, "Assign it to a reviewer")
    @acts()
    def assign(self, request: Request, pk: int) -> Response:
        return self._decide(Verb.ASSIGN, AssignParameters.of_body(request))

    @extend_schema(
        request=None,
        responses={200: ReviewItemSerializer, **COLLIDES},
        summary="Keep others from deciding it for ten minutes",
        filters=False,
    )
    @acts()
    def hold(self, request: Request, pk: int) -> Response:
        deciding.hold(self.get_object().pk, caller(request))
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(
        request=None,
        responses=ReviewItemSerializer,
        summary="Let others decide it again",
        filters=False,
    )
    @acts()
    def release(self, request: Request, pk: int) -> Response:
        deciding.release(self.get_object().pk, caller(request))
        return Response(self.get_serializer(self.get_object()).data)

    @decides(UndoParameters, "Take a decision back")
    @acts()
    def undo(self, request: Request, pk: int) -> Response:
        asked = UndoParameters.of_body(request)
        rows = history_of(self.get_object())
        wanted = asked.get("decision")
        found = [
            row
            for row in rows
            if (row.undone_at is None if wanted is None else row.pk == wanted)
        ]
        if not found:
            raise NoSuchItem("There is no decision of this item to take back.")
        return self._told(deciding.undo(found[0].pk, caller(request)))

    def _asked(self) -> ScopedQuerySet[ReviewItem]:
        asked = ItemParameters.of_query(self.request)
        user, project = caller(self.request), asked.get("project")
        kind = asked.get("kind", "")
        if project is not None:
            must(user, Act.REVIEW, project.pk)
        self.page_by = ORDERS[asked["order"]]
        rows = queue_of(
            user,
            project=project,
            kind=kind,
            state="" if asked["state"] == "any" else asked["state"],
            mine=asked.get("assigned") == ME,
            order=asked["order"],
        )
        return (
            rows.filter(assigned_to=None) if asked.get("assigned") == NOBODY else rows
        )

    def _decide(self, verb: Verb, asked: dict[str, Any]) -> Response:
        return self._told(self._decided(verb, asked))

    def _decided(self, verb: Verb, asked: dict[str, Any]) -> ReviewDecision:
        item = self.get_object()
        version = asked.pop("version", item.version)
        decision = Decision(verb=verb, by=caller(self.request), **asked)
        return deciding.decide(item.pk, decision, version=version)

    def _told(self, decision: ReviewDecision) -> Response:
        told = {"decision": decision, "item": self.get_object()}
        return Response(DecidedSerializer(told).data)


@extend_schema(tags=["review"])
class TrashViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """What was pruned in the last 30 days, where the caller may put it back."""

    serializer_class = TrashedSerializer
    queryset = Trashed.objects.none()
    parser_classes = (JSONBody,)
    lookup_value_converter = "int"
    page_by = ("-trashed_at", "-pk")
    scopes = dict.fromkeys(ACTS, Scope.REVIEW)

    def get_queryset(self) -> ScopedQuerySet[Trashed]:
        user, project = caller(self.request), None
        if self.action == "list":
            project = TrashParameters.of_query(self.request).get("project")
            if project is not None:
                must(user, Act.REVIEW, project.pk)
        rows = visible(trash_of(user, project=project), self.request)
        return rows.select_related("node", "project__tenant", "trashed_by").defer(
            *HEAVY
        )

    @extend_schema(parameters=[TrashParameters], summary="What is in the trash")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=None,
        responses={200: RestoredSerializer, **COLLIDES},
        summary="Take it out of the trash, with all that went along",
        filters=False,
    )
    @acts()
    def restore(self, request: Request, pk: int) -> Response:
        row = visible(Trashed.objects.filter(pk=pk), request).first()
        if row is None:
            raise NotFound("There is nothing of that id in the trash.")
        nodes = restore(row.project, [row.chosen], by=caller(request))
        return Response({"nodes": nodes})


class ReportView(APIView):
    """Stale claims, for those who decide outside of Fabric."""

    @extend_schema(
        tags=["review"],
        parameters=[ReportParameters],
        responses=ReportLineSerializer(many=True),
        operation_id="review_report",
        summary="The stale claims of a project",
    )
    def get(self, request: Request) -> Response:
        asked = ReportParameters.of_query(request)
        project = project_or_only(request, asked.get("project"))
        must(caller(request), Act.REVIEW, project.pk)
        return Response(list(report_of(project, caller(request))))
