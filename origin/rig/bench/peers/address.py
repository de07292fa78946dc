"""python address.py MILLISECONDS FILE NAME... measures the functions below on the addresses of a file, in
turn, and prints the processor time of an address by each, as JSON lines of name and us."""

import json
import sys
import time
from functools import partial


def one_by_one(emails, check, refusal=()):
    def run():
        for email in emails:
            try:
                check(email)
            except refusal:
                pass

    return run


def addrspec(emails):
    import addrspec

    return one_by_one(emails, addrspec.check)


def email_validator(emails):
    from email_validator import EmailNotValidError, validate_email

    return one_by_one(emails, partial(validate_email, check_deliverability=False), EmailNotValidError)


def emval(emails):
    from emval import validate_email

    return one_by_one(emails, partial(validate_email, deliverable_address=False), (SyntaxError, ValueError))


def check_many(emails):
    import addrspec

    return partial(addrspec.check_many, emails)


def polars(emails, expression=None):
    import addrspec.polars
    import polars

    if expression is None:
        expression = addrspec.polars.check("email")
    return partial(polars.DataFrame({"email": emails}).select, expression)


def emval_polars(emails):
    from emval.polars import validate_email

    return polars(emails, validate_email("email", True, False, False, False, False, []))


def duckdb(emails, expression="addrspec_check(email)"):
    import addrspec.duckdb
    import duckdb
    import pyarrow

    connection, people = duckdb.connect(), pyarrow.table({"email": emails})
    addrspec.duckdb.register(connection)
    connection.execute("CREATE TABLE people AS FROM people")
    return partial(connection.execute, f"CREATE OR REPLACE TABLE results AS SELECT {expression} FROM people")


def duckdb_regex(emails):
    return duckdb(emails, r"regexp_full_match(email, '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}')")


def measure(seconds, emails, names):
    """Runs the functions in turn, once at least, and returns the microseconds of an address by each."""
    checks, used, rounds = [globals()[name](emails) for name in names], [0] * len(names), 0
    until = time.monotonic() + seconds * len(names)
    while time.monotonic() < until or rounds == 0:
        rounds += 1
        for n, check in enumerate(checks):
            used[n] -= time.process_time()
            check()
            used[n] += time.process_time()
    return [total * 1e6 / rounds / len(emails) for total in used]


milliseconds, file, *names = sys.argv[1:]
with open(file) as lines:
    emails = lines.read().split()
measure(int(milliseconds) / 1000, emails[:1000], names)  # to warm up
for name, us in zip(names, measure(int(milliseconds) / 1000, emails, names)):
    print(json.dumps({"name": name, "us": us}))
