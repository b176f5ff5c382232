-- of 0001_schema.sql, sha256 3add75e9f1a4c083373f333cd0cf11fcbfccdbbc2e5909e320dd6a16e2a40d1b
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
    principal TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    action    TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    resource  TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    detail    TEXT    NOT NULL, -- object of strings
    CONSTRAINT audit_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed'))
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
CREATE TABLE used_tokens (
    id    TEXT    NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
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
INSERT INTO audit_checkpoints VALUES (30, X'6BA55E092697751DF68DEAB490B0247DE8B18B9710C7E671E0EB0B7CA2805DE2', 1795672728753076, '924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd', 'vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd
30
a6VeCSaXdR32jeq0kLAkfeixi5cQx+Zx4OsLfKKAXeI=

— vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd fOx1xTyx7sqrvlP/+5zzyyUhhP8GaoqJDKO4T2YtPq5QggcU4tNNcphPbYunfkk9zSMyfW6l5LkNzaOQ34n7YpVrhg0=
');
INSERT INTO audit_entries VALUES (1, 1795672727975392, '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"07c1fc7d307a1e35fea6745b93884ed18e5a00015e2f9fce74690504d2163a6c","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795672728014573, '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795672728031813, '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.endpoint":"https://127.0.0.1:34941","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795672728099709, '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34941","new.generation":"1","new.identity":"1d52c004-9c3b-4400-a65d-6782ca983ab7","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795672728111752, '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795672728148380, '52c5be73-a34c-4760-8d07-c3722b5dc1fb', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.endpoint":"https://127.0.0.1:34941","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795672728187620, '52c5be73-a34c-4760-8d07-c3722b5dc1fb', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34941","new.generation":"1","new.identity":"1d52c004-9c3b-4400-a65d-6782ca983ab7","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795672728201149, 'f42f1cb8-373f-4139-ae9f-765ab57db1a3', 'admin', 'platform', 'vim:update', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795672728212799, 'baf9afda-0159-4153-a4ac-7bddddc4aa2a', 'admin', 'platform', 'vim:rotate', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795672728228155, 'baf9afda-0159-4153-a4ac-7bddddc4aa2a', 'admin', 'platform', 'vim:rotate', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795672728292051, 'ebef205e-7daf-4887-b868-812e2e12bf50', 'admin', 'platform', 'vim:check', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795672728322809, 'fea32b91-c37c-4f03-b492-2ea2baed0cd9', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795672728345153, 'fea32b91-c37c-4f03-b492-2ea2baed0cd9', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'done', '{"authenticator":"static","credential-id":"JTI=70f9866d-dc37-4303-a694-6c97629983eb","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T17:58:48Z","for":"dave","generation":"1","grade":"bounded","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795672728359645, '24ca117a-9349-48a3-8f86-f0cda03a31ec', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"dc0a38c1-4057-4184-bde1-2cd8e43a9eb4","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795672728411597, '24ca117a-9349-48a3-8f86-f0cda03a31ec', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'done', '{"authenticator":"static","credential-id":"JTI=62943e9e-b744-494f-8dea-320e8698f671","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T06:58:48Z","generation":"1","grade":"bounded","lease":"dc0a38c1-4057-4184-bde1-2cd8e43a9eb4","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795672728495867, 'a579de0f-0b9b-4101-be50-4fb696dd5575', 'admin', 'platform', 'client:create', 'Client', '01e71bdb-1557-4ab4-814d-e1960ea9f0c5', 'done', '{"authenticator":"static","client":"01e71bdb-1557-4ab4-814d-e1960ea9f0c5","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795672728528103, 'e392c0e1-2cc9-4efa-a632-43b966b3958c', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"e8b8c5d4-98bc-4030-8988-e71de2933b55","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795672728529712, 'c6ab633a-d6bd-4305-b807-147c066e5560', 'admin', 'platform', 'package:upload', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795672728535819, 'c6ab633a-d6bd-4305-b807-147c066e5560', 'admin', 'platform', 'package:upload', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795672728545495, 'c6ab633a-d6bd-4305-b807-147c066e5560', 'admin', 'platform', 'package:upload', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795672728552314, '8c550acb-1281-45c6-a671-9c7d9bed7388', 'admin', 'platform', 'package:show', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795672728562725, '37b4d3ab-92ea-45d4-8d2e-82dcef94ff2d', 'admin', 'platform', 'package:use', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795672728563650, '37b4d3ab-92ea-45d4-8d2e-82dcef94ff2d', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"0e7fb3f9-5a74-482e-b795-f3a9a6543b0b","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795672728623636, 'aed68a0e-6edc-47c4-972c-bf09bdf526f6', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f12a71b0-2529-4ad5-ac02-40ef215cbaa9"}');
INSERT INTO audit_entries VALUES (25, 1795672728632522, 'aed68a0e-6edc-47c4-972c-bf09bdf526f6', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f12a71b0-2529-4ad5-ac02-40ef215cbaa9"}');
INSERT INTO audit_entries VALUES (26, 1795672728644448, 'd6145d57-7b6a-449c-8c97-c0a5ebe1e78e', 'admin', 'platform', 'subscription:show', 'Subscription', 'f12a71b0-2529-4ad5-ac02-40ef215cbaa9', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795672728661895, '59fd26bf-f473-460d-88d1-f1e66a38ce7c', 'admin', 'platform', 'vim:show', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795672728664332, '0c6105a0-1830-459d-8850-d46fc946a8e7', 'admin', 'platform', 'vim:share', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795672728664787, '0c6105a0-1830-459d-8850-d46fc946a8e7', 'admin', 'platform', 'vim:update', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795672728682316, '342b4066-67e8-4fe5-96ce-6e7add79c76f', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795672728753081, '342b4066-67e8-4fe5-96ce-6e7add79c76f', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795672728763552, '6e46d016-0608-4c61-8d97-63cff63e554f', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795672728775048, 'a7b77165-52b9-4fd4-9100-7f650edf6b58', 'admin', 'platform', 'lease:revoke', 'Lease', '91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (34, 1795672728778008, 'a7b77165-52b9-4fd4-9100-7f650edf6b58', 'admin', 'platform', 'lease:revoke', 'Lease', '91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (35, 1795672728788459, 'e95e2526-0509-4d51-b6a5-4588e79739ff', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (36, 1795672728790039, '74d25d31-d82c-4c54-99f8-17d25b89f7e1', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (37, 1795672728832276, 'f9d8dd1a-183b-44c5-9b47-95f66d8d3319', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795672728842611, '56868104-f87a-4779-a421-fbec4565597a', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795672728855293, '034a766f-7c33-4f5b-9e3e-f5c348412668', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795672728866153, '2df503a2-72da-45f5-b2a8-d212f86c7696', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd', 'signing', 'vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd', 'vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd+7cec75c5+AcbOGfVxSUHGOJtoLJVLJljh5KryVmQFjkD5moq6eGEm', 30, 0, '', 1795672728682315, 0, 'gAAAAABrB8qYFpQPD8aPkWQjeOsMBjtQOTWBpA2IEHIeR50doQBglmb99ZO3nHPgKH4TjCZpoVh-yNNxecUTZ4Jc3CXEIvTZlZHnR-7PWS1H6V2-nZMqcaPILUqjCnJrhwjhMXE1wluJXZuMsdkMSBVzVO1pDZeZl5OKbBxh56vt82fMGiN7p_2nI8aLB4PYjeyByQyCAUKHgv7GqyljA6HlK313epQ3EDYJwnUgNaNj3VAb3YLmg4AoLOLLy6ODmZHPKVhuPxSxm7P963UjP7s8zxL8o3FktsXhatDOZkPzniCRrvr7RKSkkQx8pi2M7AGswfypMQ0Frl3e28km4hvsy9ZmpaARI4zev-wqJlfRRGhGQPmq__aQIMcftmEZmEUVKaaqfhiXyzO5htcIjBsuCE0UKm7c0JOTzcAwvWqrxis1myeAJmWmxghGORI-x-6wUSWZ6NnaB8m6bcPxQiNxyXQHHq39wg==', 'keydir', '924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd.1.e31731ce4ab5b248828b9e7e45c213d6');
INSERT INTO audit_tiles VALUES (0, 0, X'2922AABC378A6A6D6720092F3787850BDE03B2C721B9D10EB8C632100F433151CACD32DF9386B92C5B7FAFA94F49468CBB6BDF1977F6C0DA6D6594CE80B71363458AA31FDBBB51E9E6358AE71E22EDC52E043CA1E255414AAA287FED66B635FC1C4904871D00368D34B80D2BB3710531F186FD54D97F3D785902DFB1E731C686F73FCE53498F8A5C23DAFC9867E219D2F3C3E4881F356A7A183287A39B70D9653A038CDA9C5065ABF0CE864E2DC12B23648871E879B11F5944B74275B78C47254598C2FD2AE3143CD605DAED55EB2EFC7FA378973565DF31ADCDCCF7F8AC5EDF30A76203955FB992F8E2C8CBAB9E2E364FDCAB651FF95398298EE20D57B3E88BD1AE071699E78F59BD00870B832302571EDB81CE24B63F0430DEF784EC8F027978A3F9903C40665C3BDD75B9FE27C0767D2F3634353C2537ADA7EDDE517D6A383770F6C40594D28351D892E10D820FE88E7F3901E0FB80FA79A67927EFEC67A70D66C322A9262089A7BCB175736299C155931E3F55D0720B7430A03F5E89199B377E6FEDE212E1530652F52E50CD929278D8AD922070AD6D54BF3C0C6E51EFE090F6FF51B2A8FE907F980AB9FCE57FB74D2CD8B869AB146AAC5449F95AA3C3F72DC4B9E3AEA267FDA505261156E0749E7143482353B08A17C861886ABA38BD43368D21BD3F87F21E76E4D25B8889B99F3B4B6EDE6CB7A77A3E224A345FF937AC52377C2F94A8B9EC747BB26165D4201574A177139625ECEEE97CE55509452F29DCF8EBD03344E06F4C302CA1E4AEFFEB782BE086467E4ABE012EBF732DC0D41570C6B7546EC4D9E37A393D87F1F2E370269A65005BB75B8E9BC3EA65F7ADA46B84A37CBBC9E15FCB76974E13E9C83B2ADC37EE21BBBD2B7EE8AA23363C272EC43016A1E44686EE20B16F9DA7AE88C3FE5A12B6DBF4B99948C2D6D4CA3AA72DC889276127586A54F9CF383C5EFC8D8C540D9BCD19FBB90D27FBBAB8D334C873DFBBFA075F67B9D58727FA4D4977AC9EEC2FD84F7709DFF555963EA713D65358C42948860B06AD2D3BA6DAB99749589EC9CE711B0F5B0095FF9F381FD7832F758DB9F4FFD3637A7699ADD7ECAD0D4AD17AF2DB776556615A0E43ABD47286B815F5CB5EC82D7134196E5D6B5B4B644CD504D3C9B02B39727431328A5AE5DC87063981DAF7CB49B6AFBA5EE8579B245EB640B92C1FAAAB82B8518A5297F86E43101B382D0CA2D5233731E72F114E3C133E912ECBABD4DD6653B9D9BA7C9562EA59EF4DF6AF66B288228E4DDCFE4E4D55718FA2B19604381B4985D3C1C81E5E910E184BEAB4C94B6B8FEA8D87375B12E61115571971B7FD5F92F93A379DC216668FA271C9660AC040AD7D3F0A20D394E7D37530A736783D3DE00978EA792494007938CB70237AF5EE49B57A81D0FA5BADB2C97208882C463879C7D8C8D1D91594078F638B149A5996F1F4594BBDF7C58EFC63D0B98F63379411C301BFD9D8FAE3113D4322B43BF87DC551821A5EF33ED15098C8341E983A2FE7521E98622CEB67DD55D07BC22089BF47E2DD6865720A7A002421374A2B08158817D67888B9BB9F0552C980D14305371B6AE187EE41BB8E304E9B3A6D6368DF3E7D45EA2A7DA615229BFE721DCB5AFD4A61456CDF09560186241E9202C516A9702546F92B05BF7F464EE763206FFB7914CDC7A5EF4018E2FCD767497279D06D2A5B6A8D523B7A9FC7CC4D87F45CB8A2C7D8B8D9E25A901E9929ADCE51CB039BE1F914C414480F94433B8906496D5FC5D3F00B22CD25CAEBC2D93CEB1CCC541CCBF1C5D87A15423ED40F');
INSERT INTO audit_tree VALUES (1, 40, X'33E9F2D3486915278BCB87287331FC6D26C796D157A89DFDCFB9C132B9CD3278');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 701190081944, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 941897018368, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, 1795672730068327);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, 1795672730060392);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, 1795672730072110);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, 1795672730049290);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, 1795672729991187);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, 1795672730053448);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, 1795672730039684);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, 1795672730052488);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, 1795672730033502);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, 1795672730073320);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, 1795672729977586);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, 1795672730028256);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, 1795672730055701);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, 1795672729999642);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, 1795672730075881);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, 1795672730048602);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, 1795672730070641);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, 1795672730052745);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, 1795672730071128);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, 1795672730079168);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, 1795672730029380);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 1);
INSERT INTO leases VALUES ('91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795672728321518, 1795715928321518, 0, 0, 1, 1, 'lease-91535295-d1b3-4f1e-9f7a-550ae94e90f3', '01c0e0cb-358e-4d34-9a07-3f6e09a0c359', '5e87347a3de223759cec4b496bc31c20b2a37cc4bdd228a98c374d661a719c1f', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 701190081944, '', '[]', '["admin"]', '', 'dave', 0, 0, '', '', 1795672728345442, 1795715928000000, 1795715928000000, 10000000, 'bearerToken', '30d09ed4-0263-4ca1-aba7-1f995eb635f9', 'JTI=70f9866d-dc37-4303-a694-6c97629983eb', 'df6e3117-4b6b-48f4-a3a3-294ebf595080.1.53f3b7b383eeb76654d090bb183318e8', 'gAAAAABrB8qYb65_H_qqbFQEIN_SE9M4upC4cvIXbUF0zkezxBo6Ns_4nb725iz7NKA0IE6ncfh49YMVRfGHM-8iJxmJTrdtUe0Z7JWW3lWOsiwOC0PLY7d3r_gb1SuGjuqT8OkuTC2T8dOf3Jbv0Mp3wx6SA0A7wcCGWIuipf0jZMqLs6hxnC2vqh9lCrMpZ0ouyCPhHDV4Hwirwi-RH9d9hCNT383MKseggOykezSmJkUqzfXbC1RKhsBTcteQUVLuc3-rq9BN5lEpNl8sHoD5eZtnzrmqsTBFHAvsPk_AwaKtbx-tu5xWkGzEkmOqW9o080Lg5rh42AAmlHzM1n6hURS-y3lpr23BaBkEwHjYVCDlQiNgzcLzd-2GGdgMJPFXo6PcyvnzCvbjHcjamye-yLGoYRT_7bx5fTDE_P1NJAjn4NOUm2nH8O-k_uyVcA9w6tYT0gzraL3qfwTBTu8ElpDCMsfqvn8LZbZ0-YNONm2V7YTcPKXBLydifMk5GscOZDUj4n5uMg4fjDcqh0k22IMQseiq44QrPuOe5gqD7WDHD-pIi0QtXYPUaIlpJZHV-7mqDZc52I1DCXP63pURkZRHJKU0ATo6pgSHKfYBDO-2CGYPr5pNK0Ea6J5QHjN6CvLrPwH9aSi3zPOEAecmk_0yy8X35FDjJ04XLpvLhhf9zJQ7GywC3YZc320w7nz92YGTBapRHSNvTdRiGStRQfQPKNAbf1FN-rEKLxjM9sfcerh-RzGKSwKoWY6IwVW-7WIWUidJTNQBcyKWJyQ7FZ3BWGHLG92aMrqRDEQ_HQGqS0IMSx4RuMy8YEJUU-qBrw944HryDNtAvCgT2paQXr1ldj_ZnauXtpvfQZd-ggI485Rl6ecVLAemmhf4xxA-V7RWm6wviWRh-T0_KncINO8SgvRIofwPnjgUOuZXh0p7xiiD-9J4HY7de7Xbmvl3UEq7G1eDZ4rybknaIgBbyo7JAQMmIAZ-iPf9gWGqZcrdpvhYECpixv1CjLPhEJ4kTwpTULSkicBFteESCeX-C-SR8AbTEBDitEnrCpPd5qt-5SUGTYAtr4ZEL2U1ArbYZsWGg_5ipPS_aZ8ZNvxCCUGn0mK-r3D_dsP8Wkzu5fKSDA_l5zQR8zb4BEeiWDupp2qflAf6OCR7GKPXeBDzt4BjzDb_h0qKFFz6ga0uMqeD8DgHIufLd_-wZWOuSH7XDkKOUhin', 0, 4, 1795672728778096, 1795672730778096, 0, 'revoked', 'requested', '', 0);
INSERT INTO leases VALUES ('dc0a38c1-4057-4184-bde1-2cd8e43a9eb4', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795672728358528, 1795715928358528, 0, 0, 1, 1, 'lease-dc0a38c1-4057-4184-bde1-2cd8e43a9eb4', '913b7bef-ae05-4955-aa04-74facc318268', '411dd5bae8fc00625f3d8496898d2315a8e9a83ba4db6571720f8192417c2eca', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 941897018368, '', '[]', '["admin"]', '', '', 0, 0, '', '', 1795672728411918, 1795676328000000, 1795676328000000, 10000000, 'bearerToken', '6632d815-eb27-4e88-b324-af657e3dcadb', 'JTI=62943e9e-b744-494f-8dea-320e8698f671', 'df6e3117-4b6b-48f4-a3a3-294ebf595080.1.53f3b7b383eeb76654d090bb183318e8', 'gAAAAABrB8qYuue1JWo50wB4hsCeaF50U5R1g6qUv-qmatotpSbmAj7gpQxN3ZzAWbghUMV8-sFukuKxhNr-uPw1EnlJM6jVoyvJ5ai3QM2y6kaa8_cu7JzhF00L1SIWTvIFo12paO3bOUrCJZKVjLXCKxF2fGjnX5FNLLnrvWNsDPBUA5WKzz8q9bl1QKAb7eY17yQRPRIwf_h1py2WRDJhNfKUXzXQnhU8Rj5unGWggPifMuQxo0cFzYQAkGtOXt9YdTGeqsBV3gC2mf5qRKYHkJ2O2wNmiumywdVaCzm3FiFTzJxtM6lsbdgtgJ3BW0qG70S1VNW2R_30SsH2Fz28VsFkkXm0FDqbMZfg4zKWZ63bkMlwdufxyZlPcYHuzoffaJAFJkA0GHwmR-COBX6mTDqGOPQD79F7EZg9hKY4Ku5Irmr-j6zW4lBA6apsI722laYNjBVgZvgHU0lbW9T7ybzk60DKoqlZosG7ZIP6-Xxa1LvLsawao5tDKIxo7DK7Psnv30SY9gVeZu887fVBQI1FEfdUHffcO7V5R-wz-oWDPnP2mChw615aQ66652jH_PRr3jJNWnD3DL89C0yF_7DtGc6xQu6PqNjiQ7QeV_WKxEJAfpgkgFw5NfGEO8J53vfsZ29d8JZKRMGoj6_XK8F32xiRBwPEjWJ66vXE-qsl5eieq8DIF7HsIuG2JgDCkUBEt8LO5vY9E9fAc56vU1RA_i9IqxNXLRI5TFmI8WddNeUO_5FgF74-HKQbVvRM1qUihphEe4ZqZ_fRvdlb31dp2WlqGaT5--Gfj4IBdgx2SaCa6upOi6e0217i2vpDt4Rg7lY6mEkVjsJWkjlJfrBTzMqtY4hfTdRJfv4RlZneELCtENgCmGqYYRs3YjUo79MP4LsgiTsIIth_Rx1JWhA4sJoebkiOZ3e-HQMSZ4KmqSH402ECIZ5uwNscWaM3pD93-7KL23i5pigHotZTxchBSvRo0bLbVO_wa-GLdnbdk8KRXMLD752qMuj7Jpr-h8pnDqJYRuGNqb88bVRYTjzxZB7ZYJB_SjmQxydTUzanGsCOEthTikcLsDqxVKQ5SJt0bcR3PmSin9x626MzCOY48InHwIY0_FFXok3Jl7fjWYPqo1vBLqmVfhJeQYOeVnRlOQAod1q_MnT0ZdIb5Qz3b3MXfEzJX8h9fXDKzzbX0MTygWkOOm38H-SiioYQgBtW5zVN', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO oauth_clients VALUES ('01e71bdb-1557-4ab4-814d-e1960ea9f0c5', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', '4af91cc1535f269851bd7fa33d90ff50d943c482885412880e5c490e9d3c2628', '', 0, 1795672728495789, 0, 'admin', 1795672728495789, 1795672728495789, 1);
INSERT INTO probe VALUES (1, 1795672727991428);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', '3add75e9f1a4c083373f333cd0cf11fcbfccdbbc2e5909e320dd6a16e2a40d1b', 1795672727818624);
INSERT INTO token_uses VALUES ('cae2f35bc3ea', 1795672728888239);
INSERT INTO vim_generations VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', 1, 'https://127.0.0.1:34941', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQANgkACHp1Ts9VT2Gj9IN2DAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTA1NTg0N1oXDTM2MTEyNjA1NTg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDUx
h0y2IHpLS9/jw7QmDo5zVSq41990cUHnu9z/ipSJJFyLV5N2sijAv8oQw/T6VGn3
9l9C9RPn9PKyovLGpoSjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7wUhXc8OFIO8NbFVBQC+Hbz0dXzAKBggqhkjOPQQDAgNI
ADBFAiAoDZSvL8b1mlQ8S2iIs2lkcMp4S6wjSmAmNG4dXHB0sAIhAKbVUZL8hw0L
/fjCOY4/N6JEjaY63ap0VuPIwrMfF2Mz
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1d52c004-9c3b-4400-a65d-6782ca983ab7', '', 'bearerToken', 0, 'gAAAAABrB8qY9UfihLW4iuoWeu51ufH-KYpVYJk6IPQU_WN7bMS4yReaKyPjO7DmqiOW2GwyJ9fs_te99xS-7Qi5UL98uy8-_zTmQpCBOGwqMAusqNRZqeBzkQvv7lQkkuPNq_HaCM59pF13cfTUOFOyPPzfXIQvhkrOUO7lCIxWzzutwWVripdTUzzG0azmOQafP69UNkGan2-QyPtKNrCCmLh_wgKKGifuSZtbk5d9HEdfuD9wOmbT9HBrmHeb9BeqS00W290qy27qwoKpZbz6vQuRtfKphbn4WUbYwZaMHpWBx5-aZUFKe3i7ho6lWSKnmXERc11iQ-djZ7YNZyX3FhxWCJqIW0YuztBP9ejbPUkgSJniMt-g7j58AkzPK0LAIEiOOcnv3j3M7UcK8Ja9GPTl9ZX7yZXp9nEYNM9l0bqUTekXu1dibACnf0mZVl0eJO4SgKGDIQHCrHMm4ObwStUXIKmkYIyPp-_lzn9GZZVvssBfsW1eaW7SM4If81tKefX4s7V9CYhCRnQCdL_4Oy6VG6RILPhdAxqrtN8E-NeURCoIi6VGUo7JdtdHDBP8lJREUEEojq6uqR8F1ZJs-t16bJhcSDkJrjDhd4ZvE2WwnJnnDzMaHoivLO0nmQZI3uX1EGExWnUIMnYWOyYja5K9loYkf6BmnInft0EfOtMh4IWtnSOdJaXLwwUzeOnT3aNqDBmbueeID18DEBGB9JnzgJ33WdEITFzxg2ro3IIH3LqKkcA6-hMAJ2x9XSjH3UObmMmsIpn5ZK_dzwZ3SP_wQCXDxMZ28EJ2K0e5XYKW794a6syGRSi4JDGqdgGyphZJy1Y46uvXLc3QcrK_U3CNZKMdex-9JFXwiQxKa-4vVC5jDqBWNYWRL85e2ZIl49y7cJl-sV0iOfykJ-u5jKuczE1UG14hm-st0kjiibA6jb0z7W79iO-tbJLCMi9qtCz4b5VIxgvM9V-qQYfP4NOdbpCt6erUBOL6SrszXE-Rm2u5NOtXBrpkwx4IQWLDb0gUwn6ZyZ51q87ImpTlD6oNtrKXtcs5W60-de77TcejDdcvEA7XifAWM9jGGZ8_QsXQFrg6', 'current', 'df6e3117-4b6b-48f4-a3a3-294ebf595080.1.53f3b7b383eeb76654d090bb183318e8', 'keydir');
INSERT INTO vim_generations VALUES ('8ff8f899-c9e9-4d59-875b-641af2edcf72', 1, 'https://127.0.0.1:34941', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQANgkACHp1Ts9VT2Gj9IN2DAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTA1NTg0N1oXDTM2MTEyNjA1NTg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDUx
h0y2IHpLS9/jw7QmDo5zVSq41990cUHnu9z/ipSJJFyLV5N2sijAv8oQw/T6VGn3
9l9C9RPn9PKyovLGpoSjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7wUhXc8OFIO8NbFVBQC+Hbz0dXzAKBggqhkjOPQQDAgNI
ADBFAiAoDZSvL8b1mlQ8S2iIs2lkcMp4S6wjSmAmNG4dXHB0sAIhAKbVUZL8hw0L
/fjCOY4/N6JEjaY63ap0VuPIwrMfF2Mz
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1d52c004-9c3b-4400-a65d-6782ca983ab7', '', 'bearerToken', 0, 'gAAAAABrB8qYzhE4HsSoLZRrbOmS1Bk1PC31sLn6-S5OIZT8oNg4KMInBw2rA7hGSDVl5EQieGLRlCAVaGq9fkqx-g3IjzIv66wLi09iBRl1ygVYwAzAhSl9yOkwlg6ABCbaRqjEoKQDxbZlC4MbYXR8v15-22qj-Xdb59uSovHVMBPBknXb633fn8LcyGbhXr8ntDuIfr75lugIMuRb4wDwwkhib1yDFPek_fKOxmDOMGPflRUKkDR4bEPKNZztfAPkHAkNwGxSPheMuzw9Hvpff9OWL4tZ3acLVyFDwZmRUi_ETkmso4cMKA7lVvRHWY7X-f2NHfyiATSXVeFsqg1MS9JKZ2IEseCNOGgLZC-bjk9Z_x__A20HHxB8swFg26CZ6-DUFH8Dha8oYwzblL-hfb6WZAKFVfpG85S6SnVtx7MwPkZp8UVDO3G0VANLKHkPuoWxmiokS2t1yU6MOcMR4tIprmW9ahLYpJ5vNchQwAqG06kqCaBtDm_bhIuWj0C3sFN_st5E5dcsl44aDZND8SSMkPzHiu2YTa7BDMb0VmtMzVTuchV9VZdWYUvXton9jL3S53triFsCHK4NSZYehTI74gyTZG3zuHpbYj6r_Kq44iKLlBm4VHRmGJx4pchGG0zahgVRkj4Wusunaiepqi35myH35Ayw93w96QGOEDJ0C-j2KLirvDuwYN91g0KQdwl7K3nYSu586KkRfkqh5LRqx-pml0z2JdPyF9CSQktMi1qoy7JF2MZQVS834lAbMjokcje36_ttpUJPNruPxo0aCZ_uyDlK3rtVbki2tU400CFa1kEWPS9122cud3vh7GNb7r5pkh2sPkn_lGsl0Li9sR8fsh42WjQYLbUTZaiFrOAgQw7WfAKUw2zZycN50i5FcT-EX0k0-eN7JkzpRrOeXVBbVzTtXcgKcoQgxT3Do9mXa1Nw1Nd8w9gxPH6uGLaM6sPVqIh3SesJOIV9Y32jd-IiVYKuF7NHxhGx_RlxY1hPtqbbVbJSzNnyS9_ZfQR2Vuo5tMllwJmpFcNsq-Ux3WJmxXU-mF3ftYu4WieN55EyZOrpps97ojG9OYXBdoICW2st', 'current', '8ff8f899-c9e9-4d59-875b-641af2edcf72.1.946b47c00e01be6e4e6fe72aac300e68', 'keydir');
INSERT INTO vim_labels VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', 'platform', 'edge-1', 'kubernetes', 'admin', 1795672728031398, '', 'c5c7e1583e5d913c191d33e03c3514e94bce3fc7bfbcd5910d0c787511e1e063', '', '', 0, 0, 'registered', '', 1795672728228429, 4, 1, 0, 0, 'reachable', 1795672728307360, '', 'v1.36.3', 1, '', 'taken', 1795673000297192);
INSERT INTO vims VALUES ('8ff8f899-c9e9-4d59-875b-641af2edcf72', 'platform', 'edge-2', 'kubernetes', 'admin', 1795672728148307, '', 'e54fd43c1edd53064c1734763eb3b4e34c458cb61d76f9a1e884acc963898786', 'second', '', 0, 0, 'registered', '', 1795672728664980, 4, 1, 0, 0, 'reachable', 1795672728188025, '', 'v1.36.3', 1, '', 'taken', 1795673026657647);
INSERT INTO vnf_instances VALUES ('0e7fb3f9-5a74-482e-b795-f3a9a6543b0b', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795672728562414, 1, '{"id":"0e7fb3f9-5a74-482e-b795-f3a9a6543b0b","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T05:58:48.562414Z","shape":{"package":"e8b8c5d4-98bc-4030-8988-e71de2933b55","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('bb3fe81e-9b08-4f55-9805-e1e9405cdd06', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('e8b8c5d4-98bc-4030-8988-e71de2933b55', '0e7fb3f9-5a74-482e-b795-f3a9a6543b0b');
INSERT INTO vnf_packages VALUES ('e8b8c5d4-98bc-4030-8988-e71de2933b55', 'platform', 'enabled', 'web-1.0', 'bb3fe81e-9b08-4f55-9805-e1e9405cdd06', 1724, 1795672728528101, 1795672728545576, 4, '{"ID":"e8b8c5d4-98bc-4030-8988-e71de2933b55","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"bb3fe81e-9b08-4f55-9805-e1e9405cdd06","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T05:58:48.528101Z","UpdatedAt":"2026-11-26T05:58:48.545576Z","OnboardedAt":"2026-11-26T05:58:48.545492Z","TouchedAt":"2026-11-26T05:58:48.545576Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('f12a71b0-2529-4ad5-ac02-40ef215cbaa9', 'platform', 'http://127.0.0.1:36389', 'http://127.0.0.1:40001', 'FULL', '{}', '[]', 'bef985024e74350d60bc7c38f4a18fb6e9c5495ada2ae65c17606a5c23129a8e', 'admin', 1795672728623336, 'active', 1795672728632637, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
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
CREATE UNIQUE INDEX vnf_operation_live_once_per_instance ON vnf_operations (instance)
    WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK');
CREATE INDEX vnf_operation_newest ON vnf_operations (started_at DESC, id DESC);
CREATE INDEX vnf_operation_by_project ON vnf_operations (project, started_at DESC, id DESC);
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
