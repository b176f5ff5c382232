-- VNF packages, their bytes, and which VNF instances were made from them.

CREATE TABLE vnf_packages (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    project    text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    vnfd       text COLLATE "C" NOT NULL, -- '' until the package is onboarded
    content    text COLLATE "C" NOT NULL, -- what its chunks are stored under; '' where there are none
    stored     bigint           NOT NULL, -- bytes of its chunks
    created_at timestamptz      NOT NULL,
    touched_at timestamptz      NOT NULL,
    revision   bigint           NOT NULL,
    document   text             NOT NULL, -- JSON: everything else
    CONSTRAINT package_state_known CHECK (state IN ('created', 'uploading', 'processing', 'enabled', 'disabled')),
    CONSTRAINT package_onboarded_has_vnfd CHECK (vnfd <> '' OR state NOT IN ('enabled', 'disabled')),
    CONSTRAINT package_created_has_no_content CHECK (content = '' OR state <> 'created')
);

CREATE UNIQUE INDEX package_vnfd_once_per_project ON vnf_packages (project, vnfd) WHERE vnfd <> '';
CREATE INDEX package_by_project ON vnf_packages (project, created_at, id);
CREATE INDEX package_by_age ON vnf_packages (created_at, id);
CREATE INDEX package_uploading ON vnf_packages (touched_at) WHERE state IN ('uploading', 'processing');

CREATE TABLE vnf_package_chunks (
    content text COLLATE "C" NOT NULL,
    number  integer          NOT NULL,
    bytes   bytea            NOT NULL,
    PRIMARY KEY (content, number)
);
-- Packages are compressed already.
ALTER TABLE vnf_package_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Contents that no package names any more, and whose chunks are still to be removed.
CREATE TABLE vnf_contents_gone (
    content text COLLATE "C" NOT NULL PRIMARY KEY
);

-- A package that is in use cannot be deleted.
CREATE TABLE vnf_package_uses (
    package  text COLLATE "C" NOT NULL CONSTRAINT package_in_use_stays REFERENCES vnf_packages (id),
    instance text COLLATE "C" NOT NULL,
    PRIMARY KEY (package, instance)
);

CREATE INDEX package_use_by_instance ON vnf_package_uses (instance);
