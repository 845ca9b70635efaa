"""The command line's options for servers and clusters that run already. Starts nothing."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from conformance.plan import Plan

IMAGE = "docker.io/library/python:3-alpine"
DNS_SERVICE = "kube-system/kube-dns"
LIMIT = 100


class UsageError(Exception):
    """Options that do not go together; the message says which."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The group of options."""
    add = parser.add_argument_group("a cluster or a server that runs already").add_argument
    add("--kubeconfig", type=Path, metavar="FILE",
        help="make the suite's objects in this cluster, in namespaces of its own that are removed at the end, and judge"
        " its DNS (or --subject ADDRESS)")  # fmt: skip
    add("--context", default="", metavar="NAME", help="one of the kubeconfig's contexts (default: the current one)")
    add("--audit", action="store_true",
        help="create nothing: judge by the Services that the cluster has already")  # fmt: skip
    add("--limit", type=positive, default=LIMIT, metavar="N", help=f"Services that --audit looks at (default: {LIMIT})")
    add("--objects", type=Path, metavar="FILE",
        help="without --kubeconfig: the objects that --subject ADDRESS serves, as kubectl get … -o json shows them"
        " (default: those that python -m conformance.objects prints)")  # fmt: skip
    add("--zone", type=zone, default="", metavar="DOMAIN", help="the cluster domain (default: it is found out)")
    add("--dns-service", default=DNS_SERVICE, metavar="NS/NAME",
        help=f"the Service of the cluster's DNS (default: {DNS_SERVICE})")  # fmt: skip
    add("--image", default=IMAGE,
        help="an image with python3, for the Pod that asks where the DNS cannot be reached from here"
        f" (default: {IMAGE})")  # fmt: skip


def positive(text: str) -> int:
    """A whole number above 0; raises `ArgumentTypeError`."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
"""RFC 1123 section 2.1, with underscores as some clusters have them; at most 63 octets (RFC 1035 section 2.3.4)."""


def zone(text: str) -> str:
    """A cluster domain in lower case with a final dot; empty when none is given. Raises `ArgumentTypeError`."""
    name = text.removesuffix(".").lower()
    if text and not all(map(LABEL.fullmatch, name.split("."))):
        raise argparse.ArgumentTypeError(f"{text!r} is no domain, as cluster.local is one")
    return f"{name}." if text else ""


def complete(plan: Plan, options: argparse.Namespace) -> Plan:
    """The plan with these options. Raises `UsageError`."""
    plan = replace(
        plan,
        kubeconfig=options.kubeconfig,
        context=options.context,
        image=options.image,
        zone=options.zone,
        objects=options.objects,
        dns_service=options.dns_service,
        audit=options.audit,
        limit=options.limit,
    )
    _check(plan, options.reference)
    return replace(plan, reference=_reference(plan, options.reference)) if plan.outside else plan


def _check(plan: Plan, reference: str) -> None:
    """One line for what does not go together."""
    if plan.kubeconfig and not plan.outside:
        raise UsageError(f"--kubeconfig is for servers that run already: start {plan.subject} and give its address")
    if plan.subject == "cluster" and not plan.kubeconfig:
        raise UsageError("--subject cluster needs --kubeconfig")
    if plan.audit and not plan.kubeconfig:
        raise UsageError("--audit needs --kubeconfig")
    if plan.objects and (plan.kubeconfig or not plan.outside):
        raise UsageError("--objects goes with --subject ADDRESS and without --kubeconfig")
    if plan.outside and reference == "recorded":
        raise UsageError("there are no recorded replies for a server that runs already")
    if plan.outside and reference == "coredns" and not plan.kubeconfig:
        raise UsageError("--reference coredns needs --kubeconfig: it must serve the same objects")


def _reference(plan: Plan, reference: str) -> str:
    """The specification alone, unless a live CoreDNS is asked for."""
    return reference if reference == "coredns" else "expected"
