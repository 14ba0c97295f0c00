"""Time of one call from Python, printed as JSON: `python_calls.py ARMS`. The package is imported from PYTHONPATH; needs NumPy."""
import json
import statistics
import sys
import time

import numpy
import restive


def main():
    arms = int(sys.argv[1])
    draw = numpy.random.default_rng(1)
    p, c = draw.random((arms, 4)), draw.random((arms, 2)) - 0.5

    def call():
        index = restive.whittle_index(p, discount=0.99, differentiable=True)
        return index.pullback(c)

    for _ in range(20):
        check = call()
    laps, begin = [], time.perf_counter()
    while len(laps) < 50 or time.perf_counter() - begin < 0.3:
        start = time.perf_counter()
        call()
        laps.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(laps), "calls": len(laps), "check": float(numpy.asarray(check).flat[0])}))


if __name__ == "__main__":
    main()
