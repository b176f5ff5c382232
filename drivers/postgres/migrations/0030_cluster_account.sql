-- The profile of the account of the broker's own that takes the place of a cluster's credential; empty where
-- that is kept, as it was before.
ALTER TABLE management_clusters ADD COLUMN account text NOT NULL DEFAULT '';
