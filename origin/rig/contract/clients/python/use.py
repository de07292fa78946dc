"""Uses the client that openapi-python-client makes of openapi.json, the package
addrspec_client, and prints typed members of its responses."""

import os
from uuid import uuid4

from addrspec_client import AuthenticatedClient, Client
from addrspec_client.api.checks import check_email, check_emails
from addrspec_client.api.usage import get_usage
from addrspec_client.models.batch import Batch
from addrspec_client.models.batch_request import BatchRequest
from addrspec_client.models.check_email_problem import CheckEmailProblem
from addrspec_client.models.item import Item
from addrspec_client.models.item_error import ItemError
from addrspec_client.models.key_problem import KeyProblem
from addrspec_client.models.points_problem import PointsProblem
from addrspec_client.models.rate_problem import RateProblem
from addrspec_client.models.result import Result
from addrspec_client.models.role import Role
from addrspec_client.models.usage import Usage

URL = os.environ["ADDRSPEC_URL"]


def connect(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=URL, token=key)


def null(value: object) -> object:
    return "null" if value is None else value


def single(client: AuthenticatedClient) -> None:
    jane = check_email.sync("jane.doe@mail.example", client=client)
    assert isinstance(jane, Result)
    print(f"single {jane.normalized} mx={str(jane.mx).lower()} role={null(jane.role)}")
    info = check_email.sync("info@mail.example", client=client)
    assert isinstance(info, Result) and isinstance(info.role, Role)
    print("role", info.role.value)
    invalid = check_email.sync("jane.@mail.example", client=client)
    assert isinstance(invalid, CheckEmailProblem)
    print("invalid", int(invalid.status), invalid.code.value)


def batch(client: AuthenticatedClient) -> None:
    body = BatchRequest(emails=["jane@mail.example", "jane.@mail.example", "jane@servfail.example"])
    b = check_emails.sync(client=client, body=body, idempotency_key=str(uuid4()))
    assert isinstance(b, Batch)
    print(
        f"batch total={b.total} valid={b.valid_count} invalid={b.invalid_count}"
        f" errors={b.error_count} points={b.usage_points}"
    )
    for item in b.results[1:]:
        print("item", item.email, item.status.value, facts(item))


def facts(item: Item) -> str:
    if isinstance(item.error, ItemError):
        return item.error.code.value
    assert item.result is not None
    return f"normalized={null(item.result.normalized)}"


def usage(client: AuthenticatedClient) -> None:
    response = get_usage.sync_detailed(client=client)
    assert isinstance(response.parsed, Usage)
    points = response.parsed.points
    assert response.headers["X-Usage-Current"] == str(points.used)
    print(f"usage used={points.used} limit={null(points.limit)}")


def problems() -> None:
    denied = check_email.sync("jane@mail.example", client=Client(base_url=URL))
    assert isinstance(denied, KeyProblem)
    print("no key", int(denied.status), denied.code.value)
    poor = connect(os.environ["ADDRSPEC_POOR_KEY"])
    refused = check_emails.sync_detailed(client=poor, body=BatchRequest(emails=["a@mail.example", "b@mail.example"]))
    assert isinstance(refused.parsed, PointsProblem)
    p = refused.parsed.error
    print(f"too few points {int(refused.status_code)} {p.code.value} required={p.required} remaining={p.remaining}")
    late = check_email.sync("jane@mail.example", client=poor)
    assert isinstance(late, RateProblem)
    print("too few points", int(late.status), late.title.value)


if __name__ == "__main__":
    client = connect(os.environ["ADDRSPEC_KEY"])
    single(client)
    batch(client)
    usage(client)
    problems()
