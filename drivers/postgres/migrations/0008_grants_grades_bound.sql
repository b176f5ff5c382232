-- What a lease may do and what its holder can become; the epochs of grants; what a
-- credential is sealed as.

ALTER TABLE leases ADD COLUMN rules text NOT NULL DEFAULT 'null'; -- JSON array
ALTER TABLE leases ADD COLUMN cluster_wide boolean NOT NULL DEFAULT false;
ALTER TABLE leases ADD COLUMN grade text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN grade_reasons text[] NOT NULL DEFAULT '{}';
-- digest of the grant, '' where the driver keeps nothing for it
ALTER TABLE leases ADD COLUMN grant_digest text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN uid text NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN credential_id text NOT NULL DEFAULT '';

CREATE INDEX lease_live_by_grant ON leases (vim, grant_digest, epoch) WHERE grant_digest <> '' AND state <> 'revoked';

-- What drivers keep on VIMs for all leases of a grant. Of each grant the row with the
-- highest epoch stays, so that no epoch is used twice.
CREATE TABLE grants (
    vim          text COLLATE "C" NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    digest       text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL,
    state        text COLLATE "C" NOT NULL,
    -- since when no lease of it was seen to be live, '-infinity' when one was
    idle_since   timestamptz      NOT NULL,
    role         text             NOT NULL,
    rules        text             NOT NULL,
    namespaces   text[]           NOT NULL,
    cluster_wide boolean          NOT NULL,
    CONSTRAINT grant_epoch_once PRIMARY KEY (vim, digest, epoch),
    CONSTRAINT grant_has_digest CHECK (digest <> ''),
    CONSTRAINT grant_epoch_from_one CHECK (epoch >= 1),
    CONSTRAINT grant_state_known CHECK (state IN ('open', 'closing', 'closed'))
);

CREATE UNIQUE INDEX grant_open_once ON grants (vim, digest) WHERE state = 'open';
CREATE INDEX grant_by_state ON grants (state, idle_since);

-- How many live leases there are of each grade. It is written as a transaction
-- commits, like lease_census.
CREATE TABLE lease_grades (
    grade text COLLATE "C" NOT NULL PRIMARY KEY,
    n     bigint           NOT NULL
) WITH (fillfactor = 10);

CREATE FUNCTION count_grade() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    delta integer := 1;
BEGIN
    IF NEW.state = 'revoked' THEN
        delta := -1;
    END IF;
    INSERT INTO lease_grades AS g (grade, n) VALUES (NEW.grade, delta)
    ON CONFLICT (grade) DO UPDATE SET n = g.n + delta;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER lease_grade_counted_when_created AFTER INSERT ON leases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state <> 'revoked') EXECUTE FUNCTION count_grade();

CREATE CONSTRAINT TRIGGER lease_grade_counted_when_moved AFTER UPDATE OF state ON leases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((OLD.state = 'revoked') <> (NEW.state = 'revoked'))
    EXECUTE FUNCTION count_grade();

INSERT INTO lease_grades (grade, n) SELECT grade, count(*) FROM leases WHERE state <> 'revoked' GROUP BY grade;

-- A revoked lease whose credential still works is not revoked: it is irrevocable.
CREATE OR REPLACE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
    FOR EACH ROW WHEN (OLD.state = 'revoked' AND NEW.state NOT IN ('revoked', 'irrevocable')) EXECUTE FUNCTION refuse_change();

CREATE FUNCTION count_lease_found_alive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lease_live_counts AS c (whose, name, n)
    VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
    ON CONFLICT (whose, name) DO UPDATE SET n = c.n + 1;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER lease_counted_when_found_alive AFTER UPDATE OF state ON leases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state = 'revoked' AND NEW.state <> 'revoked')
    EXECUTE FUNCTION count_lease_found_alive();

-- '' for an envelope of version 1, or what the generation was when it was sealed:
-- 'current' or 'past'
ALTER TABLE vim_generations ADD COLUMN sealed_as text NOT NULL DEFAULT ''
    CONSTRAINT generation_sealed_as_known CHECK (sealed_as IN ('', 'current', 'past'));
