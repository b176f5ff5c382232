-- of 0001_schema.sql, sha256 1522e470a11c30c4620b78d369b8d86d763bb9f6280d8ad76e022f7135868097
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
INSERT INTO audit_checkpoints VALUES (30, X'7D70752741B86FBA70F2E62E022C3CCCC99739825798E9265C950A31CEEE8673', 1795673654899904, '284424ba-bddd-4145-a27d-d43e5d08a1ba', 'vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba
30
fXB1J0G4b7pw8uYuAiw8zMmXOYJXmOkmXJUKMc7uhnM=

— vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba JWbDP88d36sNJcmQU2XzcK1PX/TWjT0YrUJYzNzNEAQgNFPBnI+Q/tqyyJ/mEop+V7QiomFRXA5wBY6TDJwYpPBwuAI=
');
INSERT INTO audit_entries VALUES (1, 1795673654356053, '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"9002c2c67dc6ba08b21092dd62dadd0eb26071d22d188e1cc7652c9677a50300","version":"1.0.0"}');
INSERT INTO audit_entries VALUES (2, 1795673654424184, '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (3, 1795673654432604, '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.endpoint":"https://127.0.0.1:40755","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (4, 1795673654491831, '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:40755","new.generation":"1","new.identity":"bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (5, 1795673654497992, '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (6, 1795673654542164, '546377f3-7220-453c-bf06-990e15aa58f8', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.endpoint":"https://127.0.0.1:40755","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (7, 1795673654566216, '546377f3-7220-453c-bf06-990e15aa58f8', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:40755","new.generation":"1","new.identity":"bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (8, 1795673654580534, 'a90bd392-2133-47c6-a729-b8cc35e67158', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (9, 1795673654597291, 'b857e40c-8161-4c35-a87b-7acbcf375228', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (10, 1795673654600135, 'b857e40c-8161-4c35-a87b-7acbcf375228', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (11, 1795673654643890, '966a9d1b-84a4-45bb-a3cd-ca7b240053c6', 'rest', 'admin', 'platform', 'vim:check', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (12, 1795673654674144, '51720d52-bd21-4d7b-9403-d489eb2f8ae5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"7f3d13ff-0c47-4147-9778-0cdd63e9a777","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (13, 1795673654695836, '51720d52-bd21-4d7b-9403-d489eb2f8ae5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'done', '{"authenticator":"static","credential-id":"JTI=c84f9ee7-2a88-41b2-86c6-b68eeddd1a69","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T18:14:14Z","for":"dave","generation":"1","grade":"bounded","lease":"7f3d13ff-0c47-4147-9778-0cdd63e9a777","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (14, 1795673654712779, '18666249-7361-45c1-b7f5-6ebe5b887c88', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (15, 1795673654739335, '18666249-7361-45c1-b7f5-6ebe5b887c88', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'done', '{"authenticator":"static","credential-id":"JTI=15a01a1d-8c2e-4797-9854-b1ac7eb3f138","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T07:14:14Z","generation":"1","grade":"bounded","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (16, 1795673654757010, '6b476b55-dd2b-466a-a302-e48ff949bcca', 'rest', 'admin', 'platform', 'client:create', 'Client', 'b584d5f2-06f7-4f61-a267-56f6b155ea60', 'done', '{"authenticator":"static","client":"b584d5f2-06f7-4f61-a267-56f6b155ea60","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (17, 1795673654783890, '46c48588-9ba9-4d02-9cde-9212f9a3c114', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"6628f5ae-4f6d-4657-9769-59c95b25b6a3","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (18, 1795673654785824, '0fb6c820-19c0-4f69-908b-068bd9df54f8', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (19, 1795673654790210, '0fb6c820-19c0-4f69-908b-068bd9df54f8', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (20, 1795673654798712, '0fb6c820-19c0-4f69-908b-068bd9df54f8', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO audit_entries VALUES (21, 1795673654800289, '1980fb88-f5d2-47fc-83c6-f05b2e47a297', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (22, 1795673654812030, 'adc04a2f-508f-4d02-a26a-bc9370c45704', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (23, 1795673654823628, 'adc04a2f-508f-4d02-a26a-bc9370c45704', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"7474070c-0b81-4be7-8d1b-1e0f0112acd3","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (24, 1795673654841370, 'e703b779-54ce-492f-90a6-352edccbec43', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"22307760-f1fd-4ef0-a18c-419e12da8158"}');
INSERT INTO audit_entries VALUES (25, 1795673654848478, 'e703b779-54ce-492f-90a6-352edccbec43', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"22307760-f1fd-4ef0-a18c-419e12da8158"}');
INSERT INTO audit_entries VALUES (26, 1795673654856788, '53d20a89-02b9-4d3b-9056-a70f6cdceaed', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '22307760-f1fd-4ef0-a18c-419e12da8158', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (27, 1795673654870127, 'e711c109-c4ca-4144-ac16-3dc1610f2b21', 'rest', 'admin', 'platform', 'vim:show', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (28, 1795673654871789, '75d4df38-6762-4eb9-9271-7bd5d22c202f', 'rest', 'admin', 'platform', 'vim:share', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (29, 1795673654873168, '75d4df38-6762-4eb9-9271-7bd5d22c202f', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (30, 1795673654886532, '998f132a-146c-41dd-9c91-6aaf44e0b249', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"284424ba-bddd-4145-a27d-d43e5d08a1ba","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (31, 1795673654899909, '998f132a-146c-41dd-9c91-6aaf44e0b249', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"284424ba-bddd-4145-a27d-d43e5d08a1ba","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (32, 1795673654934109, 'ab33e2ec-2d3c-4194-a8ae-9a0f8304093c', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (33, 1795673654946831, 'd7f10d36-7667-477d-bb0b-7d2fa7e449a5', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (34, 1795673654951065, 'd7f10d36-7667-477d-bb0b-7d2fa7e449a5', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO audit_entries VALUES (35, 1795673654962894, '3a5f885c-e792-44ca-b3d7-04ca423ccd0a', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (36, 1795673654964584, '599acd03-31d0-41df-ad7a-496f4ee0f0d5', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (37, 1795673655006371, '3af30c9c-6a7e-429b-9ef2-54bfc37ff286', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (38, 1795673655018104, 'fe5b665c-8ddf-49dd-a09a-a50540b6b107', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (39, 1795673655029300, '7c4e305d-59f0-449f-9867-027d9c806155', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_entries VALUES (40, 1795673655039232, '3fc526b8-10a2-43f1-952a-4a4208feef2c', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO audit_horizon VALUES (1, 0);
INSERT INTO audit_keys VALUES ('284424ba-bddd-4145-a27d-d43e5d08a1ba', 'signing', 'vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba', 'vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba+2566c33f+AbNQ5bdAFBTWJjquKX+1tZpW7aURKTfDJKw5DjjZej1w', 30, 0, '', 1795673654886530, 0, 'gAAAAABrB8427XbN32Y8Y3Hgj6RyBu8XEynrTyvdrH3N_930tFfZP5c18n_Wsk2mM9G_VS8TRIkm68Y1DyVyXeqBl5CaCFjgR2Jkr64q0EWyLQB_WjFIGcn1ncolLBiwT_lNy8ROsFHak8aA_LWGhy6nt_VFeMaDvLju87ox0JB_i3Oj-e7iWaLDKqJo-7FnfM7FZf_PyABCj53gcqzCdV_7zJj_4OamPFI9pNedIRUAx_gRxHmT3mt4sg80rgatSdCEJF43-MpZw8F7BzdBpXUWELzDStq7lYzFML4NL9JaO4jvTdwvr97CqqGPSV5JXhV1XzyuCluN_CZYN6nicZhrunzsu6aIk3u3VioqoHReJIhExyMne7U6UZzpdszIcXBkcFg2YEc1pRQGiFVFqT-PcWHFY25rgTREqM8yJ4p6SdgJ5H6qV7BN2LK9FUD5bk00LNNkIWRnAaCb9mDcmpIMOeTPbzYqcw==', 'keydir', '284424ba-bddd-4145-a27d-d43e5d08a1ba.1.2fed8548c0170cf9bcdac1d6385c4b52');
INSERT INTO audit_tiles VALUES (0, 0, X'B1DF6568EF4F930187BB963320081C5D5302DE2A507F2D708C0C184DB6ED2FE203F93A63F2372DFAA08A710450565A019182EFAA84B9273927361EE75C3AFBD23DA59E19091C78B6E236A3036B9CF000EA75642A994AB5D6EB72739978F5AECCBB405C6E8474DD39F09CF03772AA02E535F00789CD75C0B97FB9165DF2BC0914345E73C84695FB726218BF2673BF91592A98D9EF462C6002917543FAAB311760137CFCE94F491C3E191A91EB5C55CAE9FA741501ADC835C61E935C9225BA01A75D52138849F525B4C5E22F1BBB1FCB5E2197EEB09F609C8142F4592C91CE653612ECFDEE5651ED35CB085B3DD9ACAFEA8AB947C9692C8D9421BACCB8DA50C589768678B287795AC37C84EA8450901D91D36669EC449BFFEABAF51B5745988CAEEE194692E6E54379790F5C45EDA1549B7CEF3C5CD75D05E71D6E13E279F00A15515B0E7B0B30C890718A45FD3A0BACEA149704B256D9F28BE064DC550D38898DA30FBC1C95A067D5206A2346C42158D5325DA8447889C8E66729B836D81788850B7D50343DA9141B0DE222B2D4DFB1AB0834E698C379A363C66889C0822943B45783D9CA3F570620C8DD04E9CDC2DD3D7AE67932841AD722F8E9DF2172A3EFE87AC8C7FC0B9664DB66917FD2C49823828DE07545B8CC8124C75C4B2A428974C86988F69078F3BAB9458954D8D8ED37D61BEE312BE7785B46566F9743D5425EDECCD369F0D55374BE95D6254FAB3417A316A5B700FAE035D815567EFB40D6B833CB95AAFDE6FC952AC77C6F0BC7E216536E60ECF4B251BB6B1048198F4312F120E7934AF78EB40DCB1D4485352EA1F27120575ABE1DDB45FA793B6924BA9F3E2BBDE64372000236C88C634B645175D0D7AD3D1CE0F3379F5D046D80663D149F2F3F679F84256C42D43F84075047DAEBF013ABD4807B972B9637282C382EA2A69C80AF2F51B5E120978A5F97B846F6441EA53D81D50F8B2CA418A15653C7FE812B0E57BD033DD10C5D01620BF631F65EA619B7899BE586DDBCD85590C783E609D53C15F60DA90587D1031ECF5AE0DCB9A4059D4CA6A5071F368323859BC96ED47927331C1132D7908149A0BB3FF5DBC395FCBDD52093C4E1785C1F6271016F138C3033EB02714A349B453A54A84B6DA0B505A8F857D96B0BA59A65ABCB6D07586A0134D2692FD2A257534DAEFE951F8C630162039B74740469B420CA2AEC893E649518B33DC08E357C95E10B2B7C3371133B04FCC023CD4F74787BEBD338D881F54928268A76AD7A6EC2967A032060BC389E06F43756B5863229E8FB3C2EF7C7A1109D2D9140E9D6E93035EDDB25F726EB730B2AF8609FDC0C6BF4E86D523C97ABF32FB44415C31F3270CEA1909F1A38F4F1EE29F5AF0D312CB46AF48FA734D1AAF39A1027E95F6D19ECDDF7E14880D0265F65925129682E05FC62EF707FB16C040D61336FD9F654F3A43ADAE154D0C3DB88C00E447B773F972B23A5FB77ACD2AF8D16696C74F492D8974AE133B71578852E14ABCB09F6CD004A95CFAA75B1F4B6D6A5827BE47D41369743B02FB674B2DFE08AD628DEAEFA37D29211F5550B2DDD23CE12D46C8E9E4C2D61255501CC79923A22A10022AE5E581A7DF16BC56C1988D28FB5F981F33318A2AA3ABA612C82498C040AE859510FCD3A6BA260785536318A2289EA33D0EEF62FBF9F8F10FF28322F019D7BCA8677F08C004DDBFE766E873AD89DA9F18BCE9004FA2989B48B6537691BCE19DBED382F1F158252CECF40424FEECB1E44154A56138FB3554EA9FCA5B83922EC13439CD9C66DB3F40317FF86');
INSERT INTO audit_tree VALUES (1, 40, X'9880B036D191C74961C8989D9EFE599915907C03542AC46C7108314FABF4B86D');
INSERT INTO ended_leases VALUES (1, 1);
INSERT INTO grants VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 464101442770, 'view', '[]', '[]', 1, 'open', 0);
INSERT INTO grants VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 591578097157, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '["default"]', 0, 'open', 0);
INSERT INTO jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, 1795673656400914);
INSERT INTO jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, 1795673656407747);
INSERT INTO jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, 1795673656390249);
INSERT INTO jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, 1795673656404203);
INSERT INTO jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, 1795673656404405);
INSERT INTO jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, 1795673656400217);
INSERT INTO jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, 1795673656404599);
INSERT INTO jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, 1795673656401202);
INSERT INTO jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, 1795673656367271);
INSERT INTO jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, 1795673656404824);
INSERT INTO jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, 1795673656408315);
INSERT INTO jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, 1795673656405066);
INSERT INTO jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, 1795673656405698);
INSERT INTO jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, 1795673656400718);
INSERT INTO jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, 1795673656399790);
INSERT INTO jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, 1795673656400483);
INSERT INTO jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, 1795673656408065);
INSERT INTO jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, 1795673656403926);
INSERT INTO jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, 1795673656405252);
INSERT INTO jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, 1795673656387801);
INSERT INTO jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, 1795673656405449);
INSERT INTO jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, 1795673656405916);
INSERT INTO jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, 1795673656379940);
INSERT INTO lease_horizon VALUES (1, 0);
INSERT INTO lease_live_counts VALUES ('principal', 'admin', 1);
INSERT INTO lease_live_counts VALUES ('project', 'platform', 1);
INSERT INTO lease_live_counts VALUES ('vim', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 1);
INSERT INTO leases VALUES ('7f3d13ff-0c47-4147-9778-0cdd63e9a777', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '[]', 'kubeconfig', '', 1795673654671113, 1795716854671113, 0, 0, 1, 1, 'lease-7f3d13ff-0c47-4147-9778-0cdd63e9a777', 'eccaf239-c73c-4bdc-b185-d37fea330965', 'ec054180ad9a96f90ca7723008bf657504083bebf6cd0c92a3b323a7a55aba04', 0, '[]', 1, 'bounded', '[]', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 464101442770, '', '[]', '["admin"]', '', 'dave', 0, 0, '', 'rest', '', 1795673654696005, 1795716854000000, 1795716854000000, 10000000, 'bearerToken', 'b9099d9a-83cf-481b-8932-6a1875643d69', 'JTI=c84f9ee7-2a88-41b2-86c6-b68eeddd1a69', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1.1.b5ab6eec034d4d0ee46c66798a458733', 'gAAAAABrB842Uj3SLvvogMZODGWaZGqbJ8Ca_iKXV7yCYCHFQQONwHb4JkqOvogJT5i4C6SwIBmVun8q0KGvqGQYqVUU69WsjnL9J96wHU-dBL1wY0WbrIRy4zabp5fKw5JCvISwJGNcCHuNmh1IyJiS8GFGcs5elhOyq44_6vmiKaieBCv5qfsIqI5KlBMv2xTfaioHTd3i4apIFM_lyzMPtABhht1dDlJJESlf0ZP0LeRZjgNb05UvG4OtjmuexDghkpfciAXdQp09gHNBy3BA02dve8n72OQhnPnZD7QQKcFQMXaZ6eBx0AIJpIavP1yNDTrsQwH4Rwyijjas7GiAl9KSTEn0GY0OlmYxGaAHYusOO4MiLT8eAwhGW2J69KjMLYHNYLbOJaHa5gwlU2D4m8N-afUio4bRDCWl08rLk33IG6uAKfsRe2ocsCzGgEqJNP8zANmyOK9tLaVtAOWgxrnK96x8pmFTeYY3j0o9MqRP1KSRfSruyeZSx7ooIQO44umU15PGZahZnnPkVjBV0rq5m0s31-RbKpMhQPfxnlb9Y3bJ1Xt07vBS6Zp051aD6D2cNC71XxqDrJYPzNbJw1M3_ZUdJ_buxwPWZOxiOlltB3Q33vBoyvAj3KeZVCUf5iHMfkXP1vB2D8iIoI_2arue7kDtozPy448QUmQWbPfCFXfrnQTcr2vCDMfQ5oYM7un-TDB8G1q96XjlHARd4TEYC22h0JMb4DGTPSwzp8NIt8fyMnrUDxY37PSPVj--u5qq9VxuG1wEs_ghFCfJcObc8kZoaSDlTlIRaI1-zrJRYM4AVImnF6XmvW5rlAEOWJh4WouHvACrhwWr3nPkMERcUiHVwhjBMcvBNTSTFzjwo5VwDlIcrqxf6aWAaC6GuFv6xk1sUNj-81Wf40vWlqm_zcrS6ky3ettNCCasxiAJFG27IgqrqBzrMM5TbGyL91p0ZvPeucHYC9TNmJOl0ZrjO2yYzRGAN72OxvUGdIUKXBf29AM4qNiZdknqUolOExhmtGPgDf4AsQYiKCTesrixNx8yHG8wv1xSJpkONPPTZq5HqnO_QXessrq4h-19sw6v8EAvWXo1zYa71muNxrdEM1-IXoMuyd5oP7HpNpCXLJxOTajHfFfNc2tAJ4OKwtXDb-IP-qcfuypKNpQuaaIqkqtDVwyh7Dq78q_3K67E0Q1iwbtHEtbdoW_V97bBlMw-k4gs', 0, 2, 0, 0, 0, 'active', '', '', 1);
INSERT INTO leases VALUES ('49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '["default"]', 'kubeconfig', '', 1795673654711768, 1795716854711768, 0, 0, 1, 1, 'lease-49ff38a8-2eee-4345-8e35-0801ae9f0cc3', '342b89fc-e839-4811-bf1f-abe2d86aab00', 'a3e4574a9c28685a379110620f3b14e93338dc96e1692b3b7028c1041f6be96f', 0, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', 0, 'bounded', '[]', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 591578097157, '', '[]', '["admin"]', '', '', 0, 0, '', 'rest', '', 1795673654739584, 1795677254000000, 1795677254000000, 10000000, 'bearerToken', '17cd1dfb-0695-46c9-b3a3-fb91f6e0f19d', 'JTI=15a01a1d-8c2e-4797-9854-b1ac7eb3f138', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1.1.b5ab6eec034d4d0ee46c66798a458733', 'gAAAAABrB842VWAQSyfCOduZfkvcw7GFB_ZuUZ_nrevU6W3psXN35RDinkTtSiBY7Al_bz3pKEEhJM4YJWuZd-QzCQhccE-gn3sVpCPtnl-Qd1yXOnjUFyGY96RTik8vF0E45Z0j6GocequjnnCm3TvqrUg29uxZ3bdhIOQFHR3Zek2smgBiGAMdzdIuHk7FxQf3FhwSwbso7mfFibq4X71IsdloIuEtIMU-m98jIcAzfNi2Rtq1RcCv075qMIVKlMQPDAV5dcxALYRwOonY4Llr_jFjojH0YdIterAPcWAYSjiGEZG3jI6hUsTVdl0O_Lch_MiJF4kL4_No8bnPDTrppeD33FuGLT9p-5OoaNLTxVYVKnAPB_AfgT_UZ7p3QioBje4TR9vkdvwUEb65w0droR6z0RiIFZ-xFLriok69A1w-wBKwn6sqSXRd2vnkZjM4EcQk404oy5zZ9w0dnyCnehX1mVk2-x5sMIBhMLVPuNiy278W_KrgiWh-a6Hvil9XYHyRJ0e4mogQLG1zkjgb537HC1qe6eDI3Nb-P7NooKd55PyuR5hVKWbWexUrImvUXdXccq-_ic5uoILI0Y8Cjc0Dcgho5kfQtMCIXjxbYzEVml1DBD-l_1ofUzlKcC3p2lVbB_htNwlGA4iRdU_Vof0hUZ1WUN3rKWeZWpId0X0VywGR0JYhmcknFcPLQglB-YyxWYMMwmYdxbkNe57Ne_OeWXRyOoo6TOypHZ0sK2O7cvk7Tri9YLKM2X2ojxKEsMTZx89Am7wB2obb9JbtRMhJ87-vIdsgoTXnSyemA81Anm8Hg91XyvJWz3STFHTLcrtInnozJExrJeKqL-MOvLT-oXAQQu7Dvjkmv2BTbW0-9tjVdCyd8tC8XayIPebgzb5FIRbv4WLfAa-csRDfCuGmhaIYLU7Fg35srM2K_Dr78qzeqiXD0an9RgqVXmJtBOF5LV-5yNOJlHPWBBQh0ztxFjO3UxPHoc5n0RovyymyWfhFNb1JnZOE0jRdKL-83iQD6pWAW57GCss6HyNC_ARPyv02iV6I8g-h8gyu1_oI_JhRe_u09PyyEyicxyaWEVGGUfY1qB4ez37w2uC1uci5wYIRxNN-xKlsEeX48NWZ19qNzC053KCBVaXJ0nuUDw7wofTBEJU8sceYnkvud2S9AUziA0syVSxhbeqolUQrmqsphp6C0bzpCkruBt1lvmqpbe_l', 0, 4, 1795673654951189, 1795673656951189, 0, 'revoked', 'requested', '', 0);
INSERT INTO oauth_clients VALUES ('b584d5f2-06f7-4f61-a267-56f6b155ea60', 'platform', 'tacker-north', '["vnfm"]', '{}', 'null', 'active', '8f73832ded8a805c692146d70598cc2bf3ce71152fe69bf21ab112077ba63662', '', 0, 1795673654756934, 0, 'admin', 1795673654756934, 1795673654756934, 1);
INSERT INTO probe VALUES (1, 1795673654380017);
INSERT INTO schema_migrations VALUES (1, '0001_schema.sql', '1522e470a11c30c4620b78d369b8d86d763bb9f6280d8ad76e022f7135868097', 1795673654235762);
INSERT INTO token_uses VALUES ('444b2ee7406c', 1795673655061815);
INSERT INTO vim_generations VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 1, 'https://127.0.0.1:40755', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQmgAwIBAgIPBc6gnZqScQh58Yxe82MpMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MDYxNDE0WhcNMzYxMTI2MDYxNDE0WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECjpT
0+ojNKN8md/VWDGbzA63xEt61kNvjgDtU+JShDeWjt6bfmFHjkfR+UmyTIzh4gRR
95y9vOPYelktomgfMKNCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFJVMU2v0fRkC86oE+azyDt2ZM/ROMAoGCCqGSM49BAMCA0kA
MEYCIQDppm9ebnOKgjMDPs06gT9bMD0S5qux5M6R+k70xmLpIwIhAITw1Dti7WwM
kYrcLFSnPWiYBIll4UIkNWlthoqZyuiX
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', 'bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb', '', 'bearerToken', 0, 'gAAAAABrB842fiLSGjBKG5ZP6sMiSLYvvZng_6RR9Odz4oFu_cWoZbxj3T3NVHg0wdYvRdGdqAf84NJacux7yGmpGpdGgWSvTNxs6bpqPqEuH2VqVybeQRZq2CUDrOYYSUxvnaq3VrNsyy1pDTLfcSwpI4VuZOCO4zRBaoQ2Xr2s33HyxTvqZI4gcpZTTvp0-4_8qenNi4MsZxLmSt3uvTrxdtgkifilhE9dKzIr-OlOCvxyfzUGqfLizDZm6VEQDLjIEhEQRm6AcTdc3xyBheLhQVOy9hht5Ci_3xMMH64gyDIpNjtNIkPBz4hFhBAZWund404yu4igiS8NKiqQSNR1J-L-kReksY5dkwx8feB-68nvwozUDrTU5hQG8eQlfUt83pTfDMbuc6ArZOIAxuYfXElkbGfkPgspbkiS55oMP1a4kNJCCSwEpf2ZkIogjB51NbWZ9p0mQLbUsXp2Abo6k3L4G_8JIL8jveMiYpqnQPedWJtBKDk1XUXyyvqBbYTT439V01Ulz7Kf-Y57xvSB_htnczKIcZTetu5e4iIwqm2e5N-t_vzFrA51hh_23Cf5znXqjwLGqcH6nz6hkQbPdF4QNg0sNznyqBTlY5DMJfc_FiojrHdrInpRrUyrY6hWUQYTLNB4k18GxHDjKKd48CeYd2C2ZE5Y6Xz7BULaesPea6-B7FAf38oa5cRr8dbrNeQccKG5deb9ky8IUvt6aHUx6nEcl5m0CCyemE8hxg_34l69CREooxFHYfx52ZjOk7myqRbjtf3n3-VTFQeI5ZWa9f8QRIWXe6DbvtzQmsmG52S1K5iGpwnGiq5tdB8vS0Xa1ztshdyihaLHMywyOYAYD1rWIP4xasGrT3GxyAPOaajzus03Di0jrTGjyH5GDOPfBrTQMrjcQzgGlc0_OuufFJkhRnHqEafsPM4RPgm0tC8vOtq6r9Cub0DSLb4ZOvR0ETOqF68p4n8PKZNGt-FISbVHQqiU2re4QyKTBc_jfzv5qtT_y4Hy9_5lDkBo2-FBIqdXp9_nbP4clqG2OO7QrUI7iruAdlCGhCCvgrIokSgrxcGGF6wcLT_26OHlCrX5miOC', 'current', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1.1.b5ab6eec034d4d0ee46c66798a458733', 'keydir');
INSERT INTO vim_generations VALUES ('416246e8-780b-448b-87b7-29b8a599e3da', 1, 'https://127.0.0.1:40755', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQmgAwIBAgIPBc6gnZqScQh58Yxe82MpMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MDYxNDE0WhcNMzYxMTI2MDYxNDE0WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECjpT
0+ojNKN8md/VWDGbzA63xEt61kNvjgDtU+JShDeWjt6bfmFHjkfR+UmyTIzh4gRR
95y9vOPYelktomgfMKNCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFJVMU2v0fRkC86oE+azyDt2ZM/ROMAoGCCqGSM49BAMCA0kA
MEYCIQDppm9ebnOKgjMDPs06gT9bMD0S5qux5M6R+k70xmLpIwIhAITw1Dti7WwM
kYrcLFSnPWiYBIll4UIkNWlthoqZyuiX
-----END CERTIFICATE-----
', 0, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', 'bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb', '', 'bearerToken', 0, 'gAAAAABrB842Ee2oLN2_1JKsRWOzuSYoDE3ejlO9oEWxfwL78-xw1-FYCyuu5RK1Hjyidgnr8xSI1qoq6b4zKqE9wc8x81BZ2QTNmMV3emFQzsPINvOM-uB6Fa8Xhb31MBBjG8tIImNEn4UG4l7tK70cvWBJoY_cVjmD9BYOuJmBEgmY5K1I-DqNsQ6yzqxUoCfIoezq5JxtExhCUOo4WKE11ahUZpN4YVs24W5oNuXPAtRFMNBcL4gtEUTBjbqsjPzNE8rES0c3LaYDisUeu1zYr4e-BLX6VIDTcOvbm_jgWqmzE7Gi7z_g93vUdJtd8UJPwoZErPykCVkSHksU0Ql4pH-1ILaD7osQhNRy4seo21Kt6R6XQXhY1WeAm2XdFm11b9meJLikvgO338ZQ21cKSbZu5KYeEiFmfOjKXxFsXXrW8eEvbiXgbnt7DT9h4cP841tSW1SC-EdXT3jxjExV0FvEPHWJOCjdUQyfHWuf6BhQG1bm6Ee9fg_3V6LzOkag0-r9_4CyE2VkwZc-spro6uzMfx42JnGRFaUflRXpBSzbFFJBIxHwyuVnlijtj-b1hX0N1mSvX3asfU9nAHyN2z-o18r63BRhaHTWFd9F-n7UlDteHMxCiFKjwK-gDooLo4C7SJbXDcJxoEJBmFWPltVFofbo5xPBSa_Qo4srKh61pjNazpSDclxTXO4CJcunjWf2WTrC89NMagvhVViKAm0E_132tVfit24jdSXH_eN7XAvsUKD0w7J0WEzWQTh1Li4_O3UJVZ_X3ztSR8dQnohkxKFv2C8hJyWMD3RX4HIyXFhnBm8KfnLHT5WChcys3pwa7F3BS1yYf12lnpnERz9sqOrGFR9Po24iYj-eiCPPbyqO_8mesIQbEEYZ8DOwfet3fc7PmKmKs664PZMubLjfoAIE8_uOXWdyRjLhZDVJQEdxj7GpFnHJ1WxAFgG9mKb6HteQiqRklVKRhAnuWiAFlZhU6HvCHbrrNhchH55vPfeFncy2hIDELNt6I5jjVd0fDfTIepSOq2YwW0TOZkiVnHxxWRYXA2ybSlJ99AQCljQNA41h5N33PfqdK8dsmmgJ0U-d', 'current', '416246e8-780b-448b-87b7-29b8a599e3da.1.72bb61a54beb8ce5864d5b54cba839e1', 'keydir');
INSERT INTO vim_labels VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'site', 'north');
INSERT INTO vim_shares VALUES ('lab', 'platform', 'edge-2');
INSERT INTO vims VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'platform', 'edge-1', 'kubernetes', 'admin', 1795673654432456, '', 'bd8b9fe9c30cd57533c115a96086d144bbc7be2388b2e1c4cd68df5793b06882', '', '', 0, 0, 'registered', '', 1795673654600490, 4, 1, 0, 0, 'reachable', 1795673654655172, '', 'v1.36.3', 1, '', 'taken', 1795673930271637);
INSERT INTO vims VALUES ('416246e8-780b-448b-87b7-29b8a599e3da', 'platform', 'edge-2', 'kubernetes', 'admin', 1795673654542096, '', '2b596caeeec6d4a2e82f55b76498e0156d632ed3d80291225e51045db450cc0f', 'second', '', 0, 0, 'registered', '', 1795673654873361, 4, 1, 0, 0, 'reachable', 1795673654566458, '', 'v1.36.3', 1, '', 'taken', 1795673952053451);
INSERT INTO vnf_instances VALUES ('7474070c-0b81-4be7-8d1b-1e0f0112acd3', 'platform', 'web-1', 'NOT_INSTANTIATED', 1795673654811486, 1, '{"id":"7474070c-0b81-4be7-8d1b-1e0f0112acd3","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T06:14:14.811486Z","shape":{"package":"6628f5ae-4f6d-4657-9769-59c95b25b6a3","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', 0, 0, 0, '{}');
INSERT INTO vnf_package_chunks VALUES ('06eeb884-f832-49be-bd96-a2742b8be786', 0, X'504B03041400080008000000000000000000000000000000000019000000544F5343412D4D657461646174612F544F5343412E6D6574614C8DCD4EC4201446F73C052FC0B485162ABB5A35B351133B717F2917874C0B0DE098BEBD19DDCCF2FBC939A7F7691CD82B16602F7E41F68929FB18346D0E3519A7E1E3BE69C898100A5AF6B86B7AF5AB49F182893C879276F684CE075F7C0C59D3BB505D83B3871DD68590375851D39B2957976F832960C15CFDA0F93F8C31140C859DF60D35856D5BFC0C374AF5370FCB574CBE9C574DA7E3C07827C911F259533E4B63FABA07E33AE89D108AAB193BD5F15635128553008ECB163BC3AD145CA8BA6EE707A36AA12C9796FC060000FFFF504B070888333E32D100000008010000504B03041400080008000000000000000000000000000000000015000000446566696E6974696F6E732F766E66642E79616D6CC4554BABDB3C10DDE75788BB4FB8F9F8BAF1EED25228946E0ADD0AD91EA543F5421A3BBDFFBEC8B6123B965237F47176619E67CEB142363482B720D120A13581F7E0035A53B13114503B05FC5568C58FFCBF9DB12D707A7510AA1D638CF5A86B6FBF813FC448387CF9F47E0C44B4E0B187964B6FF5D4704A33B28FA9974CE7AD034F98DA5E3B84C6A323EB39B6CB50445CA462813C9AD32AD882149DA28A9DA1DE1F0FCFA5C689F183DD9F8E87E7A745D879DB630BFED18ECA3642DD766CBB86B8111A1EED7A867A110C56D25978F83DFCC93AABECE9951368A7044D6B86AE0E84D4456F712D9C43739A497C71539533D24FDD2195E86D3758838D46DD5DBB4E7BCC4A16DE641782F726B33BD3D9CA9F59A7B1BCDB32BE6173EF645CC06E9DB0D294E5742D4CEA8DD41C8DB46B5611FBEB5D56F1C2DD732989F9B0C84B60F41598160625040A4CF86BE519EA9C3AAB57A3ED0E6FAD761DC16695CAC7EADB8E3B6F25AACC7715A1D170D3E91A3CB792A309244C03A162C77CBAF89E4F7F33A43BABB059ACB88F6BF1E1F515AACC3F15A6137C180BDE8122B1F90CD314DEC6AA3CDD0D5449F81350A6FD7E71E191D8302A6CE7F5B9110ACDE925386868601736D31343515EE7DC1E09D614B4677FE0200A7AF8259DE35042113FA08FB176FB3D865105CEE9F5FE2BBCC3282A1F05DAEA868515B6B3CE0E4958BD3173945F8984F875473230C9C8FE2FA606029775FF2DF6D17FB363E15C719ED3B078B17F6696ED8FFC2DC66B96FF8512EE0A97B09026F7273CD04809D3CFDD8F000000FFFF504B0708448F5EB03E020000030B0000504B0304140008000800000000000000000000000000000000001900000046696C65732F6B756265726E657465732F7765622E79616D6C7C53D14FDB4E0C7ECF5F61E5C7C36F529302D32474120F15050969044459F7B04DC85C4D726A72773ABB2D28EAFF3E254DB232CAFC76B63F7F9FEDF37F30810D3DC14576A5C05982F9F41BFC1F6FE829FE3402230CDAD96793AF028A717604081E99372E2C00ED021098C2DA684A23F4664E818DB30AD627D1D2D885828B167D833EAA487081822A02B058916A78138F3971D4FB8D5DD04B5A48552A881F0AC360188EEA7976F5789DCD1E26D9C5E56336B9B9DCA63F6D1C2549729874463A907CC058BADCD88825189B4FBB68DF9282F8A8BE9BCC66DF6FEFA7EA5C1768734A2ADAFE93ACEDFF305BC49E74E3612A498B0B0A6AF4BE8D6D1B6217849B7802F50E5488F851EB5770763C02C19093DC75EFB3E3ED3B25E83D8F073953F2A57BADC87ED0FFA028902F8D465670B2AF2F0200A85074F1159FA8E4BF040B55BE44A12E6F8FA1B1F21004A0A76C0C57E22AB7B2D2CD6DA275F37A704BB20A9EB164EA32B5B382C652E01E9BECB5019D990A73521007CA0D4B784D97679C1A37A6534A8458923681C798DBC2B1A8A37A7E793FBBBECDD4F969FAE5F3361E2A61C859C10F4B422FA47F0DFE6147BD887A50B6BF963E4E767D155CB50FE0F63FDED3B3EAB73C7CC43FB8B52B5715DD34C378CBB643B487328276747728858271EBEA0BECE0EF46B5BBAFBE9AEEAFF18D90AECEEF000000FFFF504B0708CF7055EEF50100000B040000504B010214001400080008000000000088333E32D100000008010000190000000000000000000000000000000000544F5343412D4D657461646174612F544F5343412E6D657461504B0102140014000800080000000000448F5EB03E020000030B0000150000000000000000000000000018010000446566696E6974696F6E732F766E66642E79616D6C504B0102140014000800080000000000CF7055EEF50100000B04000019000000000000000000000000009903000046696C65732F6B756265726E657465732F7765622E79616D6C504B05060000000003000300D1000000D50500000000');
INSERT INTO vnf_package_uses VALUES ('6628f5ae-4f6d-4657-9769-59c95b25b6a3', '7474070c-0b81-4be7-8d1b-1e0f0112acd3');
INSERT INTO vnf_packages VALUES ('6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'platform', 'enabled', 'web-1.0', '06eeb884-f832-49be-bd96-a2742b8be786', 1724, 1795673654783887, 1795673654798791, 4, '{"ID":"6628f5ae-4f6d-4657-9769-59c95b25b6a3","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"06eeb884-f832-49be-bd96-a2742b8be786","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T06:14:14.783887Z","UpdatedAt":"2026-11-26T06:14:14.798791Z","OnboardedAt":"2026-11-26T06:14:14.79871Z","TouchedAt":"2026-11-26T06:14:14.798791Z","Revision":4,"InUse":false}');
INSERT INTO vnf_subscriptions VALUES ('22307760-f1fd-4ef0-a18c-419e12da8158', 'platform', 'http://127.0.0.1:46045', 'http://127.0.0.1:44987', 'FULL', '{}', '[]', '45b68a9d194b3e79d3cd00e58ba9e0f20dc3e68047042bdef62e4a9c37d09fdc', 'admin', 1795673654840955, 'active', 1795673654848632, '', '', '', 0, 0, 0, 0, '', 0, 0, 0);
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
