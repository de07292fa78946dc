import json
import os
import urllib.request

request = urllib.request.Request(
    "http://127.0.0.1:8080/v1/usage",
    headers={"X-API-Key": os.environ["ADDRSPEC_KEY"]},
)
with urllib.request.urlopen(request, timeout=30) as response:
    points = json.load(response)["points"]

limit = "unlimited" if points["limit"] is None else points["limit"]
print("points:", points["used"], "of", limit)
