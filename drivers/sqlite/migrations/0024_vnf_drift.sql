-- What the pass that looks at instances has seen: when it tried last, how many resources are missing or were
-- changed, whether the VIM did not answer, and the rest as JSON.
ALTER TABLE vnf_instances ADD COLUMN observed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vnf_instances ADD COLUMN drifted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vnf_instances ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vnf_instances ADD COLUMN drift TEXT NOT NULL DEFAULT '{}';

CREATE INDEX vnf_instance_to_observe ON vnf_instances (observed_at, id) WHERE state = 'INSTANTIATED';
