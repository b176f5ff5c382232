-- The hash of the token that a cluster's kubeconfig can be pushed with, until when, and when that was done.
ALTER TABLE clusters ADD COLUMN push_token text NOT NULL DEFAULT '';
ALTER TABLE clusters ADD COLUMN push_expires_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE clusters ADD COLUMN pushed_at timestamptz NOT NULL DEFAULT '-infinity';
