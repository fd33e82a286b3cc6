#!/usr/bin/env python3
"""A command that runs every so many seconds on one machine of a cluster, the leader's: on each

    cron.py 0 STORE 60 'backup --to tape' 127.0.0.1:7001 127.0.0.1:7002 127.0.0.1:7003

STORE is one for all, as for writer.py. A slot of time is taken there, behind the fence, before its
command starts, so that no slot is run twice: one whose leader is killed between the two is not run
at all. The command finds its slot in CRON_SLOT and the token in CRON_TOKEN, for stores of its own.
"""
import argparse
import os
import signal
import subprocess
import threading
import time

import conclave as cv
from stores import Refused, open_store


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("self", type=int, help="this member's place in the list")
    parser.add_argument("store")
    parser.add_argument("every", type=float, help="seconds from slot to slot")
    parser.add_argument("command")
    parser.add_argument("members", nargs="+", help="host:port of all, in the same order everywhere")
    parser.add_argument("--state", default="", help="where the member remembers its promises")
    parser.add_argument("--founds", action="store_true", help="the cluster has never run")
    parser.add_argument("--listen", default="", help="if not at its address in the list")
    parser.add_argument("--lease", type=float, default=1.0)
    words = parser.parse_args()

    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    store = open_store(words.store)
    with cv.Election("cron", words.members, words.self, state=words.state, founds=words.founds,
                     listen=words.listen, lease=words.lease) as election:
        while not is_over.wait(words.every - time.time() % words.every):
            token = election.token  # None: it may not act now
            slot = str(int(time.time() // words.every))
            try:
                if token is None or not store.do(slot, token, words.self):
                    continue
            except Refused as refusal:
                print(f"refused: {refusal}", flush=True)
                continue
            environment = os.environ | {"CRON_SLOT": slot, "CRON_TOKEN": str(token)}
            status = subprocess.run(words.command, shell=True, env=environment, check=False)
            print(f"slot {slot} with token {token}: status {status.returncode}", flush=True)


if __name__ == "__main__":
    main()
