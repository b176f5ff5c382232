-- What a lease may do and what its holder can become; the epochs of grants; what a
-- credential is sealed as.

ALTER TABLE leases ADD COLUMN rules TEXT NOT NULL DEFAULT 'null'; -- JSON array
ALTER TABLE leases ADD COLUMN cluster_wide INTEGER NOT NULL DEFAULT 0
    CONSTRAINT lease_cluster_wide_is_boolean CHECK (cluster_wide IN (0, 1));
ALTER TABLE leases ADD COLUMN grade TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN grade_reasons TEXT NOT NULL DEFAULT 'null'; -- JSON array of strings
-- digest of the grant, '' where the driver keeps nothing for it
ALTER TABLE leases ADD COLUMN grant_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN uid TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN credential_id TEXT NOT NULL DEFAULT '';

CREATE INDEX lease_live_by_grant ON leases (vim, grant_digest, epoch, state) WHERE grant_digest <> '' AND state <> 'revoked';

-- What drivers keep on VIMs for all leases of a grant. Of each grant the row with the
-- highest epoch stays, so that no epoch is used twice.
CREATE TABLE grants (
    vim          TEXT    NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    digest       TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    -- since when no lease of it was seen to be live, 0 when one was
    idle_since   INTEGER NOT NULL,
    role         TEXT    NOT NULL,
    rules        TEXT    NOT NULL,
    namespaces   TEXT    NOT NULL,
    cluster_wide INTEGER NOT NULL,
    CONSTRAINT grant_epoch_once PRIMARY KEY (vim, digest, epoch),
    CONSTRAINT grant_has_digest CHECK (digest <> ''),
    CONSTRAINT grant_epoch_from_one CHECK (epoch >= 1),
    CONSTRAINT grant_state_known CHECK (state IN ('open', 'closing', 'closed')),
    CONSTRAINT grant_cluster_wide_is_boolean CHECK (cluster_wide IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX grant_open_once ON grants (vim, digest) WHERE state = 'open';
CREATE INDEX grant_by_state ON grants (state, idle_since);

-- How many live leases there are of each grade.
CREATE TABLE lease_grades (
    grade TEXT    NOT NULL PRIMARY KEY,
    n     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO lease_grades (grade, n) SELECT grade, count(*) FROM leases WHERE state <> 'revoked' GROUP BY grade;

CREATE TRIGGER lease_grade_counted_when_created AFTER INSERT ON leases WHEN NEW.state <> 'revoked'
BEGIN
    INSERT INTO lease_grades (grade, n) VALUES (NEW.grade, 1) ON CONFLICT (grade) DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER lease_grade_counted_when_ended AFTER UPDATE OF state ON leases
WHEN OLD.state <> 'revoked' AND NEW.state = 'revoked'
BEGIN
    UPDATE lease_grades SET n = n - 1 WHERE grade = NEW.grade;
END;

-- A revoked lease whose credential still works is not revoked: it is irrevocable.
DROP TRIGGER lease_revoked_stays_so;

CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
WHEN OLD.state = 'revoked' AND NEW.state NOT IN ('revoked', 'irrevocable')
BEGIN
    SELECT RAISE(ABORT, 'lease_revoked_stays_so');
END;

CREATE TRIGGER lease_counted_when_found_alive AFTER UPDATE OF state ON leases
WHEN OLD.state = 'revoked' AND NEW.state <> 'revoked'
BEGIN
    INSERT INTO lease_live_counts (whose, name, n)
    VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
    ON CONFLICT (whose, name) DO UPDATE SET n = n + 1;
    UPDATE lease_grades SET n = n + 1 WHERE grade = NEW.grade;
END;

-- '' for an envelope of version 1, or what the generation was when it was sealed:
-- 'current' or 'past'
ALTER TABLE vim_generations ADD COLUMN sealed_as TEXT NOT NULL DEFAULT ''
    CONSTRAINT generation_sealed_as_known CHECK (sealed_as IN ('', 'current', 'past'));
