"""Whether the API answers: one log line for each change of that and now and then another, however often it is tried.

Does not know requests or objects; the reflectors report to it.
"""

import time
from typing import Final

from pydns.k8s.objects import Kind
from pydns.k8s.source import Clock, Observer
from pydns.k8s.transport import CredentialsError
from pydns.log import for_plugin

log = for_plugin("kubernetes")

REMIND: Final = 60.0
"""Seconds between two lines about an API that stays away."""

GROUPS: Final = {Kind.SLICE: "discovery.k8s.io"}


class Unauthorized(Exception):
    """The API does not accept the credentials (401); the text is the API's own."""


class Forbidden(Exception):
    """The API knows who asks and does not allow it (403); the text is the API's own."""


class ApiHealth:
    """Collects what the reflectors of one source meet; `url` is where the API is."""

    def __init__(self, url: str, observer: Observer, clock: Clock = time.time) -> None:
        self._url = url
        self._observer = observer
        self._clock = clock
        self._known: set[Kind] = set()
        self._failing: set[Kind] = set()
        self._since = 0.0
        self._reported: dict[Kind | None, float] = {}
        """When a line was written about a kind that is forbidden, or (None) about the API."""

    @property
    def up(self) -> bool:
        return not self._failing

    def failed(self, kind: Kind, error: Exception) -> None:
        """A list or watch of `kind` failed and will be tried again."""
        now = self._clock()
        if self.up:
            self._since = now
            self._observer.api_up(False)
        self._failing.add(kind)
        about = kind if isinstance(error, Forbidden) else None
        if now - self._reported.get(about, float("-inf")) >= REMIND:
            self._reported[about] = now
            self._report(kind, error, round(now - self._since))

    def ok(self, kind: Kind) -> None:
        """A list of `kind` is complete, or a watch of it has begun."""
        self._known.add(kind)
        if kind not in self._failing:
            return
        self._failing.discard(kind)
        self._reported.pop(kind, None)
        if self.up:
            self._reported.clear()
            self._observer.api_up(True)
            log.info(f"the Kubernetes API is back after {round(self._clock() - self._since)}s")

    def _report(self, kind: Kind, error: Exception, seconds: int) -> None:
        if isinstance(error, Forbidden):
            rule = f'apiGroups: ["{GROUPS.get(kind, "")}"], resources: ["{kind}"], verbs: ["list", "watch"]'
            log.error(f"not allowed to list and watch {kind}, the ClusterRole needs {{{rule}}}: {error}")
            return
        away = f" for {seconds}s" if seconds else ""
        known = ", answering from what is known" if kind in self._known else ""
        write = log.error if isinstance(error, Unauthorized | CredentialsError) else log.warning
        write(f"no {kind} from the Kubernetes API at {self._url}{away}{known}: {in_words(error)}")


def in_words(error: Exception) -> str:
    hint = " (the API does not accept the credentials)" if isinstance(error, Unauthorized) else ""
    return f"{error}{hint}"
