"""The Corefile's words; expectations from CoreDNS's setup.go as the behaviour reference tells it."""

import pytest

from pydns.corefile.line import CorefileError
from pydns.plugins.kubernetes.options import KubernetesOptions
from tests.support import corefile_lines, parse_corefile


def options(text: str) -> KubernetesOptions:
    (line,) = corefile_lines(text)
    return KubernetesOptions.parse(line)


def test_defaults() -> None:
    conf = options("kubernetes")
    assert (conf.zones, conf.pods, conf.ttl, conf.startup_timeout) == ((), "disabled", 5, 5.0)
    assert not (conf.noendpoints or conf.endpoint_pod_names or conf.zonal or conf.ignores_empty or conf.fallthrough)
    assert str(conf.label_selector) == str(conf.namespace_selector) == ""


def test_kubeadms_block() -> None:
    conf = options(
        "kubernetes cluster.local in-addr.arpa ip6.arpa {\npods insecure\nfallthrough in-addr.arpa ip6.arpa\nttl 30\n}"
    )
    assert conf.zones == ("cluster.local.", "in-addr.arpa.", "ip6.arpa.")
    assert (conf.pods, conf.ttl) == ("insecure", 30)
    assert conf.fallthrough is not None
    assert conf.fallthrough.through("1.0.0.10.in-addr.arpa.")
    assert not conf.fallthrough.through("x.cluster.local.")


def test_a_cidr_is_its_reverse_zones() -> None:
    assert options("kubernetes Z.local 10.96.0.0/15").zones == (
        "z.local.",
        "96.10.in-addr.arpa.",
        "97.10.in-addr.arpa.",
    )


def test_the_way_to_the_api() -> None:
    conf = options("kubernetes {\nendpoint https://a https://b\ntls c.pem k.pem ca.pem\nkubeconfig f ctx\n}")
    assert conf.endpoint is not None and conf.endpoint.urls[0] == "https://a"
    assert conf.tls is not None and (conf.tls.cert, conf.tls.key, conf.tls.cacert) == ("c.pem", "k.pem", "ca.pem")
    assert conf.kubeconfig is not None and (conf.kubeconfig.file, conf.kubeconfig.context) == ("f", "ctx")


def test_selectors_are_their_words_joined() -> None:
    conf = options("kubernetes {\nlabels tier in (front, back), !old\nnamespace_labels env=prod\n}")
    assert str(conf.label_selector) == "!old,tier in (back,front)"
    assert str(conf.namespace_selector) == "env=prod"


def test_namespaces_of_several_lines_add_up() -> None:
    assert options("kubernetes {\nnamespaces a b\nnamespaces c\n}").namespaces == ("a", "b", "c")


@pytest.mark.parametrize(
    "text, message",
    [
        ("ttl 3601", "ttl must be in range [0, 3600]: 3601"),
        ("ttl -1", "ttl must be in range [0, 3600]: -1"),
        ("ttl", "Wrong argument count"),
        ("pods some", "pods must be one of disabled, insecure, verified"),
        ("pods", "Wrong argument count"),
        ("pods verified insecure", "Wrong argument count"),
        ("endpoint", "Wrong argument count"),
        ("endpoint http://", 'host must be a URL or a host:port pair: "http://"'),
        ("tls a b", "Wrong argument count"),
        ("tls a b c d", "Wrong argument count"),
        ("kubeconfig", "Wrong argument count"),
        ("kubeconfig a b c", "Wrong argument count"),
        ("namespaces", "Wrong argument count"),
        ("labels", "Wrong argument count"),
        ("labels a in b", "unable to parse label selector value: 'a in b':"),
        ("namespace_labels =", "unable to parse namespace_label selector value: '=':"),
        ("namespaces a\nnamespace_labels b=c", "namespaces and namespace_labels cannot both be set"),
        ("endpoint_pod_names yes", "Wrong argument count"),
        ("noendpoints yes", "Wrong argument count"),
        ("noendpoints\nzonal", "zonal requires the endpoint cache; remove noendpoints"),
        ("ignore services", 'ignore must be one of empty_service: "services"'),
        ("startup_timeout soon", "startup_timeout must be a duration"),
        ("apiserver_qps -1", "apiserver_qps must be at least 0"),
        ("apiserver_burst x", "apiserver_burst must be a whole number"),
        ("multicluster cluster.local", "multicluster zones are not served by this version yet"),
        ("resyncperiod 5m", "unknown property 'resyncperiod'"),
        ("upstream", "unknown property 'upstream'"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(CorefileError) as raised:
        options(f"kubernetes cluster.local {{\n{text}\n}}")
    line = 2 if "\n" in text else 3  # an error of several properties is one of the whole
    assert str(raised.value).startswith(f"plugin/kubernetes: Corefile:{line} - Error during parsing: {message}")


@pytest.mark.parametrize(
    "text, warning",
    [
        ("ignore", "'ignore' alone does nothing"),
        ("ignore empty_service please", "'please' is left out: usage: ignore empty_service"),
        ("ttl 30 40", "'40' is left out: usage: ttl SECONDS"),
        ("startup_timeout 1s 2s", "'2s' is left out: usage: startup_timeout DURATION"),
        ("endpoint http://a http://b", "only the first endpoint, 'http://a', is used"),
    ],
)
def test_what_coredns_swallows_is_swallowed_with_a_warning(text: str, warning: str) -> None:
    corefile = parse_corefile(f"kubernetes cluster.local {{\n{text}\n}}")
    KubernetesOptions.parse(corefile.blocks[0].lines[0])
    (given,) = corefile.warnings
    assert given.startswith("plugin/kubernetes: Corefile:3 - Warning: ") and warning in given


def test_the_first_word_counts() -> None:
    conf = options("kubernetes {\nttl 30 40\nignore empty_service please\nstartup_timeout 1m 2m\n}")
    assert (conf.ttl, conf.ignores_empty, conf.startup_timeout) == (30, True, 60.0)
