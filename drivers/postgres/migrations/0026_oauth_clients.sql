-- Programs that log in by OAuth 2.0. Of a secret only the digest is kept.

CREATE TABLE oauth_clients (
    id              text COLLATE "C" NOT NULL PRIMARY KEY,
    project         text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    roles           text[]           NOT NULL,
    state           text COLLATE "C" NOT NULL,
    sha256          text COLLATE "C" NOT NULL, -- of its secret, '' once it is being deleted
    previous_sha256 text COLLATE "C" NOT NULL, -- of the secret before, '' where there is none
    previous_until  timestamptz      NOT NULL,
    rotated_at      timestamptz      NOT NULL,
    ending          boolean          NOT NULL, -- leases of it are to be revoked
    created_by      text             NOT NULL,
    created_at      timestamptz      NOT NULL,
    updated_at      timestamptz      NOT NULL,
    revision        bigint           NOT NULL,
    CONSTRAINT client_state_known CHECK (state IN ('active', 'deleting')),
    CONSTRAINT client_deleting_has_no_secret CHECK (sha256 = '' AND previous_sha256 = '' OR state <> 'deleting'),
    CONSTRAINT client_deleting_ends_its_leases CHECK (ending OR state <> 'deleting')
);

CREATE UNIQUE INDEX client_name_once_per_project ON oauth_clients (project, name);
CREATE INDEX client_ending ON oauth_clients (project, name) WHERE ending;
