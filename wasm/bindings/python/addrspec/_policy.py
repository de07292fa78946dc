"""Policies, which turn facts into a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

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
    """Returns the Verdict of what addrspec_verdict writes."""
    values = json.loads(text)
    return Verdict(values["action"], values["reason"], values["rule"])


def found(mx: Optional[bool], address_record: Optional[bool]) -> int:
    """Returns what a caller looked up as the word that addrspec_verdict takes."""
    return _known(mx) | _known(address_record) << 2


def _known(fact: Optional[bool]) -> int:
    return 0 if fact is None else 3 if fact else 1
