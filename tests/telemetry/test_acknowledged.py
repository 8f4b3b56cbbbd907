#!/usr/bin/python3
"""What was acknowledged stays: receivers and collectors that are killed, a database that goes away, power that fails.

test_acknowledged.py WEIR PLATTER-LIBRARY DATA-FOLDER [CLASS...]. Exit code 77 (skipped) where something is missing.
"""

import csv
import io
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

WEIR, PLATTER_LIBRARY, DATA = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
del sys.argv[1:4]
POSTGRESQL = os.environ.get("WEIR_TEST_POSTGRESQL")
CONTROL = str(Path(__file__).resolve().parents[1] / "unit/with_postgresql.sh")
PATIENCE = 120  # seconds until something that must happen counts as missing


def eventually(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} s")
        time.sleep(0.02)


def text(value):
    return bytes([0xd9, len(value)]) + value.encode()


def message(node, number):
    """A sample of fluentd's forward protocol whose time and value are its number, and which wants to be acknowledged."""
    record = b"\x83" + text("node") + text(node) + text("ost") + text("A") + text("write_bytes") + b"\xce" + struct.pack(">I", number)
    seconds = b"\xce" + struct.pack(">I", 1_564_617_600 + number)
    return b"\x94" + text("ost") + seconds + record + b"\x81" + text("chunk") + text(f"c{number}")


class Listener:
    """A `weir ingest --listen` that can be killed and started again."""

    def __init__(self, folder, store, *options, environment=None, address="127.0.0.1:0"):
        self.folder, self.store, self.options = folder, store, options
        self.environment = os.environ | (environment or {})
        self.address = address
        self.log = folder / "listen.log"
        self.log.write_bytes(b"")
        self.process = None
        self.start()

    def start(self):
        ready = self.folder / "ready"

        def listening():
            ready.unlink(missing_ok=True)
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    [WEIR, "ingest", "--store", self.store, "--listen", self.address, "--ready-file", ready, *self.options],
                    stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment)
            eventually(lambda: ready.exists() or self.process.poll() is not None, "listening")
            if not ready.exists() and "in use" not in self.said():
                raise AssertionError("weir ingest ended: " + self.said())
            return ready.exists()

        eventually(listening, f"listening on {self.address}")  # its port may still be in use for a moment
        self.address = ready.read_text().strip()

    def said(self):
        return self.log.read_text(errors="replace")

    def times_said(self, words):
        return self.said().count(words)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(PATIENCE) != 0:
            raise AssertionError("weir ingest failed: " + self.said())

    def connect(self):
        host, port = self.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=PATIENCE)


class Sender(threading.Thread):
    """Sends one message after the other, and each again until it is acknowledged."""

    def __init__(self, listener, node):
        super().__init__(daemon=True)
        self.listener, self.node = listener, node
        self.acknowledged = 0  # numbers 1 to this
        self.done = threading.Event()

    def run(self):
        connection = None
        while not self.done.is_set():
            number = self.acknowledged + 1
            try:
                connection = connection or self.listener.connect()
                connection.sendall(message(self.node, number))
                answer = connection.recv(1000)
                if f"c{number}".encode() not in answer:
                    raise ConnectionError(f"no acknowledgement: {answer!r}")
                self.acknowledged = number
            except OSError:
                if connection:
                    connection.close()
                connection = None
                time.sleep(0.02)
        if connection:
            connection.close()


class Senders:
    def __init__(self, listener, count=3, name="oss"):
        self.all = [Sender(listener, f"{name}{i}") for i in range(count)]
        for sender in self.all:
            sender.start()

    def wait_for_more(self, number):
        """Until each has so many more acknowledged."""
        goals = [sender.acknowledged + number for sender in self.all]
        eventually(lambda: all(s.acknowledged >= goal for s, goal in zip(self.all, goals)), f"{number} acknowledgements")

    def stop(self):
        for sender in self.all:
            sender.done.set()
        for sender in self.all:
            sender.join(PATIENCE)


def samples(store):
    """(node, time) and value of every sample in a store."""
    result = subprocess.run([WEIR, "store", "export", store, "--csv", "-"], capture_output=True, text=True, timeout=PATIENCE)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    rows = list(csv.reader(io.StringIO(result.stdout)))[1:]
    return {(node, component, counter, int(at)): int(value) for at, counter, node, component, _job, value in rows}


def lost(stored, senders):
    wanted = {(s.node, "A", "ost.write_bytes", (1_564_617_600 + n) * 10**9): n for s in senders.all
              for n in range(1, s.acknowledged + 1)}
    return sorted(key for key, value in wanted.items() if stored.get(key) != value)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, True)

    def listen(self, store, *options, **more):
        listener = Listener(self.folder, str(store), *options, **more)
        self.addCleanup(lambda: listener.process.poll() is None and listener.kill())
        return listener

    def send(self, listener, **more):
        senders = Senders(listener, **more)
        self.addCleanup(senders.stop)
        return senders

    def assert_kept(self, store, senders):
        self.assertEqual(lost(samples(store), senders), [], "acknowledged, and not in the store")
        check = subprocess.run([WEIR, "store", "check", store], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)


class Killed(Case):
    """kill -9 of the receiver in the midst of traffic."""

    def killed_receiver(self, store):
        listener = self.listen(store)
        senders = self.send(listener)
        for _ in range(3):
            senders.wait_for_more(10)
            listener.kill()
            listener.start()
        senders.wait_for_more(5)
        senders.stop()
        listener.kill()
        self.assert_kept(store, senders)

    def test_on_sqlite(self):
        self.killed_receiver(str(self.folder / "site.db"))

    def test_two_receivers_on_one_store(self):
        store = str(self.folder / "site.db")
        listener = self.listen(store)
        other = self.folder / "other"
        other.mkdir()
        second = Listener(other, store)
        self.addCleanup(lambda: second.process.poll() is None and second.kill())
        senders, more = self.send(listener), self.send(second, name="mds")
        senders.wait_for_more(10)
        more.wait_for_more(10)
        senders.stop()
        more.stop()
        listener.end()
        second.end()
        self.assert_kept(store, senders)
        self.assert_kept(store, more)


class CollectorKept(Case):
    """weir collect while its receiver is killed and comes back: every round arrives."""

    def test_receiver_away_and_back(self):
        store = str(self.folder / "site.db")
        listener = self.listen(store)
        problems = self.folder / "problems"
        with problems.open("w") as errors:
            collector = subprocess.Popen(
                [WEIR, "collect", "--root", DATA + "/telemetry/tofu", "--node", "io1", "--interval", "50ms", "--forward",
                 listener.address, "--spool", self.folder / "spool", "--drain", f"{PATIENCE}s", "--json"],
                stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: collector.poll() is None and collector.kill())
        eventually(lambda: "samples" in subprocess.run([WEIR, "store", "show", store], capture_output=True, text=True).stdout,
                   "the first samples")
        for outage in (1, 2):
            listener.kill()
            eventually(lambda: problems.read_text().count("until it can be reached") >= outage, "the receiver is missed")
            listener.start()
            eventually(lambda: problems.read_text().count("is back") >= outage, "the receiver is back")
        collector.send_signal(signal.SIGINT)
        out, _ = collector.communicate(timeout=2 * PATIENCE)
        summary = json.loads(out)
        listener.end()
        self.assertEqual(collector.returncode, 0, problems.read_text())
        self.assertEqual((summary["waiting"], summary["dropped"], summary["sent"]), (0, 0, summary["samples"]), out)
        self.assertGreater(summary["rounds"], 3)
        self.assertEqual(len(samples(store)), summary["samples"])


def power_failure(disk, platter):
    """Leaves in the folder `disk` what the platter kept of it, and nothing else."""
    inode = disk.stat().st_ino
    shutil.rmtree(disk)
    disk.mkdir()

    def restore(folder, inode):
        names = platter / f"names.{inode}"
        for line in names.read_text().splitlines() if names.exists() else []:
            number, name = line.split(" ", 1)
            if name == ".":
                continue
            if (platter / f"names.{number}").exists():
                (folder / name).mkdir()
                restore(folder / name, number)
            elif (platter / f"content.{number}").exists():
                shutil.copy(platter / f"content.{number}", folder / name)
            else:
                (folder / name).touch()  # its name was kept, its content was not

    restore(disk, inode)


class PowerCase(Case):
    def setUp(self):
        super().setUp()
        self.disk, self.platter = self.folder / "disk", self.folder / "platter"
        self.disk.mkdir()
        self.platter.mkdir()
        self.slow_disk = {"LD_PRELOAD": PLATTER_LIBRARY, "WEIR_TEST_DISK": str(self.disk.resolve()),
                          "WEIR_TEST_PLATTER": str(self.platter), "WEIR_TEST_DISK_MS": "40",
                          "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}


class PowerLoss(PowerCase):
    """The power fails right after an acknowledgement."""

    def acknowledge_then_fail(self, store, *options, messages=3, lies=False):
        listener = self.listen(store, *options, environment=self.slow_disk | ({"WEIR_TEST_DISK_LIES": "1"} if lies else {}))
        senders = Senders(listener, count=1)
        senders.wait_for_more(messages)
        listener.kill()
        senders.stop()
        power_failure(self.disk, self.platter)
        return senders

    def test_store(self):
        store = str(self.disk / "site.db")
        senders = self.acknowledge_then_fail(store)
        self.assert_kept(store, senders)

    def test_the_test_sees_a_disk_that_lies(self):
        self.acknowledge_then_fail(str(self.disk / "site.db"), lies=True)
        self.assertEqual(list(self.disk.iterdir()), [])

    def test_spool_of_a_receiver(self):
        store = self.folder / "away" / "site.db"
        spool = str(self.disk / "spool.db")
        senders = self.acknowledge_then_fail(store, "--spool", spool)
        store.parent.mkdir()
        self.listen(store, "--spool", spool).end()
        self.assert_kept(str(store), senders)

    def test_while_the_spool_is_brought_to_the_store(self):
        store = self.disk / "site.db"
        spool = self.folder / "spool.db"
        listener = self.listen(self.disk / "away" / "site.db", "--spool", spool)
        senders = Senders(listener, count=1)
        senders.wait_for_more(3)
        senders.stop()
        listener.end()
        self.assertTrue(spool.exists())
        listener = self.listen(store, "--spool", spool, environment=self.slow_disk)
        eventually(lambda: not spool.exists(), "the spool is empty")
        listener.kill()
        power_failure(self.disk, self.platter)
        self.assert_kept(str(store), senders)


class PowerLossOfACollector(PowerCase):
    """The power fails when samples have waited in the collector's spool for some seconds."""

    def test_spool(self):
        spool = self.disk / "spool"
        words = [WEIR, "collect", "--root", DATA + "/telemetry/tofu", "--node", "io1", "--forward", "127.0.0.1:1", "--spool", spool]
        collector = subprocess.Popen([*words, "--interval", "1s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     stdin=subprocess.DEVNULL, env=os.environ | self.slow_disk)
        self.addCleanup(lambda: collector.poll() is None and collector.kill())
        eventually(lambda: spool.exists() and any(spool.glob("*.chunk")), "a chunk in the spool")
        first = sorted(spool.glob("*.chunk"))[0]
        content, inode = first.read_bytes(), first.stat().st_ino
        folder = self.platter / f"names.{spool.stat().st_ino}"
        eventually(lambda: (self.platter / f"content.{inode}").exists() and folder.exists() and first.name in folder.read_text(),
                   "the chunk on the platter")
        collector.kill()
        collector.wait()
        power_failure(self.disk, self.platter)
        self.assertEqual(first.read_bytes(), content)
        listener = self.listen(self.folder / "site.db")
        sent = subprocess.run([*words[:-3], listener.address, "--spool", spool, "--for", "0s", "--drain", f"{PATIENCE}s"],
                              capture_output=True, text=True, timeout=2 * PATIENCE)
        self.assertIn(" 0 kept in the spool", sent.stderr)
        listener.end()
        self.assertGreaterEqual(len(samples(str(self.folder / "site.db"))), 60)  # the first round and the last


class Postgresql(Killed):
    """The same on PostgreSQL, and the server goes away."""

    test_on_sqlite = None
    test_two_receivers_on_one_store = None

    def setUp(self):
        if not POSTGRESQL:
            self.skipTest("no PostgreSQL server to try it on")
        super().setUp()
        name = f"t{os.getpid()}_{self._testMethodName}"[:60].lower()
        self.store = POSTGRESQL.replace("postgresql:///postgres", f"postgresql:///{name}")
        self.assertNotEqual(self.store, POSTGRESQL)
        self.control("database", name)

    def control(self, *words):
        done = subprocess.run([CONTROL, "--control", *words], capture_output=True, text=True, timeout=2 * PATIENCE,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_on_postgresql(self):
        self.killed_receiver(self.store)

    def test_server_away_and_back(self):
        spool = self.folder / "spool.db"
        listener = self.listen(self.store, "--spool", spool, "--spool-retry", "0.2")
        senders = self.send(listener)
        senders.wait_for_more(5)
        self.control("stop")
        senders.wait_for_more(5)  # acknowledged all the same: they are in the spool
        self.assertGreaterEqual(listener.times_said("store is away"), 1)
        self.assertTrue(spool.exists())
        self.control("start")
        eventually(lambda: listener.times_said("store is back") >= 1, "the store is back")
        senders.wait_for_more(5)

        self.control("stop")
        senders.wait_for_more(5)
        listener.kill()
        listener.start()  # with the store away and samples in the spool
        senders.wait_for_more(5)
        self.control("start")
        eventually(lambda: listener.times_said("store is back") >= 2, "the store is back again")
        senders.wait_for_more(5)
        senders.stop()
        listener.end()
        self.assertFalse(spool.exists(), "all is delivered, and the spool is still there: " + listener.said())
        self.assert_kept(self.store, senders)


if __name__ == "__main__":
    unittest.main(verbosity=2)
