-- Keys that sign the tokens of clients. The private half lies sealed under a key in a key store.

CREATE TABLE oauth_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    state      TEXT    NOT NULL,
    public     TEXT    NOT NULL, -- JWK, '' while it is being made
    sealed     TEXT    NOT NULL,
    key_store  TEXT    NOT NULL,
    key_ref    TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER NOT NULL, -- its tokens have expired then
    CONSTRAINT oauth_key_state_known CHECK (state IN ('making', 'abandoned', 'signing', 'verifying')),
    CONSTRAINT oauth_key_signing_is_whole CHECK ((public <> '' AND sealed <> '' AND key_ref <> '') OR state <> 'signing'),
    CONSTRAINT oauth_key_verifying_has_no_private_half CHECK ((sealed = '' AND key_ref = '') OR state = 'signing')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX oauth_key_signs_alone ON oauth_keys (state) WHERE state = 'signing';
