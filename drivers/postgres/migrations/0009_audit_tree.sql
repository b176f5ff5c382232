-- Audit entries that wait for their place in the log. They are written with their
-- change, by many at once; one writer at a time moves them to audit_entries.
CREATE TABLE audit_inbox (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time      timestamptz      NOT NULL,
    request   text             NOT NULL,
    principal text COLLATE "C" NOT NULL,
    project   text COLLATE "C" NOT NULL,
    action    text COLLATE "C" NOT NULL,
    kind      text             NOT NULL,
    resource  text COLLATE "C" NOT NULL,
    outcome   text             NOT NULL,
    -- object of strings
    detail    json             NOT NULL,
    CONSTRAINT audit_inbox_outcome_known CHECK (outcome IN ('denied', 'read', 'intent', 'done', 'failed'))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

CREATE TRIGGER audit_inbox_never_changes BEFORE UPDATE ON audit_inbox FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_inbox_never_emptied BEFORE TRUNCATE ON audit_inbox FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The Merkle tree over audit_entries, in tiles of 256 hashes.
CREATE TABLE audit_tiles (
    level  bigint NOT NULL,
    number bigint NOT NULL,
    hashes bytea  NOT NULL,
    CONSTRAINT audit_tile_once PRIMARY KEY (level, number)
);

ALTER TABLE audit_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

CREATE TRIGGER audit_tiles_only_grow BEFORE UPDATE ON audit_tiles
    FOR EACH ROW WHEN (octet_length(NEW.hashes) <= octet_length(OLD.hashes)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON audit_tiles FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_tiles_never_emptied BEFORE TRUNCATE ON audit_tiles FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE audit_tree (
    id   integer NOT NULL PRIMARY KEY CHECK (id = 1),
    size bigint  NOT NULL,
    root bytea   NOT NULL
) WITH (fillfactor = 10);

INSERT INTO audit_tree (id, size, root)
VALUES (1, 0, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

CREATE TRIGGER audit_tree_only_grows BEFORE UPDATE ON audit_tree
    FOR EACH ROW WHEN (NEW.size <= OLD.size) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_tree_stays BEFORE DELETE ON audit_tree FOR EACH ROW EXECUTE FUNCTION refuse_change();
