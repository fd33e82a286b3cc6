#!/usr/bin/env python3
"""A minute of tools/chaos; and its checks, which must find what is wrong where something is.

Usage: chaos_test.py BINARY TOOL [unittest arguments]
"""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import unittest

BINARY, TOOL = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("chaos", str(TOOL))
chaos = importlib.util.module_from_spec(importlib.util.spec_from_loader("chaos", LOADER))
LOADER.exec_module(chaos)


def write(begin, end, value):
    return chaos.Operation(begin, end, "write", value)


def read(begin, end, value):
    return chaos.Operation(begin, end, "read", value)


class Checks(unittest.TestCase):
    def test_find_histories_that_are_not_linearizable(self):
        good = ([write(0, 1, 1), read(2, 3, 1)],
                [write(0, 5, 1), read(1, 2, 0), read(3, 4, 1)],  # the write takes effect between
                [write(0, 9, 1), write(0, 9, 2), read(1, 8, 1), read(10, 11, 2)])
        bad = ([write(0, 1, 1), read(2, 3, 0)],  # an acknowledged write is lost
               [write(0, 1, 1), write(2, 3, 2), read(4, 5, 1)],
               [write(0, 5, 1), read(1, 2, 1), read(3, 4, 0)])  # reads go back in time
        self.assertEqual([chaos.linearizable(history) for history in good], [True] * 3)
        self.assertEqual([chaos.linearizable(history) for history in bad], [False] * 3)

    def test_find_two_leases_at_once(self):
        self.assertIsNone(chaos.two_leases([(1, 1, 0), (2, 1, 0), (3, 2, 4), (9, 2, 4)]))
        self.assertIsNotNone(chaos.two_leases([(1, 1, 0), (3, 2, 4), (4, 1, 0)]), "terms go back")
        self.assertIsNotNone(chaos.two_leases([(1, 1, 0), (5, 1, 3)]), "a term of two members")

    def test_find_a_register_without_its_fence(self):
        register = chaos.Register(chaos.random.Random(1))
        self.assertEqual(register.access(2, 1), (True, 1))
        self.assertEqual(register.access(1, 2), (False, None))
        self.assertEqual((register.accepted, register.refused), ([2], 1))


class Trial(unittest.TestCase):
    def test_of_a_minute_finds_nothing_wrong(self):
        result = subprocess.run([sys.executable, TOOL, BINARY, "--seconds", "60"], text=True,
                                capture_output=True, timeout=800)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
