"""Policies, which turn facts into a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Union

#: A policy: its JSON text, or a dict that gives it.
Policy = Union[str, bytes, "Mapping[str, Any]"]


@dataclass(frozen=True)
class Verdict:
    """What a policy decides about an address."""

    action: str  #: "allow", "review" or "block"
    reason: Optional[str]  #: such as "disposable", "domain" or "invalid"; None if no rule applied
    rule: Optional[str]  #: its place in the policy, such as "block.reasons[1]"


def document(policy: Policy) -> bytes:
    """Returns the text of a policy in UTF-8."""
    if isinstance(policy, Mapping):
        policy = json.dumps(dict(policy))
    if isinstance(policy, str):
        policy = policy.encode("utf-8", "surrogatepass")  # the module refuses a lone surrogate
    if not isinstance(policy, bytes):
        raise TypeError(f"policy must be a dict or the text of one, not {type(policy).__name__}")
    return policy


def verdict(text: bytes) -> Verdict:
    """Returns the Verdict of what addrspec_decide writes."""
    values = json.loads(text)
    return Verdict(values["action"], values["reason"], values["rule"])


def found(mx: Optional[bool], address_record: Optional[bool]) -> int:
    """Returns what a caller looked up as the word that addrspec_decide takes."""
    return _known(mx) | _known(address_record) << 2


_MAX_EXCHANGES = 64 << 10  # in bytes: they come in a message of DNS


def names(exchanges: Iterable[str]) -> bytes:
    """Returns the names of exchanges with spaces between."""
    if isinstance(exchanges, (str, bytes)):
        raise TypeError("exchanges must be an iterable of names, not one name")
    text = " ".join(exchanges).encode("utf-8", "surrogatepass")
    if len(text) > _MAX_EXCHANGES or b"\0" in text:
        raise ValueError("exchanges must be names of at most 64 KiB together")
    return text


def _known(fact: Optional[bool]) -> int:
    return 0 if fact is None else 3 if fact else 1
