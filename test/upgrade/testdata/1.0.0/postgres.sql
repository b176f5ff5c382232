-- of 0001_schema.sql, sha256 d2876e59d668fd42bcd999c195b1181f49f00bd076b3509aff58a5d252a7e181



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






INSERT INTO public.audit_checkpoints VALUES (30, '\xd0da687975693130c3d38ed6c16952e3a646ec04024d01312ee3293b8928e2ee', '2026-11-26 13:01:16.147783+00', 'fa817b25-385d-4b39-bf09-1821087f38da', 'vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da
30
0NpoeXVpMTDD047WwWlS46ZG7AQCTQExLuMpO4ko4u4=

— vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da WzERtomm6kciPKbu2X058Y/aU681e5+0MlEZW6sXurJydzS+gkBjb+r1AZxqBhyPxGNKVQcxcTjMx8CRi8MLxelWWQ4=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 13:01:15.826566+00', '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"d3358166715ff2b77acc948695e45f43bf66446f0fa6ed134c3fdb096f9ad295","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 13:01:15.846592+00', '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 13:01:15.848599+00', '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.endpoint":"https://127.0.0.1:44979","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 13:01:15.867236+00', '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:44979","new.generation":"1","new.identity":"1e16d554-b2a7-4dc6-bac1-11664a9335c5","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 13:01:15.869628+00', '33858974-e20e-4f4c-aa83-e293a8cdac7a', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 13:01:15.883337+00', '31c17500-2733-48d8-a998-4dc83d6098c7', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.endpoint":"https://127.0.0.1:44979","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 13:01:15.903694+00', '31c17500-2733-48d8-a998-4dc83d6098c7', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:1f06b202015495b078a286db72440e7f4b6af4c78fc858d3878d1772a2d1a78d","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:44979","new.generation":"1","new.identity":"1e16d554-b2a7-4dc6-bac1-11664a9335c5","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 13:01:15.920593+00', 'c22f6f42-59ba-4381-8ebb-83fbdb8eca60', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 13:01:15.935786+00', 'ae41b5c6-23d3-436b-8167-105f8c805020', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 13:01:15.94231+00', 'ae41b5c6-23d3-436b-8167-105f8c805020', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 13:01:15.959414+00', '8ab4fc71-c030-4eb9-8062-d0e802f2ab35', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 13:01:15.981974+00', 'ff6ac211-2236-4a4c-af3b-a3b24ca3eb3a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"738bcf64-da4c-49e0-acfa-539fd939c680","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 13:01:15.995204+00', 'ff6ac211-2236-4a4c-af3b-a3b24ca3eb3a', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'done', '{"authenticator":"static","credential-id":"JTI=85e9dfef-5fc2-4859-b55e-d1ff9f1056dd","endpointHost":"127.0.0.1","expiresAt":"2026-11-27T01:01:15Z","for":"dave","generation":"1","grade":"bounded","lease":"738bcf64-da4c-49e0-acfa-539fd939c680","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 13:01:16.00667+00', 'd1d03175-2de4-4de5-86fa-711264d9e304', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 13:01:16.02695+00', 'd1d03175-2de4-4de5-86fa-711264d9e304', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '7c51b131-76de-4008-850b-addee1b71723', 'done', '{"authenticator":"static","credential-id":"JTI=da63d37f-d17a-42f6-8dfe-af344581e973","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T14:01:16Z","generation":"1","grade":"bounded","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 13:01:16.037963+00', '07aea115-bcd5-4f2d-a35c-fa01ba8e530b', 'rest', 'admin', 'platform', 'client:create', 'Client', 'a06a8a5d-b2b0-4262-8e66-e2e807e40584', 'done', '{"authenticator":"static","client":"a06a8a5d-b2b0-4262-8e66-e2e807e40584","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 13:01:16.061645+00', 'd5cb6115-6246-4d26-9e99-854f9fed894b', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"7b657434-8e60-470a-9c87-eb7510a18a35","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 13:01:16.062977+00', '7f760979-d519-4458-98dc-b741466cb3f9', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 13:01:16.064128+00', '7f760979-d519-4458-98dc-b741466cb3f9', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 13:01:16.073854+00', '7f760979-d519-4458-98dc-b741466cb3f9', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 13:01:16.084638+00', '94086035-3d27-4fbc-a1a1-76e10fecf914', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 13:01:16.095886+00', '983c293d-e693-4e92-90b6-ec09d76d676f', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '7b657434-8e60-470a-9c87-eb7510a18a35', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 13:01:16.096782+00', '983c293d-e693-4e92-90b6-ec09d76d676f', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"d7ad8771-8058-4e2d-8add-e7ad334ef082","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 13:01:16.109317+00', '60e562d5-a692-40c8-b70b-b4b43b63b511', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f94d1e59-b2d6-49f4-8310-82a74f79b992"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 13:01:16.11059+00', '60e562d5-a692-40c8-b70b-b4b43b63b511', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"f94d1e59-b2d6-49f4-8310-82a74f79b992"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 13:01:16.111903+00', 'f41eea29-51bb-4818-9ed1-76cb2886eb20', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', 'f94d1e59-b2d6-49f4-8310-82a74f79b992', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 13:01:16.124242+00', 'bc8b2399-9265-48b3-a895-76d80f29f870', 'rest', 'admin', 'platform', 'vim:show', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 13:01:16.129196+00', '3430069d-8569-41c9-b261-ae4982d42e5c', 'rest', 'admin', 'platform', 'vim:share', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 13:01:16.129621+00', '3430069d-8569-41c9-b261-ae4982d42e5c', 'rest', 'admin', 'platform', 'vim:update', 'VIM', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"3865cb2c-498f-4e1a-8415-abfc8ee3f01e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 13:01:16.138654+00', '99f1252d-810b-48bc-9bfa-803113716dad', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"fa817b25-385d-4b39-bf09-1821087f38da","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 13:01:16.147786+00', '99f1252d-810b-48bc-9bfa-803113716dad', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"fa817b25-385d-4b39-bf09-1821087f38da","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 13:01:16.159834+00', '08232cf1-8a2a-46b0-9a97-608f3b3cad2a', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 13:01:16.170483+00', 'a31d99bd-a45e-4f03-8830-2b2509f81de6', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 13:01:16.171956+00', 'a31d99bd-a45e-4f03-8830-2b2509f81de6', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"6376e694-4a07-4bc3-b30e-a7bcc7a5fe81","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"7c51b131-76de-4008-850b-addee1b71723","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 13:01:16.181357+00', '2784e4de-49ee-4777-be9b-816eb84ea8d3', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 13:01:16.184573+00', '5be70375-d7e0-4a75-9cd8-e2a93dbb6144', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 13:01:16.213202+00', '7092434d-e584-4cac-948f-ac230eccf024', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 13:01:16.22096+00', '2b9e3e56-56bf-421e-b694-e784e195e582', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 13:01:16.228602+00', '2d269a54-db08-43d8-bdc7-1b52fef74fd7', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 13:01:16.236245+00', '42b5ab18-5df1-4341-beb7-ee914c02a117', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 40);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('fa817b25-385d-4b39-bf09-1821087f38da', 'signing', 'vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da', 'vimbroker.audit/fa817b25-385d-4b39-bf09-1821087f38da+5b3111b6+AQsc9LEFBUI0wv5I2WskcAXn5wUKbRaq8guz7LyJsfYm', 30, 0, '', '2026-11-26 13:01:16.138653+00', '-infinity', 'gAAAAABrCC2cPNfVjXi3dw1_8J9N8RaGufasJ0sn8Wo5_Mb-TCZYpnwUywW2PdQERIJTnXFcHlZrTrFKmXT55ZJJ9lLEd2NDjV_74RQ_HOWsimcpzqILZkqRNJh_i4MmpmK_PqNWjxdoQu6S2UCp4NQOv79lPNAZW9QCO2hKnaDLlgEIHBedcamlC2x-GryRlY3rec6KlWcnXR-NzMz5o3bSarIZ6ZcyvQ8m5An3VJSvecxlMdyux18fiGtMJmW_toFTWDl3yOhsWcl1grjC8DjShvS2jkZjNXeatXdwL339IsVwN_xDBl3DmtBHpH0HJUCWspuhSKfByxbda93Uz3oSJF-fsEYYiCG3klXToZhaViJIPKpUTUuK1dT5fYYoOjHuLETnLm19YhD_5Jnkj-hNpxFKUC7eWdqN4LUjvACwE8BGEM6OcP-0zK7of2eO5VXTWJViq_kVFyfPDiOe34Xax-dPe4mlYQ==', 'keydir', 'fa817b25-385d-4b39-bf09-1821087f38da.1.c5aa2ed11e156e35f47b64057551d874');



INSERT INTO public.audit_tiles VALUES (0, 0, '\xe0e04f8c5c6dfc98892b9c57aeac7edd3d060a6e03a4eca2f144f5dad5fff5fc8a64f32076cf3c738c2a3b377db4f91b33ea588a2c86f4729abdfeeb39892754e895577e23a1c853c713cb2d2569beb7d59d06eaaca989e8641fec2c03bb8402bbe889c82ae4b59a1bb8144940815f832cb9339eb61c7081880727faba97ac353a8e35280ea4b825b1b38aabcb6287902373573059f137cbfcd29a949c5f8bcd59859615b84640884aecbc5be9e9a0dc9e186c6e684c0eb4328b3d1a44c0da773edee6777f76baa65aed9ac186518da72fee045eb54f58547c87b66a50ca647a27ac35fce6ffb868ef8cf12cec121fca10d3bd27419f46cbc06cf63263c3328c8d6519102f6bb38a5129da53814ff88f9f814b77411cff047403b0bee8c95d5ae484173efd28993dd80657f32b17cf61ff4e47496002b79adfaadd18720f36f0f301efdadd08f269f8b7fd675bb318d15bf128836f141dc7781c85b5e86aa4c02aa4da2087e0b4eb0d56a433af4b93d0f153cea2968fff8d048af57b15d7b29a607379b125848a64fb4d4628c2bcb103352040ab5dd2da7dc8b43187bf85ec857ba2f3a5b8988ea34228aec76519b82830387614ebe7705510d32b68c26455e91ca44e393873774829d9227262b0c8aea82b61b765a75e90432fff67a4ffae8ce9576ab4839c186f3c0e0858e66e208cc30ad72c809b9bcb4361aeb40ffb80291f3ea154c5cc2e79ccde189cdbc1cc88a8e2a7b87ca1f7e4dfd64b6877ea1e4181699ed2b557dbaada990ec41ab1dc1f3f4bf2e9d38bda7340c6a5cf7f92e796b212b4781e81db05eb852c5e5d877a194bec417eaf02f27067ac93218cb143d490f0b17f9f05be078bd79e2cc3c354e5e10f4728f6667ec787a7d39ced0f4cd2fcd45cb7f47bab8e0d436e2d0727864d05c5456324a565d562b2c31ea1077bc4543b6fc070efcfcaac1aae6ef4c33a15f555f58b3d4feda3948f920ec2c19abab2207530eea060b70d6f89da375753b55fe2f1fa32d0f677b6b9d3a51a42f9a7f8427e3520e3b2bff94d095277a37f8337c3927961efbad71a5e0cd60f3fbc6d92a397df4b28cd7f2eafcabb4eb1d6923f373845023b1adc2129114440d539bcb9511cc63de7009b04db4eb1c15473c94d69489f5eb685652b3a3b194b13bacff4d340980a517e2150d3e70e5ab75f31ee511c827fa6c8313a8cbbb030d871bc4b495e4ea1522c1989370bf2bdbed19c811c494f57d231d745747f541af1a90cccde8d4542bfd5d0278732ef676d96b59da4157ac87a162c3d5bb356d30497264face4797fac7e4375351ae630f3646bdf22cf3f0536de569c59e3aedef180d901c3fa99921dff43258d2dec56ff610261dbdb29db312fe93b1c5b43b903d351f036b13ed1d931b9a0756a0c4d95830a84c592c30f882754dd2decf7e75a63147b1f3045cbf63e58f38914588045991b1fd8d5723e43b8f8417611d97d51c6b4157971e8657e325eab971a0a706914b5d2ae51510c5e7a713f2bf481715bcd3d726e04ece66838be97204c876717185f7ab5c77dd88aaee88b6b86a7fcc905e243daf61a607bd311ad528865666993525d5350eb4259f1aead9fea3ddc7bc51cfda3d2d435ff91b3bac7a303d5ef658980402aaf5897e9351fbc921f4f0e35699dc51cf39bc43cb10e6b2175e0723c6b80dd0503ef53ea8c9b63b64a1a303bea8ca03b51c91fed161bef40b776f9a43d6eb76b110f45ee6dc865534a18e1cbce76b0d969b5ac68c05c204876e294e0e2ae6cf66d33775f732463d65d80b5703b');



INSERT INTO public.audit_tree VALUES (1, 40, '\xf8a271d2acb66caed96add0e91a11ecf4b6728424792bf42e027835a7cc57a74');






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



INSERT INTO public.grants VALUES ('7c51b131-76de-4008-850b-addee1b71723', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 1091022706280, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('7c51b131-76de-4008-850b-addee1b71723', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 862223341724, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, '2026-11-26 13:01:17.843886+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, '2026-11-26 13:01:17.856363+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, '2026-11-26 13:01:17.83423+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, '2026-11-26 13:01:17.847347+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, '2026-11-26 13:01:17.856896+00');
INSERT INTO public.jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, '2026-11-26 13:01:17.840097+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, '2026-11-26 13:01:17.855704+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, '2026-11-26 13:01:17.86649+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, '2026-11-26 13:01:17.866751+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, '2026-11-26 13:01:17.856554+00');
INSERT INTO public.jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, '2026-11-26 13:01:17.836693+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, '2026-11-26 13:01:17.836471+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, '2026-11-26 13:01:17.856729+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, '2026-11-26 13:01:17.857241+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, '2026-11-26 13:01:17.832089+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, '2026-11-26 13:01:17.847771+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, '2026-11-26 13:01:17.84027+00');
INSERT INTO public.jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 0, 0, '2026-11-26 13:01:17.839699+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, '2026-11-26 13:01:17.847164+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, '2026-11-26 13:01:17.846724+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, '2026-11-26 13:01:17.857083+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, '2026-11-26 13:01:17.833341+00');
INSERT INTO public.jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, '2026-11-26 13:01:17.839916+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, '2026-11-26 13:01:17.863708+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, '2026-11-26 13:01:17.843699+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-27 01:01:15+00', '7c51b131-76de-4008-850b-addee1b71723', '738bcf64-da4c-49e0-acfa-539fd939c680', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 13:01:18.172031+00', '7c51b131-76de-4008-850b-addee1b71723', '6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', 'platform', 1);



INSERT INTO public.leases VALUES ('738bcf64-da4c-49e0-acfa-539fd939c680', '7c51b131-76de-4008-850b-addee1b71723', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 13:01:15.981049+00', '2026-11-27 01:01:15.981049+00', '-infinity', false, true, true, 'lease-738bcf64-da4c-49e0-acfa-539fd939c680', '90198b00-246a-4a95-ad1c-8e13d65ffd36', 'f5094b42cbb76078cfd541df6d53444c92d094f16c856ad22a4703281831499a', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 1091022706280, '', '{}', '{admin}', '', 'dave', false, 0, '', 'rest', '', '2026-11-26 13:01:15.995297+00', '2026-11-27 01:01:15+00', '2026-11-27 01:01:15+00', 10000000, 'bearerToken', 'fc0c2e51-acb9-497f-87f2-4720b815da54', 'JTI=85e9dfef-5fc2-4859-b55e-d1ff9f1056dd', '7c51b131-76de-4008-850b-addee1b71723.1.2b0428c0bc2febc36add0a7c1c9565a5', 'gAAAAABrCC2bTQq4fOF3i286b8CMTixXJgNet220i9-mh0sAD1zelXhaWNlpXoCcI24ezIxR1lwLWTghG3-lMZLS-syOmpHHDdzPMJ_5xV5Gzt5zE_YIQmiDVIwGuLYLGe14BvMnxl8TWqUboYnup5uUogHvjidDQtc90qjAmlNzLuKQdGvuYDn1rmsE3xpn_NfC7J4Ktl3YJiB8FPNJeYkmiI8pbHoftFl8OR3mqlfjmUeD5u9OIRnsJHgbTnzVuFlL0Elc9T5pP92OfxI7ENZ2poCHZLuV1H_oPJc-l-jiRWM0qa-q5XkBXP_SW1bjc_AJnhWD83lAwCw5_DHlCJE6mOkhf-bwh_VaPbnrJBpnhg9nw7f5J41J54c0Mduivrow2gIsrF3RQtVIcp4nBsaK-xem2BEafxOtPYwgXQGzachAlDqcTAdg7JID_sPIBW34iX9NEFmqa088DXLjKcSNMuXsWDoXQci9INeRgM4A2fq2ztHYLM2xL8CtD9R7u_kgozf45wTX95z0eM1aoINpbmZMqWgr3fQ6VPFN3sBdOtv9sXPfJ9Vhy4RxGC6fxgYK4eUlG6SNzc8nalNMcARQGVhmIHuWN3dEo9MjI6Fg1OpH5mgb85w14VhWiMWyGg9zSp5zB-yq1A73xMOr2WiLYljtvxVoRS0VJY8Bgj8uawlkGqLH_NXKAPZpbGHNkcvSuqp9ibtHpm4Yug2TjTCGmUqgBZ7byWZHCA3XPmVPgGlq_BPlDOXjWs3S1ZYL-zRiquLcuXH67P77ufI5T81vMig-5qhpY-BpHvFwmQpqbqq-o_x6TPsEh56FTJ1mTCO3xFGOSqXzx-0fGmJss_vF5nyYznRk8VTKhDlUXxBbV8kQPZPcotG12ZsKx27dTydCZx75B6pMgs4dMXGfBITFlkOlAks5fLeeMz3rfBvjRhKb64d1GiH9zh2IRcQfb0Rotnxryqie2q1mkGhlYZu2r_EV_oEGU9S03ajJavWQxNNX5i-TFF4t5vL_azVrhC1EGs2OZfnrEeptiqHVAHS7ak2v18j9qtENTI4tXNRqRSBqugfkNvNBPXcK0Jb1foDcn3yPNwzgVdx6kSvHPe7FEer6KjGEh6Pco1ZfqtLFpTHmbzIeDO8ChUqd6src_qtnM-4_h-iEbgxhJ4xJY2wfXb0zlkcXKhKHRNPHOmoIOytLFyMLjWrpgZVzdAT0XCs9ywLFYcml', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');
INSERT INTO public.leases VALUES ('6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', '7c51b131-76de-4008-850b-addee1b71723', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 13:01:16.006077+00', '2026-11-27 01:01:16.006077+00', '-infinity', false, true, true, 'lease-6376e694-4a07-4bc3-b30e-a7bcc7a5fe81', '073ca016-1e1c-4081-b1d0-5a9f93118221', 'e6830cb00e7d94643dbfde3c4530df7a6ccc62bfa4b74975ba5c62b2e9a03cea', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 862223341724, '', '{}', '{admin}', '', '', false, 0, '', 'rest', '', '2026-11-26 13:01:16.027201+00', '2026-11-26 14:01:16+00', '2026-11-26 14:01:16+00', 10000000, 'bearerToken', 'cea9db4a-4258-4cb7-ba0d-d4251606ac26', 'JTI=da63d37f-d17a-42f6-8dfe-af344581e973', '7c51b131-76de-4008-850b-addee1b71723.1.2b0428c0bc2febc36add0a7c1c9565a5', 'gAAAAABrCC2ch0JHrsOdELqDDuNIhPI6hJNidwKKTTWt5CrjOK9PqY7MeMRMrjyUzuMiwbf8c-vTqcFEE5kMV6UTI4YObZCUxFr07T-I7yz4fFukIC0pgiiAS-sL0802Ptcppf3RFBfltVmjmdutH8Q5WcGzLQBqABj8kmuQSZl9R2vQXkvbJFVLLjhKWQ_AlMRrqywqjsNbXZmaYvObyOVYLvZMhbcfzlGQx5HhvmNY08jx3aRnkUnMs4PW6Y7_nJnYFT33H4kSbenNf4OgTVq2CJ-RKnDt-9C38AbzfGBfOVT09EqYElACuHfow5Oy1E-opf1YtDVN6F6qgx-DLBa7seWyqBKY5W5hmuUACA6nvIR1JkY2J0F-hIGyNgYBK8gIXghpQ88Cut5IOmNF6bCuswJTvVVCX1Vm1xB27UyySkIN_JHaKppcW-f7ftkz9V9bRUzEZL0RyV0Em5a0qVfYq2GtUjwmrfZ7QI_6WB3O_EiNKcwFQV7QRFvs9onfoE-9wpN0zZc4RI1adZx8Ka7senCNFTS2L5H3imhUfqXeTmo7cm9HOnT7A7DmWLAaNuj3C2_KWgJCXHoH0A_krMGu_e2aGWh-Llngwcxu7vXkgAxSqnUt0Z3cFXN3U0iedi1KNUkogE7G5KTkCu9ywFku1NP-hzDqxGlDxC1iGt00aOqRNLWrVfQHZULvFeldEyP7st-JAn9kqIpKPAkChGnyQp0yFgkO_oqtcwB9RizFaQCkfUAUhVdGbOckxL-Los6ZY9YBIzgFNjDzBb31cZT54bAXMjEaX3fo97HBwlDgwI0AIXxmf84nt4-FL0gRjHSkvPznCNUoKdupKaiDsPJwfKNZRAxVFH4vdODC22JlntqufENBw7kjeftV8gkTFF0prl0G1xS1z6asL9RPGPrpo1lAYsSGtzQOpL5kguzRM-6cbYIRpM7W2P3RvbvfbgvJbZtum1QiYcXCSRrW9zKBrM-H4G3OIdJM1yattMVSI-RUK-U6MCQa4AQBypVA3gc5aIFx0-MiY67uyXynhE0FpqwnU9mwcLzwD7XRmP00NDhUNZvqldlXF7_f0RlzDhjkyjPT2En6i9HfwdVillrOxouet_mUOXPNhoXFrzyD6DWNzEIAbZIN4gcHb-eOc-AXN9kcEGwEPge8EYMVOSDh46ZjHW_ZjIw7VvAeqPv7ziy2pEWyTYYlSyp8EkPnCUuPmSxXQkmO', '-infinity', 4, '2026-11-26 13:01:16.172031+00', '2026-11-26 13:01:18.172031+00', 0, 'revoked', 'requested', '');









INSERT INTO public.live_leases VALUES ('738bcf64-da4c-49e0-acfa-539fd939c680', '2026-11-26 13:01:15.981049+00', '7c51b131-76de-4008-850b-addee1b71723', 'platform', 'platform', 'admin', 1, 1091022706280, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('a06a8a5d-b2b0-4262-8e66-e2e807e40584', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', 'b274df903ef64fb86e0f0a9f5d994d41debe7ec30eabb451d1aa65f60b52640f', '', '-infinity', '2026-11-26 13:01:16.03789+00', false, 'admin', '2026-11-26 13:01:16.03789+00', '2026-11-26 13:01:16.03789+00', 1);












INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', 'd2876e59d668fd42bcd999c195b1181f49f00bd076b3509aff58a5d252a7e181', '2026-11-26 13:01:17.296757+00');






INSERT INTO public.token_uses VALUES ('525ddfc75b50', '2026-11-26 13:01:16.263886+00');









INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('7c51b131-76de-4008-850b-addee1b71723', 1, 'https://127.0.0.1:44979', '-----BEGIN CERTIFICATE-----
MIIBYjCCAQmgAwIBAgIPcnHMxsg5ky4lKcpSKHREMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTMwMTE1WhcNMzYxMTI2MTMwMTE1WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHKrn
Z/Cc8li1ucgR0Rz86Y5ljmGoEPsVfYYywpjrrNeY8fHz+uNaiwuTw6ULHFLf4eKN
C45IWIsORZIZ5w4zj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFP6BMN3dVDfhkKReQ/EEp6YIMQQbMAoGCCqGSM49BAMCA0cA
MEQCIAdwH1tP8fKMInPFPgYpijdE9CSKNuGDKX11fsQ5V8F/AiAZxN7FJiZq/JjW
0GbhuiNRmMw2y70FM28YzBniqdsjSQ==
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1e16d554-b2a7-4dc6-bac1-11664a9335c5', '', 'bearerToken', '-infinity', 'gAAAAABrCC2bvxXAKCrtv6ErL4dwMPBEJbJbkhZgvT6GBVfEjOjfDawjKva_-iRjO4ALHdEsxTW2MG7lDhOjuwNSSmbj4mX9awL5GalwJ7Jgq8QhuttK4jY4kWWiSJKsruKrKX0M-FDQ7_qhG0yrStY2kO5n4HS1q1_mzT6E6oYiULkqMTlstzeD71Arko32YGVHBi03fL05zpSrMDdEkknS90uO-LwnZfeG8HoF6EljTYbRsANcZwBmP5rB2Y3pACTEeglY7b3nKgxcbSC5ePC329cbmHarZbOLowGbibsQr3vhhQzUMBWWqo5lhE5Qy7KOd88rlJqk537axHBAU3toRStqcSI6OwSi64z-q7BmpaCfOcEKPFApmxvAEzleEEImMwRiFXmq0idngNjxOo6FuWHGIncevGJ_ZaxjZ9kRLuWTkLClJOGSnpzgQ_xl29dHfGgSIUBl9IRYgmS-RHx0QUG2Yf3C0zLo240UrhNL9O_MYhPaFqwObxl4949-igSCllhNWrwRS0NX6367ngZHoRZFoK_K0zfNVH-YSlLYC3OZxQfr2nuEiqmqRKbxRoKJJzIYP2h_OmfnDyEjizbMvPk4a9QpiCe5NeUPRLHuxBoBgfmEpIkd27AcaqPJ0v4kwjsFnbezRAlVof8QY3WNyRwKwvHmlAGMC5egLWXQv76S2MoxNETUbDAzykd2PYXEZCqd336FFB6_l85YWb_Y_eoEeynzQWw_zd5N1UvBOfw-iixC04whDn2Ycj1UuG--uO4gOgnduXY8FEGgXVmSuPZ8h8miHUJTSDfqAk1QJsU4bMZ4zc-dKNeog01TXINz9L6czVgH3T7yPDuiye4oO4zy_ZL4udZleIq1uiw2lhkpYuvfe-qozcoZ0LFoW5SggSc8mriVIDxbDCQxwjDLb4s-N9ViC8YbcXK5t3ox0VOeQ_DeOp1d3Q5w8kWGffbLGiuoQmYNZvSytmB39Xg9o1xJmBjSAcXRhi1DksgJBG5WVCFjZiNpmDLOrEtlTu_4QonEMmPCXmP_RVcTHc0_qRezqkU1w3dlUtOkq34D-BfXNjeodqipgWfx5NSo8s7ZR-N1aDmO', 'current', '7c51b131-76de-4008-850b-addee1b71723.1.2b0428c0bc2febc36add0a7c1c9565a5', 'keydir');
INSERT INTO public.vim_generations VALUES ('3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 1, 'https://127.0.0.1:44979', '-----BEGIN CERTIFICATE-----
MIIBYjCCAQmgAwIBAgIPcnHMxsg5ky4lKcpSKHREMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB2Zha2UgQ0EwHhcNMjYxMTI1MTMwMTE1WhcNMzYxMTI2MTMwMTE1WjAS
MRAwDgYDVQQDEwdmYWtlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHKrn
Z/Cc8li1ucgR0Rz86Y5ljmGoEPsVfYYywpjrrNeY8fHz+uNaiwuTw6ULHFLf4eKN
C45IWIsORZIZ5w4zj6NCMEAwDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMB
Af8wHQYDVR0OBBYEFP6BMN3dVDfhkKReQ/EEp6YIMQQbMAoGCCqGSM49BAMCA0cA
MEQCIAdwH1tP8fKMInPFPgYpijdE9CSKNuGDKX11fsQ5V8F/AiAZxN7FJiZq/JjW
0GbhuiNRmMw2y70FM28YzBniqdsjSQ==
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '1e16d554-b2a7-4dc6-bac1-11664a9335c5', '', 'bearerToken', '-infinity', 'gAAAAABrCC2bNk5amkWIZTR6_mJTGA872TG-pH0Ht21XtTvwVWbY9C2VCdSj2KlCJ2eqFijRvzqGC-OvmFakW9Yojgm31TFSS2BVTfGHDZbrAVj6mv8hOPGSURUfx8p1Xs23gxX6AebzZy5Xb2t5Gk1Wn_zmtZ7CzamhkpRTvhSH3mIAFr7475Q2Mi5Y9r8PUibHLucf9o35ty_Vxs8HzkjLSyNgPfPM1JPlpQWIGKVB8MmlubkZGyxcHN-bfJ_bEp5gIKP_OUH6hCFjG0mO7HWRIIW7nJz_QULhvmBBK9Pfft1Y1ZBS8JaqP4TNyyrUlLjUlqKY9mH5-YRpQVGj93aZNSnA4ykd2bMqk4OnLkEFav5YJ1HczOBsUJtUYJ6HjaUJ5TCs72GJw3tdaN5BEDgHqsZmz9987pcpXCwwj0eS_ZUHQMdcG0ny3jds_r3-neZm8-55y8Vgrawk-0Mb2bRPNZcUejd5gwhbQlkW3JvD3S4OX2sbJI-V94CCTVLszu7dVdqAbwDFL2pH_X-wJTAkqt0OhHJF8TeatvPva1Z40VVnwdnhYXdVfjRIa9JOq3cNAOQ1nVjug_G8Ct2xS8fphhadriygHSMx0zD1dITU4MOVhwNfzbrzJgcBI6z68RMh4c-0kbxx72_1GFiQ5YxlGCO1O_FdEdcVcgYDraRUl0oOo4_VyHpWQ83i9dKPdav9oBohntoIgcQudL1qOPuiglUgYo0ydE2EteMPBZUY2Ka0Za9_NOeUqdL5aKUIVP46_71phm-hWbYRkTbb8vIPJHpUfC_eGIbGo7N0tWrjMuNklexIzesSkBFs1IJzCwqH1NTFuZw47JOVBu6iQo1eoyvTsBZ8WBW39xlEgOq-aZxTH66z1by3tH-xh-xJPxuhifyqRKk-GStdOvO7beArUQR_GWuxShoyQeo5CTTerS652CRsWlzuEeex3Nb3XBAwKU9hV64wa42ZttXewZOVnwQD0ZOlHiOEcgEDlLZliGWMYK3NBoX8JqszX0_WonBss99Wi52vOoeiXQP3LhVylm7yWHN_P0RBoxZDjijkT3hgh9kwdUnlK2EMYE92kJAD64Agf5L6', 'current', '3865cb2c-498f-4e1a-8415-abfc8ee3f01e.1.b053ef81b24b850e7585f9c9cb1f70c6', 'keydir');



INSERT INTO public.vim_labels VALUES ('7c51b131-76de-4008-850b-addee1b71723', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('7c51b131-76de-4008-850b-addee1b71723', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 13:01:15.848513+00', '', '2c68ddc2099ede89d9e9ad7beb50668074fadc588f455713acf3970408987318', '', '', false, false, 'registered', '', '2026-11-26 13:01:15.942522+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 13:01:15.96995+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 13:05:53.741944+00');
INSERT INTO public.vims VALUES ('3865cb2c-498f-4e1a-8415-abfc8ee3f01e', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 13:01:15.883293+00', '', '048183069c9bf4c958db23559fbbed90a64566d96a2e15a05a7c7ab97368c244', 'second', '', false, false, 'registered', '', '2026-11-26 13:01:16.12975+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 13:01:15.903843+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 13:06:14.379132+00');















INSERT INTO public.vnf_instances VALUES ('d7ad8771-8058-4e2d-8add-e7ad334ef082', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 13:01:16.095477+00', 1, '{"id":"d7ad8771-8058-4e2d-8add-e7ad334ef082","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T13:01:16.095477Z","shape":{"package":"7b657434-8e60-470a-9c87-eb7510a18a35","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('9e825b84-a1bf-47a8-a4ec-9e7931b41960', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('7b657434-8e60-470a-9c87-eb7510a18a35', 'd7ad8771-8058-4e2d-8add-e7ad334ef082');



INSERT INTO public.vnf_packages VALUES ('7b657434-8e60-470a-9c87-eb7510a18a35', 'platform', 'enabled', 'web-1.0', '9e825b84-a1bf-47a8-a4ec-9e7931b41960', 1724, '2026-11-26 13:01:16.061643+00', '2026-11-26 13:01:16.073939+00', 4, '{"ID":"7b657434-8e60-470a-9c87-eb7510a18a35","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"9e825b84-a1bf-47a8-a4ec-9e7931b41960","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T13:01:16.061643Z","UpdatedAt":"2026-11-26T13:01:16.073939Z","OnboardedAt":"2026-11-26T13:01:16.073852Z","TouchedAt":"2026-11-26T13:01:16.073939Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('f94d1e59-b2d6-49f4-8310-82a74f79b992', 'platform', 'http://127.0.0.1:40687', 'http://127.0.0.1:39569', 'FULL', '{}', '{}', '21d2bea6341e6e2bf40f2725574b7008f44d7404166fff32240d76ca3d012361', 'admin', '2026-11-26 13:01:16.109059+00', 'active', '2026-11-26 13:01:16.110724+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



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



ALTER TABLE ONLY public.virtual_links
    ADD CONSTRAINT virtual_links_pkey PRIMARY KEY (id);



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





