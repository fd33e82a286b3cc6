"""Builds the wheel for `pip install --no-build-isolation ./python`: CMake makes the package as
./demo does, from what that has built already, with further options from the variable CMAKE_ARGS,
and this packs its files. It needs nothing but the standard library."""

import base64
import hashlib
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"


def _version():
    project = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(conclave VERSION ([\d.]+)", project)[1]


def _metadata():
    return ("Metadata-Version: 2.1\nName: conclave\n"
            f"Version: {_version()}\nSummary: A laboratory for randomized leader election\n"
            "Requires-Python: >=3.9\n")


def _build(words):
    """Shows on the terminal how far it is: pip keeps what a build prints to itself."""
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        terminal = open(os.devnull, "w", encoding="utf-8")
    with terminal, subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as build:
        for line in build.stdout:
            print(line, end="")
            if step := re.match(r"\[(\d+)/(\d+)\]", line):
                terminal.write(f"\rbuilding conclave: {step[1]} of {step[2]} ")
                terminal.flush()
        terminal.write("\r" + " " * 50 + "\r")
    if build.returncode != 0:
        raise SystemExit("the build failed; its messages: pip install -v ./python")


def _built():
    # Behind the link of a virtual environment, which the build folder may outlive.
    python = f"-DCONCLAVE_PYTHON={os.path.realpath(sys.executable)}"
    more = shlex.split(os.environ.get("CMAKE_ARGS", ""))
    subprocess.run(["cmake", "--preset", "release", python, *more], cwd=ROOT, check=True)
    _build(["cmake", "--build", "--preset", "release", "--target", "python", "--parallel",
            str(os.cpu_count() or 1)])
    package = BUILD / "python" / "conclave"
    module = package / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))
    if not module.exists():
        raise SystemExit("the module was not built: it needs Python's headers and pybind11 "
                         "(apt-get install python3-dev pybind11-dev)")
    return [path for path in sorted(package.iterdir())
            if path == module or path.suffix in (".py", ".pyi") or path.name == "py.typed"]


def _record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = "cp{0}{1}-cp{0}{1}".format(*sys.version_info)
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    info = f"conclave-{_version()}.dist-info"
    files = {f"conclave/{path.name}": path.read_bytes() for path in _built()}
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: conclave\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}-{platform}\n").encode()
    record = "".join(_record(name, data) for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"conclave-{_version()}-{tag}-{platform}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name
