"""Checks rows with one package: serve.py PACKAGE.

Rows come as JSON lines {"question", "value"}; each gets a line with the result. An
exception is no result. An adapter returns a function for each question that the
package has a check for.
"""

import json
import os
import string
import sys


def email_validator():
    """Without DNS and with every option that admits more of the RFCs' grammar: quoted
    local parts, address literals, domains of one label, special-use names."""
    import email_validator as package

    package.SPECIAL_USE_DOMAIN_NAMES.clear()

    def valid(email):
        try:
            package.validate_email(
                email,
                check_deliverability=False,
                allow_quoted_local=True,
                allow_domain_literal=True,
                globally_deliverable=False,
            )
        except package.EmailNotValidError:
            return {"yes": False}
        return {"yes": True}

    return {"valid": valid}


def nostril_detector():
    """With the defaults of its nonsense(): names of fewer than six letters get no
    result. The score is what nonsense() compares with its threshold."""
    from nostril_detector import nonsense_detector as nostril

    n_grams = nostril.dataset_from_pickle(os.path.join(os.path.dirname(nostril.__file__), "ngram_data.pklz"))
    score = nostril._tfidf_score_function(
        n_grams, len_threshold=25, len_penalty_exp=0.9233, repetition_penalty_exp=0.9674
    )

    def random(name):
        yes = nostril.nonsense(name)
        letters = nostril.sanitize_string(name)
        if nostril._simple_real(letters):
            return {"yes": yes, "score": -1e6}
        if nostril._simple_nonsense(letters):
            return {"yes": yes, "score": 1e6}
        return {"yes": yes, "score": score(letters)}

    return {"random": random}


def gibberish_detector():
    """It ships no model, so it is trained here on the names and words that our own model
    is trained on, with its own training and its default threshold."""
    from gibberish_detector import detector, trainer

    words = []
    for name in ("names.txt", "words.txt"):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../gibberish/data", name)
        with open(path, encoding="utf-8") as file:
            words.extend(word for line in file if line[0] not in "[#" for word in line.split())
    model = trainer.train_on_content("\n".join(words), string.ascii_lowercase)
    package = detector.Detector(model, 4.0)

    def random(name):
        score = package.calculate_probability_of_being_gibberish(name.lower())
        return {"yes": score > package.limit, "score": score}

    return {"random": random}


def disposable_email_domains():
    """A domain counts if it or a parent is listed."""
    from disposable_email_domains import blocklist

    def disposable(domain):
        labels = domain.split(".")
        return {"yes": any(".".join(labels[i:]) in blocklist for i in range(len(labels) - 1))}

    return {"disposable": disposable}


def email_normalize():
    """Without DNS: it then knows providers by its own table of domains."""
    import email_normalize as package

    return {"canonical": lambda email: {"text": package.normalize(email, skip_dns=True).normalized_address}}


rows, results = sys.stdin, sys.stdout
sys.stdout = sys.stderr  # packages may print
checks = globals()[sys.argv[1].replace("-", "_")]()

for line in rows:
    row = json.loads(line)
    try:
        result = checks[row["question"]](row["value"])
    except Exception as error:
        result = {"none": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), file=results, flush=True)
