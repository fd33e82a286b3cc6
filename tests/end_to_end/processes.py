"""Waiting for what a process does, however slow or busy the machine is, and ports for members.

Processes are subprocess.Popen; what Linux tells of them is read from /proc.
"""
import contextlib
import os
import pathlib
import signal
import socket
import time

TICKS = os.sysconf("SC_CLK_TCK")


def wait_until(condition, what, seconds=100):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.005)


def folder_of(process):
    if process.poll() is not None:
        raise AssertionError(f"{process.args} has ended with status {process.returncode}")
    return pathlib.Path("/proc") / str(process.pid)


def catches(process, number):
    """Whether the process has a handler for this signal."""
    for line in (folder_of(process) / "status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def wait_for_handler(process, number=signal.SIGINT):
    """Before that a signal would end the process as the system does, without a word."""
    wait_until(lambda: catches(process, number), f"a handler of signal {number}")


def fields_of(stat):
    """From the state on. Before it stands the name, which may contain anything."""
    return stat.rpartition(")")[2].split()


def processor_seconds(process):
    fields = fields_of((folder_of(process) / "stat").read_text())
    return (int(fields[11]) + int(fields[12])) / TICKS


def wait_for_work(process, seconds):
    """Until the process has a handler for SIGINT and its threads have computed for so long."""
    wait_for_handler(process)
    wait_until(lambda: processor_seconds(process) >= seconds, f"{seconds} s of work")


def wait_for_end(number):
    """Until this process has ended. It need not be a child."""
    def has_ended():
        try:
            return fields_of(pathlib.Path(f"/proc/{number}/stat").read_text())[0] in "ZX"
        except OSError:
            return True
    wait_until(has_ended, f"the end of process {number}")


def states_of(process):
    """The states of its threads, which may come and go meanwhile."""
    states = set()
    for thread in (folder_of(process) / "task").iterdir():
        with contextlib.suppress(OSError):
            states.add(fields_of((thread / "stat").read_text())[0])
    return states


def wait_for_stillness(process):
    """Until all its threads sleep, at 20 looks in a row: it waits for something."""
    looks = 0

    def is_still():
        nonlocal looks
        looks = looks + 1 if states_of(process) == {"S"} else 0
        return looks == 20
    wait_until(is_still, "all threads asleep")


def bind(stack, port):
    """The port that is bound, until the stack is left; any free one for port 0."""
    bound = stack.enter_context(socket.socket())
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound.getsockname()[1]


@contextlib.contextmanager
def reserved_ports(count):
    """So many ports in a row, for servers that allow addresses to be reused, as ours do. They stay
    bound meanwhile, so that the system gives them to no connection and to no other test."""
    while True:
        with contextlib.ExitStack() as stack:
            try:
                first = bind(stack, 0)
                for port in range(first + 1, first + count):
                    bind(stack, port)
            except (OSError, OverflowError):  # one of them is in use, or there is none
                continue
            yield range(first, first + count)
            return
