"""An index that somebody has forged changes nothing that is read of a recording."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

import murksim

MASK = (1 << 64) - 1
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def rotated(x: int, bits: int) -> int:
    return (x << bits | x >> 64 - bits) & MASK


def mixed(lane: int, word: int) -> int:
    return rotated(lane + word * PRIMES[1] & MASK, 31) * PRIMES[0] & MASK


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0 of 32 bytes or more."""
    lanes = [PRIMES[0] + PRIMES[1] & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
    whole = len(data) // 32 * 32
    for at in range(0, whole, 32):
        lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
    sum_ = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
    for lane in lanes:
        sum_ = (sum_ ^ mixed(0, lane)) * PRIMES[0] + PRIMES[3] & MASK
    sum_ = sum_ + len(data) & MASK
    at = whole
    for at in range(whole, len(data) - 7, 8):
        sum_ = rotated(sum_ ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * PRIMES[0] + PRIMES[3] & MASK
    at = len(data) // 8 * 8
    if len(data) - at >= 4:
        sum_ = rotated(sum_ ^ struct.unpack_from("<I", data, at)[0] * PRIMES[0] & MASK, 23) * PRIMES[1] + PRIMES[2] & MASK
        at += 4
    for byte in data[at:]:
        sum_ = rotated(sum_ ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    sum_ = (sum_ ^ sum_ >> 33) * PRIMES[1] & MASK
    sum_ = (sum_ ^ sum_ >> 29) * PRIMES[2] & MASK
    return sum_ ^ sum_ >> 32


def stored(data: bytes) -> bytes:
    """One zstd frame that holds the data as it is."""
    blocks = [data[at : at + (128 << 10)] for at in range(0, len(data), 128 << 10)]
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(data))
    for i, block in enumerate(blocks):
        frame += struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3] + block
    return frame


def chunk(kind: bytes, tick: int, payload: bytes) -> bytes:
    head = struct.pack("<cQII", kind, tick, 1, len(payload))
    return head + struct.pack("<I", crc32c(head)) + payload + struct.pack("<I", crc32c(payload))


def test_forged_index(tmp_path: Path) -> None:
    path, saved = tmp_path / "heat.murk", tmp_path / "heat.state"
    murksim.run("heat", ticks=50, output=path)
    murksim.command("seek", str(path), "--tick", "50", "--save-state", str(saved))
    with murksim.open(path) as recording:
        true = recording[50]["heat"].copy()
        before = recording[49]["heat"].copy()
    state = saved.read_bytes()[:-32]  # without its SHA-256
    at = state.index(true.tobytes())
    false = state[:at] + (true + np.float32(1)).tobytes() + state[at + true.nbytes :]
    payload = struct.pack("<QQQQ", 0x1111, path.stat().st_size, len(false), xxh64(false)) + stored(false)
    index = path.with_name(path.name + ".idx")
    whole, end = index.read_bytes(), 21 + 8 + 4  # the chunk E is the last one
    forged = whole[:-end] + chunk(b"K", 50, payload) + chunk(b"S", 50, bytes(32)) + whole[-end:]
    for text in (forged, forged[:-end]):
        index.write_bytes(text)
        with murksim.open(path) as recording:
            assert np.array_equal(recording[50]["heat"], true)
            assert np.array_equal(recording[49]["heat"], before)
            assert np.array_equal(recording[49:51]["heat"][1], true)
        out = tmp_path / "heat.npz"
        murksim.command("export", str(path), "-o", str(out), "--every", "50", "--fields", "heat", "--force")
        assert np.array_equal(np.load(out)["heat"][-1], true)
    assert murksim.verify(path)


def test_sums() -> None:
    """The forger's sums are those of an index; else it would be refused as damaged."""
    assert crc32c(b"123456789") == 0xE3069283
    assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1
