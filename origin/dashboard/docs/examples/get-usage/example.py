import os

from addrspec.client import Client

usage = Client("http://127.0.0.1:8080", os.environ["ADDRSPEC_KEY"]).usage()

print("points:", usage.used, "of", "unlimited" if usage.limit is None else usage.limit)
