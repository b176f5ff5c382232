-- Whether a renewal of a lease was begun. Of those that are there it is not known.

ALTER TABLE leases ADD COLUMN renewal_begun INTEGER NOT NULL DEFAULT 1
    CONSTRAINT lease_renewal_begun_is_boolean CHECK (renewal_begun IN (0, 1));
