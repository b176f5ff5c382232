-- What of the parameters of VNF instances is shown to nobody, sealed under keys of their own. The documents of
-- instances and operations name it.

CREATE TABLE vnf_hidden (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    instance   text COLLATE "C" NOT NULL,
    vim        text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    since      timestamptz      NOT NULL, -- when it entered the state
    generation bigint           NOT NULL, -- of the key
    sealed     text             NOT NULL,
    key_store  text             NOT NULL,
    key_ref    text             NOT NULL,
    CONSTRAINT hidden_state_known CHECK (state IN ('making', 'kept', 'rekeying', 'abandoned')),
    CONSTRAINT hidden_has_a_key CHECK ((sealed = '') = (key_ref = ''))
);

CREATE INDEX hidden_by_instance ON vnf_hidden (instance);
CREATE INDEX hidden_by_vim ON vnf_hidden (vim, id);
CREATE INDEX hidden_unsettled ON vnf_hidden (since, id) WHERE state <> 'kept';
