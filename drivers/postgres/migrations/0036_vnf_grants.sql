-- What VNFMs that are clients were granted for their operations: a document, and what is looked for.

CREATE TABLE vnf_grants (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    client     text COLLATE "C" NOT NULL,
    operation  text COLLATE "C" NOT NULL, -- the operation occurrence at the VNFM
    instance   text COLLATE "C" NOT NULL, -- the VNF instance at the VNFM
    created_at timestamptz      NOT NULL,
    state      text COLLATE "C" NOT NULL,
    lease      text COLLATE "C" NOT NULL, -- '' before it is granted
    holds      boolean          NOT NULL, -- its lease is the instance's
    followed   boolean          NOT NULL, -- it is looked at again at look_at
    look_at    timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL,
    CONSTRAINT vnf_grant_state_known CHECK (state IN ('deciding', 'granted', 'refused', 'ended'))
);

CREATE UNIQUE INDEX vnf_grant_once_per_operation ON vnf_grants (client, operation);
CREATE INDEX vnf_grant_holding ON vnf_grants (client, instance, created_at) WHERE holds;
CREATE INDEX vnf_grant_due ON vnf_grants (look_at) WHERE followed;
CREATE INDEX vnf_grant_over ON vnf_grants (created_at) WHERE state IN ('refused', 'ended');
