-- The projects that a VIM is shared with; the roles that the holder of a lease had when
-- it was issued or last renewed.

CREATE TABLE vim_shares (
    shared_with text COLLATE "C" NOT NULL,
    vim_project text COLLATE "C" NOT NULL,
    vim_name    text COLLATE "C" NOT NULL,
    CONSTRAINT share_once_per_vim PRIMARY KEY (shared_with, vim_project, vim_name),
    CONSTRAINT share_follows_vim FOREIGN KEY (vim_project, vim_name) REFERENCES vims (project, name)
        ON UPDATE CASCADE ON DELETE CASCADE
);

CREATE INDEX vim_shares_by_name ON vim_shares (vim_name, vim_project, shared_with);

ALTER TABLE leases ADD COLUMN holder_roles text[] NOT NULL DEFAULT '{}';
