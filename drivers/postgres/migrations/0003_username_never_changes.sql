-- The user name of a generation's credential belongs to what never changes.

CREATE OR REPLACE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify,
    server_name, namespace, scope, discovered, identity, credential_kind, credential_expires_at, username ON vim_generations
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- The oldest schema whose versions work on this database. A migration that takes
-- away what versions use raises it.
CREATE TABLE schema_floor (
    id      integer NOT NULL PRIMARY KEY CHECK (id = 1),
    version bigint  NOT NULL
);

INSERT INTO schema_floor (id, version) VALUES (1, 3);
