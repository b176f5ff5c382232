-- What of the parameters of VNF instances is shown to nobody, sealed under keys of their own. The documents of
-- instances and operations name it.

CREATE TABLE vnf_hidden (
    id         TEXT    NOT NULL PRIMARY KEY,
    instance   TEXT    NOT NULL,
    vim        TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    since      INTEGER NOT NULL, -- when it entered the state
    generation INTEGER NOT NULL, -- of the key
    sealed     TEXT    NOT NULL,
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    CONSTRAINT hidden_state_known CHECK (state IN ('making', 'kept', 'rekeying', 'abandoned')),
    CONSTRAINT hidden_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) STRICT;

CREATE INDEX hidden_by_instance ON vnf_hidden (instance);
CREATE INDEX hidden_by_vim ON vnf_hidden (vim, id);
CREATE INDEX hidden_unsettled ON vnf_hidden (since, id) WHERE state <> 'kept';

-- An operation that has ended is not planned again: it needs no parameters.
UPDATE vnf_operations SET document = json_remove(document, '$.before.parameters', '$.target.parameters')
    WHERE state IN ('COMPLETED', 'FAILED', 'ROLLED_BACK') AND document LIKE '%"parameters":%';
