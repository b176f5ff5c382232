-- Clusters of Cluster API, and the VIMs on which it runs.

-- why no new lease is issued, '' while leases are
ALTER TABLE vims ADD COLUMN suspended TEXT NOT NULL DEFAULT '';

CREATE TABLE management_clusters (
    vim            TEXT    NOT NULL PRIMARY KEY REFERENCES vims (id) ON DELETE CASCADE,
    namespaces     TEXT    NOT NULL, -- JSON array
    selector       TEXT    NOT NULL, -- JSON object
    projects       TEXT    NOT NULL, -- JSON object, '' is the project of all other namespaces
    secret_name    TEXT    NOT NULL,
    secret_key     TEXT    NOT NULL,
    name_template  TEXT    NOT NULL,
    copy_labels    TEXT    NOT NULL, -- JSON array
    control_planes TEXT    NOT NULL, -- JSON array
    enabled_by     TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    watched_at     INTEGER NOT NULL,
    trouble        TEXT    NOT NULL,
    held_at        INTEGER NOT NULL,
    released_until INTEGER NOT NULL,
    revision       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE clusters (
    id            TEXT    NOT NULL PRIMARY KEY,
    management    TEXT    NOT NULL REFERENCES management_clusters (vim) ON DELETE CASCADE,
    namespace     TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    uid           TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    message       TEXT    NOT NULL,
    vim           TEXT    NOT NULL, -- id, which may be gone
    system        TEXT    NOT NULL,
    secret        TEXT    NOT NULL, -- a version, never what it holds
    ready_at      INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    gone_at       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    CONSTRAINT cluster_state_known CHECK
        (state IN ('waiting', 'registering', 'registered', 'quarantined', 'retiring', 'retired')),
    CONSTRAINT cluster_registered_is_a_vim CHECK (vim <> '' OR state NOT IN ('registered', 'retiring'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX cluster_object_once ON clusters (management, namespace, name, uid);
CREATE UNIQUE INDEX cluster_system_once ON clusters (system) WHERE system <> '' AND state <> 'retired';
CREATE INDEX cluster_by_state ON clusters (state, reason);
