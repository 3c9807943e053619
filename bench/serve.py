#!/usr/bin/env python3
"""How fast `labelchain serve` answers, and what it survives. Standard library only.

    python3 bench/serve.py [PROGRAM] [--seconds 8] [--clients 16]

PROGRAM is target/release/labelchain unless given. The service and the clients share this machine: the clients
are processes that write requests of one row to connections they keep, and each waits for its answer, so that
what is measured is the service less what the clients take of the same cores. Everything is on loopback, bounded
in time, and ends by itself.

1. throughput: as many requests as the clients can have answered;
2. latency: half of that number a second, at times fixed beforehand; a request that starts late because the one
   before it took long counts from when it should have started, so that a stall is not left out;
3. a thousand idle connections, slow clients, and bodies that are no requests, with health asked meanwhile;
4. killed under load and started again: how long clients have no answer;
5. memory before and after all of it.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time


def start(program, port=0, *arguments):
    """The service and its port. It serves the demo's model."""
    command = [program, "serve", "--port", str(port), *arguments]
    # It logs every request, as it does unless it is told not to, and nobody keeps it.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = child.stdout.readline()
    return child, int(line.rstrip("/\n").rsplit(":", 1)[1])


def request(body, path="/v1/predict"):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection:
    """A connection that is kept, and reads exactly one answer at a time."""

    def __init__(self, port, timeout=30):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def ask(self, bytes_):
        self.socket.sendall(bytes_)
        return self.read()

    def read(self):
        """Status and body."""
        while (end := self.rest.find(b"\r\n\r\n")) < 0:
            self.more()
        head = self.rest[:end].lower()
        at = head.index(b"content-length:") + 15
        length = int(head[at : head.find(b"\r", at) if b"\r" in head[at:] else None])
        while len(self.rest) < end + 4 + length:
            self.more()
        body = self.rest[end + 4 : end + 4 + length]
        self.rest = self.rest[end + 4 + length :]
        return int(head[9:12]), body

    def more(self):
        got = self.socket.recv(65536)
        if not got:
            raise ConnectionError("closed")
        self.rest += got


def rows(port, n):
    """Requests of one row each, around the example."""
    connection = Connection(port)
    _, body = connection.ask(b"GET /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n")
    columns = json.loads(body)["columns"]
    draw = random.Random(1)
    one = lambda: {c["name"]: round(c["example"] + draw.gauss(0, 1), 4) for c in columns}
    return [request(json.dumps({"rows": [one()]}).encode()) for _ in range(n)]


def flood(port, requests, until, out):
    connection, n = Connection(port), 0
    while time.monotonic() < until:
        status, _ = connection.ask(requests[n % len(requests)])
        assert status == 200, status
        n += 1
    out.put(n)


def paced(port, requests, first, every, n, out):
    """Asks at first, first + every, …; what an answer took counts from then."""
    connection, took = Connection(port), []
    for at in range(n):
        due = first + at * every
        if (wait := due - time.monotonic()) > 0:
            time.sleep(wait)
        status, _ = connection.ask(requests[at % len(requests)])
        assert status == 200, status
        took.append(time.monotonic() - due)
    out.put(took)


def in_processes(n, target, arguments):
    out = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=target, args=(*arguments(at), out)) for at in range(n)]
    for worker in workers:
        worker.start()
    found = [out.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(10)
    return found


def memory(child):
    """Resident megabytes now, and the most there were."""
    with open(f"/proc/{child.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))


def seconds_of_processor(child):
    fields = open(f"/proc/{child.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] * 1000


def health(port):
    """Milliseconds until the service says that it is there."""
    begin = time.monotonic()
    status, _ = Connection(port).ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert status == 200
    return (time.monotonic() - begin) * 1000


def throughput(child, port, requests, clients, seconds):
    until, before = time.monotonic() + seconds, seconds_of_processor(child)
    n = sum(in_processes(clients, flood, lambda at: (port, requests[at::clients], until)))
    spent = seconds_of_processor(child) - before
    print(f"throughput: {n / seconds:,.0f} requests a second of one row ({clients} clients, {seconds} s)")
    print(f"  the service took {1e6 * spent / n:.0f} microseconds of processor a request, {spent / seconds:.2f} cores")
    return n / seconds


def latency(port, requests, clients, rate, seconds):
    first, every = time.monotonic() + 1, clients / rate
    arguments = lambda at: (port, requests[at::clients], first + at / rate, every, int(seconds / every))
    took = [one for part in in_processes(clients, paced, arguments) for one in part]
    middle, most = quantile(took, 0.5), quantile(took, 0.99)
    print(f"latency at {rate:,.0f} requests a second: p50 {middle:.2f} ms, p99 {most:.2f} ms, worst {max(took) * 1000:.1f} ms")
    return most


def hostile(child, port, seconds):
    """A thousand idle connections, a hundred slow clients, and bodies that are no requests."""
    draw = random.Random(2)
    idle = [Connection(port) for _ in range(1000)]
    slow = [Connection(port) for _ in range(100)]
    for one in slow:
        one.socket.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n{")
    statuses, waits, until = {}, [], time.monotonic() + seconds
    n = 0
    while time.monotonic() < until:
        n += 1
        body = draw.choice([
            b"", b"{", b"[]", b'{"rows":7}', b'{"rows":[{"x1":"a"}]}', b'{"rows":[{"no":1}]}', b"[" * 5000,
            bytes(draw.randrange(256) for _ in range(200)), b'{"rows":[' + b"{}," * 2000 + b"{}]}",
            b'{"rows":[{"x1":"' + b"y" * 9_000_000 + b'"}]}' if n % 20 == 0 else b"null",
        ])
        try:
            status, _ = Connection(port).ask(request(body))
        except OSError:
            # A body that is too large is refused while it is sent.
            status = "closed"
        statuses[status] = statuses.get(status, 0) + 1
        if n % 20 == 0:
            waits.append(health(port))
            for one in slow:
                try:
                    one.socket.sendall(b" ")
                except OSError:
                    pass
    answers = ", ".join(f"{n} of {status}" for status, n in sorted(statuses.items(), key=str))
    print(f"hostile: 1,000 idle and 100 slow connections, {n} bodies that are no requests: answers {answers}")
    print(f"  health meanwhile: worst {max(waits):.1f} ms; the service {'is up' if child.poll() is None else 'IS DOWN'}")
    for one in idle + slow:
        one.socket.close()
    assert child.poll() is None and not set(statuses) - {200, 400, 413, 422, "closed"}, statuses


def restart(program, child, port, requests):
    """Kills the service while four clients ask, starts it again on the same port, and says for how long a client
    had no answer. A client whose connection breaks makes another one and asks again."""
    until, gaps, statuses = time.monotonic() + 4, [], set()

    def insist():
        connection, answered, longest = None, time.monotonic(), 0
        while time.monotonic() < until:
            try:
                connection = connection or Connection(port, timeout=5)
                statuses.add(connection.ask(requests[0])[0])
                longest = max(longest, time.monotonic() - answered)
                answered = time.monotonic()
            except OSError:
                connection = None
                time.sleep(0.005)
        gaps.append(longest)

    clients = [threading.Thread(target=insist) for _ in range(4)]
    for client in clients:
        client.start()
    time.sleep(1)
    child.kill()
    child.wait()
    again, _ = start(program, port)
    for client in clients:
        client.join()
    assert statuses == {200}, statuses
    print(f"killed under load and started again, which trains the model: no answer for {max(gaps):.2f} s at most")
    return again


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="target/release/labelchain")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--clients", type=int, default=16)
    arguments = parser.parse_args()
    child, port = start(arguments.program)
    try:
        requests = rows(port, 64 * arguments.clients)
        Connection(port).ask(requests[0])
        load = os.getloadavg()[0]
        print(f"{os.cpu_count()} cores, load before the measurement {load:.1f}; service and clients share them")
        before = memory(child)[0]
        reached = throughput(child, port, requests, arguments.clients, arguments.seconds)
        worst = latency(port, requests, arguments.clients, reached / 2, arguments.seconds)
        at_goal = latency(port, requests, arguments.clients, 1000, arguments.seconds)
        # What is kept for later is kept after the first round; what leaks, after each.
        for _ in range(3):
            hostile(child, port, arguments.seconds)
            latency(port, requests, arguments.clients, reached / 2, arguments.seconds / 2)
            after, most = memory(child)
            print(f"memory: {before:.0f} MB before, {after:.0f} MB after, at most {most:.0f} MB")
        child = restart(arguments.program, child, port, requests)
        begin = time.monotonic()
        child.send_signal(signal.SIGTERM)
        status = child.wait(20)
        print(f"stopped by SIGTERM after {time.monotonic() - begin:.2f} s with status {status}")
        missed = [name for name, is_met in [
            ("2,000 requests a second", reached >= 2000),
            ("p99 under 20 ms at half of what is reached", worst < 20),
            ("p99 under 20 ms at 1,000 a second", at_goal < 20),
        ] if not is_met]
        print("goals: " + ("all reached" if not missed else "missed " + "; ".join(missed)))
        return 0 if status == 0 else 1
    finally:
        if child.poll() is None:
            child.kill()


if __name__ == "__main__":
    sys.exit(main())
