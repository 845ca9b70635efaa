"""Case files: what they say, and the place of what is wrong in them."""

from itertools import islice
from pathlib import Path

import pytest

from conformance.differences import DIFFERENCES
from conformance.table.case import Ask, Get, Never, Wait, Write, starting_objects
from conformance.table.case_file import load_cases, parse_cases
from conformance.table.changes import Apply, Delete
from conformance.wire.blocks import CaseError
from conformance.wire.message import TIMEOUT, Edns, parse_record

TEXT = """\
about An example
cluster standard
origin svc.cluster.local.
negative cluster.local. 5 SOA ns.dns.cluster.local. hostmaster.cluster.local. 0 7200 1800 86400 5

# a comment
upstream
    www.example.com. 300 A 192.0.2.7

file hosts
    192.0.2.1 a.test

corefile
    .:{PORT} {
        whoami
    }

? web.shop A [R3] => NOERROR
    answer web.shop 5 A 10.96.1.1
    heard none
? nosuch.shop A +do +norec => NXDOMAIN
? web.shop AAAA => NODATA
? example.org. A => REFUSED rd
    opt udp=512 10:00
? example.org. MX => TIMEOUT
? example.org. TXT
get 2 /ready => 503
    has kubernetes
apply
    {apiVersion: v1, kind: Namespace, metadata: {name: late}}
delete Service shop/web
write hosts
    192.0.2.2 a.test
wait 0.5

corefile second
    .:{PORT} {
        log
    }
fails nothing good
"""

SOA = parse_record("cluster.local. 5 SOA ns.dns.cluster.local. hostmaster.cluster.local. 0 7200 1800 86400 5")


def test_a_whole_file() -> None:
    first, second = parse_cases(TEXT, "area/example")
    assert (first.name, second.name) == ("area/example", "area/example:second")
    assert first.corefile == ".:{PORT} {\n    whoami\n}\n"
    assert first.files == second.files == {"hosts": "192.0.2.1 a.test\n"}
    assert (first.cluster, second.fails, first.fails) == ("standard", "nothing good", "")
    assert (first.checks, second.checks) == (7, 1)


def test_steps_in_their_order() -> None:
    first, _ = parse_cases(TEXT, "area/example")
    *asks, page, apply, delete, write, wait = first.steps
    assert all(isinstance(step, Ask) for step in asks)
    assert page == Get(2, "/ready", 503, ("kubernetes",), place="area/example.case:27")
    assert apply == Apply(({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "late"}},))
    assert delete == Delete("Service", "shop", "web")
    assert write == Write("hosts", "192.0.2.2 a.test\n")
    assert wait == Wait(0.5)


def test_what_an_expectation_leaves_out_is_filled_in() -> None:
    found, denied, nodata, refused, silent, open_ = parse_cases(TEXT, "area/example")[0].questions
    assert found.expected is not None
    assert found.expected.flags == {"qr", "aa", "rd"}
    assert found.expected.question == "web.shop.svc.cluster.local. IN A"
    assert found.expected.answer == (parse_record("web.shop.svc.cluster.local. 5 A 10.96.1.1"),)
    assert (found.heard, found.log) == ((), None)
    assert denied.expected is not None
    assert denied.expected.flags == {"qr", "aa"}
    assert denied.expected.authority == (SOA,)
    assert denied.expected.opt == Edns(1232, do=True)
    assert nodata.expected is not None
    assert (nodata.expected.rcode, nodata.expected.authority) == ("NOERROR", (SOA,))
    assert refused.expected is not None
    assert refused.expected.flags == {"qr", "rd"}
    assert refused.expected.authority == ()
    assert refused.expected.opt == Edns(512, options=("10:00",))
    assert (silent.expected, open_.expected) == (TIMEOUT, None)


def test_a_difference_replaces_what_it_names() -> None:
    name = next(iter(DIFFERENCES))
    text = f"corefile\n    .\n? a. A => NOERROR ra\n    answer a. 5 A 1.2.3.4\n    differs {name} => NXDOMAIN aa\n"
    (step,) = parse_cases(text, "x")[0].questions
    assert step.differences == (name,)
    assert step.expected is not None and step.differing is not None
    assert step.differing.rcode == "NXDOMAIN"
    assert step.differing.flags == {"qr", "aa"}
    assert step.differing.answer == step.expected.answer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("corefil\n    .\n", "x.case:1: unknown directive 'corefil'"),
        ("    lost\n", "x.case:1: an indented line"),
        ("? a. A => NOERROR\n", "x.case:1: a step needs a `corefile`"),
        ("corefile\n    .\n? a. A => MAYBE\n", "x.case:3: 'MAYBE' is not a response code"),
        ("corefile\n    .\n? a. A => NOERROR zz\n", r"x.case:3: \['zz'\] are not header flags"),
        ("corefile\n    .\n? a. A => NOERROR\n    answer a. 5 A ten\n", "x.case:4: not a record"),
        ("apply\n    a: 1\n    b: [\n", "x.case:4: not YAML: "),
        ("objects\n    a: 1\n    b: : 2\n", "x.case:3: not YAML: mapping values are not allowed here"),
        ("objects\n    just words\n", "x.case:1: not an object of Kubernetes: 'just words'"),
        ("corefile\n    .\n? a. A => NOERROR\n    anwser a. 5 A 1.2.3.4\n", "x.case:4: 'anwser' is none of"),
        ("corefile\n    .\n? a. A +quick\n", "x.case:3: unknown option"),
        ("corefile\n    .\n? a. A => NOERROR\n    differs nosuch => NXDOMAIN\n", "x.case:4: differences.py has no"),
        ("corefile\n    .\n? a. A\n    differs nosuch => NXDOMAIN\n", "x.case:4: a difference needs"),
        ("corefile\n    .\ncorefile\n    .\n", "x.case: two cases of one name"),
        ("controllers\n", "x.case:1: it is `controllers NAMESPACE"),
        ("cluster standard\ncontrollers shop\ncorefile\n    .\n", "x.case: `cluster` and `controllers` exclude"),
        ("corefile\n    .\nnever asked a. A\n", "x.case:3: it is `never denied QUESTION`"),
        ("corefile\n    .\nscale Deployment shop/web\n", "x.case:3: not enough values"),
        ("corefile\n    .\npatch Pod 10.0.0.1\n", "x.case:3: not enough values"),
        ("upstream\n    ? a. A +sleep => NOERROR\n", "x.case:2: '\\+sleep' is none of"),
        ("api reel\n", "x.case:1: 'reel' is none of any, fake, real, nostream"),
        ("order exactly\n", "x.case:1: 'exactly' is none of any, exact"),
        ("flags ax\n", r"x.case:1: \['ax'\] are not header flags"),
        ("corefile\n    .\nwait 1\n    answer a. 5 A 1.2.3.4\n", "x.case:3: nothing can stand below `wait`"),
        ("corefile\n    .\nget 2 / => 200\n    hass x\n", "x.case:4: 'hass' is none of has, differs"),
        ("corefile\n    .\n? a. A\n    answer a. 5 A 1.2.3.4\n", "x.case:4: 'answer' is none of heard, log"),
        ("corefile\n    .\n? a. A\n    heard a. A -ends\n", r"x.case:3: \['-ends'\] can never be heard"),
        ("fails no\ncorefile\n    .\n? a. A => NOERROR\n", "x.case: a server that `fails` to start"),
    ],
)
def test_errors_name_file_and_line(text: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        parse_cases(text, "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [("about nothing\n", "x.case: no case in it"), ("corefile\n    .\nwait 1\n", "x.case: x asks nothing")],
)
def test_what_asks_nothing_is_not_a_case_of_the_table(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.case").write_text(text)
    with pytest.raises(CaseError, match=message):
        load_cases(tmp_path)


def test_the_table_reads_and_is_as_large_as_promised() -> None:
    cases = load_cases()
    plugin = sum(case.checks for case in cases if case.name.startswith("kubernetes/"))
    assert plugin >= 300
    assert sum(case.checks for case in cases) - plugin >= 150


def test_every_requirement_of_the_specification_has_a_question() -> None:
    tags = {tag for case in load_cases() for step in case.questions for tag in step.question.tags}
    assert {f"R{number}" for number in range(1, 26)} <= tags


def test_a_case_with_controllers_starts_with_its_namespaces() -> None:
    (case,) = parse_cases("controllers one two\nobjects\n    {kind: A}\ncorefile\n    .\n", "x")
    assert [object["metadata"]["name"] for object in islice(starting_objects(case), 2)] == ["one", "two"]


def test_no_two_cases_share_a_namespace_with_controllers() -> None:
    names = [name for case in load_cases() for name in case.namespaces]
    assert sorted(set(names)) == sorted(names)


def test_a_name_that_must_not_be_denied_is_a_check() -> None:
    (case,) = parse_cases("corefile\n    .\nnever denied a. A [R3]\ndisconnect\n", "x")
    never = case.steps[0]
    assert isinstance(never, Never)
    assert (never.question.name, never.question.tags, never.place) == ("a.", ("R3",), "x.case:3")
    assert (case.checks, case.is_cut) == (1, True)


@pytest.mark.parametrize(
    ("name", "needed"),
    [("kubernetes/apex", True), ("ci/cluster", True), ("e2e/services", False), ("kubernetes/apex:bind", False)],
)
def test_cases_about_an_address_of_this_machine(name: str, needed: bool) -> None:
    assert [case.needs_own_address for case in load_cases() if case.name == name] == [needed]
