-- Up to where the past is removed: audit entries up to one, and leases that ended before a
-- time. What is not behind that is never deleted. The tree of the log stays whole.

CREATE TABLE audit_horizon (
    id  integer NOT NULL PRIMARY KEY CHECK (id = 1),
    seq bigint  NOT NULL
) WITH (fillfactor = 10);

INSERT INTO audit_horizon (id, seq) VALUES (1, 0);

CREATE TABLE lease_horizon (
    id    integer     NOT NULL PRIMARY KEY CHECK (id = 1),
    until timestamptz NOT NULL
) WITH (fillfactor = 10);

INSERT INTO lease_horizon (id, until) VALUES (1, '-infinity');

CREATE TRIGGER lease_horizon_only_grows BEFORE UPDATE ON lease_horizon
    FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.until < OLD.until) EXECUTE FUNCTION refuse_change();

-- Behind a signed checkpoint, and never up to the newest entry, which the next one follows.
CREATE FUNCTION refuse_horizon() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id = OLD.id AND NEW.seq >= OLD.seq AND NEW.seq < (SELECT size FROM audit_tree WHERE id = 1)
        AND NEW.seq <= (SELECT max(size) FROM audit_checkpoints) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER audit_horizon_only_grows BEFORE UPDATE ON audit_horizon FOR EACH ROW EXECUTE FUNCTION refuse_horizon();
CREATE TRIGGER audit_horizon_stays BEFORE DELETE ON audit_horizon FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_horizon_never_emptied BEFORE TRUNCATE ON audit_horizon FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_young_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'revoked' AND OLD.sealed = '' AND OLD.revoked_at < (SELECT until FROM lease_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE OR REPLACE TRIGGER lease_never_deleted BEFORE DELETE ON leases FOR EACH ROW EXECUTE FUNCTION refuse_young_lease();

CREATE FUNCTION refuse_young_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.seq <= (SELECT seq FROM audit_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE OR REPLACE TRIGGER audit_never_shrinks BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_young_entry();

-- Revoked leases are counted once for all that one statement removes.
CREATE FUNCTION count_removed_leases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lease_census c SET n = c.n - gone.n FROM (SELECT state, count(*) AS n FROM removed GROUP BY state) AS gone WHERE c.state = gone.state;
    RETURN NULL;
END $$;

CREATE TRIGGER lease_counted_when_removed AFTER DELETE ON leases
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_leases();

CREATE INDEX job_done ON jobs (due_at) WHERE done >= wanted;
