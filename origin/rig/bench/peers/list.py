"""python list.py RESOLVER FILE checks the addresses of a file: syntax, and MX of 64 domains at a time."""

import asyncio
import json
import sys

import dns.asyncresolver
from email_validator import EmailNotValidError, validate_email

resolver = dns.asyncresolver.Resolver(configure=False)
resolver.nameservers, resolver.port = [sys.argv[1].split(":")[0]], int(sys.argv[1].split(":")[1])


async def has_mx(domain, slots):
    async with slots:
        try:
            return bool(await resolver.resolve(domain, "MX"))
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return False


async def main():
    slots, domains, lookups = asyncio.Semaphore(64), {}, {}
    for email in open(sys.argv[2]).read().split():
        try:
            domain = domains[email] = validate_email(email, check_deliverability=False).ascii_domain
            lookups[domain] = lookups.get(domain) or asyncio.create_task(has_mx(domain, slots))
        except EmailNotValidError:
            domains[email] = None
    for email, domain in domains.items():
        print(json.dumps({"email": email, "valid": domain is not None, "mx": bool(domain) and await lookups[domain]}))


asyncio.run(main())
