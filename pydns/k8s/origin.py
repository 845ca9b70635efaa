"""What URLs say: of the API, and of the proxy on the way to it.  No I/O."""

import os
from base64 import b64encode
from typing import Final
from urllib.parse import quote, unquote, urlsplit

PORTS: Final = {"http": 80, "https": 443}
IN_PATHS: Final = "/%:@!$&'()*+,;=~"
"""What is left as it is in the path of a URL (RFC 3986, 3.3)."""


class Origin:
    """Who a URL names; raises ValueError for one that names nobody."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError("not a URL of http or https with a host")
        self.scheme = parts.scheme
        self.host = parts.hostname
        self.port = parts.port or PORTS[parts.scheme]
        self.path = quote(parts.path, IN_PATHS).rstrip("/")
        self.credentials = basic(parts.username, parts.password or "") if parts.username else ""
        """The value of a header, or empty."""

    @property
    def secure(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port, IPv6 addresses in brackets (RFC 9110, 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def host_header(self) -> str:
        """The authority without the port that goes without saying."""
        return self.authority.removesuffix(f":{PORTS[self.scheme]}")


def basic(user: str, password: str) -> str:
    """The value of a header for what a URL says (RFC 7617)."""
    return f"Basic {b64encode(f'{unquote(user)}:{unquote(password)}'.encode()).decode()}"


def proxy_for(origin: Origin, named: str | None) -> Origin | None:
    """The proxy that is named, else the environment's; raises ValueError for one that is none of http."""
    url = named or _of_environment(origin)
    if not url:
        return None
    try:
        proxy = Origin(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise ValueError(f"the proxy: {error}") from error
    if proxy.secure:
        raise ValueError("the proxy: only proxies of http are known")
    return proxy


def _of_environment(origin: Origin) -> str | None:
    """HTTPS_PROXY, NO_PROXY and so on, in capitals or not; what reads them takes time to import."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    return None if proxy_bypass(origin.host) else getproxies().get(origin.scheme)
