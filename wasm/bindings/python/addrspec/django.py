"""A validator and fields for Django: pip install 'addrspec[django]'.

    from addrspec.django import EmailField            # in place of models.EmailField
    from addrspec.django import EmailFormField        # in place of forms.EmailField
    from addrspec.django import EmailValidator, validate_email

    class Person(models.Model):
        email = EmailField(allow_typo=False, policy={"block": {"reasons": ["disposable"]}})

policy is a dict or its JSON text; what it blocks is refused. Without one a valid address is refused
if people do not type such into a form, as README.md has it; policy={} accepts it. allow_typo=False
refuses a domain that looks misspelled. output is "normalized", or "given" to keep the text. messages
has texts, which may be lazy, by the code of a refusal; "invalid" is for all that have none, "typo"
and "policy" for the others. In a text are %(sentence)s, %(reason)s, %(offset)s, %(suggestion)s and %(value)s.
A wrong option is an error where the field is defined; that of a policy has the place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional

try:
    from django import forms
    from django.core import validators
    from django.core.exceptions import ValidationError
    from django.db import models
    from django.utils.functional import lazy
    from django.utils.text import capfirst
    from django.utils.translation import get_language, gettext
except ImportError as error:
    raise ImportError("addrspec.django needs Django: pip install 'addrspec[django]'") from error

from . import Policy, check
from ._rule import UNUSUAL, NotAccepted, Rule

__all__ = ["EmailField", "EmailFormField", "EmailValidator", "validate_email"]

Output = Literal["normalized", "given"]


class EmailValidator(validators.EmailValidator):
    """Refuses what is no email address, in place of django.core.validators.EmailValidator.

    code is that of an address that is not valid; others are "typo" and "policy". message
    is for all that have none in messages. Without a policy, any local part is accepted at the
    domains of allowlist, such as "localhost", which Django's own has by default.
    """

    message = "%(sentence)s"
    domain_allowlist: Sequence[str] = ()

    def __init__(
        self,
        message: Any = None,
        code: Optional[str] = None,
        allowlist: Optional[Sequence[str]] = None,
        *,
        policy: Optional[Policy] = None,
        allow_typo: bool = True,
        output: Output = "normalized",
        messages: Optional[Mapping[str, Any]] = None,
    ):
        super().__init__(message, code, allowlist)
        self.rule = Rule(policy, allow_typo, output, messages)
        for domain in allowlist or ():
            if not check("a@" + domain).valid:
                raise ValueError(f"allowlist: {domain!r} is no domain of a valid address")

    def __call__(self, value: Any) -> None:
        address = str(value or "")
        try:
            self.rule.accept(address)
        except NotAccepted as refused:
            if refused.code in UNUSUAL and address.rpartition("@")[2] in self.domain_allowlist:
                return
            message, code = self.rule.message(refused) or self.message, refused.code if refused.valid else self.code
            raise ValidationError(message, code, _params(refused, value)) from None

    def __eq__(self, other: object) -> bool:
        return bool(super().__eq__(other)) and self.rule == getattr(other, "rule", None)

    __hash__ = None  # type: ignore[assignment]


def _params(refused: NotAccepted, value: Any) -> dict[str, Any]:
    missing = {"value": value, "reason": refused.code, "offset": None, "suggestion": None}
    return {**missing, **refused.params, "sentence": _translated(refused.params["sentence"])}


def _text(sentence: str) -> str:
    """Returns a sentence in the active language: by a catalogue of yours, or else Django's general one."""
    text = gettext(sentence)
    if text == sentence and not (get_language() or "en").startswith("en"):
        return str(validators.EmailValidator.message)
    return capfirst(text) + "."


_translated = lazy(_text, str)

validate_email = EmailValidator()


class _Field:
    """A field whose validator has options."""

    default_validators: Any

    def __init__(
        self,
        *args: Any,
        policy: Optional[Policy] = None,
        allow_typo: bool = True,
        output: Output = "normalized",
        messages: Optional[Mapping[str, Any]] = None,
        **kwargs: Any,
    ):
        self.email = EmailValidator(policy=policy, allow_typo=allow_typo, output=output, messages=messages)
        self.default_validators = [self.email]
        super().__init__(*args, **kwargs)


class EmailFormField(_Field, forms.EmailField):
    """A form's field. Its value is normalized, and compared so with the initial one."""

    def to_python(self, value: Any) -> Any:
        return self.email.rule.tidy(super().to_python(value))


class EmailField(_Field, models.EmailField):  # type: ignore[type-arg]  # only django-stubs make it generic
    """A model's field. full_clean validates and normalizes, and so do forms, the admin and serializers.

    As with Django's field, save and queries do neither. Migrations have Django's field, for
    the column is the same: no option makes a migration, and neither does the change of the class.
    """

    def clean(self, value: Any, model_instance: Any) -> Any:
        return super().clean(self.email.rule.tidy(value), model_instance)

    def formfield(self, **kwargs: Any) -> Any:
        if issubclass(kwargs.setdefault("form_class", EmailFormField), EmailFormField):
            kwargs = {**self.email.rule.options(), **kwargs}
        return super().formfield(**kwargs)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.EmailField", args, kwargs
