"""A client of the HTTP API, which also looks up MX records.

    >>> from addrspec.client import Client
    >>> client = Client("https://addrspec.example", key)
    >>> client.check("jane@gmial.com").result["typo_suggestion"]
    'gmail.com'
    >>> for item in client.check_many(addresses):  # any number, in order
    ...     print(item.email, item.result or item.error)

It sends batches, each with an Idempotency-Key of its own, keeps to the account's rate, and sends
again what a rate, an outage or a cut connection has refused, so nothing is paid twice.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, AsyncIterator, Deque, Dict, Generator, Iterable, Iterator, List, NamedTuple, Optional
from typing import TypedDict, Union
from urllib.parse import urlsplit

from ._details import Details, details as _details
from ._facts import FactsDict
from ._policy import Verdict

#: The most addresses and bytes of a batch, by the API.
_BATCH, _BODY = 64, 1 << 20
#: Seconds for a response; the service takes 10 for a batch at most.
_TIMEOUT = 30
_RETRIED = (409, 429, 500, 503)


@dataclass(frozen=True)
class Usage:
    """What the account has used of this calendar month's points (UTC), and its rate. None is unlimited."""

    used: int
    limit: Optional[int]
    remaining: Optional[int]
    overage: bool  #: whether used may exceed limit
    refill: str  #: when used becomes 0 (RFC 3339)
    rate_limit: Optional[int]  #: requests per second
    rate_remaining: Optional[int]
    policy: Optional[str]  #: the name of the key's default policy


class ItemError(TypedDict):
    """Why the MX records of an address could not be looked up."""

    code: str  #: "DNS_TIMEOUT" or "DNS_FAILURE"
    message: str


@dataclass(frozen=True)
class Item:
    """What the service says of one address: a result, or why there is none."""

    email: str = field(repr=False)  #: as given
    result: Optional[FactsDict] = field(repr=False)  #: the facts, with mx True or False; None if there is an error
    error: Optional[ItemError] = field(repr=False)
    details: Optional[Details] = field(repr=False)  #: if asked for
    verdict: Optional[Verdict]  #: if there is a policy


class ApiError(Exception):
    """A response that is no result, or none at all."""

    status: int  #: of HTTP; 0 without a response
    code: Optional[str]  #: such as "INVALID_API_KEY", by which programs decide
    request_id: Optional[str]  #: with which support finds the request

    def __init__(self, sentence: str, status: int = 0, code: Optional[str] = None, request_id: Optional[str] = None):
        super().__init__(sentence)
        self.status, self.code, self.request_id = status, code, request_id


class PointsUsedUp(ApiError):
    """The month has too few points left; the sentence says when they are refilled, or how many are left."""


class _Request(NamedTuple):
    path: str
    body: Optional[bytes]
    headers: Dict[str, str]


class _Response(NamedTuple):
    status: int
    headers: Any  # a mapping that ignores case
    body: bytes


#: What a call does next: it waits for so many seconds, or sends a request and gets the response, or
#: the exception that came in its place. So the calls of both clients are the same code.
_Steps = Generator[Union[float, _Request], Union[_Response, Exception, None], Any]


class _Calls:
    def __init__(self, url: str, key: str, *, max_wait: float = 60, concurrency: int = 4):
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError('url must be that of the service, such as "https://addrspec.example"')
        if not re.fullmatch(r"[!-~]+", key):
            raise ValueError("key must be an API key, without spaces and line breaks")
        self._url, self._key = url.rstrip("/"), key
        self._max_wait, self._concurrency = max_wait, concurrency
        self._paused = 0.0  # no request is sent before this time: the account's rate is used up

    def __repr__(self) -> str:  # without the key: a log may have it
        return f"<addrspec.client.{type(self).__name__}>"

    def _pause(self, seconds: float) -> None:
        self._paused = time.monotonic() + min(seconds, self._max_wait)

    def _ask(self, request: _Request) -> _Steps:
        """Sends a request until it has a result, which it returns as parsed JSON."""
        end = time.monotonic() + self._max_wait
        for attempt in itertools.count():
            yield max(0.0, self._paused - time.monotonic())
            response = yield request
            wait = random.random() * 2 ** min(attempt, 5)  # so that clients do not return together
            if isinstance(response, _Response):
                spent = re.search(r'"rate";r=0;t=(\d+)', response.headers.get("RateLimit", ""))
                if spent:
                    self._pause(int(spent[1]))
                error = _error(response)
                if error is None:
                    try:
                        return json.loads(response.body)
                    except ValueError:
                        error = ApiError("the response is cut off, or not one of the service", response.status)
                elif response.status not in _RETRIED or isinstance(error, PointsUsedUp):
                    raise error
                seconds = response.headers.get("Retry-After", "")
                if seconds.isdigit():
                    wait = int(seconds) + random.random() / 10
                    if response.status == 429:
                        self._pause(wait)
            else:
                error = ApiError("the service did not respond")
                error.__cause__ = response
            if time.monotonic() + wait > end:
                raise error
            yield wait

    def _batch(self, emails: List[str], details: bool, policy: Optional[str]) -> _Steps:
        """Returns the items of a batch. After a partial response only what is missing is sent."""
        found: Dict[str, Item] = {}
        missing = list(dict.fromkeys(emails))
        end = time.monotonic() + self._max_wait
        while missing:
            body = json.dumps({"emails": missing, "details": details, "policy": policy}).encode()
            key = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
            batch = yield from self._ask(_Request("/v1/emails", body, key))
            found.update((item["email"], _item(item)) for item in batch["results"])
            before, missing = len(missing), [email for email in missing if email not in found]
            if len(missing) == before:  # as from a service that has just started to stop
                if time.monotonic() + 1 > end:
                    raise ApiError("the service did not check the addresses in time", 200)
                yield 1.0
        return [found[email] for email in emails]

    def _usage(self) -> _Steps:
        values = yield from self._ask(_Request("/v1/usage", None, {}))
        points, rate = values["points"], values["rate"]
        return Usage(
            *(points["used"], points["limit"], points["remaining"], points["overage"], points["refill"]),
            *(rate["limit"], rate["remaining"], values.get("policy")),
        )


def _batches(emails: Iterable[str]) -> Iterator[List[str]]:
    if isinstance(emails, (str, bytes)):  # each letter would be paid
        raise TypeError("emails must be addresses, not one")
    batch: List[str] = []
    size = 256  # of the body around them
    for email in emails:
        if not isinstance(email, str):
            raise TypeError(f"an address must be str, not {type(email).__name__}")
        email = email.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # no half of a pair, which is no text
        more = len(json.dumps(email)) + 2
        if batch and (len(batch) == _BATCH or size + more > _BODY):
            yield batch
            batch, size = [], 256
        batch.append(email)
        size += more
    if batch:
        yield batch


def _item(values: Dict[str, Any]) -> Item:
    result: Any = values["result"] or {}
    details, verdict = result.pop("details", None), result.pop("verdict", None)
    return Item(
        values["email"],
        result or None,
        values["error"],
        _details(details) if details else None,
        Verdict(verdict["action"], verdict["reason"], verdict["rule"]) if verdict else None,
    )


def _error(response: _Response) -> Optional[ApiError]:
    """Returns the error of a response, of which the API has three shapes; None for a result."""
    if response.status == 200:
        return None
    values: Any = None
    try:
        values = json.loads(response.body)
    except ValueError:
        pass
    values = values if isinstance(values, dict) else {}
    inner = values.get("error")
    shape = inner if isinstance(inner, dict) else values
    sentence = shape.get("message") or values.get("detail") or inner
    if not isinstance(sentence, str):
        sentence = f"the response has status {response.status}, and is not one of the service"
    spent = response.status == 402 or (response.status == 429 and "detail" in values and "Retry-After" not in response.headers)
    kind = PointsUsedUp if spent else ApiError
    return kind(sentence, response.status, shape.get("code"), response.headers.get("X-Request-Id"))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follows no redirect: the key is for this service alone."""


_opener = urllib.request.build_opener(_NoRedirect)


class Client(_Calls):
    """A client for threads. Any number of them may use it.

    url is that of the service, key an API key of the account. max_wait is how many seconds a request
    is sent again at most, and concurrency how many batches are in progress in check_many.
    """

    def check(self, email: str, *, details: bool = False, policy: Optional[str] = None) -> Item:
        """Checks one address. An address that is not valid is a result, and costs a point."""
        (batch,) = _batches([email])
        items: List[Item] = self._run(self._batch(batch, details, policy), threading.Event())
        return items[0]

    def check_many(self, emails: Iterable[str], *, details: bool = False, policy: Optional[str] = None) -> Iterator[Item]:
        """Checks any number of addresses, and yields an item for each in order.

        An address costs a point for each batch of 64 that has it. An ApiError ends the iteration;
        the items before it have been yielded. To stop early, close the iterator.
        """
        stop = threading.Event()
        running: Deque[Future[List[Item]]] = deque()
        with ThreadPoolExecutor(self._concurrency) as pool:
            try:
                for batch in _batches(emails):
                    running.append(pool.submit(self._run, self._batch(batch, details, policy), stop))
                    if len(running) > self._concurrency:
                        yield from running.popleft().result()
                while running:
                    yield from running.popleft().result()
            finally:
                stop.set()
                for future in running:
                    future.cancel()

    def usage(self) -> Usage:
        """Returns the points and the rate of the account, which costs no point."""
        return self._run(self._usage(), threading.Event())  # type: ignore[no-any-return]

    def _run(self, steps: _Steps, stop: threading.Event) -> Any:
        answer: Union[_Response, Exception, None] = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value
            answer = None
            if isinstance(step, _Request):
                answer = self._send(step)
            elif stop.wait(step):
                raise ApiError("the check was stopped")

    def _send(self, request: _Request) -> Union[_Response, Exception]:
        headers = {"X-API-Key": self._key, **request.headers}
        try:
            with _opener.open(urllib.request.Request(self._url + request.path, request.body, headers), timeout=_TIMEOUT) as response:
                return _Response(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return _Response(error.code, error.headers, error.read())
        except (OSError, HTTPException) as error:
            return error


class AsyncClient(_Calls):
    """A client for asyncio, which needs httpx: pip install addrspec[httpx]. See Client.

        async with AsyncClient("https://addrspec.example", key) as client:
            item = await client.check("jane@example.org")
    """

    def __init__(self, url: str, key: str, *, max_wait: float = 60, concurrency: int = 4):
        import httpx  # only who uses this client needs it

        super().__init__(url, key, max_wait=max_wait, concurrency=concurrency)
        self._failures = httpx.HTTPError
        self._http = httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._http.aclose()

    async def check(self, email: str, *, details: bool = False, policy: Optional[str] = None) -> Item:
        """See Client.check."""
        (batch,) = _batches([email])
        items: List[Item] = await self._run(self._batch(batch, details, policy))
        return items[0]

    async def check_many(self, emails: Iterable[str], *, details: bool = False, policy: Optional[str] = None) -> AsyncIterator[Item]:
        """See Client.check_many."""
        running: Deque[asyncio.Task[List[Item]]] = deque()
        try:
            for batch in _batches(emails):
                running.append(asyncio.create_task(self._run(self._batch(batch, details, policy))))
                if len(running) >= self._concurrency:
                    for item in await running.popleft():
                        yield item
            while running:
                for item in await running.popleft():
                    yield item
        finally:
            for task in running:
                task.cancel()

    async def usage(self) -> Usage:
        """See Client.usage."""
        return await self._run(self._usage())  # type: ignore[no-any-return]

    async def _run(self, steps: _Steps) -> Any:
        answer: Union[_Response, Exception, None] = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value
            answer = None
            if isinstance(step, _Request):
                answer = await self._send(step)
            else:
                await asyncio.sleep(step)

    async def _send(self, request: _Request) -> Union[_Response, Exception]:
        method, headers = "GET" if request.body is None else "POST", {"X-API-Key": self._key, **request.headers}
        try:
            response = await self._http.request(method, self._url + request.path, content=request.body, headers=headers)
        except self._failures as error:
            return error
        return _Response(response.status_code, response.headers, response.content)
