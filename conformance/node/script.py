"""A DNS server's life on the node, phase by phase, while clients keep asking: from CoreDNS to the server and back.

Each phase does one thing to the cluster's DNS, waits until it is done, and a little longer. What the clients found
is read from their logs at the end. Of a server it knows the image; who swaps it in is `deploy/kind/swap.sh`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.live.pod import is_ready
from conformance.node.clients import NAMESPACE, THREADS, Client, clients
from conformance.node.commands import Commands
from conformance.node.components import Node, Say, filled
from conformance.node.contents import C_LIBRARIES, COREDNS, PARTS
from conformance.node.dns import DEPLOYMENT, NET_BIND_SERVICE, Dns, Replica
from conformance.node.dns import NAMESPACE as DNS_NAMESPACE
from conformance.node.space import FILES
from conformance.tally import LookUp, Phase, parse, silent

SWAP = Path(__file__).parent.parent.parent / "deploy" / "kind" / "swap.sh"
"""The program that users swap with."""

REFERENCE, SUBJECT = "CoreDNS", "pydns"
SETTLE = 2.0
"""Seconds after what a phase does, so that what is lost by it is counted in it."""

AFTER_KILL = 3.0
"""Seconds from a replica's return until the next one is killed."""

LONGEST = 60.0
"""Seconds that a look-up may take: glibc asks twice for 5 s, for each of four search domains and the name itself."""

SWAP_TIME = 60
"""Seconds a swap has until its replicas are ready."""

EDITED = """    hosts {
        198.51.100.9 edited.example
        fallthrough
    }
"""
"""What the edit adds to the Corefile, and what is looked for then."""

UNKNOWN = "nosuchplugin"
BROKEN = f"    {UNKNOWN} here\n"
"""A line that no server can make anything of; the reason it tells must have the name."""


class Script:
    """One run; `phases`, `remarks` and `faults` grow while it goes on."""

    def __init__(self, node: Node, say: Say, image: str, replicas_killed: int = 4) -> None:
        self.dns = Dns(node)
        self._commands = Commands(node.kubeconfig)
        self.clients: list[Client] = []
        self.phases: list[Phase] = []
        self.remarks: list[str] = []
        self.faults: list[str] = []
        self._node, self._say, self._image, self._kills = node, say, image, replicas_killed
        self._corefile = (FILES / "Corefile").read_text()

    def run(self) -> None:
        """All phases. Raises `NodeError` when one cannot be gone through."""
        self._install()
        self._start_clients()
        self._check_resolv_confs()
        self._rest(REFERENCE)
        self._restart(REFERENCE)
        self._kill(REFERENCE)
        self._swap("in", self._image)
        self._rest(SUBJECT)
        self._check_rights()
        self._edit()
        self._break_corefile()
        self._restart(SUBJECT)
        self._kill(SUBJECT)
        self._swap("out", COREDNS)
        self._rest(REFERENCE)
        self._finish()

    def look_ups(self) -> list[LookUp]:
        """All that the clients have found until now."""
        found: list[LookUp] = []
        for client in self.clients:
            for library in C_LIBRARIES:
                files = sorted((self._node.folder / "podlogs").glob(f"{NAMESPACE}_{client.name}_*/{library}/*.log"))
                for file in files:
                    found += parse(f"{client.name}/{library}", file.read_text(errors="replace").splitlines())
        return found

    def threads(self) -> list[tuple[str, int]]:
        """Who looks names up."""
        names = [f"{client.name}/{library}" for client in self.clients for library in C_LIBRARIES]
        return [(name, thread) for name in names for thread in range(THREADS)]

    @contextmanager
    def _phase(self, name: str, server: str, kills: int = 0) -> Iterator[None]:
        self._say(name)
        began = time.time()
        yield
        time.sleep(SETTLE)
        self.phases.append(Phase(name, server, began, time.time(), kills))

    def _install(self) -> None:
        """CoreDNS as kubeadm installs it, and the objects that are looked up."""
        values = {"coredns_image": COREDNS, "parts_image": PARTS}
        self._commands.kubectl(
            "create", "configmap", DEPLOYMENT, "-n", DNS_NAMESPACE, f"--from-file={FILES / 'Corefile'}"
        )
        self._commands.apply(filled("dns.yaml", values))
        self._commands.apply(filled("shop.yaml", values))
        self.dns.wait("CoreDNS is ready", lambda: self.dns.settled(COREDNS))
        self.dns.wait("the StatefulSet has addresses", lambda: all(self._database()))
        self._say("CoreDNS serves, the Services are there")

    def _database(self) -> list[str]:
        """The addresses of the StatefulSet's Pods; empty ones where there are none yet."""
        pods = {pod["metadata"]["name"]: pod for pod in self._node.client.listed("Pod", "shop")}
        ready = {name: pod["status"].get("podIP", "") for name, pod in pods.items() if is_ready(pod)}
        return [ready.get(name, "") for name in ("db-0", "db-1")]

    def _start_clients(self) -> None:
        self.clients = clients(self._database())
        self._commands.kubectl("create", "namespace", NAMESPACE)
        client = self._node.client
        self.dns.wait("an account", lambda: client.exists("ServiceAccount", NAMESPACE, "default"))
        for each in self.clients:
            client.create(each.manifest())
        self.dns.wait(
            "the clients look names up",
            lambda: {(each.client, each.thread) for each in self.look_ups()} >= set(self.threads()),
        )
        self._say(f"{len(self.clients) * len(C_LIBRARIES)} clients look names up")

    def _check_resolv_confs(self) -> None:
        """Each client has the file that kubelet's rules make for its dnsPolicy."""
        for client in self.clients:
            inside = ["exec", "-n", NAMESPACE, client.name, "-c", C_LIBRARIES[0], "--"]
            said = self._commands.kubectl(*inside, "cat", "/etc/resolv.conf")
            if wrong := client.wrong_in(said):
                self.faults.append(f"resolv.conf of the Pod with dnsPolicy {client.pod.policy}: {wrong}")

    def _rest(self, server: str) -> None:
        with self._phase(f"{server} serves", server):
            pass

    def _finish(self) -> None:
        """Waits until all look-ups that began in a phase have ended; what takes too long is a fault."""
        end, deadline = self.phases[-1].ended, time.monotonic() + LONGEST
        while (still := silent(self.look_ups(), self.threads(), end, 0.0)) and time.monotonic() < deadline:
            time.sleep(0.5)
        self.faults += [f"{each}: a look-up did not end within {LONGEST:g} s" for each in still]

    def _swap(self, way: str, image: str) -> None:
        with self._phase(f"swap {way}", SUBJECT):
            words = ["sh", str(SWAP), way, "--context", "node", "--timeout", f"{SWAP_TIME}s"]
            said = self._commands.run([*words, *(["--image", image] if way == "in" else [])])
            self.dns.wait(f"the replicas are exchanged\n{said}", lambda: self.dns.settled(image))

    def _check_rights(self) -> None:
        """The first process of each replica is not root, and may bind port 53 and nothing else."""
        for replica in self.dns.replicas():
            rights = self.dns.rights(replica)
            if rights.user == 0 or rights.permitted != NET_BIND_SERVICE:
                self.faults.append(f"{replica.name} runs as user {rights.user} with capabilities {rights.permitted:#x}")

    def _edit(self) -> None:
        with self._phase("ConfigMap edited", SUBJECT):
            self.dns.edit(self._with(EDITED))
            self._wait_for_edit({"198.51.100.9"}, "the edit is served")

    def _wait_for_edit(self, wanted: set[str], what: str) -> None:
        replicas = self.dns.replicas()
        took = self.dns.wait(
            what, lambda: all(self.dns.addresses(each, "edited.example.") == wanted for each in replicas)
        )
        self.remarks.append(f"{what} by each replica {took:.1f} s after kubectl")

    def _break_corefile(self) -> None:
        """An edit that cannot be served: who serves goes on, a new Pod does not become ready and says why."""
        with self._phase("ConfigMap edited so that it does not parse", SUBJECT):
            before = self.dns.replicas()
            self.dns.edit(self._with(EDITED + BROKEN))
            self.dns.wait(
                "the running replicas tell of the bad Corefile", lambda: all(self._tells(each) for each in before)
            )
            self._check_still_serving(before)
            self.dns.delete(before[0])
            self.dns.wait(
                "a new replica tells why it does not start",
                lambda: any(self._fails(each, before) for each in self.dns.replicas()),
            )
            self.dns.edit(self._with(EDITED))
            self.dns.wait("all is well again", self.dns.settled)
            self._wait_for_edit({"198.51.100.9"}, "the mended Corefile is served")

    def _tells(self, replica: Replica) -> bool:
        return UNKNOWN in self.dns.log(replica)

    def _fails(self, replica: Replica, before: Sequence[Replica]) -> bool:
        """Whether it is a new Pod that is not ready and has said why."""
        return replica.uid not in {each.uid for each in before} and not replica.ready and self._tells(replica)

    def _check_still_serving(self, replicas: Sequence[Replica]) -> None:
        for replica in replicas:
            if self.dns.addresses(replica, "edited.example.") != {"198.51.100.9"}:
                self.faults.append(f"{replica.name} does not serve its last good Corefile")

    def _restart(self, server: str) -> None:
        with self._phase(f"rolling restart of {server}", server):
            before = {each.uid for each in self.dns.replicas()}
            self._commands.kubectl("rollout", "restart", "-n", DNS_NAMESPACE, f"deployment/{DEPLOYMENT}")
            self.dns.wait(
                "new replicas",
                lambda: self.dns.settled() and before.isdisjoint(each.uid for each in self.dns.replicas()),
            )

    def _kill(self, server: str) -> None:
        with self._phase(f"{self._kills} times kill -9 of a replica, {server}", server, self._kills):
            back = []
            for turn in range(self._kills):
                back.append(self._kill_one(turn))
                time.sleep(AFTER_KILL)
            times = ", ".join(f"{took:.1f}" for took in back)
            self.remarks.append(f"{server}: ready again {times} s after kill -9")

    def _kill_one(self, turn: int) -> float:
        """Kills a replica; the seconds until it is ready again."""
        victim = sorted(self.dns.replicas(), key=lambda each: each.name)[turn % 2]
        self.dns.kill(victim)
        return self.dns.wait(
            "a killed replica is back",
            lambda: (
                self.dns.settled()
                and any(each.uid == victim.uid and each.restarts > victim.restarts for each in self.dns.replicas())
            ),
        )

    def _with(self, more: str) -> str:
        """The Corefile with lines before those of `ready`."""
        return self._corefile.replace("    ready\n", f"{more}    ready\n")
