"""nslookup.exe: one question on the command line."""

from __future__ import annotations

import sys

from .powershell.resolver import (
    TYPES,
    Record,
    ResolveError,
    candidates,
    configuration,
    is_address,
    query,
    reverse_name,
)


def main(argv: list[str]) -> int:
    """``nslookup [-type=KIND] NAME [SERVER]``; 1 where there is no answer."""
    kind, words = "", []
    for arg in argv:
        lower = arg.lower()
        if lower.startswith(("-type=", "-querytype=", "-q=", "-ty=")):
            kind = lower.split("=", 1)[1].upper()
        elif not arg.startswith("-"):
            words.append(arg)
    if not words:
        print("nslookup: only the form with a name is supported", file=sys.stderr)
        return 1
    if kind and kind not in TYPES:
        print(f"unknown query type: {kind}")
        return 1
    servers = [words[1]] if len(words) > 1 else list(configuration().servers)
    return _ask(words[0], kind, servers)


def _ask(name: str, kind: str, servers: list[str]) -> int:
    _line(f"Server:  {_server_name(servers)}")
    _line(f"Address:  {servers[0] if servers else 'UnKnown'}")
    _line("")
    if is_address(name) and not kind:
        return _reverse(name, servers)
    kinds = [kind] if kind else ["A", "AAAA"]
    found: list[Record] = []
    problem: ResolveError | None = None
    for one in kinds:
        try:
            found += _first(name, one, servers)
        except ResolveError as err:
            problem = err
    answers = [record for record in found if record.section == "Answer"]
    if not answers:
        _failure(name, kind, problem)
        return 1
    _show(answers, kind)
    return 0


def _first(name: str, kind: str, servers: list[str]) -> list[Record]:
    """As Resolve-DnsName, for the servers given."""
    error: ResolveError | None = None
    for full in candidates(name, configuration().suffix):
        try:
            return query(full, TYPES[kind], servers)
        except ResolveError as err:
            error = err
            if err.code != 9003:
                break
    assert error is not None  # there is always a candidate
    raise error


def _server_name(servers: list[str]) -> str:
    try:
        records = query(reverse_name(servers[0]), TYPES["PTR"], servers) if servers else []
    except ResolveError:
        return "UnKnown"
    names = [record.data["NameHost"] for record in records if record.type == "PTR"]
    return str(names[0]) if names else "UnKnown"


def _reverse(address: str, servers: list[str]) -> int:
    try:
        records = query(reverse_name(address), TYPES["PTR"], servers)
    except ResolveError as err:
        _failure(address, "", err)
        return 1
    names = [record.data["NameHost"] for record in records if record.type == "PTR"]
    if not names:
        _failure(address, "", None)
        return 1
    _line(f"Name:    {names[0]}")
    _line(f"Address:  {address}")
    _line("")
    return 0


def _show(answers: list[Record], kind: str) -> None:
    addresses = [r for r in answers if r.type in ("A", "AAAA")]
    if addresses:
        _line(f"Name:    {addresses[-1].name}")
        texts = [str(record.data["IPAddress"]) for record in addresses]
        _line(f"{'Addresses' if len(texts) > 1 else 'Address'}:  {texts[0]}")
        for text in texts[1:]:
            _line(f"\t  {text}")
    aliases = [r.name for r in answers if r.type == "CNAME"]
    if addresses and aliases:
        _line(f"Aliases:  {aliases[0]}")
    for record in answers:
        if record.type not in ("A", "AAAA") and (kind or record.type != "CNAME"):
            _line(
                f"{record.name}\t{record.type} "
                + ", ".join(f"{k} = {v}" for k, v in record.data.items())
            )
    _line("")


def _failure(name: str, kind: str, problem: ResolveError | None) -> None:
    server = "UnKnown"
    if problem is None:
        print(f"*** No {kind or 'address (A)'} records available for {name}", file=sys.stderr)
    elif problem.code == 1460:
        _line("DNS request timed out.")
        _line("    timeout was 2 seconds.")
        print(f"*** Request to {server} timed-out", file=sys.stderr)
    else:
        words = {9003: "Non-existent domain", 9002: "Server failed", 9005: "Query refused"}
        why = words.get(problem.code, str(problem))
        print(f"*** {server} can't find {name}: {why}", file=sys.stderr)


def _line(text: str) -> None:
    sys.stdout.buffer.write(f"{text}\r\n".encode())
    sys.stdout.buffer.flush()
