-- The whole schema of the PostgreSQL store: one block for each table, with its indexes and triggers.
--
-- A time that is not known is '-infinity'. Text that is compared or sorted is ordered by bytes (COLLATE "C"), as in
-- the other store and whatever the locale of the database. A column has no default: each insert names them all.
-- A constraint, a unique index and a trigger that refuses have the name of the rule that they hold; what a trigger
-- refuses carries that name as its constraint. Each other index says which query it serves.
--
-- Tables with a small fillfactor have few rows that change often: their new versions fit on the same page, so an
-- update enters no index.

-- refuse_change refuses whatever the trigger that calls it is for.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

-- The oldest schema whose versions work on this database. A migration that takes away what a version uses raises it.
CREATE TABLE schema_floor (
    id      integer NOT NULL PRIMARY KEY CHECK (id = 1),
    version bigint  NOT NULL
);

INSERT INTO schema_floor (id, version) VALUES (1, 1);

-- A row for each server on this database: its readiness check writes it, to find a full disk and a read-only database,
-- and to say how the server is.
CREATE TABLE replicas (
    id         text COLLATE "C" NOT NULL PRIMARY KEY, -- host and process
    version    text             NOT NULL,
    fault      text             NOT NULL, -- which of its parts cannot be used; ''
    started_at timestamptz      NOT NULL,
    seen_at    timestamptz      NOT NULL -- when it wrote this
) WITH (fillfactor = 10);

--
-- VIMs
--

-- The registered VIMs, and those that are being registered or deleted. A check writes the last columns only.
CREATE TABLE vims (
    id               text COLLATE "C" NOT NULL PRIMARY KEY,
    project          text COLLATE "C" NOT NULL,
    name             text COLLATE "C" NOT NULL,
    type             text COLLATE "C" NOT NULL,
    created_by       text COLLATE "C" NOT NULL,
    created_at       timestamptz      NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    request_digest   text             NOT NULL,
    -- when a caller changes it
    description      text             NOT NULL,
    extra            text             NOT NULL, -- a JSON object as the caller wrote it, '' where there is none
    shared           boolean          NOT NULL,
    is_default       boolean          NOT NULL,
    state            text COLLATE "C" NOT NULL,
    suspended        text             NOT NULL, -- why no lease is issued, '' while leases are
    updated_at       timestamptz      NOT NULL,
    revision         bigint           NOT NULL,
    generation       bigint           NOT NULL, -- number of the current generation, 0 while there is none
    pending          bigint           NOT NULL, -- number of the generation that is being written, 0 when none is
    pending_since    timestamptz      NOT NULL,
    -- since when the row waits for its second half, NULL when it is whole
    unsettled_since  timestamptz GENERATED ALWAYS AS (CASE WHEN state = 'registering' THEN created_at
                                                           WHEN pending > 0 THEN pending_since END) STORED,
    -- with each check
    health           text COLLATE "C" NOT NULL,
    health_checked   timestamptz      NOT NULL,
    health_message   text             NOT NULL,
    health_version   text             NOT NULL,
    can_mint         boolean          NOT NULL,
    mint_message     text             NOT NULL,
    external_ips     text             NOT NULL, -- taken, refused, or not known
    health_next      timestamptz      NOT NULL,

    CONSTRAINT vim_name_once_per_project UNIQUE (project, name), -- also the order of lists
    CONSTRAINT vim_has_id CHECK (id <> ''),
    CONSTRAINT vim_state_known CHECK (state IN ('registering', 'registered', 'draining')),
    CONSTRAINT vim_revision_from_one CHECK (revision >= 1),
    CONSTRAINT vim_generation_from_zero CHECK (generation >= 0),
    CONSTRAINT vim_pending_has_since CHECK ((pending = 0 AND pending_since = '-infinity') OR pending > 0)
);

CREATE UNIQUE INDEX vim_default_once_per_project ON vims (project) WHERE is_default;
CREATE UNIQUE INDEX vim_idempotency_key_once_per_principal ON vims (created_by, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX vim_by_name ON vims (name, project); -- lists: of a name
CREATE INDEX vim_by_type ON vims (type, project, name); -- lists: of a type
CREATE INDEX vim_by_state ON vims (state, project, name); -- lists: in a state
CREATE INDEX vim_by_health ON vims (health, project, name); -- lists: of a health
CREATE INDEX vim_shared ON vims (project, name) WHERE shared; -- lists: a project's own and the shared ones
CREATE INDEX vim_shared_by_name ON vims (name, project) WHERE shared; -- the same, of a name that many projects use
CREATE INDEX vim_check_due ON vims (health_next); -- the pass that checks VIMs
CREATE INDEX vim_unsettled ON vims (unsettled_since) WHERE unsettled_since IS NOT NULL; -- the pass that settles them

-- How many VIMs there are in each state, and of each health, so that a metric reads no VIM. It is written as a
-- transaction commits, health in the order of its names: checks of VIMs hold no lock that keeps others waiting.
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

-- "db copy" switches this one off, and counts once.
CREATE CONSTRAINT TRIGGER vim_counted AFTER INSERT OR DELETE ON vims
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_vim();
CREATE CONSTRAINT TRIGGER vim_counted_when_changed AFTER UPDATE OF state, health ON vims
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.health <> NEW.health)
    EXECUTE FUNCTION count_vim();

-- Labels that callers give VIMs.
CREATE TABLE vim_labels (
    vim   text COLLATE "C" NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    key   text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    CONSTRAINT label_once_per_vim PRIMARY KEY (vim, key)
);

CREATE INDEX vim_by_label ON vim_labels (key, value, vim); -- lists: with a label

-- The projects that a VIM is shared with by name.
CREATE TABLE vim_shares (
    shared_with text COLLATE "C" NOT NULL,
    vim_project text COLLATE "C" NOT NULL,
    vim_name    text COLLATE "C" NOT NULL,
    CONSTRAINT share_once_per_vim PRIMARY KEY (shared_with, vim_project, vim_name), -- also: lists of a project
    CONSTRAINT share_follows_vim FOREIGN KEY (vim_project, vim_name) REFERENCES vims (project, name)
        ON UPDATE CASCADE ON DELETE CASCADE
);

CREATE INDEX vim_shares_by_name ON vim_shares (vim_name, vim_project, shared_with); -- the shares of a VIM; lists: of a name

-- Target and credential of a VIM. Each change of either is a new generation; one that a lease needs stays.
CREATE TABLE vim_generations (
    vim                   text COLLATE "C" NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    number                bigint           NOT NULL,
    endpoint              text             NOT NULL,
    ca_cert               text             NOT NULL,
    insecure_skip_verify  boolean          NOT NULL,
    server_name           text             NOT NULL,
    namespace             text             NOT NULL,
    scope                 text             NOT NULL, -- JSON object, of OpenStack
    shared_kinds          text             NOT NULL, -- kinds that all may have, as the VIM's owner says
    pods_held_by          text             NOT NULL, -- the admission that does, as the VIM's owner says
    discovered            text             NOT NULL, -- JSON, which the driver found out
    identity              text             NOT NULL,
    username              text             NOT NULL,
    credential_kind       text             NOT NULL,
    credential_expires_at timestamptz      NOT NULL,
    -- when it is sealed anew
    sealed                text             NOT NULL,
    sealed_as             text             NOT NULL, -- whether it was the current one when it was sealed
    key_ref               text COLLATE "C" NOT NULL,
    key_store             text COLLATE "C" NOT NULL,

    CONSTRAINT generation_once_per_vim PRIMARY KEY (vim, number),
    CONSTRAINT generation_from_one CHECK (number >= 1),
    CONSTRAINT generation_sealed_as_known CHECK (sealed_as IN ('current', 'past')),
    CONSTRAINT generation_names_its_key CHECK (key_ref <> '' AND key_store <> '')
);

CREATE INDEX vim_generation_by_identity ON vim_generations (identity, vim); -- a registration: other VIMs that are the same system
CREATE INDEX vim_generation_by_expiry ON vim_generations (credential_expires_at)
    WHERE credential_expires_at > '-infinity'; -- a metric: credentials that are about to expire

-- nothing of a generation changes but what it is sealed with
CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify, server_name,
    namespace, scope, shared_kinds, pods_held_by, discovered, identity, credential_kind, credential_expires_at, username ON vim_generations
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- What stands on VIMs, written by those who own it: a VIM with a row here is not deleted.
CREATE TABLE vim_uses (
    vim     text COLLATE "C" NOT NULL CONSTRAINT vim_in_use_stays REFERENCES vims (id),
    kind    text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    PRIMARY KEY (vim, kind, subject)
);

CREATE INDEX vim_use_by_subject ON vim_uses (kind, subject); -- the VIMs that a thing stands on, with each change of it

-- What a driver keeps on a VIM for all leases of a grant: an epoch of it. Of each grant the row with the highest
-- epoch stays as long as the VIM, so that no epoch is used twice.
CREATE TABLE grants (
    vim          text COLLATE "C" NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    digest       text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL,
    role         text             NOT NULL,
    rules        text             NOT NULL,
    namespaces   text[]           NOT NULL,
    cluster_wide boolean          NOT NULL,
    state        text COLLATE "C" NOT NULL,
    idle_since   timestamptz      NOT NULL, -- since when no live lease of it was seen, '-infinity' when one was
    CONSTRAINT grant_epoch_once PRIMARY KEY (vim, digest, epoch),
    CONSTRAINT grant_has_digest CHECK (digest <> ''),
    CONSTRAINT grant_epoch_from_one CHECK (epoch >= 1),
    CONSTRAINT grant_state_known CHECK (state IN ('open', 'closing', 'closed'))
);

CREATE UNIQUE INDEX grant_open_once ON grants (vim, digest) WHERE state = 'open';
CREATE INDEX grant_by_state ON grants (state, idle_since); -- the pass that closes grants which no lease needs

--
-- Leases
--

-- Leases that are being issued, are live, or have ended and are still kept. A lease outlives its VIM, so no foreign
-- key leads there.
--
-- An update logs a row from the first byte that changes to the last. So what never changes stands first, then what
-- changes once, and what changes with each move stands side by side at the end. Nothing that changes is in an index:
-- live_leases and lease_turns have that.
CREATE TABLE leases (
    id                 text COLLATE "C" NOT NULL PRIMARY KEY,
    vim                text COLLATE "C" NOT NULL,
    vim_name           text             NOT NULL,
    vim_type           text             NOT NULL,
    vim_project        text COLLATE "C" NOT NULL,
    vim_generation     bigint           NOT NULL,
    project            text COLLATE "C" NOT NULL,
    principal          text COLLATE "C" NOT NULL,
    operation          text COLLATE "C" NOT NULL,
    role               text             NOT NULL,
    namespaces         text[]           NOT NULL,
    format             text             NOT NULL,
    purpose            text             NOT NULL,
    created_at         timestamptz      NOT NULL,
    max_expires_at     timestamptz      NOT NULL,
    renewed_at         timestamptz      NOT NULL,
    unlisted           boolean          NOT NULL,
    derived            boolean          NOT NULL,
    revocable          boolean          NOT NULL,
    handle             text             NOT NULL,
    idempotency_key    text COLLATE "C" NOT NULL,
    request_digest     text             NOT NULL,
    renewal_begun      boolean          NOT NULL,
    rules              text             NOT NULL, -- JSON array
    cluster_wide       boolean          NOT NULL,
    grade              text COLLATE "C" NOT NULL, -- what its holder can become
    grade_reasons      text[]           NOT NULL,
    grant_digest       text COLLATE "C" NOT NULL, -- '' where the driver keeps nothing for the grant
    epoch              bigint           NOT NULL,
    stood              text             NOT NULL, -- what stood on the VIM when it was issued
    left_behind        text[]           NOT NULL, -- what its holder has left there
    holder_roles       text[]           NOT NULL, -- when it was issued or last renewed
    instance           text COLLATE "C" NOT NULL, -- the VNF instance at another VNFM that it serves
    for_whom           text COLLATE "C" NOT NULL, -- the person that it is for, as its holder says
    planned            boolean          NOT NULL, -- an operation makes the objects of a plan with it
    token_ttl          bigint           NOT NULL, -- microseconds that tokens live which are minted under it, or 0
    login              text COLLATE "C" NOT NULL, -- the name under which tokens are fetched, '' where none are
    door               text COLLATE "C" NOT NULL, -- the one that it was asked for at
    secret_sha256      text COLLATE "C" NOT NULL, -- of the secrets that have one minted; of those of one login one row has them
    -- when it is issued
    issued_at          timestamptz      NOT NULL,
    expires_at         timestamptz      NOT NULL,
    credential_ends_at timestamptz      NOT NULL, -- when the credential ends by itself
    max_revocation_lag bigint           NOT NULL, -- microseconds
    credential_kind    text             NOT NULL,
    uid                text             NOT NULL,
    credential_id      text             NOT NULL,
    sealed_key         text             NOT NULL, -- reference of the key of sealed
    -- when it is confirmed dead
    sealed             text             NOT NULL, -- 'apart': lease_credentials has it
    confirmed_dead_at  timestamptz      NOT NULL,
    -- with each move
    revision           bigint           NOT NULL,
    revoked_at         timestamptz      NOT NULL,
    next_attempt_at    timestamptz      NOT NULL,
    attempts           bigint           NOT NULL,
    state              text COLLATE "C" NOT NULL,
    reason             text             NOT NULL,
    last_error         text             NOT NULL,

    CONSTRAINT lease_has_id CHECK (id <> ''),
    CONSTRAINT lease_state_known CHECK (state IN ('pending', 'active', 'revoking', 'revoked', 'irrevocable')),
    CONSTRAINT lease_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'onap', 'page')),
    CONSTRAINT lease_revision_from_one CHECK (revision >= 1),
    CONSTRAINT lease_expires_after_issue CHECK ((issued_at = '-infinity' AND state <> 'active') OR expires_at > issued_at),
    CONSTRAINT lease_revoked_has_time CHECK (state <> 'revoked' OR revoked_at > '-infinity'),
    CONSTRAINT lease_attempts_from_zero CHECK (attempts >= 0)
) WITH (fillfactor = 50); -- room on each page for what changes there

CREATE UNIQUE INDEX lease_idempotency_key_once_per_principal ON leases (principal, idempotency_key) WHERE idempotency_key <> '';
CREATE UNIQUE INDEX lease_login_once ON leases (login) WHERE login <> '' AND secret_sha256 <> '';
-- Lists, the newest first. They end without the id: few leases are of the same microsecond.
CREATE INDEX lease_by_time ON leases (created_at); -- lists: all; the pass that removes the past
CREATE INDEX lease_on_vim ON leases (vim, created_at); -- lists: of a VIM
CREATE INDEX lease_of_principal ON leases (principal, created_at); -- lists: of a principal
CREATE INDEX lease_of_project ON leases (project, created_at); -- lists: of a project
CREATE INDEX lease_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project; -- lists: of others on a project's VIMs
CREATE INDEX lease_by_operation ON leases (operation, created_at, id) WHERE operation <> ''; -- lists: of an operation
CREATE INDEX lease_by_instance ON leases (instance, created_at, id) WHERE instance <> ''; -- lists: of a VNF instance
CREATE INDEX lease_by_whom ON leases (for_whom, created_at, id) WHERE for_whom <> ''; -- lists: of those for a person
CREATE INDEX lease_ends_for_good ON leases (max_expires_at) -- metrics: leases for months
    WHERE max_expires_at AT TIME ZONE 'UTC' > created_at AT TIME ZONE 'UTC' + interval '720 hours';

-- The leases that are not revoked: little beside what was. Quotas, censuses, drains and lists of live leases read it.
CREATE TABLE live_leases (
    id             text COLLATE "C" NOT NULL,
    created_at     timestamptz      NOT NULL,
    vim            text COLLATE "C" NOT NULL,
    vim_project    text COLLATE "C" NOT NULL,
    project        text COLLATE "C" NOT NULL,
    principal      text COLLATE "C" NOT NULL,
    vim_generation bigint           NOT NULL,
    epoch          bigint           NOT NULL, -- drawn by lot, so it says enough of the grant
    grade          text COLLATE "C" NOT NULL,
    state          text COLLATE "C" NOT NULL  -- in no index, so that a change of it enters none
) WITH (fillfactor = 70);

-- Lists of live leases, as those of leases; and:
CREATE INDEX live_lease_newest ON live_leases (created_at);
CREATE INDEX live_lease_by_vim ON live_leases (vim, created_at); -- the quota of a VIM; what a drain waits for; follow_lease
CREATE INDEX live_lease_by_principal ON live_leases (principal, created_at); -- the quota of a principal
CREATE INDEX live_lease_by_project ON live_leases (project, created_at); -- the quota of a project
CREATE INDEX live_lease_by_lender ON live_leases (vim_project, created_at) WHERE project <> vim_project;
CREATE INDEX live_lease_by_epoch ON live_leases (vim, epoch, vim_generation); -- whether a lease needs a grant, or a generation

-- When there is work for a lease: it expires, its revocation is tried again, or its revoked credential is tried.
CREATE TABLE lease_turns (
    due_at         timestamptz      NOT NULL,
    vim            text COLLATE "C" NOT NULL,
    id             text COLLATE "C" NOT NULL,
    vim_project    text COLLATE "C" NOT NULL,
    vim_generation bigint           NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX lease_turn_due ON lease_turns (due_at); -- the VIMs on which leases are due
CREATE INDEX lease_turn_by_vim ON lease_turns (vim, due_at); -- what is due on a VIM; follow_lease

-- How many leases have ended and are still kept, in parts: each connection counts in its own.
CREATE TABLE ended_leases (
    part integer NOT NULL PRIMARY KEY,
    n    bigint  NOT NULL
) WITH (fillfactor = 50); -- with less room each change would clear a page of the versions before

INSERT INTO ended_leases (part, n) SELECT part, 0 FROM generate_series(0, 31) AS part;

-- lease_due is when there is work for a lease, NULL when there is none.
CREATE FUNCTION lease_due(state text, expires_at timestamptz, next_attempt_at timestamptz, sealed boolean)
RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE state WHEN 'active' THEN expires_at
                      WHEN 'revoking' THEN next_attempt_at
                      WHEN 'revoked' THEN CASE WHEN sealed THEN next_attempt_at END END
$$;

-- follow_lease keeps live_leases, lease_turns and ended_leases. A live lease is found by its VIM and time, so that
-- live_leases needs no index of ids.
CREATE FUNCTION follow_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was boolean := TG_OP = 'UPDATE' AND OLD.state <> 'revoked';
    was_due timestamptz;
    due timestamptz := lease_due(NEW.state, NEW.expires_at, NEW.next_attempt_at, NEW.sealed <> '');
BEGIN
    IF was AND NEW.state = 'revoked' THEN
        DELETE FROM live_leases WHERE vim = NEW.vim AND created_at = NEW.created_at AND id = NEW.id;
        UPDATE ended_leases SET n = n + 1 WHERE part = pg_backend_pid() % 32;
    ELSIF was AND NEW.state <> OLD.state THEN
        UPDATE live_leases SET state = NEW.state WHERE vim = NEW.vim AND created_at = NEW.created_at AND id = NEW.id;
    ELSIF NOT was AND NEW.state <> 'revoked' THEN
        INSERT INTO live_leases (id, created_at, vim, vim_project, project, principal, vim_generation, epoch, grade, state)
        VALUES (NEW.id, NEW.created_at, NEW.vim, NEW.vim_project, NEW.project, NEW.principal, NEW.vim_generation, NEW.epoch,
            NEW.grade, NEW.state);
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

CREATE FUNCTION follow_removed_leases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE ended_leases SET n = n - (SELECT count(*) FROM removed) WHERE part = pg_backend_pid() % 32;
    RETURN NULL;
END $$;

-- Only "db copy" inserts a lease that has ended, and it counts for itself.
CREATE TRIGGER lease_followed_when_created AFTER INSERT ON leases
    FOR EACH ROW WHEN (NEW.state <> 'revoked' OR NEW.sealed <> '') EXECUTE FUNCTION follow_lease();
CREATE TRIGGER lease_followed_when_changed AFTER UPDATE ON leases
    FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.expires_at <> NEW.expires_at
        OR OLD.next_attempt_at <> NEW.next_attempt_at OR (OLD.sealed <> '') <> (NEW.sealed <> ''))
    EXECUTE FUNCTION follow_lease();
CREATE TRIGGER lease_followed_when_removed AFTER DELETE ON leases
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION follow_removed_leases();

-- The sealed credentials of leases, in bytes and apart from their rows: a row with a long value is locked in the log
-- once more with each change.
CREATE TABLE lease_credentials (
    lease  text COLLATE "C" NOT NULL,
    sealed bytea            NOT NULL,
    CONSTRAINT lease_credential_once PRIMARY KEY (lease)
);

ALTER TABLE lease_credentials ALTER COLUMN sealed SET STORAGE EXTERNAL; -- it does not compress

CREATE FUNCTION drop_lease_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lease_credentials WHERE lease = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER lease_credential_dropped AFTER UPDATE OF sealed ON leases
    FOR EACH ROW WHEN (OLD.sealed = 'apart' AND NEW.sealed <> 'apart') EXECUTE FUNCTION drop_lease_credential();

-- Leases that ended before this time may be removed.
CREATE TABLE lease_horizon (
    id    integer     NOT NULL PRIMARY KEY CHECK (id = 1),
    until timestamptz NOT NULL
) WITH (fillfactor = 10);

INSERT INTO lease_horizon (id, until) VALUES (1, '-infinity');

CREATE FUNCTION refuse_young_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'revoked' AND OLD.sealed = '' AND OLD.revoked_at < (SELECT until FROM lease_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER lease_horizon_only_grows BEFORE UPDATE ON lease_horizon
    FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.until < OLD.until) EXECUTE FUNCTION refuse_change();
-- but for the pass that removes the past
CREATE TRIGGER lease_never_deleted BEFORE DELETE ON leases FOR EACH ROW EXECUTE FUNCTION refuse_young_lease();
CREATE TRIGGER leases_never_deleted BEFORE TRUNCATE ON leases FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- A revoked lease whose credential still works becomes irrevocable, and nothing else.
CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
    FOR EACH ROW WHEN (OLD.state = 'revoked' AND NEW.state NOT IN ('revoked', 'irrevocable')) EXECUTE FUNCTION refuse_change();

-- The ledger of keys that no row needs, until they are destroyed in their key store.
CREATE TABLE retired_keys (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which they are destroyed
    key_store  text COLLATE "C" NOT NULL,
    key_ref    text COLLATE "C" NOT NULL,
    vim        text COLLATE "C" NOT NULL,
    generation bigint           NOT NULL,
    retired_at timestamptz      NOT NULL,
    CONSTRAINT key_retired_once UNIQUE (vim, generation, key_store, key_ref)
);

--
-- The audit log
--

-- Entries that wait for their place in the log. Many write them at once, each with its change; one writer at a time
-- moves them to audit_entries.
CREATE TABLE audit_inbox (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time      timestamptz      NOT NULL,
    request   text             NOT NULL,
    door      text             NOT NULL, -- the one that the request came in by
    principal text COLLATE "C" NOT NULL,
    project   text COLLATE "C" NOT NULL,
    action    text COLLATE "C" NOT NULL,
    kind      text             NOT NULL,
    resource  text COLLATE "C" NOT NULL,
    outcome   text             NOT NULL,
    detail    json             NOT NULL, -- object of strings
    CONSTRAINT audit_inbox_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed')),
    CONSTRAINT audit_inbox_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'onap', 'page'))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

CREATE TRIGGER audit_inbox_never_changes BEFORE UPDATE ON audit_inbox FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_inbox_never_emptied BEFORE TRUNCATE ON audit_inbox FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The audit log. A tree of hashes over it, audit_tree, shows what is changed.
CREATE TABLE audit_entries (
    seq       bigint           NOT NULL PRIMARY KEY,
    time      timestamptz      NOT NULL,
    request   text             NOT NULL,
    door      text             NOT NULL, -- the one that the request came in by
    principal text COLLATE "C" NOT NULL,
    project   text COLLATE "C" NOT NULL,
    action    text COLLATE "C" NOT NULL,
    kind      text             NOT NULL,
    resource  text COLLATE "C" NOT NULL,
    outcome   text             NOT NULL,
    detail    json             NOT NULL, -- object of strings
    CONSTRAINT audit_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed')),
    CONSTRAINT audit_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'onap', 'page'))
);

-- Lists, the newest first. Each filter of a query has its index; a project also sees what others did to its resources.
CREATE INDEX audit_by_project ON audit_entries (project, seq);
CREATE INDEX audit_by_owner ON audit_entries ((detail->>'vimProject'), seq)
    WHERE detail->>'vimProject' <> project;
CREATE INDEX audit_by_principal ON audit_entries (principal, seq);
CREATE INDEX audit_by_resource ON audit_entries (resource, seq) WHERE kind <> 'Lease'; -- those are in audit_by_lease
CREATE INDEX audit_by_action ON audit_entries (action, seq);
CREATE INDEX audit_by_vim ON audit_entries ((detail->>'vim'), seq) WHERE detail->>'vim' IS NOT NULL;
CREATE INDEX audit_by_vim_name ON audit_entries ((detail->>'vimName'), seq) WHERE detail->>'vimName' IS NOT NULL;
CREATE INDEX audit_by_lease ON audit_entries ((detail->>'lease'), seq) WHERE detail->>'lease' IS NOT NULL;
CREATE INDEX audit_by_credential ON audit_entries ((detail->>'credential-id'), seq) WHERE detail->>'credential-id' IS NOT NULL;
-- What was denied or failed. A lease whose life is without failure enters none of these.
CREATE INDEX audit_by_outcome ON audit_entries (outcome, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_project_outcome ON audit_entries (project, outcome, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_owner_outcome ON audit_entries ((detail->>'vimProject'), outcome, seq)
    WHERE outcome IN ('denied', 'failed') AND detail->>'vimProject' <> project;
CREATE INDEX audit_by_action_outcome ON audit_entries (action, outcome, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_request ON audit_entries (request, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_time ON audit_entries (time); -- lists: of a time; the pass that removes the past

-- The end of the log. The transaction that locks this row writes the next entries and commits.
CREATE TABLE audit_head (
    id   integer NOT NULL PRIMARY KEY CHECK (id = 1),
    seq  bigint  NOT NULL
) WITH (fillfactor = 10);

INSERT INTO audit_head (id, seq) VALUES (1, 0);

CREATE TRIGGER audit_head_only_grows BEFORE UPDATE ON audit_head
    FOR EACH ROW WHEN (NEW.seq <= OLD.seq) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- The entry up to which the log may be removed. The tree over the log stays whole.
CREATE TABLE audit_horizon (
    id  integer NOT NULL PRIMARY KEY CHECK (id = 1),
    seq bigint  NOT NULL
) WITH (fillfactor = 10);

INSERT INTO audit_horizon (id, seq) VALUES (1, 0);

-- refuse_horizon lets it grow up to a signed checkpoint, and never to the newest entry, which the next one follows.
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

CREATE FUNCTION refuse_young_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.seq <= (SELECT seq FROM audit_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- but for the pass that removes the past
CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_young_entry();
CREATE TRIGGER audit_never_emptied BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The Merkle tree over audit_entries (RFC 6962), in tiles of 256 hashes.
CREATE TABLE audit_tiles (
    level  bigint NOT NULL,
    number bigint NOT NULL,
    hashes bytea  NOT NULL,
    CONSTRAINT audit_tile_once PRIMARY KEY (level, number)
);

ALTER TABLE audit_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes do not compress

CREATE TRIGGER audit_tiles_only_grow BEFORE UPDATE ON audit_tiles
    FOR EACH ROW WHEN (octet_length(NEW.hashes) <= octet_length(OLD.hashes)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON audit_tiles FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_tiles_never_emptied BEFORE TRUNCATE ON audit_tiles FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- How many entries the tree covers, and its root. The root of no entry is the hash of nothing.
CREATE TABLE audit_tree (
    id   integer NOT NULL PRIMARY KEY CHECK (id = 1),
    size bigint  NOT NULL,
    root bytea   NOT NULL
) WITH (fillfactor = 10);

INSERT INTO audit_tree (id, size, root)
VALUES (1, 0, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

CREATE TRIGGER audit_tree_only_grows BEFORE UPDATE ON audit_tree
    FOR EACH ROW WHEN (NEW.size <= OLD.size) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_tree_stays BEFORE DELETE ON audit_tree FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Keys that sign checkpoints of the log.
CREATE TABLE audit_keys (
    id          text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    origin      text             NOT NULL,
    verifier    text             NOT NULL,
    since       bigint           NOT NULL, -- sizes of the log between which its checkpoints count
    until       bigint           NOT NULL,
    endorsement text             NOT NULL,
    created_at  timestamptz      NOT NULL,
    ended_at    timestamptz      NOT NULL,
    sealed      text             NOT NULL,
    key_store   text             NOT NULL,
    key_ref     text COLLATE "C" NOT NULL,
    CONSTRAINT audit_key_once PRIMARY KEY (id),
    CONSTRAINT audit_key_state_known CHECK (state IN ('making', 'abandoned', 'signing', 'retired', 'revoked'))
);

CREATE UNIQUE INDEX audit_one_key_signs ON audit_keys (state) WHERE state = 'signing';

CREATE TRIGGER audit_key_stays_what_it_is BEFORE UPDATE ON audit_keys
    FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.origin <> OLD.origin OR NEW.created_at <> OLD.created_at
        OR OLD.state <> 'making' AND (NEW.verifier <> OLD.verifier OR NEW.since <> OLD.since OR NEW.endorsement <> OLD.endorsement))
    EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_key_never_returns BEFORE UPDATE ON audit_keys
    FOR EACH ROW WHEN (OLD.state IN ('retired', 'revoked') AND (NEW.state NOT IN (OLD.state, 'revoked') OR NEW.until > OLD.until))
    EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_keys_stay BEFORE DELETE ON audit_keys
    FOR EACH ROW WHEN (OLD.state <> 'abandoned') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_keys_never_emptied BEFORE TRUNCATE ON audit_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The signed checkpoints.
CREATE TABLE audit_checkpoints (
    size bigint           NOT NULL,
    root bytea            NOT NULL,
    time timestamptz      NOT NULL,
    key  text COLLATE "C" NOT NULL,
    note text             NOT NULL,
    CONSTRAINT audit_checkpoint_once PRIMARY KEY (size)
);

CREATE TRIGGER audit_checkpoints_never_change BEFORE UPDATE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_checkpoints_stay BEFORE DELETE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_checkpoints_never_emptied BEFORE TRUNCATE ON audit_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The newest checkpoint that each place outside of the database has.
CREATE TABLE audit_anchors (
    anchor text COLLATE "C" NOT NULL,
    size   bigint           NOT NULL,
    time   timestamptz      NOT NULL,
    CONSTRAINT audit_anchor_once PRIMARY KEY (anchor)
);

-- How far the log has been delivered to each sink.
CREATE TABLE audit_cursors (
    sink    text COLLATE "C" NOT NULL,
    seq     bigint           NOT NULL, -- the last entry that was delivered or skipped
    start   bigint           NOT NULL, -- how many entries the log had when the sink was begun
    skipped bigint           NOT NULL,
    CONSTRAINT audit_cursor_once PRIMARY KEY (sink),
    CONSTRAINT audit_cursor_from_zero CHECK (seq >= 0 AND start >= 0 AND skipped >= 0)
) WITH (fillfactor = 10);

CREATE TRIGGER audit_cursor_only_grows BEFORE UPDATE ON audit_cursors
    FOR EACH ROW WHEN (NEW.sink <> OLD.sink OR NEW.start <> OLD.start OR NEW.seq <= OLD.seq OR NEW.skipped < OLD.skipped)
    EXECUTE FUNCTION refuse_change();

--
-- Callers
--

-- Programs that log in by OAuth 2.0. Only the digests of secrets are kept.
CREATE TABLE oauth_clients (
    id              text COLLATE "C" NOT NULL PRIMARY KEY,
    project         text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    roles           text[]           NOT NULL,
    certificate     text             NOT NULL, -- JSON object: its certificate's kind and name, '{}' where it has a secret
    placements      text             NOT NULL, -- JSON array: where its VNFs go, of which the first that matches counts
    state           text COLLATE "C" NOT NULL,
    sha256          text COLLATE "C" NOT NULL, -- of its secret, '' once it is being deleted
    previous_sha256 text COLLATE "C" NOT NULL, -- of the secret before, '' where there is none
    previous_until  timestamptz      NOT NULL,
    rotated_at      timestamptz      NOT NULL,
    ending          boolean          NOT NULL, -- its leases are to be revoked
    created_by      text             NOT NULL,
    created_at      timestamptz      NOT NULL,
    updated_at      timestamptz      NOT NULL,
    revision        bigint           NOT NULL,
    CONSTRAINT client_state_known CHECK (state IN ('active', 'deleting')),
    CONSTRAINT client_deleting_has_no_secret CHECK (sha256 = '' AND previous_sha256 = '' OR state <> 'deleting'),
    CONSTRAINT client_deleting_ends_its_leases CHECK (ending OR state <> 'deleting')
);

CREATE UNIQUE INDEX client_name_once_per_project ON oauth_clients (project, name); -- also the order of lists
CREATE INDEX client_by_name ON oauth_clients (name, project); -- lists: of a name
CREATE INDEX client_ending ON oauth_clients (project, name) WHERE ending; -- the pass that revokes their leases

-- Keys that sign the tokens of clients. The private half is sealed under a key in a key store.
CREATE TABLE oauth_keys (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    state      text COLLATE "C" NOT NULL,
    public     text             NOT NULL, -- JWK, '' while it is being made
    sealed     text             NOT NULL,
    key_store  text             NOT NULL,
    key_ref    text             NOT NULL,
    created_at timestamptz      NOT NULL,
    until      timestamptz      NOT NULL, -- its tokens have expired then
    CONSTRAINT oauth_key_state_known CHECK (state IN ('making', 'abandoned', 'signing', 'verifying')),
    CONSTRAINT oauth_key_signing_is_whole CHECK ((public <> '' AND sealed <> '' AND key_ref <> '') OR state <> 'signing'),
    CONSTRAINT oauth_key_verifying_has_no_private_half CHECK ((sealed = '' AND key_ref = '') OR state = 'signing')
);

CREATE UNIQUE INDEX oauth_key_signs_alone ON oauth_keys (state) WHERE state = 'signing';

-- When static tokens were last used, by the beginning of their digests.
CREATE TABLE token_uses (
    token   text COLLATE "C" NOT NULL PRIMARY KEY,
    used_at timestamptz      NOT NULL
);

-- Sessions of people at the page, by the digest of the secret that the browser shows.
CREATE TABLE sessions (
    digest     text COLLATE "C" NOT NULL PRIMARY KEY,
    id         text COLLATE "C" NOT NULL,
    principal  text COLLATE "C" NOT NULL,
    project    text COLLATE "C" NOT NULL,
    came       text COLLATE "C" NOT NULL, -- how the person came in: an object
    source     text COLLATE "C" NOT NULL,
    created_at timestamptz      NOT NULL,
    used_at    timestamptz      NOT NULL,
    until      timestamptz      NOT NULL, -- it ends then unless it is used
    ends_at    timestamptz      NOT NULL
);

CREATE UNIQUE INDEX session_by_id ON sessions (id);
CREATE INDEX session_by_principal ON sessions (principal, project, until); -- lists: of a principal
CREATE INDEX session_by_end ON sessions (until); -- the pass that forgets them

-- Tokens that are taken once and were, by the digest of issuer and id, until they end.
CREATE TABLE used_tokens (
    id    text COLLATE "C" NOT NULL PRIMARY KEY,
    until timestamptz      NOT NULL
);

CREATE INDEX used_token_by_end ON used_tokens (until); -- the pass that forgets them

-- The entries of the table of trust that administrators keep; those of the configuration are not here.
CREATE TABLE trust_entries (
    name       text COLLATE "C" NOT NULL PRIMARY KEY,
    definition text             NOT NULL, -- JSON object: all of it
    created_by text             NOT NULL,
    created_at timestamptz      NOT NULL,
    updated_by text             NOT NULL,
    updated_at timestamptz      NOT NULL
);

--
-- Clusters that Cluster API makes
--

-- The VIMs on which Cluster API runs, with what becomes of its clusters.
CREATE TABLE management_clusters (
    vim            text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES vims (id) ON DELETE CASCADE,
    namespaces     text[]           NOT NULL, -- * alone is all
    namespace_selector json         NOT NULL,
    selector       json             NOT NULL,
    projects       json             NOT NULL, -- '' is the project of all other namespaces
    secret_name    text             NOT NULL,
    secret_key     text             NOT NULL,
    name_template  text             NOT NULL,
    copy_labels    text[]           NOT NULL,
    control_planes text[]           NOT NULL,
    account        text             NOT NULL, -- profile of the account that takes the place of a cluster's credential, or ''
    max_gone       bigint           NOT NULL,
    max_gone_share bigint           NOT NULL, -- per cent
    annotation     text COLLATE "C" NOT NULL, -- what it decides of a Cluster: out or in
    enabled_by     text             NOT NULL,
    created_at     timestamptz      NOT NULL,
    updated_at     timestamptz      NOT NULL,
    watched_at     timestamptz      NOT NULL,
    trouble        text             NOT NULL,
    held_at        timestamptz      NOT NULL,
    released_until timestamptz      NOT NULL,
    revision       bigint           NOT NULL
);

-- The clusters that were seen there, and the VIMs that they became.
CREATE TABLE clusters (
    id              text COLLATE "C" NOT NULL PRIMARY KEY,
    management      text COLLATE "C" NOT NULL REFERENCES management_clusters (vim) ON DELETE CASCADE,
    namespace       text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    uid             text COLLATE "C" NOT NULL,
    project         text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL,
    reason          text COLLATE "C" NOT NULL,
    message         text             NOT NULL,
    vim             text COLLATE "C" NOT NULL, -- id, which may be gone
    former          text COLLATE "C" NOT NULL, -- id of the VIM that somebody deleted, which the next has
    system          text COLLATE "C" NOT NULL,
    rival           text COLLATE "C" NOT NULL, -- id of the cluster whose system it leads to, while it is refused for that
    secret          text             NOT NULL, -- a version, never what it holds
    push_token      text             NOT NULL, -- hash of the token that its kubeconfig can be pushed with
    push_expires_at timestamptz      NOT NULL,
    pushed_at       timestamptz      NOT NULL,
    ready_at        timestamptz      NOT NULL,
    registered_at   timestamptz      NOT NULL,
    gone_at         timestamptz      NOT NULL,
    created_at      timestamptz      NOT NULL,
    updated_at      timestamptz      NOT NULL,
    attempts        bigint           NOT NULL,
    revision        bigint           NOT NULL,
    CONSTRAINT cluster_state_known CHECK
        (state IN ('waiting', 'registering', 'registered', 'quarantined', 'retiring', 'retired')),
    CONSTRAINT cluster_registered_is_a_vim CHECK (vim <> '' OR state NOT IN ('registered', 'retiring'))
);

CREATE UNIQUE INDEX cluster_object_once ON clusters (management, namespace, name, uid); -- also the order of lists
CREATE UNIQUE INDEX cluster_system_once ON clusters (system, project) WHERE system <> '' AND state <> 'retired';
CREATE INDEX cluster_by_project ON clusters (project, management, namespace, name, uid); -- lists: of a project
CREATE INDEX cluster_by_name ON clusters (name, namespace, management, uid); -- lists: of a name
CREATE INDEX cluster_by_state ON clusters (state, reason); -- lists: in a state; a metric

--
-- VNFs
--

-- VNF packages. What no query asks for is in the document.
CREATE TABLE vnf_packages (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    project    text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    vnfd       text COLLATE "C" NOT NULL, -- '' until the package is onboarded
    content    text COLLATE "C" NOT NULL, -- what its chunks are stored under; '' where there are none
    stored     bigint           NOT NULL, -- bytes of its chunks
    created_at timestamptz      NOT NULL,
    touched_at timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL, -- JSON
    CONSTRAINT package_state_known CHECK (state IN ('created', 'uploading', 'processing', 'enabled', 'disabled')),
    CONSTRAINT package_onboarded_has_vnfd CHECK (vnfd <> '' OR state NOT IN ('enabled', 'disabled')),
    CONSTRAINT package_created_has_no_content CHECK (content = '' OR state <> 'created')
);

CREATE UNIQUE INDEX package_vnfd_once_per_project ON vnf_packages (project, vnfd) WHERE vnfd <> '';
CREATE INDEX package_by_age ON vnf_packages (created_at, id); -- lists: all
CREATE INDEX package_by_project ON vnf_packages (project, created_at, id); -- lists: of a project; its quotas
CREATE INDEX package_by_vnfd ON vnf_packages (vnfd, created_at, id); -- lists: of a VNFD
CREATE INDEX package_uploading ON vnf_packages (touched_at)
    WHERE state IN ('uploading', 'processing'); -- the pass that ends uploads which nobody goes on with

-- The bytes of packages.
CREATE TABLE vnf_package_chunks (
    content text COLLATE "C" NOT NULL,
    number  integer          NOT NULL,
    bytes   bytea            NOT NULL,
    PRIMARY KEY (content, number)
);

ALTER TABLE vnf_package_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL; -- packages are compressed already

-- Contents that no package names any more, and whose chunks are still to be removed.
CREATE TABLE vnf_contents_gone (
    content text COLLATE "C" NOT NULL PRIMARY KEY
);

-- Which VNF instances need a package. One that is in use cannot be deleted.
CREATE TABLE vnf_package_uses (
    package  text COLLATE "C" NOT NULL CONSTRAINT package_in_use_stays REFERENCES vnf_packages (id),
    instance text COLLATE "C" NOT NULL,
    PRIMARY KEY (package, instance)
);

CREATE INDEX package_use_by_instance ON vnf_package_uses (instance); -- the uses of an instance, with each change of it

-- VNF instances. What no query asks for is in the document.
CREATE TABLE vnf_instances (
    id          text COLLATE "C" NOT NULL PRIMARY KEY,
    project     text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    created_at  timestamptz      NOT NULL,
    revision    bigint           NOT NULL,
    document    text             NOT NULL, -- JSON
    -- by the pass that looks for drift
    observed_at timestamptz      NOT NULL, -- when it tried last
    drifted     bigint           NOT NULL, -- resources that are missing or were changed
    unseen      boolean          NOT NULL, -- the VIM did not answer
    drift       text             NOT NULL  -- JSON: the rest
);

CREATE INDEX vnf_instance_newest ON vnf_instances (created_at DESC, id DESC); -- lists: all
CREATE INDEX vnf_instance_by_project ON vnf_instances (project, created_at DESC, id DESC); -- lists: of a project; its quota
CREATE INDEX vnf_instance_by_name ON vnf_instances (name, created_at DESC, id DESC); -- lists: of a name
CREATE INDEX vnf_instance_to_observe ON vnf_instances (observed_at, id) WHERE state = 'INSTANTIATED'; -- the pass that looks for drift

-- Virtual links and volumes: networks and claims on VIMs, apart from VNF instances. What no query asks for is in the document.
CREATE TABLE assets (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    project    text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL, -- VirtualLink or Volume
    name       text COLLATE "C" NOT NULL,
    vim        text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    network    text COLLATE "C" NOT NULL, -- the VIM's id of it, or ''
    maker      text COLLATE "C" NOT NULL, -- the VNF instance that it was made for, or ''
    loose      boolean          NOT NULL, -- it has a maker, and may have lost its last use
    since      timestamptz      NOT NULL, -- when somebody last began to work on it
    revision   bigint           NOT NULL,
    document   text             NOT NULL, -- JSON
    CONSTRAINT asset_name_once_per_project UNIQUE (project, kind, name)
);

CREATE INDEX asset_by_name ON assets (name); -- the one that people name
CREATE INDEX asset_by_kind ON assets (kind, id); -- lists: all of a kind
-- the link that a network of the cloud is; no project has two of one
CREATE UNIQUE INDEX asset_network_once_per_project ON assets (vim, network, project, (CASE network WHEN '' THEN id ELSE '' END));
CREATE INDEX asset_unsettled ON assets (since, id) WHERE loose OR state <> 'ready'; -- the pass that settles them

-- Who sees an asset: its project, those that it is shared with, and * for all.
CREATE TABLE asset_viewers (
    project text COLLATE "C" NOT NULL,
    asset   text COLLATE "C" NOT NULL REFERENCES assets (id) ON DELETE CASCADE,
    PRIMARY KEY (project, asset)
);

CREATE INDEX asset_viewer_by_asset ON asset_viewers (asset); -- goes with it

-- Which VNF instances use an asset: a row is written with the instance, and ends with it.
CREATE TABLE asset_uses (
    asset    text COLLATE "C" NOT NULL CONSTRAINT asset_in_use_stays REFERENCES assets (id),
    instance text COLLATE "C" NOT NULL,
    since    timestamptz      NOT NULL,
    PRIMARY KEY (asset, instance)
);

CREATE INDEX asset_use_by_instance ON asset_uses (instance); -- the uses of an instance, with each change of it

-- The operations on VNF instances. What no query asks for is in the document.
CREATE TABLE vnf_operations (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    instance   text COLLATE "C" NOT NULL REFERENCES vnf_instances (id),
    project    text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    started_at timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL, -- JSON
    vim        text COLLATE "C" NOT NULL, -- where it is worked
    queued_at  timestamptz      NOT NULL, -- since when it waits for its turn
    turn_at    timestamptz      NOT NULL  -- '-infinity' while it waits
);

-- also: the live operations, to which turns are given
CREATE UNIQUE INDEX vnf_operation_live_once_per_instance ON vnf_operations (instance)
    WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK');
CREATE INDEX vnf_operation_newest ON vnf_operations (started_at DESC, id DESC); -- lists: all
CREATE INDEX vnf_operation_by_project ON vnf_operations (project, started_at DESC, id DESC); -- lists: of a project
CREATE INDEX vnf_operation_failed ON vnf_operations (started_at DESC, id DESC) WHERE state = 'FAILED_TEMP'; -- lists: those that wait for somebody
CREATE INDEX vnf_operation_by_instance ON vnf_operations (instance, started_at DESC, id DESC); -- lists: of an instance; its deletion

-- The parameters of VNF instances that nobody is shown, sealed under keys of their own. The documents of instances
-- and operations name them.
CREATE TABLE vnf_secret_parameters (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    instance   text COLLATE "C" NOT NULL,
    vim        text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    since      timestamptz      NOT NULL, -- when it entered the state
    generation bigint           NOT NULL, -- of the key
    sealed     text             NOT NULL,
    key_store  text             NOT NULL,
    key_ref    text             NOT NULL,
    CONSTRAINT secret_parameters_state_known CHECK (state IN ('making', 'active', 'rekeying', 'abandoned')),
    CONSTRAINT secret_parameters_has_a_key CHECK ((sealed = '') = (key_ref = ''))
);

CREATE INDEX secret_parameters_by_instance ON vnf_secret_parameters (instance); -- the deletion of an instance
CREATE INDEX secret_parameters_by_vim ON vnf_secret_parameters (vim, id); -- "key rotate" and "key migrate", VIM by VIM
CREATE INDEX secret_parameters_unsettled ON vnf_secret_parameters (since, id) WHERE state <> 'active'; -- the pass that settles them

-- What VNFMs that are clients were granted for their operations (SOL003 clause 9). What no query asks for is in the
-- document.
CREATE TABLE vnf_grants (
    id         text COLLATE "C" NOT NULL PRIMARY KEY, -- begins with the time: lists are the newest first
    client     text COLLATE "C" NOT NULL,
    operation  text COLLATE "C" NOT NULL, -- the operation occurrence at the VNFM
    instance   text COLLATE "C" NOT NULL, -- the VNF instance at the VNFM
    created_at timestamptz      NOT NULL,
    state      text COLLATE "C" NOT NULL,
    lease      text COLLATE "C" NOT NULL, -- '' before it is granted
    holds      boolean          NOT NULL, -- its lease is the instance's
    followed   boolean          NOT NULL, -- it is looked at again at look_at
    look_at    timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL, -- JSON
    CONSTRAINT vnf_grant_state_known CHECK (state IN ('deciding', 'granted', 'refused', 'ended'))
);

CREATE UNIQUE INDEX vnf_grant_once_per_operation ON vnf_grants (client, operation); -- also: how many a client has
CREATE INDEX vnf_grant_by_operation ON vnf_grants (operation, id); -- lists: of an operation
CREATE INDEX vnf_grant_by_instance ON vnf_grants (instance, id); -- lists: of an instance
CREATE INDEX vnf_grant_by_lease ON vnf_grants (lease, id); -- lists: of a lease
CREATE INDEX vnf_grant_by_state ON vnf_grants (state, id); -- lists: in a state
CREATE INDEX vnf_grant_by_project ON vnf_grants ((document::jsonb ->> 'Project'), id); -- lists: of a project
CREATE INDEX vnf_grant_by_project_state ON vnf_grants ((document::jsonb ->> 'Project'), state, id); -- lists: of a project in a state
CREATE INDEX vnf_grant_by_vim ON vnf_grants ((document::jsonb ->> 'VIM'), id); -- lists: of a VIM
CREATE INDEX vnf_grant_by_vim_name ON vnf_grants ((document::jsonb ->> 'VIMName'), id); -- lists: of a VIM's name
CREATE INDEX vnf_grant_holding ON vnf_grants (client, instance, created_at) WHERE holds; -- the grant that holds an instance's lease
CREATE INDEX vnf_grant_due ON vnf_grants (look_at) WHERE followed; -- the pass that looks at them again
CREATE INDEX vnf_grant_over ON vnf_grants (created_at) WHERE state IN ('refused', 'ended'); -- the pass that removes the past

-- Subscribers to notifications about VNF instances, and how delivery to each goes.
CREATE TABLE vnf_subscriptions (
    id            text COLLATE "C" NOT NULL PRIMARY KEY,
    project       text COLLATE "C" NOT NULL,
    callback      text             NOT NULL,
    base          text             NOT NULL,
    verbosity     text             NOT NULL,
    filter        text             NOT NULL, -- JSON
    auth          text[]           NOT NULL,
    digest        text COLLATE "C" NOT NULL, -- of callback, verbosity and filter
    created_by    text             NOT NULL,
    created_at    timestamptz      NOT NULL,
    state         text COLLATE "C" NOT NULL,
    since         timestamptz      NOT NULL, -- when it entered the state
    sealed        text             NOT NULL,
    key_store     text             NOT NULL,
    key_ref       text             NOT NULL,
    -- with each try
    delivered     bigint           NOT NULL,
    delivered_at  timestamptz      NOT NULL,
    failures      bigint           NOT NULL,
    failing_since timestamptz      NOT NULL,
    fault         text             NOT NULL,
    given_up      bigint           NOT NULL,
    given_up_at   timestamptz      NOT NULL,
    refusals      bigint           NOT NULL, -- how often in a row the next notification was refused
    CONSTRAINT subscription_state_known CHECK (state IN ('making', 'active', 'rekeying', 'abandoned')),
    CONSTRAINT subscription_secret_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX subscription_once_per_project ON vnf_subscriptions (project, digest);
CREATE INDEX subscription_newest ON vnf_subscriptions (created_at DESC, id DESC); -- lists: all
-- lists: of a project; its quota; the subscribers of an event
CREATE INDEX subscription_by_project ON vnf_subscriptions (project, created_at DESC, id DESC);
CREATE INDEX subscription_unfinished ON vnf_subscriptions (created_at DESC, id DESC) WHERE state <> 'active'; -- the pass that settles them

-- The notifications that subscribers are still to be sent, in their order.
CREATE TABLE vnf_notifications (
    seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription text COLLATE "C" NOT NULL,
    at           timestamptz      NOT NULL,
    document     text             NOT NULL -- JSON
);

CREATE INDEX notification_by_subscription ON vnf_notifications (subscription, seq); -- the next ones of a subscriber

-- What ONAP's door keeps beside packages, VIMs and VNF instances: definitions, profiles, records of regions, the ids by
-- which its callers know instances. What is secret of it is sealed, under a key of its own.
CREATE TABLE vnf_bundles (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    project    text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    claim      text COLLATE "C" NOT NULL, -- of two that ask for the same instance, one has it
    document   text             NOT NULL, -- JSON
    busy       boolean          NOT NULL, -- a pass goes on with it
    state      text COLLATE "C" NOT NULL,
    since      timestamptz      NOT NULL, -- when it entered the state
    generation bigint           NOT NULL, -- of the key
    sealed     text             NOT NULL,
    key_store  text             NOT NULL,
    key_ref    text             NOT NULL,
    CONSTRAINT bundle_state_known CHECK (state IN ('active', 'rekeying')),
    CONSTRAINT bundle_secret_has_a_key CHECK ((sealed = '') = (key_ref = ''))
);

CREATE UNIQUE INDEX bundle_once ON vnf_bundles (project, kind, name); -- also: lists
CREATE UNIQUE INDEX bundle_claim_once ON vnf_bundles (project, claim); -- also: how many a project has
CREATE INDEX bundle_unsettled ON vnf_bundles (id) WHERE (busy OR state <> 'active'); -- the pass that goes on with them
CREATE INDEX bundle_sealed ON vnf_bundles (id) WHERE key_ref <> ''; -- "key rotate" and "key migrate"

--
-- Jobs
--

-- Jobs, and passes: a pass is a job of a kind of its own ("pass-" and its name), which is never done.
CREATE TABLE jobs (
    kind     text COLLATE "C" NOT NULL,
    subject  text COLLATE "C" NOT NULL,
    wanted   bigint           NOT NULL, -- how often it was enqueued
    done     bigint           NOT NULL, -- and how many of these are done
    fence    bigint           NOT NULL, -- grows with every attempt
    failures bigint           NOT NULL, -- how many attempts failed in a row
    due_at   timestamptz      NOT NULL, -- when the next attempt may begin, unless a running one moves it

    CONSTRAINT job_once_per_subject PRIMARY KEY (kind, subject),
    CONSTRAINT job_has_kind_and_subject CHECK (kind <> '' AND subject <> ''),
    CONSTRAINT job_done_is_wanted CHECK (done >= 0 AND done <= wanted)
);

CREATE INDEX job_due ON jobs (kind, due_at) WHERE done < wanted; -- the next jobs; metrics
CREATE INDEX job_done ON jobs (due_at) WHERE done >= wanted; -- the pass that removes the past
