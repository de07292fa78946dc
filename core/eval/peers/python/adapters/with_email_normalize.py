"""email-normalize without DNS: it then knows providers by its own table of domains."""

import email_normalize


def canonical(email):
    return {"text": email_normalize.normalize(email, skip_dns=True).normalized_address}
