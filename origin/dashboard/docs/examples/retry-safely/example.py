import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request
import uuid

ATTEMPTS = 6


def check_batch(emails):
    """Sends a batch until it has a response. All attempts have the same
    Idempotency-Key, so the batch is charged once."""
    request = urllib.request.Request(
        "http://127.0.0.1:8080/v1/emails",
        data=json.dumps({"emails": emails}).encode(),
        headers={
            "X-API-Key": os.environ["ADDRSPEC_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if attempt == ATTEMPTS or error.code not in (409, 429, 500, 503):
                raise
            wait = error.headers.get("Retry-After")
        except (OSError, http.client.HTTPException):  # it is unknown whether the batch was charged
            if attempt == ATTEMPTS:
                raise
            wait = None
        # Otherwise up to 1 s, 2 s, 4 s and so on, at random, so that clients do not return together.
        time.sleep(int(wait) + random.random() / 10 if wait else random.random() * 2 ** (attempt - 1))


print("points:", check_batch(["jane@example.org", "info@hotmial.com"])["usage_points"])
