-- Leases that stand for months, under which short tokens are minted: how long those live, and the
-- digest of the secret that has one minted. Any lease may serve a VNF instance of another VNFM.

ALTER TABLE leases ADD COLUMN instance      TEXT    NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN token_ttl     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN secret_sha256 TEXT    NOT NULL DEFAULT '';
