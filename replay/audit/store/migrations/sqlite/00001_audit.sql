-- +goose Up
-- The schema of the audit chain. Every table is append-only; all are WITHOUT ROWID, since a row could
-- else be replaced by its rowid, past the triggers. Codes of errors: MS001 append-only, MS002 halted
-- run, MS003 an input of an earlier tick than the one before it, MS004 an input of a committed tick,
-- MS005 the first link is not at the run's first tick. Times are microseconds since 1970, UTC.

CREATE TABLE runs (
    run_id         TEXT    NOT NULL PRIMARY KEY CHECK (length(run_id) = 36),
    created_at     INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER) * 1000000),
    label          TEXT    NOT NULL DEFAULT '',
    master_seed    TEXT    NOT NULL CHECK (master_seed NOT GLOB '*[^0-9]*' AND length(master_seed) BETWEEN 1 AND 20
        AND (master_seed = '0' OR master_seed NOT GLOB '0*')
        AND (length(master_seed) < 20 OR master_seed <= '18446744073709551615')),
    rate_num       INTEGER NOT NULL CHECK (rate_num > 0),
    rate_den       INTEGER NOT NULL CHECK (rate_den > 0),
    rules_version  INTEGER NOT NULL CHECK (rules_version BETWEEN 1 AND 4294967295),
    state_format   INTEGER NOT NULL CHECK (state_format BETWEEN 1 AND 2147483647),
    hash_alg       TEXT    NOT NULL DEFAULT 'sha256' CHECK (hash_alg = 'sha256'),
    rng_alg        TEXT    NOT NULL CHECK (rng_alg IN ('chacha8', 'chacha20')),
    genesis        BLOB    NOT NULL,
    genesis_digest BLOB    NOT NULL CHECK (length(genesis_digest) = 32), -- SHA-256 of genesis: the program checks
    engine_version TEXT    NOT NULL,
    first_tick     INTEGER NOT NULL DEFAULT 0 CHECK (first_tick >= 0),
    parent_run_id  TEXT    REFERENCES runs,
    fork_tick      INTEGER,
    CHECK ((parent_run_id IS NULL) = (fork_tick IS NULL)),
    CHECK (fork_tick IS NULL OR fork_tick = first_tick)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_halts (
    run_id    TEXT    NOT NULL PRIMARY KEY REFERENCES runs,
    tick      INTEGER NOT NULL CHECK (tick >= 0),
    code      TEXT    NOT NULL CHECK (code <> ''),
    detail    TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
    halted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE input_events (
    run_id       TEXT    NOT NULL REFERENCES runs,
    seq          INTEGER NOT NULL CHECK (seq >= 1),
    tick         INTEGER NOT NULL CHECK (tick >= 1),
    source       TEXT    NOT NULL CHECK (length(source) = 36), -- zeros: the operator
    kind         INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 65535),
    payload      BLOB    NOT NULL,
    payload_json TEXT    CHECK (json_valid(payload_json)), -- for people
    prev_seq     INTEGER GENERATED ALWAYS AS (nullif(seq - 1, 0)) STORED,
    prev_hash    BLOB    NOT NULL CHECK (length(prev_hash) = 32),
    event_hash   BLOB    NOT NULL CHECK (length(event_hash) = 32),
    accepted_at  INTEGER NOT NULL,
    PRIMARY KEY (run_id, seq),
    UNIQUE (run_id, seq, event_hash),
    CHECK (seq > 1 OR prev_hash = zeroblob(32)),
    FOREIGN KEY (run_id, prev_seq, prev_hash) REFERENCES input_events (run_id, seq, event_hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX input_events_by_tick ON input_events (run_id, tick, seq);

CREATE TABLE chain_hashes (
    run_id          TEXT    NOT NULL REFERENCES runs,
    tick            INTEGER NOT NULL CHECK (tick >= 0),
    prev_tick       INTEGER CHECK (prev_tick = tick - 1), -- null exactly in the first link: a trigger
    prev_hash       BLOB    NOT NULL CHECK (length(prev_hash) = 32),
    world_hash      BLOB    NOT NULL CHECK (length(world_hash) = 32),
    input_seq       INTEGER NOT NULL CHECK (input_seq >= 0), -- of the last input of this tick or one before it
    input_hash      BLOB    NOT NULL CHECK (length(input_hash) = 32),
    state_len       INTEGER NOT NULL CHECK (state_len >= 14),
    section_digests BLOB    NOT NULL CHECK (length(section_digests) % 34 = 0), -- a section: id (LE16), SHA-256
    committed_at    INTEGER NOT NULL,
    PRIMARY KEY (run_id, tick),
    UNIQUE (run_id, tick, world_hash),
    CHECK (prev_tick IS NOT NULL OR prev_hash = zeroblob(32)),
    CHECK (input_seq > 0 OR input_hash = zeroblob(32)),
    FOREIGN KEY (run_id, prev_tick, prev_hash) REFERENCES chain_hashes (run_id, tick, world_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    run_id     TEXT    NOT NULL REFERENCES runs,
    tick       INTEGER NOT NULL,
    world_hash BLOB    NOT NULL CHECK (length(world_hash) = 32),
    codec      TEXT    NOT NULL CHECK (codec IN ('raw', 'zstd')),
    state_len  INTEGER NOT NULL CHECK (state_len >= 0), -- of the state, not of what is stored of it
    state      BLOB    NOT NULL,
    PRIMARY KEY (run_id, tick),
    CHECK (codec = 'zstd' OR length(state) = state_len),
    FOREIGN KEY (run_id, tick, world_hash) REFERENCES chain_hashes (run_id, tick, world_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE audits (
    audit_id             TEXT    NOT NULL PRIMARY KEY CHECK (length(audit_id) = 36),
    run_id               TEXT    NOT NULL REFERENCES runs,
    started_at           INTEGER NOT NULL,
    finished_at          INTEGER NOT NULL CHECK (finished_at >= started_at),
    engine_version       TEXT    NOT NULL,
    platform             TEXT    NOT NULL,
    from_tick            INTEGER NOT NULL CHECK (from_tick >= 0),
    to_tick              INTEGER NOT NULL CHECK (to_tick >= from_tick),
    verdict              TEXT    NOT NULL CHECK (verdict IN ('PASS', 'FAIL', 'EVIDENCE', 'ERROR')),
    first_divergent_tick INTEGER CHECK (first_divergent_tick BETWEEN from_tick AND to_tick),
    expected_hash        BLOB    CHECK (length(expected_hash) = 32),
    calculated_hash      BLOB    CHECK (length(calculated_hash) = 32),
    report               TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(report)),
    CHECK ((verdict = 'FAIL') = (first_divergent_tick IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX audits_by_run ON audits (run_id, started_at);

-- WITHOUT ROWID tables number no rows by themselves: the program takes the next number.
CREATE TABLE alerts (
    alert_id  INTEGER NOT NULL PRIMARY KEY CHECK (alert_id >= 1),
    run_id    TEXT    NOT NULL REFERENCES runs,
    tick      INTEGER NOT NULL CHECK (tick >= 0),
    code      TEXT    NOT NULL CHECK (code <> ''),
    severity  TEXT    NOT NULL CHECK (severity IN ('warning', 'critical')),
    detail    TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
    raised_at INTEGER NOT NULL,
    audit_id  TEXT    REFERENCES audits
) STRICT, WITHOUT ROWID;

CREATE INDEX alerts_by_run ON alerts (run_id, raised_at);

-- +goose StatementBegin
CREATE TRIGGER chain_hashes_insert BEFORE INSERT ON chain_hashes BEGIN
    SELECT raise(ABORT, 'MS002 the run is halted: no link is added')
        WHERE EXISTS (SELECT 1 FROM run_halts WHERE run_id = NEW.run_id);
    SELECT raise(ABORT, 'MS001 chain_hashes is append-only: the tick is committed already')
        WHERE EXISTS (SELECT 1 FROM chain_hashes WHERE run_id = NEW.run_id AND tick = NEW.tick);
    SELECT raise(ABORT, 'MS005 the first link of a run, and no other, is at its first tick and follows none')
        FROM runs WHERE run_id = NEW.run_id AND (NEW.prev_tick IS NULL) <> (NEW.tick = first_tick);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER input_events_insert BEFORE INSERT ON input_events BEGIN
    SELECT raise(ABORT, 'MS002 the run is halted: no input is added')
        WHERE EXISTS (SELECT 1 FROM run_halts WHERE run_id = NEW.run_id);
    SELECT raise(ABORT, 'MS001 input_events is append-only: the input is there already')
        WHERE EXISTS (SELECT 1 FROM input_events WHERE run_id = NEW.run_id AND seq = NEW.seq);
    SELECT raise(ABORT, 'MS003 the input is of an earlier tick than the one before it')
        FROM input_events WHERE run_id = NEW.run_id AND seq = NEW.seq - 1 AND tick > NEW.tick;
    SELECT raise(ABORT, 'MS004 the input is of a tick that is committed already')
        WHERE NEW.tick <= (SELECT max(tick) FROM chain_hashes WHERE run_id = NEW.run_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER snapshots_insert BEFORE INSERT ON snapshots BEGIN
    SELECT raise(ABORT, 'MS002 the run is halted: no snapshot is added')
        WHERE EXISTS (SELECT 1 FROM run_halts WHERE run_id = NEW.run_id);
    SELECT raise(ABORT, 'MS001 snapshots is append-only: there is one of the tick already')
        WHERE EXISTS (SELECT 1 FROM snapshots WHERE run_id = NEW.run_id AND tick = NEW.tick);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER runs_insert BEFORE INSERT ON runs WHEN EXISTS (SELECT 1 FROM runs WHERE run_id = NEW.run_id) BEGIN
    SELECT raise(ABORT, 'MS001 runs is append-only: there is such a row already');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER run_halts_insert BEFORE INSERT ON run_halts WHEN EXISTS (SELECT 1 FROM run_halts WHERE run_id = NEW.run_id) BEGIN
    SELECT raise(ABORT, 'MS001 run_halts is append-only: there is such a row already');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audits_insert BEFORE INSERT ON audits WHEN EXISTS (SELECT 1 FROM audits WHERE audit_id = NEW.audit_id) BEGIN
    SELECT raise(ABORT, 'MS001 audits is append-only: there is such a row already');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alerts_insert BEFORE INSERT ON alerts WHEN EXISTS (SELECT 1 FROM alerts WHERE alert_id = NEW.alert_id) BEGIN
    SELECT raise(ABORT, 'MS001 alerts is append-only: there is such a row already');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER runs_update BEFORE UPDATE ON runs BEGIN
    SELECT raise(ABORT, 'MS001 runs is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER runs_delete BEFORE DELETE ON runs BEGIN
    SELECT raise(ABORT, 'MS001 runs is append-only: no DELETE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER run_halts_update BEFORE UPDATE ON run_halts BEGIN
    SELECT raise(ABORT, 'MS001 run_halts is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER run_halts_delete BEFORE DELETE ON run_halts BEGIN
    SELECT raise(ABORT, 'MS001 run_halts is append-only: no DELETE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER input_events_update BEFORE UPDATE ON input_events BEGIN
    SELECT raise(ABORT, 'MS001 input_events is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER input_events_delete BEFORE DELETE ON input_events BEGIN
    SELECT raise(ABORT, 'MS001 input_events is append-only: no DELETE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER chain_hashes_update BEFORE UPDATE ON chain_hashes BEGIN
    SELECT raise(ABORT, 'MS001 chain_hashes is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER chain_hashes_delete BEFORE DELETE ON chain_hashes BEGIN
    SELECT raise(ABORT, 'MS001 chain_hashes is append-only: no DELETE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER snapshots_update BEFORE UPDATE ON snapshots BEGIN
    SELECT raise(ABORT, 'MS001 snapshots is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER snapshots_delete BEFORE DELETE ON snapshots BEGIN
    SELECT raise(ABORT, 'MS001 snapshots is append-only: no DELETE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audits_update BEFORE UPDATE ON audits BEGIN
    SELECT raise(ABORT, 'MS001 audits is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audits_delete BEFORE DELETE ON audits BEGIN
    SELECT raise(ABORT, 'MS001 audits is append-only: no DELETE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alerts_update BEFORE UPDATE ON alerts BEGIN
    SELECT raise(ABORT, 'MS001 alerts is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER alerts_delete BEFORE DELETE ON alerts BEGIN
    SELECT raise(ABORT, 'MS001 alerts is append-only: no DELETE');
END;
-- +goose StatementEnd
