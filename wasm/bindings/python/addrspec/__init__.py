"""Checks email addresses offline, with one WebAssembly module, in native code where the wheel has it.

    >>> import addrspec
    >>> addrspec.check("jane@gmial.com").typo_suggestion
    'gmail.com'
"""

from ._abi import ListsRefused, PolicyRefused
from ._checker import Address, Checker
from ._default import (
    check,
    check_arrow,
    check_many,
    explain,
    explain_many,
    set_lists,
    verdict,
    verdict_arrow,
    verdict_many,
    versions,
)
from ._details import Details, Edit, Exchange, ProviderEvidence, Refusal, RoleEvidence, TypoEvidence, Versions
from ._engine import engine
from ._facts import Explained, Facts, FactsDict
from ._names import KnownRefusalCode, KnownRole, RefusalCode, Role
from ._policy import Policy, Verdict

__version__ = "0.3.0"

__all__ = [
    "Address",
    "Checker",
    "Details",
    "Edit",
    "Exchange",
    "Explained",
    "Facts",
    "FactsDict",
    "KnownRefusalCode",
    "KnownRole",
    "ListsRefused",
    "Policy",
    "PolicyRefused",
    "ProviderEvidence",
    "Refusal",
    "RefusalCode",
    "Role",
    "RoleEvidence",
    "TypoEvidence",
    "Verdict",
    "Versions",
    "check",
    "check_arrow",
    "check_many",
    "engine",
    "explain",
    "explain_many",
    "set_lists",
    "verdict",
    "verdict_arrow",
    "verdict_many",
    "versions",
]
