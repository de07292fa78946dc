"""gibberish-detector. It ships no model, so it is trained here on the names and words
that our own model is trained on, with its own training and its default threshold."""

import os
import string

from gibberish_detector import detector, trainer

DATA = os.path.join(os.path.dirname(__file__), "../../../../gibberish/data")


def text():
    for name in ("names.txt", "words.txt"):
        with open(os.path.join(DATA, name), encoding="utf-8") as file:
            yield from (word for line in file if line[0] not in "[#" for word in line.split())


MODEL = trainer.train_on_content("\n".join(text()), string.ascii_lowercase)
DETECTOR = detector.Detector(MODEL, 4.0)


def random(name):
    score = DETECTOR.calculate_probability_of_being_gibberish(name.lower())
    return {"yes": score > DETECTOR.limit, "score": score}
