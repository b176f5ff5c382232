-- What stands on VIMs, written by those who own it: a VIM with a row here is not deleted.

CREATE TABLE vim_uses (
    vim     TEXT NOT NULL CONSTRAINT vim_in_use_stays REFERENCES vims (id),
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (vim, kind, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX vim_use_by_subject ON vim_uses (kind, subject);
