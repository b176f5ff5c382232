-- How long a lease's credential works where nobody revokes it, 0 where that is not
-- known; what stood on the VIM when the lease was issued; what its holder has left there.

ALTER TABLE leases ADD COLUMN credential_ends_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN stood TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN left_behind TEXT NOT NULL DEFAULT 'null'; -- JSON array of strings
