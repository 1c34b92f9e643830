-- +goose Up
-- An input mostly has no payload_json, and json_valid(NULL) is 0 in older SQLites, whose integrity_check found fault
-- with every input. A check of a table cannot be changed, so the table is made anew, with all its rows.

CREATE TABLE input_events_2 (
    run_id       TEXT    NOT NULL REFERENCES runs,
    seq          INTEGER NOT NULL CHECK (seq >= 1),
    tick         INTEGER NOT NULL CHECK (tick >= 1),
    source       TEXT    NOT NULL CHECK (length(source) = 36), -- zeros: the operator
    kind         INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 65535),
    payload      BLOB    NOT NULL,
    payload_json TEXT    CHECK (payload_json IS NULL OR json_valid(payload_json)), -- for people
    prev_seq     INTEGER GENERATED ALWAYS AS (nullif(seq - 1, 0)) STORED,
    prev_hash    BLOB    NOT NULL CHECK (length(prev_hash) = 32),
    event_hash   BLOB    NOT NULL CHECK (length(event_hash) = 32),
    accepted_at  INTEGER NOT NULL,
    PRIMARY KEY (run_id, seq),
    UNIQUE (run_id, seq, event_hash),
    CHECK (seq > 1 OR prev_hash = zeroblob(32)),
    FOREIGN KEY (run_id, prev_seq, prev_hash) REFERENCES input_events_2 (run_id, seq, event_hash)
) STRICT, WITHOUT ROWID;

INSERT INTO input_events_2 (run_id, seq, tick, source, kind, payload, payload_json, prev_hash, event_hash, accepted_at)
    SELECT run_id, seq, tick, source, kind, payload, payload_json, prev_hash, event_hash, accepted_at FROM input_events ORDER BY run_id, seq;

DROP TABLE input_events; -- with its index and its triggers

ALTER TABLE input_events_2 RENAME TO input_events; -- also where it refers to itself

CREATE INDEX input_events_by_tick ON input_events (run_id, tick, seq);

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
CREATE TRIGGER input_events_update BEFORE UPDATE ON input_events BEGIN
    SELECT raise(ABORT, 'MS001 input_events is append-only: no UPDATE');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER input_events_delete BEFORE DELETE ON input_events BEGIN
    SELECT raise(ABORT, 'MS001 input_events is append-only: no DELETE');
END;
-- +goose StatementEnd
