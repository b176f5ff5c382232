-- What stands on VIMs, written by those who own it: a VIM with a row here is not deleted.

CREATE TABLE vim_uses (
    vim     text COLLATE "C" NOT NULL CONSTRAINT vim_in_use_stays REFERENCES vims (id),
    kind    text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    PRIMARY KEY (vim, kind, subject)
);

CREATE INDEX vim_use_by_subject ON vim_uses (kind, subject);
