import csv
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid


def check(emails):
    """Sends one batch. While the rate is exceeded or the service is busy, it
    waits and sends the same batch with the same Idempotency-Key."""
    request = urllib.request.Request(
        "http://127.0.0.1:8080/v1/emails",
        data=json.dumps({"emails": emails}).encode(),
        headers={
            "X-API-Key": os.environ["ADDRSPEC_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    for _ in range(10):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)["results"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            time.sleep(int(error.headers.get("Retry-After", 1)))
    raise TimeoutError("no response after 10 attempts")


def advice(item):
    """What to do with an address."""
    result = item["result"]
    if result is None:
        return "check again"
    if not result["valid"]:
        return "remove"
    if result["typo_suggestion"]:
        return "ask"
    if result["disposable"] or result["gibberish"]:
        return "doubt"
    if not result["mx"]:
        return "confirm"  # mail may still go to its address record
    return "keep"


with open("addresses.txt", encoding="utf-8") as file:
    addresses = list(dict.fromkeys(line.strip() for line in file if line.strip()))

out = csv.writer(sys.stdout, lineterminator="\n")
for start in range(0, len(addresses), 64):
    for item in check(addresses[start : start + 64]):
        out.writerow([item["email"], advice(item)])
