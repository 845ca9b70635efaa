"""What *prometheus* counts; names, labels and values as CoreDNS 1.14.7 shows them for the same queries."""

from dataclasses import dataclass

import aiohttp
import pytest

import pydns
from pydns.corefile.line import CorefileError
from pydns.corefile.options import Options
from pydns.dns import Edns, Flag, Message, Rcode
from pydns.dns.edns import DO
from pydns.plugin import Block, Counts, Plugin
from pydns.plugins.prometheus import MAX_WAITING, SIZE_BUCKETS, TIME_BUCKETS, Prometheus
from pydns.query import Dropped, Failure, Query, Serve
from tests.support import Clock, FakeServer, answer, drop, fail, make_block, make_plugin, make_query

SERVER = 'server="dns://:53",view=""'


@dataclass
class NoOptions(Options):
    pass


class Errors(Plugin):
    """A link behind prometheus."""

    name = "errors"
    options = NoOptions

    async def serve(self, query: Query) -> Message:
        raise NotImplementedError


class Reload(Plugin):
    """No link."""

    name = "reload"
    options = NoOptions


async def started(block: Block, end: Serve) -> Prometheus:
    """*prometheus* with *errors* behind it, in a block that also has *reload*."""
    make_plugin(Reload, "reload", block)
    plugin = make_plugin(Prometheus, "prometheus 127.0.0.1:0", block, end)
    make_plugin(Errors, "errors", block)
    await plugin.start()
    return plugin


def shown(plugin: Prometheus, prefix: str = "coredns_dns_") -> set[str]:
    """The metrics that begin with ``prefix``, without empty buckets, labels sorted, ``_bucket`` series left out."""
    lines = plugin.process.metrics.exposition().decode().splitlines()
    return {sorted_labels(line) for line in lines if line.startswith(prefix) and "_bucket" not in line}


def sorted_labels(line: str) -> str:
    head, brace, rest = line.partition("{")
    labels, _, value = rest.partition("}")
    return f"{head}{{{','.join(sorted(labels.split(',')))}}}{value}" if brace else line


async def test_a_query_and_its_reply() -> None:
    clock = Clock()
    plugin = await started(make_block(clock=clock), answer())
    reply = answer("one.example.org. 3600 IN A 10.0.0.1")

    async def slow(query: Query) -> Message:
        clock.now += 0.003
        return await reply(query)

    plugin.next = slow
    await plugin.serve(make_query("one.example.org. A", edns=Edns(1232)))
    await plugin.stop()
    block, proto = f'{SERVER},zone="."', f'proto="udp",{SERVER},zone="."'
    assert shown(plugin) == {
        'coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",type="A",view="",zone="."} 1.0',
        f"coredns_dns_request_duration_seconds_count{{{block}}} 1.0",
        f"coredns_dns_request_duration_seconds_sum{{{block}}} {clock.now - 1000.0}",
        f"coredns_dns_request_size_bytes_count{{{proto}}} 1.0",
        f"coredns_dns_request_size_bytes_sum{{{proto}}} 44.0",
        f"coredns_dns_response_size_bytes_count{{{proto}}} 1.0",
        f"coredns_dns_response_size_bytes_sum{{{proto}}} 64.0",  # uncompressed, as the running CoreDNS counts it
        f'coredns_dns_responses_total{{plugin="errors",rcode="NOERROR",{SERVER},zone="."}} 1.0',
    }


@pytest.mark.parametrize(
    "query, labels",
    [
        (make_query("x. A"), 'family="1",proto="udp",server="dns://:53",type="A"'),
        (make_query("x. AAAA", client="2001:db8::7"), 'family="2",proto="udp",server="dns://:53",type="AAAA"'),
        (make_query("x. HTTPS", transport="tcp"), 'family="1",proto="tcp",server="dns://:53",type="HTTPS"'),
        (make_query("x. CAA"), 'family="1",proto="udp",server="dns://:53",type="other"'),
        (make_query("x. HINFO"), 'family="1",proto="udp",server="dns://:53",type="other"'),
        (make_query("x. ANY"), 'family="1",proto="udp",server="dns://:53",type="ANY"'),
        (make_query("x. A", server=FakeServer("dns://[::1]:53")), 'family="1",proto="udp",server="dns://[::1]:53",type="A"'),
    ],
)  # fmt: skip
async def test_labels_of_queries(query: Query, labels: str) -> None:
    plugin = await started(make_block(), answer())
    await plugin.serve(query)
    await plugin.stop()
    assert shown(plugin, "coredns_dns_requests_total") == {
        f'coredns_dns_requests_total{{{labels},view="",zone="."}} 1.0'
    }


@pytest.mark.parametrize(
    "name, zone",
    [
        ("www.example.org.", "example.org."),
        ("x.a.EXAMPLE.org.", "a.example.org."),
        ("a.example.org.", "a.example.org."),
        ("example.net.", "."),
    ],
)
async def test_the_zone_is_the_longest_of_the_block(name: str, zone: str) -> None:
    block = make_block("example.org", "a.example.org")
    plugin = await started(block, answer())
    await plugin.serve(make_query(f"{name} A"))
    await plugin.stop()
    assert shown(plugin, "coredns_dns_responses_total") == {
        f'coredns_dns_responses_total{{plugin="errors",rcode="NOERROR",{SERVER},zone="{zone}"}} 1.0'
    }


@pytest.mark.parametrize(
    "end, rcode, plugin_label",
    [
        (answer(rcode=Rcode.NXDOMAIN), "NXDOMAIN", "errors"),
        (answer(rcode=Rcode.SERVFAIL), "SERVFAIL", "errors"),
        (fail(Rcode.SERVFAIL, "i/o timeout"), "SERVFAIL", ""),
        (fail(Rcode.REFUSED), "REFUSED", ""),
        (drop, "NOERROR", ""),
    ],
)
async def test_labels_of_replies(end: Serve, rcode: str, plugin_label: str) -> None:
    plugin = await started(make_block(), end)
    try:
        await plugin.serve(make_query("x. A"))
    except (Failure, Dropped):
        pass
    await plugin.stop()
    assert shown(plugin, "coredns_dns_responses_total") == {
        f'coredns_dns_responses_total{{plugin="{plugin_label}",rcode="{rcode}",{SERVER},zone="."}} 1.0'
    }
    size = 0 if plugin_label == "" else 12 + 3 + 4
    assert shown(plugin, "coredns_dns_response_size_bytes_sum") == {
        f'coredns_dns_response_size_bytes_sum{{proto="udp",{SERVER},zone="."}} {size}.0'
    }


async def test_replays_count_like_the_reply_they_repeat() -> None:
    plugin = await started(make_block(), answer())
    query = make_query("x. A", edns=Edns(1232, DO))
    await plugin.serve(query)
    for counter in query.counters:
        counter(41)
    await plugin.stop()
    assert {line.rsplit(" ", 1)[1] for line in shown(plugin) if "_sum" not in line} == {"42.0"}
    assert any("do_requests_total" in line for line in shown(plugin))
    assert f'coredns_dns_request_size_bytes_sum{{proto="udp",{SERVER},zone="."}} {42.0 * 30}' in shown(plugin)
    assert f'coredns_dns_request_duration_seconds_sum{{{SERVER},zone="."}} 0.0' in shown(plugin)


async def test_many_sizes_wait_for_a_while_and_none_is_lost() -> None:
    plugin = await started(make_block(), answer())
    total = 3 * MAX_WAITING
    query = make_query("x. A")
    for query.size in range(total):
        for _ in range(2):
            await plugin.serve(query)
        assert all(len(series._waiting) <= MAX_WAITING for series in plugin._series.values())
    await plugin.stop()
    assert f'coredns_dns_request_size_bytes_sum{{proto="udp",{SERVER},zone="."}} {total * (total - 1)}.0' in shown(
        plugin
    )
    assert f'coredns_dns_response_size_bytes_count{{proto="udp",{SERVER},zone="."}} {2 * total}.0' in shown(plugin)


async def test_a_query_that_no_block_took_is_dropped() -> None:
    plugin = await started(make_block(), answer())
    assert isinstance(plugin, Counts)
    query = make_query("x. A", flags=Flag.RD)
    plugin.refused(query, query.reply(Rcode.REFUSED), 19)
    await plugin.stop()
    assert shown(plugin, "coredns_dns_responses_total") == {
        f'coredns_dns_responses_total{{plugin="",rcode="REFUSED",{SERVER},zone="dropped"}} 1.0'
    }


async def test_what_is_there_at_once() -> None:
    plugin = await started(make_block(), answer())
    lines = shown(plugin, "coredns_")
    await plugin.stop()
    assert "coredns_panics_total 0.0" in lines
    assert any(line.startswith("coredns_build_info{") and f'version="{pydns.__version__}"' in line for line in lines)
    enabled = {line for line in lines if "plugin_enabled" in line}
    assert enabled == {
        f'coredns_plugin_enabled{{name="{name}",{SERVER},zone="."}} 1.0' for name in ("prometheus", "errors")
    }


async def test_plugins_are_enabled_for_the_first_key_on_each_address() -> None:
    block = make_block("example.org:1053", "example.net:1054")
    block.settings.addresses = ("127.0.0.1", "::1")
    plugin = await started(block, answer())
    enabled = shown(plugin, "coredns_plugin_enabled")
    assert {line for line in enabled if "errors" in line} == {
        f'coredns_plugin_enabled{{name="errors",server="dns://{host}:1053",view="",zone="example.org."}} 1.0'
        for host in ("127.0.0.1", "[::1]")
    }
    await plugin.stop()
    assert shown(plugin, "coredns_plugin_enabled") == set()


async def test_a_reload_keeps_what_both_configurations_have() -> None:
    old = await started(make_block(), answer())
    block = Block(old.block.keys, old.process)
    new = make_plugin(Prometheus, "prometheus 127.0.0.1:0", block)
    await new.start()
    await old.stop()
    assert shown(new, "coredns_plugin_enabled") == {
        f'coredns_plugin_enabled{{name="prometheus",{SERVER},zone="."}} 1.0'
    }
    await new.stop()


async def test_metrics_over_http() -> None:
    plugin = await started(make_block(), answer())
    url = f"http://127.0.0.1:{plugin.process.http.ports()['127.0.0.1:0']}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "coredns_panics_total 0.0\n" in await response.text()
    await plugin.stop()
    assert plugin.process.http.ports() == {}


def test_buckets() -> None:
    assert [TIME_BUCKETS[0], TIME_BUCKETS[1], TIME_BUCKETS[15], len(TIME_BUCKETS)] == [0.00025, 0.0005, 8.192, 16]
    assert [SIZE_BUCKETS[5], SIZE_BUCKETS[-1], len(SIZE_BUCKETS)] == [511, 64000, 14]


@pytest.mark.parametrize(
    "text, error",
    [
        ("prometheus 127.0.0.1", "address 127.0.0.1: missing port in address"),
        ("prometheus :1 :2", "Wrong argument count"),
        ("prometheus {\ntls web.yml\n}", "Corefile:3 - Error during parsing: tls is not served by this version yet"),
        ("prometheus {\nx\n}", "unknown property 'x'"),
    ],
)
def test_bad_options(text: str, error: str) -> None:
    with pytest.raises(CorefileError) as raised:
        make_plugin(Prometheus, text)
    assert error in str(raised.value)
    assert str(raised.value).startswith("plugin/prometheus: ")
