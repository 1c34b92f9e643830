"""Compares what murksim export writes with saved states. See ../exports.sh."""

import base64
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from mcap.reader import NonSeekingReader, make_reader
from PIL import Image

# Scenarios and what is special about each.
SCENARIOS = {
    "heat": "float32, static categories",
    "flow": "vectors",
    "fire": "hexes",
    "crystal": "an fcc12",
    "decay": "a ring",
    "predators": "entities",
    "colony": "entities with names",
    "bodies": "fixed-point numbers",
}
LAST, EVERY = 40, 20
TICKS = list(range(0, LAST + 1, EVERY))

work = Path(sys.argv[1])
program = work / "murksim"
checks = 0


def murksim(*args):
    done = subprocess.run([program, *map(str, args)], cwd=work, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"murksim {' '.join(map(str, args))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def same(what, got, want):
    """Ends the program unless two arrays have the same shape and the same values."""
    global checks
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        sys.exit(f"{what}: shape {got.shape}, want {want.shape}")
    if not np.array_equal(got, want):
        at = np.argwhere(np.atleast_1d(got != want))[0]
        sys.exit(f"{what}: at {at} it is {np.atleast_1d(got)[tuple(at)]!r}, want {np.atleast_1d(want)[tuple(at)]!r}")
    checks += got.size


def columns_of_state(path):
    """The fields of a saved state, as docs/STATE.md lays them out."""
    b = path.read_bytes()
    assert b[:4] == b"MSS2"
    sections, at = struct.unpack_from("<H", b, 12)[0], 14
    for _ in range(sections):
        number, length = struct.unpack_from("<HI", b, at)
        at += 6
        if number == 3:
            break
        at += length
    count, at, columns = struct.unpack_from("<I", b, at)[0], at + 4, []
    for _ in range(count):
        _, element, n = struct.unpack_from("<IBQ", b, at)
        at += 13
        values = np.frombuffer(b, ["<f4", "<i8", "<i4", "<u8"][element], n, at)
        at += values.nbytes
        columns.append(values / 65536 if element == 1 else values)
    return columns


class World:
    """A recording, and what its states hold."""

    def __init__(self, name):
        self.name, self.recording = name, f"{name}.murk"
        murksim("run", name, "-q", "--until", LAST, "-o", self.recording)
        head = json.loads(murksim("inspect", "--json", self.recording).splitlines()[0])
        self.scenario = json.loads(head["descriptor"]) if isinstance(head.get("descriptor"), str) else head["descriptor"]
        self.states = {}
        for tick in TICKS:
            shown = json.loads(murksim("seek", self.recording, "--tick", tick, "--json", "--save-state", "state"))
            self.states[tick] = columns_of_state(work / "state")
            self.check_seek(tick, shown)

    def check_seek(self, tick, shown):
        """What seek prints is what the state says: so exports are compared with both."""
        shown = {field["name"]: field for field in shown["fields"]}
        for i, name, n in self.fields():
            values, what = self.states[tick][i].reshape(-1, n), f"{self.name} tick {tick}: seek's {name}"
            if "values" in self.scenario["fields"][i]:
                same(what, [shown[name]["counts"][v] for v in self.scenario["fields"][i]["values"]],
                     [np.sum(values == k) for k in range(len(self.scenario["fields"][i]["values"]))])
                continue
            for k in range(n):
                field = shown[f"{name}_{k}" if n > 1 else name]
                same(what, [field["min"], field["max"]], [values[:, k].min(), values[:, k].max()])

    def fields(self, domain="cells"):
        """Number, name and components of the fields of a domain."""
        for i, f in enumerate(self.scenario["fields"]):
            if f.get("domain", "cells") == domain:
                yield i, f["name"], int(f["type"][7:-1]) if f.get("type", "").startswith("vector(") else 1

    def static(self, i):
        return self.scenario["fields"][i].get("mutability") == "static"

    def export(self, file, *args):
        out = json.loads(murksim("export", self.recording, "-o", file, "--json", *args))
        assert (work / file).stat().st_size == out["bytes"], out
        return work / file

    def ranged(self, file, *args):
        return self.export(f"{self.name}.{file}", "--every", EVERY, *args)


def check_arrays(w):
    run = np.load(w.ranged("npz"))
    same(f"{w.name}.npz: tick", run["tick"], TICKS)
    for i, name, n in w.fields():
        got = run[name]
        want = [w.states[t][i] for t in (TICKS[:1] if w.static(i) else TICKS)]
        same(f"{w.name}.npz: {name}", got.reshape(len(want), -1), want)
        assert n == 1 or got.shape[-1] == n, got.shape
        one = np.load(w.ranged(f"{name}.npy", "--fields", name), mmap_mode="r")
        same(f"{w.name}.{name}.npy", one, got)


def check_table(w, what, table):
    cells = len(table) // len(TICKS)
    same(f"{what}: tick", table["tick"], np.repeat(TICKS, cells))
    same(f"{what}: rank", table["rank"], np.tile(np.arange(cells), len(TICKS)))
    for i, name, n in w.fields():
        columns = [name] if n == 1 else [f"{name}_{k}" for k in range(n)]
        got = table[columns].to_numpy().reshape(len(TICKS), -1)
        want = np.array([w.states[t][i] for t in TICKS])
        same(f"{what}: {name}", got.astype(want.dtype), want)


def check_entities(w, what, table):
    engine = len(w.scenario["fields"])
    for tick in TICKS:
        ids, kinds, cells = w.states[tick][engine:engine + 3]
        alive = ids != 0
        rows = table[table["tick"] == tick]
        same(f"{what}: id at tick {tick}", rows["id"].to_numpy(np.uint64), ids[alive])
        same(f"{what}: rank at tick {tick}", rows["rank"], cells[alive])
        names = np.array(w.scenario["entities"]["kinds"])
        same(f"{what}: kind at tick {tick}", rows["kind"].to_numpy(str), names[kinds[alive]])
        for i, name, n in w.fields("entities"):
            columns = [name] if n == 1 else [f"{name}_{k}" for k in range(n)]
            want = w.states[tick][i].reshape(-1, n)[alive]
            same(f"{what}: {name} at tick {tick}", rows[columns].to_numpy().astype(want.dtype), want)


def check_tables(w):
    check_table(w, f"{w.name}.csv", pd.read_csv(w.ranged("csv")))
    path = w.ranged("parquet")
    check_table(w, f"{w.name}.parquet", pd.read_parquet(path))
    notes = pq.read_metadata(path).metadata or {}
    for f in w.scenario["fields"]:
        if f.get("domain", "cells") == "cells" and "unit" in f:
            columns = [c for c in pd.read_parquet(path).columns if c == f["name"] or re.fullmatch(re.escape(f["name"]) + r"_\d+", c)]
            assert columns and all(notes[f"unit.{c}".encode()].decode() == f["unit"] for c in columns), notes
    if "entities" in w.scenario:
        check_entities(w, f"{w.name} entities .csv", pd.read_csv(w.ranged("entities.csv", "--entities")))
        check_entities(w, f"{w.name} entities .parquet", pd.read_parquet(w.ranged("entities.parquet", "--entities")))


def messages(path):
    """The messages of an MCAP file by topic, read through its index, and from end to end."""
    with open(path, "rb") as f:
        reader = make_reader(f, validate_crcs=True)
        summary = reader.get_summary()
        assert summary.statistics.message_count == sum(summary.statistics.channel_message_counts.values())
        found = {}
        for schema, channel, m in reader.iter_messages():
            body = json.loads(m.data)
            assert schema.encoding == "jsonschema" and set(json.loads(schema.data)["required"]) <= set(body)
            assert abs(m.log_time - body["time"] * 1e9) < 1, (m.log_time, body["time"])
            found.setdefault(channel.topic, []).append(body)
    with open(path, "rb") as f:
        total = sum(1 for _ in NonSeekingReader(f, validate_crcs=True).iter_messages())
    assert total == summary.statistics.message_count == sum(map(len, found.values())), total
    return found, {c.topic: c.metadata for c in summary.channels.values()}


def check_messages(w):
    found, notes = messages(w.ranged("mcap"))
    for i, name, n in w.fields():
        ticks = TICKS[:1] if w.static(i) else TICKS
        assert [m["tick"] for m in found["/" + name]] == ticks
        for m in found["/" + name]:
            got = np.frombuffer(base64.b64decode(m["data"]), m["dtype"]).reshape(m["shape"])
            assert n == 1 or m["shape"][-1] == n
            same(f"{w.name}.mcap: {name} at tick {m['tick']}", got.ravel(), w.states[m["tick"]][i])
        assert notes["/" + name].get("unit") == w.scenario["fields"][i].get("unit")
    if "entities" in w.scenario:
        attributes = [(name, n) for _, name, n in w.fields("entities")]
        rows = []
        for m in messages(w.ranged("entities.mcap", "--entities"))[0]["/entities"]:
            for e in m["entities"]:
                row = {"tick": m["tick"], "id": int(e["id"]), "kind": e["kind"], "rank": e["rank"]}
                for name, n in attributes:
                    row |= {name: e["attributes"][name]} if n == 1 else dict(zip([f"{name}_{k}" for k in range(n)], e["attributes"][name]))
                rows.append(row)
        check_entities(w, f"{w.name} entities .mcap", pd.DataFrame(rows))


def check_pictures(w):
    with Image.open(w.export(f"{w.name}.png")) as m:
        m.load()
        assert min(m.size) > 50 and len(m.convert("RGB").getcolors(1 << 24)) > 3, m.size
    with Image.open(w.ranged("sheet.png")) as m:
        m.load()
    with Image.open(w.ranged("gif")) as m:
        assert m.n_frames == len(TICKS), m.n_frames
        for i in range(m.n_frames):
            m.seek(i)
            m.load()


def check_films(w):
    """Each frame of a film looks like the picture that the .gif of the same ticks has there."""
    path = w.ranged("mp4", "--cell", 4)
    stream = json.loads(subprocess.run(
        ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", path], check=True, capture_output=True).stdout)["streams"][0]
    assert (stream["codec_name"], stream["nb_read_frames"], stream["r_frame_rate"]) == ("h264", str(len(TICKS)), "20/1"), stream
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], check=True, capture_output=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(len(TICKS), stream["height"], stream["width"], 3).astype(int)
    with Image.open(w.ranged("film.gif", "--cell", 4)) as m:
        for i, frame in enumerate(frames):
            m.seek(i)
            off = np.abs(np.asarray(m.convert("RGB")).astype(int) - frame).mean()
            assert off < 8, f"{w.name}.mp4: frame {i} is off by {off} of 255 on average"


def check_charts(w):
    texts = [e.text for e in ElementTree.parse(w.ranged("svg")).iter() if e.text]
    assert f"{w.name} over ticks" in texts, texts


def check_stats(w):
    """What run --stats writes, against sums over the states in their order."""
    tables = []
    for ending, read in ("csv", pd.read_csv), ("parquet", pd.read_parquet), ("jsonl", lambda path: pd.read_json(path, lines=True, precise_float=True)):
        file = f"{w.name}.stats.{ending}"
        murksim("run", w.name, "-q", "--no-record", "--until", LAST, "--stats", file, "--stats-every", EVERY)
        tables.append(read(work / file))
    for table in tables:
        same(f"{w.name}: ticks of statistics", table["tick"], TICKS)
        assert list(table.columns) == list(tables[0].columns), table.columns
        for column in table.columns:
            same(f"{w.name}: {column} in two formats", table[column].fillna(-1).to_numpy(np.float64).astype(np.float32),
                 tables[0][column].fillna(-1).to_numpy(np.float64).astype(np.float32))
    for row, tick in enumerate(TICKS):
        check_row(w, tables[1].iloc[row], w.states[tick], f"{w.name}: statistics of tick {tick}")


def check_row(w, row, state, what):
    ids = state[len(w.scenario["fields"])] if "entities" in w.scenario else np.ones(0)
    for k, kind in enumerate(w.scenario.get("entities", {}).get("kinds", [])):
        same(f"{what}: {kind}", row[f"population_{kind}"], np.sum((ids != 0) & (state[len(w.scenario["fields"]) + 1] == k)))
    for domain in "cells", "entities":
        for i, name, n in w.fields(domain):
            values = state[i].reshape(-1, n)
            if domain == "entities":
                values = values[ids != 0]
            for k, value in enumerate(w.scenario["fields"][i].get("values", [])):
                same(f"{what}: {name} {value}", row[f"{name}_{value}"], np.sum(values == k))
            if "values" in w.scenario["fields"][i] or len(values) == 0:
                continue
            for k in range(n):
                title, column = f"{name}_{k}" if n > 1 else name, values[:, k].astype(np.float64)
                total = np.cumsum(column)[-1]  # one after another, as sum does not add
                same(f"{what}: {title}", [row[f"{title}_{x}"] for x in ("sum", "mean", "min", "max")],
                     [total, total / len(column), column.min(), column.max()])


for name in sys.argv[2:] or SCENARIOS:
    before, world = checks, World(name)
    for check in check_arrays, check_tables, check_messages, check_pictures, check_films, check_charts, check_stats:
        check(world)
    print(f"ok  {name:10} {checks - before:>10,} values  {SCENARIOS.get(name, '')}", flush=True)
