"""The names in results. A later module may have more, so the types take any str."""

from __future__ import annotations

from typing import Literal, Union

KnownRole = Literal[
    "Admin", "Support", "Sales", "Marketing", "General", "NoReply", "Billing", "Legal", "IT", "HR"
]  # fmt: skip

Role = Union[KnownRole, str]

KnownRefusalCode = Literal[
    "empty",
    "no_at",
    "at_lookalike",
    "second_at",
    "angle_bracket",
    "mailto_prefix",
    "several_addresses",
    "at_spelled",
    "enclosed",
    "local_part_missing",
    "local_part_starts_with_dot",
    "local_part_ends_with_dot",
    "local_part_two_dots",
    "local_part_space",
    "local_part_comment",
    "local_part_character",
    "bot_name",
    "local_part_too_long",
    "quoted_string_unclosed",
    "text_after_quoted_string",
    "partly_quoted",
    "quote_inside",
    "quoted_control",
    "domain_missing",
    "domain_starts_with_dot",
    "domain_ends_with_dot",
    "domain_two_dots",
    "domain_space",
    "domain_comment",
    "domain_character",
    "comma_for_dot",
    "domain_placeholder",
    "domain_too_long",
    "label_too_long",
    "label_starts_with_hyphen",
    "label_ends_with_hyphen",
    "label_hyphens",
    "label_starts_with_mark",
    "label_context",
    "label_bidi",
    "label_punycode",
    "literal_unclosed",
    "literal_character",
    "literal_unknown",
    "literal_ipv4",
    "literal_ipv6",
    "literal_ipv6_tag",
    "text_after_literal",
    "comment_unclosed",
    "comment_unopened",
    "bare_cr",
    "bare_lf",
    "line_break",
    "second_fold",
    "address_too_long",
    "normalized_too_long",
    "control_character",
    "invisible_character",
    "bidi_control",
    "malformed_utf8",
]

RefusalCode = Union[KnownRefusalCode, str]
