"""Computes every tick of murksim recordings again, from the specification alone, and compares the hashes.

Exit status: 0 all equal, 1 damaged or not understood, 2 usage, 3 a hash differs, a tick fails,
or the header contradicts the descriptor.
"""

import argparse
import hashlib
import json
import struct
import sys
from contextlib import contextmanager

from arithmetic import Fault
from murk import Reader, Refused, StateHash, config_hash, fnv1a, read_descriptor, read_frame, read_header
from world import World

EQUAL, REFUSED, DIFFERS = 0, 1, 3


class Diverged(Exception):
    """The recording says one thing, the computation another."""

    def __init__(self, tick, recorded, replayed, differs="state hash"):
        super().__init__(f"tick {tick}, {differs}: recorded {recorded}, replayed {replayed}")
        self.tick, self.differs, self.recorded, self.replayed = tick, differs, str(recorded), str(replayed)


@contextmanager
def understood(what):
    """Turns the errors that a senseless descriptor causes into Refused."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MemoryError, RecursionError,
            struct.error) as error:
        raise Refused(f"{what}: the descriptor makes no sense ({type(error).__name__}: {error})") from None


def hexadecimal(number):
    return f"{number:016x}"


def build(header):
    """The world of a recording, and the checks of README.md, steps 2 to 4."""
    descriptor = read_descriptor(header)
    with understood("genesis"):
        dt = 1 / float(descriptor.get("tick_rate", 20))
        computed = hexadecimal(config_hash(header, dt))
        if computed != hexadecimal(header.config_hash):
            raise Diverged(0, hexadecimal(header.config_hash), computed, "config hash")
        world = World(descriptor)
    for what, recorded, computed in (("seed", header.seed, world.seed),
                                     ("columns", header.columns, len(world.order)),
                                     ("cells", header.cells, world.lattice.cells)):
        if recorded != computed:
            raise Diverged(0, recorded, computed, what)
    return world


def read_table(path, world):
    """The table of `murksim run --hashes`: by tick, the hash of the state and those of the columns, in order."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if not lines or lines[0] != ["tick", "state", *world.columns]:
        raise Refused(f"{path} is no table of this world's hashes")
    return {cells[0]: cells[1:] for cells in lines[1:] if len(cells) == len(lines[0])}


def compare(world, columns, hash, table):
    """Takes the tick's row out of the table, and fails at the first column whose hash is another, or the state's."""
    row = table.pop(str(world.tick), None)
    if row is None:
        raise Refused(f"the table of hashes has no tick {world.tick}")
    state, *recorded = row  # by position: a field may be called state
    for name, data, said in zip(world.columns, columns, recorded):
        computed = hexadecimal(fnv1a(data))
        if said != computed:
            raise Diverged(world.tick, said, computed, f"column {name} of the table")
    if state != hash:
        raise Diverged(world.tick, state, hash, "state hash of the table")


def verify(path, most, table_path):
    """Verifies one file; the number of ticks that are equal, the last hash, and the digest of the run."""
    with open(path, "rb") as file:
        reader = Reader(file.read())
    world = build(read_header(reader))
    table = read_table(table_path, world) if table_path else None
    hashes = StateHash()
    run = hashlib.sha256()
    hash = hexadecimal(hashes.of(world.column_bytes()))
    while (most is None or world.tick < most) and (frame := read_frame(reader)):
        recorded = hexadecimal(frame.hash)
        try:
            with understood(f"tick {frame.tick}"):
                world.step(frame)
        except Fault as fault:
            raise Diverged(frame.tick, recorded, f"no hash, since the tick fails: {fault}") from None
        columns = world.column_bytes()
        hash = hexadecimal(hashes.of(columns))
        if table_path:
            compare(world, columns, hash, table)
        if hash != recorded:
            raise Diverged(frame.tick, recorded, hash)
        run.update(bytes.fromhex(hash)[::-1])
    if table and most is None:
        raise Refused(f"the table of hashes goes on with tick {next(iter(table))}; the recording has ended")
    return world.tick, hash, run.hexdigest()


def report(path, most, table, as_json):
    """Verifies one file and prints a line; the exit status."""
    line = {"event": "verdict", "file": path, "ok": False}
    try:
        ticks, hash, digest = verify(path, most, table)
        status, text = EQUAL, f"ok  {path}  {ticks} ticks, hash {hash}\n  run digest  {digest}"
        line.update(ok=True, ticks=ticks, final_hash=hash, run_digest=digest)
    except Diverged as it:
        status, text = DIFFERS, f"DIVERGED  {path}  {it}"
        line.update(ticks=max(it.tick - 1, 0), tick=it.tick, differs=it.differs, recorded=it.recorded,
                    replayed=it.replayed)
    except (Refused, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        status, text = REFUSED, f"REFUSED  {path}  {why}"
        line.update(error=why)
    print(json.dumps(line) if as_json else text, flush=True)
    return status


def natural(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="run.murk")
    parser.add_argument("--hashes", metavar="TABLE.tsv", help="compare each column with this table, too")
    parser.add_argument("--ticks", type=natural, metavar="N", help="stop after N ticks")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each file")
    arguments = parser.parse_args()
    if arguments.hashes and len(arguments.files) > 1:
        parser.error("--hashes needs a single recording")
    return max(report(path, arguments.ticks, arguments.hashes, arguments.json) for path in arguments.files)


if __name__ == "__main__":
    sys.exit(main())
