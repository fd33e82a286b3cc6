"""Tests of the Python package. Rows are compared with those of CONCLAVE_PROGRAM."""

import os
import subprocess
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    path = os.environ.get("CONCLAVE_PROGRAM", str(ROOT / "build/release/conclave"))

    def call(*words, status=(0, 3, 4)):
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True,
                              timeout=300, cwd=ROOT)
        assert done.returncode in status, done.stderr
        return done

    return call


@pytest.fixture
def texts(monkeypatch):
    """The folder with the texts that are shipped; paths are relative to the repository."""
    monkeypatch.chdir(ROOT)
    return Path("protocols")
