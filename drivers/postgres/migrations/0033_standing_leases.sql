-- Leases that stand for months, under which short tokens are minted: how long those live, and the
-- digest of the secret that has one minted. Any lease may serve a VNF instance of another VNFM.

ALTER TABLE leases
    ADD COLUMN instance      text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN token_ttl     bigint           NOT NULL DEFAULT 0,
    ADD COLUMN secret_sha256 text COLLATE "C" NOT NULL DEFAULT '';
