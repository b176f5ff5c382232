-- How far the entries of the audit log have been delivered to each sink.

CREATE TABLE audit_cursors (
    sink    TEXT    NOT NULL,
    -- the last entry that was delivered or skipped
    seq     INTEGER NOT NULL,
    -- how many entries the log had when the sink was begun
    start   INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    CONSTRAINT audit_cursor_once PRIMARY KEY (sink),
    CONSTRAINT audit_cursor_from_zero CHECK (seq >= 0 AND start >= 0 AND skipped >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_cursor_only_grows BEFORE UPDATE ON audit_cursors
WHEN NEW.sink <> OLD.sink OR NEW.start <> OLD.start OR NEW.seq <= OLD.seq OR NEW.skipped < OLD.skipped
BEGIN
    SELECT RAISE(ABORT, 'audit_cursor_only_grows');
END;
