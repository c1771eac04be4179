"""A measurement of how long the refusal of each hostile document takes, in process: python -m
tests.interfaces.graphql.refusals

The module prints the 99th percentile and the maximum for each document, in milliseconds of processor time. The
slowest documents come last.
"""

import gc
import time
from statistics import quantiles

from tests.interfaces.graphql.hostile import HOSTILE, Hostile
from wmsd.interfaces.graphql.parser import Refused, document_of
from wmsd.interfaces.graphql.plans import operation_of, plan_operation
from wmsd.interfaces.graphql.schema import schema

TIMES = 100


def refuse(hostile: Hostile) -> float:
    """Return the processor time of the refusal in milliseconds."""
    begun = time.thread_time()
    try:
        document = document_of(hostile.document)
        plan_operation(document, operation_of(document, None), hostile.variables or {})
    except Refused:
        return (time.thread_time() - begun) * 1000
    raise AssertionError("not refused")


def main() -> None:
    schema()
    gc.freeze()
    every = []
    for name, hostile in HOSTILE.items():
        taken = [refuse(hostile) for _ in range(TIMES)]
        every.append((quantiles(taken, n=100)[98], max(taken), name))
    for p99, slowest, name in sorted(every):
        print(f"{p99:8.2f} {slowest:8.2f}  {name}")


if __name__ == "__main__":
    main()
