"""Whether a server can be reached, and what its cluster domain is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance.spec.demand import question
from conformance.spec.ground import GroundError, Server
from conformance.spec.started import DEFAULT_ZONE
from conformance.spec.wants import read
from conformance.wire.client import Asker, Direct
from conformance.wire.message import TIMEOUT, Reply
from conformance.wire.question import Question

TRIES = 3
"""How often a question is asked over a network that may lose it."""

REFUSAL_TIME = 0.5
"""Seconds in which a network that refuses packets says so."""


@dataclass(frozen=True)
class Reached:
    """A server that answers, `way` in words, and the resolv.conf of the Pod that asks, if one does."""

    server: Server
    way: str = "directly"
    resolv_conf: str = ""


async def reach(asker: Asker, name: str, place: str = "", seconds: float = 2.0) -> Reached:
    """Asks what every cluster has; any reply will do. Raises `GroundError`."""
    server = Server(name, asker, TRIES)
    asked = replace(question(f"kubernetes.default.svc.{DEFAULT_ZONE}", "A"), timeout=seconds)
    got = await server.ask(asked)
    if got.reply == TIMEOUT:
        raise GroundError(f"{place or name} does not answer: {await _silence(asker, asked)}")
    return Reached(server)


async def _silence(asker: Asker, asked: Question) -> str:
    """What happened instead of a reply: the network's own word, where it has one."""
    refusal = await asker.refusal(replace(asked, timeout=REFUSAL_TIME)) if isinstance(asker, Direct) else ""
    return refusal or f"no reply to {asked.name} (asked {TRIES} times over UDP)"


async def zone_of(reached: Reached, wanted: str) -> str:
    """The zone that is wanted, or the Pod's, or cluster.local; the server must serve it. Raises `GroundError`."""
    zone = wanted or zone_in(reached.resolv_conf) or DEFAULT_ZONE
    said = await kubernetes(reached.server, zone)
    if not any(reply.answer for reply in said):
        raise GroundError(
            f"{reached.server.name} answers {said[0].rcode} to kubernetes.default.svc.{zone}: is it the DNS of a"
            " cluster? The cluster domain can be given with --zone"
        )
    return zone


async def kubernetes(server: Server, zone: str) -> list[Reply]:
    """What a server says of the Service that every cluster has, A and AAAA."""
    asked = [question(f"kubernetes.default.svc.{zone}", rtype) for rtype in ("A", "AAAA")]
    return [(await server.ask(each)).reply for each in asked]


async def is_of(server: Server, zone: str, address: str) -> bool:
    """Whether it is a cluster's own DNS: whatever lies between may answer in its place, but does not know this."""
    said = await kubernetes(server, zone)
    return any(record.data == address for reply in said for record in read(reply.answer))


def zone_in(resolv_conf: str) -> str:
    """The cluster domain in a Pod's resolv.conf: what follows `svc.` in its search list; empty if there is none."""
    lines = [line.split() for line in resolv_conf.splitlines()]
    domains = [domain for words in lines if words[:1] == ["search"] for domain in words[1:]]
    zones = [domain.removeprefix("svc.").rstrip(".") + "." for domain in domains if domain.startswith("svc.")]
    return zones[0] if zones else ""
