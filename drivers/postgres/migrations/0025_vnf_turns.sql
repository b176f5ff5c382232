-- Which operations wait for their turn (turn_at is '-infinity'), since when, and on which VIM they are worked. What a
-- version before begins has a job at once, and so its turn.
ALTER TABLE vnf_operations ADD COLUMN vim text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE vnf_operations ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE vnf_operations ADD COLUMN turn_at timestamptz NOT NULL DEFAULT now();
