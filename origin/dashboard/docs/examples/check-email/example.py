import os

from addrspec.client import Client

client = Client("http://127.0.0.1:8080", os.environ["ADDRSPEC_KEY"])
item = client.check("jane.doe+news@hotmial.com")

if item.result is None:  # the name servers of the domain failed: try again later
    raise SystemExit(item.error["message"])
print("valid:", str(item.result["valid"]).lower())
if item.result["typo_suggestion"]:
    print("perhaps meant:", item.result["typo_suggestion"])
