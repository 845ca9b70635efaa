"""From a Pod's spec to its resolv.conf, by kubelet's rules (reference: resolvers, section 8; pkg/kubelet/network/dns).

Kubelet leaves the order of options open once a dnsConfig is merged; here they keep the order they were met in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conformance.clients.model import ResolvConf

CLUSTER_OPTIONS = ("ndots:5",)
MOST_NAMESERVERS = 3
MOST_SEARCHES = 32
MOST_SEARCH_LINE = 2048
MOST_DOMAIN = 253
MOST_FILE = 10 * 2**20
"""Octets of a host file that kubelet reads."""


class HostFileError(ValueError):
    """A host file that kubelet refuses: no Pod can be started on this node."""


@dataclass(frozen=True)
class DnsConfig:
    """A Pod's dnsConfig: options are names with a value, or None for one without."""

    nameservers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class Pod:
    """What of a Pod decides about its DNS; `policy` is dnsPolicy, `config` None where the spec has no dnsConfig."""

    namespace: str
    policy: str = "ClusterFirst"
    config: DnsConfig | None = None
    host_network: bool = False
    name: str = "pod"
    uid: str = "uid"


@dataclass(frozen=True)
class Node:
    """How kubelet is configured: clusterDNS, clusterDomain, and the text of the file that resolvConf names.

    `host` is None for `resolvConf: ""`; `addresses` are the node's own, which then say where its name server is.
    """

    cluster_dns: tuple[str, ...] = ("10.96.0.10",)
    cluster_domain: str = "cluster.local"
    host: str | None = ""
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Omission:
    """What a rule of kubelet left out, and the reason and message of the event it sends for that (none: empty)."""

    rule: str
    entries: tuple[str, ...]
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class PodDns:
    """The resolv.conf of a Pod and all that is not in it."""

    conf: ResolvConf
    omissions: tuple[Omission, ...] = ()


def parse_host_file(text: str) -> ResolvConf:
    """Kubelet's reading of a host's resolv.conf: the last search line counts, options are merged by name.

    `search .` and `domain` lines say nothing. Raises `HostFileError`: a nameserver without an address, 10 MB exceeded.
    """
    if len(text.encode()) > MOST_FILE:
        raise HostFileError(f"more than {MOST_FILE} octets")
    nameservers: list[str] = []
    search: tuple[str, ...] = ()
    options: list[str] = []
    for key, *values in filter(None, (line.split() for line in text.split("\n"))):
        if key == "nameserver":
            nameservers.append(_address(values))
        elif key == "search":
            search = tuple(value.removesuffix(".") for value in values if value != ".")
        elif key == "options":
            options += values
    return ResolvConf(tuple(nameservers), search, _last_of_each(options))


def _address(values: Sequence[str]) -> str:
    if not values:
        raise HostFileError("nameserver list is empty")
    return values[0]


def _last_of_each(options: Iterable[str]) -> tuple[str, ...]:
    return tuple({option.split(":")[0]: option for option in options}.values())


def pod_dns(pod: Pod, node: Node) -> PodDns:
    """The resolv.conf that a Pod gets on a node. Raises `HostFileError`."""
    omissions: list[Omission] = []
    conf = _base(pod, node, omissions)
    if pod.config is not None:
        conf = _merge(conf, pod.config, omissions)
    return PodDns(_within_limits(conf, omissions), tuple(omissions))


def _base(pod: Pod, node: Node, omissions: list[Omission]) -> ResolvConf:
    """What dnsConfig is added to (section 8.3); a policy that kubelet does not know is ClusterFirst."""
    host = parse_host_file(node.host or "")
    if pod.policy == "None":
        return ResolvConf(())
    if pod.policy == "Default" or (pod.policy == "ClusterFirst" and pod.host_network):
        return _host(node, host)
    if not node.cluster_dns:
        omissions.append(_missing_cluster_dns(pod))
        return _host(node, host)
    return _cluster(pod, node, host, omissions)


def _host(node: Node, host: ResolvConf) -> ResolvConf:
    if node.host is not None:
        return host
    own = tuple("::1" if ":" in address else "127.0.0.1" for address in node.addresses)
    return ResolvConf(own or ("127.0.0.1",), (".",))


def _cluster(pod: Pod, node: Node, host: ResolvConf, omissions: list[Omission]) -> ResolvConf:
    """The cluster's name servers and domains, then the host's domains; the host's options are left out."""
    _omit(omissions, "a cluster policy takes no host options", host.options)
    if not node.cluster_domain:
        return ResolvConf(node.cluster_dns, host.search, CLUSTER_OPTIONS)
    zone = node.cluster_domain
    search = _unique((f"{pod.namespace}.svc.{zone}", f"svc.{zone}", zone, *host.search), omissions)
    return ResolvConf(node.cluster_dns, search, CLUSTER_OPTIONS)


def _missing_cluster_dns(pod: Pod) -> Omission:
    message = (
        f'pod: "{pod.name}_{pod.namespace}({pod.uid})". kubelet does not have ClusterDNS IP configured and cannot '
        'create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'
    )
    return Omission("no clusterDNS", (), "MissingClusterDNS", message)


def _merge(conf: ResolvConf, config: DnsConfig, omissions: list[Omission]) -> ResolvConf:
    """Appends a dnsConfig (section 8.4); `foo.` and `foo` are two domains, an option without value is its bare name."""
    options = dict(option.partition(":")[::2] for option in conf.options)
    options |= {name: value or "" for name, value in config.options}
    return ResolvConf(
        _unique((*conf.nameservers, *config.nameservers), omissions),
        _unique((*conf.search, *config.searches), omissions),
        tuple(f"{name}:{value}" if value else name for name, value in options.items()),
    )


def _unique(entries: Sequence[str], omissions: list[Omission]) -> tuple[str, ...]:
    """Each entry once, where it is first. Duplicates are left out without an event."""
    kept = tuple(dict.fromkeys(entries))
    again = list(entries)
    for entry in kept:
        again.remove(entry)
    _omit(omissions, "duplicates", tuple(again))
    return kept


def _omit(omissions: list[Omission], rule: str, entries: tuple[str, ...]) -> None:
    if entries:
        omissions.append(Omission(rule, entries))


def _within_limits(conf: ResolvConf, omissions: list[Omission]) -> ResolvConf:
    """Cuts what is too much (section 8.5)."""
    nameservers = conf.nameservers[:MOST_NAMESERVERS]
    if nameservers != conf.nameservers:
        omissions.append(_nameservers_omitted(conf.nameservers[MOST_NAMESERVERS:], nameservers))
    return replace(conf, nameservers=nameservers, search=_search_within_limits(conf.search, omissions))


def _nameservers_omitted(entries: tuple[str, ...], applied: tuple[str, ...]) -> Omission:
    message = "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: "
    rule = f"{MOST_NAMESERVERS} nameservers"
    return Omission(rule, entries, "DNSConfigForming", message + " ".join(applied))


def _search_within_limits(search: tuple[str, ...], omissions: list[Omission]) -> tuple[str, ...]:
    """The first 32 domains, without those of more than 253 characters, as many as a line of 2048 holds."""
    kept = search[:MOST_SEARCHES]
    short = tuple(domain for domain in kept if len(domain) <= MOST_DOMAIN)
    applied = short
    while len(" ".join(applied)) > MOST_SEARCH_LINE:
        applied = applied[:-1]
    message = "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: "
    cuts = (
        (f"{MOST_SEARCHES} search domains", search[MOST_SEARCHES:]),
        (f"{MOST_DOMAIN} characters of a search domain", tuple(domain for domain in kept if domain not in short)),
        (f"{MOST_SEARCH_LINE} characters of the search line", short[len(applied) :]),
    )
    line = message + " ".join(applied)
    omissions += [Omission(rule, entries, "DNSConfigForming", line) for rule, entries in cuts if entries]
    return applied
