"""Where a *kubernetes* plugin's objects come from: what the command line says, else what the Corefile says;
in a worker process from its parent.

It does not know DNS.
"""

from __future__ import annotations

from pydns.k8s.client import Connection
from pydns.k8s.cluster import ApiSource
from pydns.k8s.feed import FedSource
from pydns.k8s.source import Interest, Observer, Source
from pydns.plugin import Process
from pydns.plugins.kubernetes.options import KubernetesOptions


def make_source(process: Process, options: KubernetesOptions, observer: Observer) -> Source:
    """A source that is not started yet."""
    wanted = interest(options)
    if process.worker:
        return FedSource(wanted, process.wall)
    if process.manifests:
        from pydns.k8s.manifests import ManifestSource  # a Pod needs neither YAML nor watched files

        return ManifestSource([str(path) for path in process.manifests], wanted, process.wall)
    return ApiSource(connection(process, options), wanted, observer, process.wall)


def interest(options: KubernetesOptions) -> Interest:
    """The objects that the options need."""
    return Interest(
        endpoints=not options.noendpoints,
        pods=options.pods == "verified",
        labels=options.label_selector,
        namespace_labels=options.namespace_selector,
    )


def connection(process: Process, options: KubernetesOptions) -> Connection:
    """The way to the API: the command line's kubeconfig, then the Corefile's, then its endpoint, else in-cluster."""
    if process.kubeconfig is not None:
        return Connection(kubeconfig=str(process.kubeconfig))
    if options.kubeconfig is not None:
        return Connection(kubeconfig=options.kubeconfig.file, context=options.kubeconfig.context)
    if options.endpoint is None:
        return Connection()
    tls = options.tls
    return Connection(endpoint=options.endpoint.urls[0], tls=(tls.cert, tls.key, tls.cacert) if tls else None)
