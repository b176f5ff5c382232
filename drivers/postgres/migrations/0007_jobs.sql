-- Jobs, and the fence of each subject.

CREATE TABLE jobs (
    kind     text COLLATE "C" NOT NULL,
    subject  text COLLATE "C" NOT NULL,
    -- how often it was enqueued, and how many of these are done
    wanted   bigint           NOT NULL,
    done     bigint           NOT NULL,
    -- grows with every attempt
    fence    bigint           NOT NULL,
    -- how many attempts failed in a row
    failures bigint           NOT NULL,
    -- when the next attempt may begin, unless a running one moves it
    due_at   timestamptz      NOT NULL,

    CONSTRAINT job_once_per_subject PRIMARY KEY (kind, subject),
    CONSTRAINT job_has_kind_and_subject CHECK (kind <> '' AND subject <> ''),
    CONSTRAINT job_done_is_wanted CHECK (done >= 0 AND done <= wanted)
);

CREATE INDEX job_due ON jobs (due_at) WHERE done < wanted;
