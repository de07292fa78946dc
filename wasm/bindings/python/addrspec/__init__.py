"""Checks email addresses offline, with one WebAssembly module.

    >>> import addrspec
    >>> addrspec.check("jane@gmial.com").typo_suggestion
    'gmail.com'
"""

from ._checker import Checker
from ._default import check, check_arrow, check_many, explain, explain_many, versions
from ._details import Details, Edit, ProviderEvidence, Refusal, RoleEvidence, TypoEvidence, Versions
from ._facts import Explained, Facts
from ._instance import ListsRefused

__version__ = "0.3.0"

__all__ = [
    "Checker",
    "Details",
    "Edit",
    "Explained",
    "Facts",
    "ListsRefused",
    "ProviderEvidence",
    "Refusal",
    "RoleEvidence",
    "TypoEvidence",
    "Versions",
    "check",
    "check_arrow",
    "check_many",
    "explain",
    "explain_many",
    "versions",
]
