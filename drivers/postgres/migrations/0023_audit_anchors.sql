-- How far each place outside of the database has checkpoints of the audit log.
CREATE TABLE audit_anchors (
    anchor text COLLATE "C" NOT NULL,
    size   bigint           NOT NULL,
    time   timestamptz      NOT NULL,
    CONSTRAINT audit_anchor_once PRIMARY KEY (anchor)
);
