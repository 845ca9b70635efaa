"""Names: text and wire form, zones, reverse names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydns.dns import name
from pydns.dns.message import parse
from pydns.dns.name import BadName

LABELS = st.lists(st.binary(min_size=1, max_size=63), max_size=6).filter(lambda ls: sum(map(len, ls)) + len(ls) < 255)


def wire_of(labels: list[bytes]) -> bytes:
    return b"".join(bytes((len(label),)) + label for label in labels) + b"\0"


@pytest.mark.parametrize(
    ("wire", "text"),
    [
        (b"\0", "."),
        (b"\x03web\x04shop\0", "web.shop."),
        (b"\x03WeB\0", "WeB."),
        (b"\x03a.b\x01c\0", r"a\.b.c."),
        (b"\x02\xff\0\0", r"\255\000."),
        (b"\x04_tcp\x01*\0", "_tcp.*."),
        (b"\x03a\\b\0", "a\\\\b."),
        (b"\x03a b\0", r"a\ b."),
        (b'\x03";@\0', r"\"\;\@."),
    ],
)
def test_text_and_wire(wire: bytes, text: str) -> None:
    assert name.from_wire(wire, 0) == (text, len(wire))
    assert name.to_wire(text) == wire


@given(LABELS)
def test_every_wire_name_survives_its_text(labels: list[bytes]) -> None:
    wire = wire_of(labels)
    text, end = name.from_wire(wire, 0)
    assert (name.to_wire(text), end) == (wire, len(wire))
    assert text.isascii() and text.isprintable()


@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x03we", id="cut label"),
        pytest.param(b"\x03web", id="no end"),
        pytest.param(b"\xc0\x00", id="pointer to itself"),
        pytest.param(b"\xc0", id="half a pointer"),
        pytest.param(b"\x40a\0", id="reserved label type"),
        pytest.param(
            b"\x3f" + b"a" * 63 + b"\x3f" + b"b" * 63 + b"\x3f" + b"c" * 63 + b"\x3f" + b"d" * 63 + b"\0", id="257"
        ),
    ],
)
def test_bad_wire(wire: bytes) -> None:
    with pytest.raises(BadName):
        name.from_wire(wire, 0)


def test_pointer_is_followed_and_the_end_is_behind_it() -> None:
    data = b"\x04shop\0" + b"\x03web\xc0\x00" + b"rest"
    assert name.from_wire(data, 6) == ("web.shop.", 12)


@pytest.mark.parametrize("text", ["a..b.", "." * 2, "a" * 64 + ".", ".".join(["a" * 60] * 5), r"\256."])
def test_bad_text(text: str) -> None:
    with pytest.raises(BadName):
        name.to_wire(text)


@pytest.mark.parametrize(
    ("child", "zone", "below"),
    [
        ("web.shop.", "shop.", True),
        ("shop.", "shop.", True),
        ("workshop.", "shop.", False),
        ("shop.", "web.shop.", False),
        ("anything.", ".", True),
        (".", ".", True),
        (r"a\.shop.", "shop.", False),
        (r"a\\.shop.", "shop.", True),
    ],
)
def test_is_below(child: str, zone: str, below: bool) -> None:
    assert name.is_below(child, zone) is below


@pytest.mark.parametrize(
    ("text", "count", "end"),
    [
        ("web.shop.svc.", 0, "."),
        ("web.shop.svc.", 2, "shop.svc."),
        ("web.shop.svc.", 3, "web.shop.svc."),
        ("web.shop.svc.", 4, "web.shop.svc."),
        (".", 0, "."),
        (".", 2, "."),
        (r"web.a\.b.svc.", 2, r"a\.b.svc."),
        (r"a\.b.svc.", 2, r"a\.b.svc."),
        (r"a\.b.svc.", 0, "."),
    ],
)
def test_tail(text: str, count: int, end: str) -> None:
    assert name.tail(text, count) == end


@pytest.mark.parametrize(
    ("text", "parents"),
    [
        (".", ["."]),
        ("a.b.", ["a.b.", "b.", "."]),
        (r"a\.b.c.", [r"a\.b.c.", "c.", "."]),
    ],
)
def test_suffixes(text: str, parents: list[str]) -> None:
    assert list(name.suffixes(text)) == parents


def test_longest_zone() -> None:
    zones = (".", "local.", "cluster.local.")
    assert name.longest_zone("web.cluster.local.", zones) == "cluster.local."
    assert name.longest_zone("org.", zones) == "."
    assert name.longest_zone("org.", zones[1:]) is None


@pytest.mark.parametrize(
    ("cidr", "zones"),
    [
        ("10.0.0.0/24", ["0.0.10.in-addr.arpa."]),
        ("10.1.2.3/16", ["1.10.in-addr.arpa."]),
        ("10.0.0.0/22", [f"{i}.0.10.in-addr.arpa." for i in range(4)]),
        ("10.2.0.0/15", ["2.10.in-addr.arpa.", "3.10.in-addr.arpa."]),
        ("10.0.0.4/30", [f"{i}.0.0.10.in-addr.arpa." for i in range(4, 8)]),
        ("0.0.0.0/0", ["in-addr.arpa."]),
        ("2001:db8::/32", ["8.b.d.0.1.0.0.2.ip6.arpa."]),
        ("2001:db8::/30", [f"{c}.b.d.0.1.0.0.2.ip6.arpa." for c in "89ab"]),
    ],
)
def test_reverse_zones(cidr: str, zones: list[str]) -> None:
    assert name.reverse_zones(cidr) == zones


@pytest.mark.parametrize("text", ["10.0.0.0", "10.0.0.0/33", "cluster.local", "x/8"])
def test_no_reverse_zones(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        name.reverse_zones(text)


@pytest.mark.parametrize(
    ("owner", "address"),
    [
        ("1.1.96.10.in-addr.arpa.", "10.96.1.1"),
        ("1.96.10.in-addr.arpa.", None),
        ("1.1.1.96.10.in-addr.arpa.", None),
        ("256.1.96.10.in-addr.arpa.", None),
        ("in-addr.arpa.", None),
        ("cluster.local.", None),
        ("2." + "0." * 19 + "6.9.0.0.0.1.0.0.0.0.d.f.ip6.arpa.", "fd00:10:96::2"),
        ("a0." + "0." * 30 + "ip6.arpa.", None),
        ("0." * 31 + "ip6.arpa.", None),
        ("0." * 32 + "ip6.arpa.", "::"),
        ("web.2.1." + "0." * 32 + "ip6.arpa.", "::"),
        ("0." * 36 + "ip6.arpa.", None),
        ("1.0.1.0.0.6.a.0.f.f.f.f." + "0." * 20 + "ip6.arpa.", "10.96.1.1"),
    ],
)
def test_reverse_address(owner: str, address: str | None) -> None:
    assert name.reverse_address(owner) == address


def test_normalize() -> None:
    assert name.normalize("Cluster.LOCAL") == "cluster.local."
    assert name.normalize(".") == "."
    with pytest.raises(BadName):
        name.normalize("")


def test_wire_forms_are_known_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name, "WIRES", 2)
    monkeypatch.setattr(name, "_wires", {})
    for text in ("a.", "b.", "c.", "b.", "a."):
        assert name.to_wire(text) == b"\x01" + text[:1].encode() + b"\0"
        assert 0 < len(name._wires) <= 2


@given(LABELS)
def test_the_wire_form_of_a_question_is_the_one_that_came(parts: list[bytes]) -> None:
    wire = wire_of(parts)
    question = parse(b"\0\1\0\0\0\1\0\0\0\0\0\0" + wire + b"\0\1\0\1").question
    assert question is not None
    assert name.to_wire(question.name) == name._to_wire(question.name) == wire


@pytest.mark.parametrize("written", [b"\xc0\x06", b"\x01a\xc0\x06"])
def test_a_compressed_question_is_no_wire_form(written: bytes) -> None:
    """Pointers to a zero octet of the header."""
    wire = b"\0\1\0\0\0\1\0\0\0\0\0\0" + written + b"\0\1\0\1"
    question = parse(wire).question
    assert question is not None
    assert name.to_wire(question.name) == name._to_wire(question.name)


@pytest.mark.parametrize(
    "text, wire",
    [
        ("a.org.", b"\1a\3org\0"),
        ("a.org", b"\1a\3org\0"),
        ("x" * 63 + ".org.", b"\x3f" + b"x" * 63 + b"\3org\0"),
        ("\\097.org.", b"\1a\3org\0"),
        ("a\\.org.", b"\5a.org\0"),
        ("\xe4.org.", b"\2\xc3\xa4\3org\0"),
        ("x" * 64 + ".org.", None),
        ("\xe4" * 32 + ".org.", None),
        (".org.", None),
    ],
)
def test_a_name_below_one_that_is_known(text: str, wire: bytes | None) -> None:
    for parent in ("org.", "org", ""):
        name.to_wire(parent)
    if wire is not None:
        assert name._to_wire(text) == wire
        return
    with pytest.raises(name.BadName):
        name._to_wire(text)


def test_the_longest_name_below_one_that_is_known() -> None:
    parent = ".".join(["x" * 63] * 3) + ".x."
    name.to_wire(parent)
    assert len(name._to_wire("y" * 59 + "." + parent)) == name.MAX_NAME
    with pytest.raises(name.BadName):
        name._to_wire("y" * 60 + "." + parent)
