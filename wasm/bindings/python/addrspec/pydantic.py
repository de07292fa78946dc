"""A type for pydantic: pip install 'addrspec[pydantic]'.

    >>> from pydantic import BaseModel
    >>> from addrspec.pydantic import Email
    >>> class Signup(BaseModel):
    ...     email: Email
    >>> Signup(email="Jane@Example.org").email
    'jane@example.org'

With options, as metadata of str:

    >>> from typing import Annotated
    >>> from addrspec.pydantic import EmailOptions
    >>> class Careful(BaseModel):
    ...     email: Annotated[str, EmailOptions(allow_typo=False, policy={"block": {"reasons": ["disposable"]}})]

The type of an error is the code of the refusal, such as "local_part_ends_with_dot", "typo" or
"policy", and its ctx has what a message in another language needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Dict, Literal, Optional

try:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import PydanticCustomError, core_schema
except ImportError as error:
    raise ImportError("addrspec.pydantic needs pydantic 2: pip install 'addrspec[pydantic]'") from error

from . import Policy
from ._rule import NotAccepted, Rule

__all__ = ["Email", "EmailOptions"]


class EmailOptions:
    """Metadata of str: the text is an email address that the options accept.

    policy is a dict or its JSON text; what it blocks is refused. Without one a valid address is refused
    if people do not type such into a form, as README.md has it; policy={} accepts it. allow_typo=False
    refuses a domain that looks misspelled. output is "normalized", or "given" to keep the text. messages
    has texts by the code of an error, with {sentence}, {offset}, {suggestion} or {reason};
    "invalid" is for all refusals that have none. A wrong option is an error at once.
    """

    def __init__(
        self,
        *,
        policy: Optional[Policy] = None,
        allow_typo: bool = True,
        output: Literal["normalized", "given"] = "normalized",
        messages: Optional[Mapping[str, str]] = None,
    ):
        self._rule = Rule(policy, allow_typo, output, messages)

    def _validate(self, value: str) -> str:
        try:
            return self._rule.accept(value)
        except NotAccepted as refused:
            default = "{sentence}" if refused.valid else "value is not a valid email address: {sentence}"
            raise PydanticCustomError(refused.code, self._rule.message(refused) or default, refused.params) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schema = handler(source)
        if isinstance(getattr(_function(schema), "__self__", None), EmailOptions):
            schema = schema["schema"]  # these options replace those of Email
        return core_schema.no_info_after_validator_function(self._validate, schema)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Dict[str, Any]:
        return {**handler(schema), "format": "email"}


def _function(schema: Any) -> Any:
    """Returns the function of a schema that calls one after its own validation."""
    return schema["function"]["function"] if schema["type"] == "function-after" else None


#: An email address as people type it into a form, normalized; for type checkers a str.
Email = Annotated[str, EmailOptions()]
