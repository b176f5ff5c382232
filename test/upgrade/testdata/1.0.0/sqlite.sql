-- of 0001_schema.sql, sha256 6d07a73d11c346971c846419a2e6d6eb96583b1a66f13593d7065531e5691fd0
PRAGMA user_version = 0;
PRAGMA application_id = 0;
CREATE TABLE schema_migrations (
		version    INTEGER NOT NULL PRIMARY KEY,
		name       TEXT    NOT NULL,
		sha256     TEXT    NOT NULL,
		applied_at INTEGER NOT NULL
	) STRICT;
CREATE TABLE replicas (
    id         TEXT    NOT NULL PRIMARY KEY, -- the host
    version    TEXT    NOT NULL,
    fault      TEXT    NOT NULL, -- which of its parts cannot be used; ''
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL  -- when it wrote this
) STRICT;
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
CREATE TABLE vim_labels (
    vim   TEXT NOT NULL REFERENCES vims (id) ON DELETE CASCADE,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT label_once_per_vim PRIMARY KEY (vim, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE vim_shares (
    shared_with TEXT NOT NULL,
    vim_project TEXT NOT NULL,
    vim_name    TEXT NOT NULL,
    CONSTRAINT share_once_per_vim PRIMARY KEY (shared_with, vim_project, vim_name), -- also: lists of a project
    CONSTRAINT share_follows_vim FOREIGN KEY (vim_project, vim_name) REFERENCES vims (project, name)
        ON UPDATE CASCADE ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
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
CREATE TABLE vim_uses (
    vim     TEXT NOT NULL CONSTRAINT vim_in_use_stays REFERENCES vims (id),
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (vim, kind, subject)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE ended_leases (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    n  INTEGER NOT NULL
) STRICT;
CREATE TABLE lease_live_counts (
    whose TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    CONSTRAINT live_count_once PRIMARY KEY (whose, name),
    CONSTRAINT live_count_whose_known CHECK (whose IN ('principal', 'vim', 'project')),
    CONSTRAINT live_count_from_zero CHECK (n >= 0)
) STRICT, WITHOUT ROWID;
CREATE TABLE lease_horizon (
    id    INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    until INTEGER NOT NULL
) STRICT;
CREATE TABLE retired_keys (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, -- the order in which they are destroyed
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
CREATE TABLE audit_tiles (
    level  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hashes BLOB    NOT NULL,
    CONSTRAINT audit_tile_once PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_tree (
    id   INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    size INTEGER NOT NULL,
    root BLOB    NOT NULL
) STRICT;
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
CREATE TABLE audit_checkpoints (
    size INTEGER NOT NULL,
    root BLOB    NOT NULL,
    time INTEGER NOT NULL,
    key  TEXT    NOT NULL,
    note TEXT    NOT NULL,
    CONSTRAINT audit_checkpoint_once PRIMARY KEY (size)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_horizon (
    id  INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
CREATE TABLE audit_anchors (
    anchor TEXT    NOT NULL,
    size   INTEGER NOT NULL,
    time   INTEGER NOT NULL,
    CONSTRAINT audit_anchor_once PRIMARY KEY (anchor)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_cursors (
    sink    TEXT    NOT NULL,
    seq     INTEGER NOT NULL, -- the last entry that was delivered or skipped
    start   INTEGER NOT NULL, -- how many entries the log had when the sink was begun
    skipped INTEGER NOT NULL,
    CONSTRAINT audit_cursor_once PRIMARY KEY (sink),
    CONSTRAINT audit_cursor_from_zero CHECK (seq >= 0 AND start >= 0 AND skipped >= 0)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE token_uses (
    token   TEXT    NOT NULL PRIMARY KEY,
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE used_tokens (
    id    TEXT    NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE trust_entries (
    name       TEXT    NOT NULL PRIMARY KEY,
    definition TEXT    NOT NULL, -- object: all of it
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE vnf_package_chunks (
    content TEXT    NOT NULL,
    number  INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (content, number)
) STRICT;
CREATE TABLE vnf_contents_gone (
    content TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE vnf_package_uses (
    package  TEXT NOT NULL CONSTRAINT package_in_use_stays REFERENCES vnf_packages (id),
    instance TEXT NOT NULL,
    PRIMARY KEY (package, instance)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE asset_viewers (
    project TEXT    NOT NULL,
    asset   TEXT    NOT NULL REFERENCES assets (id) ON DELETE CASCADE,
    PRIMARY KEY (project, asset)
) STRICT, WITHOUT ROWID;
CREATE TABLE asset_uses (
    asset    TEXT    NOT NULL CONSTRAINT asset_in_use_stays REFERENCES assets (id),
    instance TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (asset, instance)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE vnf_notifications (
    seq          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    document     TEXT    NOT NULL
) STRICT;
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
INSERT INTO audit_checkpoints VALUES (30, X'3E8CBDE77C7CE400B63AA1BBBDD3548A85D48785A290FB59DE8A959A2A172650', 1795700428664025, '465e5f16-f051-458e-bae8-45afdb5e2786', 'vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786
30
Poy953x85AC2OqG7vdNUioXUh4WikPtZ3oqVmioXJlA=

— vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786 9fyTBmC5eljdS6z8wGaa9O6FzpmtQqEF0bw55LH7VXIzimKV0BGbHy13vng899E+Bre6rmlNmCHigvTYK9TyIraCmgo=
');
INSERT INTO audit_entries VALUES (1, 1795700427899173, '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"8e499826c6a7f0eb8e6e5b34b855046ee4aad31b3bd25cbb1213c1b7fc1ec3b2","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795700427942964, 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795700427944750, 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.endpoint":"https://127.0.0.1:35067","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795700428118078, 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:35067","new.generation":"1","new.identity":"7af8376c-a6e9-4824-950d-f819e19f104e","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795700428215890, 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795700428234196, '86f0afd0-96ee-44e6-8772-1758e99ef8fb', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.endpoint":"https://127.0.0.1:35067","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795700428246470, '86f0afd0-96ee-44e6-8772-1758e99ef8fb', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:35067","new.generation":"1","new.identity":"7af8376c-a6e9-4824-950d-f819e19f104e","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795700428265347, '5cf9aefd-4408-4851-869e-3f6f274a7067', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795700428276793, '17107628-c972-434b-a14f-7e3d34795c94', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795700428297999, '17107628-c972-434b-a14f-7e3d34795c94', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795700428333103, 'eebca7fe-93eb-4e88-90a3-3a6a3e4c7c73', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795700428358168, '27e790fa-b012-4b88-acfc-6568d10c5def', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"4e72b377-8cf3-4078-ab14-73f53ef56e1d","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795700428413850, '27e790fa-b012-4b88-acfc-6568d10c5def', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'done', '{"authenticator":"static","credential-id":"JTI=bec53376-d85a-4d90-be1f-1a49b40ba229","endpointHost":"127.0.0.1","expiresAt":"2026-11-27T01:40:28Z","for":"dave","generation":"1","grade":"bounded","lease":"4e72b377-8cf3-4078-ab14-73f53ef56e1d","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795700428427816, 'cf57da2f-8396-4a34-9deb-e27c4e8d0668', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795700428448948, 'cf57da2f-8396-4a34-9deb-e27c4e8d0668', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'done', '{"authenticator":"static","credential-id":"JTI=69eebdfe-e3a7-4c00-b572-1d6fe241804b","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T14:40:28Z","generation":"1","grade":"bounded","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795700428503731, '4c0356ea-2954-425b-893e-05852c98aaac', 'rest', 'admin', 'platform', 'client:create', 'Client', '86714c23-2727-493f-a55d-3ab156329fb7', 'done', '{"authenticator":"static","client":"86714c23-2727-493f-a55d-3ab156329fb7","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795700428535708, 'a1a701f5-e379-4cfd-b9d2-c32d0e349639', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"c4477281-e624-4ce1-8288-e9b6a4fcb1a0","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795700428549495, 'a693b17b-92b7-4bae-89d9-5008e58c28b4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795700428555799, 'a693b17b-92b7-4bae-89d9-5008e58c28b4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795700428572175, 'a693b17b-92b7-4bae-89d9-5008e58c28b4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795700428576290, '51b6daf3-6e9c-48f6-9d31-6cec967921af', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795700428585568, 'e96ec702-a8fd-4261-b460-5c88250933f9', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795700428586263, 'e96ec702-a8fd-4261-b460-5c88250933f9', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"4520dca6-c3b5-4876-a56f-90350ed69a8a","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795700428596614, '7da842e0-d022-4417-b1d4-2c1852fe6a88', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"0fd9c290-2a9b-483d-9764-ddd69fc7d54b"}');
INSERT INTO audit_entries VALUES (25, 1795700428599621, '7da842e0-d022-4417-b1d4-2c1852fe6a88', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"0fd9c290-2a9b-483d-9764-ddd69fc7d54b"}');
INSERT INTO audit_entries VALUES (26, 1795700428601950, 'b77fbe52-621e-42b0-b364-56c390a365f1', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '0fd9c290-2a9b-483d-9764-ddd69fc7d54b', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795700428613085, '1375d826-65fb-49e6-862e-d45e88c5b83d', 'rest', 'admin', 'platform', 'vim:show', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795700428617103, '9b398f65-8934-4f00-b4c7-9fa7ad45fdb5', 'rest', 'admin', 'platform', 'vim:share', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795700428619874, '9b398f65-8934-4f00-b4c7-9fa7ad45fdb5', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795700428635449, 'd7504a8f-a17a-4a65-a989-05175a44cad0', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"465e5f16-f051-458e-bae8-45afdb5e2786","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795700428664029, 'd7504a8f-a17a-4a65-a989-05175a44cad0', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"465e5f16-f051-458e-bae8-45afdb5e2786","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795700428676632, '2a065445-8134-4876-984e-de192316f1c9', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795700428690887, '7d1c0178-ee24-42f1-9281-cff29d77f370', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '3e5adc25-d7da-4ab2-a947-ab64fce39693', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (34, 1795700428692446, '7d1c0178-ee24-42f1-9281-cff29d77f370', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '3e5adc25-d7da-4ab2-a947-ab64fce39693', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (35, 1795700428701465, '02941dd5-0f30-43ad-8df6-608055e67287', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (36, 1795700428702890, 'b3c498e7-9666-4941-9af0-a5e05c6ebe1d', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (37, 1795700428731968, 'd8b4135a-eacd-40fb-a3d0-9cd97dc53db5', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795700428743049, '75d45be5-e92c-4a4a-9b5a-cdbd20c7e61a', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795700428754402, '4007c658-f87b-4322-a33b-6f455924dbde', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795700428781626, '5e0e45a4-0437-428d-bb92-5248789ec16c', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('465e5f16-f051-458e-bae8-45afdb5e2786', 'signing', 'vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786', 'vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786+f5fc9306+AfgPqEeYdsMrc5A75cssHgxpvYuHj3MOIBhSDxui//4a', 30, 0, '', 1795700428635448, 0, 'gAAAAABrCDbM1e1UECA55w46Q1yx9RapIkkql0wz0-gIhEivZ7IcXHU7wGjrkLxavWEXSnvfu7Xpxf56BfK4LyqbuGtF0drG40-FVHwrutxz59zULHPXaWFCO-fZa9opQIxVI-0OCCa9iCiCpweKv-AExHzIO_yE-a56aaqlZeN9uBBk5Kx_5J7wKWh51zrzwnl-0OybVdoJm_azrtQYx01jc9sOKBXhdy3i5CwEfKSnwQMrykSZ-vzilajn4NERUqkbRzgrRy-3WtbsbYFUWbrN5XijRqcK1gAlYhCYosRseGDQybQcyo1uViyQqvwJsVK8i1mwfi0NLrUza5g9hnbXnOlogLs-384dQ9JQRa4YCI7j14T4rHIz2xFFLWeBkHs_EYu4TiRDbaftkZpy2jY6Oase5Ko2vR2rfzgPizaXAGUhmhvyc5Qsr7u_lMXsDdDmB2n2j0j5MuOAoaPnt_OxhjcQnViKdw==', 'keydir', '465e5f16-f051-458e-bae8-45afdb5e2786.1.a90c18caf97cba1da7e5e839381c7353');
INSERT INTO audit_tiles VALUES (0, 0, X'EB613C493F07F0A0110268F5FBA5931E31C97463DB6CBE75C6BF90DAD09E02F5FA0F9B9253F0F2FC41FE8247F5C0F2DAAD40AAF84D05C00CF25C5ECBE27E32CF70BDB59528A5C11D2A67C6A96EB1D12DCB8F4742A0C6D71D81394822C54947AA6FEC14CDA6E922CA931F986E804C5ED1C5850544DAD8412CECED53AB32E2ECB0949283BA0B5E79BF1AD0437F40590690BC64D0DADB15B86687C28BF15FFBEEAE0A6EB8EA59A7CACADAD8CF3311F23C5FA87AE603D8C29D35443EAC0BA62465F817C5052FC708F578B26D9F32034B6EC0FF4F7C53F6966519B9D01C99CABDD812A6A5195D5193EBCA4DB36A1F3C2F4DACDFC814B12E73FFF893E2DAC9B371D8C7B86C5C11384DA9993EC9396A6051AEEB92187DAEFEC358BEA57D552673624A89DD6C6BB4781BC0DC5077F2E3825BCE85CED1E1E1499B05573EE9C50D824DF5A851442B6C7AD0FA8A3C39868C53C75171A4FF1434D4FB6D84260FB26B48EF48F25974027261B471F7462E072648DB1DCC5032283B61855F6948614C92660CA5194FC3793D1ED8BEA3DDE10425AB4348FD343C51F2101A19AFD5A170183B3C9EEA5FE671C869C6F11460E9DC0A95A18973C24C06A7B12193926B483FDBE8B81201B1CFAF0B56BB450B794D4A7B8FC20448AC019D9B68654D31D00AE1A2FA1944CEAC0613F9E8E0DE9783CB74E82FD071E50AFA36D82257712A5C9922A615DC7A31760BB4B627FB8611BEF3DA790E8D4BC286F2EE8CBF7F09B528E20F2B7D3914C474180C4D26DE7A716CE57DE6FC13A1081A0DB73D14D53377F92F0B92162801D627A7CB63BB2B45019C8EB668F53BC40C0EAE7CCEC25B9BE4F902255AE56FAFBF62F86ED0E553F06A322FC3BC4CE448E845EF2874ED7405795B5266885685090A40035E6E8D96E0AADED7FBB0451C8389F36505CDA2BF6A3AD660677F23E748218BF922F6408091DAFC89C8B351DBB4E1807911E202F21D67D3A0D5FB92C04242DAF1AD5CE0F1DC76347EDD8A9808875830475BA357128A803B1477856B1449E290A346E3CC63CDC7729FF937046B4821F14BD9BDC7EF108D8D072985ADA61ED96F235ECF69C81C7C13718274B675EA88346FB557DD30B156B69D8F25D1EFC3363EBB3DB5AE37C952FF3B3B21A51FBC0942B00F8D7F71744A9BF88674BE3E1E5B19D5292C7EDD75C1CA8969F08009633A99BA9C0AA2C0CF18E545C8F7927763FE059796ACD4F6CA727450D79277AE2979AD5B283427E55FA79775516E5414528E291A32D827DBC593882C1742C9556758A5AB56BC286ACC575DE7068CDA2A9F0F8ED66FD8181774EB91259BB5B5A206D4E1C42659A98FFF5CD53161FCD738721E1F1648F989EA043FA835CDE344779FDA05ACFC349D5EBF63EE2DC093F4CA8AC7C3E52EDA27D0D4FD7F946C69DEF9FE14600E578857BA1DB9AF3AEE481EE756D1FCAC05826C9043DD1388187818FC638B84FEF701A90A52998A03A094E4BE64B9AD1B0D1C514CB337A562BAB132A0CB766F5BF3BA50594D3B6325615D3E7E19DA414310558B21D7816CAA6420B8DB8EBDDA62E038655C2B025748C6913D5CA372A4531373579206AFD347E1443D5E4CF878F25490349E96F002B9B523333BB8BE7B31BED282DD2AE5F168EEBED517A9363C0BDF32AA2907A30EA1080F68E20EA472BB62502762F75A99D89A8384EEF5E1B5AF1C8337E03E113F5218F5EE54368988758545EB908C2FBF59157740136E744E7E4F698608019E35E36D10944471CCDA343CF33B9FACEF72C07A6D76CF68CFF5A2C06A414D784D9EAAB804B86B70DF');
INSERT INTO audit_tree VALUES (1, 40, X'A644462396DEA5D0093244F86ACC29F9C9C1F4C1683189AA7E139A303355A1E4');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 876158929485, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 252664443382, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, 1795700430054092);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, 1795700429962445);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, 1795700429927728);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, 1795700430061694);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, 1795700430058235);
INSERT INTO jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, 1795700429932846);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, 1795700429928651);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, 1795700430066459);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, 1795700430059790);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, 1795700430061858);
INSERT INTO jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, 1795700430061037);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, 1795700430091760);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, 1795700429923930);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, 1795700429943171);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, 1795700429943771);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, 1795700430099699);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, 1795700430058707);
INSERT INTO jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 0, 0, 1795700430058470);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, 1795700430061494);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, 1795700430090021);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, 1795700430103987);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, 1795700430058878);
INSERT INTO jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, 1795700429928967);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, 1795700430107899);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, 1795700429945189);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 1);
INSERT INTO leases VALUES ('4e72b377-8cf3-4078-ab14-73f53ef56e1d', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795700428355836, 1795743628355836, 0, 0, 1, 1, 'lease-4e72b377-8cf3-4078-ab14-73f53ef56e1d', '1036be9d-6a62-4225-8391-a33ea777167a', '63017bc9a5307e1c33c1b14fe423b60bc2ac4fd373577f966e5afa2225615f09', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 876158929485, '', '[]', '["admin"]', '', 'dave', 0, 0, '', 'rest', '', 1795700428414032, 1795743628000000, 1795743628000000, 10000000, 'bearerToken', '8240d168-9c64-4f76-b242-282b36b542d5', 'JTI=bec53376-d85a-4d90-be1f-1a49b40ba229', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8.1.d025c85fe22f0ad7c1e31c1ea23a5c74', 'gAAAAABrCDbMM5uwxf7ETDb8mYHa_0qSlwIJaSCLoPybcF8QhkBHI4ckjIyTFGwDpkBNgHr-NMT4-c2V9l1WbcfnAQemDyWpLdAbxASzDrWo8zxWwrZTGJMO4ztsuRrGJHfjzsitDW42Mlq5JmRCA4apwA5KwfngOgvLjhaUA_0SUElEHc5WlI72_pAdCxilFGZFNrKW8sMVpoiYM-QpJI4bYDPnUhixFYpeYRDaZ_RfwtV77nuVRrY5FGnAajgYw_chqYjuDBUy-idLd29rXF40v_vVP7hVTTbGL20peC9sdz-IofPDgUViqqh4qVPxNpzHkTYPoibwWaSZwzSeBHVtkVAmub2oy785oVCpDT6yyljRss57PdGijFYv7CU_iThQNzO9-pcAZmusRZrqxkX1y21m0A9NbUiI_iFZJRCUpyillhu512pFQZylxIvs_RdxEwisxlFAMeMcLMg19f5-KZ2tLNTddAgrl1M-msyOzEsBuq4dZ-Aob8HcEL2G6QvzfYNfJ35CrPZeAHuOcwomNPXvNTrMTN_E3dcMtQBWud6IWO2byYmUQXm1W4XqaQugROzEVyKLEHpgUwtRV2wZ1QCOGwhY1vKKqpsL9IuwlgMCeNgMcQi_TENHYS-0ra25T0WJbgDYsp4VmgN9dTcyjr0wsh71J6RP0l5v6pMwQVgDSCGHfUr1YsC_SaMExDTLxDWeWzzfm8W9d8hxNZo22mPliXOvxIWcAqBZU_Uh1JOFFRhpfg8wYw0VCa2ph3VIQ6Mo5cgFohe8jjhzNWzkSVZLErxZKB_LZjuOLNoz6LNJhhiM1tKTqadL6FoUoiOfd8Ke9ZdKxGV8egejCwA4K4zIN63ayDtl0VuSHaxVAlgnFQwpBDDn_246Lwl3u5zSOZFhJQqCImfk1EHrXnUU3yFS66ycZwtBnI0RTnykNA5a94ngxsNrEJSDNcg20xmHQ4bqT59VjRWIUCbMJdhenaEfvaSsBGdukk73a9bEo5zdQ5P-Z7iNyck9Ql-g6SHw7l8b8cvq5Q_E3bKk7j__uHUtsYcn-RlyXeDNbpfFmpDeZMYN-FXwu0J7uyekD0T9QsewonI8R2ge924GGoJNrSvArusGBQtGZcBzm05WOYblJ8YqI-dQqxiFk-WQcmJXz3U4VKjQ08gsqnzdT4wcqz9juG3haifOqJeE9SjPqTXHqLMfTSNGpHfuZnWX1olzsIUDcZIU', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO leases VALUES ('3e5adc25-d7da-4ab2-a947-ab64fce39693', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795700428426694, 1795743628426694, 0, 0, 1, 1, 'lease-3e5adc25-d7da-4ab2-a947-ab64fce39693', 'eacf57ec-b8da-4c21-881c-89f02e145dcd', 'c2eee037bf0b365dffaadf052f5d703a8d3557ff4e3d3279edee301726110953', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 252664443382, '', '[]', '["admin"]', '', '', 0, 0, '', 'rest', '', 1795700428449319, 1795704028000000, 1795704028000000, 10000000, 'bearerToken', 'a8d9c9c1-3493-4e8b-8a39-920579d67090', 'JTI=69eebdfe-e3a7-4c00-b572-1d6fe241804b', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8.1.d025c85fe22f0ad7c1e31c1ea23a5c74', 'gAAAAABrCDbMW9DXzJB4w95D0hP7bMA1jSbp0Vwk3_V3BJFv8kzDzCnfhNA1LJECyOD5cCuKXqiLlbdAAJCvq9XWgFkeEBUth4U9MCoSWVtT_n0FleJqjSJN9pvlLcPpqylyqTADnPPRfxVQU_I9Sy-SZrfjNq1ecA8aNIDbHeFVjYUc5nTpydfEfee4vr_d8LP2DjCfki34AVjNZBNqdO_WJY58jyOxOWmUdwhj2hXnwDCMXc5q27dyXaLndModV7HrtNxbB6PivBa-dYO9enUctY3A4Nven7r_PE-WvWrvlN0-CK7TCivqb6ngUGY_vNbAadM3_JCDa3_ViKwvVYkiiURHl-1VTFWkL9quxUsFq1mF_hTMU7hbfSaGzG_yBLd3ZQeMFKN9HiY3WhSaGudRT2bxdtHW72669wxLbaqiIdPqbtP3S9oYJp0V5TUXZ2NWAQU7s26X_DdQmkOhYg7z7Y0Y8Dy1otypvQjNnEtNtlTN7mj24SuNED3mCqVQ--MVRyeTMgKvkT9mHMiISKHG40k5s90NnyWsKQHsLNfL_V8WcD1lkCED2lkiwHQKa6QIb5u2ySf5dhpEMwYsSF4SCoDX-6jan7N28-IDvJuFwbqmw7XODGjfQ-hkRCfpXB_acNw-zW5wdKTGOY4HSK0N5634joyPqNYN5Wv4tflJ-hceYlGp1k23dTsU-9Ir_oazmZ1Sh-jEdEpgXJvAEKp4rWDJq5v4l9vevLaTU3C0F3qTlVpEPubMUuD9y3jzNV7F8kLphaqFvKa0JB0Sj-7jekyk7ItJFM7j4S4SHggu2Da3IQXpByJU51NaMlYvC32dthVlUqhaHh2XdSITlF199n_p2jjXY5_i4MCJ8j1lafmfBDgyQSzp2iNTNvpGNBm4rLr3p9WZfAPjmCCux9vopYP3CXqRy1JSBRNfc4_zDOBXf0X9_N9ls-mzlEKaXKsGX6uJd3tG4Pqxc2WQL6fQNIRF02t9c09PI1JOTOQvylee1uV_zhh7kA2fV3Q_zj3IHrzLI146LwQsJsnaoq36wQinbFuFbbmsRtlxl9687EGzIlmivWXgYo-GUs1sJxb1RsfEVVh979N1YYY63v1yCqY5UmrHJVviSm4FRJoPdFvhsI5idpzjIjrBFXHasag3-GVbAtnZ4C9eNVAYG8_RYavNmgxL9WwZf_MK1wogyl3Rk8XlT4-Z5ddE9-Dj4YA-x_g6j8Hq', 0, 4, 1795700428692520, 1795700430692520, 0, 'revoked', 'requested', '', 0);
INSERT INTO oauth_clients VALUES ('86714c23-2727-493f-a55d-3ab156329fb7', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', 'da304d5186fb0c9e689d3f9d1c4591ed7022b96259320c128e22093928d83541', '', 0, 1795700428503586, 0, 'admin', 1795700428503586, 1795700428503586, 1);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', '6d07a73d11c346971c846419a2e6d6eb96583b1a66f13593d7065531e5691fd0', 1795700427713040);
INSERT INTO token_uses VALUES ('fcf7fa18caec', 1795700428806621);
INSERT INTO vim_generations VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 1, 'https://127.0.0.1:35067', '-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIQAM2/pj8iw9FegGHp6NsbXTAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEzNDAyN1oXDTM2MTEyNjEzNDAyN1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPve
UhqnGt7/v7M2zOMxcUgVNYA0SWdCawda3NnKLcWzsaAViifHiqttKhOShdE68rsy
XsotbbK+3a8rJyVuHkijQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBThjOdn948KBHDLCFlxYHM8+Hzn9jAKBggqhkjOPQQDAgNJ
ADBGAiEAzpU2e6vumZ6PxRAgQjJY3GpSQUvRojvoAtbJixvHPcMCIQCjv8XTN6aV
aVR6CJ9rpAontwuonXOxG6vrJz4AzsZlfg==
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '7af8376c-a6e9-4824-950d-f819e19f104e', '', 'bearerToken', 0, 'gAAAAABrCDbMBQYol7wwc61YVB4VjcggfVY01UVvEZeB5PhFwbDMKHV1DTaJxEFoZ0QcrVuTv-shyB_JA-SfFAi7HvcCHRkDDVKMlrAfjhzEH4_Ujc9JSnTOXayUd2Tc-hw9-N8tVoRhNkUz7pViBLbnzzvvawBH6HRACsodf8MyZpw_p8U6kHLOvTqQx9fy1ticzChZk6OVvdNrfm09brvQdvLOUGCfCXohp4vDHASAYj44Nd-5Yu4Iq9hNYrhXk3yODR12iUd_D2FvXpO8EZi-ObzSkJIb4L6GH5CwI_7SN33rqeO7mQCMzCZvV6YgE7GD3BPln0suY1nz_1tZyxg8VxUXywCesd7j561s7xzpYd1VopS2p8reKlxjIl13MZvM6d-I0Xq3quBBi0suo-cWlNq4tylt6filB_899n3kWHrzFqmi_0s9CJzf_wMvRJ-ZLgIKuLWo1t4dwo74ZKv4RDCF8l2LXAlt45rGHAgA34jEw8e3COk_H_v87HS0Id8qXrHf02pQhqKP2O1vLMm13nsWBINEkyRNH5-VjHkmFVx1tlHCPEUQu4l0-UvfY3koCGjzj-H_Uor38lRK23wbkesreABug9QHYOgRkcSgJJo7OtlLl3hObJ1XczuT8caOsVoKH6ILyul1d-cNV5OOCiCf7OS2iFhderYK85A4mpV2ywOh82OZGr7fpmRDk0o7blKzjSzN-KTgPc-L_lmftahsUVk8GQ0fDmsj2jcMdLA0nv4nS8bRvXRzYLFf2RGyhixQYKaOiG_h_R4-TWIqLQwqimEdHc57wk27vj_R57b8X8rTuNuY2AfFeC5bPsE2GZ5_71kJYae4zRk1Hi4IcEuhTsQK7HeSPbdSetUNMbDiuOhvCc-L481ECmy5yiW8dk1xRWh6HJ53vwT5RVs6d9SvHSGS-jUG1fN_CX0p-X5zLWG2XrWrqeBreJqP_xBMAJUOQEKx_bTemHKeFLYioHMJHmFwuozv3UB5GiDNwfAoeMKxUsSDXl2BrTyI4P8QVGHhgSEINSa61u9bcqAcW-u9E8ihxa0lXWj_sWM3GeCmxSgyvC_QWzuNpkAAIcR2DqQJQXK4', 'current', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8.1.d025c85fe22f0ad7c1e31c1ea23a5c74', 'keydir');
INSERT INTO vim_generations VALUES ('fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 1, 'https://127.0.0.1:35067', '-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIQAM2/pj8iw9FegGHp6NsbXTAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEzNDAyN1oXDTM2MTEyNjEzNDAyN1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPve
UhqnGt7/v7M2zOMxcUgVNYA0SWdCawda3NnKLcWzsaAViifHiqttKhOShdE68rsy
XsotbbK+3a8rJyVuHkijQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBThjOdn948KBHDLCFlxYHM8+Hzn9jAKBggqhkjOPQQDAgNJ
ADBGAiEAzpU2e6vumZ6PxRAgQjJY3GpSQUvRojvoAtbJixvHPcMCIQCjv8XTN6aV
aVR6CJ9rpAontwuonXOxG6vrJz4AzsZlfg==
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '7af8376c-a6e9-4824-950d-f819e19f104e', '', 'bearerToken', 0, 'gAAAAABrCDbMLmLkd0tLKdIbKVi-06_kRvQ6TpvTVzIExwJdkQJUZD5QVRh_KT970i0STfnSBwsUUkIoBscLeohSixxm-Jsylvvm5iSSBEENizqcW_bIxAmRLrQ_2I2JTXn4mNGvVbeLwPMal4ixr-RFAEgkjoIZQml5JptPiUUoV2-xaKwMaMyrJRcbJCCOrpSaS4Ek0s2VhaT44V0g8sFfIUPY3zjjnD_ENjRpdfj0u3uRU9vcl9bdLE1VDeOE5bCln_SdhSApYN4A8A--hxcfiTjJt1Fx3xqED_96C1qta4-GNBlepGipRnD6JgbOFnnJiv_ZY5Db7IpDc-STRykt2Dqf89Tie6ETIXWbk0TBQi88EL3FWcxKCIPJ6NLwwTTZTKplJ7McH60ILrb2NSivD3WVInikLJI8EoQlrwnGtbzKdzYDJmopzIHD20jWaNeZgmqTGUClEXGcsGjQ-f3sE9ti0llVnyc6fTL2ISEazdPAsv1i_qNzrhuHEkSVcuftaxh_vfeEN4tMjD4bdS6-E5c5nlGXRxle1TjLhufu-VRFj3W-sD8h05dVuikUfE8I__d86tQaJpSmaEfxyC5WyYXHLQMyTQR5UsXLWUsptRzfmA-3qw_Ghk4nKdbIZdeMwiUAHZdgLy7Qqh5mo4Umq2vFr6ui1p-gcq0vz7TWZrddz1nps3RRsfpWI5rDlY8znMLjzpkq2GJSDTOU6AzCeRyruEEnU4ZMsGZ8M4zrZEZn3ATI5N9Zq_m0LR-jOJr6OfbCWL4nseL0XFv4TtdwwEtcocIXNM-wF7VTY-SJu47ine4w_pr3GXuQJmGeFzevfE1rb52Y8ARej4XdtVUrjaas4_V32a8JrHs6BHIFljGJUhlW8MQGSQu3IlbIMW8cda6xi0_E2Wl-ETn4Jpp6qffzU2aXQdrf4Tgsq4ChdvHcdpZ8ws0H3wmexkDJKpYvzgYLd0T5U-x5-iAWFqKkZ7aD9K9UAm4Fvh4Pb3YW-nvfdkuTE9ruqid5YBbix6ZPov_dz4fJqflrB1Wt8z-HkWHTZdQgETPG1EDHagS8_EC3un5vfChNlsU68NLZbjpwBPFEbzCp', 'current', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e.1.b56a64a7683c9c5ab96e55527e6bd874', 'keydir');
INSERT INTO vim_labels VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'platform', 'edge-1', 'kubernetes', 'admin', 1795700427944644, '', '575e1ffa4a45a583b9bea7a471bb0c9bc30ab654ee73f005a55ae73319f697d2', '', '', 0, 0, 'registered', '', 1795700428298217, 4, 1, 0, 0, 'reachable', 1795700428338364, '', 'v1.36.3', 1, '', 'taken', 1795700701741702);
INSERT INTO vims VALUES ('fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'platform', 'edge-2', 'kubernetes', 'admin', 1795700428234118, '', '49071f29a2710b3429b30de9f505e4987fb98ee85b33ccb25a8e053d8b4e9722', 'second', '', 0, 0, 'registered', '', 1795700428620028, 4, 1, 0, 0, 'reachable', 1795700428246693, '', 'v1.36.3', 1, '', 'taken', 1795700712445936);
INSERT INTO vnf_instances VALUES ('4520dca6-c3b5-4876-a56f-90350ed69a8a', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795700428585286, 1, '{"id":"4520dca6-c3b5-4876-a56f-90350ed69a8a","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T13:40:28.585286Z","shape":{"package":"c4477281-e624-4ce1-8288-e9b6a4fcb1a0","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('79a24353-74de-49fa-a607-414d38c5a6d5', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('c4477281-e624-4ce1-8288-e9b6a4fcb1a0', '4520dca6-c3b5-4876-a56f-90350ed69a8a');
INSERT INTO vnf_packages VALUES ('c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'platform', 'enabled', 'web-1.0', '79a24353-74de-49fa-a607-414d38c5a6d5', 1724, 1795700428535706, 1795700428572267, 4, '{"ID":"c4477281-e624-4ce1-8288-e9b6a4fcb1a0","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"79a24353-74de-49fa-a607-414d38c5a6d5","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T13:40:28.535706Z","UpdatedAt":"2026-11-26T13:40:28.572267Z","OnboardedAt":"2026-11-26T13:40:28.572173Z","TouchedAt":"2026-11-26T13:40:28.572267Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('0fd9c290-2a9b-483d-9764-ddd69fc7d54b', 'platform', 'http://127.0.0.1:41361', 'http://127.0.0.1:37071', 'FULL', '{}', '[]', 'b5d70e0e38e04dbbfc4fa821c59f86f96440c09fcc74287879f6779b3f389e2a', 'admin', 1795700428596455, 'active', 1795700428599735, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
CREATE UNIQUE INDEX vim_default_once_per_project ON vims (project) WHERE is_default;
CREATE UNIQUE INDEX vim_idempotency_key_once_per_principal ON vims (created_by, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX vim_by_name ON vims (name, project);
CREATE INDEX vim_by_type ON vims (type, project, name);
CREATE INDEX vim_by_state ON vims (state, project, name);
CREATE INDEX vim_by_health ON vims (health, project, name);
CREATE INDEX vim_shared ON vims (project, name) WHERE shared;
CREATE INDEX vim_shared_by_name ON vims (name, project) WHERE shared;
CREATE INDEX vim_check_due ON vims (health_next);
CREATE INDEX vim_unsettled ON vims (unsettled_since) WHERE unsettled_since IS NOT NULL;
CREATE INDEX vim_by_label ON vim_labels (key, value, vim);
CREATE INDEX vim_shares_by_name ON vim_shares (vim_name, vim_project, shared_with);
CREATE INDEX vim_generation_by_identity ON vim_generations (identity, vim);
CREATE INDEX vim_generation_by_expiry ON vim_generations (credential_expires_at)
    WHERE credential_expires_at > 0;
CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify, server_name,
    namespace, scope, shared_kinds, pods_held_by, discovered, identity, credential_kind, credential_expires_at, username ON vim_generations
BEGIN
    SELECT RAISE(ABORT, 'generation_never_changes');
END;
CREATE INDEX vim_use_by_subject ON vim_uses (kind, subject);
CREATE UNIQUE INDEX grant_open_once ON grants (vim, digest) WHERE state = 'open';
CREATE INDEX grant_by_state ON grants (state, idle_since);
CREATE UNIQUE INDEX lease_idempotency_key_once_per_principal ON leases (principal, idempotency_key) WHERE idempotency_key <> '';
CREATE UNIQUE INDEX lease_login_once ON leases (login) WHERE login <> '' AND secret_sha256 <> '';
CREATE INDEX lease_newest ON leases (created_at, id);
CREATE INDEX lease_by_vim ON leases (vim, created_at, id);
CREATE INDEX lease_by_principal ON leases (principal, created_at, id);
CREATE INDEX lease_by_project ON leases (project, created_at, id);
CREATE INDEX lease_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project;
CREATE INDEX lease_by_operation ON leases (operation, created_at, id) WHERE operation <> '';
CREATE INDEX lease_by_instance ON leases (instance, created_at, id) WHERE instance <> '';
CREATE INDEX lease_by_whom ON leases (for_whom, created_at, id) WHERE for_whom <> '';
CREATE INDEX lease_ends_for_good ON leases (max_expires_at) -- metrics: leases for months
    WHERE max_expires_at - created_at > 2592000000000;
CREATE INDEX lease_live ON leases (state, created_at, id, grade) WHERE live = 1;
CREATE INDEX lease_live_by_vim ON leases (vim, created_at, id) WHERE live = 1;
CREATE INDEX lease_live_by_principal ON leases (principal, created_at, id) WHERE live = 1;
CREATE INDEX lease_live_by_project ON leases (project, created_at, id) WHERE live = 1;
CREATE INDEX lease_live_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project AND live = 1;
CREATE INDEX lease_live_by_grant ON leases (vim, grant_digest, epoch) WHERE grant_digest <> '' AND live = 1;
CREATE INDEX lease_needs_generation ON leases (vim, vim_generation)
    WHERE live = 1 OR sealed <> '';
CREATE INDEX lease_due ON leases (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX lease_due_by_vim ON leases (vim, due_at) WHERE due_at IS NOT NULL;
CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
WHEN OLD.state = 'revoked' AND NEW.state NOT IN ('revoked', 'irrevocable')
BEGIN
    SELECT RAISE(ABORT, 'lease_revoked_stays_so');
END;
CREATE TRIGGER lease_counted_when_removed AFTER DELETE ON leases
BEGIN
    UPDATE ended_leases SET n = n - 1;
END;
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
CREATE TRIGGER lease_counted_when_found_alive AFTER UPDATE OF live ON leases WHEN OLD.live = 0 AND NEW.live = 1
BEGIN
    INSERT INTO lease_live_counts (whose, name, n)
    VALUES ('principal', NEW.principal, 1), ('vim', NEW.vim, 1), ('project', NEW.project, 1)
    ON CONFLICT (whose, name) DO UPDATE SET n = n + 1;
    UPDATE ended_leases SET n = n - 1;
END;
CREATE TRIGGER lease_horizon_only_grows BEFORE UPDATE ON lease_horizon WHEN NEW.id <> OLD.id OR NEW.until < OLD.until
BEGIN
    SELECT RAISE(ABORT, 'lease_horizon_only_grows');
END;
CREATE TRIGGER lease_never_deleted BEFORE DELETE ON leases
WHEN OLD.state <> 'revoked' OR OLD.sealed <> '' OR OLD.revoked_at >= coalesce((SELECT until FROM lease_horizon WHERE id = 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'lease_never_deleted');
END;
CREATE INDEX audit_by_project ON audit_entries (project);
CREATE INDEX audit_by_owner ON audit_entries ((detail->>'vimProject'))
    WHERE detail->>'vimProject' <> project;
CREATE INDEX audit_by_principal ON audit_entries (principal);
CREATE INDEX audit_by_resource ON audit_entries (resource) WHERE kind <> 'Lease';
CREATE INDEX audit_by_action ON audit_entries (action);
CREATE INDEX audit_by_vim ON audit_entries ((detail->>'vim')) WHERE detail->>'vim' IS NOT NULL;
CREATE INDEX audit_by_vim_name ON audit_entries ((detail->>'vimName')) WHERE detail->>'vimName' IS NOT NULL;
CREATE INDEX audit_by_lease ON audit_entries ((detail->>'lease')) WHERE detail->>'lease' IS NOT NULL;
CREATE INDEX audit_by_credential ON audit_entries ((detail->>'credential-id')) WHERE detail->>'credential-id' IS NOT NULL;
CREATE INDEX audit_by_outcome ON audit_entries (outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_project_outcome ON audit_entries (project, outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_owner_outcome ON audit_entries ((detail->>'vimProject'), outcome)
    WHERE outcome IN ('denied', 'failed') AND detail->>'vimProject' <> project;
CREATE INDEX audit_by_action_outcome ON audit_entries (action, outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_request ON audit_entries (request) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_time ON audit_entries (time);
CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit_entries
BEGIN
    SELECT RAISE(ABORT, 'audit_never_changes');
END;
CREATE TRIGGER audit_tiles_only_grow BEFORE UPDATE ON audit_tiles WHEN length(NEW.hashes) <= length(OLD.hashes)
BEGIN
    SELECT RAISE(ABORT, 'audit_tiles_only_grow');
END;
CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON audit_tiles
BEGIN
    SELECT RAISE(ABORT, 'audit_tiles_stay');
END;
CREATE TRIGGER audit_tree_only_grows BEFORE UPDATE ON audit_tree WHEN NEW.size <= OLD.size
BEGIN
    SELECT RAISE(ABORT, 'audit_tree_only_grows');
END;
CREATE TRIGGER audit_tree_stays BEFORE DELETE ON audit_tree
BEGIN
    SELECT RAISE(ABORT, 'audit_tree_stays');
END;
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
CREATE TRIGGER audit_checkpoints_never_change BEFORE UPDATE ON audit_checkpoints
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoints_never_change');
END;
CREATE TRIGGER audit_checkpoints_stay BEFORE DELETE ON audit_checkpoints
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoints_stay');
END;
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
CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit_entries
WHEN OLD.seq > coalesce((SELECT seq FROM audit_horizon WHERE id = 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'audit_never_shrinks');
END;
CREATE TRIGGER audit_cursor_only_grows BEFORE UPDATE ON audit_cursors
WHEN NEW.sink <> OLD.sink OR NEW.start <> OLD.start OR NEW.seq <= OLD.seq OR NEW.skipped < OLD.skipped
BEGIN
    SELECT RAISE(ABORT, 'audit_cursor_only_grows');
END;
CREATE UNIQUE INDEX client_name_once_per_project ON oauth_clients (project, name);
CREATE INDEX client_by_name ON oauth_clients (name, project);
CREATE INDEX client_ending ON oauth_clients (project, name) WHERE ending;
CREATE UNIQUE INDEX oauth_key_signs_alone ON oauth_keys (state) WHERE state = 'signing';
CREATE UNIQUE INDEX session_by_id ON sessions (id);
CREATE INDEX session_by_principal ON sessions (principal, project, until);
CREATE INDEX session_by_end ON sessions (until);
CREATE INDEX used_token_by_end ON used_tokens (until);
CREATE UNIQUE INDEX cluster_object_once ON clusters (management, namespace, name, uid);
CREATE UNIQUE INDEX cluster_system_once ON clusters (system, project) WHERE system <> '' AND state <> 'retired';
CREATE INDEX cluster_by_project ON clusters (project, management, namespace, name, uid);
CREATE INDEX cluster_by_name ON clusters (name, namespace, management, uid);
CREATE INDEX cluster_by_state ON clusters (state, reason);
CREATE UNIQUE INDEX package_vnfd_once_per_project ON vnf_packages (project, vnfd) WHERE vnfd <> '';
CREATE INDEX package_by_age ON vnf_packages (created_at, id);
CREATE INDEX package_by_project ON vnf_packages (project, created_at, id, stored);
CREATE INDEX package_by_vnfd ON vnf_packages (vnfd, created_at, id);
CREATE INDEX package_uploading ON vnf_packages (touched_at)
    WHERE state IN ('uploading', 'processing');
CREATE INDEX package_use_by_instance ON vnf_package_uses (instance);
CREATE INDEX vnf_instance_newest ON vnf_instances (created_at DESC, id DESC);
CREATE INDEX vnf_instance_by_project ON vnf_instances (project, created_at DESC, id DESC);
CREATE INDEX vnf_instance_by_name ON vnf_instances (name, created_at DESC, id DESC);
CREATE INDEX vnf_instance_to_observe ON vnf_instances (observed_at, id) WHERE state = 'INSTANTIATED';
CREATE INDEX asset_by_name ON assets (name);
CREATE INDEX asset_by_kind ON assets (kind, id);
CREATE INDEX asset_by_network ON assets (vim, network);
CREATE INDEX asset_unsettled ON assets (since, id) WHERE loose OR state <> 'ready';
CREATE INDEX asset_viewer_by_asset ON asset_viewers (asset);
CREATE INDEX asset_use_by_instance ON asset_uses (instance);
CREATE UNIQUE INDEX vnf_operation_live_once_per_instance ON vnf_operations (instance)
    WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK');
CREATE INDEX vnf_operation_newest ON vnf_operations (started_at DESC, id DESC);
CREATE INDEX vnf_operation_by_project ON vnf_operations (project, started_at DESC, id DESC);
CREATE INDEX vnf_operation_failed ON vnf_operations (started_at DESC, id DESC) WHERE state = 'FAILED_TEMP';
CREATE INDEX vnf_operation_by_instance ON vnf_operations (instance, started_at DESC, id DESC);
CREATE INDEX secret_parameters_by_instance ON vnf_secret_parameters (instance);
CREATE INDEX secret_parameters_by_vim ON vnf_secret_parameters (vim, id);
CREATE INDEX secret_parameters_unsettled ON vnf_secret_parameters (since, id) WHERE state <> 'active';
CREATE UNIQUE INDEX vnf_grant_once_per_operation ON vnf_grants (client, operation);
CREATE INDEX vnf_grant_by_operation ON vnf_grants (operation, id);
CREATE INDEX vnf_grant_by_instance ON vnf_grants (instance, id);
CREATE INDEX vnf_grant_by_lease ON vnf_grants (lease, id);
CREATE INDEX vnf_grant_by_state ON vnf_grants (state, id);
CREATE INDEX vnf_grant_by_project ON vnf_grants (json_extract(document, '$.Project'), id);
CREATE INDEX vnf_grant_by_project_state ON vnf_grants (json_extract(document, '$.Project'), state, id);
CREATE INDEX vnf_grant_by_vim ON vnf_grants (json_extract(document, '$.VIM'), id);
CREATE INDEX vnf_grant_by_vim_name ON vnf_grants (json_extract(document, '$.VIMName'), id);
CREATE INDEX vnf_grant_holding ON vnf_grants (client, instance, created_at) WHERE holds;
CREATE INDEX vnf_grant_due ON vnf_grants (look_at) WHERE followed;
CREATE INDEX vnf_grant_over ON vnf_grants (created_at) WHERE state IN ('refused', 'ended');
CREATE UNIQUE INDEX subscription_once_per_project ON vnf_subscriptions (project, digest);
CREATE INDEX subscription_newest ON vnf_subscriptions (created_at DESC, id DESC);
CREATE INDEX subscription_by_project ON vnf_subscriptions (project, created_at DESC, id DESC);
CREATE INDEX subscription_unfinished ON vnf_subscriptions (created_at DESC, id DESC) WHERE state <> 'active';
CREATE INDEX notification_by_subscription ON vnf_notifications (subscription, seq);
CREATE UNIQUE INDEX bundle_once ON vnf_bundles (project, kind, name);
CREATE UNIQUE INDEX bundle_claim_once ON vnf_bundles (project, claim);
CREATE INDEX bundle_unsettled ON vnf_bundles (id) WHERE (busy OR state <> 'active');
CREATE INDEX bundle_sealed ON vnf_bundles (id) WHERE key_ref <> '';
CREATE INDEX job_due ON jobs (kind, due_at) WHERE done < wanted;
CREATE INDEX job_done ON jobs (due_at) WHERE done >= wanted;
