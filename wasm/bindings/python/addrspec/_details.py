"""Why a result is so (wasm/ABI.md, Details)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple

from ._names import RefusalCode


@dataclass(frozen=True)
class Refusal:
    """Why an address is not valid."""

    code: RefusalCode  #: a stable name, such as "local_part_too_long"
    offset: int  #: of the offending byte in the address as UTF-8
    section: str  #: of the standard, such as "RFC 5321 section 4.5.3.1.1"
    sentence: str  #: what is wrong and how to correct it, without a full stop
    suggestion: Optional[str]  #: the address that is meant, if exactly one certain correction makes it valid


@dataclass(frozen=True)
class RoleEvidence:
    """What made an address a role account."""

    word: str  #: the role word, or the host that takes no mail
    match: str  #: "word", "separated", "glued", "part" or "host"
    qualifiers: Tuple[str, ...]  #: the other words: numbers, regions, departments


@dataclass(frozen=True)
class ProviderEvidence:
    """The entry of the lists that covers the domain."""

    entry: str  #: the domain, or the parent that has the entry
    kind: str  #: "disposable", "public", "relay", "no_mail", "known" or "unproven"; `class` in JSON
    subdomains: bool  #: whether the entry covers every name below it
    sources: Tuple[str, ...]  #: the lists that have the entry


@dataclass(frozen=True)
class Edit:
    """A slip: a text of the domain was typed in place of another."""

    kind: str  #: such as "transposition"
    at: int  #: its place in the domain as typed, in characters
    typed: str  #: what was typed; may be empty; `from` in JSON
    meant: str  #: what was meant; may be empty; `to` in JSON


@dataclass(frozen=True)
class TypoEvidence:
    """How a domain differs from the suggested one."""

    target: str  #: the suggested domain
    edits: Tuple[Edit, ...]


@dataclass(frozen=True)
class Exchange:
    """The host that takes the mail of the domain, in results of a program that asks DNS."""

    kind: str  #: such as "suite" or "temporary"; `class` in JSON
    provider: Optional[str]  #: who runs it, such as "Google Workspace"
    entry: Optional[str]  #: the row of the table, or the name in the lists, that covers it
    host: Optional[str]  #: the first exchange; None without MX
    address_record: Optional[bool]  #: without MX: whether mail goes to an address record; None if that lookup failed


@dataclass(frozen=True)
class Versions:
    """What determines the results."""

    engine: str  #: the checks
    lists: str  #: the lists of providers and words
    model: str  #: the model that scores gibberish


@dataclass(frozen=True)
class Details:
    """Why a result is so; None where there is nothing to say."""

    refusal: Optional[Refusal]
    canonical: Optional[str] = field(repr=False)  #: the identity of the mailbox; None unless valid
    canonical_rule: Optional[str]  #: the provider's rule behind it, such as "gmail"
    role_evidence: Optional[RoleEvidence]
    provider_evidence: Optional[ProviderEvidence]
    typo_evidence: Optional[TypoEvidence]
    versions: Versions
    form: Tuple[str, ...]  #: what is unusual about it: "quoted", "comment", "literal", "single_label", "unknown_tld", "special_use",
    #: "generated", "odd_character", "looks_disposable", "mailbox_form"
    exchange: Optional[Exchange]  #: None here: nothing asks DNS


def details(values: Dict[str, Any]) -> Details:
    """Returns the Details of the member details. Later members are ignored."""
    return Details(
        refusal=_some(Refusal, values["refusal"], "code", "offset", "section", "sentence", "suggestion"),
        canonical=values["canonical"],
        canonical_rule=values["canonical_rule"],
        role_evidence=_role(values["role_evidence"]),
        provider_evidence=_provider(values["provider_evidence"]),
        typo_evidence=_typo(values["typo_evidence"]),
        versions=versions(values["versions"]),
        form=tuple(values["form"]),
        exchange=_exchange(values["exchange"]),
    )


def versions(values: Dict[str, str]) -> Versions:
    """Returns the Versions of what addrspec_info writes."""
    return Versions(values["engine"], values["lists"], values["model"])


def _some(kind: Any, values: Optional[Dict[str, Any]], *names: str) -> Any:
    return None if values is None else kind(*(values[name] for name in names))


def _role(values: Optional[Dict[str, Any]]) -> Optional[RoleEvidence]:
    if values is None:
        return None
    return RoleEvidence(values["word"], values["match"], tuple(values["qualifiers"]))


def _provider(values: Optional[Dict[str, Any]]) -> Optional[ProviderEvidence]:
    if values is None:
        return None
    return ProviderEvidence(values["entry"], values["class"], values["subdomains"], tuple(values["sources"]))


def _exchange(values: Optional[Dict[str, Any]]) -> Optional[Exchange]:
    if values is None:
        return None
    return Exchange(values["class"], *(values[name] for name in ("provider", "entry", "host", "address_record")))


def _typo(values: Optional[Dict[str, Any]]) -> Optional[TypoEvidence]:
    if values is None:
        return None
    return TypoEvidence(values["target"], tuple(_edit(edit) for edit in values["edits"]))


def _edit(values: Dict[str, Any]) -> Edit:
    return Edit(values["kind"], values["at"], values["from"], values["to"])
