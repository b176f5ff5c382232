-- What callers keep with a VIM, and the user name of a generation's credential.

ALTER TABLE vims ADD COLUMN description text NOT NULL DEFAULT '';
-- a JSON object, '' where there is none; kept as it was written
ALTER TABLE vims ADD COLUMN extra text NOT NULL DEFAULT '';
ALTER TABLE vim_generations ADD COLUMN username text NOT NULL DEFAULT '';
