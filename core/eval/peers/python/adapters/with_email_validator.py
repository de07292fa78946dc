"""email-validator without DNS and with every option that admits more of the RFCs'
grammar: quoted local parts, address literals, domains of one label, special-use names."""

import email_validator

email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


def valid(email):
    try:
        email_validator.validate_email(
            email,
            check_deliverability=False,
            allow_quoted_local=True,
            allow_domain_literal=True,
            globally_deliverable=False,
        )
    except email_validator.EmailNotValidError:
        return {"yes": False}
    return {"yes": True}
