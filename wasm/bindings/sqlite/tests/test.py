"""Tests of the extension with Python's sqlite3: python3 test.py EXTENSION LISTS"""

import pathlib
import sqlite3
import sys
import tempfile
import threading

EXTENSION, LISTS = sys.argv[1], pathlib.Path(sys.argv[2]).read_bytes()


def connect(path: str = ":memory:", **options) -> sqlite3.Connection:
    db = sqlite3.connect(path, **options)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.enable_load_extension(False)
    return db


def error_of(db: sqlite3.Connection, sql: str, *values) -> sqlite3.Error:
    try:
        db.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        return error
    raise AssertionError(f"no error: {sql}")


def test_schema(path: str) -> None:
    db = connect(path)
    db.executescript("""
        PRAGMA trusted_schema = OFF;
        CREATE TABLE customers (
            id INTEGER PRIMARY KEY,
            email TEXT NOT NULL CHECK (addrspec_require(email)),
            other TEXT CONSTRAINT other_valid CHECK (addrspec_valid(other)),
            normalized TEXT AS (addrspec_normalized(email)) STORED);
        CREATE UNIQUE INDEX customers_email ON customers (addrspec_normalized(email));
        CREATE VIEW roles AS SELECT id, addrspec(email) ->> 'role' AS role FROM customers;
        CREATE TRIGGER changed BEFORE UPDATE ON customers BEGIN SELECT addrspec_require(NEW.email); END;
        INSERT INTO customers (id, email) VALUES (1, 'Jane@Example.org'), (2, 'Support@example.org');
    """)
    db.commit()

    db = connect(path)
    find = "SELECT id FROM customers WHERE addrspec_normalized(email) = ?"
    assert db.execute(find, ["jane@example.org"]).fetchall() == [(1,)]
    plan = db.execute("EXPLAIN QUERY PLAN " + find, ["x"]).fetchall()
    assert "USING INDEX customers_email" in plan[0][3], plan
    assert db.execute("SELECT normalized FROM customers ORDER BY id").fetchall() == [("jane@example.org",), ("support@example.org",)]
    assert db.execute("SELECT role FROM roles ORDER BY id").fetchall() == [(None,), ("Support",)]
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    error = error_of(db, "INSERT INTO customers (email) VALUES ('jane.@example.org')")
    assert isinstance(error, sqlite3.IntegrityError), error
    assert "the local part ends with a dot; remove it" in str(error) and "jane" not in str(error), error
    error = error_of(db, "UPDATE customers SET email = 'jane' WHERE id = 1")
    assert "the address has no @" in str(error), error
    error = error_of(db, "INSERT INTO customers (email, other) VALUES ('a@b.c', 'x')")
    assert "other_valid" in str(error), error
    error = error_of(db, """INSERT INTO customers (email) VALUES ('"jane"@EXAMPLE.org')""")
    assert "UNIQUE" in str(error), error
    db.close()


def test_deterministic() -> None:
    db = connect()
    db.execute("CREATE TABLE t (email)")
    for call in ["addrspec_canonical(email)", "addrspec(email)", "addrspec_verdict(email, '{}')"]:
        assert "non-deterministic" in str(error_of(db, f"CREATE INDEX i ON t ({call})"))


def test_lists() -> None:
    one, other = connect(), connect()
    facts = "SELECT addrspec('jane@example.org') = addrspec('jane@example.org'), addrspec_version()"
    before = one.execute(facts).fetchone()
    [versions] = one.execute("SELECT addrspec_lists(?)", [LISTS]).fetchone()
    assert one.execute(facts).fetchone() == (1, versions) != before
    assert other.execute(facts).fetchone() == before
    error_of(one, "SELECT addrspec_lists(?)", LISTS[:-1])
    assert one.execute(facts).fetchone() == (1, versions)
    one.executescript("CREATE TABLE t (x); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT addrspec_lists(NEW.x); END")
    assert "unsafe use" in str(error_of(one, "INSERT INTO t VALUES (x'00')"))


def test_reload() -> None:
    db = connect()
    for _ in range(3):
        assert db.execute("SELECT addrspec_valid('a@b.c')").fetchone() == (1,)
        db.enable_load_extension(True)
        db.load_extension(EXTENSION)


def test_utf16() -> None:
    db = connect()
    db.execute("PRAGMA encoding = 'UTF-16le'")
    db.execute("CREATE TABLE t (email TEXT)")
    db.execute("INSERT INTO t VALUES ('İbrahim@BÜCHER.example')")
    assert db.execute("SELECT addrspec_normalized(email) FROM t").fetchone() == ("i\u0307brahim@bücher.example",)
    assert db.execute("SELECT addrspec(email) ->> 'local_part' FROM t").fetchone() == ("İbrahim",)
    policy = '{"block": {"domains": ["bücher.example"]}}'
    assert db.execute("SELECT addrspec_verdict(email, ?) ->> 'action' FROM t", [policy]).fetchone() == ("block",)


def in_threads(work) -> None:
    failures = []

    def run(number: int) -> None:
        try:
            work(number)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


QUERY = "SELECT addrspec_normalized('JANE' || ? || '@example.org'), addrspec_verdict('info@b.c', '{\"block\": {\"reasons\": [\"role\"]}}') ->> 'action'"


def test_threads() -> None:
    shared = connect(check_same_thread=False)

    def each(number: int) -> None:
        own = connect()
        for n in range(300):
            name = f"{number}.{n}"
            want = (f"jane{name}@example.org", "block")
            assert own.execute(QUERY, [name]).fetchone() == want
            assert shared.execute(QUERY, [name]).fetchone() == want

    in_threads(each)


with tempfile.TemporaryDirectory() as directory:
    test_schema(directory + "/test.db")
test_deterministic()
test_lists()
test_reload()
test_utf16()
test_threads()
