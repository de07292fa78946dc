import os

from addrspec.client import ApiError, Client, PointsUsedUp

client = Client("http://127.0.0.1:8080", os.environ["ADDRSPEC_KEY"])

try:
    client.check("jane@example.org", policy="sign-up")
except PointsUsedUp as error:
    print("no points are left:", error)
except ApiError as error:
    print(error.status, error.code)  # str(error) says what to do; error.request_id is for support
