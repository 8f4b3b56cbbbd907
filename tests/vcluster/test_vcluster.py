#!/usr/bin/env python3
"""Tests of tools/vcluster: real clusters, real MPI jobs. Exit code 77 (skipped) where no cluster can be made.

The state is kept in a folder of this run, so clusters that were there before are neither seen nor touched.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
VCLUSTER = HERE.parent.parent / "tools" / "vcluster"
SCRATCH = Path(tempfile.mkdtemp(prefix="weir-vcluster-test-"))
STATE = SCRATCH / "state"
ENVIRONMENT = os.environ | {"WEIR_VCLUSTER_STATE": str(STATE)}
ENVIRONMENT.pop("WEIR_VCLUSTER_NODE", None)


def vcluster(*arguments: object, code: int | None = 0, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs vcluster and checks its exit code (None: any)."""
    result = subprocess.run([VCLUSTER, *map(str, arguments)], env=ENVIRONMENT, capture_output=True, text=True,
                            timeout=seconds, stdin=subprocess.DEVNULL)
    if code is not None and result.returncode != code:
        raise AssertionError(f"vcluster {' '.join(map(str, arguments))}: exit code {result.returncode}, "
                             f"expected {code}\n{result.stdout}{result.stderr}")
    return result


def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen([VCLUSTER, *map(str, arguments)], env=ENVIRONMENT, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, **options)


def probe(library: str) -> Path:
    """The probe program, compiled with this MPI library."""
    program = SCRATCH / f"probe-{library}"
    if not program.exists():
        subprocess.run([f"mpicc.{library}", "-O1", "-o", program, HERE / "probe.c"], check=True)
    return program


def ring_report(output: str) -> dict[int, tuple[str, int]]:
    """Rank to host and number of ranks in its node; fails if the token missed a rank."""
    lines = re.findall(r"^rank (\d+) of (\d+) on (\S+) shares its node with (\d+), token (\d+)$", output, re.MULTILINE)
    assert all(size == token == str(len(lines)) for _, size, _, _, token in lines), output
    return {int(rank): (host, int(node_size)) for rank, _, host, node_size, _ in lines}


def status(name: str) -> dict:
    return json.loads(vcluster("status", "--json", "--name", name).stdout)


def traffic(name: str) -> list[int]:
    return [node["bytes_sent"] for node in status(name)["nodes"]]


def job_processes(name: str) -> int:
    return sum(len(node["processes"]) for node in status(name)["nodes"])


def probe_processes() -> list[int]:
    """Processes of the probe program anywhere on the machine."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            program = os.readlink(f"/proc/{entry}/exe")
        except OSError:
            continue
        if program.startswith(str(SCRATCH)):
            found.append(int(entry))
    return found


def mounts() -> set[str]:
    """What is mounted for clusters of this run, in any mount namespace: as long as it is, their namespaces live."""
    found = set()
    for table in Path("/proc").glob("[0-9]*/mountinfo"):
        try:
            found.update(line for line in table.read_text().splitlines() if str(SCRATCH) in line)
        except OSError:  # the process has ended, or is not ours to look at
            continue
    return found


def processes_in_nodes() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if f"WEIR_VCLUSTER_STATE={STATE}".encode() in variables and \
                any(variable.startswith(b"WEIR_VCLUSTER_NODE=") for variable in variables):
            found.append(path.parent.name)
    return found


def wait_until(condition, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.05)


class VclusterTest(unittest.TestCase):
    def tearDown(self) -> None:
        vcluster("down", "--all")
        self.assertEqual(set(), mounts())
        self.assertEqual([], processes_in_nodes())
        self.assertEqual([], probe_processes())
        self.assertEqual([".lock"], [p.name for p in STATE.iterdir()] if STATE.exists() else [".lock"])


class Messages(VclusterTest):
    def assert_refused(self, code: int, *words: str, arguments: tuple[object, ...]) -> None:
        result = vcluster(*arguments, code=code)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_wrong_sizes(self) -> None:
        for size, complaint in {"0x4": "0 nodes", "4x": "NODESxSLOTS", "300x1": "300 nodes", "4x0": "0 slots",
                                "4": "NODESxSLOTS", "-1x4": "", "2x9999": "9999 slots"}.items():
            self.assert_refused(2, size if complaint else "", complaint, arguments=("up", size))

    def test_wrong_options(self) -> None:
        self.assert_refused(2, "--rate '1gbitt'", "1gbit", arguments=("up", "2x2", "--rate", "1gbitt"))
        self.assert_refused(2, "--rate '5'", arguments=("up", "2x2", "--rate", "5"))
        self.assert_refused(2, "between 1mbit", arguments=("up", "2x2", "--rate", "1kbit"))
        self.assert_refused(2, "--name 'A/../b'", arguments=("up", "2x2", "--name", "A/../b"))
        self.assert_refused(2, "--latency", arguments=("up", "2x2", "--latency", "1ms"))
        self.assert_refused(2, "before the program", arguments=("run", "-n", "2", "true"))
        self.assert_refused(2, "no program", arguments=("run", "-n", "2", "--"))
        self.assert_refused(2, "-n 'two'", arguments=("run", "-n", "two", "--", "true"))
        self.assert_refused(2, "--timeout '-3'", arguments=("run", "--timeout", "-3", "--", "true"))
        self.assert_refused(2, "--mpi 'lam'", arguments=("run", "--mpi", "lam", "--", "true"))
        self.assert_refused(2, "COMMAND", arguments=())

    def test_absent_clusters(self) -> None:
        for arguments in (("run", "--", "true"), ("status",), ("exec", "0", "--", "true")):
            self.assert_refused(1, "no cluster 'weir'", "vcluster up", arguments=arguments)
        self.assertIn("nothing to do", vcluster("down").stdout)
        self.assertEqual("", vcluster("list").stdout)

    def test_misuse_of_a_cluster(self) -> None:
        vcluster("up", "2x2")
        self.assert_refused(1, "already up", "--name", "down", arguments=("up", "2x2"))
        self.assert_refused(2, "-n 5", "4 slots", "--oversubscribe", arguments=("run", "-n", 5, "--", probe("openmpi")))
        self.assert_refused(2, "not found", arguments=("run", "--", SCRATCH / "absent"))
        self.assert_refused(2, "linked with Open MPI", arguments=("run", "--mpi", "mpich", "--", probe("openmpi")))
        self.assert_refused(2, "node 'node7'", "weir-node1", arguments=("exec", "node7", "--", "true"))
        self.assert_refused(1, "from outside", arguments=("exec", "0", "--", VCLUSTER, "down"))
        vcluster("down")
        vcluster("down")

    def test_folders_of_others_are_left_alone(self) -> None:
        for name in ("mine", "empty"):
            (STATE / name).mkdir(parents=True)
        for name in ("state.json", "data"):
            (STATE / "mine" / name).write_text("mine")
        try:
            vcluster("up", "1x1")
            self.assertEqual(["weir"], [each["name"] for each in json.loads(vcluster("list", "--json").stdout)])
            self.assert_refused(1, "in the way", "--name", arguments=("up", "1x1", "--name", "mine"))
            self.assert_refused(1, "no cluster 'mine'", arguments=("status", "--name", "mine"))
            self.assertIn("nothing to do", vcluster("down", "--name", "mine").stdout)
            vcluster("down", "--all")
            self.assertEqual({"mine", "empty", ".lock"}, {path.name for path in STATE.iterdir()})
            self.assertEqual({"state.json": "mine", "data": "mine"},
                             {path.name: path.read_text() for path in (STATE / "mine").iterdir()})
        finally:
            for name in ("mine", "empty"):
                shutil.rmtree(STATE / name)

    def test_without_rights(self) -> None:
        nobody = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-"]
        program = f"import sys; sys.path.insert(0, {str(VCLUSTER) + '.d'!r}); import cli; sys.exit(cli.main(['up', '1x1']))"
        result = subprocess.run(nobody, input=program, capture_output=True, text=True, env=ENVIRONMENT, cwd="/")
        if "ModuleNotFoundError" in result.stderr or "Permission denied" in result.stderr:
            self.skipTest("another user cannot read this source tree")
        self.assertEqual(77, result.returncode, result.stderr)
        self.assertIn("root", result.stderr)


class OpenMpiJobs(VclusterTest):
    def ring(self, size: str, *options: object) -> dict[int, tuple[str, int]]:
        vcluster("up", size)
        return ring_report(vcluster("run", "--timeout", 40, *options, "--", probe("openmpi"), "ring").stdout)

    def test_whole_life(self) -> None:
        vcluster("up", "4x4", "--rate", "1gbit")
        state = status("weir")
        self.assertEqual([f"weir-node{i}" for i in range(4)], [n["name"] for n in state["nodes"]])
        self.assertEqual((10**9, 4), (state["rate_bits_per_second"], state["slots_per_node"]))
        ranks = ring_report(vcluster("run", "-n", 16, "--timeout", 40, "--", probe("openmpi"), "ring").stdout)
        self.assertEqual({rank: (f"weir-node{rank // 4}", 4) for rank in range(16)}, ranks)
        self.assertTrue(all(count > 0 for count in traffic("weir")))
        self.assertEqual("weir-node2", vcluster("exec", "node2", "--", "hostname").stdout.strip())
        self.assertEqual({"eth0", "lo"}, set(vcluster("exec", "1", "--", "ls", "/sys/class/net").stdout.split()))
        self.assertEqual("", vcluster("exec", "1", "--", "ip", "route", "show", "default").stdout)
        self.assertEqual(5, vcluster("exec", "1", "--", "sh", "-c", "exit 5", code=5).returncode)
        self.assertEqual(7, vcluster("run", "-n", 3, "--", probe("openmpi"), "exit", 7, code=7).returncode)
        self.assertIn("weir: up, 4 nodes x 4 slots, 1gbit", vcluster("list").stdout)

    def test_options_of_the_launcher(self) -> None:
        ranks = self.ring("2x4", "-np", 8, "--map-by", "node")
        self.assertEqual({rank: (f"weir-node{rank % 2}", 4) for rank in range(8)}, ranks)
        order = SCRATCH / "order"
        order.write_text("weir-node1\nweir-node0\nweir-node1\n")
        output = vcluster("run", "-n", 3, "--map-by", "seq", "--hostfile", order, "--", probe("openmpi"), "ring").stdout
        self.assertEqual(["weir-node1", "weir-node0", "weir-node1"], [ring_report(output)[r][0] for r in range(3)])
        rank_file = SCRATCH / "rankfile"
        rank_file.write_text("rank 0=weir-node1 slot=0\nrank 1=weir-node0 slot=0\n")
        output = vcluster("run", "-n", 2, "-rf", rank_file, "--", probe("openmpi"), "ring").stdout
        self.assertEqual(["weir-node1", "weir-node0"], [ring_report(output)[r][0] for r in range(2)])
        ranks = ring_report(vcluster("run", "-n", 9, "--oversubscribe", "--", probe("openmpi"), "ring").stdout)
        self.assertEqual(9, len(ranks))

    def test_odd_sizes(self) -> None:
        for size, count in (("3x2", 5), ("1x1", 1), ("2x4", 7), ("2x3", 2)):
            with self.subTest(size=size, count=count):
                ranks = self.ring(size, "-n", count)
                slots = int(size.split("x")[1])
                in_node = collections.Counter(rank // slots for rank in range(count))
                self.assertEqual({r: (f"weir-node{r // slots}", in_node[r // slots]) for r in range(count)}, ranks)
                vcluster("down")

    def test_network_is_shaped_and_counted(self) -> None:
        vcluster("up", "2x2", "--rate", "500mbit")

        def bandwidth(peer: int) -> float:
            return float(vcluster("run", "-n", 3, "--", probe("openmpi"), "bandwidth", 0, peer).stdout)

        near, far = bandwidth(1), bandwidth(2)
        self.assertGreater(near, 5 * far)
        self.assertLess(far, 1.15 * 500 / 8)  # a little above the rate: what tbf lets pass at once
        before, sent = traffic("weir"), 64 << 20
        vcluster("run", "-n", 3, "--", probe("openmpi"), "send", 2, 0, sent)
        self.assertAlmostEqual(1, (traffic("weir")[1] - before[1]) / sent, delta=0.03)
        before = traffic("weir")
        vcluster("run", "-n", 2, "--", probe("openmpi"), "send", 0, 1, sent)
        self.assertLess(traffic("weir")[0] - before[0], sent / 100)

    def test_two_clusters_and_two_jobs_at_once(self) -> None:
        vcluster("up", "2x2", "--name", "a")
        vcluster("up", "3x1", "--name", "b", "--rate", "none")
        self.assertNotEqual(status("a")["network"], status("b")["network"])
        jobs = [start("run", "--name", name, "-n", 3, "--timeout", 40, "--", probe("openmpi"), "ring") for name in "aab"]
        hosts = [{host for host, _ in ring_report(job.communicate(timeout=60)[0]).values()} for job in jobs]
        self.assertEqual([{"a-node0", "a-node1"}] * 2 + [{"b-node0", "b-node1", "b-node2"}], hosts)
        vcluster("down", "--name", "a")
        self.assertEqual([{"name": "b", "phase": "up"}], json.loads(vcluster("list", "--json").stdout))


class Endings(VclusterTest):
    def hanging_job(self, name: str = "weir") -> subprocess.Popen[str]:
        job = start("run", "--name", name, "-n", 4, "--", probe("openmpi"), "hang")
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertIn("hanging\n", job.stdout)  # reads up to that line; Open MPI may print a warning before it
        return job

    def test_timeout(self) -> None:
        vcluster("up", "2x2")
        result = vcluster("run", "--timeout", "1.5", "--", probe("openmpi"), "hang", code=124)
        self.assertIn("--timeout of 1.5 s", result.stderr)
        self.assertEqual(0, job_processes("weir"))

    def test_signals_end_the_job(self) -> None:
        vcluster("up", "2x2")
        other = self.hanging_job()
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.hanging_job()
            job.send_signal(number)
            self.assertEqual(128 + number, job.wait(20))
        self.assertEqual(4, len(probe_processes()))  # those of the other job
        other.kill()
        other.wait()
        wait_until(lambda: job_processes("weir") == 0)

    def test_down_ends_a_job_whose_run_was_killed(self) -> None:
        vcluster("up", "2x2")
        job = self.hanging_job()
        job.kill()
        job.wait()
        vcluster("down")
        self.assertEqual([], probe_processes())

    def test_down_ends_a_running_job(self) -> None:
        vcluster("up", "2x2")
        job = self.hanging_job()
        vcluster("down")
        self.assertNotEqual(0, job.wait(20))

    def test_up_and_down_killed_anywhere(self) -> None:
        begin = time.monotonic()
        vcluster("up", "3x2")
        whole = time.monotonic() - begin
        vcluster("down")
        half_made = 0
        for step in range(8):
            victim = start("up", "3x2", start_new_session=True)
            time.sleep(whole * (step + 1) / 8)
            victim.kill()
            victim.communicate()
            listing = vcluster("list").stdout
            half_made += "half-made" in listing
            if "half-made" in listing:
                self.assertIn("half-made", vcluster("status", code=1).stderr)
            if "up," in listing:
                vcluster("down")
            if step % 2:
                vcluster("down")
            vcluster("up", "3x2")
            victim = start("down", start_new_session=True)
            time.sleep(whole * step / 16)
            victim.kill()
            victim.communicate()
            vcluster("down")
            self.assertEqual(set(), mounts())
        self.assertGreater(half_made, 0)


@unittest.skipUnless(shutil.which("mpicc.mpich"), "MPICH is not installed")
class MpichJobs(VclusterTest):
    def run_job(self, lines: int, *arguments: object) -> str:
        """Output of a job, which is ended once it has printed that many lines.

        Before 4.2 MPICH may hang in MPI_Finalize when UCX joins nodes by TCP (pmodels/mpich, pull request 6596).
        """
        job = start("run", "--timeout", 40, *arguments)
        output = [line for line, _ in zip(job.stdout, range(lines))]
        try:
            job.communicate(timeout=0.5)
        except subprocess.TimeoutExpired:
            job.terminate()
            job.communicate()
        return "".join(output)

    def test_nodes_and_network(self) -> None:
        vcluster("up", "3x2")
        ranks = ring_report(self.run_job(5, "-n", 5, "--", probe("mpich"), "ring"))
        self.assertEqual({r: (f"weir-node{r // 2}", 1 if r == 4 else 2) for r in range(5)}, ranks)
        before, sent = traffic("weir"), 16 << 20
        self.run_job(1, "-n", 3, "--", probe("mpich"), "send", 2, 0, sent)
        self.assertAlmostEqual(1, (traffic("weir")[1] - before[1]) / sent, delta=0.1)
        before = traffic("weir")
        self.run_job(1, "-n", 3, "--", probe("mpich"), "send", 0, 1, sent)
        self.assertLess(traffic("weir")[0] - before[0], sent / 20)
        self.assertEqual(6, vcluster("run", "-n", 2, "--timeout", 40, "--", probe("mpich"), "exit", 6, code=6).returncode)


def main() -> int:
    try:
        check = vcluster("check", code=None)
        if check.returncode == 77:
            print(f"skipped: {check.stderr.strip()}")
            return 77
        if not shutil.which("mpicc.openmpi"):
            print("skipped: mpicc.openmpi (package libopenmpi-dev) is not installed")
            return 77
        return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1
    finally:
        vcluster("down", "--all", code=None)
        shutil.rmtree(SCRATCH)


if __name__ == "__main__":
    sys.exit(main())
