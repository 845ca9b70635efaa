"""The options of *kubernetes*, as CoreDNS 1.14.7 has them.

Duty: their grammar and their limits.  It does not know what they do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydns.corefile.fallthrough import Fallthrough
from pydns.corefile.line import Line
from pydns.corefile.options import Options, argument, flag, option
from pydns.corefile.types import Converter, choice, duration, integer, number, path, quote, seconds, text, zones
from pydns.k8s.selectors import EVERYTHING, Selector

namespace = Converter(str, "NAMESPACE")

EMPTY_SERVICE = "empty_service"
NOT_LIMITED = "Accepted; the watches are not limited, as in CoreDNS."


@dataclass
class Endpoint(Options):
    urls: tuple[str, ...] = argument(text, many=True, at_least=1, name="url")

    def validate(self, line: Line) -> None:
        if self.urls[0].endswith("://"):
            raise line.error(f"host must be a URL or a host:port pair: {quote(self.urls[0])}")
        if len(self.urls) > 1:
            line.warn(f"only the first endpoint, '{self.urls[0]}', is used")


@dataclass
class Tls(Options):
    cert: str = argument(path)
    key: str = argument(path)
    cacert: str = argument(path)


@dataclass
class Kubeconfig(Options):
    file: str = argument(path)
    context: str = argument(text, default="")


@dataclass
class Labels(Options):
    """A label selector, written in one word or several."""

    words: tuple[str, ...] = argument(text, many=True, at_least=1, name="selector")
    called = "label"

    @property
    def selector(self) -> Selector:
        return Selector.parse(" ".join(self.words))

    def validate(self, line: Line) -> None:
        try:
            _ = self.selector
        except ValueError as error:
            raise line.error(f"unable to parse {self.called} selector value: '{' '.join(self.words)}': {error}")


@dataclass
class NamespaceLabels(Labels):
    called = "namespace_label"


@dataclass
class Multicluster(Options):
    zones: tuple[str, ...] = argument(zones, many=True)

    def validate(self, line: Line) -> None:
        raise line.error("multicluster zones are not served by this version yet", "remove the property")


@dataclass
class KubernetesOptions(Options):
    """What a Corefile says about the cluster's zones."""

    zones: tuple[str, ...] = argument(
        zones,
        many=True,
        help="The zones to answer for; without any, those of the server block. At least one must not be a reverse "
        "zone, and the first such is the one that PTR records point into.",
    )
    endpoint: Endpoint | None = option(
        Endpoint,
        help="The URL of the Kubernetes API, for a server outside the cluster. Of several only the first is used.",
    )
    tls: Tls | None = option(Tls, help="Client certificate, its key and the CA's certificate for an `endpoint`.")
    kubeconfig: Kubeconfig | None = option(
        Kubeconfig, help="A kubeconfig file, and which of its contexts, for the way to the API. Wins over `endpoint`."
    )
    namespaces: tuple[str, ...] = option(
        namespace, many=True, help="Only these namespaces exist; every other one is NXDOMAIN."
    )
    namespace_labels: NamespaceLabels | None = option(
        NamespaceLabels, help="Only namespaces whose labels match exist. Not together with `namespaces`."
    )
    labels: Labels | None = option(
        Labels, help="Only Services, EndpointSlices and Pods whose labels match are watched."
    )
    pods: str = option(
        choice("disabled", "insecure", "verified"),
        default="disabled",
        help="Names of Pods (`10-244-0-7.NAMESPACE.pod.ZONE`): `disabled` denies them, `insecure` answers any address "
        "without a look at the Pods, `verified` only that of a Pod in that namespace, for the price of watching Pods.",
    )
    endpoint_pod_names: bool = flag(
        help="An endpoint without a hostname is called by its Pod's name instead of its dashed address."
    )
    ttl: int = option(
        seconds(0, 3600),
        default=5,
        surplus="left out",
        help="The TTL of records; that of the SOA record is 300 at most.",
    )
    noendpoints: bool = flag(
        help="Do not watch EndpointSlices: headless Services and names of endpoints are denied, ClusterIPs still work."
    )
    fallthrough: Fallthrough | None = option(
        Fallthrough,
        help="Names that do not exist (in these zones, or all) are passed to the next plugin instead of denied.",
    )
    ignore: str | None = option(
        choice(EMPTY_SERVICE),
        surplus="left out",
        help="`ignore empty_service` denies the name of a Service with a ClusterIP but without ready endpoints.",
    )
    zonal: bool = flag(
        help="Serve `TOPOLOGYZONE.pin._zone.SERVICE…`, the endpoints of a headless Service in one zone, and "
        "`….prefer._zone…`, all of them where that zone has none."
    )
    startup_timeout: float = option(
        duration(0),
        default=5.0,
        surplus="left out",
        help="How long the start waits for the objects before it serves what is there.",
    )
    multicluster: Multicluster | None = option(Multicluster, help="Not served yet: an error.")
    apiserver_qps: float | None = option(number(0), help=NOT_LIMITED)
    apiserver_burst: int | None = option(integer(0), help=NOT_LIMITED)
    apiserver_max_inflight: int | None = option(integer(0), help=NOT_LIMITED)

    @classmethod
    def parse(cls, line: Line) -> KubernetesOptions:
        """As `Options.parse`, with the words left out that CoreDNS does not look at."""
        if line.block is None:
            return super().parse(line)
        return super().parse(replace(line, block=tuple(_read_parts(line.block))))

    def validate(self, line: Line) -> None:
        if self.namespaces and self.namespace_labels:
            raise line.error("namespaces and namespace_labels cannot both be set")
        if self.zonal and self.noendpoints:
            raise line.error("zonal requires the endpoint cache; remove noendpoints")

    @property
    def ignores_empty(self) -> bool:
        return self.ignore == EMPTY_SERVICE

    @property
    def label_selector(self) -> Selector:
        return self.labels.selector if self.labels else EVERYTHING

    @property
    def namespace_selector(self) -> Selector:
        return self.namespace_labels.selector if self.namespace_labels else EVERYTHING


def _read_parts(block: tuple[Line, ...]) -> Iterator[Line]:
    """The properties as CoreDNS reads them, with a warning where it swallows something without a word."""
    for part in block:
        if part.name == "ignore" and not part.args:
            part.warn(f"'ignore' alone does nothing; 'ignore {EMPTY_SERVICE}' is what there is")
        else:
            yield part
