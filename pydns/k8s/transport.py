"""The seam between the reflector and HTTP: a streaming GET, and how it fails.

Imports nothing, so that a scripted API can stand in for `client`, and so that nothing but the client loads HTTP.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class TransportError(Exception):
    """No reply, or one cut short: refused, reset, timed out, a certificate not trusted.  The text says which."""


class CredentialsError(TransportError):
    """No request was made, for the credentials that were named cannot be had.  The text says why."""


class Response(Protocol):
    """A reply whose body arrives in pieces of any size; reading it may raise TransportError."""

    @property
    def status(self) -> int: ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    def show_first(self, look: Callable[[bytes], bytes]) -> None:
        """Show `look` each piece that comes while whoever iterates waits for it, at once; what it gives back goes on.

        It raises nothing.
        """


class Transport(Protocol):
    @property
    def url(self) -> str:
        """Where the API is, for people to read."""

    def get(self, path: str, params: Mapping[str, str], silence: float) -> AbstractAsyncContextManager[Response]:
        """Request `path`; a connection that brings nothing for `silence` seconds is dead (TransportError)."""

    async def close(self) -> None: ...


def describe(error: BaseException) -> str:
    """An error in one line, never empty."""
    return " ".join(str(error).split()) or type(error).__name__
