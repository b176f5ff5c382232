-- What a lease writes to the log of the database. It can be repeated, and servers go on writing leases.

-- First: a lease that waits behind what follows writes it still.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'live_leases'::regclass AND attname = 'grant_digest' AND NOT attisdropped) THEN
        ALTER TABLE live_leases ALTER COLUMN grant_digest SET DEFAULT '';
    END IF;
END $$;
-- then
-- A live lease is found by its VIM and time, so that it needs no index of ids. The epoch of its grant, which is drawn
-- by lot, says enough of the grant.
CREATE OR REPLACE FUNCTION follow_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was boolean := TG_OP = 'UPDATE' AND OLD.state <> 'revoked';
    was_due timestamptz;
    due timestamptz := lease_due(NEW.state, NEW.expires_at, NEW.next_attempt_at, NEW.sealed <> '');
BEGIN
    IF was AND NEW.state = 'revoked' THEN
        DELETE FROM live_leases WHERE vim = NEW.vim AND created_at = NEW.created_at AND id = NEW.id;
        UPDATE ended_leases SET n = n + 1 WHERE part = pg_backend_pid() % 32;
    ELSIF was AND NEW.state <> OLD.state THEN
        UPDATE live_leases SET state = NEW.state WHERE vim = NEW.vim AND created_at = NEW.created_at AND id = NEW.id;
    ELSIF NOT was AND NEW.state <> 'revoked' THEN
        INSERT INTO live_leases (id, created_at, vim, vim_project, project, principal, vim_generation, epoch, grade, state)
        VALUES (NEW.id, NEW.created_at, NEW.vim, NEW.vim_project, NEW.project, NEW.principal, NEW.vim_generation, NEW.epoch,
            NEW.grade, NEW.state);
        IF TG_OP = 'UPDATE' THEN
            UPDATE ended_leases SET n = n - 1 WHERE part = pg_backend_pid() % 32;
        END IF;
    END IF;

    IF TG_OP = 'UPDATE' THEN
        was_due := lease_due(OLD.state, OLD.expires_at, OLD.next_attempt_at, OLD.sealed <> '');
    END IF;
    IF was_due IS NULL AND due IS NOT NULL THEN
        INSERT INTO lease_turns (due_at, vim, id, vim_project, vim_generation)
        VALUES (due, NEW.vim, NEW.id, NEW.vim_project, NEW.vim_generation);
    ELSIF due IS NULL THEN
        DELETE FROM lease_turns WHERE vim = NEW.vim AND due_at = was_due AND id = NEW.id;
    ELSIF due <> was_due THEN
        UPDATE lease_turns SET due_at = due WHERE vim = NEW.vim AND due_at = was_due AND id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
-- then
ALTER TABLE live_leases DROP CONSTRAINT IF EXISTS live_lease_once, DROP COLUMN IF EXISTS grant_digest;

-- then
-- With less room each change would clear a page of the versions before.
ALTER TABLE ended_leases SET (fillfactor = 50);
-- then
-- An update logs a row from the first byte that changes to the last: what changes of a lease stands
-- side by side at its end. Only where no lease is, as rows that are there would have to be written anew.
DO $$
BEGIN
    IF EXISTS (SELECT FROM leases) OR (SELECT attnum FROM pg_attribute WHERE attrelid = 'leases'::regclass AND attname = 'state')
        > (SELECT attnum FROM pg_attribute WHERE attrelid = 'leases'::regclass AND attname = 'secret_sha256') THEN
        RETURN;
    END IF;
    LOCK TABLE leases IN ACCESS EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM leases) THEN
        RETURN;
    END IF;
    DROP TRIGGER lease_revoked_stays_so ON leases;
    DROP TRIGGER lease_followed_when_created ON leases;
    DROP TRIGGER lease_followed_when_changed ON leases;
    DROP TRIGGER lease_credential_dropped ON leases;
    ALTER TABLE leases
        DROP COLUMN issued_at, DROP COLUMN expires_at, DROP COLUMN credential_ends_at, DROP COLUMN max_revocation_lag,
        DROP COLUMN credential_kind, DROP COLUMN uid, DROP COLUMN credential_id, DROP COLUMN sealed_key, DROP COLUMN sealed,
        DROP COLUMN confirmed_dead_at, DROP COLUMN revision, DROP COLUMN revoked_at, DROP COLUMN next_attempt_at,
        DROP COLUMN attempts, DROP COLUMN state, DROP COLUMN reason, DROP COLUMN last_error;
    ALTER TABLE leases
        -- when it is issued
        ADD COLUMN issued_at          timestamptz      NOT NULL,
        ADD COLUMN expires_at         timestamptz      NOT NULL,
        ADD COLUMN credential_ends_at timestamptz      NOT NULL DEFAULT '-infinity',
        ADD COLUMN max_revocation_lag bigint           NOT NULL,
        ADD COLUMN credential_kind    text             NOT NULL,
        ADD COLUMN uid                text             NOT NULL DEFAULT '',
        ADD COLUMN credential_id      text             NOT NULL DEFAULT '',
        ADD COLUMN sealed_key         text             NOT NULL,
        -- when it is confirmed dead
        ADD COLUMN sealed             text             NOT NULL,
        ADD COLUMN confirmed_dead_at  timestamptz      NOT NULL,
        -- with every move
        ADD COLUMN revision           bigint           NOT NULL,
        ADD COLUMN revoked_at         timestamptz      NOT NULL,
        ADD COLUMN next_attempt_at    timestamptz      NOT NULL,
        ADD COLUMN attempts           bigint           NOT NULL,
        ADD COLUMN state              text COLLATE "C" NOT NULL,
        ADD COLUMN reason             text             NOT NULL,
        ADD COLUMN last_error         text             NOT NULL,
        ADD CONSTRAINT lease_state_known CHECK (state IN ('pending', 'active', 'revoking', 'revoked', 'irrevocable')),
        ADD CONSTRAINT lease_revision_from_one CHECK (revision >= 1),
        ADD CONSTRAINT lease_expires_after_issue CHECK ((issued_at = '-infinity' AND state <> 'active') OR expires_at > issued_at),
        ADD CONSTRAINT lease_revoked_has_time CHECK (state <> 'revoked' OR revoked_at > '-infinity'),
        ADD CONSTRAINT lease_attempts_from_zero CHECK (attempts >= 0);
    CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON leases
        FOR EACH ROW WHEN (OLD.state = 'revoked' AND NEW.state NOT IN ('revoked', 'irrevocable')) EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER lease_followed_when_created AFTER INSERT ON leases
        FOR EACH ROW WHEN (NEW.state <> 'revoked' OR NEW.sealed <> '') EXECUTE FUNCTION follow_lease();
    CREATE TRIGGER lease_followed_when_changed AFTER UPDATE ON leases
        FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.expires_at <> NEW.expires_at
            OR OLD.next_attempt_at <> NEW.next_attempt_at OR (OLD.sealed <> '') <> (NEW.sealed <> ''))
        EXECUTE FUNCTION follow_lease();
    CREATE TRIGGER lease_credential_dropped AFTER UPDATE OF sealed ON leases
        FOR EACH ROW WHEN (OLD.sealed = 'apart' AND NEW.sealed <> 'apart') EXECUTE FUNCTION drop_lease_credential();
END $$;
