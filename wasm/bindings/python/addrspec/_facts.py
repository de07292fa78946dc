"""What a check returns."""

from __future__ import annotations

import json as _json
from typing import Any, Dict, Optional, Tuple, Type, TypedDict

from ._details import Details, details as _details
from ._engine import value as _value
from ._names import Role


class FactsDict(TypedDict):
    """The facts as a dict; the properties of Facts describe them."""

    email: str
    valid: bool
    normalized: Optional[str]
    local_part: Optional[str]
    alias: bool
    ascii: bool
    role: Optional[Role]
    gibberish: bool
    gibberish_score: float
    domain: Optional[str]
    mx: Optional[bool]
    disposable: bool
    public: bool
    relay: bool
    typo: bool
    typo_suggestion: Optional[str]


class _Parsed(FactsDict, total=False):
    details: Dict[str, Any]  # if asked for


class Facts:
    """The facts about an address. Equal if all facts are equal.

    `json` has the bytes of the module, the same in every host. A text or number is read in them
    when it is asked for; with wasmtime all are, once. Reading a flag only searches them for it:
    in a text a quotation mark has a backslash before it, so that no text of an address has a
    member's name between quotation marks.
    """

    __slots__ = ("json", "_parsed")

    json: bytes

    def __init__(self, json: bytes):
        self.json = json
        self._parsed: Optional[_Parsed] = None

    def to_dict(self) -> FactsDict:
        """Returns the facts as json.loads returns them."""
        return self._values().copy()

    def _values(self) -> _Parsed:
        if self._parsed is None:
            self._parsed = _json.loads(self.json)
        return self._parsed

    @property
    def email(self) -> str:
        """The address as given; bytes that are not UTF-8 are U+FFFD."""
        email: str = _value(self, "email")
        return email

    @property
    def valid(self) -> bool:
        """Whether it is an addr-spec (RFC 5322 section 3.4.1, RFC 6531) that mail can carry."""
        return b'"valid":true' in self.json

    @property
    def normalized(self) -> Optional[str]:
        """Lower case, Unicode NFC, without comments; None unless valid."""
        normalized: Optional[str] = _value(self, "normalized")
        return normalized

    @property
    def local_part(self) -> Optional[str]:
        """The part before the @; None unless valid."""
        local_part: Optional[str] = _value(self, "local_part")
        return local_part

    @property
    def alias(self) -> bool:
        """Whether the local part has a plus tag with text before it."""
        return b'"alias":true' in self.json

    @property
    def ascii(self) -> bool:
        """Whether every byte is ASCII."""
        return b'"ascii":true' in self.json

    @property
    def role(self) -> Optional[Role]:
        """The category of a role account, such as "Support"; otherwise None."""
        role: Optional[Role] = _value(self, "role")
        return role

    @property
    def gibberish(self) -> bool:
        """Whether gibberish_score is 0.5 or more."""
        return b'"gibberish":true' in self.json

    @property
    def gibberish_score(self) -> float:
        """The probability that the local part is random."""
        return float(_value(self, "gibberish_score"))

    @property
    def domain(self) -> Optional[str]:
        """The part after the @, in lower case; None unless valid."""
        domain: Optional[str] = _value(self, "domain")
        return domain

    @property
    def mx(self) -> Optional[bool]:
        """None: nothing here asks DNS. False if there is no domain to look up."""
        return False if b'"mx":false' in self.json else None

    @property
    def disposable(self) -> bool:
        """Whether the domain is a known disposable provider."""
        return b'"disposable":true' in self.json

    @property
    def public(self) -> bool:
        """Whether anyone can open a mailbox at the domain."""
        return b'"public":true' in self.json

    @property
    def relay(self) -> bool:
        """Whether the domain hides the real mailbox behind forwarding."""
        return b'"relay":true' in self.json

    @property
    def typo(self) -> bool:
        """Whether the domain looks like a misspelling of a common provider."""
        return b'"typo":true' in self.json

    @property
    def typo_suggestion(self) -> Optional[str]:
        """The corrected domain, or on request address; None unless typo."""
        typo_suggestion: Optional[str] = _value(self, "typo_suggestion")
        return typo_suggestion

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facts) and self.json == other.json

    def __hash__(self) -> int:
        return hash(self.json)

    def __reduce__(self) -> Tuple[Type[Facts], Tuple[bytes]]:  # pickle: the bytes alone
        return type(self), (self.json,)

    def __repr__(self) -> str:  # without the address: a log may have it
        return f"<addrspec.{type(self).__name__} valid={self.valid}>"


class Explained(Facts):
    """Facts with the details: why they are so."""

    __slots__ = ()

    @property
    def details(self) -> Details:
        """The evidence for the facts."""
        return _details(self._values()["details"])
