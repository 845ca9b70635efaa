"""Options for what runs already, and which go together."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from conformance.live.options import UsageError, complete, zone
from conformance.options import arguments, make_plan
from conformance.plan import Plan


def plan(*words: str) -> Plan:
    options = arguments().parse_args(words)
    return complete(make_plan(options), options)


@pytest.mark.parametrize(
    ("words", "subject", "reference"),
    [
        (["--subject", "10.96.0.10"], "10.96.0.10:53", "expected"),
        (["--kubeconfig", "k"], "cluster", "expected"),
        (["--kubeconfig", "k", "--reference", "coredns"], "cluster", "coredns"),
        (["--kubeconfig", "k", "--subject", "[::1]:1053"], "[::1]:1053", "expected"),
        (["--subject", "coredns"], "coredns", "expected"),
        (["--reference", "recorded"], "pydns", "recorded"),
    ],
)
def test_who_is_judged_by_what(words: list[str], subject: str, reference: str) -> None:
    found = plan(*words)
    assert (found.subject, found.reference) == (subject, reference)


def test_everything_reaches_the_plan() -> None:
    words = "--kubeconfig k --context c --audit --limit 7 --zone K8s.Test --dns-service a/b --image i"
    found = plan(*words.split())
    assert (found.kubeconfig, found.context, found.audit, found.limit) == (Path("k"), "c", True, 7)
    assert (found.zone, found.dns_service, found.image) == ("k8s.test.", "a/b", "i")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--kubeconfig k --subject pydns", "--kubeconfig is for servers that run already: start pydns and give its"),
        ("--subject cluster", "--subject cluster needs --kubeconfig"),
        ("--audit --subject 127.0.0.1", "--audit needs --kubeconfig"),
        ("--objects f", "--objects goes with --subject ADDRESS and without --kubeconfig"),
        ("--objects f --kubeconfig k", "--objects goes with --subject ADDRESS and without --kubeconfig"),
        ("--subject 127.0.0.1 --reference recorded", "there are no recorded replies for a server that runs already"),
        ("--subject 127.0.0.1 --reference coredns", "--reference coredns needs --kubeconfig: it must serve the same"),
    ],
)
def test_what_does_not_go_together(words: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        plan(*words.split())


@pytest.mark.parametrize("text", ["a b", ".", "a..b", "-a", "a" * 64])
def test_a_zone_that_is_no_domain_is_told(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is no domain"):
        zone(text)
