"""What a login of MySQL or MariaDB may: SHOW GRANTS, read by its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from sqlglot import tokenize
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from connections.databases import rights_sql
from connections.databases.rights_base import Finding, Level, Rights, sort_findings

Read: TypeAlias = Callable[[str], Sequence[tuple[Any, ...]]]
# With these on everything a login is the server's master, or becomes it.
SUPER = {
    "SUPER": "It may do everything.",
    "FILE": "It may read and write files of the server's machine.",
    "CREATE USER": "It may make logins and give them rights.",
    "SYSTEM_USER": "It may change the logins of administrators.",
    "ROLE_ADMIN": "It may give any role to anybody.",
    "SET_USER_ID": "It may act as any other login.",
    "SET_ANY_DEFINER": "It may act as any other login.",
    "SET USER": "It may act as any other login.",
}
READING = {
    "USAGE": "",
    "SELECT": "",
    "SHOW VIEW": "",
    # Others' names only; what they hold is not to be read with it.
    "SHOW DATABASES": "It sees the names of every database of the server.",
}
WORDS = {
    "ALL PRIVILEGES": "It may do everything there.",
    "INSERT": "It may add rows.",
    "UPDATE": "It may change rows.",
    "DELETE": "It may delete rows.",
    "DROP": "It may drop tables and databases.",
    "CREATE": "It may create tables and databases.",
    "ALTER": "It may change tables.",
    "EXECUTE": "It may call stored routines, which may write.",
    "PROCESS": "It sees the statements of all others.",
    "LOCK TABLES": "It may lock tables, so that others wait.",
    "CREATE TEMPORARY TABLES": "It may create temporary tables.",
    "REPLICATION SLAVE": "It may copy everything that is written.",
    "RELOAD": "It may flush and reload the server's tables and logs.",
    "SHUTDOWN": "It may stop the server.",
    "EVENT": "It may make the server run statements later.",
    "TRIGGER": "It may make the server run statements when rows change.",
    "PROXY": "It may act as another login.",
}
GRANTS_ON = "It may give its rights to others."


@dataclass(frozen=True, slots=True)
class Grant:
    """One line of SHOW GRANTS: rights on something, or roles."""

    rights: tuple[str, ...] = ()
    where: str = ""
    may_grant: bool = False
    roles: tuple[str, ...] = ()


def read_grants(line: str) -> Grant | None:
    """Return what a line of SHOW GRANTS gives; None for a line that gives nothing.

    Names may hold any word, so that the line is read by its tokens: quoted ones are
    never keywords. Hashes of passwords in it are not kept.
    """
    try:
        tokens = tokenize(line, dialect="mysql")
    except TokenError:
        return Grant(rights=("an unreadable grant",), where="?")
    if not tokens or tokens[0].text.upper() != "GRANT" or _is_quoted(tokens[0]):
        # SET DEFAULT ROLE gives nothing; REVOKE only narrows, and is not relied on.
        return None
    end = _place(tokens, "TO")
    head, tail = tokens[1:end], tokens[end + 1 :]
    on = _place(head, "ON")
    if on == len(head):
        return Grant(roles=tuple(_names(head)))
    return Grant(
        rights=tuple(_rights(head[:on])),
        where=_where(head[on + 1 :]),
        may_grant=_ends_with_option(tail),
    )


def mysql_rights(read: Read, *, flavour: str, database: str) -> Rights:
    """Return what the login may beyond reading, through its roles too."""
    grants = list(_all_grants(read, flavour))
    found = [finding for grant in grants for finding in _findings(grant)]
    login = str(read(rights_sql.MYSQL_LOGIN)[0][0])
    advice = _advice(login, database) if found else ()
    return Rights(findings=sort_findings(found), advice=advice)


def _all_grants(read: Read, flavour: str) -> Iterator[Grant]:
    """Yield the grants of the login and of every role that it has."""
    own = list(_grants_of(read, rights_sql.MYSQL_GRANTS))
    yield from own
    # What a role is given of other roles is told with it.
    for role in dict.fromkeys(role for grant in own for role in grant.roles):
        is_maria = flavour == "mariadb"
        yield from _maria_role(read, role) if is_maria else _mysql_role(read, role)


def _mysql_role(read: Read, role: str) -> Iterator[Grant]:
    name, _, host = role.rpartition("@")
    account = f"{_quote(name)}@{_quote(host)}"
    yield from _grants_of(read, rights_sql.MYSQL_ROLE_GRANTS.format(role=account))


def _maria_role(read: Read, role: str) -> Iterator[Grant]:
    """Yield what a role gives by taking it on for a moment: else it is not told."""
    (before,) = read(rights_sql.MARIA_ROLE)[0]
    name = role.rpartition("@")[0]
    read(rights_sql.MARIA_SET_ROLE.format(role=_quote(name)))
    try:
        yield from list(_grants_of(read, rights_sql.MYSQL_GRANTS))
    finally:
        back = _quote(str(before)) if before else "NONE"
        read(rights_sql.MARIA_SET_ROLE.format(role=back))


def _grants_of(read: Read, statement: str) -> Iterator[Grant]:
    for row in read(statement):
        if (grant := read_grants(str(row[0]))) is not None:
            yield grant


def _findings(grant: Grant) -> Iterator[Finding]:
    for right in grant.rights:
        if right in READING and not READING[right]:
            continue
        words = SUPER.get(right) or WORDS.get(right) or READING.get(right)
        yield Finding(
            level=_level(right, grant.where),
            right=right,
            where=grant.where,
            words=words or f"It has the right {right}.",
        )
    if grant.may_grant:
        is_all = grant.where == "*.*"
        yield Finding(
            level="superuser" if is_all else "beyond",
            right="GRANT OPTION",
            where=grant.where,
            words=GRANTS_ON,
        )


def _level(right: str, where: str) -> Level:
    if right in READING:
        return "note"
    writes = right in ("ALL PRIVILEGES", "ALL", "INSERT", "UPDATE", "DELETE")
    # Whoever writes the tables of logins is whoever they like.
    if writes and _covers_logins(where.rpartition(".")[0]):
        return "superuser"
    return "superuser" if where == "*.*" and right in SUPER else "beyond"


def _covers_logins(pattern: str) -> bool:
    """Return whether a grant on databases like `pattern` is one on `mysql` too."""
    if pattern == "*":
        return True
    literal = re.escape(pattern).replace("%", ".*").replace("_", ".")
    return re.fullmatch(literal, "mysql") is not None


def _rights(tokens: Iterable[Token]) -> Iterator[str]:
    """Yield the rights in a list: words between commas, without their columns."""
    words: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token.token_type == TokenType.L_PAREN) - (
            token.token_type == TokenType.R_PAREN
        )
        if depth or token.token_type == TokenType.R_PAREN:
            continue
        if token.token_type == TokenType.COMMA:
            yield " ".join(words)
            words = []
        else:
            words.append(token.text.upper())
    yield " ".join(words)


def _where(tokens: Sequence[Token]) -> str:
    parts = [token for token in tokens if token.token_type != TokenType.PARAMETER]
    words = [
        token.text
        for token in parts
        if _is_quoted(token) or token.token_type in (TokenType.STAR, TokenType.DOT)
    ]
    return "".join(words)


def _names(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield roles as name@host; MariaDB's have no host."""
    name, host, is_host = "", "", False
    for token in tokens:
        if token.token_type == TokenType.COMMA:
            yield f"{name}@{host}"
            name, host, is_host = "", "", False
        elif token.token_type == TokenType.PARAMETER:
            is_host = True
        elif is_host:
            host += token.text
        else:
            name += token.text
    yield f"{name}@{host}"


def _ends_with_option(tokens: Sequence[Token]) -> bool:
    """Return whether WITH ... GRANT OPTION follows; words in quotes do not count."""
    words = [token.text.upper() for token in tokens if not _is_quoted(token)]
    return ("GRANT", "OPTION") in pairwise(words)


def _place(tokens: Sequence[Token], word: str) -> int:
    """Return where an unquoted word stands outside parentheses, else the end."""
    depth = 0
    for n, token in enumerate(tokens):
        depth += (token.token_type == TokenType.L_PAREN) - (
            token.token_type == TokenType.R_PAREN
        )
        if not depth and not _is_quoted(token) and token.text.upper() == word:
            return n
    return len(tokens)


def _is_quoted(token: Token) -> bool:
    return token.token_type in (TokenType.IDENTIFIER, TokenType.STRING)


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _advice(login: str, database: str) -> tuple[str, ...]:
    name, _, host = login.rpartition("@")
    account = f"{_quote(name)}@{_quote(host)}"
    return (
        "CREATE USER `fabric_reader`@`%` IDENTIFIED BY '...';",
        f"GRANT SELECT, SHOW VIEW ON {_quote(database)}.* TO `fabric_reader`@`%`;",
        f"-- or, of the login as it is: REVOKE ALL PRIVILEGES, GRANT OPTION FROM "
        f"{account};",
    )
