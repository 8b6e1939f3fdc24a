"""A short run of the fuzzer in every run of the tests; `make test-slow` and `make fuzz` go on."""

import logging

from fuzz.run import fuzz


def test_calls_end_with_results_or_errors_of_our_own():
    logging.disable(logging.CRITICAL)
    try:
        counts, foreign = fuzz(n_calls=60, seconds=60, seed=0, verbose=False)
    finally:
        logging.disable(logging.NOTSET)
    assert foreign == {}
    assert counts["result"] > 5
    assert counts["own error"] > 5
