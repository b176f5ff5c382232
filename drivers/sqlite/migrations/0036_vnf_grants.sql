-- What VNFMs that are clients were granted for their operations: a document, and what is looked for.

CREATE TABLE vnf_grants (
    id         TEXT NOT NULL PRIMARY KEY,
    client     TEXT NOT NULL,
    operation  TEXT NOT NULL, -- the operation occurrence at the VNFM
    instance   TEXT NOT NULL, -- the VNF instance at the VNFM
    created_at INTEGER      NOT NULL,
    state      TEXT NOT NULL,
    lease      TEXT NOT NULL, -- '' before it is granted
    holds      INTEGER          NOT NULL, -- its lease is the instance's
    followed   INTEGER          NOT NULL, -- it is looked at again at look_at
    look_at    INTEGER      NOT NULL,
    revision   INTEGER           NOT NULL,
    document   TEXT             NOT NULL,
    CONSTRAINT vnf_grant_state_known CHECK (state IN ('deciding', 'granted', 'refused', 'ended'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX vnf_grant_once_per_operation ON vnf_grants (client, operation);
CREATE INDEX vnf_grant_holding ON vnf_grants (client, instance, created_at) WHERE holds;
CREATE INDEX vnf_grant_due ON vnf_grants (look_at) WHERE followed;
CREATE INDEX vnf_grant_over ON vnf_grants (created_at) WHERE state IN ('refused', 'ended');
