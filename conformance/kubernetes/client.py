"""Objects of a kube-apiserver on this machine, as plain JSON over HTTPS. Knows no processes and no DNS."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Mapping

from conformance.kubernetes.objects import Object

TOKEN = "conformance"

TLS = ssl._create_unverified_context()
"""The server's certificate is its own work, made at its start."""

REQUEST_TIME = 30.0
"""Seconds the API has for one answer; a hung one must not keep the run from its end."""

NODE = "conformance"
"""The Node that Pods are bound to: the controllers pass over Pods without an existing one."""

PLURALS = {
    "Namespace": ("/api/v1", "namespaces"),
    "Node": ("/api/v1", "nodes"),
    "Service": ("/api/v1", "services"),
    "Pod": ("/api/v1", "pods"),
    "ConfigMap": ("/api/v1", "configmaps"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
}


class ClusterError(Exception):
    """A component that does not start, or an object the API refuses (`status` is its HTTP status, else 0)."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """May be used by several threads at once. Every method raises `ClusterError` where the API refuses."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._url = f"https://127.0.0.1:{port}"
        self._local = threading.local()
        self._connections: list[http.client.HTTPSConnection] = []

    def apply(self, object: Object) -> None:
        """Creates an object or replaces it, and sets its status where it has one. Raises `ClusterError`."""
        path = _path(object["kind"], object["metadata"].get("namespace", ""))
        own = f"{path}/{object['metadata']['name']}"
        try:
            self._call("PATCH", own, object)
        except ClusterError as error:
            if error.status != http.client.NOT_FOUND:
                raise
            self._call("POST", path, object)
        if "status" in object:
            self._call("PATCH", f"{own}/status", {"status": object["status"]})

    def create(self, object: Object, dry_run: bool = False) -> Object:
        """Creates an object that is not there yet; as the API keeps it, or would, in a `dry_run`."""
        path = _path(object["kind"], object["metadata"].get("namespace", ""))
        return self._call("POST", path + ("?dryRun=All" if dry_run else ""), object)

    def patch(self, kind: str, namespace: str, name: str, body: Object, part: str = "") -> None:
        """A JSON merge patch of an object, or of a part of it (`status`). Raises `ClusterError`."""
        self._call("PATCH", f"{_path(kind, namespace)}/{name}{part and '/'}{part}", body)

    def bind(self, namespace: str, pod: str) -> None:
        """Puts a Pod on `NODE`, as the scheduler would."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod},
            "target": {"kind": "Node", "name": NODE},
        }
        self._call("POST", f"{_path('Pod', namespace)}/{pod}/binding", body)

    def listed(self, kind: str, namespace: str = "") -> list[Object]:
        """All objects of a kind, by default of all namespaces."""
        return [{"kind": kind, **item} for item in self._call("GET", _path(kind, namespace))["items"]]

    def delete(self, kind: str, namespace: str, name: str, at_once: bool = True) -> None:
        """Deletes an object, `at_once` or after its grace period; one that is not there is no error."""
        try:
            self._call("DELETE", f"{_path(kind, namespace)}/{name}", {"gracePeriodSeconds": 0} if at_once else None)
        except ClusterError as error:
            if error.status != http.client.NOT_FOUND:
                raise

    def remove_namespace(self, name: str) -> None:
        """Deletes a namespace and what would keep it: Pods that no kubelet ends, and what would make them anew."""
        for kind in ("Deployment", "StatefulSet", "ReplicaSet", "Pod"):
            self._call("DELETE", _path(kind, name), {"gracePeriodSeconds": 0})
        self.delete("Namespace", "", name)

    def exists(self, kind: str, namespace: str, name: str) -> bool:
        """Whether the API answers, and has this object."""
        try:
            self._call("GET", f"{_path(kind, namespace)}/{name}")
        except ClusterError:
            return False
        return True

    def close(self) -> None:
        """Closes the connections of all threads."""
        for connection in self._connections:
            connection.close()

    def _call(self, method: str, path: str, body: Object | None = None) -> Object:
        data = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        status, text = self._exchange(method, path, data, {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind})
        if status >= http.client.BAD_REQUEST:
            raise ClusterError(f"{method} {path}: {status} {text.decode()}", status)
        answer: Object = json.loads(text)
        return answer

    def _exchange(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """One request on this thread's connection, on a new one where the server has closed it."""
        try:
            return self._attempt(method, path, data, headers)
        except (OSError, http.client.HTTPException):
            pass
        try:
            return self._attempt(method, path, data, headers)
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"{method} {path}: no answer from {self._url}: {error}") from error

    def _attempt(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        connection = self._connection()
        try:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPSConnection:
        """This thread's, kept because setting up TLS takes longer than a change."""
        if not hasattr(self._local, "connection"):
            self._local.connection = http.client.HTTPSConnection(
                "127.0.0.1", self._port, timeout=REQUEST_TIME, context=TLS
            )
            self._connections.append(self._local.connection)
        connection: http.client.HTTPSConnection = self._local.connection
        return connection


def _path(kind: str, namespace: str) -> str:
    if kind not in PLURALS:
        raise ClusterError(f"{kind!r} is none of {', '.join(PLURALS)}")
    group, plural = PLURALS[kind]
    return f"{group}/namespaces/{namespace}/{plural}" if namespace else f"{group}/{plural}"
