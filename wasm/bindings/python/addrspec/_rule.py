"""Which addresses a form accepts: the options that the types and fields of frameworks share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Dict, Optional, get_args

from ._default import check, explain, verdict, verdict_many
from ._abi import MAX_ADDRESS
from ._names import KnownRefusalCode
from ._policy import Policy, document

#: What is wrong with a valid address that USUAL blocks, by the code.
UNUSUAL = {
    "single_label": "the domain has no dot; use an address at a full domain name, such as example.org",
    "unknown_tld": "the domain ends in no top-level domain; check what is after its last dot",
    "literal": "the domain is an IP address; use an address at a domain name",
    "comment": "the address has a comment; remove the parentheses and what is in them",
    "quoted": "the local part is in quotation marks; use an address without them",
    "arpa": "domains below .arpa have no mailboxes for people; use an address at another domain",
}

#: The keys of messages. "invalid" is for all refusals that have no message of their own.
CODES = frozenset((*get_args(KnownRefusalCode), *UNUSUAL, "invalid", "typo", "policy"))


class NotAccepted(Exception):
    """An address is not accepted. The text is the sentence, which does not repeat the address."""

    def __init__(self, code: str, sentence: str, **params: Any):
        super().__init__(sentence)
        self.code = code  #: of the refusal, such as "no_at"; a key of UNUSUAL; "typo"; or "policy"
        self.valid = code in ("typo", "policy")  #: the options refuse a valid address
        self.params: Dict[str, Any] = {"sentence": sentence, **params}  #: for messages


class Verified(bytes):
    """The text of a policy that the module has taken. Copies of it are not verified again."""

    def __deepcopy__(self, memo: Any) -> Verified:
        return self

    def __repr__(self) -> str:
        return repr(json.loads(self))


#: The policy of a rule without one: an address is such as people type into a form.
USUAL = Verified(b'{"block": {"domains": ["*.arpa"], "reasons": ["single_label", "unknown_tld", "literal", "comment", "quoted"]}}')


class Rule:
    """Accepts addresses. Equal if the options are equal.

    A wrong option is an error here, where a type or a field is defined; that of a policy is
    PolicyRefused and has the place. The module is loaded by the first address, or by a policy.
    """

    def __init__(
        self,
        policy: Optional[Policy] = None,
        allow_typo: bool = True,
        output: str = "normalized",
        messages: Optional[Mapping[str, Any]] = None,
    ):
        if not isinstance(allow_typo, bool):
            raise TypeError(f"allow_typo must be True or False, not {type(allow_typo).__name__}")
        if output not in ("normalized", "given"):
            raise ValueError(f'output must be "normalized" or "given", not {output!r}')
        for code in (messages := dict(messages or {})):
            if code not in CODES:
                raise ValueError(f'messages: {code!r} is no code; write that of a refusal, "invalid", "typo" or "policy"')
        self.policy = None if policy is None else _verified(policy)
        self.allow_typo, self.output, self.messages = allow_typo, output, messages

    def accept(self, address: str) -> str:
        """Returns the address as it is to be kept, or raises NotAccepted."""
        given = address.encode("utf-8", "surrogatepass")[:MAX_ADDRESS]  # a longer one is not valid in any case
        facts = check(given)
        if not facts.valid:
            refusal = explain(given).details.refusal
            assert refusal is not None
            raise NotAccepted(refusal.code, refusal.sentence, offset=refusal.offset)
        decided = verdict(given, self.policy or USUAL)
        if decided.action == "block":
            if self.policy is not None:
                raise NotAccepted("policy", f"such addresses are not accepted ({decided.reason})", reason=decided.reason)
            code = "arpa" if decided.reason == "domain" else str(decided.reason)
            raise NotAccepted(code, UNUSUAL[code], suggestion=facts.typo_suggestion)
        if facts.typo and not self.allow_typo and decided.reason != "domain":  # one that the policy names is no slip
            suggestion = facts.typo_suggestion
            raise NotAccepted("typo", f"the domain looks like a misspelling of {suggestion}; correct it", suggestion=suggestion)
        return address if self.output == "given" else facts.normalized or address

    def tidy(self, value: Any) -> Any:
        """Returns an accepted address as it is to be kept, and all else unchanged, for validators to refuse."""
        try:
            return self.accept(value) if isinstance(value, str) else value
        except NotAccepted:
            return value

    def message(self, refused: NotAccepted) -> Any:
        """Returns the message of the options for a refusal, or None."""
        return self.messages.get(refused.code, None if refused.valid else self.messages.get("invalid"))

    def options(self) -> Dict[str, Any]:
        """Returns the arguments of an equal rule."""
        return vars(self).copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def _verified(policy: Policy) -> Verified:
    if isinstance(policy, Verified):
        return policy
    text = Verified(document(policy))
    verdict_many([], text)
    return text
