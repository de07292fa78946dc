"""The table of addresses with which the types and fields are compared with what they replace."""

import os


def replaced():
    """Returns each address, the code with which ours refuse it or None, and the names of the others that accept it."""
    with open(os.environ["ADDRSPEC_FORMS"], encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in list(file)[1:]]
    assert len(rows) == 20
    return [(address, code or None, others.split()) for address, code, others in rows]
