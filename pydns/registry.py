"""The plugins that CoreDNS 1.14.7 has, in the order in which they run, and where ours are.

The order in the Corefile has no meaning; this one has.  A plugin's module is imported when a Corefile names it.
"""

from importlib import import_module
from typing import cast

from pydns.plugin import Plugin

ORDER: tuple[str, ...] = (
    "root", "metadata", "geoip", "cancel", "proxyproto", "quic", "grpc_server", "https", "https3", "timeouts",
    "multisocket", "reload", "nsid", "bufsize", "bind", "debug", "trace", "ready", "health", "pprof", "shed",
    "prometheus", "errors", "log", "dnstap", "local", "dns64", "any", "chaos", "loadbalance", "tsig", "rewrite",
    "autopath", "acl", "cache", "header", "dnssec", "tls", "minimal", "template", "transfer", "hosts", "route53",
    "azure", "clouddns", "k8s_external", "kubernetes", "file", "auto", "secondary", "etcd", "loop", "forward", "grpc",
    "erratic", "whoami", "on", "sign", "view", "nomad",
)  # fmt: skip
"""CoreDNS's directives in chain order."""

PLUGINS: dict[str, str] = {
    "any": "any:Any",
    "bind": "bind:Bind",
    "cache": "cache.plugin:Cache",
    "debug": "debug:Debug",
    "errors": "errors:Errors",
    "forward": "forward.plugin:Forward",
    "health": "health:Health",
    "hosts": "hosts:Hosts",
    "kubernetes": "kubernetes.plugin:Kubernetes",
    "loadbalance": "loadbalance:Loadbalance",
    "log": "log:Log",
    "loop": "loop:Loop",
    "metadata": "metadata:Metadata",
    "multisocket": "multisocket:Multisocket",
    "prometheus": "prometheus:Prometheus",
    "ready": "ready:Ready",
    "reload": "reload:Reload",
    "root": "root:Root",
    "whoami": "whoami:Whoami",
}
"""The plugins served, each ``module:Class`` below `pydns.plugins`."""

HTTP = frozenset({"health", "prometheus", "ready"})
"""The plugins that listen for HTTP."""

OUT_OF_SCOPE: dict[str, str] = {
    "azure": "a cloud provider's DNS",
    "clouddns": "a cloud provider's DNS",
    "etcd": "a store other than Kubernetes",
    "geoip": "a location database",
    "nomad": "an orchestrator other than Kubernetes",
    "route53": "a cloud provider's DNS",
}
"""Plugins that CoreDNS has and pydns will not have, with what they are for."""


def load(name: str) -> type[Plugin]:
    """The class of a plugin in `PLUGINS`."""
    module, _, attribute = PLUGINS[name].partition(":")
    return cast(type[Plugin], getattr(import_module(f"pydns.plugins.{module}"), attribute))


def position(name: str) -> int:
    """Where a plugin stands in the chain."""
    return ORDER.index(name)
