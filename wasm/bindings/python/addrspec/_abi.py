"""What both engines have of the interface of the module (wasm/ABI.md)."""

from __future__ import annotations

FULL_SUGGESTION = 1  # typo_suggestion is the whole corrected address
DETAILS = 2  # the result has the member details, the evidence for it

MAX_ADDRESS = 1 << 20  # the capacity of the input buffer, in bytes


class ListsRefused(ValueError):
    """The module refused a blob of lists, and still uses those before."""


class PolicyRefused(ValueError):
    """The document is no policy. The text is the place in it, what is wrong there and how to fix it."""

    place: str  #: such as "block.reasons[2]", or "line 3, column 7" if it is no JSON
    offset: int  #: of the place in the document's text, in bytes of UTF-8

    def __init__(self, text: str, offset: int = 0):  # pickle passes the text alone
        super().__init__(text)
        self.place, self.offset = text.partition(": ")[0], offset
