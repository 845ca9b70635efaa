"""Whether the API answers: one log line for each change of that and now and then another, however often it is tried.

Rules.  A kind is fine again once what failed succeeds: a list does not make up for a watch, which the role may not
allow; a watch that has begun makes up for both.  Does not know requests or objects; the reflectors report to it.
"""

import time
from typing import Final, Literal

from pydns.k8s.objects import Kind
from pydns.k8s.source import Clock, Observer
from pydns.k8s.transport import CredentialsError
from pydns.log import for_plugin

log = for_plugin("kubernetes")

REMIND: Final = 60.0
"""Seconds between two lines about an API that stays away."""

GROUPS: Final = {Kind.SLICE: "discovery.k8s.io"}

Verb = Literal["list", "watch"]
"""As the rules of a role have them; a streaming list is a watch."""


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
        self.watched: set[Kind] = set()
        """Kinds of which a watch has begun."""
        self._known: set[Kind] = set()
        self._failing: dict[Kind, Verb] = {}
        self._since = 0.0
        self._reported: dict[Kind | None, float] = {}
        """When a line was written about a kind that is forbidden, or (None) about the API."""

    @property
    def up(self) -> bool:
        return not self._failing

    def failed(self, kind: Kind, verb: Verb, error: Exception) -> None:
        """A list or watch of `kind` failed and will be tried again."""
        now = self._clock()
        if self.up:
            self._since = now
            self._observer.api_up(False)
        self._failing[kind] = verb
        about = kind if isinstance(error, Forbidden) else None
        if now - self._reported.get(about, float("-inf")) >= REMIND:
            self._reported[about] = now
            self._report(kind, verb, error, round(now - self._since))

    def ok(self, kind: Kind, verb: Verb) -> None:
        """A list of `kind` is complete, or a watch of it has begun."""
        self._known.add(kind)
        if verb == "watch":
            self.watched.add(kind)
        if self._failing.get(kind) not in (verb, "list"):
            return
        del self._failing[kind]
        self._reported.pop(kind, None)
        if self.up:
            self._reported.clear()
            self._observer.api_up(True)
            log.info(f"the Kubernetes API is back after {round(self._clock() - self._since)}s")

    def _report(self, kind: Kind, verb: Verb, error: Exception, seconds: int) -> None:
        if isinstance(error, Forbidden):
            rule = f'apiGroups: ["{GROUPS.get(kind, "")}"], resources: ["{kind}"], verbs: ["list", "watch"]'
            log.error(f"not allowed to {verb} {kind}, the ClusterRole needs {{{rule}}}: {error}")
            return
        away = f" for {seconds}s" if seconds else ""
        known = ", answering from what is known" if kind in self._known else ""
        write = log.error if isinstance(error, Unauthorized | CredentialsError) else log.warning
        write(f"no {kind} from the Kubernetes API at {self._url}{away}{known}: {in_words(error)}")


def in_words(error: Exception) -> str:
    hint = " (the API does not accept the credentials)" if isinstance(error, Unauthorized) else ""
    return f"{error}{hint}"
