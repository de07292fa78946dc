import json
import os
import urllib.parse
import urllib.request

address = urllib.parse.quote("jane.doe+news@hotmial.com", safe="")
request = urllib.request.Request(
    "http://127.0.0.1:8080/v1/email/" + address,
    headers={"X-API-Key": os.environ["ADDRSPEC_KEY"]},
)
# urlopen raises HTTPError for an error response: see the guide "Handle errors".
with urllib.request.urlopen(request, timeout=30) as response:
    result = json.load(response)

print("valid:", str(result["valid"]).lower())
if result["typo_suggestion"]:
    print("perhaps meant:", result["typo_suggestion"])
