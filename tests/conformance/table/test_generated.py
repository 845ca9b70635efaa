"""Cases that are made: what they hold."""

from datetime import UTC, datetime
from ipaddress import ip_address, ip_network

import pytest

from conformance.plan import Plan
from conformance.table.case import Ask
from conformance.table.changes import Apply
from conformance.table.generated import Generated, jobs, many, programming

ALL = jobs(Plan())


@pytest.mark.parametrize("job", ALL, ids=lambda job: job.name)
def test_a_job_says_what_its_case_covers(job: Generated) -> None:
    case = job.make()
    tags = {tag for step in case.questions for tag in step.question.tags}
    assert (case.name, set(job.tags)) == (job.name, tags)


def test_a_running_server_has_a_configuration_of_its_own() -> None:
    assert jobs(Plan("192.0.2.1:53")) == []


def test_ten_thousand_services_have_names_and_addresses_of_their_own() -> None:
    change = many().steps[0]
    assert isinstance(change, Apply)
    names = {(service["metadata"]["name"], service["metadata"]["namespace"]) for service in change.objects}
    addresses = [service["spec"]["clusterIP"] for service in change.objects]
    assert len(names) == len(set(addresses)) == len(change.objects) == 10_000
    assert all(ip_address(address) in ip_network("10.96.0.0/12") for address in addresses)


def test_five_in_a_hundred_are_asked_for_the_last_of_them_first() -> None:
    asked = [step for step in many().steps if isinstance(step, Ask)]
    assert asked[0].question.name == "svc-9999.scale-4.svc.cluster.local."
    plain = [step for step in asked if step.question.qtype == "A" and step.question.transport == "udp"]
    assert len({step.question.name for step in plain}) == len(plain) == 500
    assert len(asked) == 500 + 3 * 50


def test_slices_tell_when_their_change_was() -> None:
    changes = [step for step in programming().steps if isinstance(step, Apply)]
    told = [_told(slice["metadata"]) for change in changes for slice in change.objects]
    ages = [word if word in ("", "yesterday") else round(_age(word)) for word in told]
    assert ages == [132, 66, 66, 66, "", "yesterday"]


def _told(metadata: dict[str, dict[str, str]]) -> str:
    return metadata.get("annotations", {}).get("endpoints.kubernetes.io/last-change-trigger-time", "")


def _age(word: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(word)).total_seconds()
