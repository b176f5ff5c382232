-- VIMs with their generations, leases, the ledger of retired keys, the audit log.
--
-- Times are integer microseconds since 1970 in UTC, and 0 where there is none.
-- Constraints and unique indexes are named after the rule they hold.

CREATE TABLE vims (
    id               TEXT    NOT NULL PRIMARY KEY,
    project          TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    type             TEXT    NOT NULL,
    state            TEXT    NOT NULL,
    shared           INTEGER NOT NULL,
    is_default       INTEGER NOT NULL,
    created_by       TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    -- number of the current generation, 0 while there is none
    generation       INTEGER NOT NULL,
    -- generation that is being written, 0 when none is
    pending          INTEGER NOT NULL,
    pending_since    INTEGER NOT NULL,
    health           TEXT    NOT NULL,
    health_checked   INTEGER NOT NULL,
    health_message   TEXT    NOT NULL,
    health_version   TEXT    NOT NULL,
    can_mint         INTEGER NOT NULL,
    mint_message     TEXT    NOT NULL,
    health_next      INTEGER NOT NULL,
    idempotency_key  TEXT    NOT NULL,
    request_digest   TEXT    NOT NULL,
    -- since when the row has been waiting for its second half, NULL when it is whole
    unsettled_since  INTEGER AS (CASE WHEN state = 'registering' THEN created_at
                                      WHEN pending > 0 THEN pending_since END) VIRTUAL,

    CONSTRAINT vim_name_once_per_project UNIQUE (project, name),
    CONSTRAINT vim_has_id CHECK (id <> ''),
    CONSTRAINT vim_state_known CHECK (state IN ('registering', 'registered', 'draining')),
    CONSTRAINT vim_shared_is_boolean CHECK (shared IN (0, 1)),
    CONSTRAINT vim_default_is_boolean CHECK (is_default IN (0, 1)),
    CONSTRAINT vim_can_mint_is_boolean CHECK (can_mint IN (0, 1)),
    CONSTRAINT vim_revision_from_one CHECK (revision >= 1),
    CONSTRAINT vim_generation_from_zero CHECK (generation >= 0),
    CONSTRAINT vim_pending_has_since CHECK ((pending = 0 AND pending_since = 0) OR pending > 0)
) STRICT;

CREATE UNIQUE INDEX vim_default_once_per_project ON vims (project) WHERE is_default = 1;
CREATE UNIQUE INDEX vim_idempotency_key_once_per_principal ON vims (created_by, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX vim_by_name ON vims (name, project);
CREATE INDEX vim_shared ON vims (project, name) WHERE shared = 1;
CREATE INDEX vim_by_state ON vims (state, project, name);
CREATE INDEX vim_by_health ON vims (health, project, name);
CREATE INDEX vim_check_due ON vims (health_next);
CREATE INDEX vim_unsettled ON vims (unsettled_since) WHERE unsettled_since IS NOT NULL;

CREATE TABLE vim_labels (
    vim   TEXT NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT label_once_per_vim PRIMARY KEY (vim, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX vim_by_label ON vim_labels (key, value, vim);

CREATE TABLE vim_generations (
    vim                   TEXT    NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    number                INTEGER NOT NULL,
    endpoint              TEXT    NOT NULL,
    ca_cert               TEXT    NOT NULL,
    insecure_skip_verify  INTEGER NOT NULL,
    server_name           TEXT    NOT NULL,
    namespace             TEXT    NOT NULL,
    -- JSON object, of OpenStack
    scope                 TEXT    NOT NULL,
    -- what the driver found out, in its own JSON
    discovered            TEXT    NOT NULL,
    identity              TEXT    NOT NULL,
    credential_kind       TEXT    NOT NULL,
    credential_expires_at INTEGER NOT NULL,
    sealed                TEXT    NOT NULL,
    key_ref               TEXT    NOT NULL,
    key_store             TEXT    NOT NULL,

    CONSTRAINT generation_once_per_vim PRIMARY KEY (vim, number),
    CONSTRAINT generation_from_one CHECK (number >= 1),
    CONSTRAINT generation_names_its_key CHECK (key_ref <> '' AND key_store <> ''),
    CONSTRAINT generation_insecure_is_boolean CHECK (insecure_skip_verify IN (0, 1))
) STRICT;

-- nothing of a generation changes but the key it is sealed with
CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify,
    server_name, namespace, scope, discovered, identity, credential_kind, credential_expires_at ON vim_generations
BEGIN
    SELECT RAISE(ABORT, 'generation_never_changes');
END;

CREATE TABLE leases (
    id                 TEXT    NOT NULL PRIMARY KEY,
    -- no foreign key: a lease outlives its VIM
    vim                TEXT    NOT NULL,
    vim_name           TEXT    NOT NULL,
    vim_type           TEXT    NOT NULL,
    vim_project        TEXT    NOT NULL,
    vim_generation     INTEGER NOT NULL,
    project            TEXT    NOT NULL,
    principal          TEXT    NOT NULL,
    operation          TEXT    NOT NULL,
    state              TEXT    NOT NULL,
    reason             TEXT    NOT NULL,
    role               TEXT    NOT NULL,
    -- JSON array of strings
    namespaces         TEXT    NOT NULL,
    format             TEXT    NOT NULL,
    purpose            TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    issued_at          INTEGER NOT NULL,
    expires_at         INTEGER NOT NULL,
    max_expires_at     INTEGER NOT NULL,
    renewed_at         INTEGER NOT NULL,
    credential_kind    TEXT    NOT NULL,
    unlisted           INTEGER NOT NULL,
    derived            INTEGER NOT NULL,
    revocable          INTEGER NOT NULL,
    -- microseconds
    max_revocation_lag INTEGER NOT NULL,
    revoked_at         INTEGER NOT NULL,
    confirmed_dead_at  INTEGER NOT NULL,
    handle             TEXT    NOT NULL,
    sealed             TEXT    NOT NULL,
    -- reference of the key of sealed
    sealed_key         TEXT    NOT NULL,
    attempts           INTEGER NOT NULL,
    next_attempt_at    INTEGER NOT NULL,
    last_error         TEXT    NOT NULL,
    revision           INTEGER NOT NULL,
    idempotency_key    TEXT    NOT NULL,
    request_digest     TEXT    NOT NULL,
    -- when there is work for it, NULL when there is none
    due_at             INTEGER AS (CASE state WHEN 'active' THEN expires_at
                                              WHEN 'revoking' THEN next_attempt_at
                                              WHEN 'revoked' THEN CASE WHEN sealed <> '' THEN next_attempt_at END END) VIRTUAL,

    CONSTRAINT lease_has_id CHECK (id <> ''),
    CONSTRAINT lease_state_known CHECK (state IN ('pending', 'active', 'revoking', 'revoked', 'irrevocable')),
    CONSTRAINT lease_unlisted_is_boolean CHECK (unlisted IN (0, 1)),
    CONSTRAINT lease_derived_is_boolean CHECK (derived IN (0, 1)),
    CONSTRAINT lease_revocable_is_boolean CHECK (revocable IN (0, 1)),
    CONSTRAINT lease_revision_from_one CHECK (revision >= 1),
    CONSTRAINT lease_expires_after_issue CHECK ((issued_at = 0 AND state <> 'active') OR expires_at > issued_at),
    CONSTRAINT lease_revoked_has_time CHECK (state <> 'revoked' OR revoked_at > 0),
    CONSTRAINT lease_attempts_from_zero CHECK (attempts >= 0)
) STRICT;

CREATE UNIQUE INDEX lease_idempotency_key_once_per_principal ON leases (principal, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX lease_newest ON leases (created_at, id);
CREATE INDEX lease_by_vim ON leases (vim, created_at, id);
CREATE INDEX lease_by_vim_project ON leases (vim_project, created_at, id);
CREATE INDEX lease_by_principal ON leases (principal, created_at, id);
CREATE INDEX lease_by_project ON leases (project, created_at, id);
CREATE INDEX lease_by_operation ON leases (operation, created_at, id) WHERE operation <> '';
-- what is live is little beside what was: sweeps read only these
CREATE INDEX lease_live ON leases (state, created_at, id) WHERE state <> 'revoked';
CREATE INDEX lease_live_by_vim ON leases (vim, created_at, id) WHERE state <> 'revoked';
CREATE INDEX lease_live_by_principal ON leases (principal, created_at, id) WHERE state <> 'revoked';
CREATE INDEX lease_live_by_project ON leases (project, created_at, id) WHERE state <> 'revoked';
-- a generation is needed while a lease pinned to it may have to be taken back or tried
CREATE INDEX lease_needs_generation ON leases (vim, vim_generation) WHERE state <> 'revoked' OR sealed <> '';
CREATE INDEX lease_due ON leases (due_at) WHERE due_at IS NOT NULL;

-- How many leases there are in each state, so that counting them costs nothing.
CREATE TABLE lease_census (
    state TEXT    NOT NULL PRIMARY KEY,
    n     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO lease_census (state, n)
VALUES ('pending', 0), ('active', 0), ('revoking', 0), ('revoked', 0), ('irrevocable', 0);

CREATE TRIGGER lease_counted_when_created AFTER INSERT ON leases
BEGIN
    UPDATE lease_census SET n = n + 1 WHERE state = NEW.state;
END;

CREATE TRIGGER lease_counted_when_moved AFTER UPDATE OF state ON leases WHEN OLD.state <> NEW.state
BEGIN
    UPDATE lease_census SET n = n - 1 WHERE state = OLD.state;
    UPDATE lease_census SET n = n + 1 WHERE state = NEW.state;
END;

-- How many live leases each principal, VIM and project has, so that a quota costs
-- the same however many there are. There is no row for none.
CREATE TABLE lease_live_counts (
    whose TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    CONSTRAINT live_count_once PRIMARY KEY (whose, name),
    CONSTRAINT live_count_whose_known CHECK (whose IN ('principal', 'vim', 'project')),
    CONSTRAINT live_count_from_zero CHECK (n >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER lease_live_counted_when_created AFTER INSERT ON leases WHEN NEW.state <> 'revoked'
BEGIN
    INSERT INTO lease_live_counts (whose, name, n)
    VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
    ON CONFLICT (whose, name) DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER lease_live_counted_when_ended AFTER UPDATE OF state ON leases
WHEN OLD.state <> 'revoked' AND NEW.state = 'revoked'
BEGIN
    UPDATE lease_live_counts SET n = n - 1 WHERE whose = 'principal' AND name = OLD.principal;
    UPDATE lease_live_counts SET n = n - 1 WHERE whose = 'vim' AND name = OLD.vim;
    UPDATE lease_live_counts SET n = n - 1 WHERE whose = 'project' AND name = OLD.project;
    DELETE FROM lease_live_counts WHERE whose = 'principal' AND name = OLD.principal AND n = 0;
    DELETE FROM lease_live_counts WHERE whose = 'vim' AND name = OLD.vim AND n = 0;
    DELETE FROM lease_live_counts WHERE whose = 'project' AND name = OLD.project AND n = 0;
END;

CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
WHEN OLD.state = 'revoked' AND NEW.state <> 'revoked'
BEGIN
    SELECT RAISE(ABORT, 'lease_revoked_stays_so');
END;

CREATE TRIGGER lease_never_deleted BEFORE DELETE ON leases
BEGIN
    SELECT RAISE(ABORT, 'lease_never_deleted');
END;

CREATE TABLE retired_keys (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    vim        TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    retired_at INTEGER NOT NULL,
    CONSTRAINT key_retired_once UNIQUE (vim, generation, key_store, key_ref)
) STRICT;

CREATE TABLE audit_entries (
    seq       INTEGER NOT NULL PRIMARY KEY,
    time      INTEGER NOT NULL,
    request   TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    action    TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    resource  TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    -- JSON object of strings
    detail    TEXT    NOT NULL,
    previous  TEXT    NOT NULL,
    hash      TEXT    NOT NULL,
    CONSTRAINT audit_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed')),
    CONSTRAINT audit_entry_is_sealed CHECK (hash <> '')
) STRICT;

CREATE INDEX audit_by_project ON audit_entries (project);
CREATE INDEX audit_by_principal ON audit_entries (principal);
CREATE INDEX audit_by_resource ON audit_entries (resource);
CREATE INDEX audit_by_action ON audit_entries (action);
CREATE INDEX audit_by_time ON audit_entries (time);

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries
BEGIN
    SELECT RAISE(ABORT, 'audit_never_changes');
END;

CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit_entries
BEGIN
    SELECT RAISE(ABORT, 'audit_never_shrinks');
END;

-- One row that the readiness check writes.
CREATE TABLE probe (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    probed_at  INTEGER NOT NULL
) STRICT;

INSERT INTO probe (id, probed_at) VALUES (1, 0);
