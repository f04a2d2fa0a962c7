"""A question answered from what was found: quoted, numbered, cited."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, replace

from django.db import transaction

from connections.models import Audience, Project, User, record_audit
from memory.answers import Call, ChatAnswer, Cited
from memory.extract import Passage, choose
from memory.models import Citation, Conversation, Turn
from retrieval.results import Contribution, Result, SearchAnswer
from retrieval.samples import sample_questions
from retrieval.search import effort, search

_NUMBER = re.compile(r"[\[\u3010]\s*(\d+)\s*[\]\u3011]")
__all__ = ["ask", "load_answer", "sample_questions", "start_conversation"]

MODEL = "extractive"
PASSAGES = 12
NOTHING = (
    "Nothing in this project supports an answer to that. "
    "I searched {arms} and read the {count} best passages; none says it."
)
NO_DATA = (
    "Nothing was found: this project has nothing you may see on any of these words."
)


def ask(
    project: Project,
    question: str,
    *,
    user: User | None,
    conversation: Conversation | None = None,
    save: bool = True,
) -> ChatAnswer:
    """Answer `question` from what `user` may see, every sentence with its source.

    Without a model the answer quotes the best passages. Saved with its citations in
    `conversation` (a new one where none is given) unless `save` is false or nobody
    asks.
    """
    if conversation is not None and (user is None or conversation.user_id != user.pk):
        raise PermissionError("A question goes on in one's own conversation only.")
    started = time.perf_counter()
    found = search(project, question, user=user, limit=PASSAGES)
    passages = choose(project, question, found.results) if question.strip() else []
    call = Call(
        name="search",
        arguments={"query": question, "limit": PASSAGES, "profile": found.profile},
        took_ms=round((time.perf_counter() - started) * 1000, 1),
        result_count=len(found.results),
    )
    answer = ChatAnswer(
        conversation=None,
        turn=None,
        question=question,
        answer=_text(passages, found),
        grounded=bool(passages),
        citations=tuple(_cited(n, p) for n, p in enumerate(passages, start=1)),
        calls=(call,),
        effort=effort(arms=found.arms, calls=1),
        model=MODEL,
    )
    if user is None or not save:
        return answer
    return _save(project, user, conversation, answer)


def _text(passages: list[Passage], found: SearchAnswer) -> str:
    if passages:
        return "\n\n".join(
            f"{_plain(passage.introduction)} \u201c{_plain(passage.quote)}\u201d [{n}]"
            for n, passage in enumerate(passages, start=1)
        )
    if not found.results:
        return NO_DATA
    arms = " and ".join(name for name, count in found.arms.items() if count)
    return NOTHING.format(arms=arms, count=len(found.results))


def _plain(text: str) -> str:
    """Return `text` without bracketed numbers of its own: `[n]` means a citation."""
    return _NUMBER.sub(r"(\1)", " ".join(text.split()))


def _cited(n: int, passage: Passage) -> Cited:
    result = passage.result
    return Cited(
        n=n,
        key=str(result.metadata.get("part") or result.key),
        node_id=_node_id(result),
        node_type=result.node_type,
        title=result.title,
        context=result.context,
        url=result.url,
        quote=passage.quote,
        timestamp=result.timestamp,
        is_gone=result.is_gone,
        contributions=result.contributions,
    )


def _node_id(result: Result) -> int:
    part = result.metadata.get("part_node_id")
    return part if isinstance(part, int) else result.node_id


def _save(
    project: Project,
    user: User,
    conversation: Conversation | None,
    answer: ChatAnswer,
) -> ChatAnswer:
    with transaction.atomic():
        conversation = conversation or start_conversation(
            project, user, answer.question
        )
        turn = Turn.objects.create(
            conversation=conversation,
            question=answer.question,
            answer=answer.answer,
            grounded=answer.grounded,
            model=answer.model,
            effort=answer.effort,
            calls=[asdict(call) for call in answer.calls],
        )
        Citation.objects.bulk_create(
            Citation(
                turn=turn,
                n=c.n,
                node_id=c.node_id,
                key=c.key,
                title=c.title,
                url=c.url,
                quote=c.quote,
                timestamp=c.timestamp,
                contributions={
                    a: asdict(given) for a, given in c.contributions.items()
                },
            )
            for c in answer.citations
        )
        conversation.save(update_fields=["updated_at"])
        record_audit(
            "question.asked",
            target=str(conversation.pk),
            project=project,
            actor=user,
            question=answer.question,
            seen=[c.key for c in answer.citations],
        )
    return replace(answer, conversation=conversation.pk, turn=turn.pk)


def start_conversation(project: Project, user: User, title: str) -> Conversation:
    """Return a new conversation that only `user` may see."""
    audience, made = Audience.objects.get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        kind=Audience.Kind.PRIVATE,
        key=f"user:{user.pk}",
    )
    if made:
        audience.members.create(user=user)
    return Conversation.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        audience=audience,
        user=user,
        title=" ".join(title.split())[:200],
    )


def load_answer(turn: Turn) -> ChatAnswer:
    """Return a stored turn as it was answered."""
    citations = turn.citations.select_related("node").order_by("n")
    return ChatAnswer(
        conversation=turn.conversation_id,
        turn=turn.pk,
        question=turn.question,
        answer=turn.answer,
        grounded=turn.grounded,
        citations=tuple(_load_citation(c) for c in citations),
        calls=tuple(Call(**call) for call in turn.calls),
        effort=turn.effort,
        model=turn.model,
    )


def _load_citation(citation: Citation) -> Cited:
    node = citation.node
    return Cited(
        n=citation.n,
        key=citation.key,
        node_id=citation.node_id,
        node_type=node.node_type if node else "",
        title=citation.title,
        context=node.context if node else "",
        url=citation.url,
        quote=citation.quote,
        timestamp=citation.timestamp,
        is_gone=node is None or node.gone_at is not None,
        contributions={
            arm: Contribution(**given) for arm, given in citation.contributions.items()
        },
    )
