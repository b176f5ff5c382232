-- What of a lease changes and is looked for stands in narrow rows, so that a change of a
-- lease enters no index of leases: what is live, with its state, and when there is work
-- for a lease. Triggers keep them, for earlier versions too.

CREATE TABLE live_leases (
    id             text COLLATE "C" NOT NULL,
    created_at     timestamptz      NOT NULL,
    vim            text COLLATE "C" NOT NULL,
    vim_project    text COLLATE "C" NOT NULL,
    project        text COLLATE "C" NOT NULL,
    principal      text COLLATE "C" NOT NULL,
    vim_generation bigint           NOT NULL,
    grant_digest   text COLLATE "C" NOT NULL,
    epoch          bigint           NOT NULL,
    grade          text COLLATE "C" NOT NULL,
    -- in no index, so that a change of it enters none
    state          text COLLATE "C" NOT NULL,
    CONSTRAINT live_lease_once PRIMARY KEY (id)
) WITH (fillfactor = 70);

-- Without the id: few leases are of the same microsecond.
CREATE INDEX live_lease_newest ON live_leases (created_at);
CREATE INDEX live_lease_by_vim ON live_leases (vim, created_at);
CREATE INDEX live_lease_by_principal ON live_leases (principal, created_at);
CREATE INDEX live_lease_by_project ON live_leases (project, created_at);
CREATE INDEX live_lease_by_lender ON live_leases (vim_project, created_at) WHERE project <> vim_project;
CREATE INDEX live_lease_by_grant ON live_leases (vim, grant_digest, epoch, vim_generation);

CREATE TABLE lease_turns (
    due_at         timestamptz      NOT NULL,
    vim            text COLLATE "C" NOT NULL,
    id             text COLLATE "C" NOT NULL,
    vim_project    text COLLATE "C" NOT NULL,
    vim_generation bigint           NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX lease_turn_by_vim ON lease_turns (vim, due_at);
CREATE INDEX lease_turn_due ON lease_turns (due_at);

-- How many leases have ended and are still there, in parts: each connection counts in its own.
CREATE TABLE ended_leases (
    part integer NOT NULL PRIMARY KEY,
    n    bigint  NOT NULL
) WITH (fillfactor = 10);

INSERT INTO ended_leases (part, n) SELECT part, 0 FROM generate_series(0, 31) AS part;

-- When there is work for a lease, NULL when there is none.
CREATE FUNCTION lease_due(state text, expires_at timestamptz, next_attempt_at timestamptz, sealed boolean)
RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE state WHEN 'active' THEN expires_at
                      WHEN 'revoking' THEN next_attempt_at
                      WHEN 'revoked' THEN CASE WHEN sealed THEN next_attempt_at END END
$$;

CREATE FUNCTION follow_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was boolean := TG_OP = 'UPDATE' AND OLD.state <> 'revoked';
    was_due timestamptz;
    due timestamptz := lease_due(NEW.state, NEW.expires_at, NEW.next_attempt_at, NEW.sealed <> '');
BEGIN
    IF was AND NEW.state = 'revoked' THEN
        DELETE FROM live_leases WHERE id = NEW.id;
        UPDATE ended_leases SET n = n + 1 WHERE part = pg_backend_pid() % 32;
    ELSIF was AND NEW.state <> OLD.state THEN
        UPDATE live_leases SET state = NEW.state WHERE id = NEW.id;
    ELSIF NOT was AND NEW.state <> 'revoked' THEN
        INSERT INTO live_leases (id, created_at, vim, vim_project, project, principal, vim_generation, grant_digest, epoch, grade, state)
        VALUES (NEW.id, NEW.created_at, NEW.vim, NEW.vim_project, NEW.project, NEW.principal, NEW.vim_generation, NEW.grant_digest,
            NEW.epoch, NEW.grade, NEW.state);
        IF TG_OP = 'UPDATE' THEN
            UPDATE ended_leases SET n = n - 1 WHERE part = pg_backend_pid() % 32;
        END IF;
    END IF;

    IF TG_OP = 'UPDATE' THEN
        was_due := lease_due(OLD.state, OLD.expires_at, OLD.next_attempt_at, OLD.sealed <> '');
    END IF;
    IF was_due IS NULL AND due IS NOT NULL THEN
        INSERT INTO lease_turns (due_at, vim, id, vim_project, vim_generation)
        VALUES (due, NEW.vim, NEW.id, NEW.vim_project, NEW.vim_generation);
    ELSIF due IS NULL THEN
        DELETE FROM lease_turns WHERE vim = NEW.vim AND due_at = was_due AND id = NEW.id;
    ELSIF due <> was_due THEN
        UPDATE lease_turns SET due_at = due WHERE vim = NEW.vim AND due_at = was_due AND id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

-- Nothing is inserted that has ended, but by a copy, which counts for itself.
CREATE TRIGGER lease_followed_when_created AFTER INSERT ON leases
    FOR EACH ROW WHEN (NEW.state <> 'revoked' OR NEW.sealed <> '') EXECUTE FUNCTION follow_lease();

CREATE TRIGGER lease_followed_when_changed AFTER UPDATE ON leases
    FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.expires_at <> NEW.expires_at
        OR OLD.next_attempt_at <> NEW.next_attempt_at OR (OLD.sealed <> '') <> (NEW.sealed <> ''))
    EXECUTE FUNCTION follow_lease();

CREATE FUNCTION follow_removed_leases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE ended_leases SET n = n - (SELECT count(*) FROM removed) WHERE part = pg_backend_pid() % 32;
    RETURN NULL;
END $$;

CREATE TRIGGER lease_followed_when_removed AFTER DELETE ON leases
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION follow_removed_leases();

-- Nobody writes leases until this is committed, so what had ended until now is this.
INSERT INTO ended_leases (part, n) SELECT -1, n FROM lease_census WHERE state = 'revoked';

-- Room on each page for what changes there: the row stays, and no index is entered.
ALTER TABLE leases SET (fillfactor = 50);
