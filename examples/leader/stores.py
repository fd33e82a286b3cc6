"""Stores that keep former leaders out: a table of work that is done, behind a fence.

Asking "do I lead?" before a write is not enough. A process can be stopped right after the answer,
for longer than its lease, and write when it wakes. So each write carries the leader's token and is
one transaction with the comparison: it happens if no leader with a larger token has been here.
A process that is stopped within its transaction blocks the others until it wakes (SQLite), or until
the server has ended the transaction (PostgreSQL, ten seconds here).
"""
import contextlib
import sqlite3

TABLES = """
CREATE TABLE IF NOT EXISTS fence (id INTEGER PRIMARY KEY CHECK (id = 1), token BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS done (job TEXT PRIMARY KEY, token BIGINT NOT NULL, member INTEGER);
"""
FIRST = "INSERT INTO fence VALUES (1, 0) ON CONFLICT DO NOTHING"
RAISE = "UPDATE fence SET token = {0} WHERE token <= {0}"
DO = "INSERT INTO done VALUES ({0}, {0}, {0}) ON CONFLICT DO NOTHING"


class Refused(Exception):
    """A later leader has been here."""


class Store:
    """`connection` is one of Python's database interface; `mark` stands for a value in its SQL."""

    def __init__(self, connection, mark):
        self.connection, self.mark = connection, mark
        with self.transaction() as cursor:
            self.be_alone(cursor)
            for statement in [*filter(str.strip, TABLES.split(";")), FIRST]:
                cursor.execute(statement)

    @contextlib.contextmanager
    def transaction(self):
        cursor = self.connection.cursor()
        try:
            self.begin(cursor)
            yield cursor
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise
        finally:
            cursor.close()

    def begin(self, cursor):
        """PostgreSQL's interface begins transactions by itself; others wait at the fence's row."""

    def be_alone(self, cursor):
        """Members that begin at the same time make the tables one after the other."""

    def do(self, job, token, member, work=None):
        """Does the job, as the leader with this token, unless it was done before. `work(cursor)` is
        part of the transaction. Returns whether it has done it, or raises Refused."""
        with self.transaction() as cursor:
            cursor.execute(RAISE.format(self.mark), (token, token))
            if cursor.rowcount != 1:
                raise Refused(f"a leader with a token larger than {token} has been here")
            cursor.execute(DO.format(self.mark), (job, token, member))
            is_new = cursor.rowcount == 1
            if is_new and work is not None:
                work(cursor)
            return is_new

    def last(self):
        """The number of jobs that are done."""
        with self.transaction() as cursor:
            cursor.execute("SELECT count(*) FROM done")
            return cursor.fetchone()[0]


class SqliteStore(Store):
    def __init__(self, path):
        super().__init__(sqlite3.connect(path, timeout=60, isolation_level=None), "?")

    def begin(self, cursor):
        cursor.execute("BEGIN IMMEDIATE")  # what the fence says now is true until the commit


class PostgresStore(Store):
    def __init__(self, where):
        import psycopg2  # python3-psycopg2 of Debian
        longest = "-c idle_in_transaction_session_timeout=10s"
        super().__init__(psycopg2.connect(where, options=longest), "%s")

    def be_alone(self, cursor):
        cursor.execute("SELECT pg_advisory_xact_lock(1)")


def open_store(where):
    """A path is a file of SQLite, anything with a "=" or "://" a connection of PostgreSQL."""
    is_path = "=" not in where and "://" not in where
    return SqliteStore(where) if is_path else PostgresStore(where)
