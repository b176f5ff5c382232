-- The hash of the token that a cluster's kubeconfig can be pushed with, until when, and when that was done.
ALTER TABLE clusters ADD COLUMN push_token TEXT NOT NULL DEFAULT '';
ALTER TABLE clusters ADD COLUMN push_expires_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clusters ADD COLUMN pushed_at INTEGER NOT NULL DEFAULT 0;
