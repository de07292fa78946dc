"""disposable-email-domains of PyPI: a domain counts if it or a parent is listed."""

from disposable_email_domains import blocklist


def disposable(domain):
    labels = domain.split(".")
    return {"yes": any(".".join(labels[i:]) in blocklist for i in range(len(labels) - 1))}
