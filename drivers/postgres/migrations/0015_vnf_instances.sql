-- VNF instances and the operations on them. What is not looked for is in the document, as JSON.

CREATE TABLE vnf_instances (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    project    text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    created_at timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL
);

CREATE INDEX vnf_instance_by_project ON vnf_instances (project, created_at DESC, id DESC);
CREATE INDEX vnf_instance_newest ON vnf_instances (created_at DESC, id DESC);

CREATE TABLE vnf_operations (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    instance   text COLLATE "C" NOT NULL REFERENCES vnf_instances (id),
    project    text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    started_at timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL
);

-- one operation of an instance at a time
CREATE UNIQUE INDEX vnf_operation_live_once_per_instance ON vnf_operations (instance)
    WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK');
CREATE INDEX vnf_operation_by_instance ON vnf_operations (instance, started_at DESC, id DESC);
CREATE INDEX vnf_operation_by_project ON vnf_operations (project, started_at DESC, id DESC);
CREATE INDEX vnf_operation_newest ON vnf_operations (started_at DESC, id DESC);
