-- What callers keep with a VIM, and the user name of a generation's credential.

ALTER TABLE vims ADD COLUMN description TEXT NOT NULL DEFAULT '';
-- a JSON object, '' where there is none; kept as it was written
ALTER TABLE vims ADD COLUMN extra TEXT NOT NULL DEFAULT '';
ALTER TABLE vim_generations ADD COLUMN username TEXT NOT NULL DEFAULT '';
