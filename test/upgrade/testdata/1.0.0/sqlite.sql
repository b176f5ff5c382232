-- of 0001_schema.sql, sha256 1d3e3c09acf53faf2173462398dc64c367c202fedbe1878d4df7b2a86a9d2faf
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
INSERT INTO audit_checkpoints VALUES (30, X'768BDA91123B688E9A461006269C8454A93A42E42874D626881DB74FB4858C30', 1795711026936255, 'e003f3c9-6133-4734-9e02-7a88f0d19c05', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05
30
dovakRI7aI6aRhAGJpyEVKk6QuQodNYmiB23T7SFjDA=

— vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05 OJT6uVI/mb5jOvhx+QG0l6q6CJFP5WWWTUQ9+rFh3xaky+4UEtlIlKp1D8hAJJPxa+5Q5sftqbZd1cgsNVSF0ZOmOwU=
');
INSERT INTO audit_checkpoints VALUES (34, X'584FE3E795BEA09CBCB28258CE11461E057A71A06D30FF14BF2855380A47081B', 1795711026992839, 'e003f3c9-6133-4734-9e02-7a88f0d19c05', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05
34
WE/j55W+oJy8soJYzhFGHgV6caBtMP8UvyhVOApHCBs=

— vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05 OJT6udCmJEB2CNxTPPsw7Z2LsnQiykcgcrNxaBCWfmXu9EwwasjgPm2QbUhrvVPEy+a+YGtqUUvnJ2d0JeSh7DN+SgY=
');
INSERT INTO audit_entries VALUES (1, 1795711024347366, '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"fb6ceba7221ce8d7b97dbdd7f56a52f6e11d7aea2fe5c5ac1c3609b7bac7d0c3","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795711024520707, 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795711024536238, 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.endpoint":"https://127.0.0.1:37589","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795711024548816, 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37589","new.generation":"1","new.identity":"983f122b-2494-4e66-be30-c4621020d512","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795711024550065, 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795711024976697, 'ebfc7507-8405-437d-8175-f6c37e70ac88', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.endpoint":"https://127.0.0.1:37589","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795711025021528, 'ebfc7507-8405-437d-8175-f6c37e70ac88', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37589","new.generation":"1","new.identity":"983f122b-2494-4e66-be30-c4621020d512","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795711025215040, 'dd1d8e02-bb67-40d9-a7d1-1bf1828bcbbf', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795711025309132, 'bf884925-768b-44a1-8ba7-6a3828413589', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795711025318394, 'bf884925-768b-44a1-8ba7-6a3828413589', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795711025384851, '65b41d6f-ebfc-4636-b899-4b6a017682c6', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795711025612590, 'f4a3f257-73a2-4b92-80d8-bdde7d3e6d2d', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"eaaaeae8-f177-4901-ada3-c8b27260b426","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795711025734554, 'f4a3f257-73a2-4b92-80d8-bdde7d3e6d2d', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'done', '{"authenticator":"static","credential-id":"JTI=85687786-4955-468a-9f73-785795339380","endpointHost":"127.0.0.1","expiresAt":"2026-11-27T04:37:05Z","for":"dave","generation":"1","grade":"bounded","lease":"eaaaeae8-f177-4901-ada3-c8b27260b426","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795711025860005, '8cd2d3bd-b510-49c9-a1c0-3307f4f31208', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795711025958353, '8cd2d3bd-b510-49c9-a1c0-3307f4f31208', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'done', '{"authenticator":"static","credential-id":"JTI=e67c6fbd-2c98-465f-a746-763d9b52faa4","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T17:37:05Z","generation":"1","grade":"bounded","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795711026108374, '6cdc9565-2b57-441d-a091-639bb47b9a7a', 'rest', 'admin', 'platform', 'client:create', 'Client', '82ad3171-f778-4839-ad0d-da9d49cadcb7', 'done', '{"authenticator":"static","client":"82ad3171-f778-4839-ad0d-da9d49cadcb7","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795711026272785, '83059223-08a6-43a8-a22b-ad0ecc1e1a1a', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"97af89fc-62fb-4eee-9f44-bbc28a201ce1","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795711026299469, '02eee200-f871-4fae-bcfb-3072f83dc269', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795711026415142, '02eee200-f871-4fae-bcfb-3072f83dc269', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795711026438044, '02eee200-f871-4fae-bcfb-3072f83dc269', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795711026476059, '3b38fd64-bfc8-47ea-a4bd-049f3223c222', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795711026605198, 'a6701300-4bdd-4f40-b20a-0504e068fcd7', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795711026607639, 'a6701300-4bdd-4f40-b20a-0504e068fcd7', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"acdf550e-ddcb-4d26-9a64-359a88805076","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795711026769763, 'afc211af-1aab-4fd0-9e60-1e6eafc9fdde', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"a3232324-e7a8-45a1-8caa-7cc939a00719"}');
INSERT INTO audit_entries VALUES (25, 1795711026784097, 'afc211af-1aab-4fd0-9e60-1e6eafc9fdde', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"a3232324-e7a8-45a1-8caa-7cc939a00719"}');
INSERT INTO audit_entries VALUES (26, 1795711026791632, 'f0fa573b-cb52-48b0-871f-01613a4a26bc', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', 'a3232324-e7a8-45a1-8caa-7cc939a00719', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795711026804773, 'c491c88b-3fd6-486b-901c-15483a70f7db', 'rest', 'admin', 'platform', 'vim:show', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795711026809968, '9a1d56a7-f6ff-4356-bc65-b85d7771590c', 'rest', 'admin', 'platform', 'vim:share', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795711026811458, '9a1d56a7-f6ff-4356-bc65-b85d7771590c', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795711026836907, '2865993b-08a5-4f4e-8be7-6169e61f18e1', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"e003f3c9-6133-4734-9e02-7a88f0d19c05","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795711026936261, '2865993b-08a5-4f4e-8be7-6169e61f18e1', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"e003f3c9-6133-4734-9e02-7a88f0d19c05","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795711026965134, '5a72aa9b-a559-4672-ae62-89e8adcc2ebc', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795711026973285, '', '', 'system:inline', '', 'vim:show', 'Project', '', 'read', '{"policy":"system.inline-finds-vims"}');
INSERT INTO audit_entries VALUES (34, 1795711026985249, '', '', 'system:profiles', '', 'vim:show', 'Project', '', 'read', '{"policy":"system.profiles-see"}');
INSERT INTO audit_entries VALUES (35, 1795711027018251, 'bb08bb48-f3f7-4e21-a4fd-3de71f50e5d9', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '5125145a-dd51-419d-a41c-81f9baf630e9', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (36, 1795711027100867, 'bb08bb48-f3f7-4e21-a4fd-3de71f50e5d9', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '5125145a-dd51-419d-a41c-81f9baf630e9', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (37, 1795711027201887, '128914e1-ed66-4eba-8234-47de5d06958d', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795711027210944, '7329b0c0-7053-4b3a-b085-12988d45218e', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795711027326490, '8d855a25-b8cc-410b-9849-0881222fa476', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795711027350238, '8e6a6787-ff97-4be9-a903-9d23da467622', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (41, 1795711027379128, '9ec36a08-9eee-46cf-981a-4a7f72c141a8', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (42, 1795711027401599, '2b88b726-098f-4b92-bb41-7c0dc4a5940d', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('e003f3c9-6133-4734-9e02-7a88f0d19c05', 'signing', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05+3894fab9+AXx0dnRZnyCGdQDDfmEdK4sQcThSTe0TW6NQ1yAlvPuO', 30, 0, '', 1795711026836905, 0, 'gAAAAABrCGAyZN-g96o7OrHBCOCt6qG_ZLJLQFbdqWPDIvvqfKY4U0kq2WX8gi2e9_WH6btcKz6u5QttB2o20SDktVj8-2TKbOPxh7Ihg2pUgOyKB-raSHPcYRYHVikxVk6mCcmnV8vafEY2Z4IDT-WLpaABHx6pc6583T2vKn0H6F62tMLrPbnWqKUK1uc7bktvqjzYC8OJmO_BSM7XcVCrPNX_lEDLvTPDMCNyENf_cKknPM3S7GPHi0792MsMyG3N5FhAT_eJ_9lLsXwgalg87vqHNYuHJgyB-18K_XFONGPuUmNS6uzbGu2oa3byOYMCesQaBj1AFeHlSms6UgtYdYCh7-QRa-xK4rdlsnCG0GybYhYlwBWWMBQD3X_Oj2JgdpAeGCF5MGucwZcFwmYC0r-XmXSDX72VUkbE9-SGroa2kJHv1pvRtyPpajpdFshzkVitGfaHNJfCjxRnpepXVqAhcpEUsg==', 'keydir', 'e003f3c9-6133-4734-9e02-7a88f0d19c05.1.5a2dba94c09a306799fc37ee5c28d5b1');
INSERT INTO audit_tiles VALUES (0, 0, X'79BA8B51B7062936DC86CEB02286E8D18C4ADF1EB2D5DCF6B4C1CD148C696001399FFE65CE785B778CAAC0BA34987B86670F9CDF2EFC49E02BD72E5E8EAF839C75CBF712D5142400D7EE734BAEA1BEDDC31FAEC4A435EA8474075C2D9DA7355B732C630A292244625596758849272DEE09B25AEB32D1C39EDB7C4D8804009B8C6112D3A7177F60E4B373C83E3AE9B98C6A70DA757253E31BE35CF052C1A6B6D2C68D4CEE41C14293BB9A754A013D2DC6DE73F3BA36C5D481C5A93C83AD33A981E713C303D2C256FA426FC35E3AAAB16C7631165E1D4408C0D8069C79AB4DFBD2C0642657397BFFDF294C76D2EE49FCA2685DF959FAA4986EB61B4C8C7C901394B396270DF4FF7388AD6F25568CE09F7D872D29335CE6E72B4DEFF02ED8864AB78778FDF29305D4B8CA19909A54D1F410EBA70CF0B8290D88067FD9D098FB8FA2B2CD98698D9429E0F00581AE2901CE5635BB6CB99B33C6967305209D8D032391478DC9ED36CB72138BFBBD295F2E60E685010998CDE0193065C9F70B02E04E0382BAFA679B3472D03E3ED4A10EAB3F5CA68EB8F6B26C02541FA6F87EA11424110E05F6A5BD77507B055C5C76E55C8D38F7FDD07D2774747A45D771D972077227268C99FAD5BC138BB0097DEFBFB3DC10B772C72B5574A5E73ED8D686253D012EF87A32D7E1E704BC7FDA65DE5A3F63A7D907BC95F39B490E20CF92C9ED9E5188477D548353FB81957F7570DFED7D4D40C932D9A04DC36BC839F24BCE911EE756A23C61F937EF6842AF0E693F32C9488BB2110679C654BB98BF55EBA6ADB7CC9FE0F9CF7F43C2DB12C75ACC4A5C455634462D49B332DF0B55505579F2260645E91896E796629BD06B8619ADCEA1FC7E04E7BC0A364870F7A7D83546B8040C2C45656844AE554170B18AFED22571C94455FEE52198C2339866F9226CA021BDCC372EA6653745C26C8556607CC3D39B9F8F7567C2F4244F9AF09CC6FB97221EC7644DCABC1ECF5FD990269464AE02D63C89D166427FDC4D5D52B0B7CAFA53BB847418F35D02192DB785D244B64E60FF0653BD3237D78EF0E62D9B21C638C859D27C1AAF5242F4E49CB7E25028595E4D56832EBC5CB6B63B2BD2F60AF57082B4CA8D7C8537AE7DEA212CEE278B3A79996DC9DCD7676ED77D129A23DE5224D9AA61DCA0BC0EDEEA1DB9BA0A253C5715AD381CFA6FDAF1A0227A42DDD16D8B70CDBC479CEEA1457210BA3A8D821112B2B3270158A4EA33894170B36DA3083819CB62E15E71868C2D9DBDF8BD8773172E49C9A8A674D71087921ABF1FB18DBBE4BA9A80BB876BEB3A9BFDADFC679988027F5D6E9D803100CCCE7C4AAF5B2588F6456BBDA676E6BB9B8C7E710D4B04B9FD4B304D69A756467B5EF7190AC8F79C5AFBAC2460871A3B4CBCF9A6941D32BDF65A7480E7B959F00856F7E38125C8D459A74732AD2B6E1AA164364072379DFB80FD4289CDA50FF2D32307F6E666DDE53D752AA468C4F0A572A3258647EABE1D22970A22F5F06E8182847143DED577CF371A6E5EFBE947B0F3A305F35B2D1E58102FEC7E0E90D71EB93837C702E000A7910EE39A056F336F4BD2A3F2E85F8038CAB86793E429AFC0F68F2F8DE1BEB3A42D32242B74F555FA1C320932EDE353B87A1014DC5A3B45C70080C11C064844FCE3BF75DEE4E59C999A62AC25DCBE4383609D15F2452A7D820B356383EC5A5AEC0D74D4652B9BB29B0B63DDA278112713E72C8BCC934D9EDBEBB11517EB5C71354EFB96650FED7297777820DFE0B40316976596FDDFD42944A362EC150487945CCA00E5785B128DB0E81E9CABD8F8E995205F81704735A24B9A2AA373B9F52DCA6B37DFEE01766B36038CBB6A00EC4B5AEBCFB82D9DA525EC43BED645A5D16BABAAB4F8BB');
INSERT INTO audit_tree VALUES (1, 42, X'89718A2FBD16937633E628EFCA2AB5125F7D3F3B66366ACC30F248D3D836E199');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 399548124954, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 1092980795474, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 2, 0, 1795711200000000);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 2, 0, 1795711050000000);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 2, 0, 1795711030000000);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 2, 0, 1795712400000000);
INSERT INTO jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 2, 0, 1795711200000000);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 2, 0, 1795711200000000);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 2, 0, 1795711200000000);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 2, 0, 1795711200000000);
INSERT INTO jobs VALUES ('pass-links', 'links', 1, 0, 2, 0, 1795711050000000);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 2, 0, 1795711035000000);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 2, 0, 1795711030000000);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 2, 0, 1795711035000000);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 2, 0, 1795711050000000);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 2, 0, 1795711080000000);
INSERT INTO jobs VALUES ('pass-sweep-bundles', 'sweep-bundles', 1, 0, 2, 0, 1795712400000000);
INSERT INTO jobs VALUES ('pass-tell-bundles', 'tell-bundles', 1, 0, 2, 0, 1795711035000000);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 2, 0, 1795711080000000);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 1);
INSERT INTO leases VALUES ('eaaaeae8-f177-4901-ada3-c8b27260b426', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795711025611089, 1795754225611089, 0, 0, 1, 1, 'lease-eaaaeae8-f177-4901-ada3-c8b27260b426', 'eeca2063-ac07-467c-824b-1c66e03849b9', '62fc2d461cf4db4efdf7ad6175da80edfdaaf21f29ca3d100221d8782249d0b2', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 399548124954, '', '[]', '["admin"]', '', 'dave', 0, 0, '', 'rest', '', 1795711025737236, 1795754225000000, 1795754225000000, 10000000, 'bearerToken', '881aae7a-1c14-4dfd-ab2a-2cff4859dd6b', 'JTI=85687786-4955-468a-9f73-785795339380', '4d484aab-6800-4680-a71c-e36ecf4c7fd4.1.63379fed816b02a0aaf0cb831977ce30', 'gAAAAABrCGAxrQPa7zcSuqPG4or0oP_OHPB9wejuD8n4Zw1dswcvabxMVEVBvJCLN42wHSoFU6mF47TDtdnDXyfTG7WS-l7LDY2j18SZv1wz1FqGYGo4X-sHAGswRhDgiUHlqO_dFhnb7j7VS3DWSqdVIK7NyyRYllMkXMsdsPJtJL0Ts5wB34TSIxhfsvJMriMM20_kFaQ6Ez31po3VwyhzducbaJ48BFGhIdRVtNvEC2IiGBL2Uxp7c02YAjvd7r_KT4UC7DHMF8YwzpRWK973HFcGjxZ9sUDNEPCLSTpTKMhsYZNnrpdbsZkQY3gZjv4U285jpgtpKMhg3-yME_75bL71oLtJeEJKeiKfqRWBdEgN4lePxTDKLhJpnpHtSw0QXD_Zl4lJ7__E_5NAJCq0EbbC_EwnI789paPfS1CO0-W00jDs5OaR_9IvIpJrXI26IgQkFyQFU9AvVDiuATphMzFZc83ipNmSG1GSpcCxGIywzEQ3zMYtHvTW0YiXYLVm1diEFj7Yb2pBRfGAIkbdjKEZF5bKH-CVywxyL22lkIO8g5DA7iAGoO1uO2uVVXmCrY9aiLnbY-CGpyJSdvhzkaOt-VQ42Zn-o815tj4z4wCV0j_xMeCYGY_Jcb7IuLfDz2om-H7q_zEzXSCEam8Qi5DY9sCH7Fz3mS8GW2oxTzAVtYAmnsOIK3Z8B7k70rzaS6F6yQWm4tHjB6cSO8ITmzlWDvJLLxYY66aoxEbtdyki2ualP3lHH7T_rLrrN7I4Bitz-NdE74KWy0fx4t0TayLl4rFsWmfFa3h1raXQ8pQFlydRw5QnSZBIPheuUX9BeQjiDCXl2eF-0uKLgvbjdfm1QnnrPAxDM-Z37JvCZXivdTFCZC6KsWBH1yrneMN3LzCGrqgzySGZJ4ciDTNcVxXd2EAwOJ93mxMR-mW-rvTIE_fuH9aV6LgU0HnJ0Rd8uLAEnxjTiyYGvbX_mCa4BD-ivIO52J8sq8PDo9nFOajrMuMbFtYtfRlBbbBzyEXpeW-51uOsonUBxOguedJp7w42TwWbohUWv5KrMxBzSQ1ov_gS4g_3-JPBrEt3ZexMazJY__Ox0MqFodA87oUpolXE4rN_XZmk159ffPgLFeZqBBcrF4Zy5MBispa0Wi-f0UwEf1NbZxdlpJfNnLbhTkLQK0oEZe0rY2YsHOQa6wlwWJqEkTChy_WzXxm4LqeOwZi7Wdyr', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO leases VALUES ('5125145a-dd51-419d-a41c-81f9baf630e9', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795711025840933, 1795754225840933, 0, 0, 1, 1, 'lease-5125145a-dd51-419d-a41c-81f9baf630e9', 'd62ecb3c-3cb0-4795-807b-b025afbccc06', 'd3260dd3536ccc4ff5ca96439b2e8ad5ef8e8f29250b039a5f85df03f141e731', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 1092980795474, '', '[]', '["admin"]', '', '', 0, 0, '', 'rest', '', 1795711025958629, 1795714625000000, 1795714625000000, 10000000, 'bearerToken', 'e43e0620-7761-4457-9f79-2e2c8ebe979d', 'JTI=e67c6fbd-2c98-465f-a746-763d9b52faa4', '4d484aab-6800-4680-a71c-e36ecf4c7fd4.1.63379fed816b02a0aaf0cb831977ce30', 'gAAAAABrCGAxHujgAtlZRwdI8dHyktoFjLev_PCWbaZvbsYP_i9quh-IbFQKWKCcrBUxsmNKNsZustOEkNFd28q9B2oKrRvCl4lu5QZa4GYLOv7UcqEBMZt7kA5YR61lDXDZgBAQcRFqqhjZhWHgxt7PWAmuq8CpWTcGQa58DLV4o-54Gs0yOS4LEKgDeNGy1a_AB1_xDXVDz_d1eyW7tDl8099VLmthIPXITVrEyYSrIqlyZ51ernzg1roFcM8Qj-U68o_dySgyj1QtikD8p8eJ1Z1FtYKpNpKf_uZj5HGkgWRTJhckpk90lmXz3XEzjI0j8b_bprqejpMPY2s89x0WWUNN0XpH3VCvAk6IyMlh3s-hPu-gHpauJlekMqPlvoEbHg4hAzP9Wx9QQWaUpQOS-cU1CAq_iu5aXI1Wt23O0DO4UqrV1vFvdGBr8f62bVez-vnmCn9H-cB1jw83_uOGdCIqkjNh8GPZV1QcXj_LQ6RB6rynAdc_vOJWCK9CbIL6qrHDwbaApPhJQFQcvj0AIwJZeg1DVnJTCJnaXAIiK4X692b3JhtIj0T2m9QVPyXISS4U36bFvqDibijY--8vmjuvaE6KMUd8JosXIpwIXC8vWpSoWGzOOesXs1jakkUgUO_IV5spt1shFJvMYdFt3WjPU1lsZpZ31Ng_2qxkpKb_1Rba9f4gtAo55wUtv7atJZu_5mMggZdBd5i_xZYVLVPtmMABDPf-X9jnXr6muY2YwelJHui6blZ75klJWOeBBY4c8JL5ANaPksX-OtxqlTJN9GZ2cD9jMOwyigvBUnJwYoyO9foB-Oc-zjD3vIM6a8pWbmuMyqtmOo1MgNXJqS7hyR0IPDypX09hI4cw3rDxGDKhEWbo76yePS7mpAm_btFmqh_Fn5wFtwjjP_UN7NJ72R6Frb_BzJSmhopjeXK9dcoHWMZhjTDXUJ5-xKhj1j3PA9vy5sOcYxdAZfbNU12vadg68I6DKA0uy0grsw3FKRHyEJZ7z6Q5Q_tHu5O3DuKRUvxIjXr_lTosmASeoMyUdSs4pqmgh74kGkssNrtxF8XFQPhWw7v8vf6_PvmWLvOkCtbcAZ1BKfrn4YhSpWnMmoGWMQ5IOGjvuMXD-oQ6GkfL-VSChtLzdokJXfzYvYesBTjDc2UlK6jnHb3kABAKClM1I_tQcS6XHhPyRS-ZL8Jj0tsMaXM1MW9Y8MCSKBvtyW7H', 0, 4, 1795711027101080, 1795711029101080, 0, 'revoked', 'requested', '', 0);
INSERT INTO oauth_clients VALUES ('82ad3171-f778-4839-ad0d-da9d49cadcb7', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', '0c2dc0508bfdd0d53965d8e32fd64140be60a644de66338554d75e24b4ffb256', '', 0, 1795711026108284, 0, 'admin', 1795711026108284, 1795711026108284, 1);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', '1d3e3c09acf53faf2173462398dc64c367c202fedbe1878d4df7b2a86a9d2faf', 1795711024020314);
INSERT INTO token_uses VALUES ('82b3f5149d80', 1795711027633446);
INSERT INTO vim_generations VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', 1, 'https://127.0.0.1:37589', '-----BEGIN CERTIFICATE-----
MIIBYzCCAQmgAwIBAgIPbz3NMvvjGjCZWfp4MdSTMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTYzNzAzWhcNMzYxMTI2MTYzNzAzWjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERQmE
3bvzSc7ApGJgV0KmrmGiFdcM/q8kkw647swmezv4Aat+7d8+KApvOhOfU7pidoFP
RZyc5Fwl9uM59Lpxj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFGxWLeQ7FNvXVqbKB/sfybKjcSlpMAoGCCqGSM49BAMCA0gA
MEUCIQC6hqqD81YbZ6UVDa2CiLsAtgDO6ptAX+1o2uhPO3JBSgIgCxKDLQq8/gQ/
W0mQEk/ZldddoV1q/1nIiqFUvENPlKE=
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '983f122b-2494-4e66-be30-c4621020d512', '', 'bearerToken', 0, 'gAAAAABrCGAx-BMw1pEXRASeYyMdeE28ja6e6__Qd9nMxfqtGWkqA45xzJQhqNqNeWmEN5S3t8T4xDIKeWtsGADbVaxcD1uxL5I5u0K_bu4MH7MWG3N4tF9uOrZ5xg1tN27EoT1vHktrWmMq0skFbv6b5K_HFJGYWLfOQVK0giTsGcFDHvE3Wo7B4CyxeuCrbbbIKYLLLl7GXlUxR4aoRaf_YQovv3NfwOkHlB0l4ODNEiH7p_YCxkNsTbyGKi69Pg18SI7kWgC6nPfvKfx9DkKuLnxvDhNCjMG14-GZH-xSc13eKuqA1xfNS0cDguZEKVifWmlbt2VhrbLl31iNBNile2ZuHr8LN2v15AwbUsRIN02inzt9cYMjMZATi1LnNjKpKW59Rc_RhWwyvQzg2m1YyDNdeXx-jHnn_1JY5cYWdvBzQQ9ONcfZxc3v9CrGtkj-1B_YCnPhflS84kQ24l36sNcPD7esG0586j5JOxovu9aU4WTbmzN6xNj1Ymklx6nYkPZzF-Xz1dWaCfTuD2q_RPX9VxqSAmXAtWejabd4v5XBpTQpVNeTbGDE-SpmAxA2bjyePh5KjvkW8TRriJamS2z65HA-d_54vVAnNNRfskikRgjdEs6jzvTJGHghfJuR9vsj4AdGIXjn0l0bPvOuTOMCCup_Rx1BALbUt72XHvm9aOYK4Fqwtw_X3uN8mw6NRoZATnAOwLLrVlBxBSYKu7pWxz-jeaHMeKzrBe2aVL3axq_Ffl5zRsDFoYYzmbWc41NqH_rBCOcyRUERABVKw8h9nQoeP5sEViQbhXU0l6HbMWjdlme6V0JmCZWqYqknBhnNszRU40NBLQfP8ojjsdYIkIYEpJkyKf_fXHyq6aFdjSDFugRJAoJvfSOsjV3dxd3-DMnxrUmeZkaUAsP-xxd6qJ2aR-QwAfCbutJeYVUo0_KmyV_UARMy8VxoKs3iNAtMiHnvfvuEcrRZDdIdkqwd2BYgzqMgXGRkgtDlf5krm4ugQ5Saeu_iji09q9TycB0AbmEwnSYoyLRxKdofvC0seAKJCxPxGLf8rivYUUWc3y9XLS542WgikYV4KkJn4AUZ0Ni2', 'current', '4d484aab-6800-4680-a71c-e36ecf4c7fd4.1.63379fed816b02a0aaf0cb831977ce30', 'keydir');
INSERT INTO vim_generations VALUES ('abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 1, 'https://127.0.0.1:37589', '-----BEGIN CERTIFICATE-----
MIIBYzCCAQmgAwIBAgIPbz3NMvvjGjCZWfp4MdSTMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTYzNzAzWhcNMzYxMTI2MTYzNzAzWjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERQmE
3bvzSc7ApGJgV0KmrmGiFdcM/q8kkw647swmezv4Aat+7d8+KApvOhOfU7pidoFP
RZyc5Fwl9uM59Lpxj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFGxWLeQ7FNvXVqbKB/sfybKjcSlpMAoGCCqGSM49BAMCA0gA
MEUCIQC6hqqD81YbZ6UVDa2CiLsAtgDO6ptAX+1o2uhPO3JBSgIgCxKDLQq8/gQ/
W0mQEk/ZldddoV1q/1nIiqFUvENPlKE=
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '983f122b-2494-4e66-be30-c4621020d512', '', 'bearerToken', 0, 'gAAAAABrCGAxHTQ5dpGZHTGfPsSNdug-H0fZhOTxZE8R0lcYYDq8VTQ3m9jH3h-0O7oCdLsCBkFYiJLVUWAG4iP4OKLf3p4SdbR_5c87O0qfgta7eqPX4WNehrgdZOgKlfw-Y_Vj1VKC1wy_rXnCRDsM-_i7vXF8vSxP6BgBVa1lLy0LvXguTE29dU0DMr6ZwvBImHdRwK9UAFwESzNypEDvZgdcb_wPXbRukE15Y7tXXmxlOrpNfG51UbfLsOJpXAHXZF3DZmooCLKaTbu7DF7Elgbc7xsNYJ63oq0xA4EMFxWpLUwFKIBg-wvfaglHnVOvgIxKU8bHEQp4ls6CCal2y7tSXu8K2b-AaSlGnqgBgMBrGu7EPN8577SoJf3VEPwoz826GECfiwyTtuOLL4AZAndda2RT8XvZ4mf2Jr4oaHuam47xdR1bKS2w7qAHui039y0VvRe0G5YY1j1bO2yebLD0qaJIjlEK0IuFq8QktScrYL5yeAmrctj1kFNP2Qy8LC1fd6dmfRwlc8yAUlP0qIpa87APKNpFWGTX44riwOec9iv5Jh-FEp3CBF5B62tOcph4ebSSPdHb4e_0ibUeX1wF-TFmj7Pht5IiflD2JK5WKr-gJcCHBEWBFnyaNUjpNkiWKrH5s6Nx7u9mJAFRNVUyXPN4agCuxjapzYzdd0MvGBnEG1efuod4Z_6Nz63GbgbUDj8S4ONBx2bhMzOkN3q2s80PHnhevRT1gYmwvEyLjHhu7JhfysWpNwkKcWJaM9fNUkw1WlUotbgvLcYIKN6xoYivjMga0s92CljJImPQ4RV5JEvJkQCLPphOToSa85K5kPSPjPUnhJskKRJv3AQKOJ0uKhhYEjRqycJWG_d81PJMHWeR5HVwyK1BXXC9ZmxKnaNNd5vYJ7uJkdWQaPVWrxCcpDDcOxbq5B9_sxyddn53RFPluQEW5iFlDtVgttBE1q0Ki5RxxqdKOs0kuOmYvF7PiS5xQipNqypfUiLD1-zPosziQgcG_wHky17qwX_jC0Az6PMR4xcjye8YLgpY8al7VziwQBbRe9_pgHg-hs9HCpdEq4MRt5rrj5PaneNHIfpX', 'current', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d.1.1b619e3f68b222f4194c4aeb48e0a010', 'keydir');
INSERT INTO vim_labels VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'platform', 'edge-1', 'kubernetes', 'admin', 1795711024536075, '', 'f7f583fb32c0636af8ae51ef3ce09acc46a2a1a9c80f1e165460ed94ff1be95d', '', '', 0, 0, 'registered', '', 1795711025318771, 4, 1, 0, 0, 'reachable', 1795711025394560, '', 'v1.36.3', 1, '', 'taken', 1795711299885087);
INSERT INTO vims VALUES ('abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'platform', 'edge-2', 'kubernetes', 'admin', 1795711024976612, '', 'd24dca6bc3295db158cad1d8eefc406681a74d36cfaf5a8f9851700c2c748f1b', 'second', '', 0, 0, 'registered', '', 1795711026811653, 4, 1, 0, 0, 'reachable', 1795711025022109, '', 'v1.36.3', 1, '', 'taken', 1795711300205406);
INSERT INTO vnf_instances VALUES ('acdf550e-ddcb-4d26-9a64-359a88805076', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795711026603879, 1, '{"id":"acdf550e-ddcb-4d26-9a64-359a88805076","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T16:37:06.603879Z","shape":{"package":"97af89fc-62fb-4eee-9f44-bbc28a201ce1","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('e131bbc1-5049-4ff8-923f-6ca9d28bb93d', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'acdf550e-ddcb-4d26-9a64-359a88805076');
INSERT INTO vnf_packages VALUES ('97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'platform', 'enabled', 'web-1.0', 'e131bbc1-5049-4ff8-923f-6ca9d28bb93d', 1724, 1795711026272783, 1795711026438829, 4, '{"ID":"97af89fc-62fb-4eee-9f44-bbc28a201ce1","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"e131bbc1-5049-4ff8-923f-6ca9d28bb93d","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T16:37:06.272783Z","UpdatedAt":"2026-11-26T16:37:06.438829Z","OnboardedAt":"2026-11-26T16:37:06.43804Z","TouchedAt":"2026-11-26T16:37:06.438829Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('a3232324-e7a8-45a1-8caa-7cc939a00719', 'platform', 'http://127.0.0.1:43621', 'http://127.0.0.1:46403', 'FULL', '{}', '[]', 'ce9372d25535d6788c984032e3d2d6b3408bfe2b9fb847fc2369a9d975023876', 'admin', 1795711026769457, 'active', 1795711026785732, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
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
CREATE UNIQUE INDEX asset_network_once_per_project ON assets (vim, network, project, (CASE network WHEN '' THEN id ELSE '' END));
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
