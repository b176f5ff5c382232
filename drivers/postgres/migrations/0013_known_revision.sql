-- A version that knows no epochs takes an account of a lease for gone where it looks for
-- another kind of object. So it must not write such a lease: each version that knows
-- epochs says beside the revision that it wrote it.

ALTER TABLE leases ADD COLUMN known_revision bigint NOT NULL DEFAULT 1;
ALTER TABLE leases ADD CONSTRAINT lease_written_knowingly CHECK (epoch = 0 OR known_revision = revision) NOT VALID;

-- Nor may it delete a VIM on which it would leave a grant's namespace and bindings.
ALTER TABLE grants DROP CONSTRAINT grants_vim_fkey;
ALTER TABLE grants ADD CONSTRAINT grant_outlives_no_vim FOREIGN KEY (vim) REFERENCES vims (id) NOT VALID;
