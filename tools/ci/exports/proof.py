"""Runs the program of docs/AUDIT.md that checks a proof, just as it stands there, on proofs of murksim audit prove. See ../exports.sh."""

import base64
import contextlib
import copy
import io
import json
import random
import re
import runpy
import struct
import subprocess
import sys
from pathlib import Path

# Scenarios, what is special about each, and cells of their fields.
SCENARIOS = {
    "heat": ("float32, a category", [("heat", "0,0"), ("heat", "127,127"), ("wall", "63,10")]),
    "flow": ("vectors", [("away", "0,0"), ("away", "40,63"), ("scent", "5,7")]),
    "bodies": ("fixed-point numbers, entities", [("ground", "95,95")]),
    "predators": ("entities of several kinds", [("grass", "0,0")]),
}
TICK = 25

work, document = Path(sys.argv[1]), Path("docs/AUDIT.md").read_text()
program = work / "check_proof.py"
(body,) = re.findall(r"(?ms)^```python\n(.*?)^```$", document)
program.write_text(body)


def murksim(*args):
    done = subprocess.run([work / "murksim", *map(str, args)], cwd=work, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"murksim {' '.join(map(str, args))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def taken(proof, world):
    """Whether the program takes a proof, as an object or a text. It is run within this one, because there are many."""
    (work / "changed.proof").write_text(proof if isinstance(proof, str) else json.dumps(proof))
    sys.argv = [str(program), str(work / "changed.proof"), world]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        assert end.code == "it is no proof of this hash", end.code
        return False
    except (ValueError, IndexError, KeyError, OverflowError, TypeError):
        return False
    assert "belonged to the state of tick" in out.getvalue()
    return True


def flips(value):
    """The value with a bit of each of some bytes changed, in hexadecimal or base64."""
    hexadecimal = re.fullmatch("[0-9a-f]{64}", value)
    b = bytearray(bytes.fromhex(value) if hexadecimal else base64.b64decode(value))
    for i in sorted({0, len(b) // 2, len(b) - 1, *random.sample(range(len(b)), min(8, len(b)))}):
        b[i] ^= 1 << i % 8
        yield b.hex() if hexadecimal else base64.b64encode(b).decode()
        b[i] ^= 1 << i % 8


def numbers(n):
    """Numbers that are not the one that is given, or not written as one."""
    yield from (n + 1, n - 0.5, n + 0.5, float(n), str(n), -n - 1)
    if n < 2:
        yield n == 1


def changed(proof):
    """The proof with one thing changed, many times."""
    text = json.dumps(proof)
    for key in "tick", "columns", "tile", "element", "meta", "parts":
        value = re.search(f'"{key}": ("[^"]*"|[0-9]+|\\[)', text)
        more = "[], " if value[1] == "[" else value[1] + ", "
        yield f"{key} twice", text[:value.start()] + f'"{key}": {more}' + text[value.start():]
    for key in "prev_hash", "meta", "genesis":
        for value in flips(proof[key]):
            yield key, {**proof, key: value}
    for key in "proof", "tick", "state_len", "columns":
        for value in numbers(proof[key]):
            yield key, {**proof, key: value}
    for i, digest in enumerate(proof["section_digests"]):
        for value in flips(digest):
            yield "section_digests", {**proof, "section_digests": [*proof["section_digests"][:i], value, *proof["section_digests"][i + 1:]]}
    yield "parts", {**proof, "parts": []}
    for i, part in enumerate(proof["parts"]):
        def other(**keys):
            c = copy.deepcopy(proof)
            c["parts"][i].update(keys)
            return c
        for key in "column", "element", "elements":
            for value in numbers(part[key]):
                yield key, other(**{key: value})
        for value in numbers(part["tile"]):
            if value != part["tile"] + 1:  # which may hold the same bytes
                yield "tile", other(tile=value)
        for value in flips(part["bytes"]):
            yield "bytes", other(bytes=value)
        for key in "tile_path", "path":
            yield key, other(**{key: part[key] + ["00" * 32]})
            for k, node in enumerate(part[key]):
                for value in flips(node):
                    yield key, other(**{key: [*part[key][:k], value, *part[key][k + 1:]]})


def columns_of_state(path):
    """The bytes of the fields of a saved state, as docs/STATE.md lays them out."""
    b, at = path.read_bytes(), 14
    while struct.unpack_from("<H", b, at)[0] != 3:
        at += 6 + struct.unpack_from("<I", b, at + 2)[0]
    count, at, columns = struct.unpack_from("<I", b, at + 6)[0], at + 10, []
    for _ in range(count):
        _, element, n = struct.unpack_from("<IBQ", b, at)
        size = [4, 8, 4, 8][element] * n
        columns.append(b[at + 13:at + 13 + size])
        at += 13 + size
    return columns


def check(name, about, cells):
    murksim("run", name, "--until", TICK + 5, "--no-record", "--quiet", "--audit", f"{name}-audit.db", "--audit-every", 10)
    murksim("audit", "state", f"{name}-audit.db", "--tick", TICK, "-o", f"{name}.state")
    columns = columns_of_state(work / f"{name}.state")
    subjects = [("--field", field, "--cell", cell) for field, cell in cells]
    if "entities" in about:
        ids = struct.unpack(f"<{len(columns[-3]) // 8}Q", columns[-3])
        alive = [i for i in ids if i]
        subjects += [("--entity", i) for i in {alive[0], alive[len(alive) // 2], alive[-1]}]
    refused = 0
    for subject in subjects:
        file = work / f"{name}.proof"
        shown = json.loads(murksim("audit", "prove", f"{name}-audit.db", "--tick", TICK, *subject, "-o", file.name, "--force", "--json"))
        done = subprocess.run([sys.executable, program, file, shown["world_hash"]], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"the tiles belonged to the state of tick {TICK}\n"), (subject, done)
        done = subprocess.run([sys.executable, "-O", program, file, shown["world_hash"][::-1]], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (1, "it is no proof of this hash\n"), (subject, done)
        proof = json.loads(file.read_text())
        for part in proof["parts"]:
            lo = part["tile"] * 1024
            assert base64.b64decode(part["bytes"]) == columns[part["column"]][lo:lo + 1024], (subject, part)
        assert taken(proof, shown["world_hash"]), subject
        for what, other in changed(proof):
            assert not taken(other, shown["world_hash"]), f"{name} {subject}: with another value of {what} it is a proof, too"
            refused += 1
    print(f"ok  {name:10} {len(subjects)} proofs, {refused:,} changes refused  {about}", flush=True)


random.seed(1)
for name in SCENARIOS:
    check(name, *SCENARIOS[name])
