# The epidemic of docs/start/rules.md as one writes it with NumPy: whole arrays, shifted for each neighbour. It is not compared bit by bit, since NumPy draws from another stream.
# It reads orders as rival.h says, after the number of rows as an int64.
import struct
import sys
import time

import numpy as np

BETA, GAMMA = 0.1, 0.2
WELL, ILL, IMMUNE = 0, 1, 2
NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]


def tick(state, rng):
    ill = state == ILL
    sick = sum(np.roll(ill, shift, axis=(0, 1)).astype(np.int8) for shift in NEIGHBOURS)
    infected = (state == WELL) & (rng.random(state.shape) < 1 - (1 - BETA) ** sick)
    recovered = ill & (rng.random(state.shape) < GAMMA)
    return np.where(infected, ILL, np.where(recovered, IMMUNE, np.where(state == IMMUNE, WELL, state))).astype(np.int8)


def main():
    read, write = sys.stdin.buffer.read, sys.stdout.buffer
    (rows,) = struct.unpack("q", read(8))
    rng = np.random.default_rng(3)
    state = rng.integers(0, 3, (rows, rows), dtype=np.int8)
    while order := read(8):
        wall, processor = time.perf_counter_ns(), time.process_time_ns()
        for _ in range(struct.unpack("q", order)[0]):
            state = tick(state, rng)
        write.write(struct.pack("qq", time.perf_counter_ns() - wall, time.process_time_ns() - processor))
        write.flush()


main()
