-- When callers' static tokens were last used, by the beginning of their digests.

CREATE TABLE token_uses (
    token   text COLLATE "C" PRIMARY KEY,
    used_at timestamptz NOT NULL
);
