"""Queries through *forward* to scripted upstreams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from pydns.address import Address
from pydns.dns.edns import Edns
from pydns.dns.message import Message
from pydns.dns.types import Flag, Rcode
from pydns.plugin import Block
from pydns.plugins.forward.plugin import Forward
from pydns.plugins.metadata import Metadata
from pydns.query import Failure, Serve
from tests.scripted_upstream import (
    Script,
    ScriptedUpstream,
    closed_address,
    reply_to,
    saying,
    scripted_upstream,
    silent,
)
from tests.support import Clock, answer, make_block, make_plugin, make_query, settle, texts

WWW = "www.example.org. 60 IN A 192.0.2.1"
ASKED = "www.example.org. A"


@asynccontextmanager
async def forwarding(text: str, block: Block | None = None, next: Serve | None = None) -> AsyncIterator[Forward]:
    """The plugin of these lines, running; TO may be written as the address of a scripted upstream."""
    plugin = make_plugin(Forward, text, block, next or answer("next. 5 IN A 192.0.2.9"))
    await plugin.start()
    yield plugin
    await plugin.stop()
    await settle()


def sample(block: Block, name: str, **labels: str) -> float | None:
    return block.process.metrics.registry.get_sample_value(f"coredns_{name}", labels)


async def failure_of(plugin: Forward, question: str = ASKED) -> tuple[int, str]:
    with pytest.raises(Failure) as raised:
        await plugin.serve(make_query(question))
    return raised.value.rcode, raised.value.why


class TestOneUpstream:
    """What goes out and what comes back."""

    async def test_as_the_client_sent_it(self) -> None:
        query = make_query(
            "wWw.example.org. A", flags=Flag.RD | Flag.CD | Flag.AD, edns=Edns(1400, 0x8000, 0, ((10, b"12345678"),))
        )
        async with scripted_upstream(saying(WWW)) as server, forwarding(f"forward . {server.address}") as plugin:
            await plugin.serve(query)
        [(transport, heard)] = server.asked
        assert (transport, heard) == ("udp", query.message._replace(id=heard.id))

    @pytest.mark.parametrize(
        ("flags", "asks_ad", "heard"),
        [(Flag.RD, False, Flag.RD), (Flag.RD, True, Flag.RD | Flag.AD), (Flag.AD, True, Flag.AD)],
    )
    async def test_ad_is_asked_for_where_a_plugin_wants_it(self, flags: int, asks_ad: bool, heard: int) -> None:
        query = make_query(ASKED, flags=flags)
        query.asks_ad = asks_ad
        async with scripted_upstream(saying(WWW)) as server, forwarding(f"forward . {server.address}") as plugin:
            await plugin.serve(query)
        assert server.asked[0][1].flags == heard

    async def test_no_opt_is_added(self) -> None:
        async with scripted_upstream(saying(WWW)) as server, forwarding(f"forward . {server.address}") as plugin:
            await plugin.serve(make_query(ASKED))
        assert server.asked[0][1].edns is None

    @pytest.mark.parametrize("flags", [0, Flag.AA, Flag.AD, Flag.AA | Flag.AD])
    @pytest.mark.parametrize("rcode", [Rcode.NOERROR, Rcode.NXDOMAIN, Rcode.SERVFAIL, Rcode.REFUSED])
    async def test_the_reply_comes_back_as_it_is(self, flags: int, rcode: int) -> None:
        script = saying(WWW, rcode=rcode, flags=flags)
        async with scripted_upstream(script) as server, forwarding(f"forward . {server.address}") as plugin:
            reply = await plugin.serve(make_query(ASKED))
        assert (reply.id, reply.rcode, texts(reply.answer)) == (4711, rcode, [WWW])
        assert reply.flags == Flag.QR | Flag.RD | Flag.RA | flags
        assert (reply.forwarded, reply.replay) == (True, None)

    @pytest.mark.parametrize(
        ("block", "client", "upstream"),
        [
            ("", "udp", "udp"),
            ("", "tcp", "tcp"),
            ("force_tcp", "udp", "tcp"),
            ("prefer_udp", "tcp", "udp"),
            ("force_tcp\nprefer_udp", "tcp", "tcp"),
        ],
    )
    async def test_transport(self, block: str, client: str, upstream: str) -> None:
        async with (
            scripted_upstream(saying(WWW)) as server,
            forwarding(f"forward . {server.address} {{\n{block}\n}}") as plugin,
        ):
            await plugin.serve(make_query(ASKED, transport=client))
        assert [transport for transport, _ in server.asked] == [upstream]

    async def test_a_truncated_reply_goes_to_the_client(self) -> None:
        async with (
            scripted_upstream(saying(flags=Flag.TC)) as server,
            forwarding(f"forward . {server.address}") as plugin,
        ):
            assert (await plugin.serve(make_query(ASKED))).truncated
        assert len(server.asked) == 1

    async def test_unless_udp_was_preferred(self) -> None:
        def script(query: Message, transport: str) -> Sequence[Message | bytes]:
            return (reply_to(query, flags=Flag.TC),) if transport == "udp" else saying(WWW)(query, transport)

        async with (
            scripted_upstream(script) as server,
            forwarding(f"forward . {server.address} {{\nprefer_udp\n}}") as plugin,
        ):
            assert texts((await plugin.serve(make_query(ASKED))).answer) == [WWW]
        assert [transport for transport, _ in server.asked] == ["udp", "tcp"]

    async def test_a_stream_with_another_question_is_a_format_error(self) -> None:
        def script(query: Message, transport: str) -> Sequence[Message | bytes]:
            return (reply_to(make_query("other.example. A").message)._replace(id=query.id),)

        async with scripted_upstream(script) as server, forwarding(f"forward . {server.address}") as plugin:
            reply = await plugin.serve(make_query(ASKED, transport="tcp"))
        assert (reply.rcode, reply.question) == (Rcode.FORMERR, make_query(ASKED).question)

    async def test_the_upstream_is_noted_for_metadata(self) -> None:
        query, block = make_query(ASKED), make_block()
        make_plugin(Metadata, "metadata", block)
        async with (
            scripted_upstream(saying(WWW)) as server,
            forwarding(f"forward . {server.address}", block) as plugin,
        ):
            await plugin.serve(query)
        assert query.metadata["forward/upstream"]() == str(server.address)

    async def test_without_metadata_nothing_is_noted(self) -> None:
        query = make_query(ASKED)
        async with scripted_upstream(saying(WWW)) as server, forwarding(f"forward . {server.address}") as plugin:
            await plugin.serve(query)
        assert query.metadata == {}

    async def test_source_address(self) -> None:
        async with scripted_upstream(saying(WWW)) as server:
            async with forwarding(f"forward . {server.address} {{\nsource_address 127.0.0.2\n}}") as plugin:
                await plugin.serve(make_query(ASKED))
                await plugin.serve(make_query(ASKED, transport="tcp"))
            assert server.hosts == ["127.0.0.2", "127.0.0.2"]


class TestZones:
    """Which queries are forwarded."""

    @pytest.mark.parametrize(
        ("line", "forwarded", "passed"),
        [
            (
                "example.org",
                ["example.org. A", "WWW.Example.Org. A"],
                ["org. A", "badexample.org. A", "example.com. A"],
            ),
            (".", [". NS", "example.org. A"], []),
            ("10.0.0.0/8", ["1.0.0.10.in-addr.arpa. PTR"], ["1.0.0.11.in-addr.arpa. PTR"]),
        ],
    )
    async def test_from(self, line: str, forwarded: list[str], passed: list[str]) -> None:
        async with scripted_upstream(saying()) as server, forwarding(f"forward {line} {server.address}") as plugin:
            assert [(await plugin.serve(make_query(question))).forwarded for question in forwarded] == [True] * len(
                forwarded
            )
            assert [(await plugin.serve(make_query(question))).forwarded for question in passed] == [False] * len(
                passed
            )

    @pytest.mark.parametrize(
        ("question", "is_forwarded"),
        [
            ("example.org. A", True),
            ("www.example.org. A", True),
            ("a.example.org. A", False),
            ("b.a.example.org. A", False),
            ("ba.example.org. A", True),
        ],
    )
    async def test_except(self, question: str, is_forwarded: bool) -> None:
        async with (
            scripted_upstream(saying()) as server,
            forwarding(f"forward example.org {server.address} {{\nexcept a.example.org\n}}") as plugin,
        ):
            assert (await plugin.serve(make_query(question))).forwarded is is_forwarded

    async def test_from_itself_cannot_be_excepted(self) -> None:
        async with (
            scripted_upstream(saying()) as server,
            forwarding(f"forward example.org {server.address} {{\nexcept example.org\n}}") as plugin,
        ):
            assert (await plugin.serve(make_query("example.org. A"))).forwarded
            assert not (await plugin.serve(make_query("www.example.org. A"))).forwarded


class TestSeveralLines:
    """Lines are tried in the order written."""

    @asynccontextmanager
    async def two(
        self, first: Script, second: Script, block: str = "", from_: str = "."
    ) -> AsyncIterator[tuple[Forward, ScriptedUpstream, ScriptedUpstream]]:
        async with scripted_upstream(first) as one, scripted_upstream(second) as two:
            lines = f"forward {from_} {one.address} {{\n{block}\n}}\nforward . {two.address} {{\n{block}\n}}"
            async with forwarding(lines) as plugin:
                yield plugin, one, two

    async def test_the_first_whose_zone_matches_answers(self) -> None:
        async with self.two(saying(), saying(), from_="corp.example") as (plugin, one, two):
            await plugin.serve(make_query("a.corp.example. A"))
            await plugin.serve(make_query("www.example.org. A"))
        assert (len(one.asked), len(two.asked)) == (1, 1)

    @pytest.mark.parametrize(
        ("block", "rcode", "records", "goes_on"),
        [
            ("next NXDOMAIN", Rcode.NXDOMAIN, [], True),
            ("next NXDOMAIN", Rcode.NOERROR, [], False),
            ("next NXDOMAIN REFUSED", Rcode.REFUSED, [], True),
            ("next_on_nodata", Rcode.NOERROR, [], True),
            ("next_on_nodata", Rcode.NOERROR, [WWW], False),
            ("next_on_nodata", Rcode.NXDOMAIN, [], False),
        ],
    )
    async def test_next(self, block: str, rcode: int, records: list[str], goes_on: bool) -> None:
        async with self.two(saying(*records, rcode=rcode), saying(WWW), block) as (plugin, one, two):
            await plugin.serve(make_query(ASKED))
        assert (len(one.asked), len(two.asked)) == (1, int(goes_on))

    async def test_the_last_line_has_no_next(self) -> None:
        async with self.two(saying(rcode=3), saying(rcode=3), "next NXDOMAIN") as (plugin, _, _):
            assert (await plugin.serve(make_query(ASKED))).rcode == Rcode.NXDOMAIN


class TestFailures:
    """Upstreams that do not reply, or not well."""

    async def test_the_next_upstream_is_tried(self) -> None:
        async with (
            scripted_upstream(saying(WWW)) as server,
            forwarding(f"forward . {closed_address()} {server.address} {{\npolicy sequential\n}}") as plugin,
        ):
            assert texts((await plugin.serve(make_query(ASKED))).answer) == [WWW]

    @pytest.mark.parametrize(
        ("attempts", "tries"), [("", 2), ("max_connect_attempts 1", 1), ("max_connect_attempts 3", 3)]
    )
    async def test_attempts(self, attempts: str, tries: int) -> None:
        async with (
            scripted_upstream(silent) as server,
            forwarding(f"forward . {server.address} {{\nread_timeout 20ms\nmax_fails 0\n{attempts}\n}}") as plugin,
        ):
            rcode, why = await failure_of(plugin)
        assert (rcode, len(server.asked)) == (Rcode.SERVFAIL, tries)
        assert why.startswith("read udp 127.0.0.1:")
        assert why.endswith(f"->{server.address}: i/o timeout")

    async def test_five_seconds_are_all_there_is(self) -> None:
        clock = Clock()

        def script(query: Message, transport: str) -> Sequence[Message | bytes]:
            clock.now += 2.5
            return ()

        async with scripted_upstream(script) as server:
            lines = f"forward . {server.address} {{\nread_timeout 20ms\nmax_fails 0\nmax_connect_attempts 0\n}}"
            async with forwarding(lines, make_block(clock=clock)) as plugin:
                await failure_of(plugin)
        assert len(server.asked) == 2

    @pytest.mark.parametrize(
        ("first", "asked", "rcode"), [(Rcode.SERVFAIL, 2, Rcode.NOERROR), (Rcode.REFUSED, 1, Rcode.REFUSED)]
    )
    async def test_failover(self, first: int, asked: int, rcode: int) -> None:
        async with scripted_upstream(saying(rcode=first)) as one, scripted_upstream(saying(WWW)) as two:
            lines = f"forward . {one.address} {two.address} {{\npolicy sequential\nfailover SERVFAIL NXDOMAIN\n}}"
            async with forwarding(lines) as plugin:
                reply = await plugin.serve(make_query(ASKED))
        assert (reply.rcode, len(one.asked) + len(two.asked)) == (rcode, asked)

    async def test_failover_returns_the_last_reply(self) -> None:
        async with scripted_upstream(saying(rcode=2)) as one, scripted_upstream(saying(rcode=3)) as two:
            lines = f"forward . {one.address} {two.address} {{\npolicy sequential\nfailover SERVFAIL NXDOMAIN\n}}"
            async with forwarding(lines) as plugin:
                assert (await plugin.serve(make_query(ASKED))).rcode == Rcode.NXDOMAIN


class TestHealth:
    """Down after more failed probes than max_fails, up again after one good one."""

    def lines(self, one: Address, two: Address, block: str = "") -> str:
        return f"forward . {one} {two} {{\npolicy sequential\nmax_fails 1\n{block}\n}}"

    async def until_down(self, plugin: Forward, block: Block, to: Address) -> None:
        """Fail once; turn the clock until two probes have failed."""
        clock = block.process.clock
        assert isinstance(clock, Clock)
        await plugin.serve(make_query(ASKED))
        while (failed := sample(block, "proxy_healthcheck_failures_total", proxy_name="forward", to=str(to))) != 2:
            await clock.advance(0.5 if failed == 1 else 0)

    async def test_down_is_passed_over_and_up_is_asked_again(self) -> None:
        dead, block = closed_address(), make_block()
        clock = block.process.clock
        assert isinstance(clock, Clock)
        async with (
            scripted_upstream(saying(WWW)) as alive,
            forwarding(self.lines(dead, alive.address), block) as plugin,
        ):
            await self.until_down(plugin, block, dead)
            async with scripted_upstream(saying(WWW), dead.port) as risen:
                await plugin.serve(make_query(ASKED))
                assert risen.asked == []
                await clock.advance(0.5)
                await risen.heard(1)
                assert risen.asked[0][1].question == make_query(". NS").question
                check = plugin._stanzas[0].targets[0].health._task
                assert check is not None
                await check
                await plugin.serve(make_query(ASKED))
                assert risen.asked[-1][1].question == make_query(ASKED).question

    async def test_all_down_is_a_random_try(self) -> None:
        block, dead = make_block(), closed_address()
        async with forwarding(f"forward . {dead} {{\nmax_fails 1\n}}", block) as plugin:
            for target in plugin._stanzas[0].targets:
                target.health.fails = 2
            rcode, why = await failure_of(plugin)
        assert (rcode, why.partition("->")[2]) == (Rcode.SERVFAIL, f"{dead}: read: connection refused")
        assert sample(block, "forward_healthcheck_broken_total") == 1

    async def test_or_none_with_failfast(self) -> None:
        block = make_block()
        async with scripted_upstream(saying(WWW)) as server:
            lines = f"forward . {server.address} {{\nfailfast_all_unhealthy_upstreams\n}}"
            async with forwarding(lines, block) as plugin:
                plugin._stanzas[0].targets[0].health.fails = 3
                assert await failure_of(plugin) == (Rcode.SERVFAIL, "no healthy proxies")
        assert (server.asked, sample(block, "forward_healthcheck_broken_total")) == ([], 1)


class TestMaxConcurrent:
    """More queries under way are refused."""

    async def test_refused(self) -> None:
        block = make_block()
        async with (
            scripted_upstream(silent) as server,
            forwarding(f"forward . {server.address} {{\nmax_concurrent 2\n}}", block) as plugin,
        ):
            asking = [asyncio.create_task(_ask(plugin, f"{number}.example.org. A")) for number in range(2)]
            await server.heard(2)
            assert await failure_of(plugin) == (Rcode.REFUSED, "concurrent queries exceeded maximum 2")
            for position in range(2):
                server.late(reply_to(server.asked[position][1]), position)
            await asyncio.gather(*asking)
            server.script = saying(WWW)
            assert (await plugin.serve(make_query(ASKED))).rcode == Rcode.NOERROR
        assert sample(block, "forward_max_concurrent_rejects_total") == 1


async def _ask(plugin: Forward, question: str) -> Message:
    return await plugin.serve(make_query(question))


async def test_metrics() -> None:
    block = make_block()
    async with scripted_upstream(saying(rcode=3)) as server:
        to = str(server.address)
        async with forwarding(f"forward . {to} {{\nmax_idle_conns 1\n}}", block) as plugin:
            assert sample(block, "forward_max_concurrent_rejects_total") == 0
            assert sample(block, "forward_healthcheck_broken_total") == 0
            for transport in ("udp", "udp", "tcp"):
                await plugin.serve(make_query(ASKED, transport=transport))
    assert sample(block, "proxy_request_duration_seconds_count", proxy_name="forward", to=to, rcode="NXDOMAIN") == 3
    assert sample(block, "proxy_conn_cache_misses_total", proxy_name="forward", to=to, proto="udp") == 1
    assert sample(block, "proxy_conn_cache_hits_total", proxy_name="forward", to=to, proto="udp") == 1
    assert sample(block, "proxy_conn_cache_misses_total", proxy_name="forward", to=to, proto="tcp") == 1


async def test_a_host_name_that_is_not_known_ends_the_start() -> None:
    async with scripted_upstream(saying(rcode=3)) as server:
        plugin = make_plugin(Forward, f"forward . dns.corp.example {{\nresolver {server.address}\n}}")
        with pytest.raises(ValueError, match="failed to resolve"):
            await plugin.start()
