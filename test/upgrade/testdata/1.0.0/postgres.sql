-- of 0001_schema.sql, sha256 8f2fc40c3fb350787bfa2f3fa7202553e5dc8e5296a887cfc4a973561d9814a7



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
    door text NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    detail json NOT NULL,
    CONSTRAINT audit_door_known CHECK ((door = ANY (ARRAY[''::text, 'rest'::text, 'tacker'::text, 'login'::text, 'grant'::text, 'vnflcm'::text, 'vnfpkgm'::text, 'page'::text]))),
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
    door text NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    detail json NOT NULL,
    CONSTRAINT audit_inbox_door_known CHECK ((door = ANY (ARRAY[''::text, 'rest'::text, 'tacker'::text, 'login'::text, 'grant'::text, 'vnflcm'::text, 'vnfpkgm'::text, 'page'::text]))),
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
    door text NOT NULL COLLATE pg_catalog."C",
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
    CONSTRAINT lease_door_known CHECK ((door = ANY (ARRAY[''::text, 'rest'::text, 'tacker'::text, 'login'::text, 'grant'::text, 'vnflcm'::text, 'vnfpkgm'::text, 'page'::text]))),
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



CREATE TABLE public.sessions (
    digest text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    came text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL
);



CREATE TABLE public.token_uses (
    token text NOT NULL COLLATE pg_catalog."C",
    used_at timestamp with time zone NOT NULL
);



CREATE TABLE public.trust_entries (
    name text NOT NULL COLLATE pg_catalog."C",
    definition text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_by text NOT NULL,
    updated_at timestamp with time zone NOT NULL
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






INSERT INTO public.audit_checkpoints VALUES (30, '\x7d70752741b86fba70f2e62e022c3cccc99739825798e9265c950a31ceee8673', '2026-11-26 06:14:14.899904+00', '284424ba-bddd-4145-a27d-d43e5d08a1ba', 'vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba
30
fXB1J0G4b7pw8uYuAiw8zMmXOYJXmOkmXJUKMc7uhnM=

— vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba JWbDP88d36sNJcmQU2XzcK1PX/TWjT0YrUJYzNzNEAQgNFPBnI+Q/tqyyJ/mEop+V7QiomFRXA5wBY6TDJwYpPBwuAI=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 06:14:14.356053+00', '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"9002c2c67dc6ba08b21092dd62dadd0eb26071d22d188e1cc7652c9677a50300","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 06:14:14.424184+00', '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 06:14:14.432604+00', '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.endpoint":"https://127.0.0.1:40755","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 06:14:14.491831+00', '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:40755","new.generation":"1","new.identity":"bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 06:14:14.497992+00', '655fa214-716c-42da-895e-5e263f2a0c3e', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 06:14:14.542164+00', '546377f3-7220-453c-bf06-990e15aa58f8', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.endpoint":"https://127.0.0.1:40755","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 06:14:14.566216+00', '546377f3-7220-453c-bf06-990e15aa58f8', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:612388492425787bd729a839bc1939c09a00ae3c30528c747e715f6276433870","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:40755","new.generation":"1","new.identity":"bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 06:14:14.580534+00', 'a90bd392-2133-47c6-a729-b8cc35e67158', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 06:14:14.597291+00', 'b857e40c-8161-4c35-a87b-7acbcf375228', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 06:14:14.600135+00', 'b857e40c-8161-4c35-a87b-7acbcf375228', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 06:14:14.64389+00', '966a9d1b-84a4-45bb-a3cd-ca7b240053c6', 'rest', 'admin', 'platform', 'vim:check', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 06:14:14.674144+00', '51720d52-bd21-4d7b-9403-d489eb2f8ae5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"7f3d13ff-0c47-4147-9778-0cdd63e9a777","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 06:14:14.695836+00', '51720d52-bd21-4d7b-9403-d489eb2f8ae5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'done', '{"authenticator":"static","credential-id":"JTI=c84f9ee7-2a88-41b2-86c6-b68eeddd1a69","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T18:14:14Z","for":"dave","generation":"1","grade":"bounded","lease":"7f3d13ff-0c47-4147-9778-0cdd63e9a777","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 06:14:14.712779+00', '18666249-7361-45c1-b7f5-6ebe5b887c88', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 06:14:14.739335+00', '18666249-7361-45c1-b7f5-6ebe5b887c88', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'done', '{"authenticator":"static","credential-id":"JTI=15a01a1d-8c2e-4797-9854-b1ac7eb3f138","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T07:14:14Z","generation":"1","grade":"bounded","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 06:14:14.75701+00', '6b476b55-dd2b-466a-a302-e48ff949bcca', 'rest', 'admin', 'platform', 'client:create', 'Client', 'b584d5f2-06f7-4f61-a267-56f6b155ea60', 'done', '{"authenticator":"static","client":"b584d5f2-06f7-4f61-a267-56f6b155ea60","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 06:14:14.78389+00', '46c48588-9ba9-4d02-9cde-9212f9a3c114', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"6628f5ae-4f6d-4657-9769-59c95b25b6a3","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 06:14:14.785824+00', '0fb6c820-19c0-4f69-908b-068bd9df54f8', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 06:14:14.79021+00', '0fb6c820-19c0-4f69-908b-068bd9df54f8', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 06:14:14.798712+00', '0fb6c820-19c0-4f69-908b-068bd9df54f8', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 06:14:14.800289+00', '1980fb88-f5d2-47fc-83c6-f05b2e47a297', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 06:14:14.81203+00', 'adc04a2f-508f-4d02-a26a-bc9370c45704', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 06:14:14.823628+00', 'adc04a2f-508f-4d02-a26a-bc9370c45704', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"7474070c-0b81-4be7-8d1b-1e0f0112acd3","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 06:14:14.84137+00', 'e703b779-54ce-492f-90a6-352edccbec43', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"22307760-f1fd-4ef0-a18c-419e12da8158"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 06:14:14.848478+00', 'e703b779-54ce-492f-90a6-352edccbec43', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"22307760-f1fd-4ef0-a18c-419e12da8158"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 06:14:14.856788+00', '53d20a89-02b9-4d3b-9056-a70f6cdceaed', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '22307760-f1fd-4ef0-a18c-419e12da8158', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 06:14:14.870127+00', 'e711c109-c4ca-4144-ac16-3dc1610f2b21', 'rest', 'admin', 'platform', 'vim:show', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 06:14:14.871789+00', '75d4df38-6762-4eb9-9271-7bd5d22c202f', 'rest', 'admin', 'platform', 'vim:share', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 06:14:14.873168+00', '75d4df38-6762-4eb9-9271-7bd5d22c202f', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '416246e8-780b-448b-87b7-29b8a599e3da', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"416246e8-780b-448b-87b7-29b8a599e3da","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 06:14:14.886532+00', '998f132a-146c-41dd-9c91-6aaf44e0b249', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"284424ba-bddd-4145-a27d-d43e5d08a1ba","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 06:14:14.899909+00', '998f132a-146c-41dd-9c91-6aaf44e0b249', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"284424ba-bddd-4145-a27d-d43e5d08a1ba","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 06:14:14.934109+00', 'ab33e2ec-2d3c-4194-a8ae-9a0f8304093c', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 06:14:14.946831+00', 'd7f10d36-7667-477d-bb0b-7d2fa7e449a5', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 06:14:14.951065+00', 'd7f10d36-7667-477d-bb0b-7d2fa7e449a5', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"49ff38a8-2eee-4345-8e35-0801ae9f0cc3","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"ea5383c5-501e-4a2b-8ae6-84b00f9950b1","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 06:14:14.962894+00', '3a5f885c-e792-44ca-b3d7-04ca423ccd0a', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 06:14:14.964584+00', '599acd03-31d0-41df-ad7a-496f4ee0f0d5', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 06:14:15.006371+00', '3af30c9c-6a7e-429b-9ef2-54bfc37ff286', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 06:14:15.018104+00', 'fe5b665c-8ddf-49dd-a09a-a50540b6b107', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 06:14:15.0293+00', '7c4e305d-59f0-449f-9867-027d9c806155', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 06:14:15.039232+00', '3fc526b8-10a2-43f1-952a-4a4208feef2c', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 40);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('284424ba-bddd-4145-a27d-d43e5d08a1ba', 'signing', 'vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba', 'vimbroker.audit/284424ba-bddd-4145-a27d-d43e5d08a1ba+2566c33f+AbNQ5bdAFBTWJjquKX+1tZpW7aURKTfDJKw5DjjZej1w', 30, 0, '', '2026-11-26 06:14:14.88653+00', '-infinity', 'gAAAAABrB8427XbN32Y8Y3Hgj6RyBu8XEynrTyvdrH3N_930tFfZP5c18n_Wsk2mM9G_VS8TRIkm68Y1DyVyXeqBl5CaCFjgR2Jkr64q0EWyLQB_WjFIGcn1ncolLBiwT_lNy8ROsFHak8aA_LWGhy6nt_VFeMaDvLju87ox0JB_i3Oj-e7iWaLDKqJo-7FnfM7FZf_PyABCj53gcqzCdV_7zJj_4OamPFI9pNedIRUAx_gRxHmT3mt4sg80rgatSdCEJF43-MpZw8F7BzdBpXUWELzDStq7lYzFML4NL9JaO4jvTdwvr97CqqGPSV5JXhV1XzyuCluN_CZYN6nicZhrunzsu6aIk3u3VioqoHReJIhExyMne7U6UZzpdszIcXBkcFg2YEc1pRQGiFVFqT-PcWHFY25rgTREqM8yJ4p6SdgJ5H6qV7BN2LK9FUD5bk00LNNkIWRnAaCb9mDcmpIMOeTPbzYqcw==', 'keydir', '284424ba-bddd-4145-a27d-d43e5d08a1ba.1.2fed8548c0170cf9bcdac1d6385c4b52');



INSERT INTO public.audit_tiles VALUES (0, 0, '\xb1df6568ef4f930187bb963320081c5d5302de2a507f2d708c0c184db6ed2fe203f93a63f2372dfaa08a710450565a019182efaa84b9273927361ee75c3afbd23da59e19091c78b6e236a3036b9cf000ea75642a994ab5d6eb72739978f5aeccbb405c6e8474dd39f09cf03772aa02e535f00789cd75c0b97fb9165df2bc0914345e73c84695fb726218bf2673bf91592a98d9ef462c6002917543faab311760137cfce94f491c3e191a91eb5c55cae9fa741501adc835c61e935c9225ba01a75d52138849f525b4c5e22f1bbb1fcb5e2197eeb09f609c8142f4592c91ce653612ecfdee5651ed35cb085b3dd9acafea8ab947c9692c8d9421baccb8da50c589768678b287795ac37c84ea8450901d91d36669ec449bffeabaf51b5745988caeee194692e6e54379790f5c45eda1549b7cef3c5cd75d05e71d6e13e279f00a15515b0e7b0b30c890718a45fd3a0bacea149704b256d9f28be064dc550d38898da30fbc1c95a067d5206a2346c42158d5325da8447889c8e66729b836d81788850b7d50343da9141b0de222b2d4dfb1ab0834e698c379a363c66889c0822943b45783d9ca3f570620c8dd04e9cdc2dd3d7ae67932841ad722f8e9df2172a3efe87ac8c7fc0b9664db66917fd2c49823828de07545b8cc8124c75c4b2a428974c86988f69078f3bab9458954d8d8ed37d61bee312be7785b46566f9743d5425edeccd369f0d55374be95d6254fab3417a316a5b700fae035d815567efb40d6b833cb95aafde6fc952ac77c6f0bc7e216536e60ecf4b251bb6b1048198f4312f120e7934af78eb40dcb1d4485352ea1f27120575abe1ddb45fa793b6924ba9f3e2bbde64372000236c88c634b645175d0d7ad3d1ce0f3379f5d046d80663d149f2f3f679f84256c42d43f84075047daebf013abd4807b972b9637282c382ea2a69c80af2f51b5e120978a5f97b846f6441ea53d81d50f8b2ca418a15653c7fe812b0e57bd033dd10c5d01620bf631f65ea619b7899be586ddbcd85590c783e609d53c15f60da90587d1031ecf5ae0dcb9a4059d4ca6a5071f368323859bc96ed47927331c1132d7908149a0bb3ff5dbc395fcbdd52093c4e1785c1f6271016f138c3033eb02714a349b453a54a84b6da0b505a8f857d96b0ba59a65abcb6d07586a0134d2692fd2a257534daefe951f8c630162039b74740469b420ca2aec893e649518b33dc08e357c95e10b2b7c3371133b04fcc023cd4f74787bebd338d881f54928268a76ad7a6ec2967a032060bc389e06f43756b5863229e8fb3c2ef7c7a1109d2d9140e9d6e93035eddb25f726eb730b2af8609fdc0c6bf4e86d523c97abf32fb44415c31f3270cea1909f1a38f4f1ee29f5af0d312cb46af48fa734d1aaf39a1027e95f6d19ecddf7e14880d0265f65925129682e05fc62ef707fb16c040d61336fd9f654f3a43adae154d0c3db88c00e447b773f972b23a5fb77acd2af8d16696c74f492d8974ae133b71578852e14abcb09f6cd004a95cfaa75b1f4b6d6a5827be47d41369743b02fb674b2dfe08ad628deaefa37d29211f5550b2ddd23ce12d46c8e9e4c2d61255501cc79923a22a10022ae5e581a7df16bc56c1988d28fb5f981f33318a2aa3aba612c82498c040ae859510fcd3a6ba260785536318a2289ea33d0eef62fbf9f8f10ff28322f019d7bca8677f08c004ddbfe766e873ad89da9f18bce9004fa2989b48b6537691bce19dbed382f1f158252cecf40424feecb1e44154a56138fb3554ea9fca5b83922ec13439cd9c66db3f40317ff86');



INSERT INTO public.audit_tree VALUES (1, 40, '\x9880b036d191c74961c8989d9efe599915907c03542ac46c7108314fabf4b86d');






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



INSERT INTO public.grants VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 464101442770, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 591578097157, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, '2026-11-26 06:14:16.400914+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, '2026-11-26 06:14:16.407747+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, '2026-11-26 06:14:16.390249+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, '2026-11-26 06:14:16.404203+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, '2026-11-26 06:14:16.404405+00');
INSERT INTO public.jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, '2026-11-26 06:14:16.400217+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, '2026-11-26 06:14:16.404599+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, '2026-11-26 06:14:16.401202+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, '2026-11-26 06:14:16.367271+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, '2026-11-26 06:14:16.404824+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, '2026-11-26 06:14:16.408315+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, '2026-11-26 06:14:16.405066+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, '2026-11-26 06:14:16.405698+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, '2026-11-26 06:14:16.400718+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, '2026-11-26 06:14:16.39979+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, '2026-11-26 06:14:16.400483+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, '2026-11-26 06:14:16.408065+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, '2026-11-26 06:14:16.403926+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, '2026-11-26 06:14:16.405252+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, '2026-11-26 06:14:16.387801+00');
INSERT INTO public.jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, '2026-11-26 06:14:16.405449+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, '2026-11-26 06:14:16.405916+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, '2026-11-26 06:14:16.37994+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-26 18:14:14+00', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', '7f3d13ff-0c47-4147-9778-0cdd63e9a777', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 06:14:16.951189+00', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', '49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'platform', 1);



INSERT INTO public.leases VALUES ('7f3d13ff-0c47-4147-9778-0cdd63e9a777', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 06:14:14.671113+00', '2026-11-26 18:14:14.671113+00', '-infinity', false, true, true, 'lease-7f3d13ff-0c47-4147-9778-0cdd63e9a777', 'eccaf239-c73c-4bdc-b185-d37fea330965', 'ec054180ad9a96f90ca7723008bf657504083bebf6cd0c92a3b323a7a55aba04', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 464101442770, '', '{}', '{admin}', '', 'dave', false, 0, '', 'rest', '', '2026-11-26 06:14:14.696005+00', '2026-11-26 18:14:14+00', '2026-11-26 18:14:14+00', 10000000, 'bearerToken', 'b9099d9a-83cf-481b-8932-6a1875643d69', 'JTI=c84f9ee7-2a88-41b2-86c6-b68eeddd1a69', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1.1.b5ab6eec034d4d0ee46c66798a458733', 'gAAAAABrB842Uj3SLvvogMZODGWaZGqbJ8Ca_iKXV7yCYCHFQQONwHb4JkqOvogJT5i4C6SwIBmVun8q0KGvqGQYqVUU69WsjnL9J96wHU-dBL1wY0WbrIRy4zabp5fKw5JCvISwJGNcCHuNmh1IyJiS8GFGcs5elhOyq44_6vmiKaieBCv5qfsIqI5KlBMv2xTfaioHTd3i4apIFM_lyzMPtABhht1dDlJJESlf0ZP0LeRZjgNb05UvG4OtjmuexDghkpfciAXdQp09gHNBy3BA02dve8n72OQhnPnZD7QQKcFQMXaZ6eBx0AIJpIavP1yNDTrsQwH4Rwyijjas7GiAl9KSTEn0GY0OlmYxGaAHYusOO4MiLT8eAwhGW2J69KjMLYHNYLbOJaHa5gwlU2D4m8N-afUio4bRDCWl08rLk33IG6uAKfsRe2ocsCzGgEqJNP8zANmyOK9tLaVtAOWgxrnK96x8pmFTeYY3j0o9MqRP1KSRfSruyeZSx7ooIQO44umU15PGZahZnnPkVjBV0rq5m0s31-RbKpMhQPfxnlb9Y3bJ1Xt07vBS6Zp051aD6D2cNC71XxqDrJYPzNbJw1M3_ZUdJ_buxwPWZOxiOlltB3Q33vBoyvAj3KeZVCUf5iHMfkXP1vB2D8iIoI_2arue7kDtozPy448QUmQWbPfCFXfrnQTcr2vCDMfQ5oYM7un-TDB8G1q96XjlHARd4TEYC22h0JMb4DGTPSwzp8NIt8fyMnrUDxY37PSPVj--u5qq9VxuG1wEs_ghFCfJcObc8kZoaSDlTlIRaI1-zrJRYM4AVImnF6XmvW5rlAEOWJh4WouHvACrhwWr3nPkMERcUiHVwhjBMcvBNTSTFzjwo5VwDlIcrqxf6aWAaC6GuFv6xk1sUNj-81Wf40vWlqm_zcrS6ky3ettNCCasxiAJFG27IgqrqBzrMM5TbGyL91p0ZvPeucHYC9TNmJOl0ZrjO2yYzRGAN72OxvUGdIUKXBf29AM4qNiZdknqUolOExhmtGPgDf4AsQYiKCTesrixNx8yHG8wv1xSJpkONPPTZq5HqnO_QXessrq4h-19sw6v8EAvWXo1zYa71muNxrdEM1-IXoMuyd5oP7HpNpCXLJxOTajHfFfNc2tAJ4OKwtXDb-IP-qcfuypKNpQuaaIqkqtDVwyh7Dq78q_3K67E0Q1iwbtHEtbdoW_V97bBlMw-k4gs', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');
INSERT INTO public.leases VALUES ('49ff38a8-2eee-4345-8e35-0801ae9f0cc3', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 06:14:14.711768+00', '2026-11-26 18:14:14.711768+00', '-infinity', false, true, true, 'lease-49ff38a8-2eee-4345-8e35-0801ae9f0cc3', '342b89fc-e839-4811-bf1f-abe2d86aab00', 'a3e4574a9c28685a379110620f3b14e93338dc96e1692b3b7028c1041f6be96f', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 591578097157, '', '{}', '{admin}', '', '', false, 0, '', 'rest', '', '2026-11-26 06:14:14.739584+00', '2026-11-26 07:14:14+00', '2026-11-26 07:14:14+00', 10000000, 'bearerToken', '17cd1dfb-0695-46c9-b3a3-fb91f6e0f19d', 'JTI=15a01a1d-8c2e-4797-9854-b1ac7eb3f138', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1.1.b5ab6eec034d4d0ee46c66798a458733', 'gAAAAABrB842VWAQSyfCOduZfkvcw7GFB_ZuUZ_nrevU6W3psXN35RDinkTtSiBY7Al_bz3pKEEhJM4YJWuZd-QzCQhccE-gn3sVpCPtnl-Qd1yXOnjUFyGY96RTik8vF0E45Z0j6GocequjnnCm3TvqrUg29uxZ3bdhIOQFHR3Zek2smgBiGAMdzdIuHk7FxQf3FhwSwbso7mfFibq4X71IsdloIuEtIMU-m98jIcAzfNi2Rtq1RcCv075qMIVKlMQPDAV5dcxALYRwOonY4Llr_jFjojH0YdIterAPcWAYSjiGEZG3jI6hUsTVdl0O_Lch_MiJF4kL4_No8bnPDTrppeD33FuGLT9p-5OoaNLTxVYVKnAPB_AfgT_UZ7p3QioBje4TR9vkdvwUEb65w0droR6z0RiIFZ-xFLriok69A1w-wBKwn6sqSXRd2vnkZjM4EcQk404oy5zZ9w0dnyCnehX1mVk2-x5sMIBhMLVPuNiy278W_KrgiWh-a6Hvil9XYHyRJ0e4mogQLG1zkjgb537HC1qe6eDI3Nb-P7NooKd55PyuR5hVKWbWexUrImvUXdXccq-_ic5uoILI0Y8Cjc0Dcgho5kfQtMCIXjxbYzEVml1DBD-l_1ofUzlKcC3p2lVbB_htNwlGA4iRdU_Vof0hUZ1WUN3rKWeZWpId0X0VywGR0JYhmcknFcPLQglB-YyxWYMMwmYdxbkNe57Ne_OeWXRyOoo6TOypHZ0sK2O7cvk7Tri9YLKM2X2ojxKEsMTZx89Am7wB2obb9JbtRMhJ87-vIdsgoTXnSyemA81Anm8Hg91XyvJWz3STFHTLcrtInnozJExrJeKqL-MOvLT-oXAQQu7Dvjkmv2BTbW0-9tjVdCyd8tC8XayIPebgzb5FIRbv4WLfAa-csRDfCuGmhaIYLU7Fg35srM2K_Dr78qzeqiXD0an9RgqVXmJtBOF5LV-5yNOJlHPWBBQh0ztxFjO3UxPHoc5n0RovyymyWfhFNb1JnZOE0jRdKL-83iQD6pWAW57GCss6HyNC_ARPyv02iV6I8g-h8gyu1_oI_JhRe_u09PyyEyicxyaWEVGGUfY1qB4ez37w2uC1uci5wYIRxNN-xKlsEeX48NWZ19qNzC053KCBVaXJ0nuUDw7wofTBEJU8sceYnkvud2S9AUziA0syVSxhbeqolUQrmqsphp6C0bzpCkruBt1lvmqpbe_l', '-infinity', 4, '2026-11-26 06:14:14.951189+00', '2026-11-26 06:14:16.951189+00', 0, 'revoked', 'requested', '');



INSERT INTO public.live_leases VALUES ('7f3d13ff-0c47-4147-9778-0cdd63e9a777', '2026-11-26 06:14:14.671113+00', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'platform', 'platform', 'admin', 1, 464101442770, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('b584d5f2-06f7-4f61-a267-56f6b155ea60', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', '8f73832ded8a805c692146d70598cc2bf3ce71152fe69bf21ab112077ba63662', '', '-infinity', '2026-11-26 06:14:14.756934+00', false, 'admin', '2026-11-26 06:14:14.756934+00', '2026-11-26 06:14:14.756934+00', 1);






INSERT INTO public.probe VALUES (1, '-infinity');






INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', '8f2fc40c3fb350787bfa2f3fa7202553e5dc8e5296a887cfc4a973561d9814a7', '2026-11-26 06:14:16.689243+00');






INSERT INTO public.token_uses VALUES ('444b2ee7406c', '2026-11-26 06:14:15.061815+00');









INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 1, 'https://127.0.0.1:40755', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQmgAwIBAgIPBc6gnZqScQh58Yxe82MpMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MDYxNDE0WhcNMzYxMTI2MDYxNDE0WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECjpT
0+ojNKN8md/VWDGbzA63xEt61kNvjgDtU+JShDeWjt6bfmFHjkfR+UmyTIzh4gRR
95y9vOPYelktomgfMKNCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFJVMU2v0fRkC86oE+azyDt2ZM/ROMAoGCCqGSM49BAMCA0kA
MEYCIQDppm9ebnOKgjMDPs06gT9bMD0S5qux5M6R+k70xmLpIwIhAITw1Dti7WwM
kYrcLFSnPWiYBIll4UIkNWlthoqZyuiX
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', 'bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb', '', 'bearerToken', '-infinity', 'gAAAAABrB842fiLSGjBKG5ZP6sMiSLYvvZng_6RR9Odz4oFu_cWoZbxj3T3NVHg0wdYvRdGdqAf84NJacux7yGmpGpdGgWSvTNxs6bpqPqEuH2VqVybeQRZq2CUDrOYYSUxvnaq3VrNsyy1pDTLfcSwpI4VuZOCO4zRBaoQ2Xr2s33HyxTvqZI4gcpZTTvp0-4_8qenNi4MsZxLmSt3uvTrxdtgkifilhE9dKzIr-OlOCvxyfzUGqfLizDZm6VEQDLjIEhEQRm6AcTdc3xyBheLhQVOy9hht5Ci_3xMMH64gyDIpNjtNIkPBz4hFhBAZWund404yu4igiS8NKiqQSNR1J-L-kReksY5dkwx8feB-68nvwozUDrTU5hQG8eQlfUt83pTfDMbuc6ArZOIAxuYfXElkbGfkPgspbkiS55oMP1a4kNJCCSwEpf2ZkIogjB51NbWZ9p0mQLbUsXp2Abo6k3L4G_8JIL8jveMiYpqnQPedWJtBKDk1XUXyyvqBbYTT439V01Ulz7Kf-Y57xvSB_htnczKIcZTetu5e4iIwqm2e5N-t_vzFrA51hh_23Cf5znXqjwLGqcH6nz6hkQbPdF4QNg0sNznyqBTlY5DMJfc_FiojrHdrInpRrUyrY6hWUQYTLNB4k18GxHDjKKd48CeYd2C2ZE5Y6Xz7BULaesPea6-B7FAf38oa5cRr8dbrNeQccKG5deb9ky8IUvt6aHUx6nEcl5m0CCyemE8hxg_34l69CREooxFHYfx52ZjOk7myqRbjtf3n3-VTFQeI5ZWa9f8QRIWXe6DbvtzQmsmG52S1K5iGpwnGiq5tdB8vS0Xa1ztshdyihaLHMywyOYAYD1rWIP4xasGrT3GxyAPOaajzus03Di0jrTGjyH5GDOPfBrTQMrjcQzgGlc0_OuufFJkhRnHqEafsPM4RPgm0tC8vOtq6r9Cub0DSLb4ZOvR0ETOqF68p4n8PKZNGt-FISbVHQqiU2re4QyKTBc_jfzv5qtT_y4Hy9_5lDkBo2-FBIqdXp9_nbP4clqG2OO7QrUI7iruAdlCGhCCvgrIokSgrxcGGF6wcLT_26OHlCrX5miOC', 'current', 'ea5383c5-501e-4a2b-8ae6-84b00f9950b1.1.b5ab6eec034d4d0ee46c66798a458733', 'keydir');
INSERT INTO public.vim_generations VALUES ('416246e8-780b-448b-87b7-29b8a599e3da', 1, 'https://127.0.0.1:40755', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQmgAwIBAgIPBc6gnZqScQh58Yxe82MpMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MDYxNDE0WhcNMzYxMTI2MDYxNDE0WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECjpT
0+ojNKN8md/VWDGbzA63xEt61kNvjgDtU+JShDeWjt6bfmFHjkfR+UmyTIzh4gRR
95y9vOPYelktomgfMKNCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFJVMU2v0fRkC86oE+azyDt2ZM/ROMAoGCCqGSM49BAMCA0kA
MEYCIQDppm9ebnOKgjMDPs06gT9bMD0S5qux5M6R+k70xmLpIwIhAITw1Dti7WwM
kYrcLFSnPWiYBIll4UIkNWlthoqZyuiX
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', 'bb07650a-4ee3-4c5b-adf3-e1e1e9113bbb', '', 'bearerToken', '-infinity', 'gAAAAABrB842Ee2oLN2_1JKsRWOzuSYoDE3ejlO9oEWxfwL78-xw1-FYCyuu5RK1Hjyidgnr8xSI1qoq6b4zKqE9wc8x81BZ2QTNmMV3emFQzsPINvOM-uB6Fa8Xhb31MBBjG8tIImNEn4UG4l7tK70cvWBJoY_cVjmD9BYOuJmBEgmY5K1I-DqNsQ6yzqxUoCfIoezq5JxtExhCUOo4WKE11ahUZpN4YVs24W5oNuXPAtRFMNBcL4gtEUTBjbqsjPzNE8rES0c3LaYDisUeu1zYr4e-BLX6VIDTcOvbm_jgWqmzE7Gi7z_g93vUdJtd8UJPwoZErPykCVkSHksU0Ql4pH-1ILaD7osQhNRy4seo21Kt6R6XQXhY1WeAm2XdFm11b9meJLikvgO338ZQ21cKSbZu5KYeEiFmfOjKXxFsXXrW8eEvbiXgbnt7DT9h4cP841tSW1SC-EdXT3jxjExV0FvEPHWJOCjdUQyfHWuf6BhQG1bm6Ee9fg_3V6LzOkag0-r9_4CyE2VkwZc-spro6uzMfx42JnGRFaUflRXpBSzbFFJBIxHwyuVnlijtj-b1hX0N1mSvX3asfU9nAHyN2z-o18r63BRhaHTWFd9F-n7UlDteHMxCiFKjwK-gDooLo4C7SJbXDcJxoEJBmFWPltVFofbo5xPBSa_Qo4srKh61pjNazpSDclxTXO4CJcunjWf2WTrC89NMagvhVViKAm0E_132tVfit24jdSXH_eN7XAvsUKD0w7J0WEzWQTh1Li4_O3UJVZ_X3ztSR8dQnohkxKFv2C8hJyWMD3RX4HIyXFhnBm8KfnLHT5WChcys3pwa7F3BS1yYf12lnpnERz9sqOrGFR9Po24iYj-eiCPPbyqO_8mesIQbEEYZ8DOwfet3fc7PmKmKs664PZMubLjfoAIE8_uOXWdyRjLhZDVJQEdxj7GpFnHJ1WxAFgG9mKb6HteQiqRklVKRhAnuWiAFlZhU6HvCHbrrNhchH55vPfeFncy2hIDELNt6I5jjVd0fDfTIepSOq2YwW0TOZkiVnHxxWRYXA2ybSlJ99AQCljQNA41h5N33PfqdK8dsmmgJ0U-d', 'current', '416246e8-780b-448b-87b7-29b8a599e3da.1.72bb61a54beb8ce5864d5b54cba839e1', 'keydir');



INSERT INTO public.vim_labels VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('ea5383c5-501e-4a2b-8ae6-84b00f9950b1', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 06:14:14.432456+00', '', 'bd8b9fe9c30cd57533c115a96086d144bbc7be2388b2e1c4cd68df5793b06882', '', '', false, false, 'registered', '', '2026-11-26 06:14:14.60049+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 06:14:14.655172+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 06:18:50.271637+00');
INSERT INTO public.vims VALUES ('416246e8-780b-448b-87b7-29b8a599e3da', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 06:14:14.542096+00', '', '2b596caeeec6d4a2e82f55b76498e0156d632ed3d80291225e51045db450cc0f', 'second', '', false, false, 'registered', '', '2026-11-26 06:14:14.873361+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 06:14:14.566458+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 06:19:12.053451+00');









INSERT INTO public.vnf_instances VALUES ('7474070c-0b81-4be7-8d1b-1e0f0112acd3', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 06:14:14.811486+00', 1, '{"id":"7474070c-0b81-4be7-8d1b-1e0f0112acd3","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T06:14:14.811486Z","shape":{"package":"6628f5ae-4f6d-4657-9769-59c95b25b6a3","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('06eeb884-f832-49be-bd96-a2742b8be786', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('6628f5ae-4f6d-4657-9769-59c95b25b6a3', '7474070c-0b81-4be7-8d1b-1e0f0112acd3');



INSERT INTO public.vnf_packages VALUES ('6628f5ae-4f6d-4657-9769-59c95b25b6a3', 'platform', 'enabled', 'web-1.0', '06eeb884-f832-49be-bd96-a2742b8be786', 1724, '2026-11-26 06:14:14.783887+00', '2026-11-26 06:14:14.798791+00', 4, '{"ID":"6628f5ae-4f6d-4657-9769-59c95b25b6a3","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"06eeb884-f832-49be-bd96-a2742b8be786","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T06:14:14.783887Z","UpdatedAt":"2026-11-26T06:14:14.798791Z","OnboardedAt":"2026-11-26T06:14:14.79871Z","TouchedAt":"2026-11-26T06:14:14.798791Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('22307760-f1fd-4ef0-a18c-419e12da8158', 'platform', 'http://127.0.0.1:46045', 'http://127.0.0.1:44987', 'FULL', '{}', '{}', '45b68a9d194b3e79d3cd00e58ba9e0f20dc3e68047042bdef62e4a9c37d09fdc', 'admin', '2026-11-26 06:14:14.840955+00', 'active', '2026-11-26 06:14:14.848632+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



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



ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (digest);



ALTER TABLE ONLY public.vim_shares
    ADD CONSTRAINT share_once_per_vim PRIMARY KEY (shared_with, vim_project, vim_name);



ALTER TABLE ONLY public.token_uses
    ADD CONSTRAINT token_uses_pkey PRIMARY KEY (token);



ALTER TABLE ONLY public.trust_entries
    ADD CONSTRAINT trust_entries_pkey PRIMARY KEY (name);



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



CREATE INDEX session_by_end ON public.sessions USING btree (until);



CREATE UNIQUE INDEX session_by_id ON public.sessions USING btree (id);



CREATE INDEX session_by_principal ON public.sessions USING btree (principal, project, until);



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



CREATE INDEX vnf_operation_failed ON public.vnf_operations USING btree (started_at DESC, id DESC) WHERE (state = 'FAILED_TEMP'::text);



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





