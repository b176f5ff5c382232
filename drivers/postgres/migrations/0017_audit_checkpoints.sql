-- Keys that sign checkpoints of the audit log, and the checkpoints.

CREATE TABLE audit_keys (
    id          text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    origin      text             NOT NULL,
    verifier    text             NOT NULL,
    -- sizes of the log between which its checkpoints count
    since       bigint           NOT NULL,
    until       bigint           NOT NULL,
    endorsement text             NOT NULL,
    created_at  timestamptz      NOT NULL,
    ended_at    timestamptz      NOT NULL,
    sealed      text             NOT NULL,
    key_store   text             NOT NULL,
    key_ref     text COLLATE "C" NOT NULL,
    CONSTRAINT audit_key_once PRIMARY KEY (id),
    CONSTRAINT audit_key_state_known CHECK (state IN ('making', 'abandoned', 'signing', 'retired', 'revoked'))
);

CREATE UNIQUE INDEX audit_one_key_signs ON audit_keys (state) WHERE state = 'signing';

CREATE TRIGGER audit_key_stays_what_it_is BEFORE UPDATE ON audit_keys
    FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.origin <> OLD.origin OR NEW.created_at <> OLD.created_at
        OR OLD.state <> 'making' AND (NEW.verifier <> OLD.verifier OR NEW.since <> OLD.since OR NEW.endorsement <> OLD.endorsement))
    EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_key_never_returns BEFORE UPDATE ON audit_keys
    FOR EACH ROW WHEN (OLD.state IN ('retired', 'revoked') AND (NEW.state NOT IN (OLD.state, 'revoked') OR NEW.until > OLD.until))
    EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_keys_stay BEFORE DELETE ON audit_keys
    FOR EACH ROW WHEN (OLD.state <> 'abandoned') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_keys_never_emptied BEFORE TRUNCATE ON audit_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE audit_checkpoints (
    size bigint           NOT NULL,
    root bytea            NOT NULL,
    time timestamptz      NOT NULL,
    key  text COLLATE "C" NOT NULL,
    note text             NOT NULL,
    CONSTRAINT audit_checkpoint_once PRIMARY KEY (size)
);

CREATE TRIGGER audit_checkpoints_never_change BEFORE UPDATE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_checkpoints_stay BEFORE DELETE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_checkpoints_never_emptied BEFORE TRUNCATE ON audit_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
