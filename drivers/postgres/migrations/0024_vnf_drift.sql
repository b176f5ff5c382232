-- What the pass that looks at instances has seen: when it tried last, how many resources are missing or were
-- changed, whether the VIM did not answer, and the rest as JSON. A version before writes none of it.
ALTER TABLE vnf_instances ADD COLUMN observed_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE vnf_instances ADD COLUMN drifted bigint NOT NULL DEFAULT 0;
ALTER TABLE vnf_instances ADD COLUMN unseen boolean NOT NULL DEFAULT false;
ALTER TABLE vnf_instances ADD COLUMN drift text NOT NULL DEFAULT '{}';

CREATE INDEX vnf_instance_to_observe ON vnf_instances (observed_at, id) WHERE state = 'INSTANTIATED';
