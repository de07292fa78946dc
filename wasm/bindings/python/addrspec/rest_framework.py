"""A field for Django REST framework: pip install 'addrspec[rest-framework]'.

    from addrspec.rest_framework import EmailField    # in place of serializers.EmailField

    class SignupSerializer(serializers.Serializer):
        email = EmailField(allow_typo=False, policy={"block": {"reasons": ["disposable"]}})

The options are those of addrspec.django. The code of an error is "invalid", as usual, "typo" or
"policy". Once this module is imported, a ModelSerializer uses this field for addrspec.django.EmailField,
with the options of the model.
"""

from __future__ import annotations

from typing import Any

from .django import EmailField as ModelField
from .django import EmailValidator

try:
    from rest_framework import serializers
except ImportError as error:
    raise ImportError("addrspec.rest_framework needs Django REST framework: pip install 'addrspec[rest-framework]'") from error

__all__ = ["EmailField"]

_OPTIONS = ("policy", "allow_typo", "output", "messages")


class EmailField(serializers.EmailField):
    """A serializer's field. Its value is normalized."""

    def __init__(self, **kwargs: Any):
        options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
        super(serializers.EmailField, self).__init__(**kwargs)  # without Django's validator
        models = [v for v in self.validators if isinstance(v, EmailValidator)]
        for validator in models[:1]:
            options = {"message": validator.message, **validator.rule.options(), **options}
        options["message"] = (kwargs.get("error_messages") or {}).get("invalid", options.get("message"))
        self.email = EmailValidator(**options)
        self.validators = [v for v in self.validators if v not in models] + [self.email]
        arguments = vars(self)["_kwargs"]  # by which a serializer copies its fields
        if "policy" in arguments:
            arguments["policy"] = self.email.rule.policy

    def to_internal_value(self, data: Any) -> Any:
        return self.email.rule.tidy(super().to_internal_value(data))


serializers.ModelSerializer.serializer_field_mapping[ModelField] = EmailField
