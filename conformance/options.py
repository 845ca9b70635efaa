"""The options of the command line, in groups, and the plan they make. Starts nothing."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Set
from ipaddress import ip_address
from pathlib import Path

from conformance.live import options as live
from conformance.plan import STARTED, Plan
from conformance.table import recorded
from conformance.tools.build import built

API = ("etcd", "kube-apiserver")
"""The programs of a real API."""

DESCRIPTION = """\
Judges a cluster DNS server from outside: does it follow the Kubernetes DNS specification, does it answer as CoreDNS
does, and what do real resolvers make of it?"""

EPILOG = """\
examples:
  python -m conformance                              pydns beside CoreDNS, everything
  python -m conformance kubernetes/ptr spec/         the jobs whose name holds one of these texts
  python -m conformance --subject coredns            CoreDNS against the specification and the cases' own expectations
  python -m conformance --reference recorded         without Go: against CoreDNS's recorded replies
  python -m conformance --subject 10.96.0.10         a server that runs already
  python -m conformance --kubeconfig FILE            the DNS of a running cluster (kind, kubeadm, any)
  python -m conformance --kubeconfig FILE --audit    the same, creating nothing
  python -m conformance --list clients/              which jobs there are, and what they need
  python -m conformance --html report.html           with a page to look at

exit status:
  0   all that was judged holds (--strict: and nothing had to be skipped)
  1   something does not hold, or a listed difference from CoreDNS never showed in a whole run
  2   wrong use, or what was asked for (a program, a cluster, a server) is not to be had
  130 interrupted (Ctrl-C, SIGTERM): the summary and the reports tell what was done until then

The servers and the Kubernetes API to compare with are built once, with Go:
  python -m conformance.tools.build
conformance/README.md says how cases are written and how a running cluster is judged."""


def arguments() -> argparse.ArgumentParser:
    """All options; `pytest conformance` has those that choose servers, too."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "filters",
        nargs="*",
        metavar="FILTER",
        help="run the jobs whose name holds one of these; ^FILTER: leave those out",
    )
    _judged(parser.add_argument_group("what is judged"))
    _compared(parser.add_argument_group("what it is compared with"))
    _objects(parser.add_argument_group("where Kubernetes objects come from"))
    live.add_options(parser)
    _reports(parser.add_argument_group("reports"))
    _running(parser.add_argument_group("running"))
    return parser


def _judged(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--subject", type=subject, metavar="SERVER",
                       help="pydns, coredns, the path of a program that takes -conf COREFILE, or ADDRESS[:PORT] of a"
                       " running server (default: pydns; with --kubeconfig the DNS of that cluster)")  # fmt: skip
    group.add_argument("--packet-cache", default="on", choices=("on", "off"),
                       help="off: pydns runs with PYDNS_PACKET_CACHE=0")  # fmt: skip


def _compared(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--reference", default="auto", choices=("auto", "coredns", "recorded", "expected"),
                       help="a running CoreDNS, its recorded replies, or what the specification and the cases say"
                       " alone; auto: CoreDNS if it is built, else recorded")  # fmt: skip
    group.add_argument("--record", action="store_true", help="keep the replies of CoreDNS in conformance/recorded/")


def _objects(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--api", default="auto", choices=("auto", "real", "fake"),
                       help="for cases with a `cluster`: a real kube-apiserver, or a fake one in the suite (all other"
                       " cases always have a fake one); auto: real if it is built, else fake")  # fmt: skip


def _reports(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--html", type=report_file, metavar="FILE", help="one page to look at, complete in itself")
    add("--json", type=report_file, metavar="FILE", help="everything that was found, for programs")
    add("--junit", type=report_file, metavar="FILE", help="JUnit XML, a test case for each check, for CI systems")
    add("--list", action="store_true", help="say which jobs there are and what they need; run nothing")
    add("--requirements", action="store_true", help="say which requirements there are and which jobs cover them")


def _running(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--jobs", type=live.positive, default=3, metavar="N", help="jobs at once (default: 3)")
    group.add_argument("--strict", action="store_true", help="exit status 1 when anything had to be skipped")


def subject(text: str) -> str:
    """What `--subject` may be, an address always with its port; raises `ArgumentTypeError`."""
    if text in (*STARTED, "cluster"):
        return text
    if "/" in text:
        return _program(text)
    host, _, port = text.rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "53")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
        if not 0 < int(port) < 65536:
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is none of pydns, coredns, ADDRESS[:PORT] (10.96.0.10, 127.0.0.1:1053, [::1]:53) and the path of"
            " a program, with a slash in it"
        ) from None
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def _program(text: str) -> str:
    """The absolute path: a server is started in a folder of its own."""
    path = Path(text).expanduser().absolute()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{text!r} is no program that can be started")
    return str(path)


def report_file(text: str) -> Path:
    """A file that can be written at the end of a run; raises `ArgumentTypeError`, so that a long run is not in vain."""
    path = Path(text)
    try:
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r} is no file in a folder that exists")
        writable = os.access(path if path.exists() else path.absolute().parent, os.W_OK)
    except PermissionError:  # one of its folders may not be looked into
        writable = False
    if not writable:
        raise argparse.ArgumentTypeError(f"{text!r} may not be written")
    return path


def check(options: argparse.Namespace) -> None:
    """Raises `UsageError` for an option that nothing would come of."""
    defaults = vars(arguments().parse_args([]))
    given = {name for name, value in vars(options).items() if value != defaults[name]}
    outside = bool(options.kubeconfig) or Plan(options.subject or "pydns").outside
    for name, fits, home in (
        ("zone", outside, "--kubeconfig or --subject ADDRESS"),
        *((name, options.kubeconfig, "--kubeconfig") for name in ("context", "image", "dns_service")),
        ("limit", options.audit, "--audit"),
        ("packet_cache", (options.subject or "pydns") == "pydns" and not outside, "--subject pydns"),
    ):
        if name in given and not fits:
            raise live.UsageError(f"--{name.replace('_', '-')} goes with {home}")
    if options.record:
        _check_record(options, given)


def _check_record(options: argparse.Namespace, given: Set[str]) -> None:
    """Replies of a CoreDNS that is started here alone are kept, where they can be written at the end."""
    others = sorted(given & {"reference", "kubeconfig"})
    if others or options.subject not in (None, "coredns"):
        raise live.UsageError(f"--record asks CoreDNS alone: it goes without --{[*others, 'subject'][0]}")
    for folder in (recorded.FOLDER, *filter(Path.is_dir, recorded.FOLDER.rglob("*"))):
        if not os.access(folder, os.W_OK):
            raise live.UsageError(f"--record: {folder} may not be written")


def make_plan(options: argparse.Namespace) -> Plan:
    """Resolves `auto`: CoreDNS where it is built, else the recorded replies; a judged CoreDNS has the cases alone."""
    judged = options.subject or ("cluster" if options.kubeconfig else "pydns")
    reference = options.reference
    if reference == "auto":
        reference = "coredns" if built("coredns") else "recorded"
    if judged == "coredns":
        reference = "expected"
    return Plan(judged, reference, options.packet_cache == "on")


def real_api_wanted(choice: str) -> bool:
    """Resolves `auto`: the real API where it is built and can have a key."""
    return choice == "real" or (choice == "auto" and built(*API) and shutil.which("openssl") is not None)
