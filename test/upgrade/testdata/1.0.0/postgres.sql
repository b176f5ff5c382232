-- of 0001_schema.sql, sha256 ea877aaef25064cb49ef2b6c9bc644f666c4285fe77d93af775707a280d4efa8



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


CREATE TABLE public.asset_uses (
    asset text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL
);



CREATE TABLE public.asset_viewers (
    project text NOT NULL COLLATE pg_catalog."C",
    asset text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.assets (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
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
    CONSTRAINT audit_door_known CHECK ((door = ANY (ARRAY[''::text, 'rest'::text, 'tacker'::text, 'login'::text, 'grant'::text, 'vnflcm'::text, 'vnfpkgm'::text, 'onap'::text, 'page'::text]))),
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
    CONSTRAINT audit_inbox_door_known CHECK ((door = ANY (ARRAY[''::text, 'rest'::text, 'tacker'::text, 'login'::text, 'grant'::text, 'vnflcm'::text, 'vnfpkgm'::text, 'onap'::text, 'page'::text]))),
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
    CONSTRAINT lease_door_known CHECK ((door = ANY (ARRAY[''::text, 'rest'::text, 'tacker'::text, 'login'::text, 'grant'::text, 'vnflcm'::text, 'vnfpkgm'::text, 'onap'::text, 'page'::text]))),
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



CREATE TABLE public.replicas (
    id text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL,
    fault text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
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



CREATE TABLE public.vnf_bundles (
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    claim text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL,
    busy boolean NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    generation bigint NOT NULL,
    sealed text NOT NULL,
    key_store text NOT NULL,
    key_ref text NOT NULL,
    CONSTRAINT bundle_secret_has_a_key CHECK (((sealed = ''::text) = (key_ref = ''::text))),
    CONSTRAINT bundle_state_known CHECK ((state = ANY (ARRAY['active'::text, 'rekeying'::text])))
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















INSERT INTO public.audit_checkpoints VALUES (30, '\x768bda91123b688e9a461006269c8454a93a42e42874d626881db74fb4858c30', '2026-11-26 16:37:06.936255+00', 'e003f3c9-6133-4734-9e02-7a88f0d19c05', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05
30
dovakRI7aI6aRhAGJpyEVKk6QuQodNYmiB23T7SFjDA=

— vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05 OJT6uVI/mb5jOvhx+QG0l6q6CJFP5WWWTUQ9+rFh3xaky+4UEtlIlKp1D8hAJJPxa+5Q5sftqbZd1cgsNVSF0ZOmOwU=
');
INSERT INTO public.audit_checkpoints VALUES (34, '\x584fe3e795bea09cbcb28258ce11461e057a71a06d30ff14bf2855380a47081b', '2026-11-26 16:37:06.992839+00', 'e003f3c9-6133-4734-9e02-7a88f0d19c05', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05
34
WE/j55W+oJy8soJYzhFGHgV6caBtMP8UvyhVOApHCBs=

— vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05 OJT6udCmJEB2CNxTPPsw7Z2LsnQiykcgcrNxaBCWfmXu9EwwasjgPm2QbUhrvVPEy+a+YGtqUUvnJ2d0JeSh7DN+SgY=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 16:37:04.347366+00', '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"fb6ceba7221ce8d7b97dbdd7f56a52f6e11d7aea2fe5c5ac1c3609b7bac7d0c3","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 16:37:04.520707+00', 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 16:37:04.536238+00', 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.endpoint":"https://127.0.0.1:37589","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 16:37:04.548816+00', 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37589","new.generation":"1","new.identity":"983f122b-2494-4e66-be30-c4621020d512","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 16:37:04.550065+00', 'd2f27bf6-0cf7-4e88-8c91-6c0a911419cf', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 16:37:04.976697+00', 'ebfc7507-8405-437d-8175-f6c37e70ac88', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.endpoint":"https://127.0.0.1:37589","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 16:37:05.021528+00', 'ebfc7507-8405-437d-8175-f6c37e70ac88', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:ba5ac9291d973690dc3df315faad8a3a28d7eb114ad1b4a021916ecb9b86fe06","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:37589","new.generation":"1","new.identity":"983f122b-2494-4e66-be30-c4621020d512","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 16:37:05.21504+00', 'dd1d8e02-bb67-40d9-a7d1-1bf1828bcbbf', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 16:37:05.309132+00', 'bf884925-768b-44a1-8ba7-6a3828413589', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 16:37:05.318394+00', 'bf884925-768b-44a1-8ba7-6a3828413589', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 16:37:05.384851+00', '65b41d6f-ebfc-4636-b899-4b6a017682c6', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 16:37:05.61259+00', 'f4a3f257-73a2-4b92-80d8-bdde7d3e6d2d', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"eaaaeae8-f177-4901-ada3-c8b27260b426","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 16:37:05.734554+00', 'f4a3f257-73a2-4b92-80d8-bdde7d3e6d2d', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'done', '{"authenticator":"static","credential-id":"JTI=85687786-4955-468a-9f73-785795339380","endpointHost":"127.0.0.1","expiresAt":"2026-11-27T04:37:05Z","for":"dave","generation":"1","grade":"bounded","lease":"eaaaeae8-f177-4901-ada3-c8b27260b426","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 16:37:05.860005+00', '8cd2d3bd-b510-49c9-a1c0-3307f4f31208', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 16:37:05.958353+00', '8cd2d3bd-b510-49c9-a1c0-3307f4f31208', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'done', '{"authenticator":"static","credential-id":"JTI=e67c6fbd-2c98-465f-a746-763d9b52faa4","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T17:37:05Z","generation":"1","grade":"bounded","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 16:37:06.108374+00', '6cdc9565-2b57-441d-a091-639bb47b9a7a', 'rest', 'admin', 'platform', 'client:create', 'Client', '82ad3171-f778-4839-ad0d-da9d49cadcb7', 'done', '{"authenticator":"static","client":"82ad3171-f778-4839-ad0d-da9d49cadcb7","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 16:37:06.272785+00', '83059223-08a6-43a8-a22b-ad0ecc1e1a1a', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"97af89fc-62fb-4eee-9f44-bbc28a201ce1","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 16:37:06.299469+00', '02eee200-f871-4fae-bcfb-3072f83dc269', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 16:37:06.415142+00', '02eee200-f871-4fae-bcfb-3072f83dc269', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 16:37:06.438044+00', '02eee200-f871-4fae-bcfb-3072f83dc269', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 16:37:06.476059+00', '3b38fd64-bfc8-47ea-a4bd-049f3223c222', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 16:37:06.605198+00', 'a6701300-4bdd-4f40-b20a-0504e068fcd7', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 16:37:06.607639+00', 'a6701300-4bdd-4f40-b20a-0504e068fcd7', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"acdf550e-ddcb-4d26-9a64-359a88805076","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 16:37:06.769763+00', 'afc211af-1aab-4fd0-9e60-1e6eafc9fdde', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"a3232324-e7a8-45a1-8caa-7cc939a00719"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 16:37:06.784097+00', 'afc211af-1aab-4fd0-9e60-1e6eafc9fdde', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"a3232324-e7a8-45a1-8caa-7cc939a00719"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 16:37:06.791632+00', 'f0fa573b-cb52-48b0-871f-01613a4a26bc', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', 'a3232324-e7a8-45a1-8caa-7cc939a00719', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 16:37:06.804773+00', 'c491c88b-3fd6-486b-901c-15483a70f7db', 'rest', 'admin', 'platform', 'vim:show', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 16:37:06.809968+00', '9a1d56a7-f6ff-4356-bc65-b85d7771590c', 'rest', 'admin', 'platform', 'vim:share', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 16:37:06.811458+00', '9a1d56a7-f6ff-4356-bc65-b85d7771590c', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"abba0388-f5fd-45a0-8625-dfc08fcf7c0d","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 16:37:06.836907+00', '2865993b-08a5-4f4e-8be7-6169e61f18e1', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"e003f3c9-6133-4734-9e02-7a88f0d19c05","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 16:37:06.936261+00', '2865993b-08a5-4f4e-8be7-6169e61f18e1', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"e003f3c9-6133-4734-9e02-7a88f0d19c05","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 16:37:06.965134+00', '5a72aa9b-a559-4672-ae62-89e8adcc2ebc', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 16:37:06.973285+00', '', '', 'system:inline', '', 'vim:show', 'Project', '', 'read', '{"policy":"system.inline-finds-vims"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 16:37:06.985249+00', '', '', 'system:profiles', '', 'vim:show', 'Project', '', 'read', '{"policy":"system.profiles-see"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 16:37:07.018251+00', 'bb08bb48-f3f7-4e21-a4fd-3de71f50e5d9', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '5125145a-dd51-419d-a41c-81f9baf630e9', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 16:37:07.100867+00', 'bb08bb48-f3f7-4e21-a4fd-3de71f50e5d9', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '5125145a-dd51-419d-a41c-81f9baf630e9', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"5125145a-dd51-419d-a41c-81f9baf630e9","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"4d484aab-6800-4680-a71c-e36ecf4c7fd4","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 16:37:07.201887+00', '128914e1-ed66-4eba-8234-47de5d06958d', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 16:37:07.210944+00', '7329b0c0-7053-4b3a-b085-12988d45218e', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 16:37:07.32649+00', '8d855a25-b8cc-410b-9849-0881222fa476', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 16:37:07.350238+00', '8e6a6787-ff97-4be9-a903-9d23da467622', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (41, '2026-11-26 16:37:07.379128+00', '9ec36a08-9eee-46cf-981a-4a7f72c141a8', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (42, '2026-11-26 16:37:07.401599+00', '2b88b726-098f-4b92-bb41-7c0dc4a5940d', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 42);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('e003f3c9-6133-4734-9e02-7a88f0d19c05', 'signing', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05', 'vimbroker.audit/e003f3c9-6133-4734-9e02-7a88f0d19c05+3894fab9+AXx0dnRZnyCGdQDDfmEdK4sQcThSTe0TW6NQ1yAlvPuO', 30, 0, '', '2026-11-26 16:37:06.836905+00', '-infinity', 'gAAAAABrCGAyZN-g96o7OrHBCOCt6qG_ZLJLQFbdqWPDIvvqfKY4U0kq2WX8gi2e9_WH6btcKz6u5QttB2o20SDktVj8-2TKbOPxh7Ihg2pUgOyKB-raSHPcYRYHVikxVk6mCcmnV8vafEY2Z4IDT-WLpaABHx6pc6583T2vKn0H6F62tMLrPbnWqKUK1uc7bktvqjzYC8OJmO_BSM7XcVCrPNX_lEDLvTPDMCNyENf_cKknPM3S7GPHi0792MsMyG3N5FhAT_eJ_9lLsXwgalg87vqHNYuHJgyB-18K_XFONGPuUmNS6uzbGu2oa3byOYMCesQaBj1AFeHlSms6UgtYdYCh7-QRa-xK4rdlsnCG0GybYhYlwBWWMBQD3X_Oj2JgdpAeGCF5MGucwZcFwmYC0r-XmXSDX72VUkbE9-SGroa2kJHv1pvRtyPpajpdFshzkVitGfaHNJfCjxRnpepXVqAhcpEUsg==', 'keydir', 'e003f3c9-6133-4734-9e02-7a88f0d19c05.1.5a2dba94c09a306799fc37ee5c28d5b1');



INSERT INTO public.audit_tiles VALUES (0, 0, '\x79ba8b51b7062936dc86ceb02286e8d18c4adf1eb2d5dcf6b4c1cd148c696001399ffe65ce785b778caac0ba34987b86670f9cdf2efc49e02bd72e5e8eaf839c75cbf712d5142400d7ee734baea1beddc31faec4a435ea8474075c2d9da7355b732c630a292244625596758849272dee09b25aeb32d1c39edb7c4d8804009b8c6112d3a7177f60e4b373c83e3ae9b98c6a70da757253e31be35cf052c1a6b6d2c68d4cee41c14293bb9a754a013d2dc6de73f3ba36c5d481c5a93c83ad33a981e713c303d2c256fa426fc35e3aaab16c7631165e1d4408c0d8069c79ab4dfbd2c0642657397bffdf294c76d2ee49fca2685df959faa4986eb61b4c8c7c901394b396270df4ff7388ad6f25568ce09f7d872d29335ce6e72b4deff02ed8864ab78778fdf29305d4b8ca19909a54d1f410eba70cf0b8290d88067fd9d098fb8fa2b2cd98698d9429e0f00581ae2901ce5635bb6cb99b33c6967305209d8d032391478dc9ed36cb72138bfbbd295f2e60e685010998cde0193065c9f70b02e04e0382bafa679b3472d03e3ed4a10eab3f5ca68eb8f6b26c02541fa6f87ea11424110e05f6a5bd77507b055c5c76e55c8d38f7fdd07d2774747a45d771d972077227268c99fad5bc138bb0097defbfb3dc10b772c72b5574a5e73ed8d686253d012ef87a32d7e1e704bc7fda65de5a3f63a7d907bc95f39b490e20cf92c9ed9e5188477d548353fb81957f7570dfed7d4d40c932d9a04dc36bc839f24bce911ee756a23c61f937ef6842af0e693f32c9488bb2110679c654bb98bf55eba6adb7cc9fe0f9cf7f43c2db12c75acc4a5c455634462d49b332df0b55505579f2260645e91896e796629bd06b8619adcea1fc7e04e7bc0a364870f7a7d83546b8040c2c45656844ae554170b18afed22571c94455fee52198c2339866f9226ca021bdcc372ea6653745c26c8556607cc3d39b9f8f7567c2f4244f9af09cc6fb97221ec7644dcabc1ecf5fd990269464ae02d63c89d166427fdc4d5d52b0b7cafa53bb847418f35d02192db785d244b64e60ff0653bd3237d78ef0e62d9b21c638c859d27c1aaf5242f4e49cb7e25028595e4d56832ebc5cb6b63b2bd2f60af57082b4ca8d7c8537ae7dea212cee278b3a79996dc9dcd7676ed77d129a23de5224d9aa61dca0bc0edeea1db9ba0a253c5715ad381cfa6fdaf1a0227a42ddd16d8b70cdbc479ceea1457210ba3a8d821112b2b3270158a4ea33894170b36da3083819cb62e15e71868c2d9dbdf8bd8773172e49c9a8a674d71087921abf1fb18dbbe4ba9a80bb876beb3a9bfdadfc679988027f5d6e9d803100ccce7c4aaf5b2588f6456bbda676e6bb9b8c7e710d4b04b9fd4b304d69a756467b5ef7190ac8f79c5afbac2460871a3b4cbcf9a6941d32bdf65a7480e7b959f00856f7e38125c8d459a74732ad2b6e1aa164364072379dfb80fd4289cda50ff2d32307f6e666dde53d752aa468c4f0a572a3258647eabe1d22970a22f5f06e8182847143ded577cf371a6e5efbe947b0f3a305f35b2d1e58102fec7e0e90d71eb93837c702e000a7910ee39a056f336f4bd2a3f2e85f8038cab86793e429afc0f68f2f8de1beb3a42d32242b74f555fa1c320932ede353b87a1014dc5a3b45c70080c11c064844fce3bf75dee4e59c999a62ac25dcbe4383609d15f2452a7d820b356383ec5a5aec0d74d4652b9bb29b0b63dda278112713e72c8bcc934d9edbebb11517eb5c71354efb96650fed7297777820dfe0b40316976596fddfd42944a362ec150487945cca00e5785b128db0e81e9cabd8f8e995205f81704735a24b9a2aa373b9f52dca6b37dfee01766b36038cbb6a00ec4b5aebcfb82d9da525ec43bed645a5d16babaab4f8bb');



INSERT INTO public.audit_tree VALUES (1, 42, '\x89718a2fbd16937633e628efca2ab5125f7d3f3b66366acc30f248d3d836e199');






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



INSERT INTO public.grants VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 399548124954, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 1092980795474, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 2, 0, '2026-11-26 16:40:00+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 2, 0, '2026-11-26 16:37:30+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 2, 0, '2026-11-26 16:37:10+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 2, 0, '2026-11-26 17:00:00+00');
INSERT INTO public.jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 2, 0, '2026-11-26 16:40:00+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 2, 0, '2026-11-26 16:40:00+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 2, 0, '2026-11-26 16:40:00+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 2, 0, '2026-11-26 16:40:00+00');
INSERT INTO public.jobs VALUES ('pass-links', 'links', 1, 0, 2, 0, '2026-11-26 16:37:30+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 2, 0, '2026-11-26 16:37:15+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 2, 0, '2026-11-26 16:37:10+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 2, 0, '2026-11-26 16:37:15+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 2, 0, '2026-11-26 16:37:30+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 2, 0, '2026-11-26 16:38:00+00');
INSERT INTO public.jobs VALUES ('pass-sweep-bundles', 'sweep-bundles', 1, 0, 2, 0, '2026-11-26 17:00:00+00');
INSERT INTO public.jobs VALUES ('pass-tell-bundles', 'tell-bundles', 1, 0, 2, 0, '2026-11-26 16:37:15+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 2, 0, '2026-11-26 16:38:00+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-27 04:37:05+00', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'eaaaeae8-f177-4901-ada3-c8b27260b426', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 16:37:09.10108+00', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', '5125145a-dd51-419d-a41c-81f9baf630e9', 'platform', 1);



INSERT INTO public.leases VALUES ('eaaaeae8-f177-4901-ada3-c8b27260b426', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 16:37:05.611089+00', '2026-11-27 04:37:05.611089+00', '-infinity', false, true, true, 'lease-eaaaeae8-f177-4901-ada3-c8b27260b426', 'eeca2063-ac07-467c-824b-1c66e03849b9', '62fc2d461cf4db4efdf7ad6175da80edfdaaf21f29ca3d100221d8782249d0b2', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 399548124954, '', '{}', '{admin}', '', 'dave', false, 0, '', 'rest', '', '2026-11-26 16:37:05.737236+00', '2026-11-27 04:37:05+00', '2026-11-27 04:37:05+00', 10000000, 'bearerToken', '881aae7a-1c14-4dfd-ab2a-2cff4859dd6b', 'JTI=85687786-4955-468a-9f73-785795339380', '4d484aab-6800-4680-a71c-e36ecf4c7fd4.1.63379fed816b02a0aaf0cb831977ce30', 'gAAAAABrCGAxrQPa7zcSuqPG4or0oP_OHPB9wejuD8n4Zw1dswcvabxMVEVBvJCLN42wHSoFU6mF47TDtdnDXyfTG7WS-l7LDY2j18SZv1wz1FqGYGo4X-sHAGswRhDgiUHlqO_dFhnb7j7VS3DWSqdVIK7NyyRYllMkXMsdsPJtJL0Ts5wB34TSIxhfsvJMriMM20_kFaQ6Ez31po3VwyhzducbaJ48BFGhIdRVtNvEC2IiGBL2Uxp7c02YAjvd7r_KT4UC7DHMF8YwzpRWK973HFcGjxZ9sUDNEPCLSTpTKMhsYZNnrpdbsZkQY3gZjv4U285jpgtpKMhg3-yME_75bL71oLtJeEJKeiKfqRWBdEgN4lePxTDKLhJpnpHtSw0QXD_Zl4lJ7__E_5NAJCq0EbbC_EwnI789paPfS1CO0-W00jDs5OaR_9IvIpJrXI26IgQkFyQFU9AvVDiuATphMzFZc83ipNmSG1GSpcCxGIywzEQ3zMYtHvTW0YiXYLVm1diEFj7Yb2pBRfGAIkbdjKEZF5bKH-CVywxyL22lkIO8g5DA7iAGoO1uO2uVVXmCrY9aiLnbY-CGpyJSdvhzkaOt-VQ42Zn-o815tj4z4wCV0j_xMeCYGY_Jcb7IuLfDz2om-H7q_zEzXSCEam8Qi5DY9sCH7Fz3mS8GW2oxTzAVtYAmnsOIK3Z8B7k70rzaS6F6yQWm4tHjB6cSO8ITmzlWDvJLLxYY66aoxEbtdyki2ualP3lHH7T_rLrrN7I4Bitz-NdE74KWy0fx4t0TayLl4rFsWmfFa3h1raXQ8pQFlydRw5QnSZBIPheuUX9BeQjiDCXl2eF-0uKLgvbjdfm1QnnrPAxDM-Z37JvCZXivdTFCZC6KsWBH1yrneMN3LzCGrqgzySGZJ4ciDTNcVxXd2EAwOJ93mxMR-mW-rvTIE_fuH9aV6LgU0HnJ0Rd8uLAEnxjTiyYGvbX_mCa4BD-ivIO52J8sq8PDo9nFOajrMuMbFtYtfRlBbbBzyEXpeW-51uOsonUBxOguedJp7w42TwWbohUWv5KrMxBzSQ1ov_gS4g_3-JPBrEt3ZexMazJY__Ox0MqFodA87oUpolXE4rN_XZmk159ffPgLFeZqBBcrF4Zy5MBispa0Wi-f0UwEf1NbZxdlpJfNnLbhTkLQK0oEZe0rY2YsHOQa6wlwWJqEkTChy_WzXxm4LqeOwZi7Wdyr', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');
INSERT INTO public.leases VALUES ('5125145a-dd51-419d-a41c-81f9baf630e9', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 16:37:05.840933+00', '2026-11-27 04:37:05.840933+00', '-infinity', false, true, true, 'lease-5125145a-dd51-419d-a41c-81f9baf630e9', 'd62ecb3c-3cb0-4795-807b-b025afbccc06', 'd3260dd3536ccc4ff5ca96439b2e8ad5ef8e8f29250b039a5f85df03f141e731', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 1092980795474, '', '{}', '{admin}', '', '', false, 0, '', 'rest', '', '2026-11-26 16:37:05.958629+00', '2026-11-26 17:37:05+00', '2026-11-26 17:37:05+00', 10000000, 'bearerToken', 'e43e0620-7761-4457-9f79-2e2c8ebe979d', 'JTI=e67c6fbd-2c98-465f-a746-763d9b52faa4', '4d484aab-6800-4680-a71c-e36ecf4c7fd4.1.63379fed816b02a0aaf0cb831977ce30', 'gAAAAABrCGAxHujgAtlZRwdI8dHyktoFjLev_PCWbaZvbsYP_i9quh-IbFQKWKCcrBUxsmNKNsZustOEkNFd28q9B2oKrRvCl4lu5QZa4GYLOv7UcqEBMZt7kA5YR61lDXDZgBAQcRFqqhjZhWHgxt7PWAmuq8CpWTcGQa58DLV4o-54Gs0yOS4LEKgDeNGy1a_AB1_xDXVDz_d1eyW7tDl8099VLmthIPXITVrEyYSrIqlyZ51ernzg1roFcM8Qj-U68o_dySgyj1QtikD8p8eJ1Z1FtYKpNpKf_uZj5HGkgWRTJhckpk90lmXz3XEzjI0j8b_bprqejpMPY2s89x0WWUNN0XpH3VCvAk6IyMlh3s-hPu-gHpauJlekMqPlvoEbHg4hAzP9Wx9QQWaUpQOS-cU1CAq_iu5aXI1Wt23O0DO4UqrV1vFvdGBr8f62bVez-vnmCn9H-cB1jw83_uOGdCIqkjNh8GPZV1QcXj_LQ6RB6rynAdc_vOJWCK9CbIL6qrHDwbaApPhJQFQcvj0AIwJZeg1DVnJTCJnaXAIiK4X692b3JhtIj0T2m9QVPyXISS4U36bFvqDibijY--8vmjuvaE6KMUd8JosXIpwIXC8vWpSoWGzOOesXs1jakkUgUO_IV5spt1shFJvMYdFt3WjPU1lsZpZ31Ng_2qxkpKb_1Rba9f4gtAo55wUtv7atJZu_5mMggZdBd5i_xZYVLVPtmMABDPf-X9jnXr6muY2YwelJHui6blZ75klJWOeBBY4c8JL5ANaPksX-OtxqlTJN9GZ2cD9jMOwyigvBUnJwYoyO9foB-Oc-zjD3vIM6a8pWbmuMyqtmOo1MgNXJqS7hyR0IPDypX09hI4cw3rDxGDKhEWbo76yePS7mpAm_btFmqh_Fn5wFtwjjP_UN7NJ72R6Frb_BzJSmhopjeXK9dcoHWMZhjTDXUJ5-xKhj1j3PA9vy5sOcYxdAZfbNU12vadg68I6DKA0uy0grsw3FKRHyEJZ7z6Q5Q_tHu5O3DuKRUvxIjXr_lTosmASeoMyUdSs4pqmgh74kGkssNrtxF8XFQPhWw7v8vf6_PvmWLvOkCtbcAZ1BKfrn4YhSpWnMmoGWMQ5IOGjvuMXD-oQ6GkfL-VSChtLzdokJXfzYvYesBTjDc2UlK6jnHb3kABAKClM1I_tQcS6XHhPyRS-ZL8Jj0tsMaXM1MW9Y8MCSKBvtyW7H', '-infinity', 4, '2026-11-26 16:37:07.10108+00', '2026-11-26 16:37:09.10108+00', 0, 'revoked', 'requested', '');



INSERT INTO public.live_leases VALUES ('eaaaeae8-f177-4901-ada3-c8b27260b426', '2026-11-26 16:37:05.611089+00', '4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'platform', 'platform', 'admin', 1, 399548124954, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('82ad3171-f778-4839-ad0d-da9d49cadcb7', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', '0c2dc0508bfdd0d53965d8e32fd64140be60a644de66338554d75e24b4ffb256', '', '-infinity', '2026-11-26 16:37:06.108284+00', false, 'admin', '2026-11-26 16:37:06.108284+00', '2026-11-26 16:37:06.108284+00', 1);












INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', 'ea877aaef25064cb49ef2b6c9bc644f666c4285fe77d93af775707a280d4efa8', '2026-11-26 16:37:13.367877+00');






INSERT INTO public.token_uses VALUES ('82b3f5149d80', '2026-11-26 16:37:07.633446+00');









INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', 1, 'https://127.0.0.1:37589', '-----BEGIN CERTIFICATE-----
MIIBYzCCAQmgAwIBAgIPbz3NMvvjGjCZWfp4MdSTMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTYzNzAzWhcNMzYxMTI2MTYzNzAzWjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERQmE
3bvzSc7ApGJgV0KmrmGiFdcM/q8kkw647swmezv4Aat+7d8+KApvOhOfU7pidoFP
RZyc5Fwl9uM59Lpxj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFGxWLeQ7FNvXVqbKB/sfybKjcSlpMAoGCCqGSM49BAMCA0gA
MEUCIQC6hqqD81YbZ6UVDa2CiLsAtgDO6ptAX+1o2uhPO3JBSgIgCxKDLQq8/gQ/
W0mQEk/ZldddoV1q/1nIiqFUvENPlKE=
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '983f122b-2494-4e66-be30-c4621020d512', '', 'bearerToken', '-infinity', 'gAAAAABrCGAx-BMw1pEXRASeYyMdeE28ja6e6__Qd9nMxfqtGWkqA45xzJQhqNqNeWmEN5S3t8T4xDIKeWtsGADbVaxcD1uxL5I5u0K_bu4MH7MWG3N4tF9uOrZ5xg1tN27EoT1vHktrWmMq0skFbv6b5K_HFJGYWLfOQVK0giTsGcFDHvE3Wo7B4CyxeuCrbbbIKYLLLl7GXlUxR4aoRaf_YQovv3NfwOkHlB0l4ODNEiH7p_YCxkNsTbyGKi69Pg18SI7kWgC6nPfvKfx9DkKuLnxvDhNCjMG14-GZH-xSc13eKuqA1xfNS0cDguZEKVifWmlbt2VhrbLl31iNBNile2ZuHr8LN2v15AwbUsRIN02inzt9cYMjMZATi1LnNjKpKW59Rc_RhWwyvQzg2m1YyDNdeXx-jHnn_1JY5cYWdvBzQQ9ONcfZxc3v9CrGtkj-1B_YCnPhflS84kQ24l36sNcPD7esG0586j5JOxovu9aU4WTbmzN6xNj1Ymklx6nYkPZzF-Xz1dWaCfTuD2q_RPX9VxqSAmXAtWejabd4v5XBpTQpVNeTbGDE-SpmAxA2bjyePh5KjvkW8TRriJamS2z65HA-d_54vVAnNNRfskikRgjdEs6jzvTJGHghfJuR9vsj4AdGIXjn0l0bPvOuTOMCCup_Rx1BALbUt72XHvm9aOYK4Fqwtw_X3uN8mw6NRoZATnAOwLLrVlBxBSYKu7pWxz-jeaHMeKzrBe2aVL3axq_Ffl5zRsDFoYYzmbWc41NqH_rBCOcyRUERABVKw8h9nQoeP5sEViQbhXU0l6HbMWjdlme6V0JmCZWqYqknBhnNszRU40NBLQfP8ojjsdYIkIYEpJkyKf_fXHyq6aFdjSDFugRJAoJvfSOsjV3dxd3-DMnxrUmeZkaUAsP-xxd6qJ2aR-QwAfCbutJeYVUo0_KmyV_UARMy8VxoKs3iNAtMiHnvfvuEcrRZDdIdkqwd2BYgzqMgXGRkgtDlf5krm4ugQ5Saeu_iji09q9TycB0AbmEwnSYoyLRxKdofvC0seAKJCxPxGLf8rivYUUWc3y9XLS542WgikYV4KkJn4AUZ0Ni2', 'current', '4d484aab-6800-4680-a71c-e36ecf4c7fd4.1.63379fed816b02a0aaf0cb831977ce30', 'keydir');
INSERT INTO public.vim_generations VALUES ('abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 1, 'https://127.0.0.1:37589', '-----BEGIN CERTIFICATE-----
MIIBYzCCAQmgAwIBAgIPbz3NMvvjGjCZWfp4MdSTMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTYzNzAzWhcNMzYxMTI2MTYzNzAzWjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERQmE
3bvzSc7ApGJgV0KmrmGiFdcM/q8kkw647swmezv4Aat+7d8+KApvOhOfU7pidoFP
RZyc5Fwl9uM59Lpxj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFGxWLeQ7FNvXVqbKB/sfybKjcSlpMAoGCCqGSM49BAMCA0gA
MEUCIQC6hqqD81YbZ6UVDa2CiLsAtgDO6ptAX+1o2uhPO3JBSgIgCxKDLQq8/gQ/
W0mQEk/ZldddoV1q/1nIiqFUvENPlKE=
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '983f122b-2494-4e66-be30-c4621020d512', '', 'bearerToken', '-infinity', 'gAAAAABrCGAxHTQ5dpGZHTGfPsSNdug-H0fZhOTxZE8R0lcYYDq8VTQ3m9jH3h-0O7oCdLsCBkFYiJLVUWAG4iP4OKLf3p4SdbR_5c87O0qfgta7eqPX4WNehrgdZOgKlfw-Y_Vj1VKC1wy_rXnCRDsM-_i7vXF8vSxP6BgBVa1lLy0LvXguTE29dU0DMr6ZwvBImHdRwK9UAFwESzNypEDvZgdcb_wPXbRukE15Y7tXXmxlOrpNfG51UbfLsOJpXAHXZF3DZmooCLKaTbu7DF7Elgbc7xsNYJ63oq0xA4EMFxWpLUwFKIBg-wvfaglHnVOvgIxKU8bHEQp4ls6CCal2y7tSXu8K2b-AaSlGnqgBgMBrGu7EPN8577SoJf3VEPwoz826GECfiwyTtuOLL4AZAndda2RT8XvZ4mf2Jr4oaHuam47xdR1bKS2w7qAHui039y0VvRe0G5YY1j1bO2yebLD0qaJIjlEK0IuFq8QktScrYL5yeAmrctj1kFNP2Qy8LC1fd6dmfRwlc8yAUlP0qIpa87APKNpFWGTX44riwOec9iv5Jh-FEp3CBF5B62tOcph4ebSSPdHb4e_0ibUeX1wF-TFmj7Pht5IiflD2JK5WKr-gJcCHBEWBFnyaNUjpNkiWKrH5s6Nx7u9mJAFRNVUyXPN4agCuxjapzYzdd0MvGBnEG1efuod4Z_6Nz63GbgbUDj8S4ONBx2bhMzOkN3q2s80PHnhevRT1gYmwvEyLjHhu7JhfysWpNwkKcWJaM9fNUkw1WlUotbgvLcYIKN6xoYivjMga0s92CljJImPQ4RV5JEvJkQCLPphOToSa85K5kPSPjPUnhJskKRJv3AQKOJ0uKhhYEjRqycJWG_d81PJMHWeR5HVwyK1BXXC9ZmxKnaNNd5vYJ7uJkdWQaPVWrxCcpDDcOxbq5B9_sxyddn53RFPluQEW5iFlDtVgttBE1q0Ki5RxxqdKOs0kuOmYvF7PiS5xQipNqypfUiLD1-zPosziQgcG_wHky17qwX_jC0Az6PMR4xcjye8YLgpY8al7VziwQBbRe9_pgHg-hs9HCpdEq4MRt5rrj5PaneNHIfpX', 'current', 'abba0388-f5fd-45a0-8625-dfc08fcf7c0d.1.1b619e3f68b222f4194c4aeb48e0a010', 'keydir');



INSERT INTO public.vim_labels VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('4d484aab-6800-4680-a71c-e36ecf4c7fd4', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 16:37:04.536075+00', '', 'f7f583fb32c0636af8ae51ef3ce09acc46a2a1a9c80f1e165460ed94ff1be95d', '', '', false, false, 'registered', '', '2026-11-26 16:37:05.318771+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 16:37:05.39456+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 16:41:39.885087+00');
INSERT INTO public.vims VALUES ('abba0388-f5fd-45a0-8625-dfc08fcf7c0d', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 16:37:04.976612+00', '', 'd24dca6bc3295db158cad1d8eefc406681a74d36cfaf5a8f9851700c2c748f1b', 'second', '', false, false, 'registered', '', '2026-11-26 16:37:06.811653+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 16:37:05.022109+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 16:41:40.205406+00');












INSERT INTO public.vnf_instances VALUES ('acdf550e-ddcb-4d26-9a64-359a88805076', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 16:37:06.603879+00', 1, '{"id":"acdf550e-ddcb-4d26-9a64-359a88805076","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T16:37:06.603879Z","shape":{"package":"97af89fc-62fb-4eee-9f44-bbc28a201ce1","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('e131bbc1-5049-4ff8-923f-6ca9d28bb93d', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'acdf550e-ddcb-4d26-9a64-359a88805076');



INSERT INTO public.vnf_packages VALUES ('97af89fc-62fb-4eee-9f44-bbc28a201ce1', 'platform', 'enabled', 'web-1.0', 'e131bbc1-5049-4ff8-923f-6ca9d28bb93d', 1724, '2026-11-26 16:37:06.272783+00', '2026-11-26 16:37:06.438829+00', 4, '{"ID":"97af89fc-62fb-4eee-9f44-bbc28a201ce1","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"e131bbc1-5049-4ff8-923f-6ca9d28bb93d","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T16:37:06.272783Z","UpdatedAt":"2026-11-26T16:37:06.438829Z","OnboardedAt":"2026-11-26T16:37:06.43804Z","TouchedAt":"2026-11-26T16:37:06.438829Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('a3232324-e7a8-45a1-8caa-7cc939a00719', 'platform', 'http://127.0.0.1:43621', 'http://127.0.0.1:46403', 'FULL', '{}', '{}', 'ce9372d25535d6788c984032e3d2d6b3408bfe2b9fb847fc2369a9d975023876', 'admin', '2026-11-26 16:37:06.769457+00', 'active', '2026-11-26 16:37:06.785732+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



SELECT pg_catalog.setval('public.audit_inbox_id_seq', 1, false);



SELECT pg_catalog.setval('public.retired_keys_id_seq', 1, false);



SELECT pg_catalog.setval('public.vnf_notifications_seq_seq', 1, false);



ALTER TABLE ONLY public.assets
    ADD CONSTRAINT asset_name_once_per_project UNIQUE (project, kind, name);



ALTER TABLE ONLY public.asset_uses
    ADD CONSTRAINT asset_uses_pkey PRIMARY KEY (asset, instance);



ALTER TABLE ONLY public.asset_viewers
    ADD CONSTRAINT asset_viewers_pkey PRIMARY KEY (project, asset);



ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_pkey PRIMARY KEY (id);



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



ALTER TABLE ONLY public.replicas
    ADD CONSTRAINT replicas_pkey PRIMARY KEY (id);



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



ALTER TABLE ONLY public.vnf_bundles
    ADD CONSTRAINT vnf_bundles_pkey PRIMARY KEY (id);



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



CREATE INDEX asset_by_kind ON public.assets USING btree (kind, id);



CREATE INDEX asset_by_name ON public.assets USING btree (name);



CREATE UNIQUE INDEX asset_network_once_per_project ON public.assets USING btree (vim, network, project, (
CASE network
    WHEN ''::text THEN id
    ELSE ''::text
END));



CREATE INDEX asset_unsettled ON public.assets USING btree (since, id) WHERE (loose OR (state <> 'ready'::text));



CREATE INDEX asset_use_by_instance ON public.asset_uses USING btree (instance);



CREATE INDEX asset_viewer_by_asset ON public.asset_viewers USING btree (asset);



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



CREATE UNIQUE INDEX bundle_claim_once ON public.vnf_bundles USING btree (project, claim);



CREATE UNIQUE INDEX bundle_once ON public.vnf_bundles USING btree (project, kind, name);



CREATE INDEX bundle_sealed ON public.vnf_bundles USING btree (id) WHERE (key_ref <> ''::text);



CREATE INDEX bundle_unsettled ON public.vnf_bundles USING btree (id) WHERE (busy OR (state <> 'active'::text));



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



ALTER TABLE ONLY public.asset_uses
    ADD CONSTRAINT asset_in_use_stays FOREIGN KEY (asset) REFERENCES public.assets(id);



ALTER TABLE ONLY public.asset_viewers
    ADD CONSTRAINT asset_viewers_asset_fkey FOREIGN KEY (asset) REFERENCES public.assets(id) ON DELETE CASCADE;



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





