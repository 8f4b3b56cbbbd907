"""A cluster: what it is (`Cluster`), where it is kept (`Store`), and how it is made and removed.

Everything of a cluster hangs on one tmpfs mounted at STORE/NAME: its description, the files that pin the
namespaces, a sysfs per node, the scripts that enter a node, and the session files of its jobs. Unmounting that
tmpfs removes it all at once, so an `up` or `down` that was killed anywhere leaves nothing that cannot be found.
"""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import json
import os
import re
import shlex
import stat
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import system
from errors import Failure, UsageError
from system import Namespace, command

DEFAULT_STORE = "/run/weir-vcluster"
STORE_VARIABLE = "WEIR_VCLUSTER_STATE"
NODE_VARIABLE = "WEIR_VCLUSTER_NODE"
JOB_VARIABLE = "WEIR_VCLUSTER_JOB"
INTERFACE = "eth0"  # in every node
NETWORKS = ipaddress.ip_network("10.213.0.0/16")
MAX_NODES = 250  # a /24 network each
MAX_SLOTS = 256
MAX_NAME = 40  # with "-node249" it stays a valid host name
LOCK_SECONDS = 60

# The folder that a cluster is mounted on, as long as nothing is: nobody makes one like it by chance.
EMPTY_FOLDER_MODE = 0o1000

UP = "up"
HALF_MADE = "half-made"

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
MIN_RATE, MAX_RATE = 10**6, 10**11
# tbf lets this much pass at once. A segmentation offload packet with its headers must fit, or each is cut up first.
MIN_BURST_BYTES = 72 * 1024
BURST_SECONDS = 0.0002
# Networks of clusters hold senders back rather than drop; a deep queue comes near to that with TCP.
QUEUE_SECONDS = 0.2


def parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match:
        raise UsageError(f"size '{text}': expected NODESxSLOTS, such as 4x4 (4 nodes of 4 slots)")
    nodes, slots = int(match[1]), int(match[2])
    if not 1 <= nodes <= MAX_NODES:
        raise UsageError(f"size '{text}': {nodes} nodes; a cluster has 1 to {MAX_NODES}")
    if not 1 <= slots <= MAX_SLOTS:
        raise UsageError(f"size '{text}': {slots} slots per node; a node has 1 to {MAX_SLOTS}")
    return nodes, slots


def parse_rate(text: str) -> int | None:
    """Bits per second; None for an unshaped network."""
    if text == "none":
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)bit", text.lower())
    if not match:
        raise UsageError(f"--rate '{text}': expected a number and kbit, mbit or gbit, such as 1gbit or 2.5gbit, or none")
    rate = round(float(match[1]) * UNITS[match[2]])
    if not MIN_RATE <= rate <= MAX_RATE:
        raise UsageError(f"--rate '{text}': must lie between 1mbit and 100gbit; none leaves the network unshaped")
    return rate


def parse_name(text: str) -> str:
    if not re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", text) or len(text) > MAX_NAME:
        raise UsageError(f"--name '{text}': expected a-z, 0-9 and -, a letter first, at most {MAX_NAME} characters "
                         "(it becomes part of host names)")
    return text


def rate_text(rate: int | None) -> str:
    if rate is None:
        return "unshaped"
    for unit in "tgmk":
        if rate >= UNITS[unit]:
            return f"{rate / UNITS[unit]:g}{unit}bit"
    return f"{rate}bit"


@dataclass(frozen=True)
class Node:
    name: str
    address: str
    folder: Path

    @property
    def network_file(self) -> Path:
        return self.folder / f"{self.name}.net"

    @property
    def host_name_file(self) -> Path:
        return self.folder / f"{self.name}.uts"

    @property
    def sysfs(self) -> Path:
        return self.folder / f"{self.name}.sys"

    @property
    def boot_id_file(self) -> Path:
        return self.folder / f"{self.name}.boot"

    def counter(self, name: str) -> int:
        return int((self.sysfs / "class/net" / INTERFACE / "statistics" / name).read_text())


@dataclass(frozen=True)
class Cluster:
    name: str
    node_count: int
    slots: int
    rate: int | None  # bits per second and direction; None if unshaped
    network: str
    folder: Path

    @property
    def nodes(self) -> list[Node]:
        first = ipaddress.ip_network(self.network).network_address + 1
        return [Node(f"{self.name}-node{i}", str(first + i), self.namespace_folder) for i in range(self.node_count)]

    @property
    def namespace_folder(self) -> Path:
        return self.folder / "ns"

    @property
    def switch_file(self) -> Path:
        return self.namespace_folder / "switch.net"

    @property
    def hosts(self) -> Path:
        return self.folder / "hosts"

    @property
    def open_mpi_hosts(self) -> Path:
        return self.folder / "hosts.openmpi"

    @property
    def mpich_hosts(self) -> Path:
        return self.folder / "hosts.mpich"

    @property
    def enter(self) -> Path:
        """Script: enter NODE COMMAND..."""
        return self.folder / "enter"

    @property
    def agent(self) -> Path:
        """Script with the arguments of ssh, for the launchers of MPI."""
        return self.folder / "agent"

    @property
    def session_folder(self) -> Path:
        return self.folder / "tmp"

    def node(self, text: str) -> Node:
        """The node called by its number, as node2, or by its host name."""
        for number, node in enumerate(self.nodes):
            if text in (str(number), f"node{number}", node.name):
                return node
        raise UsageError(f"node '{text}': cluster '{self.name}' has {self.nodes[0].name} to {self.nodes[-1].name}")

    def describe(self) -> str:
        return f"{self.node_count} nodes x {self.slots} slots, {rate_text(self.rate)}, {self.network}"

    def save(self) -> None:
        record = asdict(self) | {"version": 1}
        del record["folder"]
        partial = self.folder / "state.json.new"
        partial.write_text(json.dumps(record, indent=1) + "\n")
        partial.rename(self.folder / "state.json")


def pinned_namespaces(folder: Path) -> list[Namespace]:
    """Network namespaces that the cluster in this folder holds, however far it was made."""
    own = os.stat(folder).st_dev if folder.exists() else None
    found = (Namespace.of_file(path) for path in folder.glob("ns/*.net"))
    return [namespace for namespace in found if namespace and namespace.device != own]  # else not mounted yet


def is_mounted(folder: Path) -> bool:
    """Whether it is a cluster that is mounted there, and not something else."""
    return system.mount_source(folder) == f"weir-vcluster:{folder.name}"


class Store:
    """The clusters of this machine. Whoever looks or changes holds the lock, so what is unfinished was abandoned."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock: int | None = None

    @classmethod
    def default(cls) -> Store:
        root = Path(os.environ.get(STORE_VARIABLE) or DEFAULT_STORE).absolute()
        if not re.fullmatch(r"[\w./+-]+", str(root)):  # the launchers of MPI cut the agent's path at a space
            raise UsageError(f"{STORE_VARIABLE} '{root}': expected a path of letters, digits and . _ + - only")
        return cls(root)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        path = self.root / ".lock"
        try:
            if os.geteuid() == 0:
                self.root.mkdir(parents=True, exist_ok=True)
                self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            else:
                self._lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # nothing was ever made here, and this user will not make anything
            yield
            return
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}; {STORE_VARIABLE} names another folder for the state") from error
        try:
            self._wait_for_lock()
            yield
        finally:
            os.close(self._lock)
            self._lock = None

    def _wait_for_lock(self) -> None:
        assert self._lock is not None
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                return fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Failure(f"{self.root}: another vcluster command has been at work for {LOCK_SECONDS} s; "
                                  "wait for it or end it") from None
                time.sleep(0.02)

    def _command(self, *argv: str | Path, script: str | None = None) -> None:
        # The child holds the lock too: if this process is killed, the next one waits until the child is done.
        command(*argv, script=script, keep_open=[] if self._lock is None else [self._lock])

    def names(self) -> list[str]:
        try:
            return sorted(entry.name for entry in self.root.iterdir() if self._made(entry.name))
        except FileNotFoundError:
            return []

    def _made(self, name: str) -> bool:
        """Whether there is a folder of that name that vcluster made: anything else in the store is not touched."""
        folder = self.root / name
        if is_mounted(folder):
            return True
        try:
            found = folder.lstat()
        except FileNotFoundError:
            return False
        return stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == EMPTY_FOLDER_MODE

    def find(self, name: str) -> Cluster | None:
        """The cluster of that name if it is whole."""
        folder = self.root / name
        if not is_mounted(folder):
            return None
        try:
            record = json.loads((folder / "state.json").read_text())
            if record.pop("version") != 1:
                return None
            cluster = Cluster(folder=folder, **record)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return cluster

    def phase(self, name: str) -> str | None:
        if self.find(name):
            return UP
        return HALF_MADE if self._made(name) else None

    def get(self, name: str) -> Cluster:
        cluster = self.find(name)
        if cluster:
            return cluster
        if self.phase(name) == HALF_MADE:
            raise Failure(f"cluster '{name}' is half-made (an `up` or `down` was interrupted): "
                          f"`vcluster down --name {name}` removes it, `up` makes it anew")
        others = f" (there are: {', '.join(self.names())})" if self.names() else ""
        raise Failure(f"no cluster '{name}'{others}; `vcluster up 4x4 --name {name}` makes one")

    def make(self, name: str, node_count: int, slots: int, rate: int | None) -> Cluster:
        cluster = Cluster(name, node_count, slots, rate, self._free_network(), self.root / name)
        try:
            cluster.folder.mkdir(EMPTY_FOLDER_MODE)
        except FileExistsError:
            raise Failure(f"{cluster.folder} is in the way, and no cluster; choose another --name, or another folder "
                          f"for the state ({STORE_VARIABLE})") from None
        try:
            self._command("mount", "-n", "-t", "tmpfs", "-o", "mode=755", f"weir-vcluster:{name}", cluster.folder)
            # Shared, so that jobs, which have mount namespaces of their own, see it go and do not keep it alive.
            self._command("mount", "-n", "--make-shared", cluster.folder)
            self._write_files(cluster)
            self._command("unshare", f"--net={cluster.switch_file}", "sh", "-e", script=switch_script())
            for node in cluster.nodes:
                self._command("unshare", f"--net={node.network_file}", f"--uts={node.host_name_file}", "sh", "-e",
                              script=node_script(cluster, node))
            self._command("nsenter", f"--net={cluster.switch_file}", "sh", "-e", script=ports_script(cluster))
            cluster.save()  # last: a cluster without it is half-made
        except BaseException:
            self.remove(name)
            raise
        return cluster

    def remove(self, name: str) -> None:
        """Removes a cluster in whatever state it is, with every process in it."""
        folder = self.root / name
        if not self._made(name):
            return
        if is_mounted(folder):
            (folder / "state.json").unlink(missing_ok=True)  # half-made from here on
        namespaces = pinned_namespaces(folder)
        system.end_processes(lambda: system.processes_in(namespaces), grace=2)
        while is_mounted(folder):
            self._command("umount", "-n", "--lazy", folder)  # with all that is mounted inside
        system.end_processes(lambda: system.processes_in(namespaces), grace=0)  # came in meanwhile
        folder.rmdir()

    def _free_network(self) -> str:
        taken = {cluster.network for cluster in map(self.find, self.names()) if cluster}
        for network in NETWORKS.subnets(new_prefix=24):
            if str(network) not in taken:
                return str(network)
        raise Failure(f"no free network in {NETWORKS}; take a cluster down first")

    def _write_files(self, cluster: Cluster) -> None:
        cluster.namespace_folder.mkdir()
        cluster.session_folder.mkdir()
        cluster.session_folder.chmod(0o1777)
        for pin in [cluster.switch_file, *(f for n in cluster.nodes for f in (n.network_file, n.host_name_file))]:
            pin.touch()
        for node in cluster.nodes:
            node.boot_id_file.write_text(f"{uuid.uuid4()}\n")
        lines = ["127.0.0.1 localhost", *(f"{node.address} {node.name}" for node in cluster.nodes)]
        cluster.hosts.write_text("\n".join(lines) + "\n")
        cluster.open_mpi_hosts.write_text("".join(f"{node.name} slots={cluster.slots}\n" for node in cluster.nodes))
        cluster.mpich_hosts.write_text("".join(f"{node.name}:{cluster.slots}\n" for node in cluster.nodes))
        for path, text in ((cluster.enter, enter_script(cluster)), (cluster.agent, agent_script(cluster))):
            path.write_text(text)
            path.chmod(0o755)


def shaping(device: str, rate: int | None) -> str:
    if rate is None:
        return ""
    burst = max(MIN_BURST_BYTES, round(rate / 8 * BURST_SECONDS))
    limit = burst + round(rate / 8 * QUEUE_SECONDS)
    return f"tc qdisc add dev {device} root tbf rate {rate}bit burst {burst}b limit {limit}b\n"


# Neighbour discovery of IPv6 would otherwise count among the bytes of the jobs.
WITHOUT_IPV6 = "f=/proc/sys/net/ipv6/conf/default/disable_ipv6; if [ -e $f ]; then echo 1 > $f; fi\n"


def switch_script() -> str:
    return WITHOUT_IPV6 + "ip link add name switch type bridge stp_state 0 mcast_snooping 0\nip link set switch up\n"


def node_script(cluster: Cluster, node: Node) -> str:
    """Makes the node's interface, from inside its namespaces; the other end appears at the switch."""
    port = node.name.removeprefix(cluster.name + "-")
    prefix_length = ipaddress.ip_network(cluster.network).prefixlen
    sysfs = shlex.quote(str(node.sysfs))
    return (
        WITHOUT_IPV6 +
        f"echo {node.name} > /proc/sys/kernel/hostname\n"
        f"mkdir {sysfs}\nmount -n -t sysfs sysfs {sysfs}\n"
        "ip link set lo up\n"
        f"ip link add {INTERFACE} type veth peer name {port} netns {shlex.quote(str(cluster.switch_file))}\n"
        f"ip address add {node.address}/{prefix_length} dev {INTERFACE}\n"
        f"ip link set {INTERFACE} up\n" +
        shaping(INTERFACE, cluster.rate))


def ports_script(cluster: Cluster) -> str:
    return "".join(f"ip link set node{i} master switch up\n" + shaping(f"node{i}", cluster.rate)
                   for i in range(cluster.node_count))


def enter_script(cluster: Cluster) -> str:
    """Besides the namespaces a command gets a view of /etc/hosts and /sys in which only the cluster exists.

    And a boot id of the node's own: UCX tells machines apart by it, and would join the nodes by shared memory.
    """
    folder, hosts = shlex.quote(str(cluster.namespace_folder)), shlex.quote(str(cluster.hosts))
    return f"""#!/bin/sh
# enter NODE COMMAND...: runs the command in a node of cluster {cluster.name}
{NODE_VARIABLE}=$1 pins={folder}/$1
export {NODE_VARIABLE}
shift
exec nsenter --net="$pins.net" --uts="$pins.uts" unshare --mount --propagation slave sh -ec '
    mount -n --bind "$1" /etc/hosts
    for tree in class/net devices/virtual/net; do mount -n --bind "$2.sys/$tree" "/sys/$tree"; done
    mount -n --bind "$2.boot" /proc/sys/kernel/random/boot_id
    shift 2
    exec "$@"' enter {hosts} "$pins" "$@"
"""


def agent_script(cluster: Cluster) -> str:
    return f"""#!/bin/sh
# agent [-OPTION...] NODE COMMAND...: what ssh would do between machines
while [ "${{1#-}}" != "$1" ]; do shift; done
node=$1
shift
exec {shlex.quote(str(cluster.enter))} "$node" sh -c "$*"
"""
