#!/usr/bin/env python3
"""The library as others use it: installed, found by CMake, linked with the example program.

Usage: package_test.py BUILD_FOLDER EXAMPLE_FOLDER
"""
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

BUILD, EXAMPLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


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
    def test_installs_and_the_example_elects_one_leader(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run("cmake", "--install", BUILD, "--component", "election",
                "--prefix", folder / "prefix")
            self.assertEqual([path.name for path in (folder / "prefix/include").rglob("*.hpp")],
                             ["election.hpp"])
            run("cmake", "-S", EXAMPLE, "-B", folder / "build",
                f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")
            run("cmake", "--build", folder / "build")
            self.elect(folder / "build/elect", 3)

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
