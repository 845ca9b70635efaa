"""Whether the API answers: one log line for each change of that, however often the reflectors try.

Does not know requests or objects; the reflectors report to it.
"""

import time
from typing import Final

from pydns.k8s.objects import Kind
from pydns.k8s.source import Clock, Observer
from pydns.log import for_plugin

log = for_plugin("kubernetes")

REMIND: Final = 60.0
"""Seconds between two lines about an API that stays away."""

GROUPS: Final = {Kind.SLICE: "discovery.k8s.io"}


class Forbidden(Exception):
    """The API knows who asks and does not allow it (403); the text is the API's own."""


class ApiHealth:
    """Collects what the reflectors of one source meet."""

    def __init__(self, observer: Observer, clock: Clock = time.time) -> None:
        self._observer = observer
        self._clock = clock
        self._failing: set[Kind] = set()
        self._forbidden: set[Kind] = set()
        self._since = 0.0
        self._reported = float("-inf")

    @property
    def up(self) -> bool:
        return not self._failing

    def failed(self, kind: Kind, error: Exception) -> None:
        """A list or watch of `kind` failed and will be tried again."""
        now = self._clock()
        if self.up:
            self._since = now
            self._observer.api_up(False, now)
        self._failing.add(kind)
        if isinstance(error, Forbidden):
            self._refused(kind, error)
        elif now - self._reported >= REMIND:
            self._reported = now
            away = f" for {round(now - self._since)}s" if now > self._since else ""
            log.warning(f"no {kind} from the Kubernetes API{away}, answering from what is known: {error}")

    def ok(self, kind: Kind) -> None:
        """A list of `kind` is complete, or a watch of it has begun."""
        if kind not in self._failing:
            return
        self._forbidden.discard(kind)
        self._failing.discard(kind)
        if self.up:
            now = self._clock()
            self._observer.api_up(True, now)
            log.info(f"the Kubernetes API is back after {round(now - self._since)}s")

    def _refused(self, kind: Kind, error: Forbidden) -> None:
        if kind in self._forbidden:
            return
        self._forbidden.add(kind)
        rule = f'apiGroups: ["{GROUPS.get(kind, "")}"], resources: ["{kind}"], verbs: ["list", "watch"]'
        log.error(f"not allowed to list and watch {kind}, the ClusterRole needs {{{rule}}}: {error}")
