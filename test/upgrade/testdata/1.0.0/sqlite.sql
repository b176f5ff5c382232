-- of 0001_schema.sql, sha256 7596048c740d0d0f36e05683d5a4933175c3cff88bc8ff14bcc9ba1fd30880b4
PRAGMA user_version = 0;
PRAGMA application_id = 0;
CREATE TABLE schema_migrations (
		version    INTEGER NOT NULL PRIMARY KEY,
		name       TEXT    NOT NULL,
		sha256     TEXT    NOT NULL,
		applied_at INTEGER NOT NULL
	) STRICT;
CREATE TABLE probe (
    id        INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    probed_at INTEGER NOT NULL
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
INSERT INTO audit_checkpoints VALUES (30, X'F497FB4735ED7839BF8A0849A41145B13E25EEB3C3E1B064A23D1D1B870E7C41', 1795689527650293, '5f344b9d-86bd-4583-9332-69e3b6e62ea2', 'vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2
30
9Jf7RzXteDm/ighJpBFFsT4l7rPD4bBkoj0dG4cOfEE=

— vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2 TT5Gd44HmdI0aHMs7vqh22Oc8nE3Qh/6c24mUznHLrrkbNgMlPNK4CI6V1/m/8qbFUGviNNHC0GHM398AmlR4SzoPgQ=
');
INSERT INTO audit_entries VALUES (1, 1795689527426442, '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"d3358166715ff2b77acc948695e45f43bf66446f0fa6ed134c3fdb096f9ad295","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795689527441534, '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795689527443119, '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.endpoint":"https://127.0.0.1:34155","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795689527450855, '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34155","new.generation":"1","new.identity":"24aac597-a71c-49f6-bc15-a547b6f4e07e","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795689527451869, '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795689527463007, '8e78236a-0e75-4059-833d-2246fd165604', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.endpoint":"https://127.0.0.1:34155","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795689527468975, '8e78236a-0e75-4059-833d-2246fd165604', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34155","new.generation":"1","new.identity":"24aac597-a71c-49f6-bc15-a547b6f4e07e","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795689527480095, 'a5ee15dc-83bd-4474-84b0-eb94875124ca', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795689527490373, '010ce8ec-910c-41f0-b455-ff94fbcf36ab', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795689527491565, '010ce8ec-910c-41f0-b455-ff94fbcf36ab', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795689527500726, '81e3ac34-159a-4b4a-823c-732a5bfc5e25', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795689527515869, '14288373-1edb-48b7-bffc-468fd09bc7d1', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"3fc766e4-6b72-421f-9dac-b690c33c5794","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795689527536432, '14288373-1edb-48b7-bffc-468fd09bc7d1', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'done', '{"authenticator":"static","credential-id":"JTI=2529e778-c74a-4947-a1c4-040f3ecf86d8","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T22:38:47Z","for":"dave","generation":"1","grade":"bounded","lease":"3fc766e4-6b72-421f-9dac-b690c33c5794","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795689527548342, 'fb6b906c-2855-4023-9317-b7e85fb0f3a5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795689527562695, 'fb6b906c-2855-4023-9317-b7e85fb0f3a5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'done', '{"authenticator":"static","credential-id":"JTI=5f375a89-4c17-487f-bd0d-a03d38b14b67","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T11:38:47Z","generation":"1","grade":"bounded","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795689527573210, '0b22def4-0516-4474-9076-1239e1614de2', 'rest', 'admin', 'platform', 'client:create', 'Client', '84678845-38de-403f-b319-e2ca0bea07ff', 'done', '{"authenticator":"static","client":"84678845-38de-403f-b319-e2ca0bea07ff","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795689527597814, '099b3efe-78c1-4930-8079-afb88c5db0bc', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"43713a93-8ae5-41fb-91dd-4cfe27f1b7a8","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795689527599297, 'b83af82f-9fd5-4fe1-bfeb-196ccb6328e4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795689527600166, 'b83af82f-9fd5-4fe1-bfeb-196ccb6328e4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795689527605803, 'b83af82f-9fd5-4fe1-bfeb-196ccb6328e4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795689527606655, 'a53684c7-1c4b-417a-bbc5-3800bc03cdf8', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795689527615781, 'fdca2a9c-9172-4cfb-a5c7-fbb86e2b39c9', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795689527616464, 'fdca2a9c-9172-4cfb-a5c7-fbb86e2b39c9', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"a1b77831-1ab7-447e-a980-99755333e3d7","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795689527625723, '336f6afa-f7fc-410d-a5a6-70ff62c7cc48', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"72308cf9-94b8-4b25-aee7-b2847cc12b6f"}');
INSERT INTO audit_entries VALUES (25, 1795689527626638, '336f6afa-f7fc-410d-a5a6-70ff62c7cc48', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"72308cf9-94b8-4b25-aee7-b2847cc12b6f"}');
INSERT INTO audit_entries VALUES (26, 1795689527627556, 'e1e1aa90-1a78-438f-a857-0419998ba151', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '72308cf9-94b8-4b25-aee7-b2847cc12b6f', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795689527635852, 'ea9c511f-5862-4ded-9c87-fd7449d7a86d', 'rest', 'admin', 'platform', 'vim:show', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795689527637438, '869b3423-1901-4c50-9355-b60798907e4f', 'rest', 'admin', 'platform', 'vim:share', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795689527637735, '869b3423-1901-4c50-9355-b60798907e4f', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795689527647776, '4d8a2505-fe75-41ec-95be-af6d50b51981', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"5f344b9d-86bd-4583-9332-69e3b6e62ea2","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795689527650294, '4d8a2505-fe75-41ec-95be-af6d50b51981', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"5f344b9d-86bd-4583-9332-69e3b6e62ea2","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795689527658746, '42853869-6f6a-4b0e-9111-70ae0df24925', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795689527669149, '8f430e8d-e5ac-48fe-8cda-29444e8fc063', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '0e3b904d-9876-4673-af7b-0aa2b389f905', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (34, 1795689527670866, '8f430e8d-e5ac-48fe-8cda-29444e8fc063', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '0e3b904d-9876-4673-af7b-0aa2b389f905', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (35, 1795689527682097, '853d495b-6235-4ccc-8479-ceb79c244f8f', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (36, 1795689527683969, '5d46e0c4-438a-4133-b984-5adb9adb43f2', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (37, 1795689527714603, '22e10a50-c4b2-44df-b202-124fa8641b3d', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795689527725719, '47f2ca86-1dff-4544-9fab-a28abd0dcecc', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795689527734300, '920ad1d3-c395-443a-94ba-5c47be845284', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795689527743532, 'a6b5c10c-5c9a-40d2-8014-3c89b13b0855', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('5f344b9d-86bd-4583-9332-69e3b6e62ea2', 'signing', 'vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2', 'vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2+4d3e4677+AcOdapNMiwmNG1ImjtRWyAir35XbQB1dM5vS1XDdlukG', 30, 0, '', 1795689527647775, 0, 'gAAAAABrCAw3hqNTBnKIbRzt32V-EsRYejcE1QtkfM2cH9FAWUa44hKvMRJ5fPqk_FpzVlMRDi7CPWRtcXiTQ0pehanunYJcLJrQCaDAOTWwrepLI7U_60DFmNTI2KmkbXTkOTro53PiPdKZt0HdZv_ZGKZeUecyC4weXsS1BemOn3ZcxgOpK5aRKXCKm5g5R5QnzT1Ao5fLmOHq66M-g5eTaWVbW8WmzdFh29XlNCob8QQ1V9fI9qgLBsxhCGmim2mgwS4qIYzRTsWxoOWOXoL7FKx4MyytUhlh_p8zwZoZJcOCiEfcRsP2O2J7nhGNA-NPCwcanIngZCDFiECd8d8s47MahBW-_YMF7Ky-Qp0tf59DOtnboMuXC218878FPUQvT4Cd0BuZ6EXlMEme-7nvVOaqCGVtqKerxbOFAPCAnrzAvJvxhblNQZKrlvIYFIA7Of989c8wvcnnAt_vWItWsnBxgBuMiA==', 'keydir', '5f344b9d-86bd-4583-9332-69e3b6e62ea2.1.6d0e7f25fcd3d742528e43e9a81b7100');
INSERT INTO audit_tiles VALUES (0, 0, X'9E90532333D8145CA837C52117D254307D31280BD809CEABC4AADA99F60E476D2161CB3021A351EB80F16B375A8626997248A4BA94713338BE1F71EE0E55C6DB3FABAA9FDB57C5DF8D354DA2A249B147C1074C0A23FA3A9FD7407626E2DFBB07F6ACFE22CE2A32330122C317821E700B2A3F16653DAC667A17ABF36304C79D61A8C1EEB1D5EF8BC9FE4A25088E3D64C5CDC7CD4CC6FF2A6F082EB828102ACD6235103F817AB8632E40CD11312BB864746EAB0611E13475A52EBA63C5C33E2CABC72B21384484CFD06E68A824D2A9A691A69980237995910F0D4B9E848249B3469CC4B15877BBF1AF7F51F18AADD6EEE08FB2852951FD209AC3A8214F431EEE0E8114B402B2631B83721813A709BDCF2151F89A65D8F1B93209EC42D151B8D43C6CBFE67942AF8F2DEC771F9557EA06C4605E403099D4E4B4E2F90A4C1880AFDCC21A9BC6D125D133AB0979641A1274B34CB466E8C1FE7E96EBC16B2B907A5E8DFFBE66711E97F94C7A62BB67D974861FD843A32ED8ADC33A3BFAEFE9D8AB0EA2B7EF8BC2F26823E1C6F243A681433510C5CDCFB47965617CBF0F327E0095ECCF3CF003E5C0CF51AAFC6C4ABB55632EA9BC363394D3D68BFC46F8BEA136FAA9EA662C6869BED3DACEF1183B843E24D08183560C3948AD4F36916210059624F32B590CB81F6553BAEC4D898140703A89EF3B4098AC58D9FE737FD98D00DB5518E38FC55002CBC1B4EFB4E06CB3D2D6C21C5EB1F293B3F4E91089366F4DE87BB34158B23D39D984CD4DA67AF5B0412A9D15DB2F5C62269D3CF8C6DAD6FFBF6617B28F27594DF0BD0CAEB9E8E183929293DD95A5817FCD3AB5BF24FE8E33BD553661150794E1C97F6BA4D2F542006C575E063286ED738306DA8A7407152C1DBA7567246DA8DDAB79B19D0389EC16E4BC844059B94A91C96A3EDCC90297B1B5278C103B121A275C833972ED1AEB3A3BAC07490E2BF81134C35954CB46D649C0FEDD2EBC4AA3973F3858473CE348BE85513861129216EA690CD54DF4AF53CD5707F473F2692E750BD836B9DD5D612B21E3495F91D171EBD874270F6B63FAA4C63F3BE7EA4C8D7345E611BDE3E1D87A9276D891A34C966DB0FA3D5DF95161C75CF61EFFC386B076A2DAB8402F77EBE4A2FFD0E8E6D34561B389497392268C98FCBF9BD193F8F253B05CE4EF2A294B0B41FC981C990B9E2B1BAE5BFAD6903888AA633335556673E3429F61B85E548CA241C43F5BF438D41FD017D42E007D2023AEBDBB653DF48350A15C97BD021B250167E0F4CEEBA3BB999314DE574288CE6326430D4EC1907217D4308504040F464F526F9BD2807D9C5803146F77FEE3124791ACEB077CAF90CB78EB9E31C34A1FD2DFCF7FC462A372B9586325FAA89AD4754926BB02490E79675BBC1B9B5408276BF02B70E2D83C13A562525409B76EB620BEDE5C1446728A84884631847C74D08D4FDE7C7636D421EDEDEB802EAD65B526C540EF3DABF3209DECE228D45B5AC97121144B9A00CFF8F5BE5AF3AE7C59A7D4BED2975FF54C1A2363F3385AEE769B3EC38C61B5D8B3084B57112585A0A6761C28A9D777FAD4312DC9C8386B61704B0D3EEE96A9DB502709D0DAC1EC35379E824EE04B019C3D90D80E8F729AECB52E0075978C6639388123EBE23F433C9ADE4776646BA95F3FD064D92D674B0613598F07C2CBA7E7B743F5C0CC39408A349072F0E686B57810B4851000FA6A3B5496DD8CE359DAA8D503F0982CEED0C46B4AAA3D822FFFF4BA6EDF5BC3B62FA536C83B81DC271D48C1392F5EC282AA2F30B76F8E925ABF');
INSERT INTO audit_tree VALUES (1, 40, X'028C967616D278280B5B314F99677994ABD9ECD52E9849D7AF414DC513D51D15');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('8a109041-af24-43ba-a522-415b08d24a77', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 292660229137, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('8a109041-af24-43ba-a522-415b08d24a77', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 528756940401, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, 1795689529434222);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, 1795689529431985);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, 1795689529427701);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, 1795689529432483);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, 1795689529433763);
INSERT INTO jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, 1795689529430464);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, 1795689529433918);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, 1795689529433275);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, 1795689529428412);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, 1795689529430646);
INSERT INTO jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, 1795689529430940);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, 1795689529428087);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, 1795689529432161);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, 1795689529431654);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, 1795689529432953);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, 1795689529430793);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, 1795689529432801);
INSERT INTO jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 0, 0, 1795689529432647);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, 1795689529432324);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, 1795689529433441);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, 1795689529429722);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, 1795689529433601);
INSERT INTO jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, 1795689529431087);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, 1795689529433116);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, 1795689529434073);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', '8a109041-af24-43ba-a522-415b08d24a77', 1);
INSERT INTO leases VALUES ('3fc766e4-6b72-421f-9dac-b690c33c5794', '8a109041-af24-43ba-a522-415b08d24a77', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795689527514818, 1795732727514818, 0, 0, 1, 1, 'lease-3fc766e4-6b72-421f-9dac-b690c33c5794', '27035619-1c0e-4951-b9d9-8791a4cbe193', 'ab95fc6c0cd3b869a9812e6458afb0822a84e2b7c6302c85f0ede1042ed9765f', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 292660229137, '', '[]', '["admin"]', '', 'dave', 0, 0, '', 'rest', '', 1795689527536572, 1795732727000000, 1795732727000000, 10000000, 'bearerToken', '6b196b3e-8ed9-4068-a887-1b7f7a111ba9', 'JTI=2529e778-c74a-4947-a1c4-040f3ecf86d8', '8a109041-af24-43ba-a522-415b08d24a77.1.647f7191647d42dac714319ea419fa04', 'gAAAAABrCAw3TWr4m_x7ugPX3RE4T3h7HPX-heGI6RGUWoUoG985dXG172g0hgwhxI2oSJAV0d9yMulS-abHaoSkqZCjbkD3qvVS2Z2LkpMZcDGSZV1JmpZ9ncq6u49iiG_dPtw3dX4KMTQy57q_LffYGSCdzHoxcyZgEfIpnyIdYGTh91KCELyy0x77_F8cppUInN-qc4A_5FVFrXPCNgPJ3Gk2jtk6W-6WkHZyjivEIDktbxNdzczCfQQnuXaGKjWBj1un-221lHdb96GV6Y0l4tcuybLwpLDQ5hyacHr13o7SYHT5jRTbvcV3g0WXErqQaBPgOnMnC0-McvlX8D8jZR9wbe6Jdb3QIulFdyZgizcQONBJEwJ00jYj1mQeOefvr9BdoFxZeHP2HaIW_n5x57f-OwOFOxdyDMFmwJX87ndhNOcly5iLZ_94nKEyu6frOjyBxG53CSQbDUKwanoENAU2L2AGzBnPVIsULouI4gxYPa4bYmGrNGMt9YWat3RL7tVs2Wtrjv6H4Jih9wAODGC8cSNRMn3JcC57HO6BcbH8_Mxke0Zf3q-A0pl_cf2tJyCgkzjtiSrYWSZvLzByihgtLSKYJldV3A1agr70FugDx3FGKdey7SW5WZWv7hXzgBWvtmWPFJT8YYs9644ihMqRO3_6DUgYnhtXw0KizbzZQ4aLP5zt1WTJX6_FEbShQq2eg50D0ifIY5v3XI2Bm8nBmJmKrMXLpEZQLnB9bxKgl1FbKSko5NYaDlgWul9Ow2OsnvwWdu99Cyonf_rXx3bDtPe-fEKlb-doN7BY6hDiLFQ92q4FmRnwGkJHEklmBWsag_D1soTtjL4-3t_L6XM7r5EXqy-4Di7raLlOK4yxF2IvgR130VxgVUV9uxk2Yg4hbBw7QzPIu0K11mmvfUoVjxhyubD_mYhEG_3ElG0BjL8-asJZk_wnb67C1rYKtmwIcq2GJSvjDVkaIODhfdvawY5dFdLMsNRHNY-xITaBBzuqBz-Yab4t9gBk8cl71JAWYYakHpLNrb10brfKRBCBfe0HxU_VVOn1b6UOZ1f8NcFDs7_o4ppwCLpRbaN00qun2blFt3HxtfEP3f9hHBMJIkA-BXYMHwW0g9WxJnDRDdBetc0BF7DP5M1VUpzdekQtVWUZIQ_MC_knEVzHBb6rxeueVqB5O2_XZHOGmXIA0s47SyqeGixJiAvoUyK9rg9i9jkf', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO leases VALUES ('0e3b904d-9876-4673-af7b-0aa2b389f905', '8a109041-af24-43ba-a522-415b08d24a77', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795689527547558, 1795732727547558, 0, 0, 1, 1, 'lease-0e3b904d-9876-4673-af7b-0aa2b389f905', '76dc7b81-7b2a-4011-bd50-4fcea1e6283d', '597924ea5e0ff71ce1e2141a942bf2165969bd1177990601bafaecb21890c78c', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 528756940401, '', '[]', '["admin"]', '', '', 0, 0, '', 'rest', '', 1795689527562853, 1795693127000000, 1795693127000000, 10000000, 'bearerToken', 'a3ee7b26-e39f-4134-9e16-8f7c02a4f402', 'JTI=5f375a89-4c17-487f-bd0d-a03d38b14b67', '8a109041-af24-43ba-a522-415b08d24a77.1.647f7191647d42dac714319ea419fa04', 'gAAAAABrCAw3EQ7iltQiWbqt5VnO3r7bzz9NhVZ1LBqcMsZ0SBvCNxEnUjuF2C3x-_AgYV6HaU2fN4YrePK37Sg1n6AtoNIgX1R53CrUTRFsuEko6j9GDO6unor_0pcMEdbg3Tu_I7QS-XbsljfJZFFFNQmWmVttWJGsfNuJdvPCuqNIoejLVacWW98KpNPoI4tduwXxkBHTfPoWU39LkQh5bBrhDx8lTUbAdLCp8xT4WibnnLyrBuOaewaJyFs4ahIWEWvMtOfWO9-tqYs_dkAx8mzLTlsqKlScpXac-grSCPrFV45kSFuufpdE24ms4x3v4ODohvBil1sLfXTGoeqM34GJoL8wrAMtjoOhvqwySsjxTTmxEtvp4aE4h_ehtIu30p_fSjTra9WoeEu6eypWe2zpMNEEITwidDciT61k8ruc1dO2tnY7xq87eYyNiqZMY4RerEne6JtO25gEDAAyQR7aLUEVNslKlFT2yBf5CSxrP1VzaUIe2MYPmZzL9ISrsQdMnbUx1XfdSmmTiiQ3nIPWe5znN-qEVMj0DxoHActEzWWPyrdhEqBBT8wlbcKKNDg20dzo2OLdKV7uyY9TTXefiyjwRT2q0jOpx21bXk18oK9bU2NavYnuttse_eyCFeJthRbEOUkSROr7fvqrjLQp2Jflrl8HidIyL4arAAu_LPn4XZLWRDpqlnbusqZoS4vCLuLmnmZ2HgcZBNEQzbqbdqqWzjBSLOl8-4jzpxXkhmwyttYuofbrYvocBGki8PzfkDe1B6H0GdomCnUpfGhF8RHoYI74p9DjEuXE4HdDeiUlBw4H9Ul8HCEvSlSwlGac_74_XgyZmEp_KnKHJ7hPtkjqnH2PEm6FBOBj49JBXPPFav17o_SZZXqDZNtXK7kt2bG5_6tDEKVZNmOACiMlZrBoIuaojJWLSoqTn0b_PWwwF0OYFd_w5bNpFp27eckdOm5Rh-TOp_wpR_MB3PR8Y8UPOccIdMpXGIUCMfkpB_pwL2K7expv66JzZBpeRsshcncc71rsG7SGrERKd-pIsmG9ygji62s_eR0TYW8zCe6mRBpXe5xYdYxG2B62SG2DQXFc-IMBVDo-1DLEdP6u4ovejWCQS-BSiL5LukoKB3ub7mqW_uwFCCX96m9a1KmnMKLql-paEjY9ux6zKde_TzJD8E8Wp6T2fWn_k66eVYb-odIQrqB29-bJnCrR9D8kek-e', 0, 4, 1795689527670936, 1795689529670936, 0, 'revoked', 'requested', '', 0);
INSERT INTO oauth_clients VALUES ('84678845-38de-403f-b319-e2ca0bea07ff', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', 'b3b3c5d9b11d8696180b2f94541e7a9a81f9bcca5a73b09a0d2c8c2f215fc52a', '', 0, 1795689527573114, 0, 'admin', 1795689527573114, 1795689527573114, 1);
INSERT INTO probe VALUES (1, 1795689527429804);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', '7596048c740d0d0f36e05683d5a4933175c3cff88bc8ff14bcc9ba1fd30880b4', 1795689527391587);
INSERT INTO token_uses VALUES ('93e5c85a645a', 1795689527768157);
INSERT INTO vim_generations VALUES ('8a109041-af24-43ba-a522-415b08d24a77', 1, 'https://127.0.0.1:34155', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAJNFicShXir4fKOFoH63UjAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMzg0N1oXDTM2MTEyNjEwMzg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNoL
Kf32tgx/OmAWfoppbu5S6YsNIGJDiBNi/a2oH010qMo7tuWFGCqRiBhtCZa82jqS
gJFT3X16g8Ho1jtJJrejQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBSyecVyKnF4vcAxSfRhat46N3GIZzAKBggqhkjOPQQDAgNI
ADBFAiEAmdg3cwgLG04cbf5I/mQhnyTTK5HTTDsg+rFUWlL8a8cCIFcHA641CXSG
DQSH7EdMMppXRrO76x+zMInkVQXAxpoF
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '24aac597-a71c-49f6-bc15-a547b6f4e07e', '', 'bearerToken', 0, 'gAAAAABrCAw33jO5O1dl5XkS2M9t1sfdeydnoLl8P--693lFnFMBd08POYCXAK67pfHT1sEFr5lk5KQC9b1XnD9gZiGRCtg8TY_EuSjXjFGj7walcGj1-MVYKgHm-C9HFfRKnGErjqwlFUmHnkbyLu_oEQeo8qefbrYxpu80RH1iuQH6DG_y0Qx01s1w1X8Vqg8E0ueRRTLiWgF69OFl3uclwW8uJW-Wxnh0yQKVxnYDfHCxQWZ1W9NYn2TtVFK3qXyF5gxKg7Dy1AQ83TSZ1-E49px3NhpXeu-62xoE-_Qwdux636JFmpl7lxQtMhcbakPrF7r2R9k2W39SmlWtXiMbsWSQat089uo7AD7mU7q5RVl9PEWmWKPsHyx_7_aEaXrfOwunZU24GrSxGlHG1L-MSaxULOGcOQLMQh4AaG0GKgueAbI482SFTvebVTmLwxh-auBuAaGGvfvnruyEuEPFFydqX4wwFs8lyce9QwsuACnSLx07VBexLEtKbxBpYTxdrDmmpWj1_oppehoGXOLAtL1jiXYCs49wI3zta-c94HcBJ6Kw0VXo62lYuDabB8rz0VDhTye31-Vbr-VzamJ0A9FjHCfsaANyS3JZfQehvtZ5KnnuT12hHnhK5_p7vQbYgxxeWKVmIG4pNAFJ1oIt8csyTWPMsNFELgwPaPbaDmPJlqX74W_FXtBLhdpXj23sYx-JqsNgi0x3lJdVCgy-4mabu_HAFhsiiEzS_PRQxiYAhMUpUgx6aQNHELtcJmbWCde8xKNwLvmTLSYRGmEvZXL40MEAnLRafv-n-2F4BpNo0dq8pfafsJFZH-3eEZ8Zv1fVWkflP-TN4vLlRsaBtns5S-svQqrMzvXFtK4QpRMK1tN0ozu8syua-NAhl2tCQMyRKqYQceL9OD_R-YI5hA82bzQvJS2_QQuP0ij2G3fwSQ1jN47HXZCHO9WSdfjnWPsmLAR83679w7WA9RrH29r5SmBvOW6T1EHDG7HmWuC1L80GqpqXlpeWly2hOvCn8pd9qPuqlXrofKS4mr7ajWxRHu_go2FFc2oDg33Epnl0siBv1bjy_ukCxNJqnTJGD3p9U_HB', 'current', '8a109041-af24-43ba-a522-415b08d24a77.1.647f7191647d42dac714319ea419fa04', 'keydir');
INSERT INTO vim_generations VALUES ('bf31bdf5-6698-4275-b108-cd4d862f45bf', 1, 'https://127.0.0.1:34155', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAJNFicShXir4fKOFoH63UjAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMzg0N1oXDTM2MTEyNjEwMzg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNoL
Kf32tgx/OmAWfoppbu5S6YsNIGJDiBNi/a2oH010qMo7tuWFGCqRiBhtCZa82jqS
gJFT3X16g8Ho1jtJJrejQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBSyecVyKnF4vcAxSfRhat46N3GIZzAKBggqhkjOPQQDAgNI
ADBFAiEAmdg3cwgLG04cbf5I/mQhnyTTK5HTTDsg+rFUWlL8a8cCIFcHA641CXSG
DQSH7EdMMppXRrO76x+zMInkVQXAxpoF
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '24aac597-a71c-49f6-bc15-a547b6f4e07e', '', 'bearerToken', 0, 'gAAAAABrCAw39eKK0ctSXyFZAz_uyG_ViYrxHZsOnuVC4wY_6Erc18jg38zqRic7Co_FiVkZDRAKNYACI6warwiX3irDcwvDwWTUuPc2d1ucp-n-zyJ3XPkpoyQNb2o49NCcTNwzaoqCzSAM1wdVkWpJzQbV__POMZmXiMTcuwIpphcZxVorWhpuAwcJl_Z7BAqIzNJA-hJ25h-LjEas9EfdIxo-aB-87V6RanJezVjZWgOk3ufqESzH0DUUlxU0EiyTcrQ9uADSfbadw7WbhgpacGP9S1OMl5a5yQhQRfzHrYDAsPOyiI-kqyHd5lOWNd_wy-bQNPVtKURTRR3anezS8tEoVAi4jtbs4hMg9A3B22k-Q9Rn_yGvPnpAnHgHLXkw65_GhvdnJdV1KvRWqe_QJy-s_oZqRlfeZ0evHwTPJROQhU7UFNHm3D05vsgvj8emczSS4_y3TWzzHz4u3fxdpcDvAXSr_dYiAGmIicLOSjXySbHtDSvRHyS_6KlMwko9eMrGzzWvFqqfPxac5Gwq1WdLWOQ_qDNyVJHTZSX-cKzf8qi1VzSeglpyBeASvQ9rlTnGz_4zN19ndphV_jUcYftuaOD8EWWbKU9-2cBe35ff1h7tJx5GGYmQNZhs5GC2Xw4aGJ8-x_lCwVlMYEvu4YUsKLBjjn5ERLI4xyhWBAW-UXUpiDtiEfbCxrzM-OfWtJXyTExL4j02fVHX4GOIf-ukWqiMorZKYbqfOZPC9G1U2khcCvSsxUYJiQTszYBuB5TU-YLpDDi17iG5x660PQcMkRaPC7A1QDhZwvJrPO3NzFoUtmE4hDG5KJXIxhhBfoERbmPrRnR9Z-cPC45hjYMYcBIDfgufj4vsXleNsdGpxVj2JUTwM1B9sG3iJvMuUVpnmUkJi5bsZnXjIvaojCMVPL63bDJwLEB9QryNm2bGwwrzCCHMUit6Kb3YU9f1_bEr73YUsLtOYVhUXmvgc3dQYxgx6wv7SkL42gFDqNBTefpZ81EAmHvTsaQzXg8Mjj3P2qYxDqwxrvYc3-WDyyuXOOSb9wtdvBADA35AxulQwDji2pcGkog4jmdL_o0rjjQi4Ucr', 'current', 'bf31bdf5-6698-4275-b108-cd4d862f45bf.1.fc7e38856b9aa7abb66e2e1d298ff3ca', 'keydir');
INSERT INTO vim_labels VALUES ('8a109041-af24-43ba-a522-415b08d24a77', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('8a109041-af24-43ba-a522-415b08d24a77', 'platform', 'edge-1', 'kubernetes', 'admin', 1795689527443015, '', '4ca12413f1ad65ec39f389a5517b695b4dea26680753b471ad79a0996382d5a8', '', '', 0, 0, 'registered', '', 1795689527491699, 4, 1, 0, 0, 'reachable', 1795689527504585, '', 'v1.36.3', 1, '', 'taken', 1795689798930980);
INSERT INTO vims VALUES ('bf31bdf5-6698-4275-b108-cd4d862f45bf', 'platform', 'edge-2', 'kubernetes', 'admin', 1795689527462965, '', '60329202039e1d3f9e71135aa56eacb01a48ad39084d0fd15b83c45cc7cc8048', 'second', '', 0, 0, 'registered', '', 1795689527637860, 4, 1, 0, 0, 'reachable', 1795689527469130, '', 'v1.36.3', 1, '', 'taken', 1795689806514833);
INSERT INTO vnf_instances VALUES ('a1b77831-1ab7-447e-a980-99755333e3d7', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795689527615527, 1, '{"id":"a1b77831-1ab7-447e-a980-99755333e3d7","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T10:38:47.615527Z","shape":{"package":"43713a93-8ae5-41fb-91dd-4cfe27f1b7a8","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('418ffe8a-9e37-474d-b9db-a9290469333c', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'a1b77831-1ab7-447e-a980-99755333e3d7');
INSERT INTO vnf_packages VALUES ('43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'platform', 'enabled', 'web-1.0', '418ffe8a-9e37-474d-b9db-a9290469333c', 1724, 1795689527597812, 1795689527605860, 4, '{"ID":"43713a93-8ae5-41fb-91dd-4cfe27f1b7a8","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"418ffe8a-9e37-474d-b9db-a9290469333c","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T10:38:47.597812Z","UpdatedAt":"2026-11-26T10:38:47.60586Z","OnboardedAt":"2026-11-26T10:38:47.605801Z","TouchedAt":"2026-11-26T10:38:47.60586Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('72308cf9-94b8-4b25-aee7-b2847cc12b6f', 'platform', 'http://127.0.0.1:39461', 'http://127.0.0.1:45587', 'FULL', '{}', '[]', '9f6dd4b9cb24cc0d07624b500fdcd31b865f8f099bea820645f46ede0987e8c2', 'admin', 1795689527625559, 'active', 1795689527626716, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
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
