-- How long a lease's credential works where nobody revokes it, '-infinity' where that is
-- not known; what stood on the VIM when the lease was issued; what its holder has left there.

ALTER TABLE leases ADD COLUMN credential_ends_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE leases ADD COLUMN stood text NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN left_behind text[] NOT NULL DEFAULT '{}';
