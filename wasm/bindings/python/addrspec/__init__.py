"""Checks email addresses offline, with one WebAssembly module.

    >>> import addrspec
    >>> addrspec.check("jane@gmial.com").typo_suggestion
    'gmail.com'
"""

from ._checker import Checker
from ._facts import Facts
from ._instance import ListsRefused

__all__ = ["Checker", "Facts", "ListsRefused", "check", "check_many", "explain"]

_default = Checker()
check = _default.check
check_many = _default.check_many
explain = _default.explain
