#!/usr/bin/env python3
"""Jobs that one member of a cluster does at a time, each once: start one process per member, as

    writer.py 0 STORE 127.0.0.1:7001 127.0.0.1:7002 127.0.0.1:7003     and so on for 1 and 2

STORE is a file of SQLite, or a connection of PostgreSQL such as "host=db dbname=jobs". Whoever
leads does job after job, ten a second. Kill the leader, stop it (kill -STOP), cut its cable:
another member goes on, and no job is done twice.
"""
import argparse
import signal
import threading

import conclave as cv
from stores import Refused, open_store


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("self", type=int, help="this member's place in the list")
    parser.add_argument("store")
    parser.add_argument("members", nargs="+", help="host:port of all, in the same order everywhere")
    parser.add_argument("--state", default="", help="where the member remembers its promises")
    parser.add_argument("--founds", action="store_true", help="the cluster has never run")
    parser.add_argument("--listen", default="", help="if not at its address in the list")
    parser.add_argument("--lease", type=float, default=1.0)
    words = parser.parse_args()

    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    store = open_store(words.store)
    # At the end of the block another member leads before this one is gone.
    with cv.Election("jobs", words.members, words.self, state=words.state, founds=words.founds,
                     listen=words.listen, lease=words.lease) as election:
        while not is_over.wait(0.1):
            token = election.token  # None: it may not act now
            if token is None:
                continue
            job = f"job {store.last()}"
            try:
                if store.do(job, token, words.self):
                    print(f"{job} with token {token}", flush=True)
            except Refused as refusal:
                print(f"refused: {refusal}", flush=True)


if __name__ == "__main__":
    main()
