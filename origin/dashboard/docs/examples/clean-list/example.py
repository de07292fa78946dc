import csv
import os
import sys

from addrspec.client import Client


def advice(item):
    """What to do with an address."""
    result = item.result
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

client = Client("http://127.0.0.1:8080", os.environ["ADDRSPEC_KEY"])
out = csv.writer(sys.stdout, lineterminator="\n")
for item in client.check_many(addresses):
    out.writerow([item.email, advice(item)])
