"""Cache folders in which something is wrong."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading
import time

from case import Cases, Skipped, check, fails, loads, survives
from drawing import png
from origin import Origin

CASES = Cases()
INDEX = ".index.sqlite"
# Of a file, only what a processor makes is cached.
MADE = ("--processor", "flip:both")


class Stage:
    """A cache with one picture in it, and the picture's file."""

    def __init__(self, program, case):
        self.program, self.case = program, case
        self.picture = program.home / "a.png"
        self.picture.write_bytes(png())
        loads(self.load())

    @property
    def folder(self):
        return self.program.cache

    @property
    def index(self):
        return self.folder / INDEX

    @property
    def cached(self):
        """The file of the picture."""
        files = [path for path in self.folder.iterdir() if not path.name.startswith(".")]
        check(len(files) == 1, f"{len(files)} files are cached")
        return files[0]

    def load(self, *options):
        return self.program.load(self.picture, *MADE, *options, limit=self.case.seconds)

    def clear(self):
        return self.program.run("cache", "clear", limit=self.case.seconds)


def folder(name, expected="the picture, and a cache that works after clearing", **limits):
    """A case that damages a filled cache; the picture has to come all the same."""
    def register(damage):
        @CASES.add(name, expected, **limits)
        def body(program, case):
            stage = Stage(program, case)
            with contextlib.ExitStack() as stack:
                damage(stage, stack)
                outcome = stage.load()
                loads(outcome)
            stage.clear()
            loads(stage.load())
            again = stage.load()
            loads(again)
            check(again.loaded[0]["cacheType"] == "disk", "not cached after clearing")
            return outcome
    return register


# Something else in place of a cached file or the index

def device(path):
    try:
        os.mknod(path, 0o20666, os.makedev(1, 5))
    except PermissionError:
        raise Skipped("only root makes devices")


def full_folder(path):
    path.mkdir()
    (path / "inside").write_text("x")


for name, place, make in (
        ("a FIFO in place of a cached file", "cached", os.mkfifo),
        ("a socket in place of a cached file", "cached",
         lambda path: os.mknod(path, stat.S_IFSOCK | 0o600)),
        ("a link to /dev/zero in place of a cached file", "cached",
         lambda path: path.symlink_to("/dev/zero")),
        ("a device in place of a cached file", "cached", device),
        ("a folder in place of a cached file", "cached", full_folder),
        ("a FIFO in place of the index", "index", os.mkfifo),
        ("a folder in place of the index", "index", os.mkdir),
        ("rubbish in place of the index", "index",
         lambda path: path.write_bytes(os.urandom(20_000)))):
    @folder(name)
    def replaced(stage, stack, place=place, make=make):
        path = getattr(stage, place)
        # The journal of an index stays, as it would when somebody else has done this.
        path.unlink()
        make(path)


@folder("rubbish in place of a cached file")
def rubbish(stage, stack):
    stage.cached.write_bytes(b"rubbish" * 100)


@folder("an empty cached file")
def empty(stage, stack):
    stage.cached.write_bytes(b"")


@CASES.add("a link to somebody's file in place of a cached file", "that file stays as it is")
def link(program, case):
    stage = Stage(program, case)
    victim = program.home / "victim.txt"
    victim.write_text("mine")
    path = stage.cached
    path.unlink()
    path.symlink_to(victim)
    outcome = stage.load()
    loads(outcome)
    stage.clear()
    check(victim.exists() and victim.read_text() == "mine", "the file is gone or changed")
    return outcome


@folder("half an index")
def index_half(stage, stack):
    content = stage.index.read_bytes()
    stage.index.unlink()
    stage.index.write_bytes(content[:len(content) // 2])


@folder("an index whose journal is cut short")
def index_journal(stage, stack):
    os.truncate(str(stage.index) + "-journal", 100)


@folder("an index whose journal is somebody else's")
def index_foreign_journal(stage, stack):
    with open(str(stage.index) + "-journal", "r+b") as journal:
        # The beginning of one that is to be played back.
        journal.write(bytes.fromhex("d9d505f920a163d7") + os.urandom(5000))


@CASES.add("a link to somebody's database in place of the index", "no table is added to it")
def index_link(program, case):
    stage = Stage(program, case)
    other = program.home / "other.sqlite"
    with contextlib.closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE mine (a)")
    before = other.read_bytes()
    stage.index.unlink()
    stage.index.symlink_to(other)
    outcome = stage.load()
    loads(outcome)
    stage.clear()
    check(other.exists() and other.read_bytes() == before, "the database was changed")
    return outcome


def tables(database):
    rows = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [row[0] for row in rows]


def spoil(stage, change):
    """Changes each row of each table of the index that has names of files."""
    with contextlib.closing(sqlite3.connect(stage.index)) as database, database:
        for table in tables(database):
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            change(database, table, columns)


@CASES.add("a row that names a file outside", "that file stays")
def escape(program, case):
    stage = Stage(program, case)
    victim = program.home / "victim.txt"
    victim.write_text("mine")
    cached = stage.cached.name

    def change(database, table, columns):
        for column in columns:
            with contextlib.suppress(sqlite3.Error):
                database.execute(
                    f"UPDATE {table} SET {column} = '../victim.txt' WHERE {column} = ?", [cached])
    spoil(stage, change)
    outcome = program.run("cache", "clean", "--size-limit", "1", limit=case.seconds)
    survives(outcome)
    survives(program.run("cache", "clear", limit=case.seconds))
    survives(program.run("cache", "list", limit=case.seconds))
    check(victim.exists() and victim.read_text() == "mine", "the file is gone or changed")
    loads(stage.load())
    return outcome


for value in ("'text'", "x'00ff'", "NULL", "-9223372036854775808", "9223372036854775807", "1e308"):
    @folder(f"rows whose columns hold {value}")
    def types(stage, stack, value=value):
        def change(database, table, columns):
            for column in columns:
                with contextlib.suppress(sqlite3.Error):
                    database.execute(f"UPDATE {table} SET {column} = {value}")
        spoil(stage, change)


# Locks

def locked(name, lock):
    for options in ([], ["--only-from-cache"]):
        title = f"{name}{' with ' + options[0] if options else ''}"

        @CASES.add(title, "all within a second of what it takes otherwise")
        def body(program, case, options=options):
            stage = Stage(program, case)
            other = program.home / "b.png"
            other.write_bytes(png(9, 9))
            usual = stage.load().seconds
            with lock(stage):
                outcome = stage.load(*options)
                # One that is looked for in vain, and stored.
                new = None if options else program.load(other, *MADE, limit=case.seconds)
            loads(outcome)
            check(outcome.loaded[0]["cacheType"] == "disk", "not from the cache")
            check(outcome.seconds < usual + 1, f"{outcome.seconds:.1f} s, usually {usual:.1f}")
            if new:
                loads(new)
                check(new.seconds < usual + 1, f"a new one: {new.seconds:.1f} s")
            return outcome


@contextlib.contextmanager
def flocks(stage):
    """Locks the folder and all files in it."""
    descriptors = [os.open(path, os.O_RDONLY) for path in [stage.folder, *stage.folder.iterdir()]]
    for descriptor in descriptors:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
    for descriptor in descriptors:
        os.close(descriptor)


@contextlib.contextmanager
def writing(stage):
    with contextlib.closing(sqlite3.connect(stage.index, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


@contextlib.contextmanager
def exclusive(stage):
    with contextlib.closing(sqlite3.connect(stage.index, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        yield
        database.execute("ROLLBACK")


locked("flock on the folder and its files", flocks)
locked("a writer at the index", writing)
locked("the index for somebody else alone", exclusive)


# Folders

@CASES.add("a file in place of the cache folder", "an error that names it")
def no_folder(program, case):
    path = program.home / "a.png"
    path.write_bytes(png())
    program.cache.write_text("mine")
    outcome = program.load(path, limit=case.seconds)
    check(outcome.code == 1 and program.cache.read_text() == "mine", outcome.summary)
    check(str(program.cache) in outcome.err + outcome.out, outcome.err)
    return outcome


@CASES.add("a cache folder that is a link to itself", "an error that names it")
def loop(program, case):
    path = program.home / "a.png"
    path.write_bytes(png())
    program.cache.symlink_to(program.cache)
    outcome = program.load(path, limit=case.seconds)
    check(outcome.code == 1, outcome.summary)
    check(str(program.cache) in outcome.err + outcome.out, outcome.err)
    return outcome


@contextlib.contextmanager
def mounted(folder, options):
    """A file system in memory of its own."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        raise Skipped("only root mounts")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True)


@CASES.add("a full disk", "the picture; nothing half is found afterwards")
def full(program, case):
    path = program.home / "a.png"
    path.write_bytes(png(400, 400, noise=True))
    with mounted(program.cache, "size=256k"):
        outcome = program.load(path, *MADE, limit=case.seconds)
        loads(outcome)
        again = program.load(path, *MADE, limit=case.seconds)
        loads(again)
        check(again.loaded[0]["cacheType"] == "none", "half a file was found")
    return outcome


@CASES.add("a disk that fills up in a list", "all 20 pictures")
def filling(program, case):
    paths = []
    for number in range(20):
        paths.append(program.home / f"{number}.png")
        paths[-1].write_bytes(png(100, 100, seed=number + 1, noise=True))
    with mounted(program.cache, "size=256k"):
        outcome = program.load(*paths, *MADE, limit=case.seconds)
        loads(outcome, 20)
        loads(program.load(*paths, *MADE, limit=case.seconds), 20)
    return outcome


@CASES.add("a folder that cannot be written to", "the cached picture")
def read_only(program, case):
    with mounted(program.cache, "size=4m"):
        stage = Stage(program, case)
        subprocess.run(["mount", "-o", "remount,ro", str(program.cache)], check=True)
        outcome = stage.load()
        loads(outcome)
        other = program.home / "b.png"
        other.write_bytes(png(5, 5))
        loads(program.load(other, *MADE, limit=case.seconds))
    return outcome


for kind, make in (
        ("a FIFO", os.mkfifo),
        ("a socket", lambda path: os.mknod(path, stat.S_IFSOCK | 0o600)),
        ("a link to /dev/zero", lambda path: path.symlink_to("/dev/zero"))):
    @CASES.add(f"{kind} in place of the source", "an error at once that says so")
    def special(program, case, kind=kind, make=make):
        path = program.home / "a.png"
        make(path)
        outcome = program.load(path, limit=case.seconds)
        what = "device" if "/dev/" in kind else kind.split()[1]
        fails(outcome, f"{path} is a {what}, not a file")
        check(outcome.seconds < 2.5, f"{outcome.seconds:.1f} s")
        return outcome


# SIGTERM, whatever is waited for

def stopped(program, process, limit=2):
    """Sends SIGTERM to a program that waits, which has to end at once."""
    check(process.poll() is None, "it does not wait")
    process.send_signal(signal.SIGTERM)
    outcome = program.finish(process, limit)
    check(not outcome.killed, "it did not end")
    # Before it listens to signals, they end it as they end any program.
    check(outcome.code in (143, -signal.SIGTERM), outcome.summary)
    outcome.code = 143
    return outcome


def waiting(handler, lock=None):
    """A program that waits for a server, which has got the request."""
    def body(program, case):
        asked = threading.Event()

        def asking(connection):
            connection.request()
            asked.set()
            handler(connection)
        with Origin(asking) as origin, contextlib.ExitStack() as stack:
            if lock:
                stack.enter_context(lock(Stage(program, case)))
            process = program.start("load", origin.url + "/b.png")
            check(asked.wait(case.seconds), "it does not ask for the picture")
            return stopped(program, process)
    return body


def dripping(connection):
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
    while True:
        connection.send("a")
        time.sleep(0.1)


CASES.add("SIGTERM while a server is silent", "it ends at once")(
    waiting(lambda connection: time.sleep(30)))
CASES.add("SIGTERM while a body comes slowly", "it ends at once")(waiting(dripping))
CASES.add("SIGTERM while the index is locked", "it ends at once")(
    waiting(lambda connection: time.sleep(30), exclusive))


@CASES.add("SIGTERM while a list is to come", "it ends at once")
def listing(program, case):
    process = program.start("prefetch", "-", stdin=subprocess.PIPE)
    with process.stdin:
        time.sleep(0.5)
        return stopped(program, process)


@CASES.add("two programs at one folder", "all pictures twice")
def both(program, case):
    paths = []
    for number in range(50):
        paths.append(program.home / f"{number}.png")
        paths[-1].write_bytes(png(seed=number + 1))
    arguments = ["load", "--json", *MADE, *map(str, paths)]
    processes = [program.start(*arguments) for _ in range(2)]
    outcomes = [program.finish(process, case.seconds) for process in processes]
    for outcome in outcomes:
        loads(outcome, 50)
    return outcomes[0]
