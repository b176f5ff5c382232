-- Which operations wait for their turn (turn_at is 0), since when, and on which VIM they are worked.
ALTER TABLE vnf_operations ADD COLUMN vim TEXT NOT NULL DEFAULT '';
ALTER TABLE vnf_operations ADD COLUMN queued_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vnf_operations ADD COLUMN turn_at INTEGER NOT NULL DEFAULT 0;

-- Those that are there have a job.
UPDATE vnf_operations SET queued_at = started_at, turn_at = started_at;
