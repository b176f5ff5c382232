-- The user name of a generation's credential belongs to what never changes.

DROP TRIGGER generation_never_changes;

CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify,
    server_name, namespace, scope, discovered, identity, credential_kind, credential_expires_at, username ON vim_generations
BEGIN
    SELECT RAISE(ABORT, 'generation_never_changes');
END;
