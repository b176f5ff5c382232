-- The sealed credentials of leases, in bytes and apart from their rows: a row with a long value is locked in the log
-- once more with each change. What stands in leases is 'apart' then. Used once no earlier version is left.

CREATE TABLE lease_credentials (
    lease  text COLLATE "C" NOT NULL,
    sealed bytea            NOT NULL,
    CONSTRAINT lease_credential_once PRIMARY KEY (lease)
);

ALTER TABLE lease_credentials ALTER COLUMN sealed SET STORAGE EXTERNAL; -- it does not compress

CREATE FUNCTION drop_lease_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lease_credentials WHERE lease = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER lease_credential_dropped AFTER UPDATE OF sealed ON leases
    FOR EACH ROW WHEN (OLD.sealed = 'apart' AND NEW.sealed <> 'apart') EXECUTE FUNCTION drop_lease_credential();
