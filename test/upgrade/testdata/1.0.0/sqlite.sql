-- of 0001_schema.sql, sha256 a2782c054b6165516d3529022c81dec47aab5aca74f7881ac0935e7c5cae3e73
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
    CONSTRAINT lease_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'page')),
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
    CONSTRAINT audit_door_known CHECK (door IN ('', 'rest', 'tacker', 'login', 'grant', 'vnflcm', 'vnfpkgm', 'page'))
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
INSERT INTO audit_checkpoints VALUES (30, X'0A9B6B4E24B9A091CF9F1A67D67E08871F18C10BB60B345EDFD19BF2DF88E6D4', 1795688579672243, '09cc9c0a-a548-4349-9686-375f44f37c71', 'vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71
30
CptrTiS5oJHPnxpn1n4Ihx8YwQu2CzRe39Gb8t+I5tQ=

— vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71 +j6CxxDqYUaQkeHU0eK8t8cO7Pyy96kwNKrUs6kx92+CFuT6Ab4hztda/kL+Kcea7ti6OKlIlqr+PuugQPjLUnUivg4=
');
INSERT INTO audit_entries VALUES (1, 1795688579052020, '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"62e01609efcd71293d52e59c4c8cad948009350633669063e852a0df0748618e","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795688579077721, '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795688579079126, '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.endpoint":"https://127.0.0.1:37019","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795688579091470, '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37019","new.generation":"1","new.identity":"2cd479c9-6beb-4def-9cfa-9366d8ab80ca","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795688579092468, '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795688579123802, 'a06fe7cf-ff89-488c-a81d-fd45b0d9e600', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.endpoint":"https://127.0.0.1:37019","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795688579144414, 'a06fe7cf-ff89-488c-a81d-fd45b0d9e600', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37019","new.generation":"1","new.identity":"2cd479c9-6beb-4def-9cfa-9366d8ab80ca","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795688579170974, '73f81e96-334e-4c82-b4cb-93a45112bb75', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795688579200728, 'a44a2b57-2153-49da-bbc0-7f9ca2910697', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795688579203347, 'a44a2b57-2153-49da-bbc0-7f9ca2910697', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795688579229869, 'd562adbe-8d10-4bd9-90cc-dd790d124c65', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795688579262925, '5a2c4520-f860-4b61-8af2-15733ee69baf', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"8d8c5151-0aa2-4c19-8ffc-9187ec53b79b","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795688579301022, '5a2c4520-f860-4b61-8af2-15733ee69baf', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'done', '{"authenticator":"static","credential-id":"JTI=64852b2b-5f21-408e-9c33-511b47a39a54","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T22:22:59Z","for":"dave","generation":"1","grade":"bounded","lease":"8d8c5151-0aa2-4c19-8ffc-9187ec53b79b","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795688579338765, '5d062556-1f26-4699-bfdf-dcf3a1a8022a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795688579392322, '5d062556-1f26-4699-bfdf-dcf3a1a8022a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'done', '{"authenticator":"static","credential-id":"JTI=452746cc-e844-475f-8dc5-672cf17388b5","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T11:22:59Z","generation":"1","grade":"bounded","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795688579421827, '3e1d293b-1779-4bad-a0d6-c455c4c05a23', 'rest', 'admin', 'platform', 'client:create', 'Client', '2055c5ec-b5fe-4ca0-b33d-f5d6323591ae', 'done', '{"authenticator":"static","client":"2055c5ec-b5fe-4ca0-b33d-f5d6323591ae","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795688579492060, 'b4552b8e-f1af-4067-afa7-3527431231a1', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"20ff7f64-43fe-470a-9ed5-6607764172c2","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795688579504353, '6bbc0669-4e1b-4141-b7aa-48ed302625ee', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795688579512434, '6bbc0669-4e1b-4141-b7aa-48ed302625ee', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795688579519658, '6bbc0669-4e1b-4141-b7aa-48ed302625ee', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795688579529498, 'eb60b3a7-9988-481e-865f-3fa996ae2ca8', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795688579549083, '0ec25481-5653-496a-b617-77c88f4345d9', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795688579549974, '0ec25481-5653-496a-b617-77c88f4345d9', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"748f8f5d-3300-4546-b111-6985ef866e10","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795688579600453, '2b7e342f-cca4-41f3-b6a4-6b6583cd782a', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"7022891a-c2af-487e-8474-b20b61d3ea1c"}');
INSERT INTO audit_entries VALUES (25, 1795688579601746, '2b7e342f-cca4-41f3-b6a4-6b6583cd782a', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"7022891a-c2af-487e-8474-b20b61d3ea1c"}');
INSERT INTO audit_entries VALUES (26, 1795688579602917, '4e602edc-8a07-4bd0-ac50-f418612d3d69', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '7022891a-c2af-487e-8474-b20b61d3ea1c', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795688579627413, 'ae088879-d452-4a5a-b582-f587c5043b9c', 'rest', 'admin', 'platform', 'vim:show', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795688579629600, 'e97d31aa-cc42-4735-9096-3435c213d306', 'rest', 'admin', 'platform', 'vim:share', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795688579630022, 'e97d31aa-cc42-4735-9096-3435c213d306', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795688579654427, '2f93c4d8-c610-41c8-8f6b-211f996b38dd', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"09cc9c0a-a548-4349-9686-375f44f37c71","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795688579672250, '2f93c4d8-c610-41c8-8f6b-211f996b38dd', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"09cc9c0a-a548-4349-9686-375f44f37c71","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795688579701578, '4a718e1d-bca8-476c-b105-406791dcb7ce', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795688579724805, '61a03d7b-22f0-4d0d-b28b-3222a5f533d4', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '19734b13-8144-4c06-8c64-f64a7b7a4ac6', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (34, 1795688579727514, '61a03d7b-22f0-4d0d-b28b-3222a5f533d4', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '19734b13-8144-4c06-8c64-f64a7b7a4ac6', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (35, 1795688579756080, '97920124-714d-4f98-8ffc-1e45b1cbf3b2', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (36, 1795688579758908, '6647103f-4dac-44da-ae83-9716257d163a', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (37, 1795688579862142, '267f003d-8168-4f6a-bcf1-2794a05f290f', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795688579904621, 'b1646ac6-3c4b-4cc2-a190-ec13e9a3debc', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795688579923447, '84fe10ef-d2e4-46d6-af6e-c0f352b1e767', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795688579953148, '926c3159-14d8-49d3-90ef-c5c94720b0d7', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('09cc9c0a-a548-4349-9686-375f44f37c71', 'signing', 'vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71', 'vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71+fa3e82c7+AQWic/twHtxIEaOPy9v86Q4iX7E3u3SISJ292XwLnI+X', 30, 0, '', 1795688579654426, 0, 'gAAAAABrCAiDnImyTDvxWxeeDt3KtqSU9bIdtXdrqegz5TWbtPCzZE0MpGVddKi_df9ugw-J370MRwLVhHVI9XA9vMlsvycc6FOhTZoSq61LDDfQwNGaoaAxGLO38Ybb5geX9QxqcwLFBuETm2M1fehvY0dySMdGnZH_myObh6ozRtZJh3xrgPI_Ihgehy9ORrwfWabPKNS5V5aajQKEhh83OjGOTJUuYV6CQn9mCvLJzv0R_ouBDAxqPEMjVQp9SoAd9txRRgk63SaRRohPNKJB-Aa57ud3liNcjXYfd7voe22J_lHqPRfPDJpdvJDl2VKZv2-ZBOga2_pDysBz-mtADr0J8dAkNHsBJWdPlgjvUoE9gNL8CCxCUGpHzzy8j6Q-eMXC9NN_LAkqklz2O4u40Pf5ygrjZvJGFXEPS_KjWM0O3iUxMBDZivVjDwp5S4YfyCKw9WRH34d2rSuSRLz6O7NdzrOqjg==', 'keydir', '09cc9c0a-a548-4349-9686-375f44f37c71.1.0f746267c34593fd80a78ef30213e39e');
INSERT INTO audit_tiles VALUES (0, 0, X'5DD298F2060F5559924B4891AF010052A796E620E94341897E845050225D37245DE71E2BD4D5C142806FBF191A8CC1EAB44398E18E5CBA174369A3B7AB58DEB6785506F11A8B002DC52093E992280D6AD601D11777224DCB840E56CFF34C6CA60392CB57FD26B7661422E1D47F8569726B0175E1D46AF88D88C909ABF2CCCDCC49DE37A6D82A4953513232FDAAF2506D1E4BC1CC55E48D39603D088C66263F1FB789E7AB607AD21CDFAB868B82193234C1AFF8324754217FD9A58B4CFEA9704143E55BCF5ECB9A29B1D66B272D7380A832F5DC1D73FD700C513F8DE5571F654501921C53FCF06BEBB3E6010DF52E5B1111A4F7CBA39B18EDEEAE4F23457A6672529D8EB5B47F6B4C84606BA824F767ECC95478F9D41ED0DA64CD0A85667C670C913E72C1F85235469577951C04715AC6981A4843000A6AF0DD14F3BF264B94B07B310EF2356DBEF25097FB25F43B9126F4AD6F6A571E4494138BC93E96C2BAF0AFAFF687D868787BF87DE139296E213F990644FEE65D89BF2874A7A83EC487D20F36D5ECFF9B5A0BBD31861EC79E86BE8C36F6CB43A4CB0C5AFFEE25B98A512C65F058BA115FA8FC1F3235868E8D233E09C6DFE6A9F751C55A301A1E48A45498F48CBC7BD7AB885FAA74B963A368823A0AA330DFA8E21C69CB1667F254AD2E2E3B01E386DD33E875A6A95E6AAB07733ACF181A8488AE836788BDB5A3D5EAEFB0E72DBEA5E31D7A5AC5FBE9353E297C2D85C11F75A3E59764F182DAF986952CD11CF436F6F468A9F77082D9922338C6DE76FB2AE7F22CA179856EA97B56F20CB419CFBAA2AD8175F573E118A230DB2D37C3CC0E305C2E97A09F08E7EAF9D85E6069A0AEE38231DABE0F1A3EA7C75DA71D5DD3D1EC3AB82CCEE5D9DA8556481DAEE0D61D306E21F533136E4EE6BB70B553931A86C8CE9470A1EAED87BBDD880D8460937A63F1A1768425CA009605D0A018CD6746E609035967C295CF752BD632A4E3BE70146553E5D2F453311319C3BD781F41C776F0715FDFB23321EBB30F56EC0EB72169DA8E2E668C027AAA41B05524FD6B1412D600143CFD711485A546AAFEDAC3C7E5FFF565E14553B42794E172A35369193154A7DA3DCEF6C4C998359ED611F28E215C76CA414D5693359EB1EF35B1AC1338A932C811731378BCD7BBC41FDAD3B7B2C4ECB90A346860DF891C1181EA0CB9723CB5443B7CBB6B56AC6B971BA2A3E019A01D0125AE510A711F08DE6BF6A6BDBF8E1AC1A31F5681E47300C3D710CE419D759E5A4A1A387B7CC31B3DC1F9F3D6EEBD3B51B5D1969EE04AA75872C3F58430A544D0C953A910725AFC0D44B0A6B9D20020B25295962D5D87AA190CF49D75DD9987F3CAA14B53D90E3349513AC8073248E24EB7D951AFD5A515FECEF0FE9ACF5970A6C0D0F42CADC89E5BB00B6E1CD214DF40F2BFD76FE8F2C75D4E2FAB3C10DEC14D092206C25506FC5F906B913EB26CDB28FF45783DFCF40FF1575F3C3D5ECD05E0937BD464F429EAEF083D8AC2218035A773E084DA9F3A38C0E83C5556CF253ACB1D2D807292A2113AEE97DCBFC6CF957C748CEB69B30613A996F172B5EF831050C497C9059BED5176749301B54F8EA721D898E29060A5B07E929CF4F23541F7D2697E3D10F97F2A07EF4E0F21662BF7C5FD1D1799B9B6437AD2C122E6B6ECB46246878360900EDE1928C94981A8E7DD5437805B5FDAE1FC64DA8FDFBC0C0DD90BB90D833B1854AB09A54701758C9FAA8898763AD05C1A174A6334D52AC3D6D869D3807FECB30CE0FBFEA5962372ADCCAE521D42BA96F696F8D3');
INSERT INTO audit_tree VALUES (1, 40, X'E26A33185E0808FCD81FE5A0C026CB004E20934FD1C3207443799C436E5149A8');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 380917842589, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 518529599072, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, 1795688581058312);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, 1795688581055756);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, 1795688581061295);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, 1795688581056361);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, 1795688581060894);
INSERT INTO jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, 1795688581056899);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, 1795688581053681);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, 1795688581055995);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, 1795688581056670);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, 1795688581064605);
INSERT INTO jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, 1795688581061914);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, 1795688581053326);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, 1795688581052989);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, 1795688581053844);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, 1795688581064416);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, 1795688581061581);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, 1795688581064177);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, 1795688581060492);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, 1795688581056179);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, 1795688581053506);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, 1795688581058597);
INSERT INTO jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, 1795688581058818);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, 1795688581058010);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, 1795688581057676);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 1);
INSERT INTO leases VALUES ('8d8c5151-0aa2-4c19-8ffc-9187ec53b79b', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795688579261221, 1795731779261221, 0, 0, 1, 1, 'lease-8d8c5151-0aa2-4c19-8ffc-9187ec53b79b', '70d9c17e-2c94-4aaf-bdf0-bdaaeaa39b41', '9dfcae84db3317e822b44b44e920698e2374dd0b3128579d5e93d299720d707f', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 380917842589, '', '[]', '["admin"]', '', 'dave', 0, 0, '', 'rest', '', 1795688579301255, 1795731779000000, 1795731779000000, 10000000, 'bearerToken', '3bf5d993-4fb1-41a4-a370-29a02ca19155', 'JTI=64852b2b-5f21-408e-9c33-511b47a39a54', '16f9bbe2-40d2-419d-a38f-8a7678e991b0.1.09c6180263649a8d4fe547b6774ec2bc', 'gAAAAABrCAiDeK1DWAVU-s_CGnyX9Zwal19FDZAQQl39ZQnig0MZ9Zg1Z3SlFU3216oP52paVHv4uOTDPQoAiUG_sRsSPig2F3evQJWZGNQUKc_pwauo5Njmob2evWhYZm_cDmo816gVBCSh3r5wnUBc_WfRRqJ4mkIrJU5KvjP4V3CxNP_Q3AmhIR8tjI4fb48i8bNZqg7ryrOlJQfI2zwC5BY6ztCA7SbWDJ66lyL2gWozoYv3BaGkVIx8CJNiYM9v9_0IaRpow9MsUxLJ1uGZkyOEOiy06jZlwLrMmtKzF3m4EBKziWm68NM0h6X_YYgb3Jlj5esiuCFYg7iZMLk8QzODHG_52j8EW2q3ilVGpMAVKfR8P3ynLJKU_Cx1eBfYK3C7CU69i0UHV5CKYmmjW19X5Fjz1lEEiU6-LCjryLk-aH0tMOr2yyWeFG4h43jAPRM8EdlxXfEObUVJkV8Sk38ha64CfOtYKwHhexMTbmOzAecKke9ZgIvPT782lMj8IDuy0Co4kEW0dSdltfGIPwuhsXOUc9N0l20JWLPxjNd9Dr_TFp4mgaUyE56SqQyRTPkLvjsXuHgIJyntvpqTcW_CwYu4RmpNKudKJLVuXFCUsaT39NncGwxVNpUv9KqSXMNBuH3VcWOmavlTLlEveErG8MpicpP8XR-lK5amLkNR9vWUmpae6AXp9QK40_l8rPfBETtklEOidmOtkv4K8ND_8NmVrw0eKYCX_74UETz8I2Do7JH-LRRfj-4Hv8aCkICbLm_xerjbyigmlhanuiOhnh8N-mfggvv4TU6jLQrj876EzE3z36jNoK19fQdqcLQKqxWSMINDUTcAAk-n_p3x19Y6WKkaYPu2RENUFQDc91dgdcM7ETuBqc6YU2B3W4BFqiNJHc5h6PBqLweTEVUvPRr9bOapOP6BpvLVU_z7qQNQZbgWBte6eykd1O9oUtkxf12Rge3cswiiqu9s8hxCpx-Y5tZBVoRFaYqqfOAM_rpOV1uj8CAUQNQsSb_7Wf15vgQOeVa01lK-g-E-9WGW3hRYxvYMt3D05eDb2uLtDH00evAygw8AXSauqBXTLy9Ws8grNxDcwVRrfGgvgapBZj9nEOSgdCPaQ4u1UizjZfzyWGRimD1R5EhJlX4zjkCitKTkXZUw6CxA2PToU8MxptcLFiqhiRyo8OngN3aVXR179zfcdVHqECfLpe2FRPTLqBtl', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO leases VALUES ('19734b13-8144-4c06-8c64-f64a7b7a4ac6', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795688579337695, 1795731779337695, 0, 0, 1, 1, 'lease-19734b13-8144-4c06-8c64-f64a7b7a4ac6', '28a6e0e9-cc3e-4d21-bf39-1a986b3d7a2f', '9b55e56f1cda9610407fa15ed5f8418cf226801edf98c2266483dc08f2140e30', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 518529599072, '', '[]', '["admin"]', '', '', 0, 0, '', 'rest', '', 1795688579392641, 1795692179000000, 1795692179000000, 10000000, 'bearerToken', 'fa7f82b9-3c7f-4e7c-9495-3f7c211ac9f9', 'JTI=452746cc-e844-475f-8dc5-672cf17388b5', '16f9bbe2-40d2-419d-a38f-8a7678e991b0.1.09c6180263649a8d4fe547b6774ec2bc', 'gAAAAABrCAiDaEUv1KKczeOEAz9dl9rooyasXYzWtFlTTFzZ1jvyEqSBc111NXlbN3gTBbApfIxh0_c_yWgSrCiK5BeCAEfqOIgCe_TxBgoWvnQyphtiM4Zfuh3d6gvchCBL0bfWPdAZe0duHqSFitFlsE3k5RrYUR7S-AEA9DsnJzHcCSuNWWvBPKCQ7M88yddLuGALwGD9plLqZB-rQ0pHhoXFmvUlFDBMK5Hgo7eiMkG5b5gVoFxFvqMzISiy7G058FpIBL1ft5NiqQy0sfdSOYoWqa2igBPEaHMeesB3dGdQ5ax_f_DQpzsyAEA1Or73FOOY2iknf4D_CfreOWwWXmQ9Ghyg-ouSmEVNAnfZPHnB8ZGMIfiaZatHM5C3LoUBaymvqii9M9MkHMilSUzB-w1z6MfUA-tDh2VmGduor3NSJYxZtWmeMqpm_H3Cqnhu98s8rG3-UyQsVbe1UT2TpvYOLElFq5OZnDmg1B9Q_sUgfQYGB5LY5DAIqGkWpj4q6Zz0L3WYCpRrxUOxzQtXDFHdjafdPZM45F-af8esjBjyLT7e6NQz6pyKkBrY45uN5ECOoH7AUKdnIR7puFAl7XtwQJDfGWPKxxEIvVQvdWaR0wsH1gavOPOHt-8oxKdQnvq8QlulaCQMS1hPtEZAsDem2JYYrThuSULLh22UDlx6akd0gvC7DteXujvvbBIaUm3xXN5OZlY5-GHkZjyylmSzh_Nd08ZE7a-BhtsJcKMqdCzVvIW1jk2FYwMFyAGZgQ07YozZ0--v5Svxh0Srp1reNzP8G6f9G4Fc7zm91NDfwt2a88sOtXHdk5QkF1Kc6tzjujm8enan-TLGC1odPwtls9HURJyzRB2bttYO5gHiqUjnUI-PvlqI8AoLtYQkS5HKmRGuun782Z6fPkvOr5KowN9sUmICQKOy1h1OxAaEhE0WPYWTxlygGluh5bit5XIQEn1uh34CNQ4xRBsrxwbvvsq2jYA9YagdAn9NLlMx8IennltjiR4fKplqLoeclLnXUHyWQgrcflJ_UZx1gg3RN9uexZYYGzw8zgmEvzDLAbmj868uPcCj-hyumjk5KZ6g2DoKm7Qytw0eXrJat9vlgo8t9orJWNqw1mr2IPkAh08d5h2JcH-vKJ3oqSCxbVoIW0WxroKTYgpu08FvAF1Rm0eKdmW3TH5ouANNmiDfC6JJvMzCeXQNIUGc882rGYjrvpYO', 0, 4, 1795688579728129, 1795688581728129, 0, 'revoked', 'requested', '', 0);
INSERT INTO oauth_clients VALUES ('2055c5ec-b5fe-4ca0-b33d-f5d6323591ae', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', 'daa1b3a4eabd88da6ca144051283375a6c80e92f91bbd98dbe2aa6e090e4576e', '', 0, 1795688579421728, 0, 'admin', 1795688579421728, 1795688579421728, 1);
INSERT INTO probe VALUES (1, 1795688579057769);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', 'a2782c054b6165516d3529022c81dec47aab5aca74f7881ac0935e7c5cae3e73', 1795688578945298);
INSERT INTO token_uses VALUES ('80474b194e69', 1795688580034259);
INSERT INTO vim_generations VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', 1, 'https://127.0.0.1:37019', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAMEufgK0lbTpMsKuW+TT+TAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMjI1OFoXDTM2MTEyNjEwMjI1OFow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHJE
K7yoZ5kE2fYKdn7/ovIlwNbOSeeJ8AsSxL9OnCQd5nO8shXl3+0Kd/efKmdPC+o0
yRZZgZaEirx7Fm9xSqWjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7Y7RwvFucWXsGEOoK7vbFHSIEJDAKBggqhkjOPQQDAgNI
ADBFAiEA/cXAJ3dTNmyqwH0HoQ1q1XDF0ggRQgwWBBh6eFn6REcCIBAg610qEEmD
/XsnYq++Uez07ULMvWa/yHsJwjFs5vos
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '2cd479c9-6beb-4def-9cfa-9366d8ab80ca', '', 'bearerToken', 0, 'gAAAAABrCAiDju4hlksvcZr9pfuCm8HlR3LzedVY9l0kCapKTnvVPfmLTAEqhUi-_jt2tSw71wCiKTVdhWVLIhXFztq0ZoG_XIYMi6jThn3V9tPz9zlvSimipl9rJY-cL4l8Rg30nMBoQxNeuo7rfciB_ht9Izf9w5cTqsc8vPmq0zPRKrZumLDsLxRstbuNL_OIlXRcUkP_fAVZMgZTO9GvcQe9OTdsr4oLY91hWr5itIUjUKnFchCEscI_IDlr5kyAwXFpHyZ34zUlky4zwMBxDLwr6PWzYhokIleKBgxejNB8N2igvMSqPOiOZ62xEyffwVwUZPitYrNkAqJaH6BsRpRapF_ChSWFr4IE8cXB8r8YjVF1u-RmfvC7csZsQsBnhUbbQ8MyV7ZD5mSBIGPl6S4VoIn39VzZKYlmqof6NNInkbWzi6QiL0PMRjKlu9Dbe4ePsOQUZ6merct-wqpUkHthg6CHMNivV6TXxcLeAznikZt-ApQtZ2JYoZxeQqx2Rn7psaBspQXI7O5_Fkj7xaiLNhe4dD1w-_HLl0k2R6zug0-gM8e5sackmI75bhouc9DlEzGTiJOYcsY6Fii04edQ5b5NhzFpHs-YlOtdbVik0hxGqC1aCllZnxAjoxvrGENqjN2RkObe5SaLH3gdvVEwNs7AeoU_DITs_N96djRk_3OMNYUclxixzfAQ1OO6sUmSWP1o_UgQuBqb6gm2MjyHnnij_kqaY-2ryow_UnQcMYDOFWphayBsP4LJUw1mxpeOZ71K389MUxkmJytOOF503mCWPD1j1K4lfdR8RgbNrw6s-ohgf1nRDHhWhzAcGie2CvaGVm6MINfHfxy8SYWV2V7F4e4z861WWndZPOgV5SGxevgx1NC2mO9cIotRTmvjcC6iUmKOP_H7mZttMwfoPD7a3jlG4oLqaGc6x1o61tasm68O8huh3wmQkQL2kEuvGHhdLgaTgeqewKfoPIQNI8SAN5E7W0LakMm--ErRiKvuG56c1C2AcQ9vtorz2IXixXdrPZkC-DGTC76e3onWPzwLAi3WfSjauwBzZCk5Dfg4dRCzNCCZBqdy8xNGyMlE3uY-', 'current', '16f9bbe2-40d2-419d-a38f-8a7678e991b0.1.09c6180263649a8d4fe547b6774ec2bc', 'keydir');
INSERT INTO vim_generations VALUES ('1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 1, 'https://127.0.0.1:37019', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAMEufgK0lbTpMsKuW+TT+TAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMjI1OFoXDTM2MTEyNjEwMjI1OFow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHJE
K7yoZ5kE2fYKdn7/ovIlwNbOSeeJ8AsSxL9OnCQd5nO8shXl3+0Kd/efKmdPC+o0
yRZZgZaEirx7Fm9xSqWjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7Y7RwvFucWXsGEOoK7vbFHSIEJDAKBggqhkjOPQQDAgNI
ADBFAiEA/cXAJ3dTNmyqwH0HoQ1q1XDF0ggRQgwWBBh6eFn6REcCIBAg610qEEmD
/XsnYq++Uez07ULMvWa/yHsJwjFs5vos
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '2cd479c9-6beb-4def-9cfa-9366d8ab80ca', '', 'bearerToken', 0, 'gAAAAABrCAiDbMXZ9onAsqh19VrkxpFWaJtbmrTvTJf6BQhR8h8Mm69gp20vRb8-shZMe-waFzY33cC16JQOZYRje_Q_-IPkG9x2YFBX7v685nVor0DxL4-985aSaZ-VC8ixx2Hx7gFKuxzE5TTadz1v4GoEzEvxUxm4xv_bby5XqHTZQ2zlG85VaJbyoh9Aj_fHpUA6pHGzLoOfiDREj4C7UFVhWkAnOC7wEZu4px12wT8OqheSud39ZRJN7pyB0-Xzs2rLyFhK_wY4z9LmBxWa_HwYyLQbrQTI-lwELDgFtRrwi0eLEsEfzimX2pp2kvAI09S6haCjf_A5Oul4xjl5mRenOaBknXYDztrtJPqZ7QJsaOIrxCBen_moSjyYHIN8osZl_kecVVTaIbdcc8TXw66qUwj4FceCFVyi5INBRFN-5i36OFmQRaFpix4tnLfYeIe8hX2aTQvy6QdTnSwgG7GPcl3M8JvrdpSSOwib9QqX84PjyzAlOUJ7JhbpBTEnQnwGJtL2kPfysIgtqa0_L0t4W_FhGjNMo8TbwIuabUODo3i2j2qTM7PronWABrAr72BwKxvNgkzVyZsif1NR4SNw8iK_cl5FPJvEbGkozYXt3mKK6PXybefxCnlIBd1NRzo7Iw9BGdHEP6-J0upiVA5lrbrdw57yGehSWgvfmuheX78sJoLYU86uori__gtrBLVXFWg3X4uDvPrttjk7ucTu0uPykcVsgEE_hG0gN1-iA4ZR3CN1v-hS7NsgPVE0q4ChpTj_K64uG_ekd_DElC2p9Q2ufj7srheS1XPXTRZxcy0JvmlOmS7tOfYC-01f1Ir4Dcz8HCLa8AguMfu2ZZO9gtGCKzf14SNMHPtopSG115x4jtAdXulqlJeGdXGvhW0a33iE-dLkLonwwrCZ_UbrhsGswmzrP-lt2Vduyv4W8VKS-Y_GkyUm4HaO8FnoVJyDslF-PxFcP2V3iBTs_nmaTdahlfPL8eY_P9mg-QJeIhuqznHDC4LhS4S4OjcIuTsjmEG4BmKvEN1xuGsTY5j4lpgmaEXuQVqOLCzCf2qkrab9t1fzt8PCkb6dyTnjN76bEL8T', 'current', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7.1.9b5974016760f3a3848093970174fa38', 'keydir');
INSERT INTO vim_labels VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'platform', 'edge-1', 'kubernetes', 'admin', 1795688579079032, '', 'd88c59dd5841cc9fbac04326526dbd8c10262733713c27f04760abe28d7cca1c', '', '', 0, 0, 'registered', '', 1795688579203774, 4, 1, 0, 0, 'reachable', 1795688579237398, '', 'v1.36.3', 1, '', 'taken', 1795688870804229);
INSERT INTO vims VALUES ('1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'platform', 'edge-2', 'kubernetes', 'admin', 1795688579123729, '', 'f29663bd63ae1e996b750fa5394cd11875b8a4fa5e39f4f44e183dab3a46f8a7', 'second', '', 0, 0, 'registered', '', 1795688579630137, 4, 1, 0, 0, 'reachable', 1795688579144639, '', 'v1.36.3', 1, '', 'taken', 1795688862872944);
INSERT INTO vnf_instances VALUES ('748f8f5d-3300-4546-b111-6985ef866e10', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795688579548665, 1, '{"id":"748f8f5d-3300-4546-b111-6985ef866e10","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T10:22:59.548665Z","shape":{"package":"20ff7f64-43fe-470a-9ed5-6607764172c2","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('d6ce2837-aff8-4db3-8ad7-7000ec65d774', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('20ff7f64-43fe-470a-9ed5-6607764172c2', '748f8f5d-3300-4546-b111-6985ef866e10');
INSERT INTO vnf_packages VALUES ('20ff7f64-43fe-470a-9ed5-6607764172c2', 'platform', 'enabled', 'web-1.0', 'd6ce2837-aff8-4db3-8ad7-7000ec65d774', 1724, 1795688579492057, 1795688579527971, 4, '{"ID":"20ff7f64-43fe-470a-9ed5-6607764172c2","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"d6ce2837-aff8-4db3-8ad7-7000ec65d774","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T10:22:59.492057Z","UpdatedAt":"2026-11-26T10:22:59.52797Z","OnboardedAt":"2026-11-26T10:22:59.519654Z","TouchedAt":"2026-11-26T10:22:59.527971Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('7022891a-c2af-487e-8474-b20b61d3ea1c', 'platform', 'http://127.0.0.1:38177', 'http://127.0.0.1:35247', 'FULL', '{}', '[]', '32a9ed90e4a3a4c7721fe5582b04fa993e5a4dd727ddc67cb05077fb2824860e', 'admin', 1795688579600173, 'active', 1795688579601824, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
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
CREATE INDEX job_due ON jobs (kind, due_at) WHERE done < wanted;
CREATE INDEX job_done ON jobs (due_at) WHERE done >= wanted;
