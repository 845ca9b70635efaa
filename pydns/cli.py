"""The command line: what may be written, and whom it calls.

Flags are written as CoreDNS takes them (``-conf FILE``, ``-conf=FILE``, also with two dashes).  Nothing heavy is
imported before it is known what is to be done.
"""

from __future__ import annotations

import signal
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydns import garbage

_DESCRIPTION = """\
A Kubernetes cluster DNS server that takes CoreDNS's Corefile and gives CoreDNS's answers.

Without a command it serves what the Corefile says, by default the file Corefile in the working directory; without
that, whoami on port 53.  SIGUSR1 reloads the Corefile, SIGTERM stops the server."""

_COMMANDS = """\
commands:
  pydns check FILE...    show what is wrong in Corefiles, and in which order their plugins run
  pydns plugins [NAME]   the plugins served, or one plugin's manual page

environment:
  PYDNS_PACKET_CACHE=0   have every query pass the plugins; by default replies are sent again until they may change

examples:
  pydns -conf Corefile
  pydns -conf Corefile --kubeconfig ~/.kube/config
  pydns -conf Corefile -dns.port 1053 --manifests manifests/   zones without a port in the Corefile on port 1053
  kubectl -n kube-system get configmap coredns -o 'jsonpath={.data.Corefile}' | pydns check -
"""

_SWITCHES = ("quiet", "plugins", "version")
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv``; the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["check"]:
        return _check(words[1:])
    if words[:1] == ["plugins"]:
        return _plugins(words[1:])
    return _serve(_serve_parser().parse_args(list(_switches(words))))


def _serve_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "pydns",
        description=_DESCRIPTION,
        epilog=_COMMANDS,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("-conf", "--conf", metavar="FILE", help='Corefile to load (default "Corefile"); "stdin" reads standard input')
    add("-dns.port", "--dns.port", "-p", type=_port, default=53, dest="dns_port", metavar="N",
        help="port of zones that name none (default 53); .:53 stays on 53")  # fmt: skip
    add("-quiet", "--quiet", action="store_true", help="do not say what is served when it is")
    add("-pidfile", "--pidfile", type=Path, metavar="FILE", help="file to write the process ID to")
    add("-plugins", "--plugins", action="store_true", help="list the plugins and exit")
    add("-version", "--version", action="store_true", help="show the version and exit")
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("-kubeconfig", "--kubeconfig", type=Path, metavar="FILE",
                         help="use the API that this kubeconfig names, whatever the Corefile says")  # fmt: skip
    cluster.add_argument("-manifests", "--manifests", type=Path, nargs="+", default=[], metavar="PATH",
                         help="read the cluster's objects from YAML files or directories, live")  # fmt: skip
    add("extra", nargs="*", help=SUPPRESS)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is no port; 0 to 65535 is")
    return int(text)


def _switches(words: Sequence[str]) -> Iterator[str]:
    """``-quiet=true`` as ``-quiet``, ``-quiet=false`` as nothing: Go's flags may be written so."""
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name.lstrip("-") not in _SWITCHES or value not in _TRUE + _FALSE:
            yield word
        elif value in _TRUE:
            yield name


def _serve(options: Namespace) -> int:
    if options.extra:
        print(f"extra command line arguments: [{' '.join(options.extra)}]", file=sys.stderr)
        return 1
    if options.version:
        return _version()
    if options.plugins:
        return _list_plugins()
    _hold_signals()
    garbage.put_off()
    from pydns import serve

    return serve.serve(
        serve.Options(
            conf=options.conf,
            dns_port=options.dns_port,
            quiet=options.quiet,
            pidfile=options.pidfile,
            kubeconfig=options.kubeconfig,
            manifests=tuple(options.manifests),
        )
    )


def _hold_signals() -> None:
    """Until the server takes its signals: nothing is there to reload, and Ctrl-C ends the process without a word."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _version() -> int:
    from pydns.version import version_lines

    print(*version_lines(), sep="\n")
    return 0


def _list_plugins() -> int:
    from pydns.registry import PLUGINS

    print(*sorted(PLUGINS), sep="\n")
    return 0


def _check(words: Sequence[str]) -> int:
    parser = ArgumentParser(
        "pydns check", description="Show what is wrong in Corefiles, and in which order their plugins run."
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a Corefile; - reads standard input")
    from pydns.tools.check import check_all

    return check_all(parser.parse_args(words).files)


def _plugins(words: Sequence[str]) -> int:
    parser = ArgumentParser("pydns plugins", description="The plugins served, or one plugin's manual page.")
    parser.add_argument("name", metavar="NAME", nargs="?", help="a plugin")
    name = parser.parse_args(words).name
    from pydns.tools.pages import show

    return show(name)
