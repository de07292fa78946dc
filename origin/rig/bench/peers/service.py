"""python service.py RESOLVER DATABASE KEY serves GET /v1/email/ADDRESS: syntax, MX and a charge.

It is what one would write in an afternoon. It prints its address once it serves."""

import socket
import sqlite3
import sys
import time

import dns.asyncresolver
import email_validator
import uvicorn
from fastapi import FastAPI, Header, HTTPException

server, file, key = sys.argv[1:]
resolver = dns.asyncresolver.Resolver(configure=False)
resolver.nameservers, resolver.port = [server.split(":")[0]], int(server.split(":")[1])
database = sqlite3.connect(file, isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = NORMAL")  # a charge does not wait for the disk
database.execute("CREATE TABLE accounts (key TEXT PRIMARY KEY, points INTEGER NOT NULL)")
database.execute("INSERT INTO accounts VALUES (?, 1000000000)", [key])
known = {}  # of domains: whether they have MX records, and until when
app = FastAPI()


async def has_mx(domain):
    found, until = known.get(domain, (None, 0))
    if until > time.monotonic():
        return found
    try:
        answer = await resolver.resolve(domain, "MX")
        found, ttl = True, answer.rrset.ttl
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        found, ttl = False, 60
    known[domain] = found, time.monotonic() + ttl
    return found


@app.get("/v1/email/{email}")
async def check(email: str, x_api_key: str = Header()):
    if not database.execute("SELECT points FROM accounts WHERE key = ?", [x_api_key]).fetchone():
        raise HTTPException(401, "The key is not known.")
    try:
        parsed = email_validator.validate_email(email, check_deliverability=False)
    except email_validator.EmailNotValidError as error:
        raise HTTPException(400, str(error)) from error
    mx = await has_mx(parsed.ascii_domain)
    charge = "UPDATE accounts SET points = points - 1 WHERE key = ? AND points > 0"
    if database.execute(charge, [x_api_key]).rowcount == 0:
        raise HTTPException(402, "No points are left.")
    return {"email": parsed.normalized, "domain": parsed.ascii_domain, "mx": mx}


listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
print("127.0.0.1:%d" % listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run([listener])
