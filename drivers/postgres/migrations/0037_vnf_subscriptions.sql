-- Who is told what becomes of VNF instances, and what they are still to be told.

CREATE TABLE vnf_subscriptions (
    id            text COLLATE "C" NOT NULL PRIMARY KEY,
    project       text COLLATE "C" NOT NULL,
    callback      text             NOT NULL,
    base          text             NOT NULL,
    verbosity     text             NOT NULL,
    filter        text             NOT NULL, -- JSON
    auth          text[]           NOT NULL,
    digest        text COLLATE "C" NOT NULL, -- of callback, verbosity and filter
    created_by    text             NOT NULL,
    created_at    timestamptz      NOT NULL,
    state         text COLLATE "C" NOT NULL,
    sealed        text             NOT NULL,
    key_store     text             NOT NULL,
    key_ref       text             NOT NULL,
    delivered     bigint           NOT NULL,
    delivered_at  timestamptz      NOT NULL,
    failures      bigint           NOT NULL,
    failing_since timestamptz      NOT NULL,
    fault         text             NOT NULL,
    given_up      bigint           NOT NULL,
    given_up_at   timestamptz      NOT NULL,
    CONSTRAINT subscription_state_known CHECK (state IN ('making', 'abandoned', 'active')),
    CONSTRAINT subscription_secret_has_a_key CHECK ((sealed = '') = (key_ref = ''))
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX subscription_once_per_project ON vnf_subscriptions (project, digest);
CREATE INDEX subscription_newest ON vnf_subscriptions (created_at DESC, id DESC);
CREATE INDEX subscription_by_project ON vnf_subscriptions (project, created_at DESC, id DESC);
CREATE INDEX subscription_unfinished ON vnf_subscriptions (created_at DESC, id DESC) WHERE state <> 'active';

CREATE TABLE vnf_notifications (
    seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription text COLLATE "C" NOT NULL,
    at           timestamptz      NOT NULL,
    document     text             NOT NULL
);

CREATE INDEX notification_by_subscription ON vnf_notifications (subscription, seq);
