"""What a check returns."""

from __future__ import annotations

import json as _json
from typing import Any, Dict, Optional

from ._details import Details, details as _details


class Facts:
    """The facts about an address. Equal if all facts are equal.

    `json` has the bytes of the module, the same in every host. They are parsed when
    the first of the other attributes is read.
    """

    __slots__ = ("json", "_parsed")

    json: bytes

    def __init__(self, json: bytes):
        self.json = json
        self._parsed: Optional[Dict[str, Any]] = None

    def to_dict(self) -> Dict[str, Any]:
        """Returns the facts as json.loads returns them, but mx, which is None."""
        return dict(self._values())

    def _values(self) -> Dict[str, Any]:
        values = self._parsed
        if values is None:
            values = _json.loads(self.json)
            values["mx"] = None
            self._parsed = values
        return values

    def _value(name: str, doc: str) -> Any:  # type: ignore[misc]
        return property(lambda self: self._values()[name], doc=doc)

    email: str = _value("email", "The address as given; bytes that are not UTF-8 are U+FFFD.")
    valid: bool = _value("valid", "Whether it is an addr-spec (RFC 5322 section 3.4.1, RFC 6531) that mail can carry.")
    normalized: Optional[str] = _value("normalized", "Lower case, Unicode NFC, without comments; None unless valid.")
    local_part: Optional[str] = _value("local_part", "The part before the @; None unless valid.")
    alias: bool = _value("alias", "Whether the local part has a plus tag with text before it.")
    ascii: bool = _value("ascii", "Whether every byte is ASCII.")
    role: Optional[str] = _value("role", "The category of a role account, such as Support; otherwise None.")
    gibberish: bool = _value("gibberish", "Whether gibberish_score is 0.5 or more.")
    gibberish_score: float = _value("gibberish_score", "The probability that the local part is random.")
    domain: Optional[str] = _value("domain", "The part after the @, in lower case; None unless valid.")
    mx: None = _value("mx", "None: nothing here asks DNS.")
    disposable: bool = _value("disposable", "Whether the domain is a known disposable provider.")
    public: bool = _value("public", "Whether anyone can open a mailbox at the domain.")
    relay: bool = _value("relay", "Whether the domain hides the real mailbox behind forwarding.")
    typo: bool = _value("typo", "Whether the domain looks like a misspelling of a common provider.")
    typo_suggestion: Optional[str] = _value("typo_suggestion", "The corrected domain, or on request address; None unless typo.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facts) and self.json == other.json

    def __hash__(self) -> int:
        return hash(self.json)

    def __repr__(self) -> str:  # without the address: a log may have it
        return f"<addrspec.Facts valid={self.valid}>"


class Explained(Facts):
    """Facts with the details: why they are so."""

    __slots__ = ()

    @property
    def details(self) -> Details:
        """The evidence for the facts."""
        return _details(self._values()["details"])
