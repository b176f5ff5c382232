-- Jobs, and the fence of each subject.

CREATE TABLE jobs (
    kind     TEXT    NOT NULL,
    subject  TEXT    NOT NULL,
    -- how often it was enqueued, and how many of these are done
    wanted   INTEGER NOT NULL,
    done     INTEGER NOT NULL,
    -- grows with every attempt
    fence    INTEGER NOT NULL,
    -- how many attempts failed in a row
    failures INTEGER NOT NULL,
    -- when the next attempt may begin, unless a running one moves it
    due_at   INTEGER NOT NULL,

    CONSTRAINT job_once_per_subject PRIMARY KEY (kind, subject),
    CONSTRAINT job_has_kind_and_subject CHECK (kind <> '' AND subject <> ''),
    CONSTRAINT job_done_is_wanted CHECK (done >= 0 AND done <= wanted)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_due ON jobs (due_at) WHERE done < wanted;
