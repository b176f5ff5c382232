-- Who is told what becomes of VNF instances, and what they are still to be told.

CREATE TABLE vnf_subscriptions (
    id            TEXT    NOT NULL PRIMARY KEY,
    project       TEXT    NOT NULL,
    callback      TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    verbosity     TEXT    NOT NULL,
    filter        TEXT    NOT NULL, -- JSON
    auth          TEXT    NOT NULL, -- JSON
    digest        TEXT    NOT NULL, -- of callback, verbosity and filter
    created_by    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    state         TEXT    NOT NULL,
    sealed        TEXT    NOT NULL,
    key_store     TEXT    NOT NULL,
    key_ref       TEXT    NOT NULL,
    delivered     INTEGER NOT NULL,
    delivered_at  INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    failing_since INTEGER NOT NULL,
    fault         TEXT    NOT NULL,
    given_up      INTEGER NOT NULL,
    given_up_at   INTEGER NOT NULL,
    CONSTRAINT subscription_state_known CHECK (state IN ('making', 'abandoned', 'active')),
    CONSTRAINT subscription_secret_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) STRICT;

CREATE UNIQUE INDEX subscription_once_per_project ON vnf_subscriptions (project, digest);
CREATE INDEX subscription_newest ON vnf_subscriptions (created_at DESC, id DESC);
CREATE INDEX subscription_by_project ON vnf_subscriptions (project, created_at DESC, id DESC);
CREATE INDEX subscription_unfinished ON vnf_subscriptions (created_at DESC, id DESC) WHERE state <> 'active';

CREATE TABLE vnf_notifications (
    seq          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    document     TEXT    NOT NULL
) STRICT;

CREATE INDEX notification_by_subscription ON vnf_notifications (subscription, seq);
