"""What URLs and the environment say."""

import pytest

from pydns.k8s.origin import Origin, proxy_for


@pytest.mark.parametrize(
    ("url", "authority", "header", "path"),
    [
        ("https://api.example", "api.example:443", "api.example", ""),
        ("https://api.example:443/", "api.example:443", "api.example", ""),
        ("http://API.example:8443/k8s/a b/", "api.example:8443", "api.example:8443", "/k8s/a%20b"),
        ("https://[fd00::1]", "[fd00::1]:443", "[fd00::1]", ""),
        ("http://[fd00::1]:443", "[fd00::1]:443", "[fd00::1]:443", ""),
        ("https://user:word@api.example/%7euser", "api.example:443", "api.example", "/%7euser"),
    ],
)
def test_urls(url: str, authority: str, header: str, path: str) -> None:
    origin = Origin(url)
    assert (origin.authority, origin.host_header, origin.path) == (authority, header, path)


@pytest.mark.parametrize("url", ["", "api.example", "ftp://api.example", "https://", "https://a:x", "http://[::1"])
def test_urls_that_name_nobody(url: str) -> None:
    with pytest.raises(ValueError):
        Origin(url)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("https://api.example", {}, None),
        ("https://api.example", {"HTTPS_PROXY": "http://proxy.example:3128"}, "proxy.example:3128"),
        ("https://api.example", {"https_proxy": "proxy.example:3128"}, "proxy.example:3128"),
        ("http://api.example", {"HTTPS_PROXY": "http://proxy.example:3128"}, None),
        ("http://api.example", {"HTTP_PROXY": "http://proxy.example"}, "proxy.example:80"),
        ("https://api.example", {"HTTPS_PROXY": "http://p", "NO_PROXY": "other, example"}, None),
        ("https://10.96.0.1", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.96.0.1"}, None),
        ("https://api.example", {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, None),
        ("https://api.example", {"HTTPS_PROXY": ""}, None),
    ],
)
def test_proxies_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str], proxy: str | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = proxy_for(Origin(url), None)
    assert (found and found.authority) == proxy


def test_a_proxy_that_is_named_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    found = proxy_for(Origin("https://api.example"), "http://ann:p%40w@proxy.example")
    assert found is not None
    assert (found.authority, found.credentials) == ("proxy.example:80", "Basic YW5uOnBAdw==")


@pytest.mark.parametrize("url", ["https://proxy.example", "socks5://proxy.example", "http://"])
def test_proxies_that_are_none_of_http(url: str) -> None:
    with pytest.raises(ValueError, match=r"^the proxy: "):
        proxy_for(Origin("https://api.example"), url)
