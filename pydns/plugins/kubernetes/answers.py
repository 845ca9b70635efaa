"""The answer to each type of question about a cluster zone.

Duty: which of tree, reverse names and apex a question is for, with CoreDNS's rules type by type.  It does not know what
is done where there is no answer (`plugin`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydns.dns.message import RR, Question
from pydns.dns.name import is_reverse, reverse_address
from pydns.dns.rdata import txt
from pydns.dns.replay import Part
from pydns.dns.types import ADDRESSES, Class, Rcode, Type
from pydns.k8s.store import Change, Store
from pydns.plugins.kubernetes.apex import SERVER, Apex
from pydns.plugins.kubernetes.consent import Tags, consent
from pydns.plugins.kubernetes.external import External
from pydns.plugins.kubernetes.memo import Known, Memo
from pydns.plugins.kubernetes.options import KubernetesOptions
from pydns.plugins.kubernetes.qname import Name, parse
from pydns.plugins.kubernetes.records import Asked, Outcome, absolute, addresses, pointers, service_records
from pydns.plugins.kubernetes.renewals import Renewals
from pydns.plugins.kubernetes.reverse import Reverse
from pydns.plugins.kubernetes.tree import NOWHERE, Found, Tree
from pydns.query import Query

SCHEMA_NAME = "dns-version"
SCHEMA_VERSION = "1.1.0"
"""The version of the Kubernetes DNS specification."""
SCHEMA_TTL = 28800
OWN_RULES = frozenset((Type.TXT, Type.PTR, Type.SOA, Type.NS))
"""The types whose answer or denial does not follow from what the name holds; so these have no `part`."""
RECORDS = frozenset((*ADDRESSES, Type.SRV, Type.CNAME))
"""The types of records that a Service's name may have."""

Method = Callable[[Asked, Query], Awaitable[Outcome]]


class Answers:
    """``zones`` are lower-case; PTR records point into ``primary``."""

    def __init__(
        self, store: Store, options: KubernetesOptions, tags: Tags, zones: tuple[str, ...], primary: str
    ) -> None:
        pod_names = options.endpoint_pod_names
        self.tree = Tree(store, options, tags)
        self.apex = Apex(store, tags, options.ttl, pod_names=pod_names)
        self._reverse = Reverse(store, self.tree, tags, primary, filtered=bool(options.namespaces), pod_names=pod_names)
        self._external = External(self._find_or_server, options.ttl)
        self._memo = Memo()
        self.known = self._memo.get
        """What became of a question the last time; kept for names in lower case alone, as nearly all come."""
        self.renewals = Renewals(self._renew)
        store.on_change(self._forget)
        self._ttl = options.ttl
        self._zonal = options.zonal
        self._server_names = {zone: absolute(SERVER, zone) for zone in zones}
        self._methods = self._by_type()

    def _by_type(self) -> dict[int, Method]:
        """How each type is answered; all others are asked whether the name exists (`_existence`)."""
        return {
            Type.A: self._addresses,
            Type.AAAA: self._addresses,
            Type.SRV: self._services,
            Type.CNAME: self._alias,
            Type.TXT: self._text,
            Type.PTR: self._pointers,
            Type.SOA: self._start_of_authority,
            Type.NS: self._name_servers,
        }

    async def to(self, asked: Asked, query: Query) -> Outcome:
        """What becomes of a question that is not `known`."""
        return await self._methods.get(asked.type, self._existence)(asked, query)

    def part(self, zone: str, name: str, qtype: int) -> Part | None:
        """What is a name's own in the reply to such a question, as `to` has it.

        None for a name with more than one address, for one that stands for another name, and for SRV and CNAME of a
        name that holds something.  Both names are in lower case, and the type is none of `OWN_RULES`.
        """
        found = self._find_or_server(name, zone)
        if not found.exists:
            return Part(Rcode.NXDOMAIN, b"", found.tags)
        if not found.items or qtype not in RECORDS:
            return Part(Rcode.NOERROR, b"", found.tags)
        if qtype not in ADDRESSES or found.is_alias:
            return None
        rdatas = {item.rdata for item in found.items if item.type == qtype}
        return Part(Rcode.NOERROR, b"".join(rdatas), found.tags) if len(rdatas) < 2 else None

    def _parse(self, asked: Asked) -> Name | None:
        return parse(asked.name, asked.zone, self._zonal)

    def _find(self, text: str, name: Name | None) -> Found:
        """What a name that was taken apart holds; there are no objects below the reverse trees."""
        if name is not None and name.kind and is_reverse(text):
            return NOWHERE
        return self.tree.find(name)

    def _find_or_server(self, name: str, zone: str) -> Found:
        """The same, with the name of this server."""
        if name == self._server_names[zone]:
            servers = self.apex.servers()
            return Found(True, tuple(servers.tags), servers.items)
        return self._find(name, parse(name, zone, self._zonal))

    async def _existence(self, asked: Asked, query: Query) -> Outcome:
        found = self._find_or_server(asked.name, asked.zone)
        return Outcome(found.exists, consent(*found.tags))

    async def _addresses(self, asked: Asked, query: Query) -> Outcome:
        found = self._find_or_server(asked.name, asked.zone)
        if not found.items:
            return Outcome(found.exists, consent(*found.tags))
        if found.is_alias:
            return await self._external.follow(query, asked, found)
        return self._kept(query, asked, found)

    async def _services(self, asked: Asked, query: Query) -> Outcome:
        return self._kept(query, asked, self._find_or_server(asked.name, asked.zone))

    def _kept(self, query: Query, asked: Asked, found: Found) -> Outcome:
        """What becomes of a question by what its name holds, kept for the next time where that is a Service's."""
        outcome = self._outcome(asked, found)
        is_usual = asked.owner == asked.name and query.qclass == Class.IN
        if found.items and found.service is not None and is_usual:
            known = Known(asked.zone, outcome)
            self._memo.keep(found.service, query.question, known, of_endpoints=found.of_endpoints)
        return outcome

    def _outcome(self, asked: Asked, found: Found) -> Outcome:
        if asked.type == Type.SRV:
            records = service_records(found.items, asked, self._ttl)
        else:
            records = addresses(found.items, asked, self._ttl), ()
        return Outcome(found.exists, consent(*found.tags), *records)

    def _forget(self, change: Change) -> None:
        """Forget what a change touches; what was asked for since the last one is made anew soon."""
        for question, known in self._memo.forget(change):
            if known.asked:
                self.renewals.add(question, known.zone)

    def _renew(self, question: Question, zone: str) -> None:
        """Make known what becomes of a question, all in lower case, unless it is by now or another server decides."""
        if self.known(question) is not None:
            return
        name, qtype, _ = question
        found = self._find_or_server(name, zone)
        if found.items and found.service is not None and not (found.is_alias and qtype != Type.SRV):
            known = Known(zone, self._outcome(Asked(name, zone, name, zone, qtype), found), asked=False)
            known.packed(question)
            self._memo.keep(found.service, question, known, of_endpoints=found.of_endpoints)

    async def _alias(self, asked: Asked, query: Query) -> Outcome:
        """CNAME: the first thing that the name holds, where that is a name."""
        found = self._find_or_server(asked.name, asked.zone)
        first = [RR(asked.owner, item.type, self._ttl, item.rdata) for item in found.items[:1]]
        answer = tuple(record for record in first if record.type == Type.CNAME)
        return Outcome(found.exists, consent(*found.tags), answer)

    async def _text(self, asked: Asked, query: Query) -> Outcome:
        """TXT: the schema's version; a name that holds nothing does not exist for this type (CoreDNS)."""
        if asked.name == absolute(SCHEMA_NAME, asked.zone):
            record = RR(asked.owner, Type.TXT, SCHEMA_TTL, txt(SCHEMA_VERSION))
            return Outcome(True, consent(), (record,))
        name = self._parse(asked)
        found = self._find(asked.name, name)
        exists = bool(found.items) or (found.exists and name is not None and bool(name.zone))
        return Outcome(exists, consent(*found.tags))

    async def _pointers(self, asked: Asked, query: Query) -> Outcome:
        address = reverse_address(asked.name)
        if address is None:
            found = self._find(asked.name, self._parse(asked))
            return Outcome(found.exists, consent(*found.tags))
        names, tags = self._reverse.names(address)
        return Outcome(bool(names), consent(*tags), pointers(names, asked, Type.PTR, self._ttl))

    async def _start_of_authority(self, asked: Asked, query: Query) -> Outcome:
        """SOA: below the apex no look-up at all, every name is NODATA (CoreDNS)."""
        answer = self.apex.soa(asked.origin) if asked.name == asked.zone else ()
        return Outcome(True, consent().with_lease(self.apex.lease), answer)

    async def _name_servers(self, asked: Asked, query: Query) -> Outcome:
        if asked.name != asked.zone:
            return await self._existence(asked, query)
        servers = self.apex.servers()
        answer, additional = self.apex.name_servers(asked, servers)
        return Outcome(True, consent(*servers.tags), answer, additional)
