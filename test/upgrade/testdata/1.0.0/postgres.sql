-- of 0001_schema.sql, sha256 6617a9f5a0857db11439699a67d92b36f6bf2d5d53518ab4c2bcf6c573b1cc0e



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;


CREATE FUNCTION public.count_vim() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    change record;
BEGIN
    FOR change IN
        SELECT c.part, c.value, sum(c.delta) AS delta
        FROM (SELECT 'state' AS part, NEW.state AS value, 1 AS delta WHERE TG_OP <> 'DELETE'
              UNION ALL SELECT 'health', NEW.health, 1 WHERE TG_OP <> 'DELETE'
              UNION ALL SELECT 'state', OLD.state, -1 WHERE TG_OP <> 'INSERT'
              UNION ALL SELECT 'health', OLD.health, -1 WHERE TG_OP <> 'INSERT') AS c
        GROUP BY c.part, c.value HAVING sum(c.delta) <> 0 ORDER BY c.part DESC, c.value
    LOOP
        UPDATE vim_census SET n = n + change.delta WHERE part = change.part AND value = change.value;
        IF NOT FOUND THEN
            INSERT INTO vim_census AS c (part, value, n) VALUES (change.part, change.value, change.delta)
            ON CONFLICT (part, value) DO UPDATE SET n = c.n + change.delta;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;



CREATE FUNCTION public.drop_lease_credential() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM lease_credentials WHERE lease = NEW.id;
    RETURN NULL;
END $$;



CREATE FUNCTION public.follow_lease() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    was boolean := TG_OP = 'UPDATE' AND OLD.state <> 'revoked';
    was_due timestamptz;
    due timestamptz := lease_due(NEW.state, NEW.expires_at, NEW.next_attempt_at, NEW.sealed <> '');
BEGIN
    IF was AND NEW.state = 'revoked' THEN
        DELETE FROM live_leases WHERE vim = NEW.vim AND created_at = NEW.created_at AND id = NEW.id;
        UPDATE ended_leases SET n = n + 1 WHERE part = pg_backend_pid() % 32;
    ELSIF was AND NEW.state <> OLD.state THEN
        UPDATE live_leases SET state = NEW.state WHERE vim = NEW.vim AND created_at = NEW.created_at AND id = NEW.id;
    ELSIF NOT was AND NEW.state <> 'revoked' THEN
        INSERT INTO live_leases (id, created_at, vim, vim_project, project, principal, vim_generation, epoch, grade, state)
        VALUES (NEW.id, NEW.created_at, NEW.vim, NEW.vim_project, NEW.project, NEW.principal, NEW.vim_generation, NEW.epoch,
            NEW.grade, NEW.state);
        IF TG_OP = 'UPDATE' THEN
            UPDATE ended_leases SET n = n - 1 WHERE part = pg_backend_pid() % 32;
        END IF;
    END IF;

    IF TG_OP = 'UPDATE' THEN
        was_due := lease_due(OLD.state, OLD.expires_at, OLD.next_attempt_at, OLD.sealed <> '');
    END IF;
    IF was_due IS NULL AND due IS NOT NULL THEN
        INSERT INTO lease_turns (due_at, vim, id, vim_project, vim_generation)
        VALUES (due, NEW.vim, NEW.id, NEW.vim_project, NEW.vim_generation);
    ELSIF due IS NULL THEN
        DELETE FROM lease_turns WHERE vim = NEW.vim AND due_at = was_due AND id = NEW.id;
    ELSIF due <> was_due THEN
        UPDATE lease_turns SET due_at = due WHERE vim = NEW.vim AND due_at = was_due AND id = NEW.id;
    END IF;
    RETURN NULL;
END $$;



CREATE FUNCTION public.follow_removed_leases() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE ended_leases SET n = n - (SELECT count(*) FROM removed) WHERE part = pg_backend_pid() % 32;
    RETURN NULL;
END $$;



CREATE FUNCTION public.lease_due(state text, expires_at timestamp with time zone, next_attempt_at timestamp with time zone, sealed boolean) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state WHEN 'active' THEN expires_at
                      WHEN 'revoking' THEN next_attempt_at
                      WHEN 'revoked' THEN CASE WHEN sealed THEN next_attempt_at END END
$$;



CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;



CREATE FUNCTION public.refuse_horizon() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.id = OLD.id AND NEW.seq >= OLD.seq AND NEW.seq < (SELECT size FROM audit_tree WHERE id = 1)
        AND NEW.seq <= (SELECT max(size) FROM audit_checkpoints) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;



CREATE FUNCTION public.refuse_young_entry() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.seq <= (SELECT seq FROM audit_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;



CREATE FUNCTION public.refuse_young_lease() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.state = 'revoked' AND OLD.sealed = '' AND OLD.revoked_at < (SELECT until FROM lease_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_NAME, CONSTRAINT = TG_NAME;
END $$;


SET default_tablespace = '';

SET default_table_access_method = heap;


CREATE TABLE public.audit_anchors (
    anchor text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    "time" timestamp with time zone NOT NULL
);



CREATE TABLE public.audit_checkpoints (
    size bigint NOT NULL,
    root bytea NOT NULL,
    "time" timestamp with time zone NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    note text NOT NULL
);



CREATE TABLE public.audit_cursors (
    sink text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    start bigint NOT NULL,
    skipped bigint NOT NULL,
    CONSTRAINT audit_cursor_from_zero CHECK (((seq >= 0) AND (start >= 0) AND (skipped >= 0)))
)
WITH (fillfactor='10');



CREATE TABLE public.audit_entries (
    seq bigint NOT NULL,
    "time" timestamp with time zone NOT NULL,
    request text NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    detail json NOT NULL,
    CONSTRAINT audit_outcome_known CHECK ((outcome = ANY (ARRAY['denied'::text, 'read'::text, 'intent'::text, 'done'::text, 'failed'::text])))
);



CREATE TABLE public.audit_head (
    id integer NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT audit_head_id_check CHECK ((id = 1))
)
WITH (fillfactor='10');



CREATE TABLE public.audit_horizon (
    id integer NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT audit_horizon_id_check CHECK ((id = 1))
)
WITH (fillfactor='10');



CREATE TABLE public.audit_inbox (
    id bigint NOT NULL,
    "time" timestamp with time zone NOT NULL,
    request text NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    detail json NOT NULL,
    CONSTRAINT audit_inbox_outcome_known CHECK ((outcome = ANY (ARRAY['denied'::text, 'read'::text, 'intent'::text, 'done'::text, 'failed'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');



ALTER TABLE public.audit_inbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE public.audit_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL,
    verifier text NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    endorsement text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    sealed text NOT NULL,
    key_store text NOT NULL,
    key_ref text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT audit_key_state_known CHECK ((state = ANY (ARRAY['making'::text, 'abandoned'::text, 'signing'::text, 'retired'::text, 'revoked'::text])))
);



CREATE TABLE public.audit_tiles (
    level bigint NOT NULL,
    number bigint NOT NULL,
    hashes bytea NOT NULL
);
ALTER TABLE ONLY public.audit_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;



CREATE TABLE public.audit_tree (
    id integer NOT NULL,
    size bigint NOT NULL,
    root bytea NOT NULL,
    CONSTRAINT audit_tree_id_check CHECK ((id = 1))
)
WITH (fillfactor='10');



CREATE TABLE public.clusters (
    id text NOT NULL COLLATE pg_catalog."C",
    management text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    message text NOT NULL,
    vim text NOT NULL COLLATE pg_catalog."C",
    former text NOT NULL COLLATE pg_catalog."C",
    system text NOT NULL COLLATE pg_catalog."C",
    rival text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL,
    push_token text NOT NULL,
    push_expires_at timestamp with time zone NOT NULL,
    pushed_at timestamp with time zone NOT NULL,
    ready_at timestamp with time zone NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    gone_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    attempts bigint NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT cluster_registered_is_a_vim CHECK (((vim <> ''::text) OR (state <> ALL (ARRAY['registered'::text, 'retiring'::text])))),
    CONSTRAINT cluster_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'registering'::text, 'registered'::text, 'quarantined'::text, 'retiring'::text, 'retired'::text])))
);



CREATE TABLE public.ended_leases (
    part integer NOT NULL,
    n bigint NOT NULL
)
WITH (fillfactor='50');



CREATE TABLE public.grants (
    vim text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    epoch bigint NOT NULL,
    role text NOT NULL,
    rules text NOT NULL,
    namespaces text[] NOT NULL,
    cluster_wide boolean NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    idle_since timestamp with time zone NOT NULL,
    CONSTRAINT grant_epoch_from_one CHECK ((epoch >= 1)),
    CONSTRAINT grant_has_digest CHECK ((digest <> ''::text)),
    CONSTRAINT grant_state_known CHECK ((state = ANY (ARRAY['open'::text, 'closing'::text, 'closed'::text])))
);



CREATE TABLE public.jobs (
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    wanted bigint NOT NULL,
    done bigint NOT NULL,
    fence bigint NOT NULL,
    failures bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    CONSTRAINT job_done_is_wanted CHECK (((done >= 0) AND (done <= wanted))),
    CONSTRAINT job_has_kind_and_subject CHECK (((kind <> ''::text) AND (subject <> ''::text)))
);



CREATE TABLE public.lease_credentials (
    lease text NOT NULL COLLATE pg_catalog."C",
    sealed bytea NOT NULL
);
ALTER TABLE ONLY public.lease_credentials ALTER COLUMN sealed SET STORAGE EXTERNAL;



CREATE TABLE public.lease_horizon (
    id integer NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT lease_horizon_id_check CHECK ((id = 1))
)
WITH (fillfactor='10');



CREATE TABLE public.lease_turns (
    due_at timestamp with time zone NOT NULL,
    vim text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    vim_project text NOT NULL COLLATE pg_catalog."C",
    vim_generation bigint NOT NULL
)
WITH (fillfactor='70');



CREATE TABLE public.leases (
    id text NOT NULL COLLATE pg_catalog."C",
    vim text NOT NULL COLLATE pg_catalog."C",
    vim_name text NOT NULL,
    vim_type text NOT NULL,
    vim_project text NOT NULL COLLATE pg_catalog."C",
    vim_generation bigint NOT NULL,
    project text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    namespaces text[] NOT NULL,
    format text NOT NULL,
    purpose text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    max_expires_at timestamp with time zone NOT NULL,
    renewed_at timestamp with time zone NOT NULL,
    unlisted boolean NOT NULL,
    derived boolean NOT NULL,
    revocable boolean NOT NULL,
    handle text NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    request_digest text NOT NULL,
    renewal_begun boolean NOT NULL,
    rules text NOT NULL,
    cluster_wide boolean NOT NULL,
    grade text NOT NULL COLLATE pg_catalog."C",
    grade_reasons text[] NOT NULL,
    grant_digest text NOT NULL COLLATE pg_catalog."C",
    epoch bigint NOT NULL,
    stood text NOT NULL,
    left_behind text[] NOT NULL,
    holder_roles text[] NOT NULL,
    instance text NOT NULL COLLATE pg_catalog."C",
    for_whom text NOT NULL COLLATE pg_catalog."C",
    planned boolean NOT NULL,
    token_ttl bigint NOT NULL,
    login text NOT NULL COLLATE pg_catalog."C",
    secret_sha256 text NOT NULL COLLATE pg_catalog."C",
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    credential_ends_at timestamp with time zone NOT NULL,
    max_revocation_lag bigint NOT NULL,
    credential_kind text NOT NULL,
    uid text NOT NULL,
    credential_id text NOT NULL,
    sealed_key text NOT NULL,
    sealed text NOT NULL,
    confirmed_dead_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    revoked_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    attempts bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    last_error text NOT NULL,
    CONSTRAINT lease_attempts_from_zero CHECK ((attempts >= 0)),
    CONSTRAINT lease_expires_after_issue CHECK ((((issued_at = '-infinity'::timestamp with time zone) AND (state <> 'active'::text)) OR (expires_at > issued_at))),
    CONSTRAINT lease_has_id CHECK ((id <> ''::text)),
    CONSTRAINT lease_revision_from_one CHECK ((revision >= 1)),
    CONSTRAINT lease_revoked_has_time CHECK (((state <> 'revoked'::text) OR (revoked_at > '-infinity'::timestamp with time zone))),
    CONSTRAINT lease_state_known CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'revoking'::text, 'revoked'::text, 'irrevocable'::text])))
)
WITH (fillfactor='50');



CREATE TABLE public.live_leases (
    id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    vim text NOT NULL COLLATE pg_catalog."C",
    vim_project text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    vim_generation bigint NOT NULL,
    epoch bigint NOT NULL,
    grade text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='70');



CREATE TABLE public.management_clusters (
    vim text NOT NULL COLLATE pg_catalog."C",
    namespaces text[] NOT NULL,
    namespace_selector json NOT NULL,
    selector json NOT NULL,
    projects json NOT NULL,
    secret_name text NOT NULL,
    secret_key text NOT NULL,
    name_template text NOT NULL,
    copy_labels text[] NOT NULL,
    control_planes text[] NOT NULL,
    account text NOT NULL,
    max_gone bigint NOT NULL,
    max_gone_share bigint NOT NULL,
    annotation text NOT NULL COLLATE pg_catalog."C",
    enabled_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    watched_at timestamp with time zone NOT NULL,
    trouble text NOT NULL,
    held_at timestamp with time zone NOT NULL,
    released_until timestamp with time zone NOT NULL,
    revision bigint NOT NULL
);



CREATE TABLE public.oauth_clients (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    roles text[] NOT NULL,
    certificate text NOT NULL,
    placements text NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    sha256 text NOT NULL COLLATE pg_catalog."C",
    previous_sha256 text NOT NULL COLLATE pg_catalog."C",
    previous_until timestamp with time zone NOT NULL,
    rotated_at timestamp with time zone NOT NULL,
    ending boolean NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    CONSTRAINT client_deleting_ends_its_leases CHECK ((ending OR (state <> 'deleting'::text))),
    CONSTRAINT client_deleting_has_no_secret CHECK ((((sha256 = ''::text) AND (previous_sha256 = ''::text)) OR (state <> 'deleting'::text))),
    CONSTRAINT client_state_known CHECK ((state = ANY (ARRAY['active'::text, 'deleting'::text])))
);



CREATE TABLE public.oauth_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    public text NOT NULL,
    sealed text NOT NULL,
    key_store text NOT NULL,
    key_ref text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT oauth_key_signing_is_whole CHECK ((((public <> ''::text) AND (sealed <> ''::text) AND (key_ref <> ''::text)) OR (state <> 'signing'::text))),
    CONSTRAINT oauth_key_state_known CHECK ((state = ANY (ARRAY['making'::text, 'abandoned'::text, 'signing'::text, 'verifying'::text]))),
    CONSTRAINT oauth_key_verifying_has_no_private_half CHECK ((((sealed = ''::text) AND (key_ref = ''::text)) OR (state = 'signing'::text)))
);



CREATE TABLE public.probe (
    id integer NOT NULL,
    probed_at timestamp with time zone NOT NULL,
    CONSTRAINT probe_id_check CHECK ((id = 1))
)
WITH (fillfactor='10');



CREATE TABLE public.retired_keys (
    id bigint NOT NULL,
    key_store text NOT NULL COLLATE pg_catalog."C",
    key_ref text NOT NULL COLLATE pg_catalog."C",
    vim text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    retired_at timestamp with time zone NOT NULL
);



ALTER TABLE public.retired_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.retired_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE public.schema_floor (
    id integer NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT schema_floor_id_check CHECK ((id = 1))
);



CREATE TABLE public.schema_migrations (
    version bigint NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone NOT NULL
);



CREATE TABLE public.token_uses (
    token text NOT NULL COLLATE pg_catalog."C",
    used_at timestamp with time zone NOT NULL
);



CREATE TABLE public.used_tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    until timestamp with time zone NOT NULL
);



CREATE TABLE public.vim_census (
    part text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    CONSTRAINT vim_census_from_zero CHECK ((n >= 0)),
    CONSTRAINT vim_census_part_known CHECK ((part = ANY (ARRAY['state'::text, 'health'::text])))
)
WITH (fillfactor='10');



CREATE TABLE public.vim_generations (
    vim text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    endpoint text NOT NULL,
    ca_cert text NOT NULL,
    insecure_skip_verify boolean NOT NULL,
    server_name text NOT NULL,
    namespace text NOT NULL,
    scope text NOT NULL,
    shared_kinds text NOT NULL,
    pods_held_by text NOT NULL,
    discovered text NOT NULL,
    identity text NOT NULL,
    username text NOT NULL,
    credential_kind text NOT NULL,
    credential_expires_at timestamp with time zone NOT NULL,
    sealed text NOT NULL,
    sealed_as text NOT NULL,
    key_ref text NOT NULL COLLATE pg_catalog."C",
    key_store text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT generation_from_one CHECK ((number >= 1)),
    CONSTRAINT generation_names_its_key CHECK (((key_ref <> ''::text) AND (key_store <> ''::text))),
    CONSTRAINT generation_sealed_as_known CHECK ((sealed_as = ANY (ARRAY['current'::text, 'past'::text])))
);



CREATE TABLE public.vim_labels (
    vim text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.vim_shares (
    shared_with text NOT NULL COLLATE pg_catalog."C",
    vim_project text NOT NULL COLLATE pg_catalog."C",
    vim_name text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.vim_uses (
    vim text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.vims (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    request_digest text NOT NULL,
    description text NOT NULL,
    extra text NOT NULL,
    shared boolean NOT NULL,
    is_default boolean NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    suspended text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    generation bigint NOT NULL,
    pending bigint NOT NULL,
    pending_since timestamp with time zone NOT NULL,
    unsettled_since timestamp with time zone GENERATED ALWAYS AS (
CASE
    WHEN (state = 'registering'::text) THEN created_at
    WHEN (pending > 0) THEN pending_since
    ELSE NULL::timestamp with time zone
END) STORED,
    health text NOT NULL COLLATE pg_catalog."C",
    health_checked timestamp with time zone NOT NULL,
    health_message text NOT NULL,
    health_version text NOT NULL,
    can_mint boolean NOT NULL,
    mint_message text NOT NULL,
    external_ips text NOT NULL,
    health_next timestamp with time zone NOT NULL,
    CONSTRAINT vim_generation_from_zero CHECK ((generation >= 0)),
    CONSTRAINT vim_has_id CHECK ((id <> ''::text)),
    CONSTRAINT vim_pending_has_since CHECK ((((pending = 0) AND (pending_since = '-infinity'::timestamp with time zone)) OR (pending > 0))),
    CONSTRAINT vim_revision_from_one CHECK ((revision >= 1)),
    CONSTRAINT vim_state_known CHECK ((state = ANY (ARRAY['registering'::text, 'registered'::text, 'draining'::text])))
);



CREATE TABLE public.vnf_contents_gone (
    content text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.vnf_grants (
    id text NOT NULL COLLATE pg_catalog."C",
    client text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    lease text NOT NULL COLLATE pg_catalog."C",
    holds boolean NOT NULL,
    followed boolean NOT NULL,
    look_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    document text NOT NULL,
    CONSTRAINT vnf_grant_state_known CHECK ((state = ANY (ARRAY['deciding'::text, 'granted'::text, 'refused'::text, 'ended'::text])))
);



CREATE TABLE public.vnf_instances (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    document text NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    drifted bigint NOT NULL,
    unseen boolean NOT NULL,
    drift text NOT NULL
);



CREATE TABLE public.vnf_notifications (
    seq bigint NOT NULL,
    subscription text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    document text NOT NULL
);



ALTER TABLE public.vnf_notifications ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.vnf_notifications_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE public.vnf_operations (
    id text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    document text NOT NULL,
    vim text NOT NULL COLLATE pg_catalog."C",
    queued_at timestamp with time zone NOT NULL,
    turn_at timestamp with time zone NOT NULL
);



CREATE TABLE public.vnf_package_chunks (
    content text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY public.vnf_package_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;



CREATE TABLE public.vnf_package_uses (
    package text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.vnf_packages (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    vnfd text NOT NULL COLLATE pg_catalog."C",
    content text NOT NULL COLLATE pg_catalog."C",
    stored bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    touched_at timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    document text NOT NULL,
    CONSTRAINT package_created_has_no_content CHECK (((content = ''::text) OR (state <> 'created'::text))),
    CONSTRAINT package_onboarded_has_vnfd CHECK (((vnfd <> ''::text) OR (state <> ALL (ARRAY['enabled'::text, 'disabled'::text])))),
    CONSTRAINT package_state_known CHECK ((state = ANY (ARRAY['created'::text, 'uploading'::text, 'processing'::text, 'enabled'::text, 'disabled'::text])))
);



CREATE TABLE public.vnf_secret_parameters (
    id text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    vim text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    generation bigint NOT NULL,
    sealed text NOT NULL,
    key_store text NOT NULL,
    key_ref text NOT NULL,
    CONSTRAINT secret_parameters_has_a_key CHECK (((sealed = ''::text) = (key_ref = ''::text))),
    CONSTRAINT secret_parameters_state_known CHECK ((state = ANY (ARRAY['making'::text, 'active'::text, 'rekeying'::text, 'abandoned'::text])))
);



CREATE TABLE public.vnf_subscriptions (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    callback text NOT NULL,
    base text NOT NULL,
    verbosity text NOT NULL,
    filter text NOT NULL,
    auth text[] NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    sealed text NOT NULL,
    key_store text NOT NULL,
    key_ref text NOT NULL,
    delivered bigint NOT NULL,
    delivered_at timestamp with time zone NOT NULL,
    failures bigint NOT NULL,
    failing_since timestamp with time zone NOT NULL,
    fault text NOT NULL,
    given_up bigint NOT NULL,
    given_up_at timestamp with time zone NOT NULL,
    refusals bigint NOT NULL,
    CONSTRAINT subscription_secret_has_a_key CHECK (((sealed = ''::text) = (key_ref = ''::text))),
    CONSTRAINT subscription_state_known CHECK ((state = ANY (ARRAY['making'::text, 'active'::text, 'rekeying'::text, 'abandoned'::text])))
)
WITH (fillfactor='50');






INSERT INTO public.audit_checkpoints VALUES (30, '\x6ba55e092697751df68deab490b0247de8b18b9710c7e671e0eb0b7ca2805de2', '2026-11-26 05:58:48.753076+00', '924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd', 'vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd
30
a6VeCSaXdR32jeq0kLAkfeixi5cQx+Zx4OsLfKKAXeI=

— vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd fOx1xTyx7sqrvlP/+5zzyyUhhP8GaoqJDKO4T2YtPq5QggcU4tNNcphPbYunfkk9zSMyfW6l5LkNzaOQ34n7YpVrhg0=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 05:58:47.975392+00', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"07c1fc7d307a1e35fea6745b93884ed18e5a00015e2f9fce74690504d2163a6c","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 05:58:48.014573+00', '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 05:58:48.031813+00', '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.endpoint":"https://127.0.0.1:34941","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 05:58:48.099709+00', '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34941","new.generation":"1","new.identity":"1d52c004-9c3b-4400-a65d-6782ca983ab7","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 05:58:48.111752+00', '924c9dff-0217-4722-9e5c-0e7f39491d4c', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 05:58:48.14838+00', '52c5be73-a34c-4760-8d07-c3722b5dc1fb', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.endpoint":"https://127.0.0.1:34941","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 05:58:48.18762+00', '52c5be73-a34c-4760-8d07-c3722b5dc1fb', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:c6e0722ce48ea5c1ec1ec441f823f6bff87fd0a304925516799038c3d5c733f4","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34941","new.generation":"1","new.identity":"1d52c004-9c3b-4400-a65d-6782ca983ab7","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 05:58:48.201149+00', 'f42f1cb8-373f-4139-ae9f-765ab57db1a3', 'admin', 'platform', 'vim:update', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 05:58:48.212799+00', 'baf9afda-0159-4153-a4ac-7bddddc4aa2a', 'admin', 'platform', 'vim:rotate', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 05:58:48.228155+00', 'baf9afda-0159-4153-a4ac-7bddddc4aa2a', 'admin', 'platform', 'vim:rotate', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 05:58:48.292051+00', 'ebef205e-7daf-4887-b868-812e2e12bf50', 'admin', 'platform', 'vim:check', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 05:58:48.322809+00', 'fea32b91-c37c-4f03-b492-2ea2baed0cd9', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 05:58:48.345153+00', 'fea32b91-c37c-4f03-b492-2ea2baed0cd9', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'done', '{"authenticator":"static","credential-id":"JTI=70f9866d-dc37-4303-a694-6c97629983eb","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T17:58:48Z","for":"dave","generation":"1","grade":"bounded","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 05:58:48.359645+00', '24ca117a-9349-48a3-8f86-f0cda03a31ec', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"dc0a38c1-4057-4184-bde1-2cd8e43a9eb4","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 05:58:48.411597+00', '24ca117a-9349-48a3-8f86-f0cda03a31ec', 'admin', 'platform', 'lease:issue', 'VIM', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'done', '{"authenticator":"static","credential-id":"JTI=62943e9e-b744-494f-8dea-320e8698f671","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T06:58:48Z","generation":"1","grade":"bounded","lease":"dc0a38c1-4057-4184-bde1-2cd8e43a9eb4","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 05:58:48.495867+00', 'a579de0f-0b9b-4101-be50-4fb696dd5575', 'admin', 'platform', 'client:create', 'Client', '01e71bdb-1557-4ab4-814d-e1960ea9f0c5', 'done', '{"authenticator":"static","client":"01e71bdb-1557-4ab4-814d-e1960ea9f0c5","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 05:58:48.528103+00', 'e392c0e1-2cc9-4efa-a632-43b966b3958c', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"e8b8c5d4-98bc-4030-8988-e71de2933b55","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 05:58:48.529712+00', 'c6ab633a-d6bd-4305-b807-147c066e5560', 'admin', 'platform', 'package:upload', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 05:58:48.535819+00', 'c6ab633a-d6bd-4305-b807-147c066e5560', 'admin', 'platform', 'package:upload', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 05:58:48.545495+00', 'c6ab633a-d6bd-4305-b807-147c066e5560', 'admin', 'platform', 'package:upload', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 05:58:48.552314+00', '8c550acb-1281-45c6-a671-9c7d9bed7388', 'admin', 'platform', 'package:show', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 05:58:48.562725+00', '37b4d3ab-92ea-45d4-8d2e-82dcef94ff2d', 'admin', 'platform', 'package:use', 'Package', 'e8b8c5d4-98bc-4030-8988-e71de2933b55', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 05:58:48.56365+00', '37b4d3ab-92ea-45d4-8d2e-82dcef94ff2d', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"0e7fb3f9-5a74-482e-b795-f3a9a6543b0b","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 05:58:48.623636+00', 'aed68a0e-6edc-47c4-972c-bf09bdf526f6', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f12a71b0-2529-4ad5-ac02-40ef215cbaa9"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 05:58:48.632522+00', 'aed68a0e-6edc-47c4-972c-bf09bdf526f6', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f12a71b0-2529-4ad5-ac02-40ef215cbaa9"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 05:58:48.644448+00', 'd6145d57-7b6a-449c-8c97-c0a5ebe1e78e', 'admin', 'platform', 'subscription:show', 'Subscription', 'f12a71b0-2529-4ad5-ac02-40ef215cbaa9', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 05:58:48.661895+00', '59fd26bf-f473-460d-88d1-f1e66a38ce7c', 'admin', 'platform', 'vim:show', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 05:58:48.664332+00', '0c6105a0-1830-459d-8850-d46fc946a8e7', 'admin', 'platform', 'vim:share', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 05:58:48.664787+00', '0c6105a0-1830-459d-8850-d46fc946a8e7', 'admin', 'platform', 'vim:update', 'VIM', '8ff8f899-c9e9-4d59-875b-641af2edcf72', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8ff8f899-c9e9-4d59-875b-641af2edcf72","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 05:58:48.682316+00', '342b4066-67e8-4fe5-96ce-6e7add79c76f', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 05:58:48.753081+00', '342b4066-67e8-4fe5-96ce-6e7add79c76f', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 05:58:48.763552+00', '6e46d016-0608-4c61-8d97-63cff63e554f', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 05:58:48.775048+00', 'a7b77165-52b9-4fd4-9100-7f650edf6b58', 'admin', 'platform', 'lease:revoke', 'Lease', '91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 05:58:48.778008+00', 'a7b77165-52b9-4fd4-9100-7f650edf6b58', 'admin', 'platform', 'lease:revoke', 'Lease', '91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"91535295-d1b3-4f1e-9f7a-550ae94e90f3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"df6e3117-4b6b-48f4-a3a3-294ebf595080","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 05:58:48.788459+00', 'e95e2526-0509-4d51-b6a5-4588e79739ff', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 05:58:48.790039+00', '74d25d31-d82c-4c54-99f8-17d25b89f7e1', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 05:58:48.832276+00', 'f9d8dd1a-183b-44c5-9b47-95f66d8d3319', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 05:58:48.842611+00', '56868104-f87a-4779-a421-fbec4565597a', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 05:58:48.855293+00', '034a766f-7c33-4f5b-9e3e-f5c348412668', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 05:58:48.866153+00', '2df503a2-72da-45f5-b2a8-d212f86c7696', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 40);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd', 'signing', 'vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd', 'vimbroker.audit/924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd+7cec75c5+AcbOGfVxSUHGOJtoLJVLJljh5KryVmQFjkD5moq6eGEm', 30, 0, '', '2026-11-26 05:58:48.682315+00', '-infinity', 'gAAAAABrB8qYFpQPD8aPkWQjeOsMBjtQOTWBpA2IEHIeR50doQBglmb99ZO3nHPgKH4TjCZpoVh-yNNxecUTZ4Jc3CXEIvTZlZHnR-7PWS1H6V2-nZMqcaPILUqjCnJrhwjhMXE1wluJXZuMsdkMSBVzVO1pDZeZl5OKbBxh56vt82fMGiN7p_2nI8aLB4PYjeyByQyCAUKHgv7GqyljA6HlK313epQ3EDYJwnUgNaNj3VAb3YLmg4AoLOLLy6ODmZHPKVhuPxSxm7P963UjP7s8zxL8o3FktsXhatDOZkPzniCRrvr7RKSkkQx8pi2M7AGswfypMQ0Frl3e28km4hvsy9ZmpaARI4zev-wqJlfRRGhGQPmq__aQIMcftmEZmEUVKaaqfhiXyzO5htcIjBsuCE0UKm7c0JOTzcAwvWqrxis1myeAJmWmxghGORI-x-6wUSWZ6NnaB8m6bcPxQiNxyXQHHq39wg==', 'keydir', '924dbe1d-8ad0-4abc-a6af-1e11e92b7bcd.1.e31731ce4ab5b248828b9e7e45c213d6');



INSERT INTO public.audit_tiles VALUES (0, 0, '\x2922aabc378a6a6d6720092f3787850bde03b2c721b9d10eb8c632100f433151cacd32df9386b92c5b7fafa94f49468cbb6bdf1977f6c0da6d6594ce80b71363458aa31fdbbb51e9e6358ae71e22edc52e043ca1e255414aaa287fed66b635fc1c4904871d00368d34b80d2bb3710531f186fd54d97f3d785902dfb1e731c686f73fce53498f8a5c23dafc9867e219d2f3c3e4881f356a7a183287a39b70d9653a038cda9c5065abf0ce864e2dc12b23648871e879b11f5944b74275b78c47254598c2fd2ae3143cd605daed55eb2efc7fa378973565df31adcdccf7f8ac5edf30a76203955fb992f8e2c8cbab9e2e364fdcab651ff95398298ee20d57b3e88bd1ae071699e78f59bd00870b832302571edb81ce24b63f0430def784ec8f027978a3f9903c40665c3bdd75b9fe27c0767d2f3634353c2537ada7edde517d6a383770f6c40594d28351d892e10d820fe88e7f3901e0fb80fa79a67927efec67a70d66c322a9262089a7bcb175736299c155931e3f55d0720b7430a03f5e89199b377e6fede212e1530652f52e50cd929278d8ad922070ad6d54bf3c0c6e51efe090f6ff51b2a8fe907f980ab9fce57fb74d2cd8b869ab146aac5449f95aa3c3f72dc4b9e3aea267fda505261156e0749e7143482353b08a17c861886aba38bd43368d21bd3f87f21e76e4d25b8889b99f3b4b6ede6cb7a77a3e224a345ff937ac52377c2f94a8b9ec747bb26165d4201574a177139625eceee97ce55509452f29dcf8ebd03344e06f4c302ca1e4aeffeb782be086467e4abe012ebf732dc0d41570c6b7546ec4d9e37a393d87f1f2e370269a65005bb75b8e9bc3ea65f7ada46b84a37cbbc9e15fcb76974e13e9c83b2adc37ee21bbbd2b7ee8aa23363c272ec43016a1e44686ee20b16f9da7ae88c3fe5a12b6dbf4b99948c2d6d4ca3aa72dc889276127586a54f9cf383c5efc8d8c540d9bcd19fbb90d27fbbab8d334c873dfbbfa075f67b9d58727fa4d4977ac9eec2fd84f7709dff555963ea713d65358c42948860b06ad2d3ba6dab99749589ec9ce711b0f5b0095ff9f381fd7832f758db9f4ffd3637a7699add7ecad0d4ad17af2db776556615a0e43abd47286b815f5cb5ec82d7134196e5d6b5b4b644cd504d3c9b02b39727431328a5ae5dc87063981daf7cb49b6afba5ee8579b245eb640b92c1faaab82b8518a5297f86e43101b382d0ca2d5233731e72f114e3c133e912ecbabd4dd6653b9d9ba7c9562ea59ef4df6af66b288228e4ddcfe4e4d55718fa2b19604381b4985d3c1c81e5e910e184beab4c94b6b8fea8d87375b12e61115571971b7fd5f92f93a379dc216668fa271c9660ac040ad7d3f0a20d394e7d37530a736783d3de00978ea792494007938cb70237af5ee49b57a81d0fa5badb2c97208882c463879c7d8c8d1d91594078f638b149a5996f1f4594bbdf7c58efc63d0b98f63379411c301bfd9d8fae3113d4322b43bf87dc551821a5ef33ed15098c8341e983a2fe7521e98622ceb67dd55d07bc22089bf47e2dd6865720a7a002421374a2b08158817d67888b9bb9f0552c980d14305371b6ae187ee41bb8e304e9b3a6d6368df3e7d45ea2a7da615229bfe721dcb5afd4a61456cdf09560186241e9202c516a9702546f92b05bf7f464ee763206ffb7914cdc7a5ef4018e2fcd767497279d06d2a5b6a8d523b7a9fc7cc4d87f45cb8a2c7d8b8d9e25a901e9929adce51cb039be1f914c414480f94433b8906496d5fc5d3f00b22cd25caebc2d93ceb1ccc541ccbf1c5d87a15423ed40f');



INSERT INTO public.audit_tree VALUES (1, 40, '\x33e9f2d3486915278bcb87287331fc6d26c796d157a89dfdcfb9c132b9cd3278');






INSERT INTO public.ended_leases VALUES (1, 0);
INSERT INTO public.ended_leases VALUES (2, 0);
INSERT INTO public.ended_leases VALUES (3, 0);
INSERT INTO public.ended_leases VALUES (4, 0);
INSERT INTO public.ended_leases VALUES (5, 0);
INSERT INTO public.ended_leases VALUES (6, 0);
INSERT INTO public.ended_leases VALUES (7, 0);
INSERT INTO public.ended_leases VALUES (8, 0);
INSERT INTO public.ended_leases VALUES (9, 0);
INSERT INTO public.ended_leases VALUES (10, 0);
INSERT INTO public.ended_leases VALUES (11, 0);
INSERT INTO public.ended_leases VALUES (12, 0);
INSERT INTO public.ended_leases VALUES (13, 0);
INSERT INTO public.ended_leases VALUES (14, 0);
INSERT INTO public.ended_leases VALUES (15, 0);
INSERT INTO public.ended_leases VALUES (16, 0);
INSERT INTO public.ended_leases VALUES (17, 0);
INSERT INTO public.ended_leases VALUES (18, 0);
INSERT INTO public.ended_leases VALUES (19, 0);
INSERT INTO public.ended_leases VALUES (20, 0);
INSERT INTO public.ended_leases VALUES (21, 0);
INSERT INTO public.ended_leases VALUES (22, 0);
INSERT INTO public.ended_leases VALUES (23, 0);
INSERT INTO public.ended_leases VALUES (24, 0);
INSERT INTO public.ended_leases VALUES (25, 0);
INSERT INTO public.ended_leases VALUES (26, 0);
INSERT INTO public.ended_leases VALUES (27, 0);
INSERT INTO public.ended_leases VALUES (28, 0);
INSERT INTO public.ended_leases VALUES (29, 0);
INSERT INTO public.ended_leases VALUES (30, 0);
INSERT INTO public.ended_leases VALUES (31, 0);
INSERT INTO public.ended_leases VALUES (0, 1);



INSERT INTO public.grants VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 701190081944, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 941897018368, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, '2026-11-26 05:58:50.068327+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, '2026-11-26 05:58:50.060392+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, '2026-11-26 05:58:50.07211+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, '2026-11-26 05:58:50.04929+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, '2026-11-26 05:58:49.991187+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, '2026-11-26 05:58:50.053448+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, '2026-11-26 05:58:50.039684+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, '2026-11-26 05:58:50.052488+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, '2026-11-26 05:58:50.033502+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, '2026-11-26 05:58:50.07332+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, '2026-11-26 05:58:49.977586+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, '2026-11-26 05:58:50.028256+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, '2026-11-26 05:58:50.055701+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, '2026-11-26 05:58:49.999642+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, '2026-11-26 05:58:50.075881+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, '2026-11-26 05:58:50.048602+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, '2026-11-26 05:58:50.070641+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, '2026-11-26 05:58:50.052745+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, '2026-11-26 05:58:50.071128+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, '2026-11-26 05:58:50.079168+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, '2026-11-26 05:58:50.02938+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-26 05:58:50.778096+00', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', '91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 06:58:48+00', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'dc0a38c1-4057-4184-bde1-2cd8e43a9eb4', 'platform', 1);



INSERT INTO public.leases VALUES ('91535295-d1b3-4f1e-9f7a-550ae94e90f3', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 05:58:48.321518+00', '2026-11-26 17:58:48.321518+00', '-infinity', false, true, true, 'lease-91535295-d1b3-4f1e-9f7a-550ae94e90f3', '01c0e0cb-358e-4d34-9a07-3f6e09a0c359', '5e87347a3de223759cec4b496bc31c20b2a37cc4bdd228a98c374d661a719c1f', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 701190081944, '', '{}', '{admin}', '', 'dave', false, 0, '', '', '2026-11-26 05:58:48.345442+00', '2026-11-26 17:58:48+00', '2026-11-26 17:58:48+00', 10000000, 'bearerToken', '30d09ed4-0263-4ca1-aba7-1f995eb635f9', 'JTI=70f9866d-dc37-4303-a694-6c97629983eb', 'df6e3117-4b6b-48f4-a3a3-294ebf595080.1.53f3b7b383eeb76654d090bb183318e8', 'gAAAAABrB8qYb65_H_qqbFQEIN_SE9M4upC4cvIXbUF0zkezxBo6Ns_4nb725iz7NKA0IE6ncfh49YMVRfGHM-8iJxmJTrdtUe0Z7JWW3lWOsiwOC0PLY7d3r_gb1SuGjuqT8OkuTC2T8dOf3Jbv0Mp3wx6SA0A7wcCGWIuipf0jZMqLs6hxnC2vqh9lCrMpZ0ouyCPhHDV4Hwirwi-RH9d9hCNT383MKseggOykezSmJkUqzfXbC1RKhsBTcteQUVLuc3-rq9BN5lEpNl8sHoD5eZtnzrmqsTBFHAvsPk_AwaKtbx-tu5xWkGzEkmOqW9o080Lg5rh42AAmlHzM1n6hURS-y3lpr23BaBkEwHjYVCDlQiNgzcLzd-2GGdgMJPFXo6PcyvnzCvbjHcjamye-yLGoYRT_7bx5fTDE_P1NJAjn4NOUm2nH8O-k_uyVcA9w6tYT0gzraL3qfwTBTu8ElpDCMsfqvn8LZbZ0-YNONm2V7YTcPKXBLydifMk5GscOZDUj4n5uMg4fjDcqh0k22IMQseiq44QrPuOe5gqD7WDHD-pIi0QtXYPUaIlpJZHV-7mqDZc52I1DCXP63pURkZRHJKU0ATo6pgSHKfYBDO-2CGYPr5pNK0Ea6J5QHjN6CvLrPwH9aSi3zPOEAecmk_0yy8X35FDjJ04XLpvLhhf9zJQ7GywC3YZc320w7nz92YGTBapRHSNvTdRiGStRQfQPKNAbf1FN-rEKLxjM9sfcerh-RzGKSwKoWY6IwVW-7WIWUidJTNQBcyKWJyQ7FZ3BWGHLG92aMrqRDEQ_HQGqS0IMSx4RuMy8YEJUU-qBrw944HryDNtAvCgT2paQXr1ldj_ZnauXtpvfQZd-ggI485Rl6ecVLAemmhf4xxA-V7RWm6wviWRh-T0_KncINO8SgvRIofwPnjgUOuZXh0p7xiiD-9J4HY7de7Xbmvl3UEq7G1eDZ4rybknaIgBbyo7JAQMmIAZ-iPf9gWGqZcrdpvhYECpixv1CjLPhEJ4kTwpTULSkicBFteESCeX-C-SR8AbTEBDitEnrCpPd5qt-5SUGTYAtr4ZEL2U1ArbYZsWGg_5ipPS_aZ8ZNvxCCUGn0mK-r3D_dsP8Wkzu5fKSDA_l5zQR8zb4BEeiWDupp2qflAf6OCR7GKPXeBDzt4BjzDb_h0qKFFz6ga0uMqeD8DgHIufLd_-wZWOuSH7XDkKOUhin', '-infinity', 4, '2026-11-26 05:58:48.778096+00', '2026-11-26 05:58:50.778096+00', 0, 'revoked', 'requested', '');
INSERT INTO public.leases VALUES ('dc0a38c1-4057-4184-bde1-2cd8e43a9eb4', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 05:58:48.358528+00', '2026-11-26 17:58:48.358528+00', '-infinity', false, true, true, 'lease-dc0a38c1-4057-4184-bde1-2cd8e43a9eb4', '913b7bef-ae05-4955-aa04-74facc318268', '411dd5bae8fc00625f3d8496898d2315a8e9a83ba4db6571720f8192417c2eca', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 941897018368, '', '{}', '{admin}', '', '', false, 0, '', '', '2026-11-26 05:58:48.411918+00', '2026-11-26 06:58:48+00', '2026-11-26 06:58:48+00', 10000000, 'bearerToken', '6632d815-eb27-4e88-b324-af657e3dcadb', 'JTI=62943e9e-b744-494f-8dea-320e8698f671', 'df6e3117-4b6b-48f4-a3a3-294ebf595080.1.53f3b7b383eeb76654d090bb183318e8', 'gAAAAABrB8qYuue1JWo50wB4hsCeaF50U5R1g6qUv-qmatotpSbmAj7gpQxN3ZzAWbghUMV8-sFukuKxhNr-uPw1EnlJM6jVoyvJ5ai3QM2y6kaa8_cu7JzhF00L1SIWTvIFo12paO3bOUrCJZKVjLXCKxF2fGjnX5FNLLnrvWNsDPBUA5WKzz8q9bl1QKAb7eY17yQRPRIwf_h1py2WRDJhNfKUXzXQnhU8Rj5unGWggPifMuQxo0cFzYQAkGtOXt9YdTGeqsBV3gC2mf5qRKYHkJ2O2wNmiumywdVaCzm3FiFTzJxtM6lsbdgtgJ3BW0qG70S1VNW2R_30SsH2Fz28VsFkkXm0FDqbMZfg4zKWZ63bkMlwdufxyZlPcYHuzoffaJAFJkA0GHwmR-COBX6mTDqGOPQD79F7EZg9hKY4Ku5Irmr-j6zW4lBA6apsI722laYNjBVgZvgHU0lbW9T7ybzk60DKoqlZosG7ZIP6-Xxa1LvLsawao5tDKIxo7DK7Psnv30SY9gVeZu887fVBQI1FEfdUHffcO7V5R-wz-oWDPnP2mChw615aQ66652jH_PRr3jJNWnD3DL89C0yF_7DtGc6xQu6PqNjiQ7QeV_WKxEJAfpgkgFw5NfGEO8J53vfsZ29d8JZKRMGoj6_XK8F32xiRBwPEjWJ66vXE-qsl5eieq8DIF7HsIuG2JgDCkUBEt8LO5vY9E9fAc56vU1RA_i9IqxNXLRI5TFmI8WddNeUO_5FgF74-HKQbVvRM1qUihphEe4ZqZ_fRvdlb31dp2WlqGaT5--Gfj4IBdgx2SaCa6upOi6e0217i2vpDt4Rg7lY6mEkVjsJWkjlJfrBTzMqtY4hfTdRJfv4RlZneELCtENgCmGqYYRs3YjUo79MP4LsgiTsIIth_Rx1JWhA4sJoebkiOZ3e-HQMSZ4KmqSH402ECIZ5uwNscWaM3pD93-7KL23i5pigHotZTxchBSvRo0bLbVO_wa-GLdnbdk8KRXMLD752qMuj7Jpr-h8pnDqJYRuGNqb88bVRYTjzxZB7ZYJB_SjmQxydTUzanGsCOEthTikcLsDqxVKQ5SJt0bcR3PmSin9x626MzCOY48InHwIY0_FFXok3Jl7fjWYPqo1vBLqmVfhJeQYOeVnRlOQAod1q_MnT0ZdIb5Qz3b3MXfEzJX8h9fXDKzzbX0MTygWkOOm38H-SiioYQgBtW5zVN', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');



INSERT INTO public.live_leases VALUES ('dc0a38c1-4057-4184-bde1-2cd8e43a9eb4', '2026-11-26 05:58:48.358528+00', 'df6e3117-4b6b-48f4-a3a3-294ebf595080', 'platform', 'platform', 'admin', 1, 941897018368, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('01e71bdb-1557-4ab4-814d-e1960ea9f0c5', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', '4af91cc1535f269851bd7fa33d90ff50d943c482885412880e5c490e9d3c2628', '', '-infinity', '2026-11-26 05:58:48.495789+00', false, 'admin', '2026-11-26 05:58:48.495789+00', '2026-11-26 05:58:48.495789+00', 1);






INSERT INTO public.probe VALUES (1, '-infinity');






INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', '6617a9f5a0857db11439699a67d92b36f6bf2d5d53518ab4c2bcf6c573b1cc0e', '2026-11-26 05:58:55.75014+00');



INSERT INTO public.token_uses VALUES ('cae2f35bc3ea', '2026-11-26 05:58:48.888239+00');






INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', 1, 'https://127.0.0.1:34941', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQANgkACHp1Ts9VT2Gj9IN2DAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTA1NTg0N1oXDTM2MTEyNjA1NTg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDUx
h0y2IHpLS9/jw7QmDo5zVSq41990cUHnu9z/ipSJJFyLV5N2sijAv8oQw/T6VGn3
9l9C9RPn9PKyovLGpoSjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7wUhXc8OFIO8NbFVBQC+Hbz0dXzAKBggqhkjOPQQDAgNI
ADBFAiAoDZSvL8b1mlQ8S2iIs2lkcMp4S6wjSmAmNG4dXHB0sAIhAKbVUZL8hw0L
/fjCOY4/N6JEjaY63ap0VuPIwrMfF2Mz
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1d52c004-9c3b-4400-a65d-6782ca983ab7', '', 'bearerToken', '-infinity', 'gAAAAABrB8qY9UfihLW4iuoWeu51ufH-KYpVYJk6IPQU_WN7bMS4yReaKyPjO7DmqiOW2GwyJ9fs_te99xS-7Qi5UL98uy8-_zTmQpCBOGwqMAusqNRZqeBzkQvv7lQkkuPNq_HaCM59pF13cfTUOFOyPPzfXIQvhkrOUO7lCIxWzzutwWVripdTUzzG0azmOQafP69UNkGan2-QyPtKNrCCmLh_wgKKGifuSZtbk5d9HEdfuD9wOmbT9HBrmHeb9BeqS00W290qy27qwoKpZbz6vQuRtfKphbn4WUbYwZaMHpWBx5-aZUFKe3i7ho6lWSKnmXERc11iQ-djZ7YNZyX3FhxWCJqIW0YuztBP9ejbPUkgSJniMt-g7j58AkzPK0LAIEiOOcnv3j3M7UcK8Ja9GPTl9ZX7yZXp9nEYNM9l0bqUTekXu1dibACnf0mZVl0eJO4SgKGDIQHCrHMm4ObwStUXIKmkYIyPp-_lzn9GZZVvssBfsW1eaW7SM4If81tKefX4s7V9CYhCRnQCdL_4Oy6VG6RILPhdAxqrtN8E-NeURCoIi6VGUo7JdtdHDBP8lJREUEEojq6uqR8F1ZJs-t16bJhcSDkJrjDhd4ZvE2WwnJnnDzMaHoivLO0nmQZI3uX1EGExWnUIMnYWOyYja5K9loYkf6BmnInft0EfOtMh4IWtnSOdJaXLwwUzeOnT3aNqDBmbueeID18DEBGB9JnzgJ33WdEITFzxg2ro3IIH3LqKkcA6-hMAJ2x9XSjH3UObmMmsIpn5ZK_dzwZ3SP_wQCXDxMZ28EJ2K0e5XYKW794a6syGRSi4JDGqdgGyphZJy1Y46uvXLc3QcrK_U3CNZKMdex-9JFXwiQxKa-4vVC5jDqBWNYWRL85e2ZIl49y7cJl-sV0iOfykJ-u5jKuczE1UG14hm-st0kjiibA6jb0z7W79iO-tbJLCMi9qtCz4b5VIxgvM9V-qQYfP4NOdbpCt6erUBOL6SrszXE-Rm2u5NOtXBrpkwx4IQWLDb0gUwn6ZyZ51q87ImpTlD6oNtrKXtcs5W60-de77TcejDdcvEA7XifAWM9jGGZ8_QsXQFrg6', 'current', 'df6e3117-4b6b-48f4-a3a3-294ebf595080.1.53f3b7b383eeb76654d090bb183318e8', 'keydir');
INSERT INTO public.vim_generations VALUES ('8ff8f899-c9e9-4d59-875b-641af2edcf72', 1, 'https://127.0.0.1:34941', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQANgkACHp1Ts9VT2Gj9IN2DAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTA1NTg0N1oXDTM2MTEyNjA1NTg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDUx
h0y2IHpLS9/jw7QmDo5zVSq41990cUHnu9z/ipSJJFyLV5N2sijAv8oQw/T6VGn3
9l9C9RPn9PKyovLGpoSjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7wUhXc8OFIO8NbFVBQC+Hbz0dXzAKBggqhkjOPQQDAgNI
ADBFAiAoDZSvL8b1mlQ8S2iIs2lkcMp4S6wjSmAmNG4dXHB0sAIhAKbVUZL8hw0L
/fjCOY4/N6JEjaY63ap0VuPIwrMfF2Mz
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1d52c004-9c3b-4400-a65d-6782ca983ab7', '', 'bearerToken', '-infinity', 'gAAAAABrB8qYzhE4HsSoLZRrbOmS1Bk1PC31sLn6-S5OIZT8oNg4KMInBw2rA7hGSDVl5EQieGLRlCAVaGq9fkqx-g3IjzIv66wLi09iBRl1ygVYwAzAhSl9yOkwlg6ABCbaRqjEoKQDxbZlC4MbYXR8v15-22qj-Xdb59uSovHVMBPBknXb633fn8LcyGbhXr8ntDuIfr75lugIMuRb4wDwwkhib1yDFPek_fKOxmDOMGPflRUKkDR4bEPKNZztfAPkHAkNwGxSPheMuzw9Hvpff9OWL4tZ3acLVyFDwZmRUi_ETkmso4cMKA7lVvRHWY7X-f2NHfyiATSXVeFsqg1MS9JKZ2IEseCNOGgLZC-bjk9Z_x__A20HHxB8swFg26CZ6-DUFH8Dha8oYwzblL-hfb6WZAKFVfpG85S6SnVtx7MwPkZp8UVDO3G0VANLKHkPuoWxmiokS2t1yU6MOcMR4tIprmW9ahLYpJ5vNchQwAqG06kqCaBtDm_bhIuWj0C3sFN_st5E5dcsl44aDZND8SSMkPzHiu2YTa7BDMb0VmtMzVTuchV9VZdWYUvXton9jL3S53triFsCHK4NSZYehTI74gyTZG3zuHpbYj6r_Kq44iKLlBm4VHRmGJx4pchGG0zahgVRkj4Wusunaiepqi35myH35Ayw93w96QGOEDJ0C-j2KLirvDuwYN91g0KQdwl7K3nYSu586KkRfkqh5LRqx-pml0z2JdPyF9CSQktMi1qoy7JF2MZQVS834lAbMjokcje36_ttpUJPNruPxo0aCZ_uyDlK3rtVbki2tU400CFa1kEWPS9122cud3vh7GNb7r5pkh2sPkn_lGsl0Li9sR8fsh42WjQYLbUTZaiFrOAgQw7WfAKUw2zZycN50i5FcT-EX0k0-eN7JkzpRrOeXVBbVzTtXcgKcoQgxT3Do9mXa1Nw1Nd8w9gxPH6uGLaM6sPVqIh3SesJOIV9Y32jd-IiVYKuF7NHxhGx_RlxY1hPtqbbVbJSzNnyS9_ZfQR2Vuo5tMllwJmpFcNsq-Ux3WJmxXU-mF3ftYu4WieN55EyZOrpps97ojG9OYXBdoICW2st', 'current', '8ff8f899-c9e9-4d59-875b-641af2edcf72.1.946b47c00e01be6e4e6fe72aac300e68', 'keydir');



INSERT INTO public.vim_labels VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('df6e3117-4b6b-48f4-a3a3-294ebf595080', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 05:58:48.031398+00', '', 'c5c7e1583e5d913c191d33e03c3514e94bce3fc7bfbcd5910d0c787511e1e063', '', '', false, false, 'registered', '', '2026-11-26 05:58:48.228429+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 05:58:48.30736+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 06:03:20.297192+00');
INSERT INTO public.vims VALUES ('8ff8f899-c9e9-4d59-875b-641af2edcf72', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 05:58:48.148307+00', '', 'e54fd43c1edd53064c1734763eb3b4e34c458cb61d76f9a1e884acc963898786', 'second', '', false, false, 'registered', '', '2026-11-26 05:58:48.66498+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 05:58:48.188025+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 06:03:46.657647+00');









INSERT INTO public.vnf_instances VALUES ('0e7fb3f9-5a74-482e-b795-f3a9a6543b0b', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 05:58:48.562414+00', 1, '{"id":"0e7fb3f9-5a74-482e-b795-f3a9a6543b0b","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T05:58:48.562414Z","shape":{"package":"e8b8c5d4-98bc-4030-8988-e71de2933b55","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('bb3fe81e-9b08-4f55-9805-e1e9405cdd06', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('e8b8c5d4-98bc-4030-8988-e71de2933b55', '0e7fb3f9-5a74-482e-b795-f3a9a6543b0b');



INSERT INTO public.vnf_packages VALUES ('e8b8c5d4-98bc-4030-8988-e71de2933b55', 'platform', 'enabled', 'web-1.0', 'bb3fe81e-9b08-4f55-9805-e1e9405cdd06', 1724, '2026-11-26 05:58:48.528101+00', '2026-11-26 05:58:48.545576+00', 4, '{"ID":"e8b8c5d4-98bc-4030-8988-e71de2933b55","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"bb3fe81e-9b08-4f55-9805-e1e9405cdd06","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T05:58:48.528101Z","UpdatedAt":"2026-11-26T05:58:48.545576Z","OnboardedAt":"2026-11-26T05:58:48.545492Z","TouchedAt":"2026-11-26T05:58:48.545576Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('f12a71b0-2529-4ad5-ac02-40ef215cbaa9', 'platform', 'http://127.0.0.1:36389', 'http://127.0.0.1:40001', 'FULL', '{}', '{}', 'bef985024e74350d60bc7c38f4a18fb6e9c5495ada2ae65c17606a5c23129a8e', 'admin', '2026-11-26 05:58:48.623336+00', 'active', '2026-11-26 05:58:48.632637+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



SELECT pg_catalog.setval('public.audit_inbox_id_seq', 1, false);



SELECT pg_catalog.setval('public.retired_keys_id_seq', 1, false);



SELECT pg_catalog.setval('public.vnf_notifications_seq_seq', 1, false);



ALTER TABLE ONLY public.audit_anchors
    ADD CONSTRAINT audit_anchor_once PRIMARY KEY (anchor);



ALTER TABLE ONLY public.audit_checkpoints
    ADD CONSTRAINT audit_checkpoint_once PRIMARY KEY (size);



ALTER TABLE ONLY public.audit_cursors
    ADD CONSTRAINT audit_cursor_once PRIMARY KEY (sink);



ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (seq);



ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.audit_horizon
    ADD CONSTRAINT audit_horizon_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.audit_inbox
    ADD CONSTRAINT audit_inbox_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.audit_keys
    ADD CONSTRAINT audit_key_once PRIMARY KEY (id);



ALTER TABLE ONLY public.audit_tiles
    ADD CONSTRAINT audit_tile_once PRIMARY KEY (level, number);



ALTER TABLE ONLY public.audit_tree
    ADD CONSTRAINT audit_tree_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.ended_leases
    ADD CONSTRAINT ended_leases_pkey PRIMARY KEY (part);



ALTER TABLE ONLY public.vim_generations
    ADD CONSTRAINT generation_once_per_vim PRIMARY KEY (vim, number);



ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grant_epoch_once PRIMARY KEY (vim, digest, epoch);



ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT job_once_per_subject PRIMARY KEY (kind, subject);



ALTER TABLE ONLY public.retired_keys
    ADD CONSTRAINT key_retired_once UNIQUE (vim, generation, key_store, key_ref);



ALTER TABLE ONLY public.vim_labels
    ADD CONSTRAINT label_once_per_vim PRIMARY KEY (vim, key);



ALTER TABLE ONLY public.lease_credentials
    ADD CONSTRAINT lease_credential_once PRIMARY KEY (lease);



ALTER TABLE ONLY public.lease_horizon
    ADD CONSTRAINT lease_horizon_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.management_clusters
    ADD CONSTRAINT management_clusters_pkey PRIMARY KEY (vim);



ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.oauth_keys
    ADD CONSTRAINT oauth_keys_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.probe
    ADD CONSTRAINT probe_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.retired_keys
    ADD CONSTRAINT retired_keys_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.schema_floor
    ADD CONSTRAINT schema_floor_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);



ALTER TABLE ONLY public.vim_shares
    ADD CONSTRAINT share_once_per_vim PRIMARY KEY (shared_with, vim_project, vim_name);



ALTER TABLE ONLY public.token_uses
    ADD CONSTRAINT token_uses_pkey PRIMARY KEY (token);



ALTER TABLE ONLY public.used_tokens
    ADD CONSTRAINT used_tokens_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vim_census
    ADD CONSTRAINT vim_census_once PRIMARY KEY (part, value);



ALTER TABLE ONLY public.vims
    ADD CONSTRAINT vim_name_once_per_project UNIQUE (project, name);



ALTER TABLE ONLY public.vim_uses
    ADD CONSTRAINT vim_uses_pkey PRIMARY KEY (vim, kind, subject);



ALTER TABLE ONLY public.vims
    ADD CONSTRAINT vims_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vnf_contents_gone
    ADD CONSTRAINT vnf_contents_gone_pkey PRIMARY KEY (content);



ALTER TABLE ONLY public.vnf_grants
    ADD CONSTRAINT vnf_grants_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vnf_instances
    ADD CONSTRAINT vnf_instances_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vnf_notifications
    ADD CONSTRAINT vnf_notifications_pkey PRIMARY KEY (seq);



ALTER TABLE ONLY public.vnf_operations
    ADD CONSTRAINT vnf_operations_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vnf_package_chunks
    ADD CONSTRAINT vnf_package_chunks_pkey PRIMARY KEY (content, number);



ALTER TABLE ONLY public.vnf_package_uses
    ADD CONSTRAINT vnf_package_uses_pkey PRIMARY KEY (package, instance);



ALTER TABLE ONLY public.vnf_packages
    ADD CONSTRAINT vnf_packages_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vnf_secret_parameters
    ADD CONSTRAINT vnf_secret_parameters_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.vnf_subscriptions
    ADD CONSTRAINT vnf_subscriptions_pkey PRIMARY KEY (id);



CREATE INDEX audit_by_action ON public.audit_entries USING btree (action, seq);



CREATE INDEX audit_by_action_outcome ON public.audit_entries USING btree (action, outcome, seq) WHERE (outcome = ANY (ARRAY['denied'::text, 'failed'::text]));



CREATE INDEX audit_by_credential ON public.audit_entries USING btree (((detail ->> 'credential-id'::text)), seq) WHERE ((detail ->> 'credential-id'::text) IS NOT NULL);



CREATE INDEX audit_by_lease ON public.audit_entries USING btree (((detail ->> 'lease'::text)), seq) WHERE ((detail ->> 'lease'::text) IS NOT NULL);



CREATE INDEX audit_by_outcome ON public.audit_entries USING btree (outcome, seq) WHERE (outcome = ANY (ARRAY['denied'::text, 'failed'::text]));



CREATE INDEX audit_by_owner ON public.audit_entries USING btree (((detail ->> 'vimProject'::text)), seq) WHERE ((detail ->> 'vimProject'::text) <> project);



CREATE INDEX audit_by_owner_outcome ON public.audit_entries USING btree (((detail ->> 'vimProject'::text)), outcome, seq) WHERE ((outcome = ANY (ARRAY['denied'::text, 'failed'::text])) AND ((detail ->> 'vimProject'::text) <> project));



CREATE INDEX audit_by_principal ON public.audit_entries USING btree (principal, seq);



CREATE INDEX audit_by_project ON public.audit_entries USING btree (project, seq);



CREATE INDEX audit_by_project_outcome ON public.audit_entries USING btree (project, outcome, seq) WHERE (outcome = ANY (ARRAY['denied'::text, 'failed'::text]));



CREATE INDEX audit_by_request ON public.audit_entries USING btree (request, seq) WHERE (outcome = ANY (ARRAY['denied'::text, 'failed'::text]));



CREATE INDEX audit_by_resource ON public.audit_entries USING btree (resource, seq) WHERE (kind <> 'Lease'::text);



CREATE INDEX audit_by_time ON public.audit_entries USING btree ("time");



CREATE INDEX audit_by_vim ON public.audit_entries USING btree (((detail ->> 'vim'::text)), seq) WHERE ((detail ->> 'vim'::text) IS NOT NULL);



CREATE INDEX audit_by_vim_name ON public.audit_entries USING btree (((detail ->> 'vimName'::text)), seq) WHERE ((detail ->> 'vimName'::text) IS NOT NULL);



CREATE UNIQUE INDEX audit_one_key_signs ON public.audit_keys USING btree (state) WHERE (state = 'signing'::text);



CREATE INDEX client_by_name ON public.oauth_clients USING btree (name, project);



CREATE INDEX client_ending ON public.oauth_clients USING btree (project, name) WHERE ending;



CREATE UNIQUE INDEX client_name_once_per_project ON public.oauth_clients USING btree (project, name);



CREATE INDEX cluster_by_name ON public.clusters USING btree (name, namespace, management, uid);



CREATE INDEX cluster_by_project ON public.clusters USING btree (project, management, namespace, name, uid);



CREATE INDEX cluster_by_state ON public.clusters USING btree (state, reason);



CREATE UNIQUE INDEX cluster_object_once ON public.clusters USING btree (management, namespace, name, uid);



CREATE UNIQUE INDEX cluster_system_once ON public.clusters USING btree (system, project) WHERE ((system <> ''::text) AND (state <> 'retired'::text));



CREATE INDEX grant_by_state ON public.grants USING btree (state, idle_since);



CREATE UNIQUE INDEX grant_open_once ON public.grants USING btree (vim, digest) WHERE (state = 'open'::text);



CREATE INDEX job_done ON public.jobs USING btree (due_at) WHERE (done >= wanted);



CREATE INDEX job_due ON public.jobs USING btree (kind, due_at) WHERE (done < wanted);



CREATE INDEX lease_by_instance ON public.leases USING btree (instance, created_at, id) WHERE (instance <> ''::text);



CREATE INDEX lease_by_lender ON public.leases USING btree (vim_project, created_at, id) WHERE (project <> vim_project);



CREATE INDEX lease_by_operation ON public.leases USING btree (operation, created_at, id) WHERE (operation <> ''::text);



CREATE INDEX lease_by_time ON public.leases USING btree (created_at);



CREATE INDEX lease_by_whom ON public.leases USING btree (for_whom, created_at, id) WHERE (for_whom <> ''::text);



CREATE INDEX lease_ends_for_good ON public.leases USING btree (max_expires_at) WHERE ((max_expires_at AT TIME ZONE 'UTC'::text) > ((created_at AT TIME ZONE 'UTC'::text) + '720:00:00'::interval));



CREATE UNIQUE INDEX lease_idempotency_key_once_per_principal ON public.leases USING btree (principal, idempotency_key) WHERE (idempotency_key <> ''::text);



CREATE UNIQUE INDEX lease_login_once ON public.leases USING btree (login) WHERE ((login <> ''::text) AND (secret_sha256 <> ''::text));



CREATE INDEX lease_of_principal ON public.leases USING btree (principal, created_at);



CREATE INDEX lease_of_project ON public.leases USING btree (project, created_at);



CREATE INDEX lease_on_vim ON public.leases USING btree (vim, created_at);



CREATE INDEX lease_turn_by_vim ON public.lease_turns USING btree (vim, due_at);



CREATE INDEX lease_turn_due ON public.lease_turns USING btree (due_at);



CREATE INDEX live_lease_by_epoch ON public.live_leases USING btree (vim, epoch, vim_generation);



CREATE INDEX live_lease_by_lender ON public.live_leases USING btree (vim_project, created_at) WHERE (project <> vim_project);



CREATE INDEX live_lease_by_principal ON public.live_leases USING btree (principal, created_at);



CREATE INDEX live_lease_by_project ON public.live_leases USING btree (project, created_at);



CREATE INDEX live_lease_by_vim ON public.live_leases USING btree (vim, created_at);



CREATE INDEX live_lease_newest ON public.live_leases USING btree (created_at);



CREATE INDEX notification_by_subscription ON public.vnf_notifications USING btree (subscription, seq);



CREATE UNIQUE INDEX oauth_key_signs_alone ON public.oauth_keys USING btree (state) WHERE (state = 'signing'::text);



CREATE INDEX package_by_age ON public.vnf_packages USING btree (created_at, id);



CREATE INDEX package_by_project ON public.vnf_packages USING btree (project, created_at, id);



CREATE INDEX package_by_vnfd ON public.vnf_packages USING btree (vnfd, created_at, id);



CREATE INDEX package_uploading ON public.vnf_packages USING btree (touched_at) WHERE (state = ANY (ARRAY['uploading'::text, 'processing'::text]));



CREATE INDEX package_use_by_instance ON public.vnf_package_uses USING btree (instance);



CREATE UNIQUE INDEX package_vnfd_once_per_project ON public.vnf_packages USING btree (project, vnfd) WHERE (vnfd <> ''::text);



CREATE INDEX secret_parameters_by_instance ON public.vnf_secret_parameters USING btree (instance);



CREATE INDEX secret_parameters_by_vim ON public.vnf_secret_parameters USING btree (vim, id);



CREATE INDEX secret_parameters_unsettled ON public.vnf_secret_parameters USING btree (since, id) WHERE (state <> 'active'::text);



CREATE INDEX subscription_by_project ON public.vnf_subscriptions USING btree (project, created_at DESC, id DESC);



CREATE INDEX subscription_newest ON public.vnf_subscriptions USING btree (created_at DESC, id DESC);



CREATE UNIQUE INDEX subscription_once_per_project ON public.vnf_subscriptions USING btree (project, digest);



CREATE INDEX subscription_unfinished ON public.vnf_subscriptions USING btree (created_at DESC, id DESC) WHERE (state <> 'active'::text);



CREATE INDEX used_token_by_end ON public.used_tokens USING btree (until);



CREATE INDEX vim_by_health ON public.vims USING btree (health, project, name);



CREATE INDEX vim_by_label ON public.vim_labels USING btree (key, value, vim);



CREATE INDEX vim_by_name ON public.vims USING btree (name, project);



CREATE INDEX vim_by_state ON public.vims USING btree (state, project, name);



CREATE INDEX vim_by_type ON public.vims USING btree (type, project, name);



CREATE INDEX vim_check_due ON public.vims USING btree (health_next);



CREATE UNIQUE INDEX vim_default_once_per_project ON public.vims USING btree (project) WHERE is_default;



CREATE INDEX vim_generation_by_expiry ON public.vim_generations USING btree (credential_expires_at) WHERE (credential_expires_at > '-infinity'::timestamp with time zone);



CREATE INDEX vim_generation_by_identity ON public.vim_generations USING btree (identity, vim);



CREATE UNIQUE INDEX vim_idempotency_key_once_per_principal ON public.vims USING btree (created_by, idempotency_key) WHERE (idempotency_key <> ''::text);



CREATE INDEX vim_shared ON public.vims USING btree (project, name) WHERE shared;



CREATE INDEX vim_shared_by_name ON public.vims USING btree (name, project) WHERE shared;



CREATE INDEX vim_shares_by_name ON public.vim_shares USING btree (vim_name, vim_project, shared_with);



CREATE INDEX vim_unsettled ON public.vims USING btree (unsettled_since) WHERE (unsettled_since IS NOT NULL);



CREATE INDEX vim_use_by_subject ON public.vim_uses USING btree (kind, subject);



CREATE INDEX vnf_grant_by_instance ON public.vnf_grants USING btree (instance, id);



CREATE INDEX vnf_grant_by_lease ON public.vnf_grants USING btree (lease, id);



CREATE INDEX vnf_grant_by_operation ON public.vnf_grants USING btree (operation, id);



CREATE INDEX vnf_grant_by_project ON public.vnf_grants USING btree ((((document)::jsonb ->> 'Project'::text)), id);



CREATE INDEX vnf_grant_by_project_state ON public.vnf_grants USING btree ((((document)::jsonb ->> 'Project'::text)), state, id);



CREATE INDEX vnf_grant_by_state ON public.vnf_grants USING btree (state, id);



CREATE INDEX vnf_grant_by_vim ON public.vnf_grants USING btree ((((document)::jsonb ->> 'VIM'::text)), id);



CREATE INDEX vnf_grant_by_vim_name ON public.vnf_grants USING btree ((((document)::jsonb ->> 'VIMName'::text)), id);



CREATE INDEX vnf_grant_due ON public.vnf_grants USING btree (look_at) WHERE followed;



CREATE INDEX vnf_grant_holding ON public.vnf_grants USING btree (client, instance, created_at) WHERE holds;



CREATE UNIQUE INDEX vnf_grant_once_per_operation ON public.vnf_grants USING btree (client, operation);



CREATE INDEX vnf_grant_over ON public.vnf_grants USING btree (created_at) WHERE (state = ANY (ARRAY['refused'::text, 'ended'::text]));



CREATE INDEX vnf_instance_by_name ON public.vnf_instances USING btree (name, created_at DESC, id DESC);



CREATE INDEX vnf_instance_by_project ON public.vnf_instances USING btree (project, created_at DESC, id DESC);



CREATE INDEX vnf_instance_newest ON public.vnf_instances USING btree (created_at DESC, id DESC);



CREATE INDEX vnf_instance_to_observe ON public.vnf_instances USING btree (observed_at, id) WHERE (state = 'INSTANTIATED'::text);



CREATE INDEX vnf_operation_by_instance ON public.vnf_operations USING btree (instance, started_at DESC, id DESC);



CREATE INDEX vnf_operation_by_project ON public.vnf_operations USING btree (project, started_at DESC, id DESC);



CREATE UNIQUE INDEX vnf_operation_live_once_per_instance ON public.vnf_operations USING btree (instance) WHERE (state = ANY (ARRAY['STARTING'::text, 'PROCESSING'::text, 'FAILED_TEMP'::text, 'ROLLING_BACK'::text]));



CREATE INDEX vnf_operation_newest ON public.vnf_operations USING btree (started_at DESC, id DESC);



CREATE TRIGGER audit_checkpoints_never_change BEFORE UPDATE ON public.audit_checkpoints FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_checkpoints_never_emptied BEFORE TRUNCATE ON public.audit_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_checkpoints_stay BEFORE DELETE ON public.audit_checkpoints FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_cursor_only_grows BEFORE UPDATE ON public.audit_cursors FOR EACH ROW WHEN (((new.sink <> old.sink) OR (new.start <> old.start) OR (new.seq <= old.seq) OR (new.skipped < old.skipped))) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_head_only_grows BEFORE UPDATE ON public.audit_head FOR EACH ROW WHEN ((new.seq <= old.seq)) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_head_stays BEFORE DELETE ON public.audit_head FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_horizon_never_emptied BEFORE TRUNCATE ON public.audit_horizon FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_horizon_only_grows BEFORE UPDATE ON public.audit_horizon FOR EACH ROW EXECUTE FUNCTION public.refuse_horizon();



CREATE TRIGGER audit_horizon_stays BEFORE DELETE ON public.audit_horizon FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_inbox_never_changes BEFORE UPDATE ON public.audit_inbox FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_inbox_never_emptied BEFORE TRUNCATE ON public.audit_inbox FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_key_never_returns BEFORE UPDATE ON public.audit_keys FOR EACH ROW WHEN (((old.state = ANY (ARRAY['retired'::text, 'revoked'::text])) AND (((new.state <> old.state) AND (new.state <> 'revoked'::text)) OR (new.until > old.until)))) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_key_stays_what_it_is BEFORE UPDATE ON public.audit_keys FOR EACH ROW WHEN (((new.id <> old.id) OR (new.origin <> old.origin) OR (new.created_at <> old.created_at) OR ((old.state <> 'making'::text) AND ((new.verifier <> old.verifier) OR (new.since <> old.since) OR (new.endorsement <> old.endorsement))))) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_keys_never_emptied BEFORE TRUNCATE ON public.audit_keys FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_keys_stay BEFORE DELETE ON public.audit_keys FOR EACH ROW WHEN ((old.state <> 'abandoned'::text)) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_never_changes BEFORE UPDATE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_never_emptied BEFORE TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION public.refuse_young_entry();



CREATE TRIGGER audit_tiles_never_emptied BEFORE TRUNCATE ON public.audit_tiles FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_tiles_only_grow BEFORE UPDATE ON public.audit_tiles FOR EACH ROW WHEN ((octet_length(new.hashes) <= octet_length(old.hashes))) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_tiles_stay BEFORE DELETE ON public.audit_tiles FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_tree_only_grows BEFORE UPDATE ON public.audit_tree FOR EACH ROW WHEN ((new.size <= old.size)) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER audit_tree_stays BEFORE DELETE ON public.audit_tree FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER generation_never_changes BEFORE UPDATE OF vim, number, endpoint, ca_cert, insecure_skip_verify, server_name, namespace, scope, shared_kinds, pods_held_by, discovered, identity, credential_kind, credential_expires_at, username ON public.vim_generations FOR EACH ROW EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER lease_credential_dropped AFTER UPDATE OF sealed ON public.leases FOR EACH ROW WHEN (((old.sealed = 'apart'::text) AND (new.sealed <> 'apart'::text))) EXECUTE FUNCTION public.drop_lease_credential();



CREATE TRIGGER lease_followed_when_changed AFTER UPDATE ON public.leases FOR EACH ROW WHEN (((old.state <> new.state) OR (old.expires_at <> new.expires_at) OR (old.next_attempt_at <> new.next_attempt_at) OR ((old.sealed <> ''::text) <> (new.sealed <> ''::text)))) EXECUTE FUNCTION public.follow_lease();



CREATE TRIGGER lease_followed_when_created AFTER INSERT ON public.leases FOR EACH ROW WHEN (((new.state <> 'revoked'::text) OR (new.sealed <> ''::text))) EXECUTE FUNCTION public.follow_lease();



CREATE TRIGGER lease_followed_when_removed AFTER DELETE ON public.leases REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.follow_removed_leases();



CREATE TRIGGER lease_horizon_only_grows BEFORE UPDATE ON public.lease_horizon FOR EACH ROW WHEN (((new.id <> old.id) OR (new.until < old.until))) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER lease_never_deleted BEFORE DELETE ON public.leases FOR EACH ROW EXECUTE FUNCTION public.refuse_young_lease();



CREATE TRIGGER lease_revoked_stays_so BEFORE UPDATE OF state ON public.leases FOR EACH ROW WHEN (((old.state = 'revoked'::text) AND (new.state <> ALL (ARRAY['revoked'::text, 'irrevocable'::text])))) EXECUTE FUNCTION public.refuse_change();



CREATE TRIGGER leases_never_deleted BEFORE TRUNCATE ON public.leases FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();



CREATE CONSTRAINT TRIGGER vim_counted AFTER INSERT OR DELETE ON public.vims DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.count_vim();



CREATE CONSTRAINT TRIGGER vim_counted_when_changed AFTER UPDATE OF state, health ON public.vims DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.state <> new.state) OR (old.health <> new.health))) EXECUTE FUNCTION public.count_vim();



ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_management_fkey FOREIGN KEY (management) REFERENCES public.management_clusters(vim) ON DELETE CASCADE;



ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_vim_fkey FOREIGN KEY (vim) REFERENCES public.vims(id) ON DELETE CASCADE;



ALTER TABLE ONLY public.management_clusters
    ADD CONSTRAINT management_clusters_vim_fkey FOREIGN KEY (vim) REFERENCES public.vims(id) ON DELETE CASCADE;



ALTER TABLE ONLY public.vnf_package_uses
    ADD CONSTRAINT package_in_use_stays FOREIGN KEY (package) REFERENCES public.vnf_packages(id);



ALTER TABLE ONLY public.vim_shares
    ADD CONSTRAINT share_follows_vim FOREIGN KEY (vim_project, vim_name) REFERENCES public.vims(project, name) ON UPDATE CASCADE ON DELETE CASCADE;



ALTER TABLE ONLY public.vim_generations
    ADD CONSTRAINT vim_generations_vim_fkey FOREIGN KEY (vim) REFERENCES public.vims(id) ON DELETE CASCADE;



ALTER TABLE ONLY public.vim_uses
    ADD CONSTRAINT vim_in_use_stays FOREIGN KEY (vim) REFERENCES public.vims(id);



ALTER TABLE ONLY public.vim_labels
    ADD CONSTRAINT vim_labels_vim_fkey FOREIGN KEY (vim) REFERENCES public.vims(id) ON DELETE CASCADE;



ALTER TABLE ONLY public.vnf_operations
    ADD CONSTRAINT vnf_operations_instance_fkey FOREIGN KEY (instance) REFERENCES public.vnf_instances(id);





