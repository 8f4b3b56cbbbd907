#!/usr/bin/env python3
"""I/O servers on other nodes than their compute ranks: test_nodes.py HEAT ENDINGS WEIR. Exit code 77 (skipped) where no nodes can be made.

The data goes by MPI then; what stands in the files must be the same, byte by byte, as when the compute ranks write it. Processes that
are killed or stopped end the job within a stated time, in words that name the file and the rank.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

VCLUSTER = Path(__file__).resolve().parent.parent.parent / "tools" / "vcluster"
HEAT, ENDINGS, WEIR = sys.argv[1:4]
SCRATCH = Path(tempfile.mkdtemp(prefix="weir-nodes-test-"))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
ENVIRONMENT = os.environ | {"WEIR_VCLUSTER_STATE": str(SCRATCH / "state")}
ENVIRONMENT.pop("WEIR_VCLUSTER_NODE", None)
for name in ("OMPI_MCA_btl", "OMPI_MCA_hwloc_base_binding_policy"):  # the nodes talk by TCP
    ENVIRONMENT.pop(name, None)


def vcluster(*arguments: object, code: int = 0, seconds: float = 60, **more: str) -> str:
    result = subprocess.run([VCLUSTER, *map(str, arguments)], env=ENVIRONMENT | more, capture_output=True, text=True,
                            timeout=seconds, stdin=subprocess.DEVNULL)
    if result.returncode == 77:
        print(result.stderr, end="")
        sys.exit(77)
    if result.returncode != code:
        raise AssertionError(f"vcluster {' '.join(map(str, arguments))}: exit code {result.returncode}, expected {code}\n"
                             f"{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        vcluster("up", "2x2", "--name", "nodes")

    @classmethod
    def tearDownClass(cls) -> None:
        vcluster("down", "--name", "nodes")

    def heat(self, name: str, ranks: int, plan: dict | None, code: int = 0, **more: str) -> tuple[Path, str]:
        path = SCRATCH / name
        environment = {"WEIR_SUMMARY": "1"} | more
        if plan is not None:
            file = SCRATCH / f"{name}.plan.json"
            file.write_text(json.dumps({"weir_plan": 1} | plan))
            environment["WEIR_PLAN"] = str(file)
        output = vcluster("run", "--name", "nodes", "-n", ranks, "--timeout", 40, "--", HEAT, path, code=code, **environment)
        return path, output

    def servers(self, servers: str, server_of: str) -> dict:
        return {"ranks": 4, "mode": "servers",
                "roles": {"mapping": "consecutive", "servers": servers, "server_of": server_of}}

    def values(self, path: Path, step: int) -> bytes:
        return subprocess.run([WEIR, "cat", path, "temperature", "--step", str(step), "--raw"], check=True,
                              capture_output=True).stdout

    def compare(self, name: str, plan: dict, transport: str, **more: str) -> None:
        alone, _ = self.heat(name + "-synchronous.dat", 2, None)
        path, output = self.heat(name + ".dat", 4, plan, **more)
        self.assertIn(transport, output)
        for step in range(0, 101, 20):  # the files' tables of checksums may cut and order blocks differently
            self.assertEqual(self.values(alone, step), self.values(path, step), f"step {step}")
        self.assertEqual(200 * 150 * 8, len(self.values(path, 100)))
        verified = subprocess.run([WEIR, "verify", path], capture_output=True, text=True)
        self.assertEqual(0, verified.returncode, verified.stdout + verified.stderr)
        self.assertEqual([], [p.name for p in SCRATCH.iterdir() if ".partial" in p.name])

    def test_every_server_on_the_other_node(self) -> None:
        self.compare("apart", self.servers("2-3", "2-3"), "MPI")

    def test_little_room(self) -> None:
        self.compare("small", self.servers("2-3", "2-3"), "MPI", WEIR_BUDGET="64KiB")

    def test_crossed_over(self) -> None:  # ranks 1 and 3 serve, each a rank of the other node
        self.compare("crossed", self.servers("1,3", "3,1"), "MPI")

    def test_one_near_one_far(self) -> None:  # rank 3 serves rank 2 beside it; rank 1 serves rank 0 beside it
        self.compare("near", self.servers("1,3", "1,3"), "shared memory")

    def test_weir_run_with_servers_on_nodes_of_their_own(self) -> None:
        alone, _ = self.heat("alone.dat", 2, None)
        launcher = {"plm": "rsh", "plm_rsh_agent": SCRATCH / "state" / "nodes" / "agent", "oob_tcp_if_include": "eth0",
                    "btl_tcp_if_include": "eth0", "pml": "ob1", "btl": "self,vader,tcp"}
        output = vcluster("exec", "--name", "nodes", "nodes-node0", "--", "env", "-C", SCRATCH,
                          *[f"OMPI_MCA_{name}={value}" for name, value in launcher.items()], "timeout", 50,
                          WEIR, "run", "--no-record", "--mapping", "consecutive", "--own-nodes", "-n", 2, "--hosts",
                          "nodes-node[0-1]", "--summary", "--", HEAT, SCRATCH / "own.dat")
        self.assertIn("went through MPI", output)
        for step in range(0, 101, 20):
            self.assertEqual(self.values(alone, step), self.values(SCRATCH / "own.dat", step), f"step {step}")

    def test_a_failure_comes_back(self) -> None:
        plan = SCRATCH / "failing.json"
        plan.write_text(json.dumps({"weir_plan": 1} | self.servers("2-3", "2-3")))
        output = vcluster("run", "--name", "nodes", "-n", 4, "--timeout", 30, "--", HEAT, SCRATCH / "none" / "x.dat",
                          code=1, WEIR_PLAN=str(plan))
        self.assertIn("No such file or directory", output)

    def ending(self, name: str, scenario: str, sign: signal.Signals | None = None) -> str:
        """What a job says whose ranks 0 and 1 compute, and that loses a process while it writes; `sign` goes to server 3."""
        folder = SCRATCH / name
        folder.mkdir()
        plan = folder / "plan.json"
        plan.write_text(json.dumps({"weir_plan": 1} | self.servers("2-3", "2-3")))

        def strike() -> None:
            until = time.monotonic() + 30
            while not (folder / "ready").exists() and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(2.5)  # only who has answered before is missed
            os.kill(int((folder / "rank3").read_text()), sign)

        striker = threading.Thread(target=strike)
        if sign is not None:
            striker.start()
        result = subprocess.run([VCLUSTER, "run", "--name", "nodes", "-n", "4", "--timeout", "40", "--", ENDINGS, scenario,
                                 "servers", folder], env=ENVIRONMENT | {"WEIR_PLAN": str(plan), "WEIR_TIMEOUT": "5"},
                                capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        if sign is not None:
            striker.join()
        output = result.stdout + result.stderr
        self.assertNotIn(result.returncode, (0, 124), output)
        self.assertTrue((folder / "whole.dat").exists(), output)
        self.assertFalse((folder / "lost.dat").exists(), output)
        return output

    def test_a_server_that_is_stopped(self) -> None:  # its client's caller is told
        output = self.ending("server-stopped", "server-killed", signal.SIGSTOP)
        self.assertRegex(output, r"endings: .*lost\.dat: write variable 'T', step \d+: the I/O server \(rank 3 of the job\) "
                                 r"is lost: .*waited 5 s")

    def test_a_server_that_is_killed(self) -> None:  # the launcher ends the job at once
        begin = time.monotonic()
        output = self.ending("server-killed", "server-killed", signal.SIGKILL)
        self.assertRegex(output, r"signal 9|Killed|has ended|is lost")
        self.assertLess(time.monotonic() - begin, 25)

    def test_a_compute_rank_that_is_stopped(self) -> None:
        output = self.ending("client-stopped", "client-stopped")
        self.assertRegex(output, r"I/O server \(rank 3 of the job\): the node of rank 1 does not answer; waited 5 s.*"
                                 r"lost: .*lost\.dat")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
