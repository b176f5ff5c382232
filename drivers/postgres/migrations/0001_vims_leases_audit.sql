-- VIMs with their generations, leases, the ledger of retired keys, the audit log.
--
-- A time that is not there is '-infinity'. Text that is compared or sorted is
-- so by bytes (COLLATE "C"), as in every store, and whatever the database's locale.
-- Constraints and unique indexes are named after the rule they hold. What a
-- trigger refuses has its name as the constraint.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TABLE vims (
    id               text COLLATE "C" NOT NULL PRIMARY KEY,
    project          text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    type             text COLLATE "C" NOT NULL,
    state            text COLLATE "C" NOT NULL,
    shared           boolean          NOT NULL,
    is_default       boolean          NOT NULL,
    created_by       text COLLATE "C" NOT NULL,
    created_at       timestamptz      NOT NULL,
    updated_at       timestamptz      NOT NULL,
    revision         bigint           NOT NULL,
    -- number of the current generation, 0 while there is none
    generation       bigint           NOT NULL,
    -- generation that is being written, 0 when none is
    pending          bigint           NOT NULL,
    pending_since    timestamptz      NOT NULL,
    health           text COLLATE "C" NOT NULL,
    health_checked   timestamptz      NOT NULL,
    health_message   text             NOT NULL,
    health_version   text             NOT NULL,
    can_mint         boolean          NOT NULL,
    mint_message     text             NOT NULL,
    health_next      timestamptz      NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    request_digest   text             NOT NULL,
    -- since when the row has been waiting for its second half, NULL when it is whole
    unsettled_since  timestamptz GENERATED ALWAYS AS (CASE WHEN state = 'registering' THEN created_at
                                                           WHEN pending > 0 THEN pending_since END) STORED,

    CONSTRAINT vim_name_once_per_project UNIQUE (project, name),
    CONSTRAINT vim_has_id CHECK (id <> ''),
    CONSTRAINT vim_state_known CHECK (state IN ('registering', 'registered', 'draining')),
    CONSTRAINT vim_revision_from_one CHECK (revision >= 1),
    CONSTRAINT vim_generation_from_zero CHECK (generation >= 0),
    CONSTRAINT vim_pending_has_since CHECK ((pending = 0 AND pending_since = '-infinity') OR pending > 0)
);

CREATE UNIQUE INDEX vim_default_once_per_project ON vims (project) WHERE is_default;
CREATE UNIQUE INDEX vim_idempotency_key_once_per_principal ON vims (created_by, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX vim_by_name ON vims (name, project);
CREATE INDEX vim_shared ON vims (project, name) WHERE shared;
CREATE INDEX vim_by_state ON vims (state, project, name);
CREATE INDEX vim_by_health ON vims (health, project, name);
CREATE INDEX vim_check_due ON vims (health_next);
CREATE INDEX vim_unsettled ON vims (unsettled_since) WHERE unsettled_since IS NOT NULL;

-- How many VIMs there are in each state, and of each health, so that counting them
-- costs nothing. It is written as a transaction commits, and health in the order of
-- its names: checks of VIMs take no lock that would keep them apart.
CREATE TABLE vim_census (
    part  text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    n     bigint           NOT NULL,
    CONSTRAINT vim_census_once PRIMARY KEY (part, value),
    CONSTRAINT vim_census_part_known CHECK (part IN ('state', 'health')),
    CONSTRAINT vim_census_from_zero CHECK (n >= 0)
) WITH (fillfactor = 10);

CREATE FUNCTION count_vim() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    FOR change IN
        SELECT c.part, c.value, sum(c.delta) AS delta
        FROM (SELECT 'state' AS part, NEW.state AS value, 1 AS delta WHERE TG_OP <> 'DELETE'
              UNION ALL SELECT 'health', NEW.health, 1 WHERE TG_OP <> 'DELETE'
              UNION ALL SELECT 'state', OLD.state, -1 WHERE TG_OP <> 'INSERT'
              UNION ALL SELECT 'health', OLD.health, -1 WHERE TG_OP <> 'INSERT') AS c
        GROUP BY c.part, c.value HAVING sum(c.delta) <> 0 ORDER BY c.part DESC, c.value
    LOOP
        UPDATE vim_census SET n = n + change.delta WHERE part = change.part AND value = change.value;
        IF NOT FOUND THEN
            INSERT INTO vim_census AS c (part, value, n) VALUES (change.part, change.value, change.delta)
            ON CONFLICT (part, value) DO UPDATE SET n = c.n + change.delta;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER vim_counted AFTER INSERT OR DELETE ON vims
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_vim();

CREATE CONSTRAINT TRIGGER vim_counted_when_changed AFTER UPDATE OF state, health ON vims
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.health <> NEW.health)
    EXECUTE FUNCTION count_vim();

CREATE TABLE vim_labels (
    vim   text COLLATE "C" NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    key   text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    CONSTRAINT label_once_per_vim PRIMARY KEY (vim, key)
);

CREATE INDEX vim_by_label ON vim_labels (key, value, vim);

CREATE TABLE vim_generations (
    vim                   text COLLATE "C" NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    number                bigint           NOT NULL,
    endpoint              text             NOT NULL,
    ca_cert               text             NOT NULL,
    insecure_skip_verify  boolean          NOT NULL,
    server_name           text             NOT NULL,
    namespace             text             NOT NULL,
    -- JSON object, of OpenStack
    scope                 text             NOT NULL,
    -- what the driver found out, in its own JSON
    discovered            text             NOT NULL,
    identity              text             NOT NULL,
    credential_kind       text             NOT NULL,
    credential_expires_at timestamptz      NOT NULL,
    sealed                text             NOT NULL,
    key_ref               text COLLATE "C" NOT NULL,
    key_store             text COLLATE "C" NOT NULL,

    CONSTRAINT generation_once_per_vim PRIMARY KEY (vim, number),
    CONSTRAINT generation_from_one CHECK (number >= 1),
    CONSTRAINT generation_names_its_key CHECK (key_ref <> '' AND key_store <> '')
);

-- nothing of a generation changes but the key it is sealed with
CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify,
    server_name, namespace, scope, discovered, identity, credential_kind, credential_expires_at ON vim_generations
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE leases (
    id                 text COLLATE "C" NOT NULL PRIMARY KEY,
    -- no foreign key: a lease outlives its VIM
    vim                text COLLATE "C" NOT NULL,
    vim_name           text             NOT NULL,
    vim_type           text             NOT NULL,
    vim_project        text COLLATE "C" NOT NULL,
    vim_generation     bigint           NOT NULL,
    project            text COLLATE "C" NOT NULL,
    principal          text COLLATE "C" NOT NULL,
    operation          text COLLATE "C" NOT NULL,
    state              text COLLATE "C" NOT NULL,
    reason             text             NOT NULL,
    role               text             NOT NULL,
    namespaces         text[]           NOT NULL,
    format             text             NOT NULL,
    purpose            text             NOT NULL,
    created_at         timestamptz      NOT NULL,
    issued_at          timestamptz      NOT NULL,
    expires_at         timestamptz      NOT NULL,
    max_expires_at     timestamptz      NOT NULL,
    renewed_at         timestamptz      NOT NULL,
    credential_kind    text             NOT NULL,
    unlisted           boolean          NOT NULL,
    derived            boolean          NOT NULL,
    revocable          boolean          NOT NULL,
    -- microseconds
    max_revocation_lag bigint           NOT NULL,
    revoked_at         timestamptz      NOT NULL,
    confirmed_dead_at  timestamptz      NOT NULL,
    handle             text             NOT NULL,
    sealed             text             NOT NULL,
    -- reference of the key of sealed
    sealed_key         text             NOT NULL,
    attempts           bigint           NOT NULL,
    next_attempt_at    timestamptz      NOT NULL,
    last_error         text             NOT NULL,
    revision           bigint           NOT NULL,
    idempotency_key    text COLLATE "C" NOT NULL,
    request_digest     text             NOT NULL,
    -- when there is work for it, NULL when there is none
    due_at             timestamptz GENERATED ALWAYS AS (CASE state WHEN 'active' THEN expires_at
                                                                   WHEN 'revoking' THEN next_attempt_at
                                                                   WHEN 'revoked' THEN CASE WHEN sealed <> '' THEN next_attempt_at END END) STORED,

    CONSTRAINT lease_has_id CHECK (id <> ''),
    CONSTRAINT lease_state_known CHECK (state IN ('pending', 'active', 'revoking', 'revoked', 'irrevocable')),
    CONSTRAINT lease_revision_from_one CHECK (revision >= 1),
    CONSTRAINT lease_expires_after_issue CHECK ((issued_at = '-infinity' AND state <> 'active') OR expires_at > issued_at),
    CONSTRAINT lease_revoked_has_time CHECK (state <> 'revoked' OR revoked_at > '-infinity'),
    CONSTRAINT lease_attempts_from_zero CHECK (attempts >= 0)
);

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

-- How many leases there are in each state, and how many live ones each principal,
-- VIM and project has, so that counting them, and a quota, costs the same however
-- many there are. Every transaction that moves a lease writes here. It does so as
-- it commits, when it is the one that may (see audit_head): before, it would be in
-- the others' way, and they in its.
CREATE TABLE lease_census (
    state text COLLATE "C" NOT NULL PRIMARY KEY,
    n     bigint           NOT NULL
) WITH (fillfactor = 10);

INSERT INTO lease_census (state, n)
VALUES ('pending', 0), ('active', 0), ('revoking', 0), ('revoked', 0), ('irrevocable', 0);

-- There is no row for none.
CREATE TABLE lease_live_counts (
    whose text COLLATE "C" NOT NULL,
    name  text COLLATE "C" NOT NULL,
    n     bigint           NOT NULL,
    CONSTRAINT live_count_once PRIMARY KEY (whose, name),
    CONSTRAINT live_count_whose_known CHECK (whose IN ('principal', 'vim', 'project')),
    CONSTRAINT live_count_from_zero CHECK (n >= 0)
) WITH (fillfactor = 50);

CREATE FUNCTION count_created_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lease_census SET n = n + 1 WHERE state = NEW.state;
    IF NEW.state <> 'revoked' THEN
        INSERT INTO lease_live_counts AS c (whose, name, n)
        VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
        ON CONFLICT (whose, name) DO UPDATE SET n = c.n + 1;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION count_moved_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lease_census SET n = n - 1 WHERE state = OLD.state;
    UPDATE lease_census SET n = n + 1 WHERE state = NEW.state;
    IF NEW.state = 'revoked' THEN
        UPDATE lease_live_counts SET n = n - 1 WHERE (whose, name) IN
            (('principal', OLD.principal), ('vim', OLD.vim), ('project', OLD.project));
        DELETE FROM lease_live_counts WHERE (whose, name) IN
            (('principal', OLD.principal), ('vim', OLD.vim), ('project', OLD.project)) AND n = 0;
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER lease_counted_when_created AFTER INSERT ON leases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_created_lease();

CREATE CONSTRAINT TRIGGER lease_counted_when_moved AFTER UPDATE OF state ON leases
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION count_moved_lease();

CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
    FOR EACH ROW WHEN (OLD.state = 'revoked' AND NEW.state <> 'revoked') EXECUTE FUNCTION refuse_change();

CREATE TRIGGER lease_never_deleted BEFORE DELETE ON leases FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER leases_never_deleted BEFORE TRUNCATE ON leases FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE retired_keys (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_store  text COLLATE "C" NOT NULL,
    key_ref    text COLLATE "C" NOT NULL,
    vim        text COLLATE "C" NOT NULL,
    generation bigint           NOT NULL,
    retired_at timestamptz      NOT NULL,
    CONSTRAINT key_retired_once UNIQUE (vim, generation, key_store, key_ref)
);

CREATE TABLE audit_entries (
    seq       bigint           NOT NULL PRIMARY KEY,
    time      timestamptz      NOT NULL,
    request   text             NOT NULL,
    principal text COLLATE "C" NOT NULL,
    project   text COLLATE "C" NOT NULL,
    action    text COLLATE "C" NOT NULL,
    kind      text             NOT NULL,
    resource  text COLLATE "C" NOT NULL,
    outcome   text             NOT NULL,
    -- object of strings
    detail    json             NOT NULL,
    previous  text             NOT NULL,
    hash      text             NOT NULL,
    CONSTRAINT audit_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed')),
    CONSTRAINT audit_entry_is_sealed CHECK (hash <> '')
);

CREATE INDEX audit_by_project ON audit_entries (project, seq);
CREATE INDEX audit_by_principal ON audit_entries (principal, seq);
CREATE INDEX audit_by_resource ON audit_entries (resource, seq);
CREATE INDEX audit_by_action ON audit_entries (action, seq);
CREATE INDEX audit_by_time ON audit_entries (time);

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_never_emptied BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The end of the chain. Who locks this row writes the next entry and commits.
CREATE TABLE audit_head (
    id   integer NOT NULL PRIMARY KEY CHECK (id = 1),
    seq  bigint  NOT NULL,
    hash text    NOT NULL
) WITH (fillfactor = 10);

INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '');

CREATE TRIGGER audit_head_only_grows BEFORE UPDATE ON audit_head
    FOR EACH ROW WHEN (NEW.seq <= OLD.seq) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- One row that the readiness check writes.
CREATE TABLE probe (
    id        integer     NOT NULL PRIMARY KEY CHECK (id = 1),
    probed_at timestamptz NOT NULL
) WITH (fillfactor = 10);

INSERT INTO probe (id, probed_at) VALUES (1, '-infinity');
