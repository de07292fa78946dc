"""A user's program, for the type checkers: every type is spelled out."""

from typing import Annotated, List, Optional, Tuple

from django import forms
from django.db import models
from pydantic import BaseModel
from rest_framework import serializers

import addrspec
from addrspec.django import EmailField, EmailFormField, EmailValidator, validate_email
from addrspec.pydantic import Email, EmailOptions
from addrspec.rest_framework import EmailField as SerializerField

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

Careful = Annotated[Email, EmailOptions(policy=policy, allow_typo=False, output="given", messages={"typo": "{suggestion}?"})]


class Signup(BaseModel):
    email: Email
    copies: List[Email] = []
    other: Optional[Careful] = None


signup = Signup(email="jane@example.org", copies=["info@example.org"], other="a@b.example")
email: str = signup.email
copies: List[str] = signup.copies
other: Optional[str] = signup.other


class Person(models.Model):
    email = EmailField(unique=True, policy=policy, allow_typo=False, output="given", messages={"typo": "?"})

    class Meta:
        app_label = "people"


class Form(forms.Form):
    email = EmailFormField(policy=policy, required=False)


class Serializer(serializers.Serializer[Person]):
    email = SerializerField(policy="{}", allow_blank=True)


address: str = Person().email
validator = EmailValidator("%(sentence)s", code="email", allowlist=["localhost"], policy=b"{}")
validator("jane@example.org")
validate_email("jane@example.org")
