-- How far the entries of the audit log have been delivered to each sink.

CREATE TABLE audit_cursors (
    sink    text COLLATE "C" NOT NULL,
    -- the last entry that was delivered or skipped
    seq     bigint           NOT NULL,
    -- how many entries the log had when the sink was begun
    start   bigint           NOT NULL,
    skipped bigint           NOT NULL,
    CONSTRAINT audit_cursor_once PRIMARY KEY (sink),
    CONSTRAINT audit_cursor_from_zero CHECK (seq >= 0 AND start >= 0 AND skipped >= 0)
) WITH (fillfactor = 10);

CREATE TRIGGER audit_cursor_only_grows BEFORE UPDATE ON audit_cursors
    FOR EACH ROW WHEN (NEW.sink <> OLD.sink OR NEW.start <> OLD.start OR NEW.seq <= OLD.seq OR NEW.skipped < OLD.skipped)
    EXECUTE FUNCTION refuse_change();
