-- Clusters of Cluster API, and the VIMs on which it runs.

-- why no new lease is issued, '' while leases are
ALTER TABLE vims ADD COLUMN suspended text NOT NULL DEFAULT '';

CREATE TABLE management_clusters (
    vim            text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES vims (id) ON DELETE CASCADE,
    namespaces     text[]           NOT NULL,
    selector       json             NOT NULL,
    projects       json             NOT NULL, -- '' is the project of all other namespaces
    secret_name    text             NOT NULL,
    secret_key     text             NOT NULL,
    name_template  text             NOT NULL,
    copy_labels    text[]           NOT NULL,
    control_planes text[]           NOT NULL,
    enabled_by     text             NOT NULL,
    created_at     timestamptz      NOT NULL,
    updated_at     timestamptz      NOT NULL,
    watched_at     timestamptz      NOT NULL,
    trouble        text             NOT NULL,
    held_at        timestamptz      NOT NULL,
    released_until timestamptz      NOT NULL,
    revision       bigint           NOT NULL
);

CREATE TABLE clusters (
    id            text COLLATE "C" NOT NULL PRIMARY KEY,
    management    text COLLATE "C" NOT NULL REFERENCES management_clusters (vim) ON DELETE CASCADE,
    namespace     text COLLATE "C" NOT NULL,
    name          text COLLATE "C" NOT NULL,
    uid           text COLLATE "C" NOT NULL,
    project       text COLLATE "C" NOT NULL,
    state         text COLLATE "C" NOT NULL,
    reason        text COLLATE "C" NOT NULL,
    message       text             NOT NULL,
    vim           text COLLATE "C" NOT NULL, -- id, which may be gone
    system        text COLLATE "C" NOT NULL,
    secret        text             NOT NULL, -- a version, never what it holds
    ready_at      timestamptz      NOT NULL,
    registered_at timestamptz      NOT NULL,
    gone_at       timestamptz      NOT NULL,
    created_at    timestamptz      NOT NULL,
    updated_at    timestamptz      NOT NULL,
    attempts      bigint           NOT NULL,
    revision      bigint           NOT NULL,
    CONSTRAINT cluster_state_known CHECK
        (state IN ('waiting', 'registering', 'registered', 'quarantined', 'retiring', 'retired')),
    CONSTRAINT cluster_registered_is_a_vim CHECK (vim <> '' OR state NOT IN ('registered', 'retiring'))
);

CREATE UNIQUE INDEX cluster_object_once ON clusters (management, namespace, name, uid);
CREATE UNIQUE INDEX cluster_system_once ON clusters (system) WHERE system <> '' AND state <> 'retired';
CREATE INDEX cluster_by_state ON clusters (state, reason);
