#!/usr/bin/env python3
"""Elections between real processes, as their operators see them.

Usage: election_test.py BINARY [unittest arguments]

Without arguments, tests that mostly wait run side by side. CONCLAVE_LOST_FILES=30 tries the lost
file so many times.
"""
import concurrent.futures
import contextlib
import fcntl
import heapq
import json
import os
import pathlib
import queue
import random
import re
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from processes import wait_until

BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None


def conclave(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300)


def elections(*words):
    result = conclave("cluster", *words, "--format", "jsonl")
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


SIDE_BY_SIDE = 6
PORTS = 10000 // SIDE_BY_SIDE  # for each of them, from 20000 on
BLOCK = "CONCLAVE_PORT_BLOCK"  # the environment tells which are ours


def first_port():
    """The first of a hundred ports that are free now."""
    block = os.environ.get(BLOCK)
    first = 20000 + PORTS * int(block or 0)
    while True:
        port = random.randrange(first, first + PORTS - 100 if block else 30000)
        with contextlib.suppress(OSError):
            for each in range(port, port + 100):
                socket.create_server(("127.0.0.1", each)).close()
            return port


def answer_of(path, page):
    """The page of a member's status socket; None while there is none."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(path))
            client.sendall(f"GET {page} HTTP/1.0\r\n\r\n".encode())
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        except OSError:
            return None
    return answer.partition(b"\r\n\r\n")[2].decode() if answer else None


def ask(path):
    """The status that a member tells; None while it tells none."""
    answer = answer_of(path, "/")
    return json.loads(answer) if answer else None


class Cluster(unittest.TestCase):
    def test_elects_one_leader_with_certificates_as_the_simulator_foretells(self):
        for words in (("--n", "20"), ("--n", "20", "--wakeup", "one")):
            row, = elections(*words)
            self.assertTrue(row["secure"] and row["elected"])
            self.assertEqual((row["leaders"], row["informed"], row["term"]), (1, 20, 1))
            self.assertAlmostEqual(row["messages_per_process"],
                                   row["simulator_messages_per_process"],
                                   delta=0.1 * row["simulator_messages_per_process"])

    def test_elects_one_leader_a_hundred_times_among_fifty_processes(self):
        found = elections("--n", "50", "--insecure", "--elections", "100")
        self.assertEqual(len(found), 100)
        for row in found:
            self.assertEqual((row["elected"], row["leaders"], row["informed"]), (True, 1, 50))
            self.assertLess(abs(row["messages_per_process"]
                                / row["simulator_messages_per_process"] - 1), 0.1)
        self.assertGreater(len({row["leader"] for row in found}), 20)

    def test_of_one_process_needs_no_message(self):
        row, = elections("--n", "1", "--insecure")
        self.assertEqual((row["elected"], row["messages"]), (True, 0))

    def test_says_that_it_is_insecure_and_prints_a_table(self):
        result = conclave("cluster", "--n", "3", "--insecure")
        self.assertIn("on loopback only", result.stderr)
        self.assertRegex(result.stdout, r"leader [012] of 3 processes, term 1, known to 3; 1 lead")

    def test_refuses_what_it_cannot_do(self):
        for words, sentence in ((("--n", "0"), "--n"), (("--wakeup", "none"), "wake-up"),
                                (("--format", "xml"), "format"), (("init", "x", "--n", "0"), "--n"),
                                (("init", "x", "--cluster", "a b"), "cluster name")):
            result = conclave("cluster", *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(sentence, result.stderr)


class Machines(unittest.TestCase):
    """Members with configurations, certificates and state files, in a folder of their own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.processes = {}
        self.addCleanup(self.stop_all)

    def init(self, count, extra="", *words):
        result = conclave("cluster", "init", str(self.folder), "--n", str(count),
                          "--port", str(first_port()), *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        for member in range(count):
            path = self.config(member)
            text = path.read_text().replace("# status", "status") + extra
            path.write_text(text)

    def config(self, member):
        return self.folder / f"member-{member}.toml"

    def start(self, member, *words, prefix=(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
              **settings):
        self.processes[member] = subprocess.Popen(
            [*prefix, BINARY, "node", "--config", self.config(member), *words],
            stdout=stdout, stderr=stderr, text=True, **settings)

    def kill(self, member):
        process = self.processes.pop(member)
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def stop_all(self):
        for member in list(self.processes):
            self.kill(member)

    def status(self, member):
        return ask(self.folder / f"member-{member}.sock")

    def told(self, member):
        """Its status, which it may give late where the machine is busy."""
        wait_until(lambda: self.status(member), f"an answer of member {member}")
        return self.status(member)

    def leads(self, member):
        status = self.status(member)
        return status is not None and status["leads"]

    def await_leader(self, members, seconds=100):
        """The leader that all of them know and that has its lease; never two leases on the way."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            known = [self.status(member) for member in members]
            leaders = {each and each["leader"] for each in known}
            if len(leaders) == 1 and None not in leaders:
                leader, = leaders
                if leader in members and self.leads(leader):
                    return leader
            time.sleep(0.05)
        self.fail(f"no leader of {members}: {known}")


class Nodes(Machines):
    def test_print_the_leader_and_exit(self):
        self.init(3)
        for member in range(3):
            self.start(member, *(["--wait"] if member else []))
        lines = set()
        for member in range(3):
            output, errors = self.processes.pop(member).communicate(timeout=60)
            lines.add(output.replace(", this member", ""))
            self.assertEqual(errors, "")
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines.pop(), r"\Aleader [012] \(127\.0\.0\.1:\d+\), term 1\n\Z")

    def test_elect_again_when_processes_are_killed_at_random_moments(self):
        self.init(5, extra="[timing]\nlease_ms = 600\n")
        coins = random.Random(1)
        for member in range(5):
            self.start(member, "--stay")
        term = 0
        for _ in range(6):
            time.sleep(coins.random())
            killed = coins.sample(range(5), 2)
            for member in killed:
                self.kill(member)
            leader = self.await_leader([each for each in range(5) if each not in killed])
            self.assertGreaterEqual(self.told(leader)["term"], term)
            term = self.told(leader)["term"]
            for member in killed:
                self.start(member, "--stay")
        self.await_leader(list(range(5)))

    def test_tell_a_latecomer_who_leads(self):
        self.init(3, extra="[timing]\nlease_ms = 2000\n")
        self.start(0, "--stay")
        self.start(1, "--stay")
        leader = self.await_leader([0, 1])
        self.start(2, "--stay")
        self.assertEqual(self.await_leader([0, 1, 2]), leader)

    def test_without_a_majority_have_no_leader_and_say_so(self):
        self.init(3, extra="give_up_s = 2\n[timing]\nlease_ms = 300\n")
        self.start(0)
        process = self.processes.pop(0)
        errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 3, errors)
        self.assertRegex(errors, r"no leader after 2 s; \d of 2 other members do not answer")

    def test_refuse_a_port_in_use_and_a_running_twin(self):
        self.init(2)
        self.start(0, "--stay")
        while self.status(0) is None:
            time.sleep(0.05)
        twin = conclave("node", "--config", str(self.config(0)))
        self.assertEqual(twin.returncode, 2)
        self.assertIn("another process uses", twin.stderr)
        text = self.config(0).read_text()
        self.config(0).write_text(text.replace('state = "', 'state = "other-'))
        twin = conclave("node", "--config", str(self.config(0)))
        self.assertEqual(twin.returncode, 2)
        self.assertRegex(twin.stderr, r"cannot listen on 127\.0\.0\.1:\d+: Address already in use")

    def test_say_what_is_wrong_with_a_status_path_or_an_open_configuration(self):
        self.init(1)
        occupied = self.folder / "member-0.sock"
        occupied.write_text("notes")
        refused = conclave("node", "--config", str(self.config(0)))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("member-0.sock' is there and no socket", refused.stderr)
        self.assertEqual(occupied.read_text(), "notes")
        self.config(0).chmod(0o666)
        refused = conclave("node", "--config", str(self.config(0)))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("others can change it (mode 666)", refused.stderr)

    def test_refuse_another_members_certificate_and_an_open_key(self):
        self.init(2)
        path = self.config(0)
        path.write_text(path.read_text().replace("member-0.pem", "member-1.pem")
                        .replace("member-0.key", "member-1.key"))
        result = conclave("node", "--config", str(path))
        self.assertEqual(result.returncode, 2)
        self.assertIn("is for member 1", result.stderr)
        os.chmod(self.folder / "member-1.key", 0o644)
        result = conclave("node", "--config", str(self.config(1)))
        self.assertEqual(result.returncode, 2)
        self.assertIn("open to others", result.stderr)


class Logs(Machines):
    """A member outlives whoever reads its lines."""

    def await_another_leader(self, members, killed):
        self.kill(killed)
        others = [each for each in members if each != killed]
        self.assertIn(self.await_leader(others), others)
        for member in others:
            self.assertIsNone(self.processes[member].poll(), f"member {member} has died")

    def test_may_be_full(self):
        self.init(3, extra="[timing]\nlease_ms = 600\n")
        with open("/dev/full", "w", encoding="ascii") as full:
            for member in range(3):
                self.start(member, "--stay", "--verbose", stdout=full, stderr=full)
            self.await_another_leader(range(3), self.await_leader(range(3)))

    def test_may_have_lost_their_readers(self):
        self.init(3, extra="[timing]\nlease_ms = 600\n")
        for member in range(3):
            self.start(member, "--stay", "--verbose")
            self.processes[member].stdout.close()
            self.processes[member].stderr.close()
        leader = self.await_leader(range(3))
        process = self.processes.pop(leader)
        process.kill()
        process.wait()
        others = [each for each in range(3) if each != leader]
        self.assertIn(self.await_leader(others), others)
        for member in others:
            self.assertIsNone(self.processes[member].poll(), f"member {member} has died")
            process = self.processes.pop(member)
            process.kill()
            process.wait()

    def test_may_have_readers_that_sleep(self):
        self.init(3, extra="[timing]\nlease_ms = 600\n")
        ends = []
        for member in range(3):
            reading, writing = os.pipe()
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
            ends += [reading, writing]
            self.start(member, "--stay", "--log", "json", stdout=writing, stderr=writing)
        for _ in range(3):
            leader = self.await_leader(range(3))
            self.kill(leader)
            self.await_leader([each for each in range(3) if each != leader])
            self.start(leader, "--stay", "--log", "json", stdout=ends[1], stderr=ends[1])
        self.await_leader(range(3))
        for end in ends:
            os.close(end)

    def test_may_be_closed_and_then_reach_no_other_file(self):
        self.init(3, extra="[timing]\nlease_ms = 600\n")
        for member in range(3):
            self.start(member, "--stay", "--verbose",
                       prefix=("sh", "-c", 'exec "$@" >&- 2>&-', "-"))
        self.await_another_leader(range(3), self.await_leader(range(3)))
        for member in range(3):
            text = (self.folder / f"member-{member}.state").read_text()
            self.assertNotIn("connected", text)

    def test_are_json_for_machines(self):
        self.init(1)
        self.start(0, "--stay", "--log", "json")
        self.await_leader([0])
        process = self.processes.pop(0)
        process.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in process.communicate(timeout=60)[1].splitlines()]
        events = [line["event"] for line in lines]
        for event in ("started", "won", "leader", "leaving", "ended"):
            self.assertIn(event, events)
        self.assertEqual({(line["cluster"], line["member"]) for line in lines}, {("conclave", 0)})

    def test_of_an_unknown_format_are_refused(self):
        self.init(1)
        result = conclave("node", "--config", str(self.config(0)), "--log", "xml")
        self.assertEqual((result.returncode, "log format" in result.stderr), (2, True))


class Operators(Machines):
    """Operators stop, restart and change members."""

    def time_until_led(self, members, without):
        start = time.monotonic()
        while time.monotonic() < start + 60:
            if any((status := self.status(each)) and status["leads"]
                   for each in members if each != without):
                return time.monotonic() - start
            time.sleep(0.01)
        self.fail("there is no leader")

    def test_end_a_leader_with_sigterm_and_another_leads_long_before_the_lease_is_over(self):
        self.init(3, extra="[timing]\nlease_ms = 15000\n")
        for member in range(3):
            self.start(member, "--stay")
        leader = self.await_leader(range(3))
        term = self.told(leader)["term"]
        process = self.processes.pop(leader)
        process.send_signal(signal.SIGTERM)
        self.assertLess(self.time_until_led(range(3), leader), 7)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        others = [each for each in range(3) if each != leader]
        self.assertEqual(self.told(self.await_leader(others))["term"], term + 1)

    def test_kill_leaders_and_the_median_time_without_one_is_under_1_3_leases(self):
        lease = 3
        self.init(5)
        for member in range(5):
            self.start(member, "--stay")
        times = []
        for _ in range(5):
            leader = self.await_leader(range(5))
            time.sleep(random.random())
            self.kill(leader)
            times.append(self.time_until_led(range(5), leader))
            self.start(leader, "--stay")
        self.assertLess(sorted(times)[2], 1.3 * lease, times)

    def test_renew_and_revoke_certificates_of_a_running_cluster(self):
        self.init(3, extra="[timing]\nlease_ms = 600\n")
        with tempfile.TemporaryDirectory() as other:
            conclave("cluster", "init", other, "--n", "3")  # another authority
            strange = pathlib.Path(other, "member-0.pem").read_text()
        for member in range(3):
            self.start(member, "--stay", "--log", "json")
        self.await_leader(range(3))
        serial = subprocess.run(["openssl", "x509", "-noout", "-serial", "-in",
                                 self.folder / "member-2.pem"], capture_output=True, text=True,
                                check=True).stdout.strip().partition("=")[2]
        own = (self.folder / "member-0.pem").read_text()
        (self.folder / "member-0.pem").write_text(strange)
        self.processes[0].send_signal(signal.SIGHUP)
        self.await_line(0, "not-reloaded")
        (self.folder / "member-0.pem").write_text(own)
        for member in (0, 1):
            path = self.config(member)
            path.write_text(f'revoked = ["{serial}"]\n' + path.read_text())
            self.processes[member].send_signal(signal.SIGHUP)
            self.await_line(member, "reloaded")
        self.assertIn(self.await_leader([0, 1]), (0, 1))
        end = time.monotonic() + 60
        while time.monotonic() < end:
            refusals = [self.told(member)["refusals"].get("revoked", 0) for member in (0, 1)]
            if all(refusals):
                return
            time.sleep(0.1)
        self.fail(f"the revoked certificate is not refused: {refusals}")

    def await_line(self, member, event):
        for line in self.processes[member].stderr:
            if json.loads(line)["event"] == event:
                return
        self.fail(f"member {member} never says {event}")

    def serial(self, member):
        return subprocess.run(["openssl", "x509", "-noout", "-serial", "-in",
                               self.folder / f"member-{member}.pem"], capture_output=True,
                              text=True, check=True).stdout

    def test_renew_certificates_for_three_years_and_the_leader_stays(self):
        """The clocks of all processes go on by 60 days at a time, beyond what certificates of 90
        days are valid for; each time all are renewed, and a follower is killed and started again,
        which shakes hands with the others. Half way another authority takes over."""
        library = next(iter(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)
        library = os.environ.get("CONCLAVE_FAKETIME", library)
        if library is None:
            self.skipTest("needs libfaketime")
        self.init(3, extra="[timing]\nlease_ms = 15000\n")  # on a busy machine, too
        clock = self.folder / "clock"
        clock.write_text("+0d\n")
        env = {**os.environ, "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clock),
               "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
        for member in range(3):
            self.start(member, "--stay", env=env)
        leader = self.await_leader(range(3))
        term = self.told(leader)["term"]
        follower = (leader + 1) % 3
        pems = [str(self.folder / f"member-{each}.pem") for each in range(3)]
        for step in range(1, 20):
            self.kill(follower)
            clock.write_text(f"+{60 * step}d\n")
            if step == 10:
                self.renew(env, pems[0], "--exchange-authority")
            self.renew(env, *pems)
            self.start(follower, "--stay", env=env)
            end = time.monotonic() + 60
            while not (self.status(follower) or {}).get("leader") == leader:
                self.assertLess(time.monotonic(), end, f"no handshake after {60 * step} days")
                time.sleep(0.1)
        for member in range(3):
            told = self.told(member)
            self.assertEqual((told["leader"], told["term"]), (leader, term))
        self.assertGreater(self.told(follower)["certificate_expires_days"], 80)

    def renew(self, env, *words):
        done = subprocess.run([BINARY, "cluster", "renew", *words], capture_output=True, text=True,
                              env=env, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_are_warned_thirty_days_before_a_certificate_expires(self):
        conclave("cluster", "init", str(self.folder), "--n", "1", "--days", "20", "--port",
                 str(first_port()))
        self.start(0, "--stay")
        self.assertIn("expires in 19 days: conclave cluster renew",
                      self.processes[0].stderr.readline())
        before = self.serial(0)
        self.renew(os.environ, str(self.folder / "member-0.pem"))
        self.assertNotEqual(self.serial(0), before)

    def test_are_told_how_slow_disks_and_messages_are_and_when_certificates_end(self):
        self.init(3)
        for member in range(3):
            self.start(member, "--stay")
        leader = self.await_leader(range(3))
        told = self.told(leader)
        page = answer_of(self.folder / f"member-{leader}.sock", "/metrics")
        metrics = dict(line.rsplit(" ", 1) for line in page.splitlines()
                       if not line.startswith("#"))
        for name in ("sync_seconds", "round_trip_seconds"):
            self.assertGreater(told[name], 0)
            value, = [value for key, value in metrics.items()
                      if key.startswith(f"conclave_{name}")]
            self.assertGreater(float(value), 0)
        self.assertIn(told["certificate_expires_days"], (89, 90))
        for name, least in (("certificate_expires_seconds", 89 * 86400),
                            ("state_file_missing", 0)):
            value, = [value for key, value in metrics.items()
                      if key.startswith(f"conclave_{name}")]
            self.assertGreaterEqual(float(value), least)

    def test_are_told_by_the_member_that_it_is_ready_and_that_it_stops(self):
        self.init(1)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(str(self.folder / "notify"))
            supervisor.settimeout(60)
            self.start(0, "--stay",
                       env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "notify")})
            self.assertIn(b"READY=1", supervisor.recv(4096))
            self.processes[0].send_signal(signal.SIGTERM)
            while b"STOPPING=1" not in supervisor.recv(4096):
                pass


class Deployment(Machines):
    """The files in deploy/ fit the program."""

    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy"

    def test_has_a_unit_for_systemd_that_starts_a_member(self):
        unit = (self.FOLDER / "conclave@.service").read_text()
        self.assertIn("\nType=notify\n", unit)
        self.assertIn("\nExecReload=/bin/kill -HUP $MAINPID\n", unit)
        self.init(1)
        words = re.search(r"^ExecStart=/usr/bin/conclave (.*)$", unit, re.M)[1].split()
        words = [word.replace("/etc/conclave/%i", str(self.folder / "member-0")) for word in words]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.bind(str(self.folder / "notify"))
            supervisor.settimeout(60)
            self.processes[0] = subprocess.Popen(
                [BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "notify")})
            self.assertIn(b"READY=1", supervisor.recv(4096))

    def test_has_a_unit_that_little_of_the_machine_is_exposed_to(self):
        analyze = shutil.which("systemd-analyze")
        if analyze is None:
            self.skipTest("needs systemd-analyze")
        unit = self.folder / "conclave@m.service"
        shutil.copy(self.FOLDER / "conclave@.service", unit)
        found = subprocess.run([analyze, "security", "--offline=yes", "--no-pager", unit],
                               capture_output=True, text=True, check=False).stdout
        self.assertLessEqual(float(re.search(r"Overall exposure.*: ([0-9.]+)", found)[1]), 2.0)

    def test_mounts_the_keys_of_one_member_in_its_container(self):
        text = (self.FOLDER / "Containerfile").read_text()
        self.assertNotIn("-v ./demo", text)
        self.assertNotIn("ca.key", text)

    def test_has_a_container_with_the_libraries_of_the_program(self):
        if not shutil.which("dpkg") or not shutil.which("objdump"):
            self.skipTest("needs dpkg and objdump")
        text = (self.FOLDER / "Containerfile").read_text()
        present = re.findall(r"lib[a-z0-9.+-]+", text.partition("bookworm-slim")[2])
        present += ["libc6", "libstdc++6", "libgcc-s1"]  # of which the base consists
        needed = subprocess.run(["objdump", "-p", BINARY], capture_output=True, text=True,
                                check=True).stdout
        loaded = dict(re.findall(r"^\s*(\S+) => (\S+)", subprocess.run(
            ["ldd", BINARY], capture_output=True, text=True, check=True).stdout, re.M))
        for library in re.findall(r"NEEDED +(\S+)", needed):
            path = os.path.realpath(loaded.get(library, library))
            for name in (path, path.removeprefix("/usr")):  # on merged systems both are one
                owner = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True,
                                       check=False).stdout.partition(":")[0]
                if owner:
                    self.assertIn(owner, present, library)


class Cables:
    """The network between members on this machine: each is dialled at a port of ours; what it is
    sent goes on to where it listens, unless the cable between the two is cut. A connection without
    TLS begins with the number of the member that has opened it."""

    def __init__(self, ports, targets):
        self.cut, self.open, self.lock = set(), [], threading.Lock()
        self.servers = []
        for member, (port, target) in enumerate(zip(ports, targets, strict=True)):
            server = socket.create_server(("127.0.0.1", port))
            self.servers.append(server)
            threading.Thread(target=self.serve, args=(server, member, target), daemon=True).start()

    def serve(self, server, member, target):
        with contextlib.suppress(OSError):
            while True:
                near, _ = server.accept()
                threading.Thread(target=self.join, args=(near, member, target), daemon=True).start()

    def join(self, near, member, target):
        with contextlib.suppress(OSError), near:
            near.settimeout(5)
            start = near.recv(8, socket.MSG_WAITALL)
            if len(start) < 8:
                return
            pair = frozenset((member, int.from_bytes(start[4:], "big")))
            near.settimeout(None)
            with socket.create_connection(("127.0.0.1", target)) as far:
                with self.lock:
                    if pair in self.cut:
                        return
                    self.open.append((pair, near, far))
                far.sendall(start)
                back = threading.Thread(target=self.pump, args=(far, near), daemon=True)
                back.start()
                self.pump(near, far)
                back.join()

    @staticmethod
    def pump(source, sink):
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                sink.sendall(part)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut_between(self, one, other):
        pair = frozenset((one, other))
        with self.lock:
            self.cut.add(pair)
            for each, near, far in self.open:
                for end in (near, far) if each == pair else ():
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)

    def mend_between(self, one, other):
        with self.lock:
            self.cut.discard(frozenset((one, other)))

    def close(self):
        for server in self.servers:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()


class LostFiles(Machines):
    LEASE = 0.6

    def write_configs(self, port):
        members = ", ".join(f'"127.0.0.1:{port + each}"' for each in range(3))
        for member in range(3):
            self.config(member).write_text(
                f'cluster = "lost"\nmember = {member}\nmembers = [{members}]\n'
                f'listen = "127.0.0.1:{port + 50 + member}"\ninsecure = true\nstay = true\n'
                f'state = "member-{member}.state"\nstatus = "member-{member}.sock"\n'
                f'[timing]\nlease_ms = {int(1000 * self.LEASE)}\n')

    def found(self):
        """First state files, with which no promise in term 1 is made."""
        for member in range(3):
            written = conclave("cluster", "repair", "--config", str(self.config(member)),
                               "--term", "1")
            self.assertEqual(written.returncode, 0, written.stderr)

    def repair(self, *words):
        return conclave("cluster", "repair", "--config", str(self.config(0)), *words)

    def test_are_repaired_with_a_term_and_with_another_list(self):
        port = first_port()
        self.write_configs(port)
        state = self.folder / "member-0.state"
        self.assertIn("is missing", self.repair().stdout)
        self.assertEqual(self.repair("--term", "17").returncode, 0)
        self.assertIn("is sound: no promise in terms up to 17", self.repair().stdout)
        state.write_text(state.read_text().replace("term 17", "term 9"))
        node = conclave("node", "--config", str(self.config(0)))
        self.assertEqual(node.returncode, 2)
        self.assertIn("its checksum does not fit", node.stderr)
        self.assertEqual(self.repair().returncode, 2)
        self.assertEqual(self.repair("--term", "18446744073709551614").returncode, 2)
        self.assertEqual(self.repair("--term", "18").returncode, 0)
        self.assertIn("term 9\n", (self.folder / "member-0.state.damaged").read_text())
        text = self.config(0).read_text()
        self.config(0).write_text(text.replace("members = [", 'members = ["127.0.0.1:1", '))
        node = conclave("node", "--config", str(self.config(0)))
        self.assertEqual(node.returncode, 2)
        self.assertRegex(node.stderr, r"another list of members \(3 members, .*, not 4 members")
        self.assertEqual(self.repair("--term", "18").returncode, 0)
        self.assertIn("is sound", self.repair().stdout)

    def scene(self, is_put_back):
        """The leader sees the second member only, which dies, loses its file or gets an old one
        back, and comes back where it sees the third only."""
        port = first_port()
        self.write_configs(port)
        self.found()
        old = {member: (self.folder / f"member-{member}.state").read_bytes() for member in range(3)}
        cables = Cables(range(port, port + 3), range(port + 50, port + 53))
        self.addCleanup(cables.close)
        for member in range(3):
            self.start(member)
        leader = self.await_leader([0, 1, 2])
        second, third = (leader + 1) % 3, (leader + 2) % 3
        cables.cut_between(leader, third)
        time.sleep(1.5 * self.LEASE)
        self.kill(second)
        state = self.folder / f"member-{second}.state"
        state.unlink()
        if is_put_back:
            state.write_bytes(old[second])
            state.chmod(0o600)
        cables.cut_between(leader, second)
        self.start(second)
        return leader, (second, third)

    def test_never_make_two_leaders(self):
        self.check_that_one_leads(False)

    def test_that_are_old_ones_put_back_never_make_two_leaders(self):
        self.check_that_one_leads(True)

    def check_that_one_leads(self, is_put_back):
        for _ in range(int(os.environ.get("CONCLAVE_LOST_FILES", "3"))):
            leader, others = self.scene(is_put_back)
            end = time.monotonic() + 4 * self.LEASE
            while time.monotonic() < end:
                led = self.leads(leader)
                other = any([self.leads(each) for each in others])
                self.assertFalse(led and other and self.leads(leader), "two lead at once")
            waiting = self.told(others[0])
            self.assertEqual((waiting["admitted"], waiting["state_file_missing"]),
                             (False, not is_put_back))
            self.stop_all()
            for file in self.folder.glob("*.state"):
                file.unlink()


class Disasters(Machines):
    """Operators help where members cannot help themselves."""

    def done(self, command, member, *words):
        result = conclave("cluster", command, *map(str, words), "--config",
                          str(self.config(member)))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def run_until_led(self):
        self.init(3, "[timing]\nlease_ms = 600\n")
        for member in range(3):
            self.start(member, "--stay")
        return self.told(self.await_leader(range(3)))["term"]

    def begin_again(self, command, *words):
        """On the first member, then what it prints on the others; returns their new identity."""
        told = self.done(command, 0, *words)
        source, identity = re.search(r"cluster restore (\S+) .*--identity ([0-9a-f]{16})",
                                     told).groups()
        for member in (1, 2):
            self.done("restore", member, source, "--identity", identity)
        return identity

    def test_a_backup_begins_a_cluster_that_refuses_the_old_one(self):
        term = self.run_until_led()
        backup = self.folder / "backup"
        self.done("backup", 0, backup)
        again = conclave("cluster", "backup", str(backup), "--config", str(self.config(0)))
        self.assertEqual(again.returncode, 2)
        self.stop_all()
        old = {path: path.read_bytes() for path in (self.config(2), self.folder / "member-2.state")}
        identity = self.begin_again("restore", backup)
        new = {path: path.read_bytes() for path in old}
        self.assertIn(identity.encode(), new[self.config(2)])
        for path, content in old.items():
            path.write_bytes(content)
        for member in range(3):
            self.start(member, "--stay")
        leader = self.await_leader([0, 1])
        self.assertGreater(self.told(leader)["term"], term + 2 ** 32)
        wait_until(lambda: any(sum(self.told(each)["refusals"].values()) for each in (0, 1)),
                   "a refusal of the old member")
        self.assertIsNone(self.told(2)["leader"])
        self.kill(2)
        for path, content in new.items():
            path.write_bytes(content)
        self.start(2, "--stay")
        self.await_leader([0, 1, 2])

    def test_a_lost_majority_begins_anew_by_force(self):
        term = self.run_until_led()
        self.stop_all()
        for member in (1, 2):
            (self.folder / f"member-{member}.state").unlink()
        self.begin_again("repair", "--force")
        for member in range(3):
            self.start(member, "--stay")
        self.assertGreater(self.told(self.await_leader([0, 1, 2]))["term"], term)

    def test_a_file_that_was_moved_waits_until_it_is_vouched_for(self):
        self.run_until_led()
        self.stop_all()
        state = self.folder / "member-0.state"
        content = state.read_bytes()
        state.unlink()
        state.write_bytes(content)
        state.chmod(0o600)
        for member in (0, 1):
            self.start(member, "--stay")
        self.assertFalse(self.told(0)["admitted"])  # two others are needed, and one is there
        self.assertFalse(self.leads(0) or self.leads(1))
        self.kill(0)
        self.done("repair", 0, "--vouch")
        self.start(0, "--stay")
        self.await_leader([0, 1])


class Twins(Machines):
    """A second process of a member, which has no file or a copy, while the first one lives on."""
    LEASE = 0.6

    def start_twin(self, member, port, takes_copy):
        text = self.config(member).read_text()
        text = re.sub(r'^state = .*', 'state = "twin.state"', text, flags=re.M)
        text = re.sub(r'^(# )?status = .*', 'status = "twin.sock"', text, flags=re.M)
        self.config("twin").write_text(f'listen = "127.0.0.1:{port}"\n' + text)
        if takes_copy:
            state = (self.folder / f"member-{member}.state").read_bytes()
            (self.folder / "twin.state").write_bytes(state)
        self.start("twin", "--stay")

    def scene(self, takes_copy, *words):
        port = first_port()
        self.init(3, f"[timing]\nlease_ms = {int(1000 * self.LEASE)}\n", *words)
        for member in range(3):
            self.start(member, "--stay")
        leader = self.await_leader(range(3))
        self.start_twin(leader, port + 60, takes_copy)
        old, others = self.processes[leader], {0, 1, 2} - {leader}
        term = self.told(min(others))["term"]
        while old.poll() is None:
            led = any(self.leads(each) for each in others)
            self.assertFalse(led and self.leads(leader), "two lead at once")
        self.assertEqual(old.wait(), 4)
        self.assertIn("has taken the place of this one", self.processes.pop(leader).stderr.read())
        status = self.folder / "twin.sock"
        wait_until(lambda: (ask(status) or {}).get("leader") is not None, "a leader")
        self.assertGreater(ask(status)["term"], term)

    def test_without_a_file_takes_the_place_of_the_first(self):
        self.scene(False)

    def test_with_a_copied_file_takes_the_place_of_the_first(self):
        self.scene(True)

    def test_without_a_file_takes_the_place_of_the_first_where_the_list_may_change(self):
        self.scene(False, "--elastic")

    def test_with_a_copied_file_takes_the_place_of_the_first_where_the_list_may_change(self):
        self.scene(True, "--elastic")


class Examples(Machines):
    """The programs of examples/leader, whose leaders are killed, stopped and cut off."""
    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "leader"
    COUNT = 3

    def setUp(self):
        super().setUp()
        self.package = BINARY.parent / "python"
        if not (self.package / "conclave").is_dir():
            self.skipTest("the Python package has not been built")
        port = first_port()
        self.members = [f"127.0.0.1:{port + each}" for each in range(self.COUNT)]
        self.listens = [f"127.0.0.1:{port + 50 + each}" for each in range(self.COUNT)]
        self.cables = Cables(range(port, port + 3), range(port + 50, port + 53))
        self.addCleanup(self.cables.close)
        self.told = []  # by all members, in the order in which they were read

    def start(self, member, program, *words):
        path = f"{self.package}:{os.environ.get('PYTHONPATH', '')}"
        process = subprocess.Popen(
            ["/usr/bin/python3", self.FOLDER / program, str(member), *words, *self.members,
             "--listen", self.listens[member], "--state", self.folder / f"{member}.state",
             "--lease", "0.6", *([] if self.told else ["--founds"])],
            env=os.environ | {"PYTHONPATH": path}, text=True, cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.processes[member] = process
        threading.Thread(target=self.listen_to, args=(member, process), daemon=True).start()

    def listen_to(self, member, process):
        with contextlib.suppress(OSError, ValueError):  # closed when it has been killed
            self.told.extend((member, line.strip()) for line in process.stdout)

    def stop_all(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
            process.stdout.close()
        self.processes.clear()

    def await_work(self, pattern, least):
        """Waits for so many more lines, of which the last names the leader's place and token."""
        def lines():
            return [(member, found) for member, line in list(self.told)
                    if (found := re.fullmatch(pattern, line))]
        before = len(lines())
        wait_until(lambda: len(lines()) >= before + least, f"work; {self.told[-5:]}")
        member, found = lines()[-1]
        return member, int(found["token"])

    def trouble(self, is_free, pattern, program, *words):
        """A leader is killed, the next one cut off, the third one stopped until a fourth one works.
        `is_free` tells whether no transaction is open: a stopped one would block the others."""
        for member in range(self.COUNT):
            self.start(member, program, *words)
        killed, first = self.await_work(pattern, 2)
        process = self.processes.pop(killed)
        process.kill()
        process.wait()
        process.stdout.close()
        leader, second = self.await_work(pattern, 2)
        while leader == killed:
            leader, second = self.await_work(pattern, 1)
        self.assertGreater(second, first)
        self.start(killed, program, *words)
        for other in {0, 1, 2} - {leader}:
            self.cables.cut_between(leader, other)
        cut_off, third = leader, second
        while third == second:
            leader, third = self.await_work(pattern, 1)
        self.assertNotEqual(leader, cut_off)
        self.assertGreater(third, second)
        for other in {0, 1, 2} - {cut_off}:
            self.cables.mend_between(cut_off, other)
        stopped = self.processes[leader]
        stopped.send_signal(signal.SIGSTOP)
        while not is_free():
            stopped.send_signal(signal.SIGCONT)
            time.sleep(0.01)
            stopped.send_signal(signal.SIGSTOP)
        fourth = third
        while fourth == third:
            leader, fourth = self.await_work(pattern, 1)
        stopped.send_signal(signal.SIGCONT)
        self.assertGreater(fourth, third)
        self.await_work(pattern, 3)

    def check_writer(self, is_free, store, rows):
        self.trouble(is_free, r"job \d+ with token (?P<token>\d+)", "writer.py", store)
        self.stop_all()
        done = rows("SELECT job, token FROM done")
        numbers = sorted(int(job.removeprefix("job ")) for job, _ in done)
        self.assertEqual(numbers, list(range(len(done))))  # none twice, none left out
        tokens = [int(token) for _, token in sorted(done, key=lambda row: int(row[0][4:]))]
        self.assertEqual(tokens, sorted(tokens))  # no leader wrote after a later one
        lines = [line for _, line in self.told if line.startswith("job ")]
        self.assertEqual(len(lines), len({line.split()[1] for line in lines}))

    def of_sqlite(self, statement):
        with contextlib.closing(sqlite3.connect(self.folder / "jobs.db", timeout=0)) as database:
            return database.execute(statement).fetchall()

    def is_sqlite_free(self):
        with contextlib.suppress(sqlite3.OperationalError):
            self.of_sqlite("BEGIN IMMEDIATE")
            return True
        return False

    def test_a_writer_on_sqlite_does_no_job_twice(self):
        self.check_writer(self.is_sqlite_free, "jobs.db", self.of_sqlite)

    def test_a_writer_on_postgresql_does_no_job_twice(self):
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        found = subprocess.run(["/usr/bin/python3", "-c", "import psycopg2"], check=False,
                               capture_output=True)
        if not programs or found.returncode != 0:
            self.skipTest("postgresql and python3-psycopg2 are not installed")
        data, user = self.folder / "data", "nobody" if os.geteuid() == 0 else None
        if user:  # PostgreSQL refuses to run as root
            self.folder.chmod(0o755)
            data.mkdir()
            shutil.chown(data, user)

        def run(*words):
            subprocess.run([programs[-1] / words[0], *words[1:]], check=True, user=user,
                           capture_output=True, cwd="/", timeout=120)
        run("initdb", "-D", data, "-U", "jobs", "--auth=trust")
        run("pg_ctl", "-D", data, "-w", "-l", data / "log", "-o",
            f"-c listen_addresses= -c unix_socket_directories={data}", "start")
        self.addCleanup(run, "pg_ctl", "-D", data, "-m", "immediate", "stop")
        where = f"host={data} user=jobs dbname=postgres"

        def rows(statement):
            result = subprocess.run(["psql", "-AtF,", where, "-c", statement], check=False,
                                    text=True, capture_output=True, timeout=60)
            return result.returncode == 0 and [line.split(",")
                                               for line in result.stdout.splitlines()]
        self.check_writer(lambda: rows("SELECT 1 FROM fence FOR UPDATE NOWAIT"), where, rows)

    def test_a_cron_runs_no_slot_twice(self):
        self.trouble(self.is_sqlite_free, r"slot \d+ with token (?P<token>\d+): status 0",
                     "cron.py", "jobs.db", "0.2", "echo $CRON_SLOT >> ran")
        self.stop_all()
        slots = (self.folder / "ran").read_text().split()
        self.assertEqual(len(slots), len(set(slots)))

    def test_a_fence_refuses_a_former_leader(self):
        sys.path.insert(0, str(self.FOLDER))
        self.addCleanup(sys.path.remove, str(self.FOLDER))
        import stores  # beside the examples
        store = stores.open_store(str(self.folder / "jobs.db"))
        self.assertTrue(store.do("a", 3, 0))
        self.assertFalse(store.do("a", 4, 1))
        with self.assertRaises(stores.Refused):
            store.do("b", 3, 0)
        with self.assertRaises(ZeroDivisionError):
            store.do("c", 5, 1, lambda cursor: 1 / 0)
        self.assertEqual((store.last(), store.do("c", 4, 1)), (1, True))


class Changes(Machines):
    """Members that come and go while the cluster runs, with TLS."""

    def change(self, leader, *words):
        return conclave("cluster", *words, "--config", str(self.config(leader)))

    def add(self, leader, address):
        """Adds a member, as soon as enough others have promised to the leader."""
        end = time.monotonic() + 30
        while True:
            added = self.change(leader, "add", "--address", address)
            if "too few members" not in added.stderr or time.monotonic() > end:
                self.assertEqual(added.returncode, 0, added.stderr)
                return added
            time.sleep(0.1)

    def seats(self, member):
        status = self.status(member)
        return status and set(map(int, status["list"]["seats"]))

    def await_seats(self, members, seats):
        end = time.monotonic() + 30
        while any(self.seats(each) != seats for each in members):
            self.assertLess(time.monotonic(), end, [self.status(each) for each in members])
            time.sleep(0.05)

    LEASE = 1.5  # long enough to be renewed in time on a busy machine: leaders stay here

    def found(self, times=f"[timing]\nlease_ms = {int(1000 * LEASE)}\n"):
        port = first_port()
        result = conclave("cluster", "init", str(self.folder), "--n", "3", "--elastic",
                          "--port", str(port))
        self.assertEqual(result.returncode, 0, result.stderr)
        for member in range(3):
            with self.config(member).open("a") as file:
                file.write(times)
            self.start(member)
        return port, self.await_leader(range(3))

    def test_from_three_members_to_four_and_back(self):
        port, leader = self.found()
        follower = (leader + 1) % 3
        address = f"127.0.0.1:{port + 3}"
        refused = self.change(follower, "add", "--address", address)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"member {leader} does", refused.stderr)
        self.assertIn("member 3 gets its seat when it answers", self.add(leader, address).stdout)
        time.sleep(1)
        self.assertEqual(self.seats(leader), {0, 1, 2}, "it has not answered")
        self.start(3)
        self.await_leader(range(4))
        self.await_seats(range(4), {0, 1, 2, 3})
        self.assertEqual(self.change(leader, "remove", str(leader)).returncode, 2)
        removed = self.change(leader, "remove", str(follower))
        self.assertEqual(removed.returncode, 0, removed.stderr)
        output, _ = self.processes.pop(follower).communicate(timeout=60)
        self.assertIn("this member has been removed from the cluster", output)
        rest = sorted({0, 1, 2, 3} - {follower})
        self.await_seats(rest, set(rest))
        self.kill(leader)
        self.await_leader([each for each in rest if each != leader])

    def test_ghosts_get_no_seat_and_the_next_leader_settles_the_list(self):
        port, leader = self.found()
        for address in ("127.0.0.1:0", "0.0.0.0:1"):
            refused = self.change(leader, "add", "--address", address)
            self.assertEqual(refused.returncode, 2, address)
        self.add(leader, f"127.0.0.1:{port + 3}")  # where nobody ever listens
        self.kill(leader)
        rest = [each for each in range(3) if each != leader]
        leader = self.await_leader(rest)
        wait_until(lambda: self.told(leader)["list"]["settled"], "a list settled by the next one")
        self.assertEqual(self.seats(leader), {0, 1, 2})
        other, = set(rest) - {leader}
        refused = self.change(leader, "remove", str(other))  # the rest would be no live majority
        self.assertEqual(refused.returncode, 2)
        self.assertIn("too few members", refused.stderr)
        self.assertEqual(self.seats(leader), {0, 1, 2})

    def test_a_lost_file_is_told_by_the_leader(self):
        _, leader = self.found()
        lost = (leader + 1) % 3
        self.kill(lost)
        (self.folder / f"member-{lost}.state").unlink()
        self.start(lost)
        self.await_leader(range(3))
        self.assertEqual(self.seats(lost), {0, 1, 2})
        self.assertIn("seat 2 ", (self.folder / f"member-{lost}.state").read_text())

    def test_an_added_member_has_all_times_of_the_others(self):
        times = "[timing]\nlease_ms = 1500\nrenewal_ms = 300\nanswer_ms = 1200\n" \
                "clock_drift = 0.02\n"
        port, leader = self.found(times)
        self.add(leader, f"127.0.0.1:{port + 3}")
        self.start(3)
        self.await_leader(range(4))

    def test_an_addition_that_is_refused_leaves_no_files(self):
        port, leader = self.found()
        before = sorted(self.folder.iterdir())
        follower = (leader + 1) % 3
        self.kill(follower)  # with one of three down there is no majority of four
        time.sleep(1.2 * self.LEASE)  # until its promise is over
        refused = self.change(leader, "add", "--address", f"127.0.0.1:{port + 3}")
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("too few members support the leader", refused.stderr)
        self.assertEqual([path for path in sorted(self.folder.iterdir()) if path not in before], [])
        taken = self.change(leader, "add", "--address", f"127.0.0.1:{port}")
        self.assertEqual(taken.returncode, 2)
        self.assertFalse(self.config(3).exists())

    def repair(self, member, *words):
        return conclave("cluster", "repair", "--config", str(self.config(member)), *words)

    def damage(self, member):
        path = self.folder / f"member-{member}.state"
        path.write_text(re.sub(r"^term .*", "term 77", path.read_text(), flags=re.M))

    def test_a_damaged_file_is_forgotten_and_the_leader_tells_the_list(self):
        _, leader = self.found()
        lost = (leader + 1) % 3
        self.assertIn("another process uses", self.repair(lost, "--forget").stderr)
        self.kill(lost)
        self.damage(lost)
        asked = self.repair(lost)
        self.assertEqual(asked.returncode, 2)
        self.assertIn("--forget", asked.stderr)
        without = self.repair(lost, "--term", "99")
        self.assertEqual((without.returncode, "no list" in without.stderr), (2, True))
        self.assertEqual(self.repair(lost, "--forget").returncode, 0)
        self.assertTrue((self.folder / f"member-{lost}.state.damaged").exists())
        self.start(lost)
        self.await_leader(range(3))
        self.assertEqual(self.seats(lost), {0, 1, 2})

    def test_a_majority_that_has_lost_its_files_is_given_a_list_and_a_term(self):
        _, leader = self.found()
        term = self.told(leader)["promised"]
        self.stop_all()
        good, *bad = range(3)
        for member in bad:
            self.damage(member)
        source = str(self.folder / f"member-{good}.state")
        self.assertIn("it holds version 0 of the list", self.repair(good).stdout)
        low = self.repair(good, "--term", "0")
        self.assertEqual(low.returncode, 2)
        for member in bad:
            self.assertEqual(self.repair(member, "--list", source).returncode, 2)
            written = self.repair(member, "--list", source, "--term", str(term))
            self.assertEqual(written.returncode, 0, written.stderr)
        self.assertEqual(self.repair(good, "--term", str(term)).returncode, 0)
        for member in range(3):
            self.start(member)
        self.assertGreater(self.told(self.await_leader(range(3)))["term"], term)

    def test_lists_that_are_fixed_stay_so(self):
        self.init(1)
        self.start(0, "--stay")
        self.await_leader([0])
        result = self.change(0, "remove", "0")
        self.assertEqual((result.returncode, "is fixed" in result.stderr), (2, True))
        self.kill(0)
        result = self.repair(0, "--list", "x", "--term", "1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("whose list may change", result.stderr)


class Relay(threading.Thread):
    """A network that delays, loses and reorders: frames between TAP devices, through this thread.
    It does what tc netem does, also where the kernel has none."""

    LOSS, SHORTEST, LONGEST = 0.05, 0.005, 0.03
    TUNSETIFF, TAP_WITHOUT_HEADER = 0x400454ca, 0x1002

    def __init__(self, names):
        super().__init__(daemon=True)
        self.devices = [os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK) for _ in names]
        for device, name in zip(self.devices, names, strict=True):
            fcntl.ioctl(device, self.TUNSETIFF,
                        struct.pack("16sH22x", name.encode(), self.TAP_WITHOUT_HEADER))
        self.coins, self.waiting, self.count = random.Random(2), [], 0
        self.lost, self.is_stopped = 0, False

    def run(self):
        while not self.is_stopped:
            for device in select.select(self.devices, [], [], self.wait())[0]:
                with contextlib.suppress(OSError):
                    self.take(device, os.read(device, 2048))
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, _, device, frame = heapq.heappop(self.waiting)
                with contextlib.suppress(OSError):
                    os.write(device, frame)
        for device in self.devices:
            os.close(device)

    def wait(self):
        return max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else 0.1

    def take(self, source, frame):
        for device in self.devices:
            if device == source:
                continue
            if self.coins.random() < self.LOSS:
                self.lost += 1
                continue
            self.count += 1
            due = time.monotonic() + self.coins.uniform(self.SHORTEST, self.LONGEST)
            heapq.heappush(self.waiting, (due, self.count, device, frame))


class BadNetworks(Machines):
    """Members in network namespaces of their own."""

    def join_spaces(self, count):
        tag = f"cv{os.getpid() % 10000}x"
        self.spaces = [f"{tag}{member}" for member in range(count)]
        relay = Relay(self.spaces)
        for member, name in enumerate(self.spaces):
            for words in (["netns", "add", name], ["link", "set", name, "netns", name],
                          ["-n", name, "addr", "add", f"10.77.0.{member + 1}/24", "dev", name],
                          ["-n", name, "link", "set", name, "up"]):
                subprocess.run(["ip", *words], check=True, capture_output=True)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        relay.start()
        self.addCleanup(setattr, relay, "is_stopped", True)
        return relay

    def move_apart(self, count):
        for member in range(count):
            path = self.config(member)
            path.write_text(re.sub(r'"127\.0\.0\.1:(\d+)"', lambda port: self.address(int(port[1])),
                                   path.read_text()))

    def address(self, port):
        return f'"10.77.0.{port - self.port + 1}:7000"'

    def test_with_delay_loss_and_reordering_elect_and_elect_again(self):
        self.init(4)
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)", self.config(0).read_text())[1])
        self.move_apart(4)
        try:
            relay = self.join_spaces(4)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"network namespaces or TAP devices are not permitted here: {error}")
        for member in range(4):
            self.start(member, "--stay", prefix=("ip", "netns", "exec", self.spaces[member]))
        leader = self.await_leader(list(range(4)), seconds=90)
        self.kill(leader)
        others = [each for each in range(4) if each != leader]
        self.assertIn(self.await_leader(others, seconds=90), others)
        self.assertGreater(relay.lost, 10)


def names_in(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names_in(test)
        else:
            yield test.id().removeprefix("__main__.")


def run_side_by_side():
    """Whether all tests pass: first those of Cluster, which need all processors."""
    names = list(names_in(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])))
    blocks = queue.SimpleQueue()
    for block in range(SIDE_BY_SIDE):
        blocks.put(block)

    def passes(name):
        block = blocks.get()
        result = subprocess.run([sys.executable, __file__, BINARY, name], capture_output=True,
                                text=True, env={**os.environ, BLOCK: str(block)}, check=False)
        blocks.put(block)
        if result.returncode != 0 or "skipped" in result.stderr:
            print(name, result.stdout, result.stderr, sep="\n", flush=True)
        return result.returncode == 0

    alone = [name for name in names if name.startswith("Cluster.")]
    results = [passes(name) for name in alone]
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results += pool.map(passes, [name for name in names if name not in alone])
    print(f"{sum(results)} of {len(names)} tests pass")
    return all(results)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(0 if run_side_by_side() else 1)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
