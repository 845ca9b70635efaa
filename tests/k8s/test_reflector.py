"""List and watch against a scripted API: what it sees, what it is asked, what the store holds."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pydns.k8s.health import ApiHealth
from pydns.k8s.objects import Kind, Object
from pydns.k8s.reflector import PORTION, Reflector
from pydns.k8s.source import Observer
from pydns.k8s.store import Change, Store
from pydns.k8s.transport import TransportError
from pydns.k8s.wire import RESOURCES
from pydns.tasks import Tasks
from tests.k8s.api import Reply, ScriptedApi, Wire, added, bookmark, error, event, page, refusal, service
from tests.support import Clock, settle

STREAMING_LIST = {
    "watch": "true",
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}
LOST = TransportError("connection reset")


class Mirror:
    """A reflector of Services at work against a scripted API."""

    def __init__(self, api: ScriptedApi, clock: Clock) -> None:
        self.api = api
        self.clock = clock
        self.store = Store([Kind.SERVICE], clock)
        self.changes: list[Change] = []
        self.seen: list[Object] = []
        self.lists = 0
        self.on_convert: Callable[[], None] = lambda: None
        self.store.on_change(self.changes.append)

    @property
    def names(self) -> list[str]:
        return sorted(one.name for one in self.store.services())

    def queries(self) -> list[dict[str, str]]:
        """What was asked for, less the random timeoutSeconds."""
        return [{name: text for name, text in one.items() if name != "timeoutSeconds"} for _, one in self.api.requests]

    def listed(self) -> None:
        self.lists += 1

    def see(self, item: Object) -> None:
        assert self.store.service(item.namespace, item.name) == item, "it is told once it is there"
        self.seen.append(item)

    def convert(self, wire: Any) -> Object:
        self.on_convert()
        return RESOURCES[Kind.SERVICE].convert(wire)


@asynccontextmanager
async def mirror(*replies: Reply | TransportError, params: dict[str, str] | None = None) -> AsyncIterator[Mirror]:
    clock = Clock()
    one = Mirror(ScriptedApi(*replies, clock=clock), clock)
    reflector = Reflector(
        RESOURCES[Kind.SERVICE]._replace(convert=one.convert),
        one.api,
        one.store,
        ApiHealth(one.api.url, Observer(), clock),
        params=params,
        seen=one.see,
        listed=one.listed,
        sleep=clock.sleep,
        clock=clock,
        rng=random.Random(1),
    )
    tasks = Tasks()
    tasks.run(reflector.run())
    await settle()
    yield one
    await tasks.stop()


def open_list(*items: Wire, version: int = 9) -> Reply:
    """A streaming list whose stream stays open."""
    return Reply(added(*items), bookmark(version, end=True), then="silence")


async def test_streaming_list_goes_on_as_a_watch() -> None:
    stream = (added(service("a"), service("b")), bookmark(9, end=True), added(service("c", version=10)))
    async with mirror(Reply(*stream, then="silence")) as one:
        assert one.names == ["a", "b", "c"]
        assert one.queries() == [STREAMING_LIST]
        assert one.api.requests[0][0] == "/api/v1/services"
        assert 300 <= int(one.api.requests[0][1]["timeoutSeconds"]) <= 600
        assert one.store.synced
        assert one.lists == 1
        assert [item.name for item in one.seen] == ["a", "b", "c"]


async def test_nothing_is_visible_before_the_list_is_complete() -> None:
    async with mirror(Reply(added(service("a")), bookmark(5), then="silence")) as one:
        assert one.names == []
        assert not one.store.synced


async def test_selectors_go_with_every_request() -> None:
    selectors = {"labelSelector": "app=web"}
    async with mirror(refusal(422), page(7, []), params=selectors) as one:
        assert [query["labelSelector"] for query in one.queries()] == ["app=web"] * 3


@pytest.mark.parametrize(
    "refused",
    [refusal(422), refusal(400), Reply(error(500, "RequestWatchProgress is disabled")), Reply(added(service("x")))],
    ids=["invalid", "bad request", "error event (etcd 3.4)", "ends without the bookmark"],
)
async def test_falls_back_to_pages(refused: Reply) -> None:
    async with mirror(refused, page(7, [service("a")], more="token"), page(7, [service("b")])) as one:
        assert one.names == ["a", "b"]
        assert one.queries()[1:] == [
            {"limit": "500"},
            {"limit": "500", "continue": "token"},
            {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": "7"},
        ]
        assert one.store.synced


async def test_expired_continue_token_starts_the_list_again() -> None:
    replies = [refusal(422), page(7, [service("a")], more="old"), refusal(410), open_list(service("b"))]
    async with mirror(*replies) as one:
        assert one.names == ["b"]


async def test_an_object_deleted_during_a_list_is_not_in_it() -> None:
    stream = added(service("a"), service("b")), event("DELETED", service("a", version=8)), bookmark(9, end=True)
    async with mirror(Reply(*stream, then="silence")) as one:
        assert one.names == ["b"]


MANY = [service(f"s-{number:04}", ip=f"10.96.{number // 250}.{number % 250}", version=number) for number in range(1000)]


@pytest.mark.parametrize(
    "replies",
    [
        [Reply(1.0, added(*MANY), bookmark(1000, end=True), then="silence")],
        [refusal(422), Reply(1.0, *page(1000, MANY).pieces)],
        [Reply(bookmark(1, end=True), 1.0, added(*MANY), then="silence")],
    ],
    ids=["streaming list", "page", "watch"],
)
async def test_others_have_their_turn_between_the_changes_of_a_burst(replies: list[Reply]) -> None:
    turn, turns = 0, Counter[int]()

    async def other() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async with mirror(*replies) as one:

        def work(*_: object) -> None:
            turns.update([turn])
            one.clock.now += PORTION / 4

        one.store.on_change(work)
        one.on_convert = work
        tasks = Tasks()
        tasks.run(other())
        await one.clock.advance(1)
        for _ in range(100):
            await settle()
        await tasks.stop()
        assert [change.name for change in one.changes] == [item["metadata"]["name"] for item in MANY]
    assert turns.total() == 2 * len(MANY)
    assert max(turns.values()) <= 5
    assert turns.total() / len(turns) >= 3, "a turn for each change costs more than the change"


async def test_watch_applies_events_in_order() -> None:
    watch = (
        added(service("b", version=8)),
        event("MODIFIED", service("a", ip="10.96.9.9", version=9)),
        event("DELETED", service("b", version=10)),
    )
    async with mirror(refusal(422), page(7, [service("a")]), Reply(*watch, then="silence")) as one:
        assert one.names == ["a"]
        assert one.store.services_by_ip("10.96.9.9") == (one.store.service("shop", "a"),)
        assert one.store.services_by_ip("10.96.1.1") == ()


@pytest.mark.parametrize("size", [1, 50, 97, 400])
async def test_events_in_any_pieces(size: int) -> None:
    octets = added(service("b", version=8)) + b"\n" + event("MODIFIED", service("b", ip="10.96.9.9", version=9))
    octets += event("DELETED", service("a", version=10)) + added(service("c", version=11))
    pieces = [octets[at : at + size] for at in range(0, len(octets), size)]
    async with mirror(refusal(422), page(7, [service("a")]), Reply(*pieces, then="silence")) as one:
        for _ in pieces:
            await settle()
        changes = [(change.name, change.old is None, change.new is None) for change in one.changes]
        assert changes[1:] == [("b", True, False), ("b", False, False), ("a", False, True), ("c", True, False)]


async def test_a_change_is_applied_when_its_octets_come() -> None:
    """Before anybody else has a turn, who might be told what was before."""
    async with mirror(open_list(service("a"))) as one:
        assert one.api.playing is not None and one.api.playing.look is not None
        look = one.api.playing.look
        assert look(added(service("b", version=10), service("c", version=11))) == b""
        assert one.names == ["a", "b", "c"]
        cut = added(service("d", version=12))[:-9]
        assert look(added(service("e", version=12)) + cut) == cut
        assert one.names == ["a", "b", "c", "e"]


async def test_a_fault_of_ours_in_a_watch_leads_to_a_new_list(log_lines: list[str]) -> None:
    watch = Reply(bookmark(7, end=True), 1.0, added(service("a"), service("b")), then="silence")
    async with mirror(watch, open_list(service("c"))) as one:
        left = iter((True,))

        def fail() -> None:
            if one.names != [] and next(left, False):
                raise ZeroDivisionError

        one.on_convert = fail
        await one.clock.advance(1)
        assert one.names == ["a"]
        await one.clock.advance(1)
        assert one.names == ["c"]


async def test_who_fails_when_told_of_a_change_holds_up_nothing(log_lines: list[str]) -> None:
    """Neither a list nor a watch: the store has the change, and a new list would bring it nowhere else."""

    def listener(change: Change) -> None:
        raise ZeroDivisionError

    watch = Reply(1.0, added(service("a"), service("b")), bookmark(7, end=True), added(service("c")), then="silence")
    async with mirror(watch) as one:
        one.store.on_change(listener)
        await one.clock.advance(2)
        assert one.names == ["a", "b", "c"]
        assert one.store.synced
        assert len(one.api.requests) == 1
    assert ["failed at what others were told: ZeroDivisionError" in line for line in log_lines] == [True] * 3


@pytest.mark.parametrize("end", ["end", LOST], ids=["orderly", "connection lost"])
async def test_watch_goes_on_from_the_last_version(end: TransportError | str, log_lines: list[str]) -> None:
    """A bookmark counts as a version, and a watch that lived is taken up again at once."""
    watch = Reply(added(service("b", version=8)), bookmark(12), 2.0, then=end)
    async with mirror(refusal(422), page(7, [service("a")]), watch) as one:
        await one.clock.advance(2)
        assert one.queries()[-1]["resourceVersion"] == "12"
        assert one.names == ["a", "b"]
        assert log_lines == []


@pytest.mark.parametrize(
    "reply", [Reply(), Reply(then=LOST), refusal(503), LOST], ids=["empty", "cut", "503", "refused"]
)
async def test_failed_watch_waits_and_goes_on(reply: Reply | TransportError, log_lines: list[str]) -> None:
    again = Reply(added(service("b", version=8)), then="silence")
    async with mirror(refusal(422), page(7, [service("a")]), reply, again) as one:
        assert one.names == ["a"]
        assert len(one.api.requests) == 3
        await one.clock.advance(0.8)
        assert one.names == ["a", "b"]
        assert one.queries()[-1]["resourceVersion"] == "7"
    assert len([line for line in log_lines if line.startswith("[WARNING]")]) == 1


@pytest.mark.parametrize(
    "expired", [refusal(410, "too old"), Reply(error(410, "too old"))], ids=["status", "error event"]
)
async def test_gone_leads_to_a_new_list_without_a_gap(expired: Reply, log_lines: list[str]) -> None:
    first = Reply(added(service("kept"), service("gone")), bookmark(7, end=True), 1.0)
    relist = Reply(1.0, added(service("new")), added(service("kept")), bookmark(20, end=True), then="silence")
    async with mirror(first, expired, relist) as one:
        await one.clock.advance(1.5)
        assert one.names == ["gone", "kept"]
        one.changes.clear()
        await one.clock.advance(0.5)
        assert one.names == ["kept", "new"]
        assert [(change.name, change.old is None, change.new is None) for change in one.changes] == [
            ("new", True, False),
            ("gone", False, True),
        ]
    assert "[INFO] plugin/kubernetes: listing services anew: too old" in log_lines


async def test_a_new_list_does_not_hold_twice_what_is_known() -> None:
    first, again = (Reply(added(service("a")), bookmark(version, end=True), then="end") for version in (7, 20))
    async with mirror(first, refusal(410), again) as one:
        await one.clock.advance(10)
        assert [item.name for item in one.seen] == ["a", "a"]
        assert one.seen[0] is one.seen[1]


async def test_api_that_says_gone_again_and_again_is_not_pestered() -> None:
    async with mirror(*[Reply(error(410)), refusal(410)] * 50) as one:
        assert len(one.api.requests) == 4
        await one.clock.advance(60)
        assert 8 <= len(one.api.requests) <= 30


async def test_other_error_event_leads_to_a_new_list() -> None:
    async with mirror(refusal(422), page(7, [service("a")]), Reply(error(500)), open_list(service("b"))) as one:
        assert one.names == ["a"]
        await one.clock.advance(0.8)
        assert one.names == ["b"]


async def test_line_that_is_no_json_leads_to_a_new_list() -> None:
    async with mirror(refusal(422), page(7, [service("a")]), Reply(b"junk\n"), open_list(service("b"))) as one:
        await one.clock.advance(0.8)
        assert one.names == ["b"]


async def test_api_away_keeps_what_is_known_and_backs_off(log_lines: list[str]) -> None:
    async with mirror(refusal(422), page(7, [service("a")]), *[LOST] * 20) as one:
        await one.clock.advance(600)
        assert one.names == ["a"]
        assert one.store.synced
        assert 20 < len(one.api.requests) <= 24
    lost = [line for line in log_lines if "connection reset" in line]
    assert lost[0] == (
        "[WARNING] plugin/kubernetes: no services from the Kubernetes API at https://api.example.com, "
        "answering from what is known: connection reset"
    )
    assert 2 <= len(lost) <= 8


async def test_forbidden_names_verb_and_resource_once(log_lines: list[str]) -> None:
    message = 'services is forbidden: User "weak" cannot list resource "services"'
    async with mirror(*[refusal(403, message)] * 6) as one:
        await one.clock.advance(30)
        assert len(one.api.requests) == 7
        assert not one.store.synced
    assert log_lines == [
        "[ERROR] plugin/kubernetes: not allowed to list services, the ClusterRole needs "
        f'{{apiGroups: [""], resources: ["services"], verbs: ["list", "watch"]}}: {message}'
    ]


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (refusal(401, "Unauthorized"), "[ERROR] {no}: Unauthorized (the API does not accept the credentials)"),
        (
            Reply(b"Client sent an HTTP request to an HTTPS server.\n", status=400),
            "[WARNING] {no}: the API answered with status 400: Client sent an HTTP request to an HTTPS server.",
        ),
        (Reply(b"", status=404), "[WARNING] {no}: the API answered with status 404"),
    ],
)
async def test_what_the_api_says_is_told(reply: Reply, line: str, log_lines: list[str]) -> None:
    async with mirror(reply, reply):
        pass
    no = "plugin/kubernetes: no services from the Kubernetes API at https://api.example.com"
    assert log_lines == [line.format(no=no)]


async def test_server_error_while_listing_is_tried_again_as_a_stream() -> None:
    async with mirror(refusal(500), open_list(service("a"))) as one:
        await one.clock.advance(0.8)
        assert one.names == ["a"]
        assert one.queries() == [STREAMING_LIST] * 2


async def test_list_that_is_cut_is_tried_again_as_a_stream() -> None:
    async with mirror(Reply(added(service("a")), then=LOST), open_list(service("b"))) as one:
        assert one.names == []
        await one.clock.advance(0.8)
        assert one.names == ["b"]
        assert one.queries() == [STREAMING_LIST] * 2


ODD = {"metadata": {"namespace": "shop", "name": "odd"}, "spec": {"ports": "none"}}
NAMELESS = {"metadata": "none"}


@pytest.mark.parametrize("odd", [ODD, NAMELESS])
async def test_one_bad_object_is_left_out_and_logged(odd: Wire, log_lines: list[str]) -> None:
    stream = added(service("a"), odd, service("b")), bookmark(9, end=True), added(odd, service("c"))
    async with mirror(Reply(*stream, then="silence")) as one:
        assert one.names == ["a", "b", "c"]
    async with mirror(refusal(422), page(7, [service("a"), odd, service("b")])) as one:
        assert one.names == ["a", "b"]
    name = "shop/odd" if odd is ODD else "(no name)"
    assert len(log_lines) == 3
    assert all(
        line.startswith(f"[WARNING] plugin/kubernetes: leaving out {name} of the services: ") for line in log_lines
    )


async def test_api_without_resource_versions_is_watched_all_the_same() -> None:
    async with mirror(refusal(422), Reply(b'{"items":null}')) as one:
        assert one.queries()[-1]["resourceVersion"] == "0"
        assert one.store.synced


async def test_fault_of_ours_does_not_end_the_mirror(log_lines: list[str]) -> None:
    failing = [True]

    def fail() -> None:
        if failing:
            failing.clear()
            raise ZeroDivisionError

    stream = Reply(1.0, added(service("a")), bookmark(9, end=True), then="silence")
    async with mirror(stream, open_list(service("a"), service("b"))) as one:
        one.on_convert = fail
        await one.clock.advance(3)
        assert one.names == ["a", "b"]
        assert one.store.synced
    assert log_lines[0].startswith("[ERROR] plugin/kubernetes: listing services anew after a fault: ZeroDivisionError")
