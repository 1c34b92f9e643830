-- Roles of the audit's tables: members of murksim_engine record runs, of murksim_auditor audit them. Nobody
-- but the owner of the tables may alter them. Run it by a user that may create roles, or after someone who
-- may has created the two: psql DATABASE -f roles.sql. Then give users to a role: GRANT murksim_engine TO sim;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['murksim_engine', 'murksim_auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            BEGIN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN -- another did at this moment
            END;
        END IF;
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', pg_catalog.current_schema(), name);
    END LOOP;
END $$;
REVOKE ALL ON runs, input_events, chain_hashes, snapshots, run_halts, alerts, audits FROM murksim_engine, murksim_auditor;
GRANT SELECT ON audit_migrations, runs, input_events, chain_hashes, snapshots, run_halts, alerts, audits TO murksim_auditor;
GRANT SELECT ON audit_migrations, runs, input_events, chain_hashes, snapshots, run_halts, alerts, audits TO murksim_engine; -- it goes on with no run that has failed
GRANT INSERT ON runs, input_events, chain_hashes, snapshots TO murksim_engine;
GRANT INSERT ON run_halts TO murksim_engine; -- an engine halts its own run, on an arithmetic fault for one
GRANT INSERT ON audits, run_halts TO murksim_auditor;
GRANT INSERT (run_id, tick, code, severity, detail, raised_at, audit_id) ON alerts TO murksim_engine, murksim_auditor; -- the database numbers them
