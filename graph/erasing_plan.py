"""What erasing a source or a person would take along, and a token for that state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core import signing

from connections import keyed
from connections.models import Project, Source, User
from graph import erasing_sql, plan_sql
from graph.copying import fetch
from graph.first_names import FirstName, first_names
from graph.models import Erasure, Identity
from graph.persons import full_name

SALT, TOKEN_SECONDS = "graph.erasing", 3600
SHORTEST_PHRASE, SHORTEST_OWN = 3, 2


class ErasingError(Exception):
    """An erasure that cannot be made; the message says why and what to do."""

    code = "not_erasable"
    status_code = 400


class Outdated(ErasingError):
    """What would be erased is no longer what was confirmed."""

    code = "outdated"
    status_code = 409


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be erased, counted by table, as it is now.

    `keys` are identities, `phrases` what is taken out of others' texts, `ambiguous`
    how many names are left in them because somebody else bears them too. With
    `keep_messages` what they wrote stays without its author, `kept` records of it, and
    loses all `own_names`. With `scrub_first` the first names go that nobody else bears.
    `token` stands for this state: with another one nothing is erased.
    """

    project: Project
    kind: str
    name: str
    records: int
    counts: Mapping[str, int]
    source: Source | None = None
    keys: Sequence[str] = ()
    persons: Sequence[str] = ()
    phrases: Sequence[str] = ()
    ambiguous: int = 0
    has_account: bool = False
    keep_messages: bool = False
    kept: int = 0
    own_names: Sequence[str] = ()
    first_names: Sequence[FirstName] = ()
    scrub_first: bool = False
    token: str = ""

    @property
    def first_scrubbed(self) -> list[str]:
        """Return the first names that are taken out of others' texts."""
        alone = [first.name for first in self.first_names if first.is_alone]
        return alone if self.scrub_first else []


def subject_of(project: Project, kind: str, name: str) -> str:
    """Return the keyed hash that stands for what was erased once its name is gone."""
    return keyed.digest(SALT, f"{project.pk}|{kind}|{name.casefold()}")


def plan_source(source: Source) -> Plan:
    """Return what erasing `source` would take along."""
    project = Project.objects.select_related("tenant").get(pk=source.project_id)
    params = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "source": source.pk,
        "records": [],
    }
    counts = _counted(params)
    return _signed(
        Plan(
            project=project,
            kind=Erasure.Kind.SOURCE,
            name=source.name,
            records=counts["graph_records"],
            counts=counts,
            source=source,
        ),
        str(source.pk),
    )


def plan_person(
    project: Project,
    named: str,
    *,
    keep_messages: bool = False,
    scrub_first: bool = False,
) -> Plan:
    """Return what erasing a person would take along.

    `named` is an address, the key of an account or of a person; all identities held
    to be the same human go together. Raises `ErasingError` where nobody is so named.
    """
    identities = _identities(project, named.strip())
    keys = sorted(identity.key for identity in identities)
    params = {"tenant": project.tenant_id, "project": project.pk, "keys": keys}
    wrote = [row[0] for row in fetch(erasing_sql.AUTHORED, params)]
    accounts = [row[0] for row in fetch(erasing_sql.ACCOUNTS, params)]
    records = accounts if keep_messages else wrote
    phrases, ambiguous = _phrases(project, identities)
    addresses = {i.address.lower() for i in identities if i.address}
    names = {name for identity in identities for name in identity.names}
    plan = Plan(
        project=project,
        kind=Erasure.Kind.PERSON,
        name=named.strip(),
        records=len(records),
        counts=_counted({**params, "source": 0, "records": records}),
        keys=keys,
        persons=sorted({identity.person.key for identity in identities}),
        phrases=phrases,
        ambiguous=ambiguous,
        has_account=User.objects.filter(addresses__address__in=addresses).exists(),
        keep_messages=keep_messages,
        kept=len(wrote) - len(records),
        own_names=_own_names(identities),
        first_names=first_names(project, keys, names, wrote),
        scrub_first=scrub_first,
    )
    return _signed(plan, "|".join(keys))


def _own_names(identities: Sequence[Identity]) -> list[str]:
    """Return all that they are called by where they speak themselves: names of one
    word, too, and what an account is numbered by."""
    found = {identity.key.partition(":")[2] for identity in identities}
    for identity in identities:
        found |= {identity.address, *identity.names}
    return sorted(name for name in found if len(name) >= SHORTEST_OWN)


def check(plan: Plan, token: str) -> None:
    """Raise `Outdated` unless `token` is of what would be erased now."""
    try:
        said = signing.loads(token, salt=SALT, max_age=TOKEN_SECONDS)
    except signing.BadSignature:
        said = None
    if said != signing.loads(plan.token, salt=SALT):
        raise Outdated(
            "What would be erased has changed since it was shown, or was shown more "
            "than an hour ago. Look at it again, then confirm."
        )


def _signed(plan: Plan, subject: str) -> Plan:
    state = {
        "project": plan.project.pk,
        "subject": subject_of(plan.project, plan.kind, subject),
        "counts": dict(sorted(plan.counts.items())),
        "how": [plan.keep_messages, plan.first_scrubbed],
    }
    values = {name: getattr(plan, name) for name in Plan.__slots__}
    return Plan(**{**values, "token": signing.dumps(state, salt=SALT)})


def _counted(params: Mapping[str, object]) -> dict[str, int]:
    rows = fetch(plan_sql.COUNTS, dict(params))
    return {name: int(count) for name, count in rows}


def _identities(project: Project, named: str) -> list[Identity]:
    own = Identity.objects.filter(tenant_id=project.tenant_id, project=project)
    named_so = (
        own.filter(address__iexact=named)
        | own.filter(key=named)
        | own.filter(key=f"person:{named.lower()}")
        | own.filter(person__key=named)
    )
    persons = set(named_so.values_list("person_id", flat=True))
    if not persons:
        raise ErasingError(
            f"Nobody in {project.path} is known as {named!r}. Give an address, or the "
            "key of an account (slack-user:U1) or of a person (identity:...)."
        )
    return list(own.filter(person__in=persons).select_related("person").order_by("key"))


def _phrases(project: Project, identities: Sequence[Identity]) -> tuple[list[str], int]:
    """Return the addresses and full names that are theirs alone, and how many are not."""
    own = {identity.pk for identity in identities}
    addresses = {i.address for i in identities if "@" in i.address}
    names = {n for i in identities for n in i.names if full_name(n)}
    others = Identity.objects.filter(
        tenant_id=project.tenant_id, project=project
    ).exclude(pk__in=own)
    taken = {
        full_name(name)
        for borne in others.filter(names__overlap=sorted(names)).values_list(
            "names", flat=True
        )
        for name in borne
    }
    theirs = {name for name in names if full_name(name) not in taken}
    phrases = {p for p in addresses | theirs if len(p) >= SHORTEST_PHRASE}
    return sorted(phrases), len(names - theirs)
