#!/usr/bin/python3
"""Real clients against the forward server: python3-fluent-logger, and the protocol's forms packed by python3-msgpack.

test_forward.py FORWARD_SINK. Exit code 77 (skipped) where a package is missing.
"""

import gzip
import hashlib
import json
import os
import socket
import subprocess
import sys
import unittest

try:
    import msgpack
    from fluent import asyncsender, sender
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SINK = sys.argv.pop(1)
PATIENCE = 60


class Sink:
    """A running forward_sink; leaving the block ends it, and `samples` and `tally` are what it said."""

    def __init__(self, key=None):
        self.process = subprocess.Popen([SINK] + ([key] if key else []), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        out, self.problems = self.process.communicate(timeout=PATIENCE)
        lines = [json.loads(line) for line in out.splitlines()]
        self.tally = lines.pop()
        self.samples = lines

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def values(self):
        return sorted(sample["value"] for sample in self.samples)


def record(value):
    return {"node": "io1", "link": "X+", "bytes": value}


def receive(connection):
    unpacker = msgpack.Unpacker(raw=True)
    while True:
        data = connection.recv(4096)
        if not data:
            return None
        unpacker.feed(data)
        for message in unpacker:
            return message


def acknowledged(sink, message):
    with sink.connect() as connection:
        connection.sendall(msgpack.packb(message))
        return receive(connection)


class Clients(unittest.TestCase):
    def test_fluent_logger(self):
        with Sink() as sink:
            for precise in (False, True):
                logger = sender.FluentSender("tofu", host="127.0.0.1", port=sink.port, timeout=PATIENCE, nanosecond_precision=precise)
                for value in range(100):
                    self.assertTrue(logger.emit_with_time("stats", 1564617600.5 if precise else 1564617600, record(value)))
                logger.close()
        self.assertEqual(sink.values(), sorted(2 * list(range(100))), sink.problems)
        self.assertEqual({sample["time"] for sample in sink.samples}, {1564617600000000000, 1564617600500000000})
        self.assertEqual(sink.samples[0]["counter"], "link.bytes")
        self.assertEqual(sink.tally["clients"], 2)
        self.assertEqual(sink.tally["rejected"], 0)

    def test_fluent_logger_in_the_background(self):
        with Sink() as sink:
            logger = asyncsender.FluentSender("tofu", host="127.0.0.1", port=sink.port, timeout=PATIENCE, queue_circular=False)
            for value in range(100):
                logger.emit("stats", record(value))
            logger.close()
        self.assertEqual(sink.values(), list(range(100)), sink.problems)

    def test_all_modes_with_acknowledgement(self):
        time = msgpack.ExtType(0, (1564617600).to_bytes(4, "big") + (7).to_bytes(4, "big"))
        packed = b"".join(msgpack.packb([time, record(value)]) for value in (3, 4))
        modes = {
            b"message": ["t", time, record(1), {"chunk": "message"}],
            b"forward": ["t", [[time, record(2)], [1564617600, record(9)]], {"chunk": "forward", "size": 2}],
            b"binary": ["t", packed, {"chunk": "binary"}],
            b"text": ["t", packed.decode("latin-1"), {"chunk": "text"}],
            b"gzip": ["t", gzip.compress(packed) + gzip.compress(packed), {"chunk": "gzip", "compressed": "gzip"}],
        }
        with Sink() as sink:
            for name, message in modes.items():
                if name == b"text":
                    continue
                self.assertEqual(acknowledged(sink, message), {b"ack": name})
            # fluentd sends PackedForward as str: the same bytes under another type.
            with sink.connect() as connection:
                connection.sendall(b"\x93\xa1t\xdb" + len(packed).to_bytes(4, "big") + packed + msgpack.packb({"chunk": "text"}))
                self.assertEqual(receive(connection), {b"ack": b"text"})
            with sink.connect() as connection:
                connection.sendall(msgpack.packb(None))  # a heartbeat
        self.assertEqual(sink.values(), [1, 2, 3, 3, 3, 3, 4, 4, 4, 4, 9], sink.problems)

    def test_bytes_one_at_a_time(self):
        with Sink() as sink:
            with sink.connect() as connection:
                for byte in msgpack.packb(["t", 5, record(6), {"chunk": "c"}]):
                    connection.sendall(bytes([byte]))
                self.assertEqual(receive(connection), {b"ack": b"c"})
        self.assertEqual(sink.values(), [6])

    def shake_hands(self, connection, key):
        helo = receive(connection)
        self.assertEqual(helo[0], b"HELO")
        nonce = helo[1][b"nonce"]
        salt = os.urandom(16)
        digest = hashlib.sha512(salt + b"python" + nonce + key).hexdigest()
        connection.sendall(msgpack.packb(["PING", "python", salt, digest, "", ""]))
        return salt, nonce, receive(connection)

    def test_shared_key(self):
        with Sink("secret") as sink:
            with sink.connect() as connection:
                salt, nonce, pong = self.shake_hands(connection, b"secret")
                self.assertEqual(pong[:2], [b"PONG", True])
                expected = hashlib.sha512(salt + pong[3] + nonce + b"secret").hexdigest().encode()
                self.assertEqual(pong[4], expected)
                connection.sendall(msgpack.packb(["t", 5, record(6), {"chunk": "c"}]))
                self.assertEqual(receive(connection), {b"ack": b"c"})
            with sink.connect() as connection:
                _, _, pong = self.shake_hands(connection, b"guess")
                self.assertEqual(pong[:3], [b"PONG", False, b"shared_key mismatch"])
                self.assertIsNone(receive(connection))
            with sink.connect() as connection:  # without any greeting
                connection.sendall(msgpack.packb(["t", 5, record(7), {"chunk": "c"}]))
                self.assertEqual(receive(connection)[0], b"HELO")
                self.assertIsNone(receive(connection))
        self.assertEqual(sink.values(), [6], sink.problems)
        self.assertEqual((sink.tally["clients"], sink.tally["refused"], sink.tally["broken"]), (1, 1, 1))

    def test_wrong_records_are_counted_and_the_rest_kept(self):
        with Sink() as sink:
            entries = [[1, record(1)], [1, {"node": "n"}], [1, {"node": "n", "link.bytes": -1}], [1, [[[]]]], [1, record(2)]]
            self.assertEqual(acknowledged(sink, ["t", entries, {"chunk": "c"}]), {b"ack": b"c"})
        self.assertEqual(sink.values(), [1, 2])
        self.assertEqual(sink.tally["rejected"], 3)
        self.assertIn("127.0.0.1:", sink.problems)

    def test_stops_at_a_signal_with_clients_connected(self):
        with Sink() as sink:
            connection = sink.connect()
            connection.sendall(msgpack.packb(["t", 5, record(6)]))
        connection.close()
        self.assertEqual(sink.process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
