"""Prints the names that the types know: roles, and codes of refusals."""

from typing import get_args

import addrspec

print(" ".join(get_args(addrspec.KnownRole)))
print(" ".join(get_args(addrspec.KnownRefusalCode)))
