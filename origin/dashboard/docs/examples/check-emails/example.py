import os

from addrspec.client import Client

client = Client("http://127.0.0.1:8080", os.environ["ADDRSPEC_KEY"])

for item in client.check_many(["jane@example.org", "info@hotmial.com"]):  # any number, in order
    if item.error:
        print(item.email, item.error["code"])
        continue
    print(item.email, "valid:", str(item.result["valid"]).lower(), "typo:", str(item.result["typo"]).lower())
print("points:", client.usage().used)
