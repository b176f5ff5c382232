-- The whole schema of the SQLite store: one block for each table, with its indexes and triggers.
--
-- A time is a number of microseconds since 1970 in UTC, 0 where it is not known. Lists and objects are JSON. A column
-- has no default: each insert names them all. A constraint, a unique index and a trigger that refuses have the name of
-- the rule that they hold. Each other index says which query it serves.

-- The row of the server on this database: its readiness check writes it, to find a full disk and a read-only one, and
-- to say how the server is.
CREATE TABLE replicas (
    id         TEXT    NOT NULL PRIMARY KEY, -- the host
    version    TEXT    NOT NULL,
    fault      TEXT    NOT NULL, -- which of its parts cannot be used; ''
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL  -- when it wrote this
) STRICT;

--
-- VIMs
--

-- The registered VIMs, and those that are being registered or deleted.
CREATE TABLE vims (
    id               TEXT    NOT NULL PRIMARY KEY,
    project          TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    type             TEXT    NOT NULL,
    created_by       TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    idempotency_key  TEXT    NOT NULL,
    request_digest   TEXT    NOT NULL,
    -- when a caller changes it
    description      TEXT    NOT NULL,
    extra            TEXT    NOT NULL, -- an object as the caller wrote it, '' where there is none
    shared           INTEGER NOT NULL,
    is_default       INTEGER NOT NULL,
    state            TEXT    NOT NULL,
    suspended        TEXT    NOT NULL, -- why no lease is issued, '' while leases are
    updated_at       INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    generation       INTEGER NOT NULL, -- number of the current generation, 0 while there is none
    pending          INTEGER NOT NULL, -- number of the generation that is being written, 0 when none is
    pending_since    INTEGER NOT NULL,
    -- since when the row waits for its second half, NULL when it is whole
    unsettled_since  INTEGER AS (CASE WHEN state = 'registering' THEN created_at
                                      WHEN pending > 0 THEN pending_since END) VIRTUAL,
    -- with each check
    health           TEXT    NOT NULL,
    health_checked   INTEGER NOT NULL,
    health_message   TEXT    NOT NULL,
    health_version   TEXT    NOT NULL,
    can_mint         INTEGER NOT NULL,
    mint_message     TEXT    NOT NULL,
    external_ips     TEXT    NOT NULL, -- taken, refused, or not known
    health_next      INTEGER NOT NULL,

    CONSTRAINT vim_name_once_per_project UNIQUE (project, name), -- also the order of lists
    CONSTRAINT vim_has_id CHECK (id <> ''),
    CONSTRAINT vim_state_known CHECK (state IN ('registering', 'registered', 'draining')),
    CONSTRAINT vim_shared_is_boolean CHECK (shared IN (0, 1)),
    CONSTRAINT vim_default_is_boolean CHECK (is_default IN (0, 1)),
    CONSTRAINT vim_can_mint_is_boolean CHECK (can_mint IN (0, 1)),
    CONSTRAINT vim_revision_from_one CHECK (revision >= 1),
    CONSTRAINT vim_generation_from_zero CHECK (generation >= 0),
    CONSTRAINT vim_pending_has_since CHECK ((pending = 0 AND pending_since = 0) OR pending > 0)
) STRICT;

CREATE UNIQUE INDEX vim_default_once_per_project ON vims (project) WHERE is_default;
CREATE UNIQUE INDEX vim_idempotency_key_once_per_principal ON vims (created_by, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX vim_by_name ON vims (name, project); -- lists: of a name
CREATE INDEX vim_by_type ON vims (type, project, name); -- lists: of a type; a metric
CREATE INDEX vim_by_state ON vims (state, project, name); -- lists: in a state; a metric
CREATE INDEX vim_by_health ON vims (health, project, name); -- lists: of a health
CREATE INDEX vim_shared ON vims (project, name) WHERE shared; -- lists: a project's own and the shared ones
CREATE INDEX vim_shared_by_name ON vims (name, project) WHERE shared; -- the same, of a name that many projects use
CREATE INDEX vim_check_due ON vims (health_next); -- the pass that checks VIMs
CREATE INDEX vim_unsettled ON vims (unsettled_since) WHERE unsettled_since IS NOT NULL; -- the pass that settles them

-- Labels that callers give VIMs.
CREATE TABLE vim_labels (
    vim   TEXT NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT label_once_per_vim PRIMARY KEY (vim, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX vim_by_label ON vim_labels (key, value, vim); -- lists: with a label

-- The projects that a VIM is shared with by name.
CREATE TABLE vim_shares (
    shared_with TEXT NOT NULL,
    vim_project TEXT NOT NULL,
    vim_name    TEXT NOT NULL,
    CONSTRAINT share_once_per_vim PRIMARY KEY (shared_with, vim_project, vim_name), -- also: lists of a project
    CONSTRAINT share_follows_vim FOREIGN KEY (vim_project, vim_name) REFERENCES vims (project, name)
        ON UPDATE CASCADE ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX vim_shares_by_name ON vim_shares (vim_name, vim_project, shared_with); -- the shares of a VIM; lists: of a name

-- Target and credential of a VIM. Each change of either is a new generation; one that a lease needs stays.
CREATE TABLE vim_generations (
    vim                   TEXT    NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    number                INTEGER NOT NULL,
    endpoint              TEXT    NOT NULL,
    ca_cert               TEXT    NOT NULL,
    insecure_skip_verify  INTEGER NOT NULL,
    server_name           TEXT    NOT NULL,
    namespace             TEXT    NOT NULL,
    scope                 TEXT    NOT NULL, -- object, of OpenStack
    shared_kinds          TEXT    NOT NULL, -- kinds that all may have, as the VIM's owner says
    pods_held_by          TEXT    NOT NULL, -- the admission that does, as the VIM's owner says
    discovered            TEXT    NOT NULL, -- object, which the driver found out
    identity              TEXT    NOT NULL,
    username              TEXT    NOT NULL,
    credential_kind       TEXT    NOT NULL,
    credential_expires_at INTEGER NOT NULL,
    -- when it is sealed anew
    sealed                TEXT    NOT NULL,
    sealed_as             TEXT    NOT NULL, -- whether it was the current one when it was sealed
    key_ref               TEXT    NOT NULL,
    key_store             TEXT    NOT NULL,

    CONSTRAINT generation_once_per_vim PRIMARY KEY (vim, number),
    CONSTRAINT generation_from_one CHECK (number >= 1),
    CONSTRAINT generation_insecure_is_boolean CHECK (insecure_skip_verify IN (0, 1)),
    CONSTRAINT generation_sealed_as_known CHECK (sealed_as IN ('current', 'past')),
    CONSTRAINT generation_names_its_key CHECK (key_ref <> '' AND key_store <> '')
) STRICT;

CREATE INDEX vim_generation_by_identity ON vim_generations (identity, vim); -- a registration: other VIMs that are the same system
CREATE INDEX vim_generation_by_expiry ON vim_generations (credential_expires_at)
    WHERE credential_expires_at > 0; -- a metric: credentials that are about to expire

-- nothing of a generation changes but what it is sealed with
CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify, server_name,
    namespace, scope, shared_kinds, pods_held_by, discovered, identity, credential_kind, credential_expires_at, username ON vim_generations
BEGIN
    SELECT RAISE(ABORT, 'generation_never_changes');
END;

-- What stands on VIMs, written by those who own it: a VIM with a row here is not deleted.
CREATE TABLE vim_uses (
    vim     TEXT NOT NULL CONSTRAINT vim_in_use_stays REFERENCES vims (id),
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (vim, kind, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX vim_use_by_subject ON vim_uses (kind, subject); -- the VIMs that a thing stands on, with each change of it

-- What a driver keeps on a VIM for all leases of a grant: an epoch of it. Of each grant the row with the highest
-- epoch stays as long as the VIM, so that no epoch is used twice.
CREATE TABLE grants (
    vim          TEXT    NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    digest       TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    role         TEXT    NOT NULL,
    rules        TEXT    NOT NULL,
    namespaces   TEXT    NOT NULL,
    cluster_wide INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    idle_since   INTEGER NOT NULL, -- since when no live lease of it was seen, 0 when one was
    CONSTRAINT grant_epoch_once PRIMARY KEY (vim, digest, epoch),
    CONSTRAINT grant_has_digest CHECK (digest <> ''),
    CONSTRAINT grant_epoch_from_one CHECK (epoch >= 1),
    CONSTRAINT grant_state_known CHECK (state IN ('open', 'closing', 'closed')),
    CONSTRAINT grant_cluster_wide_is_boolean CHECK (cluster_wide IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX grant_open_once ON grants (vim, digest) WHERE state = 'open';
CREATE INDEX grant_by_state ON grants (state, idle_since); -- the pass that closes grants which no lease needs

--
-- Leases
--

-- Leases that are being issued, are live, or have ended and are still kept. A lease outlives its VIM, so no foreign
-- key leads there.
CREATE TABLE leases (
    id                 TEXT    NOT NULL PRIMARY KEY,
    vim                TEXT    NOT NULL,
    vim_name           TEXT    NOT NULL,
    vim_type           TEXT    NOT NULL,
    vim_project        TEXT    NOT NULL,
    vim_generation     INTEGER NOT NULL,
    project            TEXT    NOT NULL,
    principal          TEXT    NOT NULL,
    operation          TEXT    NOT NULL,
    role               TEXT    NOT NULL,
    namespaces         TEXT    NOT NULL,
    format             TEXT    NOT NULL,
    purpose            TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    max_expires_at     INTEGER NOT NULL,
    renewed_at         INTEGER NOT NULL,
    unlisted           INTEGER NOT NULL,
    derived            INTEGER NOT NULL,
    revocable          INTEGER NOT NULL,
    handle             TEXT    NOT NULL,
    idempotency_key    TEXT    NOT NULL,
    request_digest     TEXT    NOT NULL,
    renewal_begun      INTEGER NOT NULL,
    rules              TEXT    NOT NULL,
    cluster_wide       INTEGER NOT NULL,
    grade              TEXT    NOT NULL, -- what its holder can become
    grade_reasons      TEXT    NOT NULL,
    grant_digest       TEXT    NOT NULL, -- '' where the driver keeps nothing for the grant
    epoch              INTEGER NOT NULL,
    stood              TEXT    NOT NULL, -- what stood on the VIM when it was issued
    left_behind        TEXT    NOT NULL, -- what its holder has left there
    holder_roles       TEXT    NOT NULL, -- when it was issued or last renewed
    instance           TEXT    NOT NULL, -- the VNF instance at another VNFM that it serves
    for_whom           TEXT    NOT NULL, -- the person that it is for, as its holder says
    planned            INTEGER NOT NULL, -- an operation makes the objects of a plan with it
    token_ttl          INTEGER NOT NULL, -- microseconds that tokens live which are minted under it, or 0
    login              TEXT    NOT NULL, -- the name under which tokens are fetched, '' where none are
    door               TEXT    NOT NULL, -- the one that it was asked for at
    secret_sha256      TEXT    NOT NULL, -- of the secrets that have one minted; of those of one login one row has them
    -- when it is issued
    issued_at          INTEGER NOT NULL,
    expires_at         INTEGER NOT NULL,
    credential_ends_at INTEGER NOT NULL, -- when the credential ends by itself
    max_revocation_lag INTEGER NOT NULL, -- microseconds
    credential_kind    TEXT    NOT NULL,
    uid                TEXT    NOT NULL,
    credential_id      TEXT    NOT NULL,
    sealed_key         TEXT    NOT NULL, -- reference of the key of sealed
    -- when it is confirmed dead
    sealed             TEXT    NOT NULL,
    confirmed_dead_at  INTEGER NOT NULL,
    -- with each move
    revision           INTEGER NOT NULL,
    revoked_at         INTEGER NOT NULL,
    next_attempt_at    INTEGER NOT NULL,
    attempts           INTEGER NOT NULL,
    state              TEXT    NOT NULL,
    reason             TEXT    NOT NULL,
    last_error         TEXT    NOT NULL,
    -- when there is work for it, NULL when there is none
    due_at             INTEGER AS (CASE state WHEN 'active' THEN expires_at
                                              WHEN 'revoking' THEN next_attempt_at
                                              WHEN 'revoked' THEN CASE WHEN sealed <> '' THEN next_attempt_at END END) VIRTUAL,
    -- 1 until it is revoked. A statement that does not name it enters no index of live leases.
    live               INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT lease_has_id CHECK (id <> ''),
    CONSTRAINT lease_state_known CHECK (state IN ('pending', 'active', 'revoking', 'revoked', 'irrevocable')),
    CONSTRAINT lease_unlisted_is_boolean CHECK (unlisted IN (0, 1)),
    CONSTRAINT lease_derived_is_boolean CHECK (derived IN (0, 1)),
    CONSTRAINT lease_revocable_is_boolean CHECK (revocable IN (0, 1)),
    CONSTRAINT lease_renewal_begun_is_boolean CHECK (renewal_begun IN (0, 1)),
    CONSTRAINT lease_cluster_wide_is_boolean CHECK (cluster_wide IN (0, 1)),
    CONSTRAINT lease_planned_is_boolean CHECK (planned IN (0, 1)),
    CONSTRAINT lease_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'onap', 'page')),
    CONSTRAINT lease_revision_from_one CHECK (revision >= 1),
    CONSTRAINT lease_expires_after_issue CHECK ((issued_at = 0 AND state <> 'active') OR expires_at > issued_at),
    CONSTRAINT lease_revoked_has_time CHECK (state <> 'revoked' OR revoked_at > 0),
    CONSTRAINT lease_attempts_from_zero CHECK (attempts >= 0),
    CONSTRAINT lease_live_until_revoked CHECK (live = (state <> 'revoked'))
) STRICT;

CREATE UNIQUE INDEX lease_idempotency_key_once_per_principal ON leases (principal, idempotency_key) WHERE idempotency_key <> '';
CREATE UNIQUE INDEX lease_login_once ON leases (login) WHERE login <> '' AND secret_sha256 <> '';
-- Lists, the newest first.
CREATE INDEX lease_newest ON leases (created_at, id); -- lists: all; the pass that removes the past
CREATE INDEX lease_by_vim ON leases (vim, created_at, id); -- lists: of a VIM
CREATE INDEX lease_by_principal ON leases (principal, created_at, id); -- lists: of a principal
CREATE INDEX lease_by_project ON leases (project, created_at, id); -- lists: of a project
CREATE INDEX lease_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project; -- lists: of others on a project's VIMs
CREATE INDEX lease_by_operation ON leases (operation, created_at, id) WHERE operation <> ''; -- lists: of an operation
CREATE INDEX lease_by_instance ON leases (instance, created_at, id) WHERE instance <> ''; -- lists: of a VNF instance
CREATE INDEX lease_by_whom ON leases (for_whom, created_at, id) WHERE for_whom <> ''; -- lists: of those for a person
CREATE INDEX lease_ends_for_good ON leases (max_expires_at) -- metrics: leases for months
    WHERE max_expires_at - created_at > 2592000000000;
-- Lists of live leases, which are few beside all that were; and:
CREATE INDEX lease_live ON leases (state, created_at, id, grade) WHERE live = 1; -- metrics
CREATE INDEX lease_live_by_vim ON leases (vim, created_at, id) WHERE live = 1; -- what a drain waits for
CREATE INDEX lease_live_by_principal ON leases (principal, created_at, id) WHERE live = 1;
CREATE INDEX lease_live_by_project ON leases (project, created_at, id) WHERE live = 1;
CREATE INDEX lease_live_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project AND live = 1;
CREATE INDEX lease_live_by_grant ON leases (vim, grant_digest, epoch) WHERE grant_digest <> '' AND live = 1; -- whether a lease needs a grant
CREATE INDEX lease_needs_generation ON leases (vim, vim_generation)
    WHERE live = 1 OR sealed <> ''; -- whether a lease needs a generation; what is sealed with its key
CREATE INDEX lease_due ON leases (due_at) WHERE due_at IS NOT NULL; -- the VIMs on which leases are due
CREATE INDEX lease_due_by_vim ON leases (vim, due_at) WHERE due_at IS NOT NULL; -- what is due on a VIM

-- A revoked lease whose credential still works becomes irrevocable, and nothing else.
CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
WHEN OLD.state = 'revoked' AND NEW.state NOT IN ('revoked', 'irrevocable')
BEGIN
    SELECT RAISE(ABORT, 'lease_revoked_stays_so');
END;

-- How many leases have ended and are still kept, for a metric.
CREATE TABLE ended_leases (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    n  INTEGER NOT NULL
) STRICT;

INSERT INTO ended_leases (id, n) VALUES (1, 0);

CREATE TRIGGER lease_counted_when_removed AFTER DELETE ON leases
BEGIN
    UPDATE ended_leases SET n = n - 1;
END;

-- How many live leases each principal, VIM and project has, so that a quota costs the same however many there are.
-- There is no row for none.
CREATE TABLE lease_live_counts (
    whose TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    CONSTRAINT live_count_once PRIMARY KEY (whose, name),
    CONSTRAINT live_count_whose_known CHECK (whose IN ('principal', 'vim', 'project')),
    CONSTRAINT live_count_from_zero CHECK (n >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER lease_counted_when_created AFTER INSERT ON leases
BEGIN
    INSERT INTO lease_live_counts (whose, name, n)
    VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
    ON CONFLICT (whose, name) DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER lease_counted_when_ended AFTER UPDATE OF live ON leases WHEN OLD.live = 1 AND NEW.live = 0
BEGIN
    UPDATE lease_live_counts SET n = n - 1 WHERE whose = 'principal' AND name = OLD.principal;
    UPDATE lease_live_counts SET n = n - 1 WHERE whose = 'vim' AND name = OLD.vim;
    UPDATE lease_live_counts SET n = n - 1 WHERE whose = 'project' AND name = OLD.project;
    DELETE FROM lease_live_counts WHERE whose = 'principal' AND name = OLD.principal AND n = 0;
    DELETE FROM lease_live_counts WHERE whose = 'vim' AND name = OLD.vim AND n = 0;
    DELETE FROM lease_live_counts WHERE whose = 'project' AND name = OLD.project AND n = 0;
    UPDATE ended_leases SET n = n + 1;
END;

-- A revoked lease whose credential still works is live again.
CREATE TRIGGER lease_counted_when_found_alive AFTER UPDATE OF live ON leases WHEN OLD.live = 0 AND NEW.live = 1
BEGIN
    INSERT INTO lease_live_counts (whose, name, n)
    VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
    ON CONFLICT (whose, name) DO UPDATE SET n = n + 1;
    UPDATE ended_leases SET n = n - 1;
END;

-- Leases that ended before this time may be removed.
CREATE TABLE lease_horizon (
    id    INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    until INTEGER NOT NULL
) STRICT;

INSERT INTO lease_horizon (id, until) VALUES (1, 0);

CREATE TRIGGER lease_horizon_only_grows BEFORE UPDATE ON lease_horizon WHEN NEW.id <> OLD.id OR NEW.until < OLD.until
BEGIN
    SELECT RAISE(ABORT, 'lease_horizon_only_grows');
END;

-- but for the pass that removes the past
CREATE TRIGGER lease_never_deleted BEFORE DELETE ON leases
WHEN OLD.state <> 'revoked' OR OLD.sealed <> '' OR OLD.revoked_at >= coalesce((SELECT until FROM lease_horizon WHERE id = 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'lease_never_deleted');
END;

-- The ledger of keys that no row needs, until they are destroyed in their key store.
CREATE TABLE retired_keys (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, -- the order in which they are destroyed
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    vim        TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    retired_at INTEGER NOT NULL,
    CONSTRAINT key_retired_once UNIQUE (vim, generation, key_store, key_ref)
) STRICT;

--
-- The audit log
--

-- The audit log. A tree of hashes over it, audit_tree, shows what is changed.
CREATE TABLE audit_entries (
    seq       INTEGER NOT NULL PRIMARY KEY,
    time      INTEGER NOT NULL,
    request   TEXT    NOT NULL,
    door      TEXT    NOT NULL, -- the one that the request came in by
    principal TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    action    TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    resource  TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    detail    TEXT    NOT NULL, -- object of strings
    CONSTRAINT audit_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed')),
    CONSTRAINT audit_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'onap', 'page'))
) STRICT;

-- Lists, the newest first: each index ends with seq, which is the row's id. Each filter of a query has its index; a
-- project also sees what others did to its resources.
CREATE INDEX audit_by_project ON audit_entries (project);
CREATE INDEX audit_by_owner ON audit_entries ((detail->>'vimProject'))
    WHERE detail->>'vimProject' <> project;
CREATE INDEX audit_by_principal ON audit_entries (principal);
CREATE INDEX audit_by_resource ON audit_entries (resource) WHERE kind <> 'Lease'; -- those are in audit_by_lease
CREATE INDEX audit_by_action ON audit_entries (action);
CREATE INDEX audit_by_vim ON audit_entries ((detail->>'vim')) WHERE detail->>'vim' IS NOT NULL;
CREATE INDEX audit_by_vim_name ON audit_entries ((detail->>'vimName')) WHERE detail->>'vimName' IS NOT NULL;
CREATE INDEX audit_by_lease ON audit_entries ((detail->>'lease')) WHERE detail->>'lease' IS NOT NULL;
CREATE INDEX audit_by_credential ON audit_entries ((detail->>'credential-id')) WHERE detail->>'credential-id' IS NOT NULL;
-- What was denied or failed. A lease whose life is without failure enters none of these.
CREATE INDEX audit_by_outcome ON audit_entries (outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_project_outcome ON audit_entries (project, outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_owner_outcome ON audit_entries ((detail->>'vimProject'), outcome)
    WHERE outcome IN ('denied', 'failed') AND detail->>'vimProject' <> project;
CREATE INDEX audit_by_action_outcome ON audit_entries (action, outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_request ON audit_entries (request) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_time ON audit_entries (time); -- lists: of a time; the pass that removes the past

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries
BEGIN
    SELECT RAISE(ABORT, 'audit_never_changes');
END;

-- The Merkle tree over audit_entries (RFC 6962), in tiles of 256 hashes.
CREATE TABLE audit_tiles (
    level  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hashes BLOB    NOT NULL,
    CONSTRAINT audit_tile_once PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_tiles_only_grow BEFORE UPDATE ON audit_tiles WHEN length(NEW.hashes) <= length(OLD.hashes)
BEGIN
    SELECT RAISE(ABORT, 'audit_tiles_only_grow');
END;

CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON audit_tiles
BEGIN
    SELECT RAISE(ABORT, 'audit_tiles_stay');
END;

-- How many entries the tree covers, and its root. The root of no entry is the hash of nothing.
CREATE TABLE audit_tree (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    size INTEGER NOT NULL,
    root BLOB    NOT NULL
) STRICT;

INSERT INTO audit_tree (id, size, root)
VALUES (1, 0, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

CREATE TRIGGER audit_tree_only_grows BEFORE UPDATE ON audit_tree WHEN NEW.size <= OLD.size
BEGIN
    SELECT RAISE(ABORT, 'audit_tree_only_grows');
END;

CREATE TRIGGER audit_tree_stays BEFORE DELETE ON audit_tree
BEGIN
    SELECT RAISE(ABORT, 'audit_tree_stays');
END;

-- Keys that sign checkpoints of the log.
CREATE TABLE audit_keys (
    id          TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    verifier    TEXT    NOT NULL,
    since       INTEGER NOT NULL, -- sizes of the log between which its checkpoints count
    until       INTEGER NOT NULL,
    endorsement TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    sealed      TEXT    NOT NULL,
    key_store   TEXT    NOT NULL,
    key_ref     TEXT    NOT NULL,
    CONSTRAINT audit_key_once PRIMARY KEY (id),
    CONSTRAINT audit_key_state_known CHECK (state IN ('making', 'abandoned', 'signing', 'retired', 'revoked'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX audit_one_key_signs ON audit_keys (state) WHERE state = 'signing';

CREATE TRIGGER audit_key_stays_what_it_is BEFORE UPDATE ON audit_keys
WHEN NEW.id <> OLD.id OR NEW.origin <> OLD.origin OR NEW.created_at <> OLD.created_at
    OR OLD.state <> 'making' AND (NEW.verifier <> OLD.verifier OR NEW.since <> OLD.since OR NEW.endorsement <> OLD.endorsement)
BEGIN
    SELECT RAISE(ABORT, 'audit_key_stays_what_it_is');
END;

CREATE TRIGGER audit_key_never_returns BEFORE UPDATE ON audit_keys
WHEN OLD.state IN ('retired', 'revoked') AND (NEW.state NOT IN (OLD.state, 'revoked') OR NEW.until > OLD.until)
BEGIN
    SELECT RAISE(ABORT, 'audit_key_never_returns');
END;

CREATE TRIGGER audit_keys_stay BEFORE DELETE ON audit_keys WHEN OLD.state <> 'abandoned'
BEGIN
    SELECT RAISE(ABORT, 'audit_keys_stay');
END;

-- The signed checkpoints.
CREATE TABLE audit_checkpoints (
    size INTEGER NOT NULL,
    root BLOB    NOT NULL,
    time INTEGER NOT NULL,
    key  TEXT    NOT NULL,
    note TEXT    NOT NULL,
    CONSTRAINT audit_checkpoint_once PRIMARY KEY (size)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_checkpoints_never_change BEFORE UPDATE ON audit_checkpoints
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoints_never_change');
END;

CREATE TRIGGER audit_checkpoints_stay BEFORE DELETE ON audit_checkpoints
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoints_stay');
END;

-- The entry up to which the log may be removed. The tree over the log stays whole.
CREATE TABLE audit_horizon (
    id  INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;

INSERT INTO audit_horizon (id, seq) VALUES (1, 0);

-- It grows up to a signed checkpoint, and never to the newest entry, which the next one follows.
CREATE TRIGGER audit_horizon_only_grows BEFORE UPDATE ON audit_horizon
WHEN NEW.id <> OLD.id OR NEW.seq < OLD.seq OR NEW.seq >= (SELECT size FROM audit_tree WHERE id = 1)
    OR NEW.seq > coalesce((SELECT max(size) FROM audit_checkpoints), 0)
BEGIN
    SELECT RAISE(ABORT, 'audit_horizon_only_grows');
END;

CREATE TRIGGER audit_horizon_stays BEFORE DELETE ON audit_horizon
BEGIN
    SELECT RAISE(ABORT, 'audit_horizon_stays');
END;

-- but for the pass that removes the past
CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit_entries
WHEN OLD.seq > coalesce((SELECT seq FROM audit_horizon WHERE id = 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'audit_never_shrinks');
END;

-- The newest checkpoint that each place outside of the database has.
CREATE TABLE audit_anchors (
    anchor TEXT    NOT NULL,
    size   INTEGER NOT NULL,
    time   INTEGER NOT NULL,
    CONSTRAINT audit_anchor_once PRIMARY KEY (anchor)
) STRICT, WITHOUT ROWID;

-- How far the log has been delivered to each sink.
CREATE TABLE audit_cursors (
    sink    TEXT    NOT NULL,
    seq     INTEGER NOT NULL, -- the last entry that was delivered or skipped
    start   INTEGER NOT NULL, -- how many entries the log had when the sink was begun
    skipped INTEGER NOT NULL,
    CONSTRAINT audit_cursor_once PRIMARY KEY (sink),
    CONSTRAINT audit_cursor_from_zero CHECK (seq >= 0 AND start >= 0 AND skipped >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_cursor_only_grows BEFORE UPDATE ON audit_cursors
WHEN NEW.sink <> OLD.sink OR NEW.start <> OLD.start OR NEW.seq <= OLD.seq OR NEW.skipped < OLD.skipped
BEGIN
    SELECT RAISE(ABORT, 'audit_cursor_only_grows');
END;

--
-- Callers
--

-- Programs that log in by OAuth 2.0. Only the digests of secrets are kept.
CREATE TABLE oauth_clients (
    id              TEXT    NOT NULL PRIMARY KEY,
    project         TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    roles           TEXT    NOT NULL,
    certificate     TEXT    NOT NULL, -- object: its certificate's kind and name, '{}' where it has a secret
    placements      TEXT    NOT NULL, -- list: where its VNFs go, of which the first that matches counts
    state           TEXT    NOT NULL,
    sha256          TEXT    NOT NULL, -- of its secret, '' once it is being deleted
    previous_sha256 TEXT    NOT NULL, -- of the secret before, '' where there is none
    previous_until  INTEGER NOT NULL,
    rotated_at      INTEGER NOT NULL,
    ending          INTEGER NOT NULL, -- its leases are to be revoked
    created_by      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    CONSTRAINT client_state_known CHECK (state IN ('active', 'deleting')),
    CONSTRAINT client_deleting_has_no_secret CHECK (sha256 = '' AND previous_sha256 = '' OR state <> 'deleting'),
    CONSTRAINT client_deleting_ends_its_leases CHECK (ending OR state <> 'deleting')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX client_name_once_per_project ON oauth_clients (project, name); -- also the order of lists
CREATE INDEX client_by_name ON oauth_clients (name, project); -- lists: of a name
CREATE INDEX client_ending ON oauth_clients (project, name) WHERE ending; -- the pass that revokes their leases

-- Keys that sign the tokens of clients. The private half is sealed under a key in a key store.
CREATE TABLE oauth_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    state      TEXT    NOT NULL,
    public     TEXT    NOT NULL, -- JWK, '' while it is being made
    sealed     TEXT    NOT NULL,
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER NOT NULL, -- its tokens have expired then
    CONSTRAINT oauth_key_state_known CHECK (state IN ('making', 'abandoned', 'signing', 'verifying')),
    CONSTRAINT oauth_key_signing_is_whole CHECK ((public <> '' AND sealed <> '' AND key_ref <> '') OR state <> 'signing'),
    CONSTRAINT oauth_key_verifying_has_no_private_half CHECK ((sealed = '' AND key_ref = '') OR state = 'signing')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX oauth_key_signs_alone ON oauth_keys (state) WHERE state = 'signing';

-- When static tokens were last used, by the beginning of their digests.
CREATE TABLE token_uses (
    token   TEXT    NOT NULL PRIMARY KEY,
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions of people at the page, by the digest of the secret that the browser shows.
CREATE TABLE sessions (
    digest     TEXT    NOT NULL PRIMARY KEY,
    id         TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    project    TEXT    NOT NULL,
    came       TEXT    NOT NULL, -- how the person came in: an object
    source     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    until      INTEGER NOT NULL, -- it ends then unless it is used
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX session_by_id ON sessions (id);
CREATE INDEX session_by_principal ON sessions (principal, project, until); -- lists: of a principal
CREATE INDEX session_by_end ON sessions (until); -- the pass that forgets them

-- Tokens that are taken once and were, by the digest of issuer and id, until they end.
CREATE TABLE used_tokens (
    id    TEXT    NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX used_token_by_end ON used_tokens (until); -- the pass that forgets them

-- The entries of the table of trust that administrators keep; those of the configuration are not here.
CREATE TABLE trust_entries (
    name       TEXT    NOT NULL PRIMARY KEY,
    definition TEXT    NOT NULL, -- object: all of it
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

--
-- Clusters that Cluster API makes
--

-- The VIMs on which Cluster API runs, with what becomes of its clusters.
CREATE TABLE management_clusters (
    vim            TEXT    NOT NULL PRIMARY KEY REFERENCES vims (id) ON DELETE CASCADE,
    namespaces     TEXT    NOT NULL, -- * alone is all
    namespace_selector TEXT NOT NULL,
    selector       TEXT    NOT NULL,
    projects       TEXT    NOT NULL, -- '' is the project of all other namespaces
    secret_name    TEXT    NOT NULL,
    secret_key     TEXT    NOT NULL,
    name_template  TEXT    NOT NULL,
    copy_labels    TEXT    NOT NULL,
    control_planes TEXT    NOT NULL,
    account        TEXT    NOT NULL, -- profile of the account that takes the place of a cluster's credential, or ''
    max_gone       INTEGER NOT NULL,
    max_gone_share INTEGER NOT NULL, -- per cent
    annotation     TEXT    NOT NULL, -- what it decides of a Cluster: out or in
    enabled_by     TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    watched_at     INTEGER NOT NULL,
    trouble        TEXT    NOT NULL,
    held_at        INTEGER NOT NULL,
    released_until INTEGER NOT NULL,
    revision       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The clusters that were seen there, and the VIMs that they became.
CREATE TABLE clusters (
    id              TEXT    NOT NULL PRIMARY KEY,
    management      TEXT    NOT NULL REFERENCES management_clusters (vim) ON DELETE CASCADE,
    namespace       TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    uid             TEXT    NOT NULL,
    project         TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    message         TEXT    NOT NULL,
    vim             TEXT    NOT NULL, -- id, which may be gone
    former          TEXT    NOT NULL, -- id of the VIM that somebody deleted, which the next has
    system          TEXT    NOT NULL,
    rival           TEXT    NOT NULL, -- id of the cluster whose system it leads to, while it is refused for that
    secret          TEXT    NOT NULL, -- a version, never what it holds
    push_token      TEXT    NOT NULL, -- hash of the token that its kubeconfig can be pushed with
    push_expires_at INTEGER NOT NULL,
    pushed_at       INTEGER NOT NULL,
    ready_at        INTEGER NOT NULL,
    registered_at   INTEGER NOT NULL,
    gone_at         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    CONSTRAINT cluster_state_known CHECK
        (state IN ('waiting', 'registering', 'registered', 'quarantined', 'retiring', 'retired')),
    CONSTRAINT cluster_registered_is_a_vim CHECK (vim <> '' OR state NOT IN ('registered', 'retiring'))
) STRICT, WITHOUT ROWID;

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
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    vnfd       TEXT    NOT NULL, -- '' until the package is onboarded
    content    TEXT    NOT NULL, -- what its chunks are stored under; '' where there are none
    stored     INTEGER NOT NULL, -- bytes of its chunks
    created_at INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    CONSTRAINT package_state_known CHECK (state IN ('created', 'uploading', 'processing', 'enabled', 'disabled')),
    CONSTRAINT package_onboarded_has_vnfd CHECK (vnfd <> '' OR state NOT IN ('enabled', 'disabled')),
    CONSTRAINT package_created_has_no_content CHECK (content = '' OR state <> 'created')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX package_vnfd_once_per_project ON vnf_packages (project, vnfd) WHERE vnfd <> '';
CREATE INDEX package_by_age ON vnf_packages (created_at, id); -- lists: all
CREATE INDEX package_by_project ON vnf_packages (project, created_at, id, stored); -- lists: of a project; its quotas
CREATE INDEX package_by_vnfd ON vnf_packages (vnfd, created_at, id); -- lists: of a VNFD
CREATE INDEX package_uploading ON vnf_packages (touched_at)
    WHERE state IN ('uploading', 'processing'); -- the pass that ends uploads which nobody goes on with

-- The bytes of packages. By rowid: a row of a megabyte is no key of a tree.
CREATE TABLE vnf_package_chunks (
    content TEXT    NOT NULL,
    number  INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (content, number)
) STRICT;

-- Contents that no package names any more, and whose chunks are still to be removed.
CREATE TABLE vnf_contents_gone (
    content TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Which VNF instances need a package. One that is in use cannot be deleted.
CREATE TABLE vnf_package_uses (
    package  TEXT NOT NULL CONSTRAINT package_in_use_stays REFERENCES vnf_packages (id),
    instance TEXT NOT NULL,
    PRIMARY KEY (package, instance)
) STRICT, WITHOUT ROWID;

CREATE INDEX package_use_by_instance ON vnf_package_uses (instance); -- the uses of an instance, with each change of it

-- VNF instances. What no query asks for is in the document.
CREATE TABLE vnf_instances (
    id          TEXT    NOT NULL PRIMARY KEY,
    project     TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    document    TEXT    NOT NULL,
    -- by the pass that looks for drift
    observed_at INTEGER NOT NULL, -- when it tried last
    drifted     INTEGER NOT NULL, -- resources that are missing or were changed
    unseen      INTEGER NOT NULL, -- the VIM did not answer
    drift       TEXT    NOT NULL  -- the rest
) STRICT;

CREATE INDEX vnf_instance_newest ON vnf_instances (created_at DESC, id DESC); -- lists: all
CREATE INDEX vnf_instance_by_project ON vnf_instances (project, created_at DESC, id DESC); -- lists: of a project; its quota
CREATE INDEX vnf_instance_by_name ON vnf_instances (name, created_at DESC, id DESC); -- lists: of a name
CREATE INDEX vnf_instance_to_observe ON vnf_instances (observed_at, id) WHERE state = 'INSTANTIATED'; -- the pass that looks for drift

-- Virtual links and volumes: networks and claims on VIMs, apart from VNF instances. What no query asks for is in the document.
CREATE TABLE assets (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    kind       TEXT    NOT NULL, -- VirtualLink or Volume
    name       TEXT    NOT NULL,
    vim        TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    network    TEXT    NOT NULL, -- the VIM's id of it, or ''
    maker      TEXT    NOT NULL, -- the VNF instance that it was made for, or ''
    loose      INTEGER NOT NULL, -- it has a maker, and may have lost its last use
    since      INTEGER NOT NULL, -- when somebody last began to work on it
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL, -- JSON
    CONSTRAINT asset_name_once_per_project UNIQUE (project, kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX asset_by_name ON assets (name); -- the one that people name
CREATE INDEX asset_by_kind ON assets (kind, id); -- lists: all of a kind
-- the link that a network of the cloud is; no project has two of one
CREATE UNIQUE INDEX asset_network_once_per_project ON assets (vim, network, project, (CASE network WHEN '' THEN id ELSE '' END));
CREATE INDEX asset_unsettled ON assets (since, id) WHERE loose OR state <> 'ready'; -- the pass that settles them

-- Who sees an asset: its project, those that it is shared with, and * for all.
CREATE TABLE asset_viewers (
    project TEXT    NOT NULL,
    asset   TEXT    NOT NULL REFERENCES assets (id) ON DELETE CASCADE,
    PRIMARY KEY (project, asset)
) STRICT, WITHOUT ROWID;

CREATE INDEX asset_viewer_by_asset ON asset_viewers (asset); -- goes with it

-- Which VNF instances use an asset: a row is written with the instance, and ends with it.
CREATE TABLE asset_uses (
    asset    TEXT    NOT NULL CONSTRAINT asset_in_use_stays REFERENCES assets (id),
    instance TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (asset, instance)
) STRICT, WITHOUT ROWID;

CREATE INDEX asset_use_by_instance ON asset_uses (instance); -- the uses of an instance, with each change of it

-- The operations on VNF instances. What no query asks for is in the document.
CREATE TABLE vnf_operations (
    id         TEXT    NOT NULL PRIMARY KEY,
    instance   TEXT    NOT NULL REFERENCES vnf_instances (id),
    project    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    vim        TEXT    NOT NULL, -- where it is worked
    queued_at  INTEGER NOT NULL, -- since when it waits for its turn
    turn_at    INTEGER NOT NULL  -- 0 while it waits
) STRICT;

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
    id         TEXT    NOT NULL PRIMARY KEY,
    instance   TEXT    NOT NULL,
    vim        TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    since      INTEGER NOT NULL, -- when it entered the state
    generation INTEGER NOT NULL, -- of the key
    sealed     TEXT    NOT NULL,
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    CONSTRAINT secret_parameters_state_known CHECK (state IN ('making', 'active', 'rekeying', 'abandoned')),
    CONSTRAINT secret_parameters_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) STRICT;

CREATE INDEX secret_parameters_by_instance ON vnf_secret_parameters (instance); -- the deletion of an instance
CREATE INDEX secret_parameters_by_vim ON vnf_secret_parameters (vim, id); -- "key rotate" and "key migrate", VIM by VIM
CREATE INDEX secret_parameters_unsettled ON vnf_secret_parameters (since, id) WHERE state <> 'active'; -- the pass that settles them

-- What VNFMs that are clients were granted for their operations (SOL003 clause 9). What no query asks for is in the
-- document.
CREATE TABLE vnf_grants (
    id         TEXT    NOT NULL PRIMARY KEY, -- begins with the time: lists are the newest first
    client     TEXT    NOT NULL,
    operation  TEXT    NOT NULL, -- the operation occurrence at the VNFM
    instance   TEXT    NOT NULL, -- the VNF instance at the VNFM
    created_at INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    lease      TEXT    NOT NULL, -- '' before it is granted
    holds      INTEGER NOT NULL, -- its lease is the instance's
    followed   INTEGER NOT NULL, -- it is looked at again at look_at
    look_at    INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    CONSTRAINT vnf_grant_state_known CHECK (state IN ('deciding', 'granted', 'refused', 'ended'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX vnf_grant_once_per_operation ON vnf_grants (client, operation); -- also: how many a client has
CREATE INDEX vnf_grant_by_operation ON vnf_grants (operation, id); -- lists: of an operation
CREATE INDEX vnf_grant_by_instance ON vnf_grants (instance, id); -- lists: of an instance
CREATE INDEX vnf_grant_by_lease ON vnf_grants (lease, id); -- lists: of a lease
CREATE INDEX vnf_grant_by_state ON vnf_grants (state, id); -- lists: in a state
CREATE INDEX vnf_grant_by_project ON vnf_grants (json_extract(document, '$.Project'), id); -- lists: of a project
CREATE INDEX vnf_grant_by_project_state ON vnf_grants (json_extract(document, '$.Project'), state, id); -- lists: of a project in a state
CREATE INDEX vnf_grant_by_vim ON vnf_grants (json_extract(document, '$.VIM'), id); -- lists: of a VIM
CREATE INDEX vnf_grant_by_vim_name ON vnf_grants (json_extract(document, '$.VIMName'), id); -- lists: of a VIM's name
CREATE INDEX vnf_grant_holding ON vnf_grants (client, instance, created_at) WHERE holds; -- the grant that holds an instance's lease
CREATE INDEX vnf_grant_due ON vnf_grants (look_at) WHERE followed; -- the pass that looks at them again
CREATE INDEX vnf_grant_over ON vnf_grants (created_at) WHERE state IN ('refused', 'ended'); -- the pass that removes the past

-- Subscribers to notifications about VNF instances, and how delivery to each goes.
CREATE TABLE vnf_subscriptions (
    id            TEXT    NOT NULL PRIMARY KEY,
    project       TEXT    NOT NULL,
    callback      TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    verbosity     TEXT    NOT NULL,
    filter        TEXT    NOT NULL,
    auth          TEXT    NOT NULL,
    digest        TEXT    NOT NULL, -- of callback, verbosity and filter
    created_by    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    state         TEXT    NOT NULL,
    since         INTEGER NOT NULL, -- when it entered the state
    sealed        TEXT    NOT NULL,
    key_store     TEXT    NOT NULL,
    key_ref       TEXT    NOT NULL,
    -- with each try
    delivered     INTEGER NOT NULL,
    delivered_at  INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    failing_since INTEGER NOT NULL,
    fault         TEXT    NOT NULL,
    given_up      INTEGER NOT NULL,
    given_up_at   INTEGER NOT NULL,
    refusals      INTEGER NOT NULL, -- how often in a row the next notification was refused
    CONSTRAINT subscription_state_known CHECK (state IN ('making', 'active', 'rekeying', 'abandoned')),
    CONSTRAINT subscription_secret_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) STRICT;

CREATE UNIQUE INDEX subscription_once_per_project ON vnf_subscriptions (project, digest);
CREATE INDEX subscription_newest ON vnf_subscriptions (created_at DESC, id DESC); -- lists: all
-- lists: of a project; its quota; the subscribers of an event
CREATE INDEX subscription_by_project ON vnf_subscriptions (project, created_at DESC, id DESC);
CREATE INDEX subscription_unfinished ON vnf_subscriptions (created_at DESC, id DESC) WHERE state <> 'active'; -- the pass that settles them

-- The notifications that subscribers are still to be sent, in their order.
CREATE TABLE vnf_notifications (
    seq          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    document     TEXT    NOT NULL
) STRICT;

CREATE INDEX notification_by_subscription ON vnf_notifications (subscription, seq); -- the next ones of a subscriber

-- What ONAP's door keeps beside packages, VIMs and VNF instances: definitions, profiles, records of regions, the ids by
-- which its callers know instances. What is secret of it is sealed, under a key of its own.
CREATE TABLE vnf_bundles (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    claim      TEXT    NOT NULL, -- of two that ask for the same instance, one has it
    document   TEXT    NOT NULL, -- JSON
    busy       INTEGER NOT NULL, -- a pass goes on with it
    state      TEXT    NOT NULL,
    since      INTEGER NOT NULL, -- when it entered the state
    generation INTEGER NOT NULL, -- of the key
    sealed     TEXT    NOT NULL,
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    CONSTRAINT bundle_state_known CHECK (state IN ('active', 'rekeying')),
    CONSTRAINT bundle_secret_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) STRICT;

CREATE UNIQUE INDEX bundle_once ON vnf_bundles (project, kind, name); -- also: lists
CREATE UNIQUE INDEX bundle_claim_once ON vnf_bundles (project, claim); -- also: how many a project has
CREATE INDEX bundle_unsettled ON vnf_bundles (id) WHERE (busy OR state <> 'active'); -- the pass that goes on with them
CREATE INDEX bundle_sealed ON vnf_bundles (id) WHERE key_ref <> ''; -- "key rotate" and "key migrate"

--
-- Jobs
--

-- Jobs, and passes: a pass is a job of a kind of its own ("pass-" and its name), which is never done.
CREATE TABLE jobs (
    kind     TEXT    NOT NULL,
    subject  TEXT    NOT NULL,
    wanted   INTEGER NOT NULL, -- how often it was enqueued
    done     INTEGER NOT NULL, -- and how many of these are done
    fence    INTEGER NOT NULL, -- grows with every attempt
    failures INTEGER NOT NULL, -- how many attempts failed in a row
    due_at   INTEGER NOT NULL, -- when the next attempt may begin, unless a running one moves it

    CONSTRAINT job_once_per_subject PRIMARY KEY (kind, subject),
    CONSTRAINT job_has_kind_and_subject CHECK (kind <> '' AND subject <> ''),
    CONSTRAINT job_done_is_wanted CHECK (done >= 0 AND done <= wanted)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_due ON jobs (kind, due_at) WHERE done < wanted; -- the next jobs; metrics
CREATE INDEX job_done ON jobs (due_at) WHERE done >= wanted; -- the pass that removes the past
