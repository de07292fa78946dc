"""Nostril with the defaults of its nonsense(): names of fewer than six letters
get no result. The score is what nonsense() compares with its threshold."""

import os

from nostril_detector import nonsense_detector as nostril

DIRECTORY = os.path.dirname(nostril.__file__)
N_GRAMS = nostril.dataset_from_pickle(os.path.join(DIRECTORY, "ngram_data.pklz"))
SCORE = nostril._tfidf_score_function(
    N_GRAMS, len_threshold=25, len_penalty_exp=0.9233, repetition_penalty_exp=0.9674
)


def random(name):
    yes = nostril.nonsense(name)
    letters = nostril.sanitize_string(name)
    if nostril._simple_real(letters):
        return {"yes": yes, "score": -1e6}
    if nostril._simple_nonsense(letters):
        return {"yes": yes, "score": 1e6}
    return {"yes": yes, "score": SCORE(letters)}
