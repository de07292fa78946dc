import json
import os
import urllib.error
import urllib.parse
import urllib.request


class Problem(Exception):
    """An error response of any shape."""

    def __init__(self, error):
        self.status = error.code
        self.code = ""  # none with status 429
        self.retry_after = error.headers.get("Retry-After")  # None if a retry does not help
        self.request_id = error.headers.get("X-Request-Id")  # for support
        try:
            body = json.load(error)
        except ValueError:  # not ours: a proxy responded
            body = {"error": error.reason}
        if "detail" in body:  # status 429
            self.message = body["detail"]
        elif isinstance(body["error"], dict):  # a response to a batch
            self.code, self.message = body["error"]["code"], body["error"]["message"]
        else:
            self.code, self.message = body.get("code", ""), body["error"]
        super().__init__(f"{self.status} {self.code}: {self.message}")


def check(email):
    request = urllib.request.Request(
        "http://127.0.0.1:8080/v1/email/" + urllib.parse.quote(email, safe=""),
        headers={"X-API-Key": os.environ["ADDRSPEC_KEY"]},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise Problem(error) from None


try:
    check("jane.@example.org")
except Problem as problem:
    print(problem)
