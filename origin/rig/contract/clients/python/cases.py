"""Runs the cases of clients.json with addrspec.client: sync, or async with the argument async."""

import asyncio
import json
import sys
from typing import Any, Dict, List

from addrspec.client import ApiError, AsyncClient, Client, Item, PointsUsedUp, Usage


def described(item: Item) -> Dict[str, Any]:
    values: Dict[str, Any] = {"email": item.email}
    if item.error:
        values["error"] = item.error["code"]
    if item.result:
        values.update(valid=item.result["valid"], mx=item.result["mx"])
    if item.details:
        values["canonical"] = item.details.canonical
    if item.verdict:
        values["action"] = item.verdict.action
    return values


def usage(of: Usage) -> Dict[str, Any]:
    return {"used": of.used, "limit": of.limit, "rate": of.rate_limit}


def problem(error: ApiError) -> Dict[str, Any]:
    return {"status": error.status, "code": error.code, "points": isinstance(error, PointsUsedUp)}


def run(case: Dict[str, Any]) -> Dict[str, Any]:
    client = Client(case["url"], case["key"], max_wait=case["max_wait"], concurrency=case["concurrency"])
    asked = {"details": case["details"], "policy": case["policy"]}
    items: List[Dict[str, Any]] = []
    try:
        if case["call"] == "usage":
            return {"items": items, "usage": usage(client.usage())}
        if case["call"] == "check":
            items.append(described(client.check(case["emails"][0], **asked)))
        else:
            for item in client.check_many(case["emails"], **asked):
                items.append(described(item))
                if case["stop"]:
                    break
    except ApiError as error:
        return {"items": items, "error": problem(error)}
    return {"items": items}


async def run_async(case: Dict[str, Any]) -> Dict[str, Any]:
    asked = {"details": case["details"], "policy": case["policy"]}
    items: List[Dict[str, Any]] = []
    async with AsyncClient(case["url"], case["key"], max_wait=case["max_wait"], concurrency=case["concurrency"]) as client:
        try:
            if case["call"] == "usage":
                return {"items": items, "usage": usage(await client.usage())}
            if case["call"] == "check":
                items.append(described(await client.check(case["emails"][0], **asked)))
            else:
                async for item in client.check_many(case["emails"], **asked):
                    items.append(described(item))
                    if case["stop"]:
                        break
        except ApiError as error:
            return {"items": items, "error": problem(error)}
    return {"items": items}


for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(asyncio.run(run_async(case)) if "async" in sys.argv else run(case)), flush=True)
