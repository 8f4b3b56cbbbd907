"""Runs an MPI job across the nodes of a cluster, with Open MPI or MPICH, and ends all of it whatever happens.

The launchers are set up through their environment variables, so that any option given by the user still wins.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import system
from cluster import INTERFACE, JOB_VARIABLE, Cluster, pinned_namespaces
from errors import EXIT_TIMEOUT, Failure, UsageError
from system import Process

GRACE_SECONDS = 5.0  # for a launcher to end its job when asked
NODES_VARIABLE = "WEIR_NODES_FILE"  # a file in which whoever started us wants to read about the nodes
ANSWER_SECONDS = 60.0


def open_mpi_environment(cluster: Cluster) -> dict[str, str]:
    mca = {
        "plm": "rsh",
        "plm_rsh_agent": cluster.agent,
        "orte_default_hostfile": cluster.open_mpi_hosts,
        "orte_tmpdir_base": cluster.session_folder,
        "oob_tcp_if_include": INTERFACE,
        "btl_tcp_if_include": INTERFACE,
        "pml": "ob1",
        "osc": "^ucx",
        "btl": "self,vader,tcp",
        "btl_vader_backing_directory": cluster.session_folder,
        # Nodes share the machine's few cores: nothing is pinned, and who waits lets others work.
        "mpi_yield_when_idle": 1,
        "hwloc_base_binding_policy": "none",
    }
    prte = {  # Open MPI 5 starts its jobs through PRRTE
        "plm": "ssh",
        "plm_ssh_agent": cluster.agent,
        "prte_default_hostfile": cluster.open_mpi_hosts,
        "prte_tmpdir_base": cluster.session_folder,
        "prte_if_include": INTERFACE,
        "hwloc_default_binding_policy": "none",
    }
    root = {f"{p}_ALLOW_RUN_AS_ROOT{suffix}": "1" for p in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")}
    return (root | {f"OMPI_MCA_{key}": str(value) for key, value in mca.items()}
            | {f"PRTE_MCA_{key}": str(value) for key, value in prte.items()})


def mpich_environment(cluster: Cluster) -> dict[str, str]:
    return {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(cluster.agent),
        "HYDRA_HOST_FILE": str(cluster.mpich_hosts),
        "HYDRA_IFACE": INTERFACE,
        "UCX_TLS": "tcp,sm,self",
        "UCX_NET_DEVICES": INTERFACE,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": INTERFACE,
    }


@dataclass(frozen=True)
class Library:
    """An MPI library: how its programs and its launcher are recognised, and what the launcher needs to know."""

    key: str
    name: str
    soname: str
    launchers: tuple[str, ...]
    version: str  # pattern in the output of `LAUNCHER --version`

    def launcher(self) -> tuple[str, str] | None:
        """Path and version of the launcher, if installed."""
        for candidate in self.launchers:
            path = shutil.which(candidate)
            if path:
                result = subprocess.run([path, "--version"], capture_output=True, text=True)
                match = re.search(self.version, result.stdout)
                if match:
                    return path, match[1]
        return None


OPEN_MPI = Library("openmpi", "Open MPI", "libmpi.so", ("mpirun.openmpi", "mpirun"), r"\((?:Open MPI|OpenRTE)\) (\S+)")
MPICH = Library("mpich", "MPICH", "libmpich.so", ("mpirun.mpich", "mpiexec.hydra", "mpirun"),
                r"(?s)HYDRA.*?Version:\s+(\S+)")
LIBRARIES = {library.key: library for library in (OPEN_MPI, MPICH)}


@dataclass(frozen=True)
class Job:
    program: list[str]
    ranks: int | None = None  # None: every slot
    library: Library | None = None  # None: the one the program is linked with
    launcher_options: tuple[str, ...] = ()
    timeout: float | None = None

    @property
    def oversubscribes(self) -> bool:
        return any("oversubscribe" in option.lower() for option in self.launcher_options)

    @property
    def names_hosts(self) -> bool:
        return any(option.lstrip("-") in ("f", "host", "hosts", "hostfile", "machinefile", "H")
                   for option in self.launcher_options)


def linked_library(program: str) -> Library | None:
    """The MPI library a program is linked with; None for scripts and programs that load it later."""
    path = shutil.which(program)
    if not path:
        raise UsageError(f"program '{program}': not found, or not executable")
    result = subprocess.run(["ldd", path], capture_output=True, text=True)
    for library in LIBRARIES.values():
        if re.search(rf"^\s*{re.escape(library.soname)}\b", result.stdout, re.MULTILINE):
            return library
    return None


def choose_library(job: Job) -> Library:
    linked = linked_library(job.program[0])
    if job.library and linked and job.library is not linked:
        raise UsageError(f"--mpi {job.library.key}: '{job.program[0]}' is linked with {linked.name}; leave --mpi out")
    chosen = job.library or linked
    if chosen:
        return chosen
    default = shutil.which("mpirun")  # a script: the system's own choice is the best guess
    for library in LIBRARIES.values():
        found = library.launcher()
        if default and found and os.path.samefile(found[0], default):
            return library
    for library in LIBRARIES.values():
        if library.launcher():
            return library
    raise Failure("no MPI launcher found: install openmpi-bin or mpich")


def launcher_command(cluster: Cluster, job: Job, library: Library) -> list[str]:
    found = library.launcher()
    if not found:
        raise Failure(f"the launcher of {library.name} ({' or '.join(library.launchers)}) is not installed")
    slots = cluster.node_count * cluster.slots
    ranks = slots if job.ranks is None else job.ranks
    if ranks > slots and not (job.oversubscribes or job.names_hosts):
        raise UsageError(f"-n {ranks}: cluster '{cluster.name}' has {slots} slots "
                         f"({cluster.node_count} nodes x {cluster.slots}); add --oversubscribe or make a larger one")
    # Hydra goes round its hosts again by itself, and does not know the option.
    options = [o for o in job.launcher_options if library is OPEN_MPI or o != "--oversubscribe"]
    return [found[0], "-n", str(ranks), *options, *job.program]


def announce(cluster: Cluster) -> None:
    """Tells `weir run`, if that started us, which nodes there are and how they are reached, and waits until it samples their
    links. Block devices and processors are the machine's: it samples those itself."""
    name = os.environ.pop(NODES_VARIABLE, None)
    if not name:
        return
    file = Path(name)
    nodes = {"nodes": ",".join(node.name for node in cluster.nodes), "reach": f"{shlex.quote(str(cluster.enter))} {{}}",
             "sources": "net"}
    part = file.with_name(file.name + ".part")
    try:
        part.write_text(json.dumps(nodes))
        part.rename(file)
    except OSError:
        return  # whoever wanted to know is gone
    answer = file.with_name(file.name + ".answer")
    end = time.monotonic() + ANSWER_SECONDS
    while not answer.exists() and file.exists() and time.monotonic() < end:
        time.sleep(0.01)


class Interrupted(Exception):
    def __init__(self, signal_number: int) -> None:
        self.signal_number = signal_number


def _interrupt(signal_number: int, _frame: FrameType | None) -> None:
    raise Interrupted(signal_number)


def run(cluster: Cluster, job: Job) -> int:
    """Runs the job and returns its exit code. When this returns no process of the job is left."""
    library = choose_library(job)
    announce(cluster)
    settings = open_mpi_environment(cluster) if library is OPEN_MPI else mpich_environment(cluster)
    argv = [str(cluster.enter), cluster.nodes[0].name, *launcher_command(cluster, job, library)]
    job_id = uuid.uuid4().hex
    # Every process of the job inherits this mark, on all nodes.
    environment = os.environ | settings | {JOB_VARIABLE: job_id}
    namespaces = pinned_namespaces(cluster.folder)

    def processes() -> list[Process]:
        return [p for p in system.processes_in(namespaces) if p.variable(JOB_VARIABLE) == job_id]

    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # A session of its own: a Ctrl-C in the terminal reaches us alone, and the launcher hears of it once, from us.
    launcher = subprocess.Popen(argv, env=environment, start_new_session=True, preexec_fn=system.die_with_parent)
    try:
        for number in stopping:
            signal.signal(number, _interrupt)
        code = launcher.wait(job.timeout)
        return code if code >= 0 else 128 - code
    except subprocess.TimeoutExpired:
        print(f"vcluster: the job was ended after its --timeout of {job.timeout:g} s", file=sys.stderr)
        return EXIT_TIMEOUT
    except Interrupted as interrupt:
        return 128 + interrupt.signal_number
    finally:
        for number in stopping:
            signal.signal(number, signal.SIG_IGN)
        _stop(launcher)
        system.end_processes(processes, grace=2, first_signal=None)


def _stop(launcher: subprocess.Popen[bytes]) -> None:
    if launcher.poll() is None:
        launcher.terminate()
        try:
            launcher.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            launcher.kill()
            launcher.wait()
