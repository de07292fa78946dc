"""Checks with the package's own lists.

Functions and not methods of an instance, so that pickle passes them to other
processes by their names.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterable, List, Optional

from ._checker import Address, Checker
from ._details import Versions
from ._facts import Explained, Facts
from ._policy import Policy, Verdict, document

_checker = Checker()


def check(address: Address, *, full_suggestion: bool = False) -> Facts:
    """Returns the facts about an address. See Checker.check."""
    return _checker.check(address, full_suggestion=full_suggestion)


def check_many(addresses: Iterable[Address], *, full_suggestion: bool = False) -> List[Facts]:
    """Returns the facts about many addresses. See Checker.check_many."""
    return _checker.check_many(addresses, full_suggestion=full_suggestion)


def check_arrow(array: Any, *, full_suggestion: bool = False, canonical: bool = False) -> Any:
    """Returns the facts about a pyarrow array of addresses. See Checker.check_arrow."""
    return _checker.check_arrow(array, full_suggestion=full_suggestion, canonical=canonical)


def explain(address: Address, *, full_suggestion: bool = False) -> Explained:
    """Returns the facts about an address and why they are so. See Checker.explain."""
    return _checker.explain(address, full_suggestion=full_suggestion)


def explain_many(addresses: Iterable[Address], *, full_suggestion: bool = False) -> List[Explained]:
    """Returns the facts about many addresses and why they are so. See Checker.explain_many."""
    return _checker.explain_many(addresses, full_suggestion=full_suggestion)


def verdict(
    address: Address,
    policy: Policy,
    *,
    mx: Optional[bool] = None,
    address_record: Optional[bool] = None,
    disposable: bool = False,
    exchanges: Iterable[str] = (),
) -> Verdict:
    """Returns the verdict of a policy on an address. See Checker.verdict."""
    return _checker.verdict(address, policy, mx=mx, address_record=address_record, disposable=disposable, exchanges=exchanges)


def verdict_many(addresses: Iterable[Address], policy: Policy) -> List[Verdict]:
    """Returns the verdicts of a policy on many addresses. See Checker.verdict_many."""
    return _checker.verdict_many(addresses, policy)


def verdict_arrow(array: Any, policy: Policy) -> Any:
    """Returns the verdicts of a policy on a pyarrow array of addresses. See Checker.verdict_arrow."""
    return _checker.verdict_arrow(array, policy)


def deciding(policy: Policy, checker: Optional[Checker] = None) -> Callable[[Any], Any]:
    """Returns verdict_arrow with a policy, for an engine that passes it a column.

    It verifies the policy, so that an engine has the error before it has a row, and keeps its
    text, so that a change of the dict has no effect.
    """
    text = document(policy)
    (checker or _checker).verdict_many([], text)
    return partial(checker.verdict_arrow if checker else verdict_arrow, policy=text)


def versions() -> Versions:
    """Returns the versions of the checks, the lists and the model."""
    return _checker.versions()


def set_lists(blob: bytes) -> None:
    """Replaces the lists of these functions. See Checker.set_lists."""
    _checker.set_lists(blob)
