"""A user's program, for the type checkers: every type is spelled out."""

from typing import List, Optional, Tuple

import addrspec

facts: addrspec.Facts = addrspec.check("jane@example.org", full_suggestion=True)
valid: bool = facts.valid
normalized: Optional[str] = facts.normalized
score: float = facts.gibberish_score
mx: Optional[bool] = facts.mx
json: bytes = facts.json
many: List[addrspec.Facts] = addrspec.check_many(["jane@example.org", b"info@example.org"])
details: addrspec.Details = addrspec.explain(b"jane@example.org").details
refusal: Optional[addrspec.Refusal] = details.refusal
if refusal is not None:
    offset: int = refusal.offset
form: Tuple[str, ...] = details.form
exchange: Optional[addrspec.Exchange] = details.exchange
engine: str = addrspec.versions().engine
checker = addrspec.Checker(None, instances=2)
checker.set_lists(b"")
role: Optional[addrspec.Role] = facts.role
code: addrspec.RefusalCode = "no_at"
as_dict: addrspec.FactsDict = facts.to_dict()
policy: addrspec.Policy = {"block": {"reasons": ["disposable"]}}
verdict: addrspec.Verdict = addrspec.verdict("jane@example.org", policy, mx=True, address_record=None)
rule: Optional[str] = verdict.rule
error = addrspec.PolicyRefused("block: x", 1)
place: str = error.place
at: int = error.offset
verdicts: List[addrspec.Verdict] = addrspec.verdict_many(["jane@example.org"], "{}")
