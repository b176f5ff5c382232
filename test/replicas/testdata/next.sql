-- What a next version may do while the one before serves: add columns and indexes to
-- the tables that every request uses, and put a rule in place of another.

ALTER TABLE vims ADD COLUMN colour text NOT NULL DEFAULT 'red';
ALTER TABLE leases ADD COLUMN colour text NOT NULL DEFAULT 'red';
ALTER TABLE vim_generations ADD COLUMN colour text NOT NULL DEFAULT 'red';
CREATE INDEX lease_by_colour ON leases (colour, created_at, id);

ALTER TABLE leases DROP CONSTRAINT lease_state_known;
ALTER TABLE leases ADD CONSTRAINT lease_state_known
    CHECK (state IN ('pending', 'active', 'revoking', 'revoked', 'irrevocable', 'frozen')) NOT VALID;
