"""The machine below: commands, namespaces, and the processes that live in them. Knows nothing of clusters."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from errors import Failure, Unsupported

COMMANDS = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux", "unshare": "util-linux", "mount": "mount"}

# Each line is tried in namespaces that vanish with the probe; the text is what the kernel lacks if it fails.
PROBES = (
    ("bridge", "ip link add probe0 type bridge"),
    ("veth pairs", "ip link add probe1 type veth peer name probe2"),
    ("the tbf queue (sch_tbf)", "tc qdisc add dev probe1 root tbf rate 1gbit burst 128kb latency 50ms"),
    ("a host name of its own (UTS namespace)", "echo probe > /proc/sys/kernel/hostname"),
    ("bind mounts over /etc/hosts", "mount -n --bind /etc/hosts /etc/hosts"),
    ("a sysfs of its own", "mount -n -t sysfs sysfs /sys"),
)


def command(*argv: str | Path, script: str | None = None, keep_open: Iterable[int] = ()) -> str:
    """Runs a command and returns its output; `script` goes to its standard input."""
    words = [str(word) for word in argv]
    result = subprocess.run(words, input=script, capture_output=True, text=True, pass_fds=tuple(keep_open))
    if result.returncode != 0:
        reason = result.stderr.strip() or f"exit code {result.returncode}"
        raise Failure(f"`{' '.join(words)}` failed: {reason}")
    return result.stdout


def mount_source(folder: Path) -> str | None:
    """What is mounted on a folder, as mount(8) names it; None: nothing. Not for paths with spaces."""
    place = os.path.realpath(folder)
    source = None
    for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines():
        mount, _, origin = line.partition(" - ")
        if mount.split(" ")[4] == place:
            source = origin.split(" ")[1]  # the last one lies on top
    return source


def missing_parts() -> list[str]:
    """What this machine lacks to carry a cluster, in words; empty if it can."""
    if os.geteuid() != 0:
        return ["root rights: namespaces and network devices need them (run as root or with sudo)"]
    absent = [f"the command `{name}` (package {package})" for name, package in COMMANDS.items() if not shutil.which(name)]
    if absent:
        return absent
    if not os.path.ismount("/"):
        return ["a root folder that is a mount point (in a chroot: bind-mount the folder onto itself before entering)"]
    script = "".join(f"error=$( ({line}) 2>&1 ) || echo \"{what}: $error\"\n" for what, line in PROBES)
    probe = ["unshare", "--net", "--uts", "--mount", "--propagation", "slave", "sh"]
    result = subprocess.run(probe, input=script, capture_output=True, text=True)
    if result.returncode != 0:
        return [f"the right to make network, UTS and mount namespaces: {result.stderr.strip()}"]
    return [f"in this kernel or container: {line}" for line in result.stdout.splitlines()]


def require_support() -> None:
    missing = missing_parts()
    if missing:
        raise Unsupported("no cluster can be made here; missing is " + "; ".join(missing))


@dataclass(frozen=True)
class Namespace:
    """Identity of a namespace: the same for the file that pins it and for the processes inside."""

    device: int
    inode: int

    @classmethod
    def of_file(cls, path: Path | str) -> Namespace | None:
        try:
            status = os.stat(path)
        except OSError:  # gone, or a process that is not ours to look at
            return None
        return cls(status.st_dev, status.st_ino)


@dataclass(frozen=True)
class Process:
    pid: int
    namespace: Namespace

    def command_line(self) -> str:
        return self._read("cmdline").replace(b"\0", b" ").decode(errors="replace").strip()

    def variable(self, name: str) -> str | None:
        """A variable of the environment the process was started with."""
        prefix = name.encode() + b"="
        for entry in self._read("environ").split(b"\0"):
            if entry.startswith(prefix):
                return entry[len(prefix):].decode(errors="replace")
        return None

    def send(self, signal_number: int) -> None:
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # The number may have passed to another process since it was listed; the handle cannot.
            if Namespace.of_file(f"/proc/{self.pid}/ns/net") == self.namespace:
                signal.pidfd_send_signal(handle, signal_number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)

    def _read(self, name: str) -> bytes:
        try:
            return Path(f"/proc/{self.pid}/{name}").read_bytes()
        except OSError:
            return b""


def processes_in(namespaces: Iterable[Namespace | None]) -> Iterator[Process]:
    """Living processes in any of these network namespaces (zombies have left theirs)."""
    wanted = set(namespaces) - {None}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            namespace = Namespace.of_file(f"/proc/{entry}/ns/net")
            if namespace and namespace in wanted:
                yield Process(int(entry), namespace)


def end_processes(find: Callable[[], Iterable[Process]], grace: float, first_signal: int | None = signal.SIGTERM) -> None:
    """Ends everything that `find` lists, by force once `grace` seconds have passed. `first_signal` None only waits."""
    processes = list(find())
    if first_signal is not None:
        for process in processes:
            process.send(first_signal)
    start = time.monotonic()
    while processes := list(find()):
        waited = time.monotonic() - start
        if waited > grace + 10:
            raise Failure(f"processes do not end: {', '.join(str(p.pid) for p in processes)} (waiting on a device?)")
        if waited > grace:
            for process in processes:
                process.send(signal.SIGKILL)
        time.sleep(0.02)


def die_with_parent() -> None:
    """In a child before exec: be told to end when the parent is killed, which leaves it no time to say so."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)
