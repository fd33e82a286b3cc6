#!/usr/bin/env python3
"""The program and the library as others use them: installed; the library found by CMake and
linked with the example programs.

Usage: package_test.py BUILD_FOLDER EXAMPLES_FOLDER
"""
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, EXAMPLES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=200)


def free_ports(count):
    """Ports nobody uses now; held together, so that they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "prefix")

    def build(self, example):
        folder = self.folder / example
        run("cmake", "-S", EXAMPLES / example, "-B", folder,
            f"-DCMAKE_PREFIX_PATH={self.folder / 'prefix'}")
        run("cmake", "--build", folder)
        return folder / example

    def test_program_runs_where_it_is_installed(self):
        run(self.folder / "prefix/bin/conclave", "list")

    def test_bill_of_materials_names_what_the_program_is_made_of(self):
        bill = json.loads((self.folder / "prefix/share/doc/conclave/sbom.cdx.json").read_text())
        versions = {part["name"]: part["version"] for part in bill["components"]}
        for name in ("libssl3", "libsqlite3-0", "libcli11-dev",
                     "third_party/uplot/uPlot.iife.min.js"):
            self.assertIn(name, versions)
        self.assertTrue(all(versions[name] for name in versions if name.startswith("lib")))

    def test_building_the_program_builds_all_that_is_installed(self):
        """So that `cmake --install` works after ./demo, which builds one target."""
        inputs = subprocess.run(["ninja", "-C", BUILD, "-t", "inputs", "conclave"], check=True,
                                capture_output=True, text=True, timeout=100).stdout.split()
        self.assertIn("package/libconclave_election.a", inputs)

    def test_installs_one_header(self):
        self.assertEqual([path.name for path in (self.folder / "prefix/include").rglob("*.hpp")],
                         ["election.hpp"])

    def test_example_elects_one_leader(self):
        self.elect(self.build("elect"), 3)

    def test_example_with_a_fence_keeps_former_leaders_out(self):
        program, store = self.build("fenced"), self.folder / "store"
        members = [f"127.0.0.1:{port}" for port in free_ports(3)]
        processes = [subprocess.Popen([program, str(index), store, *members], text=True,
                                      stdout=subprocess.PIPE) for index in range(3)]
        self.addCleanup(lambda: [process.kill() for process in processes])
        first = self.await_token(store, 1)
        store.write_text(f"{first + 1} 1000\n")  # as if a later leader had been there
        time.sleep(1)
        self.assertEqual(store.read_text(), f"{first + 1} 1000\n")
        for process in processes:  # each leads in its turn, or never, and hands over
            process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        outputs = [process.communicate(timeout=100)[0] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0, 0])
        self.assertIn(f"refused at 1000 with token {first}", "".join(outputs))

    def await_token(self, store, least):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if store.exists() and (words := store.read_text().split()) and int(words[0]) >= least:
                return int(words[0])
            time.sleep(0.05)
        return self.fail("no leader has written")

    def elect(self, program, count):
        members = [f"127.0.0.1:{port}" for port in free_ports(count)]
        processes = [subprocess.Popen([program, str(self_index), *members], text=True,
                                      stdout=subprocess.PIPE) for self_index in range(count)]
        lines = [process.communicate(timeout=100)[0].strip() for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * count, lines)
        winner = next(index for index, line in enumerate(lines) if line.startswith("won term "))
        term = lines[winner].split()[-1]
        for index, line in enumerate(lines):
            if index != winner:
                self.assertEqual(line, f"lost term {term} to {winner}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
