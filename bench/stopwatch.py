"""How long does a call take?

A call is made twice unmeasured (compilers compile, pages are touched), then until a time budget is spent, but
never fewer than three times. The *best* time is what the code needs when nothing disturbs it; the *median*
says how much the machine disturbed it. Ratios in the table are of best times.
"""

import statistics
import time
from dataclasses import dataclass


@dataclass
class Timing:
    seconds: float  # the best call
    median: float
    repetitions: int


def time_call(call, budget=2.0, least=3, most=100, warmups=2):
    for _ in range(warmups):
        call()
    laps = []
    while len(laps) < least or (sum(laps) < budget and len(laps) < most):
        start = time.perf_counter()
        call()
        laps.append(time.perf_counter() - start)
    return Timing(min(laps), statistics.median(laps), len(laps))
