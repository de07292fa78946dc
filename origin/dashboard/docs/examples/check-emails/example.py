import json
import os
import urllib.request
import uuid

request = urllib.request.Request(
    "http://127.0.0.1:8080/v1/emails",
    data=json.dumps({"emails": ["jane@example.org", "info@hotmial.com"]}).encode(),
    headers={
        "X-API-Key": os.environ["ADDRSPEC_KEY"],
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),  # the same one if you send this batch again
    },
)
with urllib.request.urlopen(request, timeout=30) as response:
    batch = json.load(response)

for item in batch["results"]:
    if item["error"]:
        print(item["email"], item["error"]["code"])
        continue
    result = item["result"]
    print(item["email"], "valid:", str(result["valid"]).lower(), "typo:", str(result["typo"]).lower())
print("points:", batch["usage_points"])
