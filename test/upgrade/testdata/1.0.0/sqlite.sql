-- of 0001_schema.sql, sha256 ccaa1b602da8e586491d63c1c263e421073d8dae3ddf6df644df8c5bab5e5203
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
CREATE TABLE virtual_links (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    vim        TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    network    TEXT    NOT NULL, -- the VIM's id of it, or ''
    maker      TEXT    NOT NULL, -- the VNF instance that it was made for, or ''
    loose      INTEGER NOT NULL, -- it has a maker, and may have lost its last use
    since      INTEGER NOT NULL, -- when somebody last began to work on it
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL, -- JSON
    CONSTRAINT link_name_once_per_project UNIQUE (project, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE link_viewers (
    project TEXT    NOT NULL,
    link    TEXT    NOT NULL REFERENCES virtual_links (id) ON DELETE CASCADE,
    PRIMARY KEY (project, link)
) STRICT, WITHOUT ROWID;
CREATE TABLE link_uses (
    link     TEXT    NOT NULL CONSTRAINT link_in_use_stays REFERENCES virtual_links (id),
    instance TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (link, instance)
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
INSERT INTO audit_checkpoints VALUES (30, X'D0DA687975693130C3D38ED6C16952E3A646EC04024D01312EE3293B8928E2EE', 1795698076147783, 'fa817b25-385d-4b39-bf09-1821087f38da', 'vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da
30
0NpoeXVpMTDD047WwWlS46ZG7AQCTQExLuMpO4ko4u4=

— vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da WzERtomm6kciPKbu2X058Y/aU681e5+0MlEZW6sXurJydzS+gkBjb+r1AZxqBhyPxGNKVQcxcTjMx8CRi8MLxelWWQ4=
');
INSERT INTO audit_entries VALUES (1, 1795698075826566, '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"d3358166715ff2b77acc948695e45f43bf66446f0fa6ed134c3fdb096f9ad295","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795698075846592, '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795698075848599, '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.endpoint":"https://127.0.0.1:44979","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795698075867236, '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:44979","new.generation":"1","new.identity":"1e16d554-b2a7-4dc6-bac1-11664a9335c5","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795698075869628, '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795698075883337, '31c17500-2733-48d8-a998-4dc83d6098c7', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.endpoint":"https://127.0.0.1:44979","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795698075903694, '31c17500-2733-48d8-a998-4dc83d6098c7', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:44979","new.generation":"1","new.identity":"1e16d554-b2a7-4dc6-bac1-11664a9335c5","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795698075920593, 'c22f6f42-59ba-4381-8ebb-83fbdb8eca60', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795698075935786, 'ae41b5c6-23d3-436b-8167-105f8c805020', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795698075942310, 'ae41b5c6-23d3-436b-8167-105f8c805020', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795698075959414, '8ab4fc71-c030-4eb9-8062-d0e802f2ab35', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795698075981974, 'ff6ac211-2236-4a4c-af3b-a3b24ca3eb3a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"738bcf64-da4c-49e0-acfa-539fd939c680","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795698075995204, 'ff6ac211-2236-4a4c-af3b-a3b24ca3eb3a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'done', '{"authenticator":"static","credential-id":"JTI=85e9dfef-5fc2-4859-b55e-d1ff9f1056dd","endpointHost":"127.0.0.1","expiresAt":"2026-11-27T01:01:15Z","for":"dave","generation":"1","grade":"bounded","lease":"738bcf64-da4c-49e0-acfa-539fd939c680","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795698076006670, 'd1d03175-2de4-4de5-86fa-711264d9e304', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795698076026950, 'd1d03175-2de4-4de5-86fa-711264d9e304', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'done', '{"authenticator":"static","credential-id":"JTI=da63d37f-d17a-42f6-8dfe-af344581e973","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T14:01:16Z","generation":"1","grade":"bounded","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795698076037963, '07aea115-bcd5-4f2d-a35c-fa01ba8e530b', 'rest', 'admin', 'platform', 'client:create', 'Client', 'a06a8a5d-b2b0-4262-8e66-e2e807e40584', 'done', '{"authenticator":"static","client":"a06a8a5d-b2b0-4262-8e66-e2e807e40584","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795698076061645, 'd5cb6115-6246-4d26-9e99-854f9fed894b', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"7b657434-8e60-470a-9c87-eb7510a18a35","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795698076062977, '7f760979-d519-4458-98dc-b741466cb3f9', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795698076064128, '7f760979-d519-4458-98dc-b741466cb3f9', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795698076073854, '7f760979-d519-4458-98dc-b741466cb3f9', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795698076084638, '94086035-3d27-4fbc-a1a1-76e10fecf914', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795698076095886, '983c293d-e693-4e92-90b6-ec09d76d676f', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795698076096782, '983c293d-e693-4e92-90b6-ec09d76d676f', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"d7ad8771-8058-4e2d-8add-e7ad334ef082","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795698076109317, '60e562d5-a692-40c8-b70b-b4b43b63b511', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f94d1e59-b2d6-49f4-8310-82a74f79b992"}');
INSERT INTO audit_entries VALUES (25, 1795698076110590, '60e562d5-a692-40c8-b70b-b4b43b63b511', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f94d1e59-b2d6-49f4-8310-82a74f79b992"}');
INSERT INTO audit_entries VALUES (26, 1795698076111903, 'f41eea29-51bb-4818-9ed1-76cb2886eb20', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', 'f94d1e59-b2d6-49f4-8310-82a74f79b992', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795698076124242, 'bc8b2399-9265-48b3-a895-76d80f29f870', 'rest', 'admin', 'platform', 'vim:show', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795698076129196, '3430069d-8569-41c9-b261-ae4982d42e5c', 'rest', 'admin', 'platform', 'vim:share', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795698076129621, '3430069d-8569-41c9-b261-ae4982d42e5c', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795698076138654, '99f1252d-810b-48bc-9bfa-803113716dad', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"fa817b25-385d-4b39-bf09-1821087f38da","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795698076147786, '99f1252d-810b-48bc-9bfa-803113716dad', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"fa817b25-385d-4b39-bf09-1821087f38da","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795698076159834, '08232cf1-8a2a-46b0-9a97-608f3b3cad2a', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795698076170483, 'a31d99bd-a45e-4f03-8830-2b2509f81de6', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (34, 1795698076171956, 'a31d99bd-a45e-4f03-8830-2b2509f81de6', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (35, 1795698076181357, '2784e4de-49ee-4777-be9b-816eb84ea8d3', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (36, 1795698076184573, '5be70375-d7e0-4a75-9cd8-e2a93dbb6144', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (37, 1795698076213202, '7092434d-e584-4cac-948f-ac230eccf024', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795698076220960, '2b9e3e56-56bf-421e-b694-e784e195e582', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795698076228602, '2d269a54-db08-43d8-bdc7-1b52fef74fd7', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795698076236245, '42b5ab18-5df1-4341-beb7-ee914c02a117', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('fa817b25-385d-4b39-bf09-1821087f38da', 'signing', 'vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da', 'vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da+5b3111b6+AQsc9LEFBUI0wv5I2WskcAXn5wUKbRaq8guz7LyJsfYm', 30, 0, '', 1795698076138653, 0, 'gAAAAABrCC2cPNfVjXi3dw1_8J9N8RaGufasJ0sn8Wo5_Mb-TCZYpnwUywW2PdQERIJTnXFcHlZrTrFKmXT55ZJJ9lLEd2NDjV_74RQ_HOWsimcpzqILZkqRNJh_i4MmpmK_PqNWjxdoQu6S2UCp4NQOv79lPNAZW9QCO2hKnaDLlgEIHBedcamlC2x-GryRlY3rec6KlWcnXR-NzMz5o3bSarIZ6ZcyvQ8m5An3VJSvecxlMdyux18fiGtMJmW_toFTWDl3yOhsWcl1grjC8DjShvS2jkZjNXeatXdwL339IsVwN_xDBl3DmtBHpH0HJUCWspuhSKfByxbda93Uz3oSJF-fsEYYiCG3klXToZhaViJIPKpUTUuK1dT5fYYoOjHuLETnLm19YhD_5Jnkj-hNpxFKUC7eWdqN4LUjvACwE8BGEM6OcP-0zK7of2eO5VXTWJViq_kVFyfPDiOe34Xax-dPe4mlYQ==', 'keydir', 'fa817b25-385d-4b39-bf09-1821087f38da.1.c5aa2ed11e156e35f47b64057551d874');
INSERT INTO audit_tiles VALUES (0, 0, X'E0E04F8C5C6DFC98892B9C57AEAC7EDD3D060A6E03A4ECA2F144F5DAD5FFF5FC8A64F32076CF3C738C2A3B377DB4F91B33EA588A2C86F4729ABDFEEB39892754E895577E23A1C853C713CB2D2569BEB7D59D06EAACA989E8641FEC2C03BB8402BBE889C82AE4B59A1BB8144940815F832CB9339EB61C7081880727FABA97AC353A8E35280EA4B825B1B38AABCB6287902373573059F137CBFCD29A949C5F8BCD59859615B84640884AECBC5BE9E9A0DC9E186C6E684C0EB4328B3D1A44C0DA773EDEE6777F76BAA65AED9AC186518DA72FEE045EB54F58547C87B66A50CA647A27AC35FCE6FFB868EF8CF12CEC121FCA10D3BD27419F46CBC06CF63263C3328C8D6519102F6BB38A5129DA53814FF88F9F814B77411CFF047403B0BEE8C95D5AE484173EFD28993DD80657F32B17CF61FF4E47496002B79ADFAADD18720F36F0F301EFDADD08F269F8B7FD675BB318D15BF128836F141DC7781C85B5E86AA4C02AA4DA2087E0B4EB0D56A433AF4B93D0F153CEA2968FFF8D048AF57B15D7B29A607379B125848A64FB4D4628C2BCB103352040AB5DD2DA7DC8B43187BF85EC857BA2F3A5B8988EA34228AEC76519B82830387614EBE7705510D32B68C26455E91CA44E393873774829D9227262B0C8AEA82B61B765A75E90432FFF67A4FFAE8CE9576AB4839C186F3C0E0858E66E208CC30AD72C809B9BCB4361AEB40FFB80291F3EA154C5CC2E79CCDE189CDBC1CC88A8E2A7B87CA1F7E4DFD64B6877EA1E4181699ED2B557DBAADA990EC41AB1DC1F3F4BF2E9D38BDA7340C6A5CF7F92E796B212B4781E81DB05EB852C5E5D877A194BEC417EAF02F27067AC93218CB143D490F0B17F9F05BE078BD79E2CC3C354E5E10F4728F6667EC787A7D39CED0F4CD2FCD45CB7F47BAB8E0D436E2D0727864D05C5456324A565D562B2C31EA1077BC4543B6FC070EFCFCAAC1AAE6EF4C33A15F555F58B3D4FEDA3948F920EC2C19ABAB2207530EEA060B70D6F89DA375753B55FE2F1FA32D0F677B6B9D3A51A42F9A7F8427E3520E3B2BFF94D095277A37F8337C3927961EFBAD71A5E0CD60F3FBC6D92A397DF4B28CD7F2EAFCABB4EB1D6923F373845023B1ADC2129114440D539BCB9511CC63DE7009B04DB4EB1C15473C94D69489F5EB685652B3A3B194B13BACFF4D340980A517E2150D3E70E5AB75F31EE511C827FA6C8313A8CBBB030D871BC4B495E4EA1522C1989370BF2BDBED19C811C494F57D231D745747F541AF1A90CCCDE8D4542BFD5D0278732EF676D96B59DA4157AC87A162C3D5BB356D30497264FACE4797FAC7E4375351AE630F3646BDF22CF3F0536DE569C59E3AEDEF180D901C3FA99921DFF43258D2DEC56FF610261DBDB29DB312FE93B1C5B43B903D351F036B13ED1D931B9A0756A0C4D95830A84C592C30F882754DD2DECF7E75A63147B1F3045CBF63E58F38914588045991B1FD8D5723E43B8F8417611D97D51C6B4157971E8657E325EAB971A0A706914B5D2AE51510C5E7A713F2BF481715BCD3D726E04ECE66838BE97204C876717185F7AB5C77DD88AAEE88B6B86A7FCC905E243DAF61A607BD311AD528865666993525D5350EB4259F1AEAD9FEA3DDC7BC51CFDA3D2D435FF91B3BAC7A303D5EF658980402AAF5897E9351FBC921F4F0E35699DC51CF39BC43CB10E6B2175E0723C6B80DD0503EF53EA8C9B63B64A1A303BEA8CA03B51C91FED161BEF40B776F9A43D6EB76B110F45EE6DC865534A18E1CBCE76B0D969B5AC68C05C204876E294E0E2AE6CF66D33775F732463D65D80B5703B');
INSERT INTO audit_tree VALUES (1, 40, X'F8A271D2ACB66CAED96ADD0E91A11ECF4B6728424792BF42E027835A7CC57A74');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('7c51b131-76de-4008-850b-addee1b71723', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 1091022706280, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('7c51b131-76de-4008-850b-addee1b71723', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 862223341724, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, 1795698077843886);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, 1795698077856363);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, 1795698077834230);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, 1795698077847347);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, 1795698077856896);
INSERT INTO jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, 1795698077840097);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, 1795698077855704);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, 1795698077866490);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, 1795698077866751);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, 1795698077856554);
INSERT INTO jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, 1795698077836693);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, 1795698077836471);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, 1795698077856729);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, 1795698077857241);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, 1795698077832089);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, 1795698077847771);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, 1795698077840270);
INSERT INTO jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 0, 0, 1795698077839699);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, 1795698077847164);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, 1795698077846724);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, 1795698077857083);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, 1795698077833341);
INSERT INTO jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, 1795698077839916);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, 1795698077863708);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, 1795698077843699);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', '7c51b131-76de-4008-850b-addee1b71723', 1);
INSERT INTO leases VALUES ('738bcf64-da4c-49e0-acfa-539fd939c680', '7c51b131-76de-4008-850b-addee1b71723', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795698075981049, 1795741275981049, 0, 0, 1, 1, 'lease-738bcf64-da4c-49e0-acfa-539fd939c680', '90198b00-246a-4a95-ad1c-8e13d65ffd36', 'f5094b42cbb76078cfd541df6d53444c92d094f16c856ad22a4703281831499a', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 1091022706280, '', '[]', '["admin"]', '', 'dave', 0, 0, '', 'rest', '', 1795698075995297, 1795741275000000, 1795741275000000, 10000000, 'bearerToken', 'fc0c2e51-acb9-497f-87f2-4720b815da54', 'JTI=85e9dfef-5fc2-4859-b55e-d1ff9f1056dd', '7c51b131-76de-4008-850b-addee1b71723.1.2b0428c0bc2febc36add0a7c1c9565a5', 'gAAAAABrCC2bTQq4fOF3i286b8CMTixXJgNet220i9-mh0sAD1zelXhaWNlpXoCcI24ezIxR1lwLWTghG3-lMZLS-syOmpHHDdzPMJ_5xV5Gzt5zE_YIQmiDVIwGuLYLGe14BvMnxl8TWqUboYnup5uUogHvjidDQtc90qjAmlNzLuKQdGvuYDn1rmsE3xpn_NfC7J4Ktl3YJiB8FPNJeYkmiI8pbHoftFl8OR3mqlfjmUeD5u9OIRnsJHgbTnzVuFlL0Elc9T5pP92OfxI7ENZ2poCHZLuV1H_oPJc-l-jiRWM0qa-q5XkBXP_SW1bjc_AJnhWD83lAwCw5_DHlCJE6mOkhf-bwh_VaPbnrJBpnhg9nw7f5J41J54c0Mduivrow2gIsrF3RQtVIcp4nBsaK-xem2BEafxOtPYwgXQGzachAlDqcTAdg7JID_sPIBW34iX9NEFmqa088DXLjKcSNMuXsWDoXQci9INeRgM4A2fq2ztHYLM2xL8CtD9R7u_kgozf45wTX95z0eM1aoINpbmZMqWgr3fQ6VPFN3sBdOtv9sXPfJ9Vhy4RxGC6fxgYK4eUlG6SNzc8nalNMcARQGVhmIHuWN3dEo9MjI6Fg1OpH5mgb85w14VhWiMWyGg9zSp5zB-yq1A73xMOr2WiLYljtvxVoRS0VJY8Bgj8uawlkGqLH_NXKAPZpbGHNkcvSuqp9ibtHpm4Yug2TjTCGmUqgBZ7byWZHCA3XPmVPgGlq_BPlDOXjWs3S1ZYL-zRiquLcuXH67P77ufI5T81vMig-5qhpY-BpHvFwmQpqbqq-o_x6TPsEh56FTJ1mTCO3xFGOSqXzx-0fGmJss_vF5nyYznRk8VTKhDlUXxBbV8kQPZPcotG12ZsKx27dTydCZx75B6pMgs4dMXGfBITFlkOlAks5fLeeMz3rfBvjRhKb64d1GiH9zh2IRcQfb0Rotnxryqie2q1mkGhlYZu2r_EV_oEGU9S03ajJavWQxNNX5i-TFF4t5vL_azVrhC1EGs2OZfnrEeptiqHVAHS7ak2v18j9qtENTI4tXNRqRSBqugfkNvNBPXcK0Jb1foDcn3yPNwzgVdx6kSvHPe7FEer6KjGEh6Pco1ZfqtLFpTHmbzIeDO8ChUqd6src_qtnM-4_h-iEbgxhJ4xJY2wfXb0zlkcXKhKHRNPHOmoIOytLFyMLjWrpgZVzdAT0XCs9ywLFYcml', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO leases VALUES ('6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', '7c51b131-76de-4008-850b-addee1b71723', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795698076006077, 1795741276006077, 0, 0, 1, 1, 'lease-6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', '073ca016-1e1c-4081-b1d0-5a9f93118221', 'e6830cb00e7d94643dbfde3c4530df7a6ccc62bfa4b74975ba5c62b2e9a03cea', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 862223341724, '', '[]', '["admin"]', '', '', 0, 0, '', 'rest', '', 1795698076027201, 1795701676000000, 1795701676000000, 10000000, 'bearerToken', 'cea9db4a-4258-4cb7-ba0d-d4251606ac26', 'JTI=da63d37f-d17a-42f6-8dfe-af344581e973', '7c51b131-76de-4008-850b-addee1b71723.1.2b0428c0bc2febc36add0a7c1c9565a5', 'gAAAAABrCC2ch0JHrsOdELqDDuNIhPI6hJNidwKKTTWt5CrjOK9PqY7MeMRMrjyUzuMiwbf8c-vTqcFEE5kMV6UTI4YObZCUxFr07T-I7yz4fFukIC0pgiiAS-sL0802Ptcppf3RFBfltVmjmdutH8Q5WcGzLQBqABj8kmuQSZl9R2vQXkvbJFVLLjhKWQ_AlMRrqywqjsNbXZmaYvObyOVYLvZMhbcfzlGQx5HhvmNY08jx3aRnkUnMs4PW6Y7_nJnYFT33H4kSbenNf4OgTVq2CJ-RKnDt-9C38AbzfGBfOVT09EqYElACuHfow5Oy1E-opf1YtDVN6F6qgx-DLBa7seWyqBKY5W5hmuUACA6nvIR1JkY2J0F-hIGyNgYBK8gIXghpQ88Cut5IOmNF6bCuswJTvVVCX1Vm1xB27UyySkIN_JHaKppcW-f7ftkz9V9bRUzEZL0RyV0Em5a0qVfYq2GtUjwmrfZ7QI_6WB3O_EiNKcwFQV7QRFvs9onfoE-9wpN0zZc4RI1adZx8Ka7senCNFTS2L5H3imhUfqXeTmo7cm9HOnT7A7DmWLAaNuj3C2_KWgJCXHoH0A_krMGu_e2aGWh-Llngwcxu7vXkgAxSqnUt0Z3cFXN3U0iedi1KNUkogE7G5KTkCu9ywFku1NP-hzDqxGlDxC1iGt00aOqRNLWrVfQHZULvFeldEyP7st-JAn9kqIpKPAkChGnyQp0yFgkO_oqtcwB9RizFaQCkfUAUhVdGbOckxL-Los6ZY9YBIzgFNjDzBb31cZT54bAXMjEaX3fo97HBwlDgwI0AIXxmf84nt4-FL0gRjHSkvPznCNUoKdupKaiDsPJwfKNZRAxVFH4vdODC22JlntqufENBw7kjeftV8gkTFF0prl0G1xS1z6asL9RPGPrpo1lAYsSGtzQOpL5kguzRM-6cbYIRpM7W2P3RvbvfbgvJbZtum1QiYcXCSRrW9zKBrM-H4G3OIdJM1yattMVSI-RUK-U6MCQa4AQBypVA3gc5aIFx0-MiY67uyXynhE0FpqwnU9mwcLzwD7XRmP00NDhUNZvqldlXF7_f0RlzDhjkyjPT2En6i9HfwdVillrOxouet_mUOXPNhoXFrzyD6DWNzEIAbZIN4gcHb-eOc-AXN9kcEGwEPge8EYMVOSDh46ZjHW_ZjIw7VvAeqPv7ziy2pEWyTYYlSyp8EkPnCUuPmSxXQkmO', 0, 4, 1795698076172031, 1795698078172031, 0, 'revoked', 'requested', '', 0);
INSERT INTO oauth_clients VALUES ('a06a8a5d-b2b0-4262-8e66-e2e807e40584', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', 'b274df903ef64fb86e0f0a9f5d994d41debe7ec30eabb451d1aa65f60b52640f', '', 0, 1795698076037890, 0, 'admin', 1795698076037890, 1795698076037890, 1);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', 'ccaa1b602da8e586491d63c1c263e421073d8dae3ddf6df644df8c5bab5e5203', 1795698075773721);
INSERT INTO token_uses VALUES ('525ddfc75b50', 1795698076263886);
INSERT INTO vim_generations VALUES ('7c51b131-76de-4008-850b-addee1b71723', 1, 'https://127.0.0.1:44979', '-----BEGIN CERTIFICATE-----
MIIBYjCCAQmgAwIBAgIPcnHMxsg5ky4lKcpSKHREMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTMwMTE1WhcNMzYxMTI2MTMwMTE1WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHKrn
Z/Cc8li1ucgR0Rz86Y5ljmGoEPsVfYYywpjrrNeY8fHz+uNaiwuTw6ULHFLf4eKN
C45IWIsORZIZ5w4zj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFP6BMN3dVDfhkKReQ/EEp6YIMQQbMAoGCCqGSM49BAMCA0cA
MEQCIAdwH1tP8fKMInPFPgYpijdE9CSKNuGDKX11fsQ5V8F/AiAZxN7FJiZq/JjW
0GbhuiNRmMw2y70FM28YzBniqdsjSQ==
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1e16d554-b2a7-4dc6-bac1-11664a9335c5', '', 'bearerToken', 0, 'gAAAAABrCC2bvxXAKCrtv6ErL4dwMPBEJbJbkhZgvT6GBVfEjOjfDawjKva_-iRjO4ALHdEsxTW2MG7lDhOjuwNSSmbj4mX9awL5GalwJ7Jgq8QhuttK4jY4kWWiSJKsruKrKX0M-FDQ7_qhG0yrStY2kO5n4HS1q1_mzT6E6oYiULkqMTlstzeD71Arko32YGVHBi03fL05zpSrMDdEkknS90uO-LwnZfeG8HoF6EljTYbRsANcZwBmP5rB2Y3pACTEeglY7b3nKgxcbSC5ePC329cbmHarZbOLowGbibsQr3vhhQzUMBWWqo5lhE5Qy7KOd88rlJqk537axHBAU3toRStqcSI6OwSi64z-q7BmpaCfOcEKPFApmxvAEzleEEImMwRiFXmq0idngNjxOo6FuWHGIncevGJ_ZaxjZ9kRLuWTkLClJOGSnpzgQ_xl29dHfGgSIUBl9IRYgmS-RHx0QUG2Yf3C0zLo240UrhNL9O_MYhPaFqwObxl4949-igSCllhNWrwRS0NX6367ngZHoRZFoK_K0zfNVH-YSlLYC3OZxQfr2nuEiqmqRKbxRoKJJzIYP2h_OmfnDyEjizbMvPk4a9QpiCe5NeUPRLHuxBoBgfmEpIkd27AcaqPJ0v4kwjsFnbezRAlVof8QY3WNyRwKwvHmlAGMC5egLWXQv76S2MoxNETUbDAzykd2PYXEZCqd336FFB6_l85YWb_Y_eoEeynzQWw_zd5N1UvBOfw-iixC04whDn2Ycj1UuG--uO4gOgnduXY8FEGgXVmSuPZ8h8miHUJTSDfqAk1QJsU4bMZ4zc-dKNeog01TXINz9L6czVgH3T7yPDuiye4oO4zy_ZL4udZleIq1uiw2lhkpYuvfe-qozcoZ0LFoW5SggSc8mriVIDxbDCQxwjDLb4s-N9ViC8YbcXK5t3ox0VOeQ_DeOp1d3Q5w8kWGffbLGiuoQmYNZvSytmB39Xg9o1xJmBjSAcXRhi1DksgJBG5WVCFjZiNpmDLOrEtlTu_4QonEMmPCXmP_RVcTHc0_qRezqkU1w3dlUtOkq34D-BfXNjeodqipgWfx5NSo8s7ZR-N1aDmO', 'current', '7c51b131-76de-4008-850b-addee1b71723.1.2b0428c0bc2febc36add0a7c1c9565a5', 'keydir');
INSERT INTO vim_generations VALUES ('3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 1, 'https://127.0.0.1:44979', '-----BEGIN CERTIFICATE-----
MIIBYjCCAQmgAwIBAgIPcnHMxsg5ky4lKcpSKHREMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTMwMTE1WhcNMzYxMTI2MTMwMTE1WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHKrn
Z/Cc8li1ucgR0Rz86Y5ljmGoEPsVfYYywpjrrNeY8fHz+uNaiwuTw6ULHFLf4eKN
C45IWIsORZIZ5w4zj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFP6BMN3dVDfhkKReQ/EEp6YIMQQbMAoGCCqGSM49BAMCA0cA
MEQCIAdwH1tP8fKMInPFPgYpijdE9CSKNuGDKX11fsQ5V8F/AiAZxN7FJiZq/JjW
0GbhuiNRmMw2y70FM28YzBniqdsjSQ==
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1e16d554-b2a7-4dc6-bac1-11664a9335c5', '', 'bearerToken', 0, 'gAAAAABrCC2bNk5amkWIZTR6_mJTGA872TG-pH0Ht21XtTvwVWbY9C2VCdSj2KlCJ2eqFijRvzqGC-OvmFakW9Yojgm31TFSS2BVTfGHDZbrAVj6mv8hOPGSURUfx8p1Xs23gxX6AebzZy5Xb2t5Gk1Wn_zmtZ7CzamhkpRTvhSH3mIAFr7475Q2Mi5Y9r8PUibHLucf9o35ty_Vxs8HzkjLSyNgPfPM1JPlpQWIGKVB8MmlubkZGyxcHN-bfJ_bEp5gIKP_OUH6hCFjG0mO7HWRIIW7nJz_QULhvmBBK9Pfft1Y1ZBS8JaqP4TNyyrUlLjUlqKY9mH5-YRpQVGj93aZNSnA4ykd2bMqk4OnLkEFav5YJ1HczOBsUJtUYJ6HjaUJ5TCs72GJw3tdaN5BEDgHqsZmz9987pcpXCwwj0eS_ZUHQMdcG0ny3jds_r3-neZm8-55y8Vgrawk-0Mb2bRPNZcUejd5gwhbQlkW3JvD3S4OX2sbJI-V94CCTVLszu7dVdqAbwDFL2pH_X-wJTAkqt0OhHJF8TeatvPva1Z40VVnwdnhYXdVfjRIa9JOq3cNAOQ1nVjug_G8Ct2xS8fphhadriygHSMx0zD1dITU4MOVhwNfzbrzJgcBI6z68RMh4c-0kbxx72_1GFiQ5YxlGCO1O_FdEdcVcgYDraRUl0oOo4_VyHpWQ83i9dKPdav9oBohntoIgcQudL1qOPuiglUgYo0ydE2EteMPBZUY2Ka0Za9_NOeUqdL5aKUIVP46_71phm-hWbYRkTbb8vIPJHpUfC_eGIbGo7N0tWrjMuNklexIzesSkBFs1IJzCwqH1NTFuZw47JOVBu6iQo1eoyvTsBZ8WBW39xlEgOq-aZxTH66z1by3tH-xh-xJPxuhifyqRKk-GStdOvO7beArUQR_GWuxShoyQeo5CTTerS652CRsWlzuEeex3Nb3XBAwKU9hV64wa42ZttXewZOVnwQD0ZOlHiOEcgEDlLZliGWMYK3NBoX8JqszX0_WonBss99Wi52vOoeiXQP3LhVylm7yWHN_P0RBoxZDjijkT3hgh9kwdUnlK2EMYE92kJAD64Agf5L6', 'current', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e.1.b053ef81b24b850e7585f9c9cb1f70c6', 'keydir');
INSERT INTO vim_labels VALUES ('7c51b131-76de-4008-850b-addee1b71723', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('7c51b131-76de-4008-850b-addee1b71723', 'platform', 'edge-1', 'kubernetes', 'admin', 1795698075848513, '', '2c68ddc2099ede89d9e9ad7beb50668074fadc588f455713acf3970408987318', '', '', 0, 0, 'registered', '', 1795698075942522, 4, 1, 0, 0, 'reachable', 1795698075969950, '', 'v1.36.3', 1, '', 'taken', 1795698353741944);
INSERT INTO vims VALUES ('3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'platform', 'edge-2', 'kubernetes', 'admin', 1795698075883293, '', '048183069c9bf4c958db23559fbbed90a64566d96a2e15a05a7c7ab97368c244', 'second', '', 0, 0, 'registered', '', 1795698076129750, 4, 1, 0, 0, 'reachable', 1795698075903843, '', 'v1.36.3', 1, '', 'taken', 1795698374379132);
INSERT INTO vnf_instances VALUES ('d7ad8771-8058-4e2d-8add-e7ad334ef082', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795698076095477, 1, '{"id":"d7ad8771-8058-4e2d-8add-e7ad334ef082","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T13:01:16.095477Z","shape":{"package":"7b657434-8e60-470a-9c87-eb7510a18a35","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('9e825b84-a1bf-47a8-a4ec-9e7931b41960', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('7b657434-8e60-470a-9c87-eb7510a18a35', 'd7ad8771-8058-4e2d-8add-e7ad334ef082');
INSERT INTO vnf_packages VALUES ('7b657434-8e60-470a-9c87-eb7510a18a35', 'platform', 'enabled', 'web-1.0', '9e825b84-a1bf-47a8-a4ec-9e7931b41960', 1724, 1795698076061643, 1795698076073939, 4, '{"ID":"7b657434-8e60-470a-9c87-eb7510a18a35","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"9e825b84-a1bf-47a8-a4ec-9e7931b41960","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T13:01:16.061643Z","UpdatedAt":"2026-11-26T13:01:16.073939Z","OnboardedAt":"2026-11-26T13:01:16.073852Z","TouchedAt":"2026-11-26T13:01:16.073939Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('f94d1e59-b2d6-49f4-8310-82a74f79b992', 'platform', 'http://127.0.0.1:40687', 'http://127.0.0.1:39569', 'FULL', '{}', '[]', '21d2bea6341e6e2bf40f2725574b7008f44d7404166fff32240d76ca3d012361', 'admin', 1795698076109059, 'active', 1795698076110724, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
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
CREATE INDEX link_by_name ON virtual_links (name);
CREATE INDEX link_by_network ON virtual_links (vim, network);
CREATE INDEX link_unsettled ON virtual_links (since, id) WHERE loose OR state <> 'ready';
CREATE INDEX link_viewer_by_link ON link_viewers (link);
CREATE INDEX link_use_by_instance ON link_uses (instance);
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
