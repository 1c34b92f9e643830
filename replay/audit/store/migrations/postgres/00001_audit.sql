-- +goose Up
-- The schema of the audit chain. Every table is append-only. SQLSTATEs of errors: MS001 append-only,
-- MS002 halted run, MS003 an input of an earlier tick than the one before it, MS004 an input of a
-- committed tick, MS005 the first link is not at the run's first tick, MS006 rows of a run are inserted
-- at another isolation level than read committed.

-- The functions keep the search path of their making, and it has the schema of temporary tables last: nobody
-- can put another table before ours.
SELECT pg_catalog.set_config('search_path', pg_catalog.quote_ident(pg_catalog.current_schema()::text) || ', pg_temp', true);

CREATE DOMAIN murksim_hash AS bytea CHECK (octet_length(VALUE) = 32);

CREATE TABLE runs (
    run_id         uuid          PRIMARY KEY,
    created_at     timestamptz   NOT NULL DEFAULT now(),
    label          text          NOT NULL DEFAULT '',
    master_seed    numeric(20,0) NOT NULL CHECK (master_seed BETWEEN 0 AND 18446744073709551615),
    rate_num       bigint        NOT NULL CHECK (rate_num > 0),
    rate_den       bigint        NOT NULL CHECK (rate_den > 0),
    rules_version  bigint        NOT NULL CHECK (rules_version BETWEEN 1 AND 4294967295),
    state_format   integer       NOT NULL CHECK (state_format > 0),
    hash_alg       text          NOT NULL DEFAULT 'sha256' CHECK (hash_alg = 'sha256'),
    rng_alg        text          NOT NULL CHECK (rng_alg IN ('chacha8', 'chacha20')),
    genesis        bytea         NOT NULL,
    genesis_digest murksim_hash  NOT NULL CHECK (genesis_digest = sha256(genesis)),
    engine_version text          NOT NULL,
    first_tick     bigint        NOT NULL DEFAULT 0 CHECK (first_tick >= 0),
    parent_run_id  uuid          REFERENCES runs,
    fork_tick      bigint,
    CHECK ((parent_run_id IS NULL) = (fork_tick IS NULL)),
    CHECK (fork_tick = first_tick)
);

CREATE TABLE run_halts (
    run_id    uuid        PRIMARY KEY REFERENCES runs,
    tick      bigint      NOT NULL CHECK (tick >= 0),
    code      text        NOT NULL CHECK (code <> ''),
    detail    jsonb       NOT NULL DEFAULT '{}',
    halted_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE input_events (
    run_id       uuid         NOT NULL REFERENCES runs,
    seq          bigint       NOT NULL CHECK (seq >= 1),
    tick         bigint       NOT NULL CHECK (tick >= 1),
    source       uuid         NOT NULL, -- zeros: the operator
    kind         integer      NOT NULL CHECK (kind BETWEEN 0 AND 65535),
    payload      bytea        NOT NULL,
    payload_json jsonb, -- for people
    prev_seq     bigint       GENERATED ALWAYS AS (nullif(seq - 1, 0)) STORED,
    prev_hash    murksim_hash NOT NULL,
    event_hash   murksim_hash NOT NULL,
    accepted_at  timestamptz  NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, seq),
    UNIQUE (run_id, seq, event_hash),
    CHECK (seq > 1 OR prev_hash = decode(repeat('00', 32), 'hex')),
    FOREIGN KEY (run_id, prev_seq, prev_hash) REFERENCES input_events (run_id, seq, event_hash)
);

CREATE INDEX input_events_by_tick ON input_events (run_id, tick, seq);

CREATE TABLE chain_hashes (
    run_id          uuid         NOT NULL REFERENCES runs,
    tick            bigint       NOT NULL CHECK (tick >= 0),
    prev_tick       bigint       CHECK (prev_tick = tick - 1), -- null exactly in the first link: a trigger
    prev_hash       murksim_hash NOT NULL,
    world_hash      murksim_hash NOT NULL,
    input_seq       bigint       NOT NULL CHECK (input_seq >= 0), -- of the last input of this tick or one before it
    input_hash      murksim_hash NOT NULL,
    state_len       bigint       NOT NULL CHECK (state_len >= 14),
    section_digests bytea        NOT NULL CHECK (octet_length(section_digests) % 34 = 0), -- a section: id (LE16), SHA-256
    committed_at    timestamptz  NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, tick),
    UNIQUE (run_id, tick, world_hash),
    CHECK (prev_tick IS NOT NULL OR prev_hash = decode(repeat('00', 32), 'hex')),
    CHECK (input_seq > 0 OR input_hash = decode(repeat('00', 32), 'hex')),
    FOREIGN KEY (run_id, prev_tick, prev_hash) REFERENCES chain_hashes (run_id, tick, world_hash)
);

CREATE TABLE snapshots (
    run_id     uuid         NOT NULL REFERENCES runs,
    tick       bigint       NOT NULL,
    world_hash murksim_hash NOT NULL,
    codec      text         NOT NULL CHECK (codec IN ('raw', 'zstd')),
    state_len  bigint       NOT NULL CHECK (state_len >= 0), -- of the state, not of what is stored of it
    state      bytea        NOT NULL,
    PRIMARY KEY (run_id, tick),
    CHECK (codec = 'zstd' OR octet_length(state) = state_len),
    FOREIGN KEY (run_id, tick, world_hash) REFERENCES chain_hashes (run_id, tick, world_hash)
);
ALTER TABLE snapshots ALTER COLUMN state SET STORAGE EXTERNAL; -- what zstd could not compress, nothing can

CREATE TABLE audits (
    audit_id             uuid        PRIMARY KEY,
    run_id               uuid        NOT NULL REFERENCES runs,
    started_at           timestamptz NOT NULL,
    finished_at          timestamptz NOT NULL CHECK (finished_at >= started_at),
    engine_version       text        NOT NULL,
    platform             text        NOT NULL,
    from_tick            bigint      NOT NULL CHECK (from_tick >= 0),
    to_tick              bigint      NOT NULL CHECK (to_tick >= from_tick),
    verdict              text        NOT NULL CHECK (verdict IN ('PASS', 'FAIL', 'EVIDENCE', 'ERROR')),
    first_divergent_tick bigint      CHECK (first_divergent_tick BETWEEN from_tick AND to_tick),
    expected_hash        murksim_hash,
    calculated_hash      murksim_hash,
    report               jsonb       NOT NULL DEFAULT '{}',
    CHECK ((verdict = 'FAIL') = (first_divergent_tick IS NOT NULL))
);

CREATE INDEX audits_by_run ON audits (run_id, started_at);

CREATE TABLE alerts (
    alert_id  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id    uuid        NOT NULL REFERENCES runs,
    tick      bigint      NOT NULL CHECK (tick >= 0),
    code      text        NOT NULL CHECK (code <> ''),
    severity  text        NOT NULL CHECK (severity IN ('warning', 'critical')),
    detail    jsonb       NOT NULL DEFAULT '{}',
    raised_at timestamptz NOT NULL DEFAULT now(),
    audit_id  uuid        REFERENCES audits
);

CREATE INDEX alerts_by_run ON alerts (run_id, raised_at);

-- +goose StatementBegin
CREATE FUNCTION murksim_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, TG_OP USING ERRCODE = 'MS001';
END $$;
-- +goose StatementEnd

-- The functions below read other tables than the one inserted into, and lock the row of the run, so that a
-- halt and a commit come one after the other. They do so as their owner: the roles may only insert.
-- What a statement of theirs sees is as of then at read committed only.

-- +goose StatementBegin
CREATE FUNCTION murksim_locked(run uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    first bigint;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'rows of a run are inserted at isolation level read committed' USING ERRCODE = 'MS006';
    END IF;
    SELECT first_tick INTO first FROM runs WHERE run_id = run FOR KEY SHARE;
    IF EXISTS (SELECT FROM run_halts WHERE run_id = run) THEN
        RAISE EXCEPTION 'run % is halted: nothing is added', run USING ERRCODE = 'MS002';
    END IF;
    RETURN first;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION murksim_locked(uuid) FROM PUBLIC;

-- +goose StatementBegin
CREATE FUNCTION murksim_link() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    first bigint := murksim_locked(NEW.run_id);
BEGIN
    IF (NEW.prev_tick IS NULL) <> (NEW.tick = first) THEN
        RAISE EXCEPTION 'tick %: the first link of a run, and no other, is at its first tick, %, and follows none', NEW.tick, first
            USING ERRCODE = 'MS005';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION murksim_input() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    other bigint;
BEGIN
    PERFORM murksim_locked(NEW.run_id);
    SELECT tick INTO other FROM input_events WHERE run_id = NEW.run_id AND seq = NEW.seq - 1;
    IF NEW.tick < other THEN
        RAISE EXCEPTION 'input % is of tick %, the one before it of tick %', NEW.seq, NEW.tick, other USING ERRCODE = 'MS003';
    END IF;
    SELECT max(tick) INTO other FROM chain_hashes WHERE run_id = NEW.run_id;
    IF NEW.tick <= other THEN
        RAISE EXCEPTION 'input % is of tick %; tick % is committed already', NEW.seq, NEW.tick, other USING ERRCODE = 'MS004';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION murksim_snapshot() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM murksim_locked(NEW.run_id);
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- A halt waits for the commits that are under way.
-- +goose StatementBegin
CREATE FUNCTION murksim_halt() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM FROM runs WHERE run_id = NEW.run_id FOR UPDATE;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER a_link BEFORE INSERT ON chain_hashes FOR EACH ROW EXECUTE FUNCTION murksim_link();
CREATE TRIGGER an_input BEFORE INSERT ON input_events FOR EACH ROW EXECUTE FUNCTION murksim_input();
CREATE TRIGGER a_snapshot BEFORE INSERT ON snapshots FOR EACH ROW EXECUTE FUNCTION murksim_snapshot();
CREATE TRIGGER a_halt BEFORE INSERT ON run_halts FOR EACH ROW EXECUTE FUNCTION murksim_halt();

-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['runs', 'run_halts', 'input_events', 'chain_hashes', 'snapshots', 'audits', 'alerts'] LOOP
        EXECUTE pg_catalog.format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION murksim_append_only()', name);
        EXECUTE pg_catalog.format('ALTER TABLE %I ENABLE ALWAYS TRIGGER append_only', name); -- also for a replica's session
    END LOOP;
END $$;
-- +goose StatementEnd
