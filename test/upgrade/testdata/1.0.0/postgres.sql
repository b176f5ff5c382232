-- of 0001_schema.sql, sha256 25823b0848d8de6f6094159760446585f797292935d37481140ede4aa827e90c



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



CREATE TABLE public.link_uses (
    link text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL
);



CREATE TABLE public.link_viewers (
    project text NOT NULL COLLATE pg_catalog."C",
    link text NOT NULL COLLATE pg_catalog."C"
);



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



CREATE TABLE public.virtual_links (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    vim text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    network text NOT NULL COLLATE pg_catalog."C",
    maker text NOT NULL COLLATE pg_catalog."C",
    loose boolean NOT NULL,
    since timestamp with time zone NOT NULL,
    revision bigint NOT NULL,
    document text NOT NULL
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






INSERT INTO public.audit_checkpoints VALUES (30, '\x0a9b6b4e24b9a091cf9f1a67d67e08871f18c10bb60b345edfd19bf2df88e6d4', '2026-11-26 10:22:59.672243+00', '09cc9c0a-a548-4349-9686-375f44f37c71', 'vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71
30
CptrTiS5oJHPnxpn1n4Ihx8YwQu2CzRe39Gb8t+I5tQ=

— vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71 +j6CxxDqYUaQkeHU0eK8t8cO7Pyy96kwNKrUs6kx92+CFuT6Ab4hztda/kL+Kcea7ti6OKlIlqr+PuugQPjLUnUivg4=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 10:22:59.05202+00', '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"62e01609efcd71293d52e59c4c8cad948009350633669063e852a0df0748618e","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 10:22:59.077721+00', '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 10:22:59.079126+00', '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.endpoint":"https://127.0.0.1:37019","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 10:22:59.09147+00', '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37019","new.generation":"1","new.identity":"2cd479c9-6beb-4def-9cfa-9366d8ab80ca","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 10:22:59.092468+00', '6f2383bf-fd83-4354-8f6e-4772c47d2c24', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 10:22:59.123802+00', 'a06fe7cf-ff89-488c-a81d-fd45b0d9e600', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.endpoint":"https://127.0.0.1:37019","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 10:22:59.144414+00', 'a06fe7cf-ff89-488c-a81d-fd45b0d9e600', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:d4c82641f03e0a74ed1555f0785e6b418a63fea372b8892f9adfd1b2c905f18b","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37019","new.generation":"1","new.identity":"2cd479c9-6beb-4def-9cfa-9366d8ab80ca","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 10:22:59.170974+00', '73f81e96-334e-4c82-b4cb-93a45112bb75', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 10:22:59.200728+00', 'a44a2b57-2153-49da-bbc0-7f9ca2910697', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 10:22:59.203347+00', 'a44a2b57-2153-49da-bbc0-7f9ca2910697', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 10:22:59.229869+00', 'd562adbe-8d10-4bd9-90cc-dd790d124c65', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 10:22:59.262925+00', '5a2c4520-f860-4b61-8af2-15733ee69baf', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"8d8c5151-0aa2-4c19-8ffc-9187ec53b79b","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 10:22:59.301022+00', '5a2c4520-f860-4b61-8af2-15733ee69baf', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'done', '{"authenticator":"static","credential-id":"JTI=64852b2b-5f21-408e-9c33-511b47a39a54","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T22:22:59Z","for":"dave","generation":"1","grade":"bounded","lease":"8d8c5151-0aa2-4c19-8ffc-9187ec53b79b","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 10:22:59.338765+00', '5d062556-1f26-4699-bfdf-dcf3a1a8022a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 10:22:59.392322+00', '5d062556-1f26-4699-bfdf-dcf3a1a8022a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'done', '{"authenticator":"static","credential-id":"JTI=452746cc-e844-475f-8dc5-672cf17388b5","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T11:22:59Z","generation":"1","grade":"bounded","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 10:22:59.421827+00', '3e1d293b-1779-4bad-a0d6-c455c4c05a23', 'rest', 'admin', 'platform', 'client:create', 'Client', '2055c5ec-b5fe-4ca0-b33d-f5d6323591ae', 'done', '{"authenticator":"static","client":"2055c5ec-b5fe-4ca0-b33d-f5d6323591ae","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 10:22:59.49206+00', 'b4552b8e-f1af-4067-afa7-3527431231a1', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"20ff7f64-43fe-470a-9ed5-6607764172c2","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 10:22:59.504353+00', '6bbc0669-4e1b-4141-b7aa-48ed302625ee', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 10:22:59.512434+00', '6bbc0669-4e1b-4141-b7aa-48ed302625ee', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 10:22:59.519658+00', '6bbc0669-4e1b-4141-b7aa-48ed302625ee', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 10:22:59.529498+00', 'eb60b3a7-9988-481e-865f-3fa996ae2ca8', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 10:22:59.549083+00', '0ec25481-5653-496a-b617-77c88f4345d9', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '20ff7f64-43fe-470a-9ed5-6607764172c2', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 10:22:59.549974+00', '0ec25481-5653-496a-b617-77c88f4345d9', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"748f8f5d-3300-4546-b111-6985ef866e10","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 10:22:59.600453+00', '2b7e342f-cca4-41f3-b6a4-6b6583cd782a', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"7022891a-c2af-487e-8474-b20b61d3ea1c"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 10:22:59.601746+00', '2b7e342f-cca4-41f3-b6a4-6b6583cd782a', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"7022891a-c2af-487e-8474-b20b61d3ea1c"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 10:22:59.602917+00', '4e602edc-8a07-4bd0-ac50-f418612d3d69', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '7022891a-c2af-487e-8474-b20b61d3ea1c', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 10:22:59.627413+00', 'ae088879-d452-4a5a-b582-f587c5043b9c', 'rest', 'admin', 'platform', 'vim:show', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 10:22:59.6296+00', 'e97d31aa-cc42-4735-9096-3435c213d306', 'rest', 'admin', 'platform', 'vim:share', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 10:22:59.630022+00', 'e97d31aa-cc42-4735-9096-3435c213d306', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1cd0c663-2447-449f-a31e-b7c4b5ae37a7","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 10:22:59.654427+00', '2f93c4d8-c610-41c8-8f6b-211f996b38dd', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"09cc9c0a-a548-4349-9686-375f44f37c71","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 10:22:59.67225+00', '2f93c4d8-c610-41c8-8f6b-211f996b38dd', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"09cc9c0a-a548-4349-9686-375f44f37c71","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 10:22:59.701578+00', '4a718e1d-bca8-476c-b105-406791dcb7ce', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 10:22:59.724805+00', '61a03d7b-22f0-4d0d-b28b-3222a5f533d4', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '19734b13-8144-4c06-8c64-f64a7b7a4ac6', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 10:22:59.727514+00', '61a03d7b-22f0-4d0d-b28b-3222a5f533d4', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '19734b13-8144-4c06-8c64-f64a7b7a4ac6', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"19734b13-8144-4c06-8c64-f64a7b7a4ac6","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"16f9bbe2-40d2-419d-a38f-8a7678e991b0","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 10:22:59.75608+00', '97920124-714d-4f98-8ffc-1e45b1cbf3b2', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 10:22:59.758908+00', '6647103f-4dac-44da-ae83-9716257d163a', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 10:22:59.862142+00', '267f003d-8168-4f6a-bcf1-2794a05f290f', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 10:22:59.904621+00', 'b1646ac6-3c4b-4cc2-a190-ec13e9a3debc', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 10:22:59.923447+00', '84fe10ef-d2e4-46d6-af6e-c0f352b1e767', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 10:22:59.953148+00', '926c3159-14d8-49d3-90ef-c5c94720b0d7', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 40);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('09cc9c0a-a548-4349-9686-375f44f37c71', 'signing', 'vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71', 'vimbroker.audit/09cc9c0a-a548-4349-9686-375f44f37c71+fa3e82c7+AQWic/twHtxIEaOPy9v86Q4iX7E3u3SISJ292XwLnI+X', 30, 0, '', '2026-11-26 10:22:59.654426+00', '-infinity', 'gAAAAABrCAiDnImyTDvxWxeeDt3KtqSU9bIdtXdrqegz5TWbtPCzZE0MpGVddKi_df9ugw-J370MRwLVhHVI9XA9vMlsvycc6FOhTZoSq61LDDfQwNGaoaAxGLO38Ybb5geX9QxqcwLFBuETm2M1fehvY0dySMdGnZH_myObh6ozRtZJh3xrgPI_Ihgehy9ORrwfWabPKNS5V5aajQKEhh83OjGOTJUuYV6CQn9mCvLJzv0R_ouBDAxqPEMjVQp9SoAd9txRRgk63SaRRohPNKJB-Aa57ud3liNcjXYfd7voe22J_lHqPRfPDJpdvJDl2VKZv2-ZBOga2_pDysBz-mtADr0J8dAkNHsBJWdPlgjvUoE9gNL8CCxCUGpHzzy8j6Q-eMXC9NN_LAkqklz2O4u40Pf5ygrjZvJGFXEPS_KjWM0O3iUxMBDZivVjDwp5S4YfyCKw9WRH34d2rSuSRLz6O7NdzrOqjg==', 'keydir', '09cc9c0a-a548-4349-9686-375f44f37c71.1.0f746267c34593fd80a78ef30213e39e');



INSERT INTO public.audit_tiles VALUES (0, 0, '\x5dd298f2060f5559924b4891af010052a796e620e94341897e845050225d37245de71e2bd4d5c142806fbf191a8cc1eab44398e18e5cba174369a3b7ab58deb6785506f11a8b002dc52093e992280d6ad601d11777224dcb840e56cff34c6ca60392cb57fd26b7661422e1d47f8569726b0175e1d46af88d88c909abf2cccdcc49de37a6d82a4953513232fdaaf2506d1e4bc1cc55e48d39603d088c66263f1fb789e7ab607ad21cdfab868b82193234c1aff8324754217fd9a58b4cfea9704143e55bcf5ecb9a29b1d66b272d7380a832f5dc1d73fd700c513f8de5571f654501921c53fcf06bebb3e6010df52e5b1111a4f7cba39b18edeeae4f23457a6672529d8eb5b47f6b4c84606ba824f767ecc95478f9d41ed0da64cd0a85667c670c913e72c1f85235469577951c04715ac6981a4843000a6af0dd14f3bf264b94b07b310ef2356dbef25097fb25f43b9126f4ad6f6a571e4494138bc93e96c2baf0afaff687d868787bf87de139296e213f990644fee65d89bf2874a7a83ec487d20f36d5ecff9b5a0bbd31861ec79e86be8c36f6cb43a4cb0c5affee25b98a512c65f058ba115fa8fc1f3235868e8d233e09c6dfe6a9f751c55a301a1e48a45498f48cbc7bd7ab885faa74b963a368823a0aa330dfa8e21c69cb1667f254ad2e2e3b01e386dd33e875a6a95e6aab07733acf181a8488ae836788bdb5a3d5eaefb0e72dbea5e31d7a5ac5fbe9353e297c2d85c11f75a3e59764f182daf986952cd11cf436f6f468a9f77082d9922338c6de76fb2ae7f22ca179856ea97b56f20cb419cfbaa2ad8175f573e118a230db2d37c3cc0e305c2e97a09f08e7eaf9d85e6069a0aee38231dabe0f1a3ea7c75da71d5dd3d1ec3ab82ccee5d9da8556481daee0d61d306e21f533136e4ee6bb70b553931a86c8ce9470a1eaed87bbdd880d8460937a63f1a1768425ca009605d0a018cd6746e609035967c295cf752bd632a4e3be70146553e5d2f453311319c3bd781f41c776f0715fdfb23321ebb30f56ec0eb72169da8e2e668c027aaa41b05524fd6b1412d600143cfd711485a546aafedac3c7e5fff565e14553b42794e172a35369193154a7da3dcef6c4c998359ed611f28e215c76ca414d5693359eb1ef35b1ac1338a932c811731378bcd7bbc41fdad3b7b2c4ecb90a346860df891c1181ea0cb9723cb5443b7cbb6b56ac6b971ba2a3e019a01d0125ae510a711f08de6bf6a6bdbf8e1ac1a31f5681e47300c3d710ce419d759e5a4a1a387b7cc31b3dc1f9f3d6eebd3b51b5d1969ee04aa75872c3f58430a544d0c953a910725afc0d44b0a6b9d20020b25295962d5d87aa190cf49d75dd9987f3caa14b53d90e3349513ac8073248e24eb7d951afd5a515fecef0fe9acf5970a6c0d0f42cadc89e5bb00b6e1cd214df40f2bfd76fe8f2c75d4e2fab3c10dec14d092206c25506fc5f906b913eb26cdb28ff45783dfcf40ff1575f3c3d5ecd05e0937bd464f429eaef083d8ac2218035a773e084da9f3a38c0e83c5556cf253acb1d2d807292a2113aee97dcbfc6cf957c748ceb69b30613a996f172b5ef831050c497c9059bed5176749301b54f8ea721d898e29060a5b07e929cf4f23541f7d2697e3d10f97f2a07ef4e0f21662bf7c5fd1d1799b9b6437ad2c122e6b6ecb46246878360900ede1928c94981a8e7dd5437805b5fdae1fc64da8fdfbc0c0dd90bb90d833b1854ab09a54701758c9faa8898763ad05c1a174a6334d52ac3d6d869d3807fecb30ce0fbfea5962372adccae521d42ba96f696f8d3');



INSERT INTO public.audit_tree VALUES (1, 40, '\xe26a33185e0808fcd81fe5a0c026cb004e20934fd1c3207443799c436e5149a8');






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



INSERT INTO public.grants VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 380917842589, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 518529599072, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, '2026-11-26 10:23:01.058312+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, '2026-11-26 10:23:01.055756+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, '2026-11-26 10:23:01.061295+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, '2026-11-26 10:23:01.056361+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, '2026-11-26 10:23:01.060894+00');
INSERT INTO public.jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, '2026-11-26 10:23:01.056899+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, '2026-11-26 10:23:01.053681+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, '2026-11-26 10:23:01.055995+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, '2026-11-26 10:23:01.05667+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, '2026-11-26 10:23:01.064605+00');
INSERT INTO public.jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, '2026-11-26 10:23:01.061914+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, '2026-11-26 10:23:01.053326+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, '2026-11-26 10:23:01.052989+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, '2026-11-26 10:23:01.053844+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, '2026-11-26 10:23:01.064416+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, '2026-11-26 10:23:01.061581+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, '2026-11-26 10:23:01.064177+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, '2026-11-26 10:23:01.060492+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, '2026-11-26 10:23:01.056179+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, '2026-11-26 10:23:01.053506+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, '2026-11-26 10:23:01.058597+00');
INSERT INTO public.jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, '2026-11-26 10:23:01.058818+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, '2026-11-26 10:23:01.05801+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, '2026-11-26 10:23:01.057676+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-26 22:22:59+00', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', '8d8c5151-0aa2-4c19-8ffc-9187ec53b79b', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 10:23:01.728129+00', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', '19734b13-8144-4c06-8c64-f64a7b7a4ac6', 'platform', 1);



INSERT INTO public.leases VALUES ('8d8c5151-0aa2-4c19-8ffc-9187ec53b79b', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 10:22:59.261221+00', '2026-11-26 22:22:59.261221+00', '-infinity', false, true, true, 'lease-8d8c5151-0aa2-4c19-8ffc-9187ec53b79b', '70d9c17e-2c94-4aaf-bdf0-bdaaeaa39b41', '9dfcae84db3317e822b44b44e920698e2374dd0b3128579d5e93d299720d707f', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 380917842589, '', '{}', '{admin}', '', 'dave', false, 0, '', 'rest', '', '2026-11-26 10:22:59.301255+00', '2026-11-26 22:22:59+00', '2026-11-26 22:22:59+00', 10000000, 'bearerToken', '3bf5d993-4fb1-41a4-a370-29a02ca19155', 'JTI=64852b2b-5f21-408e-9c33-511b47a39a54', '16f9bbe2-40d2-419d-a38f-8a7678e991b0.1.09c6180263649a8d4fe547b6774ec2bc', 'gAAAAABrCAiDeK1DWAVU-s_CGnyX9Zwal19FDZAQQl39ZQnig0MZ9Zg1Z3SlFU3216oP52paVHv4uOTDPQoAiUG_sRsSPig2F3evQJWZGNQUKc_pwauo5Njmob2evWhYZm_cDmo816gVBCSh3r5wnUBc_WfRRqJ4mkIrJU5KvjP4V3CxNP_Q3AmhIR8tjI4fb48i8bNZqg7ryrOlJQfI2zwC5BY6ztCA7SbWDJ66lyL2gWozoYv3BaGkVIx8CJNiYM9v9_0IaRpow9MsUxLJ1uGZkyOEOiy06jZlwLrMmtKzF3m4EBKziWm68NM0h6X_YYgb3Jlj5esiuCFYg7iZMLk8QzODHG_52j8EW2q3ilVGpMAVKfR8P3ynLJKU_Cx1eBfYK3C7CU69i0UHV5CKYmmjW19X5Fjz1lEEiU6-LCjryLk-aH0tMOr2yyWeFG4h43jAPRM8EdlxXfEObUVJkV8Sk38ha64CfOtYKwHhexMTbmOzAecKke9ZgIvPT782lMj8IDuy0Co4kEW0dSdltfGIPwuhsXOUc9N0l20JWLPxjNd9Dr_TFp4mgaUyE56SqQyRTPkLvjsXuHgIJyntvpqTcW_CwYu4RmpNKudKJLVuXFCUsaT39NncGwxVNpUv9KqSXMNBuH3VcWOmavlTLlEveErG8MpicpP8XR-lK5amLkNR9vWUmpae6AXp9QK40_l8rPfBETtklEOidmOtkv4K8ND_8NmVrw0eKYCX_74UETz8I2Do7JH-LRRfj-4Hv8aCkICbLm_xerjbyigmlhanuiOhnh8N-mfggvv4TU6jLQrj876EzE3z36jNoK19fQdqcLQKqxWSMINDUTcAAk-n_p3x19Y6WKkaYPu2RENUFQDc91dgdcM7ETuBqc6YU2B3W4BFqiNJHc5h6PBqLweTEVUvPRr9bOapOP6BpvLVU_z7qQNQZbgWBte6eykd1O9oUtkxf12Rge3cswiiqu9s8hxCpx-Y5tZBVoRFaYqqfOAM_rpOV1uj8CAUQNQsSb_7Wf15vgQOeVa01lK-g-E-9WGW3hRYxvYMt3D05eDb2uLtDH00evAygw8AXSauqBXTLy9Ws8grNxDcwVRrfGgvgapBZj9nEOSgdCPaQ4u1UizjZfzyWGRimD1R5EhJlX4zjkCitKTkXZUw6CxA2PToU8MxptcLFiqhiRyo8OngN3aVXR179zfcdVHqECfLpe2FRPTLqBtl', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');
INSERT INTO public.leases VALUES ('19734b13-8144-4c06-8c64-f64a7b7a4ac6', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 10:22:59.337695+00', '2026-11-26 22:22:59.337695+00', '-infinity', false, true, true, 'lease-19734b13-8144-4c06-8c64-f64a7b7a4ac6', '28a6e0e9-cc3e-4d21-bf39-1a986b3d7a2f', '9b55e56f1cda9610407fa15ed5f8418cf226801edf98c2266483dc08f2140e30', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 518529599072, '', '{}', '{admin}', '', '', false, 0, '', 'rest', '', '2026-11-26 10:22:59.392641+00', '2026-11-26 11:22:59+00', '2026-11-26 11:22:59+00', 10000000, 'bearerToken', 'fa7f82b9-3c7f-4e7c-9495-3f7c211ac9f9', 'JTI=452746cc-e844-475f-8dc5-672cf17388b5', '16f9bbe2-40d2-419d-a38f-8a7678e991b0.1.09c6180263649a8d4fe547b6774ec2bc', 'gAAAAABrCAiDaEUv1KKczeOEAz9dl9rooyasXYzWtFlTTFzZ1jvyEqSBc111NXlbN3gTBbApfIxh0_c_yWgSrCiK5BeCAEfqOIgCe_TxBgoWvnQyphtiM4Zfuh3d6gvchCBL0bfWPdAZe0duHqSFitFlsE3k5RrYUR7S-AEA9DsnJzHcCSuNWWvBPKCQ7M88yddLuGALwGD9plLqZB-rQ0pHhoXFmvUlFDBMK5Hgo7eiMkG5b5gVoFxFvqMzISiy7G058FpIBL1ft5NiqQy0sfdSOYoWqa2igBPEaHMeesB3dGdQ5ax_f_DQpzsyAEA1Or73FOOY2iknf4D_CfreOWwWXmQ9Ghyg-ouSmEVNAnfZPHnB8ZGMIfiaZatHM5C3LoUBaymvqii9M9MkHMilSUzB-w1z6MfUA-tDh2VmGduor3NSJYxZtWmeMqpm_H3Cqnhu98s8rG3-UyQsVbe1UT2TpvYOLElFq5OZnDmg1B9Q_sUgfQYGB5LY5DAIqGkWpj4q6Zz0L3WYCpRrxUOxzQtXDFHdjafdPZM45F-af8esjBjyLT7e6NQz6pyKkBrY45uN5ECOoH7AUKdnIR7puFAl7XtwQJDfGWPKxxEIvVQvdWaR0wsH1gavOPOHt-8oxKdQnvq8QlulaCQMS1hPtEZAsDem2JYYrThuSULLh22UDlx6akd0gvC7DteXujvvbBIaUm3xXN5OZlY5-GHkZjyylmSzh_Nd08ZE7a-BhtsJcKMqdCzVvIW1jk2FYwMFyAGZgQ07YozZ0--v5Svxh0Srp1reNzP8G6f9G4Fc7zm91NDfwt2a88sOtXHdk5QkF1Kc6tzjujm8enan-TLGC1odPwtls9HURJyzRB2bttYO5gHiqUjnUI-PvlqI8AoLtYQkS5HKmRGuun782Z6fPkvOr5KowN9sUmICQKOy1h1OxAaEhE0WPYWTxlygGluh5bit5XIQEn1uh34CNQ4xRBsrxwbvvsq2jYA9YagdAn9NLlMx8IennltjiR4fKplqLoeclLnXUHyWQgrcflJ_UZx1gg3RN9uexZYYGzw8zgmEvzDLAbmj868uPcCj-hyumjk5KZ6g2DoKm7Qytw0eXrJat9vlgo8t9orJWNqw1mr2IPkAh08d5h2JcH-vKJ3oqSCxbVoIW0WxroKTYgpu08FvAF1Rm0eKdmW3TH5ouANNmiDfC6JJvMzCeXQNIUGc882rGYjrvpYO', '-infinity', 4, '2026-11-26 10:22:59.728129+00', '2026-11-26 10:23:01.728129+00', 0, 'revoked', 'requested', '');









INSERT INTO public.live_leases VALUES ('8d8c5151-0aa2-4c19-8ffc-9187ec53b79b', '2026-11-26 10:22:59.261221+00', '16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'platform', 'platform', 'admin', 1, 380917842589, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('2055c5ec-b5fe-4ca0-b33d-f5d6323591ae', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', 'daa1b3a4eabd88da6ca144051283375a6c80e92f91bbd98dbe2aa6e090e4576e', '', '-infinity', '2026-11-26 10:22:59.421728+00', false, 'admin', '2026-11-26 10:22:59.421728+00', '2026-11-26 10:22:59.421728+00', 1);






INSERT INTO public.probe VALUES (1, '-infinity');






INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', '25823b0848d8de6f6094159760446585f797292935d37481140ede4aa827e90c', '2026-11-26 10:23:01.462889+00');






INSERT INTO public.token_uses VALUES ('80474b194e69', '2026-11-26 10:23:00.034259+00');









INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', 1, 'https://127.0.0.1:37019', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAMEufgK0lbTpMsKuW+TT+TAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMjI1OFoXDTM2MTEyNjEwMjI1OFow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHJE
K7yoZ5kE2fYKdn7/ovIlwNbOSeeJ8AsSxL9OnCQd5nO8shXl3+0Kd/efKmdPC+o0
yRZZgZaEirx7Fm9xSqWjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7Y7RwvFucWXsGEOoK7vbFHSIEJDAKBggqhkjOPQQDAgNI
ADBFAiEA/cXAJ3dTNmyqwH0HoQ1q1XDF0ggRQgwWBBh6eFn6REcCIBAg610qEEmD
/XsnYq++Uez07ULMvWa/yHsJwjFs5vos
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '2cd479c9-6beb-4def-9cfa-9366d8ab80ca', '', 'bearerToken', '-infinity', 'gAAAAABrCAiDju4hlksvcZr9pfuCm8HlR3LzedVY9l0kCapKTnvVPfmLTAEqhUi-_jt2tSw71wCiKTVdhWVLIhXFztq0ZoG_XIYMi6jThn3V9tPz9zlvSimipl9rJY-cL4l8Rg30nMBoQxNeuo7rfciB_ht9Izf9w5cTqsc8vPmq0zPRKrZumLDsLxRstbuNL_OIlXRcUkP_fAVZMgZTO9GvcQe9OTdsr4oLY91hWr5itIUjUKnFchCEscI_IDlr5kyAwXFpHyZ34zUlky4zwMBxDLwr6PWzYhokIleKBgxejNB8N2igvMSqPOiOZ62xEyffwVwUZPitYrNkAqJaH6BsRpRapF_ChSWFr4IE8cXB8r8YjVF1u-RmfvC7csZsQsBnhUbbQ8MyV7ZD5mSBIGPl6S4VoIn39VzZKYlmqof6NNInkbWzi6QiL0PMRjKlu9Dbe4ePsOQUZ6merct-wqpUkHthg6CHMNivV6TXxcLeAznikZt-ApQtZ2JYoZxeQqx2Rn7psaBspQXI7O5_Fkj7xaiLNhe4dD1w-_HLl0k2R6zug0-gM8e5sackmI75bhouc9DlEzGTiJOYcsY6Fii04edQ5b5NhzFpHs-YlOtdbVik0hxGqC1aCllZnxAjoxvrGENqjN2RkObe5SaLH3gdvVEwNs7AeoU_DITs_N96djRk_3OMNYUclxixzfAQ1OO6sUmSWP1o_UgQuBqb6gm2MjyHnnij_kqaY-2ryow_UnQcMYDOFWphayBsP4LJUw1mxpeOZ71K389MUxkmJytOOF503mCWPD1j1K4lfdR8RgbNrw6s-ohgf1nRDHhWhzAcGie2CvaGVm6MINfHfxy8SYWV2V7F4e4z861WWndZPOgV5SGxevgx1NC2mO9cIotRTmvjcC6iUmKOP_H7mZttMwfoPD7a3jlG4oLqaGc6x1o61tasm68O8huh3wmQkQL2kEuvGHhdLgaTgeqewKfoPIQNI8SAN5E7W0LakMm--ErRiKvuG56c1C2AcQ9vtorz2IXixXdrPZkC-DGTC76e3onWPzwLAi3WfSjauwBzZCk5Dfg4dRCzNCCZBqdy8xNGyMlE3uY-', 'current', '16f9bbe2-40d2-419d-a38f-8a7678e991b0.1.09c6180263649a8d4fe547b6774ec2bc', 'keydir');
INSERT INTO public.vim_generations VALUES ('1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 1, 'https://127.0.0.1:37019', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAMEufgK0lbTpMsKuW+TT+TAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMjI1OFoXDTM2MTEyNjEwMjI1OFow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHJE
K7yoZ5kE2fYKdn7/ovIlwNbOSeeJ8AsSxL9OnCQd5nO8shXl3+0Kd/efKmdPC+o0
yRZZgZaEirx7Fm9xSqWjQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBS7Y7RwvFucWXsGEOoK7vbFHSIEJDAKBggqhkjOPQQDAgNI
ADBFAiEA/cXAJ3dTNmyqwH0HoQ1q1XDF0ggRQgwWBBh6eFn6REcCIBAg610qEEmD
/XsnYq++Uez07ULMvWa/yHsJwjFs5vos
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '2cd479c9-6beb-4def-9cfa-9366d8ab80ca', '', 'bearerToken', '-infinity', 'gAAAAABrCAiDbMXZ9onAsqh19VrkxpFWaJtbmrTvTJf6BQhR8h8Mm69gp20vRb8-shZMe-waFzY33cC16JQOZYRje_Q_-IPkG9x2YFBX7v685nVor0DxL4-985aSaZ-VC8ixx2Hx7gFKuxzE5TTadz1v4GoEzEvxUxm4xv_bby5XqHTZQ2zlG85VaJbyoh9Aj_fHpUA6pHGzLoOfiDREj4C7UFVhWkAnOC7wEZu4px12wT8OqheSud39ZRJN7pyB0-Xzs2rLyFhK_wY4z9LmBxWa_HwYyLQbrQTI-lwELDgFtRrwi0eLEsEfzimX2pp2kvAI09S6haCjf_A5Oul4xjl5mRenOaBknXYDztrtJPqZ7QJsaOIrxCBen_moSjyYHIN8osZl_kecVVTaIbdcc8TXw66qUwj4FceCFVyi5INBRFN-5i36OFmQRaFpix4tnLfYeIe8hX2aTQvy6QdTnSwgG7GPcl3M8JvrdpSSOwib9QqX84PjyzAlOUJ7JhbpBTEnQnwGJtL2kPfysIgtqa0_L0t4W_FhGjNMo8TbwIuabUODo3i2j2qTM7PronWABrAr72BwKxvNgkzVyZsif1NR4SNw8iK_cl5FPJvEbGkozYXt3mKK6PXybefxCnlIBd1NRzo7Iw9BGdHEP6-J0upiVA5lrbrdw57yGehSWgvfmuheX78sJoLYU86uori__gtrBLVXFWg3X4uDvPrttjk7ucTu0uPykcVsgEE_hG0gN1-iA4ZR3CN1v-hS7NsgPVE0q4ChpTj_K64uG_ekd_DElC2p9Q2ufj7srheS1XPXTRZxcy0JvmlOmS7tOfYC-01f1Ir4Dcz8HCLa8AguMfu2ZZO9gtGCKzf14SNMHPtopSG115x4jtAdXulqlJeGdXGvhW0a33iE-dLkLonwwrCZ_UbrhsGswmzrP-lt2Vduyv4W8VKS-Y_GkyUm4HaO8FnoVJyDslF-PxFcP2V3iBTs_nmaTdahlfPL8eY_P9mg-QJeIhuqznHDC4LhS4S4OjcIuTsjmEG4BmKvEN1xuGsTY5j4lpgmaEXuQVqOLCzCf2qkrab9t1fzt8PCkb6dyTnjN76bEL8T', 'current', '1cd0c663-2447-449f-a31e-b7c4b5ae37a7.1.9b5974016760f3a3848093970174fa38', 'keydir');



INSERT INTO public.vim_labels VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('16f9bbe2-40d2-419d-a38f-8a7678e991b0', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 10:22:59.079032+00', '', 'd88c59dd5841cc9fbac04326526dbd8c10262733713c27f04760abe28d7cca1c', '', '', false, false, 'registered', '', '2026-11-26 10:22:59.203774+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 10:22:59.237398+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 10:27:50.804229+00');
INSERT INTO public.vims VALUES ('1cd0c663-2447-449f-a31e-b7c4b5ae37a7', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 10:22:59.123729+00', '', 'f29663bd63ae1e996b750fa5394cd11875b8a4fa5e39f4f44e183dab3a46f8a7', 'second', '', false, false, 'registered', '', '2026-11-26 10:22:59.630137+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 10:22:59.144639+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 10:27:42.872944+00');












INSERT INTO public.vnf_instances VALUES ('748f8f5d-3300-4546-b111-6985ef866e10', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 10:22:59.548665+00', 1, '{"id":"748f8f5d-3300-4546-b111-6985ef866e10","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T10:22:59.548665Z","shape":{"package":"20ff7f64-43fe-470a-9ed5-6607764172c2","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('d6ce2837-aff8-4db3-8ad7-7000ec65d774', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('20ff7f64-43fe-470a-9ed5-6607764172c2', '748f8f5d-3300-4546-b111-6985ef866e10');



INSERT INTO public.vnf_packages VALUES ('20ff7f64-43fe-470a-9ed5-6607764172c2', 'platform', 'enabled', 'web-1.0', 'd6ce2837-aff8-4db3-8ad7-7000ec65d774', 1724, '2026-11-26 10:22:59.492057+00', '2026-11-26 10:22:59.527971+00', 4, '{"ID":"20ff7f64-43fe-470a-9ed5-6607764172c2","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"d6ce2837-aff8-4db3-8ad7-7000ec65d774","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T10:22:59.492057Z","UpdatedAt":"2026-11-26T10:22:59.52797Z","OnboardedAt":"2026-11-26T10:22:59.519654Z","TouchedAt":"2026-11-26T10:22:59.527971Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('7022891a-c2af-487e-8474-b20b61d3ea1c', 'platform', 'http://127.0.0.1:38177', 'http://127.0.0.1:35247', 'FULL', '{}', '{}', '32a9ed90e4a3a4c7721fe5582b04fa993e5a4dd727ddc67cb05077fb2824860e', 'admin', '2026-11-26 10:22:59.600173+00', 'active', '2026-11-26 10:22:59.601824+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



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



ALTER TABLE ONLY public.virtual_links
    ADD CONSTRAINT link_name_once_per_project UNIQUE (project, name);



ALTER TABLE ONLY public.link_uses
    ADD CONSTRAINT link_uses_pkey PRIMARY KEY (link, instance);



ALTER TABLE ONLY public.link_viewers
    ADD CONSTRAINT link_viewers_pkey PRIMARY KEY (project, link);



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



ALTER TABLE ONLY public.virtual_links
    ADD CONSTRAINT virtual_links_pkey PRIMARY KEY (id);



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



CREATE INDEX link_by_name ON public.virtual_links USING btree (name);



CREATE INDEX link_by_network ON public.virtual_links USING btree (vim, network);



CREATE INDEX link_unsettled ON public.virtual_links USING btree (since, id) WHERE (loose OR (state <> 'ready'::text));



CREATE INDEX link_use_by_instance ON public.link_uses USING btree (instance);



CREATE INDEX link_viewer_by_link ON public.link_viewers USING btree (link);



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



ALTER TABLE ONLY public.link_uses
    ADD CONSTRAINT link_in_use_stays FOREIGN KEY (link) REFERENCES public.virtual_links(id);



ALTER TABLE ONLY public.link_viewers
    ADD CONSTRAINT link_viewers_link_fkey FOREIGN KEY (link) REFERENCES public.virtual_links(id) ON DELETE CASCADE;



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





