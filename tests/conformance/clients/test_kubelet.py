"""From a Pod's spec to its resolv.conf: the examples and rules of the reference (resolvers, section 8)."""

import pytest

from conformance.clients.kubelet import (
    DnsConfig,
    HostFileError,
    Node,
    Omission,
    Pod,
    parse_host_file,
    pod_dns,
)
from conformance.clients.model import ResolvConf

HOST = """\
nameserver 192.0.2.53
search corp.example
options timeout:1 rotate
"""
NODE = Node(host=HOST)
CLUSTER = ResolvConf(
    ("10.96.0.10",),
    ("shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"),
    ("ndots:5",),
)
OF_HOST = ResolvConf(("192.0.2.53",), ("corp.example",), ("timeout:1", "rotate"))
LOOPBACK = ResolvConf(("127.0.0.1",), (".",))


@pytest.mark.parametrize(
    ("text", "conf"),
    [
        ("", ResolvConf(())),
        (HOST, OF_HOST),
        ("  nameserver\t192.0.2.1 192.0.2.2\nnameserver 192.0.2.3", ResolvConf(("192.0.2.1", "192.0.2.3"))),
        ("# nameserver 192.0.2.1\n; nameserver 192.0.2.2\n\n   \n", ResolvConf(())),
        ("search a. b c..\nsearch d. e", ResolvConf((), ("d", "e"))),
        ("search a..", ResolvConf((), ("a.",))),
        ("search .", ResolvConf(())),
        ("search a . b", ResolvConf((), ("a", "b"))),
        ("search", ResolvConf(())),
        ("domain a", ResolvConf(())),
        ("options ndots:2 rotate\noptions ndots:3 edns0", ResolvConf((), (), ("ndots:3", "rotate", "edns0"))),
        ("nameserver 192.0.2.1\r\n", ResolvConf(("192.0.2.1",))),
    ],
)
def test_a_host_file(text: str, conf: ResolvConf) -> None:
    assert parse_host_file(text) == conf


@pytest.mark.parametrize("text", ["nameserver", "nameserver 192.0.2.1\nnameserver \n", "#" * (10 * 2**20 + 1)])
def test_a_host_file_that_is_refused(text: str) -> None:
    with pytest.raises(HostFileError):
        parse_host_file(text)
    with pytest.raises(HostFileError):
        pod_dns(Pod("shop"), Node(host=text))


@pytest.mark.parametrize(
    ("policy", "host_network", "conf"),
    [
        ("None", False, ResolvConf(())),
        ("None", True, ResolvConf(())),
        ("Default", False, OF_HOST),
        ("Default", True, OF_HOST),
        ("ClusterFirst", False, CLUSTER),
        ("ClusterFirst", True, OF_HOST),
        ("ClusterFirstWithHostNet", False, CLUSTER),
        ("ClusterFirstWithHostNet", True, CLUSTER),
        ("Unknown", False, CLUSTER),
        ("Unknown", True, CLUSTER),
    ],
)
def test_the_base_of_each_policy(policy: str, host_network: bool, conf: ResolvConf) -> None:
    assert pod_dns(Pod("shop", policy, host_network=host_network), NODE).conf == conf


@pytest.mark.parametrize(
    ("policy", "node", "conf"),
    [
        ("ClusterFirst", Node(cluster_dns=("10.96.0.10", "fd00::a")), ("10.96.0.10", "fd00::a")),
        ("Default", Node(host=None), ("127.0.0.1",)),
        ("Default", Node(host=None, addresses=("192.0.2.1", "2001:db8::1")), ("127.0.0.1", "::1")),
        ("Default", Node(host=None, addresses=("2001:db8::1",)), ("::1",)),
        ("None", Node(host=None), ()),
        ("ClusterFirst", Node(host=None), ("10.96.0.10",)),
        ("ClusterFirst", Node(host=None, cluster_dns=()), ("127.0.0.1",)),
        ("Default", Node(host="nameserver ::1\nnameserver ::1\n"), ("::1", "::1")),
    ],
)
def test_name_servers(policy: str, node: Node, conf: tuple[str, ...]) -> None:
    assert pod_dns(Pod("shop", policy), node).conf.nameservers == conf


@pytest.mark.parametrize(
    ("policy", "node", "search"),
    [
        ("Default", Node(host=None), (".",)),
        ("ClusterFirst", Node(host=None), ("shop.svc.cluster.local", "svc.cluster.local", "cluster.local")),
        ("ClusterFirst", Node(host="search b a b\n", cluster_domain=""), ("b", "a", "b")),
        (
            "ClusterFirst",
            Node(host="search k.test b b", cluster_domain="k.test"),
            "shop.svc.k.test svc.k.test k.test b",
        ),
        ("Default", Node(host="search b a b\n"), ("b", "a", "b")),
    ],
)
def test_search_lists(policy: str, node: Node, search: tuple[str, ...] | str) -> None:
    expected = tuple(search.split()) if isinstance(search, str) else search
    assert pod_dns(Pod("shop", policy), node).conf.search == expected


EXAMPLE = DnsConfig((), ("svc.cluster.local", "x.y"), (("ndots", "2"), ("edns0", None)))
ALONE = DnsConfig(("1.1.1.1",), ("resolv.conf.local",), (("ndots", "2"),))


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        (
            Pod("shop"),
            "nameserver 10.96.0.10\n"
            "search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\n"
            "options ndots:5\n",
        ),
        (
            Pod("shop", config=EXAMPLE),
            "nameserver 10.96.0.10\n"
            "search shop.svc.cluster.local svc.cluster.local cluster.local corp.example x.y\n"
            "options ndots:2 edns0\n",
        ),
        (
            Pod("shop", "None", ALONE),
            "nameserver 1.1.1.1\nsearch resolv.conf.local\noptions ndots:2\n",
        ),
        (
            Pod("shop", host_network=True),
            "nameserver 192.0.2.53\nsearch corp.example\noptions timeout:1 rotate\n",
        ),
        (Pod("shop", "None", DnsConfig(("1.1.1.1",))), "nameserver 1.1.1.1\n"),
    ],
)
def test_the_examples_of_the_reference(pod: Pod, text: str) -> None:
    """Section 8.7."""
    assert pod_dns(pod, NODE).conf.text == text


@pytest.mark.parametrize(
    ("config", "conf"),
    [
        (
            DnsConfig(nameservers=("192.0.2.53", "192.0.2.1")),
            ResolvConf(("192.0.2.53", "192.0.2.1"), ("corp.example",)),
        ),
        (
            DnsConfig(searches=("corp.example.", "b")),
            ResolvConf(("192.0.2.53",), ("corp.example", "corp.example.", "b")),
        ),
        (DnsConfig(searches=(".", "_sip._tcp.b")), ResolvConf(("192.0.2.53",), ("corp.example", ".", "_sip._tcp.b"))),
    ],
)
def test_what_a_dns_config_adds(config: DnsConfig, conf: ResolvConf) -> None:
    found = pod_dns(Pod("shop", "Default", config), NODE).conf
    assert (found.nameservers, found.search) == (conf.nameservers, conf.search)


@pytest.mark.parametrize(
    ("options", "merged"),
    [
        ((), ("timeout:1", "rotate")),
        ((("timeout", "3"),), ("timeout:3", "rotate")),
        ((("timeout", None),), ("timeout", "rotate")),
        ((("rotate", "1"), ("edns0", None)), ("timeout:1", "rotate:1", "edns0")),
        ((("ndots", "abc"),), ("timeout:1", "rotate", "ndots:abc")),
        ((("ndots", ""),), ("timeout:1", "rotate", "ndots")),
        ((("ndots", "1"), ("ndots", "2")), ("timeout:1", "rotate", "ndots:2")),
    ],
)
def test_options_are_merged_by_name(options: tuple[tuple[str, str | None], ...], merged: tuple[str, ...]) -> None:
    assert pod_dns(Pod("shop", "Default", DnsConfig(options=options)), NODE).conf.options == merged


def numbered(count: int, length: int = 4) -> tuple[str, ...]:
    """So many search domains of this many characters."""
    return tuple(f"{number:02}." + "x" * (length - 3) for number in range(count))


SEARCH_EVENT = (
    "Search Line limits were exceeded, some search paths have been omitted, the applied search line is: {line}"
)
LONG = "y" * 254


@pytest.mark.parametrize(
    ("searches", "kept", "dropped"),
    [
        (numbered(32), numbered(32), {}),
        (numbered(33), numbered(32), {"32 search domains": numbered(33)[32:]}),
        (("y" * 253,), ("y" * 253,), {}),
        (("a", LONG, "b"), ("a", "b"), {"253 characters of a search domain": (LONG,)}),
        ((*numbered(31, 4), LONG, "b"), numbered(31), {
            "32 search domains": ("b",), "253 characters of a search domain": (LONG,)
        }),
        (numbered(32, 63), numbered(32, 63), {}),  # 32 * 64 - 1 = 2047
        ((*numbered(31, 63), "x" * 64), (*numbered(31, 63), "x" * 64), {}),  # 2048
        ((*numbered(31, 63), "x" * 65), numbered(31, 63), {"2048 characters of the search line": ("x" * 65,)}),
        (numbered(32, 100), numbered(20, 100), {"2048 characters of the search line": numbered(32, 100)[20:]}),
    ],
)  # fmt: skip
def test_limits_of_the_search_line(
    searches: tuple[str, ...], kept: tuple[str, ...], dropped: dict[str, tuple[str, ...]]
) -> None:
    found = pod_dns(Pod("shop", "None", DnsConfig(searches=searches)), NODE)
    assert found.conf.search == kept
    event = SEARCH_EVENT.format(line=" ".join(kept))
    assert found.omissions == tuple(
        Omission(rule, entries, "DNSConfigForming", event) for rule, entries in dropped.items()
    )


def test_limits_hold_for_every_policy() -> None:
    host = "".join(f"nameserver 192.0.2.{number}\n" for number in range(4)) + f"search {' '.join(numbered(30))}\n"
    default, cluster = (pod_dns(Pod("shop", policy), Node(host=host)) for policy in ("Default", "ClusterFirst"))
    assert [omission.rule for omission in default.omissions] == ["3 nameservers"]
    assert [omission.rule for omission in cluster.omissions] == ["32 search domains"]
    assert cluster.conf.search[3:] == numbered(29)


def test_three_name_servers() -> None:
    found = pod_dns(Pod("shop", config=DnsConfig(("192.0.2.1", "10.96.0.10", "192.0.2.2", "192.0.2.3"))), Node())
    assert found.conf.nameservers == ("10.96.0.10", "192.0.2.1", "192.0.2.2")
    assert found.omissions == (
        Omission("duplicates", ("10.96.0.10",)),
        Omission(
            "3 nameservers",
            ("192.0.2.3",),
            "DNSConfigForming",
            "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: "
            "10.96.0.10 192.0.2.1 192.0.2.2",
        ),
    )


@pytest.mark.parametrize(
    ("pod", "node", "omissions"),
    [
        (Pod("shop"), NODE, (Omission("a cluster policy takes no host options", ("timeout:1", "rotate")),)),
        (Pod("shop"), Node(host="search svc.cluster.local b"), (Omission("duplicates", ("svc.cluster.local",)),)),
        (Pod("shop", "Default", EXAMPLE), NODE, ()),
        (
            Pod("shop", "ClusterFirstWithHostNet", name="web-0", uid="8f"),
            Node(cluster_dns=(), host=HOST),
            (
                Omission(
                    "no clusterDNS",
                    (),
                    "MissingClusterDNS",
                    'pod: "web-0_shop(8f)". kubelet does not have ClusterDNS IP configured and cannot create Pod using '
                    '"ClusterFirst" policy. Falling back to "Default" policy.',
                ),
            ),
        ),
    ],
)
def test_what_is_left_out(pod: Pod, node: Node, omissions: tuple[Omission, ...]) -> None:
    assert pod_dns(pod, node).omissions == omissions
