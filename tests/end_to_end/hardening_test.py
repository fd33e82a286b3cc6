#!/usr/bin/env python3
"""The program as the loader sees it: its run path, and in release builds what hardens it.

Usage: hardening_test.py PROGRAM BUILD_TYPE
"""
import re
import subprocess
import sys
import unittest

PROGRAM, BUILD_TYPE = sys.argv[1:3]


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, PROGRAM], check=True, timeout=100,
                          capture_output=True, text=True).stdout


class ElfTest(unittest.TestCase):
    def shows(self, option, pattern):
        self.assertTrue(re.search(pattern, readelf(option)), f"readelf {option} lacks {pattern}")


class RunPath(ElfTest):
    def test_names_absolute_folders_only(self):
        """An empty element, or a relative one, loads libraries from the current folder."""
        for path in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", readelf("--dynamic")):
            for folder in path.split(":"):
                self.assertTrue(folder.startswith("/"), f"'{folder}' in {path}")


@unittest.skipUnless(BUILD_TYPE == "Release", "hardening is for release builds")
class Hardening(ElfTest):
    def test_is_position_independent(self):
        self.shows("--file-header", r"Type:\s+DYN")
        self.shows("--dynamic", r"\(FLAGS_1\).*\bPIE\b")

    def test_relocations_are_read_only_after_start(self):
        self.shows("--program-headers", r"\bGNU_RELRO\b")
        self.shows("--dynamic", r"\(FLAGS_1\).*\bNOW\b")

    def test_stack_is_not_executable(self):
        self.shows("--program-headers", r"GNU_STACK(?:\s+0x\w+){5}\s+RW\s")

    def test_stack_is_protected(self):
        self.shows("--dyn-syms", r"\b__stack_chk_fail\b")

    def test_buffers_are_checked(self):
        """The C library's functions with a size check are called, such as __memcpy_chk."""
        self.shows("--dyn-syms", r"\b__\w+_chk@")

    def test_functions_are_landing_pads_and_no_note_claims_more(self):
        """Code that is made at run time and the C library's start files have none."""
        if not re.search(r"Machine:.*X86-64", readelf("--file-header")):
            self.skipTest("x86 only")
        with open(PROGRAM, "rb") as program:
            landings = program.read().count(b"\xf3\x0f\x1e\xfa")  # endbr64
        self.assertGreater(landings, 1000)
        self.assertNotRegex(readelf("--notes"), r"x86 feature:.*(IBT|SHSTK)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
