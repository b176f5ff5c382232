-- What the version with schema 6 writes, statement by statement, with values.
INSERT INTO leases (operation, state, reason, role, namespaces,
    format, purpose, issued_at, expires_at, max_expires_at, renewed_at, renewal_begun, credential_kind, unlisted, derived,
    revocable, max_revocation_lag, revoked_at, confirmed_dead_at, handle, sealed, sealed_key,
    attempts, next_attempt_at, last_error, revision, idempotency_key, request_digest,
    id, vim, vim_name, vim_type, vim_project, vim_generation, project, principal, created_at)
VALUES ('', 'pending', '', 'edit', '{}', 'kubeconfig', '', '-infinity', '-infinity', '2030-01-02 00:00:00+00', '-infinity', false, '', false, false,
    false, 0, '-infinity', '-infinity', 'handle-late', '', '', 0, '-infinity', '', 1, 'key-late', 'digest',
    'late', 'core', 'core', 'kubernetes', 'north', 2, 'north', 'bob', '2030-01-01 02:00:00+00');
UPDATE leases SET operation = '', state = 'active', reason = '', role = 'edit', namespaces = '{}',
    format = 'kubeconfig', purpose = '', issued_at = '2030-01-01 02:00:00+00', expires_at = '2030-01-01 03:00:00+00',
    max_expires_at = '2030-01-02 00:00:00+00', renewed_at = '-infinity', renewal_begun = false,
    credential_kind = 'bearerToken', unlisted = false, derived = true, revocable = true, max_revocation_lag = 10000000, revoked_at = '-infinity',
    confirmed_dead_at = '-infinity', handle = 'handle-late', sealed = 'sealed-late', sealed_key = 'ref-2', attempts = 0, next_attempt_at = '-infinity', last_error = '',
    revision = 2, idempotency_key = 'key-late', request_digest = 'digest' WHERE id = 'late';
UPDATE leases SET attempts = 1, next_attempt_at = '2030-01-01 03:00:00+00', last_error = 'unreachable' WHERE id = 'late';
UPDATE leases SET attempts = 0, next_attempt_at = least(next_attempt_at, '2030-01-01 02:30:00+00')
    WHERE vim = 'core' AND due_at IS NOT NULL AND state <> 'active' AND attempts > 0;
UPDATE vims SET health = 'unreachable', health_checked = '2030-01-01 02:00:00+00', health_message = 'm', health_version = 'v1',
    can_mint = true, mint_message = '', health_next = '2030-01-01 02:01:00+00' WHERE id = 'core' AND generation = 2;
INSERT INTO vims (id, project, name, type, state, shared, is_default, created_by, created_at,
    updated_at, revision, generation, pending, pending_since, health, health_checked, health_message,
    health_version, can_mint, mint_message, health_next, idempotency_key, request_digest, description, extra)
VALUES ('late', 'north', 'late', 'kubernetes', 'registering', false, false, 'bob', '2030-01-01 02:00:00+00',
    '2030-01-01 02:00:00+00', 1, 0, 1, '2030-01-01 02:00:00+00', 'unchecked', '-infinity', '',
    '', false, '', '-infinity', '', '', '', '');
INSERT INTO vim_generations (vim, number, endpoint, ca_cert, insecure_skip_verify,
    server_name, namespace, scope, discovered, identity, credential_kind, username, credential_expires_at, sealed, key_ref, key_store)
VALUES ('late', 1, 'https://late.example', '', false, '', '', '{}', '', '', 'bearerToken', '', '-infinity', 'sealed', 'ref-9', 'keydir');
UPDATE vims SET name = 'late', type = 'kubernetes', state = 'registered', shared = false, is_default = false,
    updated_at = '2030-01-01 02:00:00+00', revision = 2, generation = 1, pending = 0, pending_since = '-infinity', health = 'reachable', health_checked = '-infinity',
    health_message = '', health_version = '', can_mint = true, mint_message = '', health_next = '-infinity',
    idempotency_key = '', request_digest = '', description = '', extra = '' WHERE id = 'late';
UPDATE vims SET pending = 2, pending_since = '2030-01-01 02:00:00+00', updated_at = '2030-01-01 02:00:00+00', revision = 3 WHERE id = 'late';
UPDATE vim_generations SET sealed = 'again', key_ref = 'ref-10', key_store = 'keydir' WHERE vim = 'late' AND number = 1;
