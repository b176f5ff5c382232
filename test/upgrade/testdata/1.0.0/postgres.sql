-- of 0001_schema.sql, sha256 1309767967d0fa518d3f29c3fc52bf75d93d9f49599f0a37d4c1938c56fed4ea



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






INSERT INTO public.audit_checkpoints VALUES (30, '\xf497fb4735ed7839bf8a0849a41145b13e25eeb3c3e1b064a23d1d1b870e7c41', '2026-11-26 10:38:47.650293+00', '5f344b9d-86bd-4583-9332-69e3b6e62ea2', 'vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2
30
9Jf7RzXteDm/ighJpBFFsT4l7rPD4bBkoj0dG4cOfEE=

— vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2 TT5Gd44HmdI0aHMs7vqh22Oc8nE3Qh/6c24mUznHLrrkbNgMlPNK4CI6V1/m/8qbFUGviNNHC0GHM398AmlR4SzoPgQ=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 10:38:47.426442+00', '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"d3358166715ff2b77acc948695e45f43bf66446f0fa6ed134c3fdb096f9ad295","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 10:38:47.441534+00', '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 10:38:47.443119+00', '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.endpoint":"https://127.0.0.1:34155","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 10:38:47.450855+00', '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34155","new.generation":"1","new.identity":"24aac597-a71c-49f6-bc15-a547b6f4e07e","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 10:38:47.451869+00', '71700fff-414d-4a57-a75a-65dc610e7a4d', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 10:38:47.463007+00', '8e78236a-0e75-4059-833d-2246fd165604', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.endpoint":"https://127.0.0.1:34155","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 10:38:47.468975+00', '8e78236a-0e75-4059-833d-2246fd165604', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:dabb9996525bf83fb0dd22f54d616c934aa2a9e2e83a9e6f5742fe7635f70704","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:34155","new.generation":"1","new.identity":"24aac597-a71c-49f6-bc15-a547b6f4e07e","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 10:38:47.480095+00', 'a5ee15dc-83bd-4474-84b0-eb94875124ca', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 10:38:47.490373+00', '010ce8ec-910c-41f0-b455-ff94fbcf36ab', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 10:38:47.491565+00', '010ce8ec-910c-41f0-b455-ff94fbcf36ab', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 10:38:47.500726+00', '81e3ac34-159a-4b4a-823c-732a5bfc5e25', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 10:38:47.515869+00', '14288373-1edb-48b7-bffc-468fd09bc7d1', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"3fc766e4-6b72-421f-9dac-b690c33c5794","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 10:38:47.536432+00', '14288373-1edb-48b7-bffc-468fd09bc7d1', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'done', '{"authenticator":"static","credential-id":"JTI=2529e778-c74a-4947-a1c4-040f3ecf86d8","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T22:38:47Z","for":"dave","generation":"1","grade":"bounded","lease":"3fc766e4-6b72-421f-9dac-b690c33c5794","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 10:38:47.548342+00', 'fb6b906c-2855-4023-9317-b7e85fb0f3a5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 10:38:47.562695+00', 'fb6b906c-2855-4023-9317-b7e85fb0f3a5', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '8a109041-af24-43ba-a522-415b08d24a77', 'done', '{"authenticator":"static","credential-id":"JTI=5f375a89-4c17-487f-bd0d-a03d38b14b67","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T11:38:47Z","generation":"1","grade":"bounded","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 10:38:47.57321+00', '0b22def4-0516-4474-9076-1239e1614de2', 'rest', 'admin', 'platform', 'client:create', 'Client', '84678845-38de-403f-b319-e2ca0bea07ff', 'done', '{"authenticator":"static","client":"84678845-38de-403f-b319-e2ca0bea07ff","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 10:38:47.597814+00', '099b3efe-78c1-4930-8079-afb88c5db0bc', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"43713a93-8ae5-41fb-91dd-4cfe27f1b7a8","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 10:38:47.599297+00', 'b83af82f-9fd5-4fe1-bfeb-196ccb6328e4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 10:38:47.600166+00', 'b83af82f-9fd5-4fe1-bfeb-196ccb6328e4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 10:38:47.605803+00', 'b83af82f-9fd5-4fe1-bfeb-196ccb6328e4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 10:38:47.606655+00', 'a53684c7-1c4b-417a-bbc5-3800bc03cdf8', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 10:38:47.615781+00', 'fdca2a9c-9172-4cfb-a5c7-fbb86e2b39c9', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', '43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 10:38:47.616464+00', 'fdca2a9c-9172-4cfb-a5c7-fbb86e2b39c9', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"a1b77831-1ab7-447e-a980-99755333e3d7","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 10:38:47.625723+00', '336f6afa-f7fc-410d-a5a6-70ff62c7cc48', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"72308cf9-94b8-4b25-aee7-b2847cc12b6f"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 10:38:47.626638+00', '336f6afa-f7fc-410d-a5a6-70ff62c7cc48', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"72308cf9-94b8-4b25-aee7-b2847cc12b6f"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 10:38:47.627556+00', 'e1e1aa90-1a78-438f-a857-0419998ba151', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '72308cf9-94b8-4b25-aee7-b2847cc12b6f', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 10:38:47.635852+00', 'ea9c511f-5862-4ded-9c87-fd7449d7a86d', 'rest', 'admin', 'platform', 'vim:show', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 10:38:47.637438+00', '869b3423-1901-4c50-9355-b60798907e4f', 'rest', 'admin', 'platform', 'vim:share', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 10:38:47.637735+00', '869b3423-1901-4c50-9355-b60798907e4f', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'bf31bdf5-6698-4275-b108-cd4d862f45bf', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"bf31bdf5-6698-4275-b108-cd4d862f45bf","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 10:38:47.647776+00', '4d8a2505-fe75-41ec-95be-af6d50b51981', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"5f344b9d-86bd-4583-9332-69e3b6e62ea2","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 10:38:47.650294+00', '4d8a2505-fe75-41ec-95be-af6d50b51981', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"5f344b9d-86bd-4583-9332-69e3b6e62ea2","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 10:38:47.658746+00', '42853869-6f6a-4b0e-9111-70ae0df24925', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 10:38:47.669149+00', '8f430e8d-e5ac-48fe-8cda-29444e8fc063', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '0e3b904d-9876-4673-af7b-0aa2b389f905', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 10:38:47.670866+00', '8f430e8d-e5ac-48fe-8cda-29444e8fc063', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '0e3b904d-9876-4673-af7b-0aa2b389f905', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"0e3b904d-9876-4673-af7b-0aa2b389f905","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"8a109041-af24-43ba-a522-415b08d24a77","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 10:38:47.682097+00', '853d495b-6235-4ccc-8479-ceb79c244f8f', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 10:38:47.683969+00', '5d46e0c4-438a-4133-b984-5adb9adb43f2', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 10:38:47.714603+00', '22e10a50-c4b2-44df-b202-124fa8641b3d', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 10:38:47.725719+00', '47f2ca86-1dff-4544-9fab-a28abd0dcecc', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 10:38:47.7343+00', '920ad1d3-c395-443a-94ba-5c47be845284', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 10:38:47.743532+00', 'a6b5c10c-5c9a-40d2-8014-3c89b13b0855', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 40);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('5f344b9d-86bd-4583-9332-69e3b6e62ea2', 'signing', 'vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2', 'vimbroker.audit/5f344b9d-86bd-4583-9332-69e3b6e62ea2+4d3e4677+AcOdapNMiwmNG1ImjtRWyAir35XbQB1dM5vS1XDdlukG', 30, 0, '', '2026-11-26 10:38:47.647775+00', '-infinity', 'gAAAAABrCAw3hqNTBnKIbRzt32V-EsRYejcE1QtkfM2cH9FAWUa44hKvMRJ5fPqk_FpzVlMRDi7CPWRtcXiTQ0pehanunYJcLJrQCaDAOTWwrepLI7U_60DFmNTI2KmkbXTkOTro53PiPdKZt0HdZv_ZGKZeUecyC4weXsS1BemOn3ZcxgOpK5aRKXCKm5g5R5QnzT1Ao5fLmOHq66M-g5eTaWVbW8WmzdFh29XlNCob8QQ1V9fI9qgLBsxhCGmim2mgwS4qIYzRTsWxoOWOXoL7FKx4MyytUhlh_p8zwZoZJcOCiEfcRsP2O2J7nhGNA-NPCwcanIngZCDFiECd8d8s47MahBW-_YMF7Ky-Qp0tf59DOtnboMuXC218878FPUQvT4Cd0BuZ6EXlMEme-7nvVOaqCGVtqKerxbOFAPCAnrzAvJvxhblNQZKrlvIYFIA7Of989c8wvcnnAt_vWItWsnBxgBuMiA==', 'keydir', '5f344b9d-86bd-4583-9332-69e3b6e62ea2.1.6d0e7f25fcd3d742528e43e9a81b7100');



INSERT INTO public.audit_tiles VALUES (0, 0, '\x9e90532333d8145ca837c52117d254307d31280bd809ceabc4aada99f60e476d2161cb3021a351eb80f16b375a8626997248a4ba94713338be1f71ee0e55c6db3fabaa9fdb57c5df8d354da2a249b147c1074c0a23fa3a9fd7407626e2dfbb07f6acfe22ce2a32330122c317821e700b2a3f16653dac667a17abf36304c79d61a8c1eeb1d5ef8bc9fe4a25088e3d64c5cdc7cd4cc6ff2a6f082eb828102acd6235103f817ab8632e40cd11312bb864746eab0611e13475a52eba63c5c33e2cabc72b21384484cfd06e68a824d2a9a691a69980237995910f0d4b9e848249b3469cc4b15877bbf1af7f51f18aadd6eee08fb2852951fd209ac3a8214f431eee0e8114b402b2631b83721813a709bdcf2151f89a65d8f1b93209ec42d151b8d43c6cbfe67942af8f2dec771f9557ea06c4605e403099d4e4b4e2f90a4c1880afdcc21a9bc6d125d133ab0979641a1274b34cb466e8c1fe7e96ebc16b2b907a5e8dffbe66711e97f94c7a62bb67d974861fd843a32ed8adc33a3bfaefe9d8ab0ea2b7ef8bc2f26823e1c6f243a681433510c5cdcfb47965617cbf0f327e0095eccf3cf003e5c0cf51aafc6c4abb55632ea9bc363394d3d68bfc46f8bea136faa9ea662c6869bed3dacef1183b843e24d08183560c3948ad4f36916210059624f32b590cb81f6553baec4d898140703a89ef3b4098ac58d9fe737fd98d00db5518e38fc55002cbc1b4efb4e06cb3d2d6c21c5eb1f293b3f4e91089366f4de87bb34158b23d39d984cd4da67af5b0412a9d15db2f5c62269d3cf8c6dad6ffbf6617b28f27594df0bd0caeb9e8e183929293dd95a5817fcd3ab5bf24fe8e33bd553661150794e1c97f6ba4d2f542006c575e063286ed738306da8a7407152c1dba7567246da8ddab79b19d0389ec16e4bc844059b94a91c96a3edcc90297b1b5278c103b121a275c833972ed1aeb3a3bac07490e2bf81134c35954cb46d649c0fedd2ebc4aa3973f3858473ce348be85513861129216ea690cd54df4af53cd5707f473f2692e750bd836b9dd5d612b21e3495f91d171ebd874270f6b63faa4c63f3be7ea4c8d7345e611bde3e1d87a9276d891a34c966db0fa3d5df95161c75cf61effc386b076a2dab8402f77ebe4a2ffd0e8e6d34561b389497392268c98fcbf9bd193f8f253b05ce4ef2a294b0b41fc981c990b9e2b1bae5bfad6903888aa633335556673e3429f61b85e548ca241c43f5bf438d41fd017d42e007d2023aebdbb653df48350a15c97bd021b250167e0f4ceeba3bb999314de574288ce6326430d4ec1907217d4308504040f464f526f9bd2807d9c5803146f77fee3124791aceb077caf90cb78eb9e31c34a1fd2dfcf7fc462a372b9586325faa89ad4754926bb02490e79675bbc1b9b5408276bf02b70e2d83c13a562525409b76eb620bede5c1446728a84884631847c74d08d4fde7c7636d421ededeb802ead65b526c540ef3dabf3209dece228d45b5ac97121144b9a00cff8f5be5af3ae7c59a7d4bed2975ff54c1a2363f3385aee769b3ec38c61b5d8b3084b57112585a0a6761c28a9d777fad4312dc9c8386b61704b0d3eee96a9db502709d0dac1ec35379e824ee04b019c3d90d80e8f729aecb52e0075978c6639388123ebe23f433c9ade4776646ba95f3fd064d92d674b0613598f07c2cba7e7b743f5c0cc39408a349072f0e686b57810b4851000fa6a3b5496dd8ce359daa8d503f0982ceed0c46b4aaa3d822ffff4ba6edf5bc3b62fa536c83b81dc271d48c1392f5ec282aa2f30b76f8e925abf');



INSERT INTO public.audit_tree VALUES (1, 40, '\x028c967616d278280b5b314f99677994abd9ecd52e9849d7af414dc513d51d15');






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



INSERT INTO public.grants VALUES ('8a109041-af24-43ba-a522-415b08d24a77', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 292660229137, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('8a109041-af24-43ba-a522-415b08d24a77', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 528756940401, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, '2026-11-26 10:38:49.434222+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, '2026-11-26 10:38:49.431985+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, '2026-11-26 10:38:49.427701+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, '2026-11-26 10:38:49.432483+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, '2026-11-26 10:38:49.433763+00');
INSERT INTO public.jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, '2026-11-26 10:38:49.430464+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, '2026-11-26 10:38:49.433918+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, '2026-11-26 10:38:49.433275+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, '2026-11-26 10:38:49.428412+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, '2026-11-26 10:38:49.430646+00');
INSERT INTO public.jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, '2026-11-26 10:38:49.43094+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, '2026-11-26 10:38:49.428087+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, '2026-11-26 10:38:49.432161+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, '2026-11-26 10:38:49.431654+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, '2026-11-26 10:38:49.432953+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, '2026-11-26 10:38:49.430793+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, '2026-11-26 10:38:49.432801+00');
INSERT INTO public.jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 0, 0, '2026-11-26 10:38:49.432647+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, '2026-11-26 10:38:49.432324+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, '2026-11-26 10:38:49.433441+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, '2026-11-26 10:38:49.429722+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, '2026-11-26 10:38:49.433601+00');
INSERT INTO public.jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, '2026-11-26 10:38:49.431087+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, '2026-11-26 10:38:49.433116+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, '2026-11-26 10:38:49.434073+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-26 22:38:47+00', '8a109041-af24-43ba-a522-415b08d24a77', '3fc766e4-6b72-421f-9dac-b690c33c5794', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 10:38:49.670936+00', '8a109041-af24-43ba-a522-415b08d24a77', '0e3b904d-9876-4673-af7b-0aa2b389f905', 'platform', 1);



INSERT INTO public.leases VALUES ('3fc766e4-6b72-421f-9dac-b690c33c5794', '8a109041-af24-43ba-a522-415b08d24a77', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 10:38:47.514818+00', '2026-11-26 22:38:47.514818+00', '-infinity', false, true, true, 'lease-3fc766e4-6b72-421f-9dac-b690c33c5794', '27035619-1c0e-4951-b9d9-8791a4cbe193', 'ab95fc6c0cd3b869a9812e6458afb0822a84e2b7c6302c85f0ede1042ed9765f', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 292660229137, '', '{}', '{admin}', '', 'dave', false, 0, '', 'rest', '', '2026-11-26 10:38:47.536572+00', '2026-11-26 22:38:47+00', '2026-11-26 22:38:47+00', 10000000, 'bearerToken', '6b196b3e-8ed9-4068-a887-1b7f7a111ba9', 'JTI=2529e778-c74a-4947-a1c4-040f3ecf86d8', '8a109041-af24-43ba-a522-415b08d24a77.1.647f7191647d42dac714319ea419fa04', 'gAAAAABrCAw3TWr4m_x7ugPX3RE4T3h7HPX-heGI6RGUWoUoG985dXG172g0hgwhxI2oSJAV0d9yMulS-abHaoSkqZCjbkD3qvVS2Z2LkpMZcDGSZV1JmpZ9ncq6u49iiG_dPtw3dX4KMTQy57q_LffYGSCdzHoxcyZgEfIpnyIdYGTh91KCELyy0x77_F8cppUInN-qc4A_5FVFrXPCNgPJ3Gk2jtk6W-6WkHZyjivEIDktbxNdzczCfQQnuXaGKjWBj1un-221lHdb96GV6Y0l4tcuybLwpLDQ5hyacHr13o7SYHT5jRTbvcV3g0WXErqQaBPgOnMnC0-McvlX8D8jZR9wbe6Jdb3QIulFdyZgizcQONBJEwJ00jYj1mQeOefvr9BdoFxZeHP2HaIW_n5x57f-OwOFOxdyDMFmwJX87ndhNOcly5iLZ_94nKEyu6frOjyBxG53CSQbDUKwanoENAU2L2AGzBnPVIsULouI4gxYPa4bYmGrNGMt9YWat3RL7tVs2Wtrjv6H4Jih9wAODGC8cSNRMn3JcC57HO6BcbH8_Mxke0Zf3q-A0pl_cf2tJyCgkzjtiSrYWSZvLzByihgtLSKYJldV3A1agr70FugDx3FGKdey7SW5WZWv7hXzgBWvtmWPFJT8YYs9644ihMqRO3_6DUgYnhtXw0KizbzZQ4aLP5zt1WTJX6_FEbShQq2eg50D0ifIY5v3XI2Bm8nBmJmKrMXLpEZQLnB9bxKgl1FbKSko5NYaDlgWul9Ow2OsnvwWdu99Cyonf_rXx3bDtPe-fEKlb-doN7BY6hDiLFQ92q4FmRnwGkJHEklmBWsag_D1soTtjL4-3t_L6XM7r5EXqy-4Di7raLlOK4yxF2IvgR130VxgVUV9uxk2Yg4hbBw7QzPIu0K11mmvfUoVjxhyubD_mYhEG_3ElG0BjL8-asJZk_wnb67C1rYKtmwIcq2GJSvjDVkaIODhfdvawY5dFdLMsNRHNY-xITaBBzuqBz-Yab4t9gBk8cl71JAWYYakHpLNrb10brfKRBCBfe0HxU_VVOn1b6UOZ1f8NcFDs7_o4ppwCLpRbaN00qun2blFt3HxtfEP3f9hHBMJIkA-BXYMHwW0g9WxJnDRDdBetc0BF7DP5M1VUpzdekQtVWUZIQ_MC_knEVzHBb6rxeueVqB5O2_XZHOGmXIA0s47SyqeGixJiAvoUyK9rg9i9jkf', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');
INSERT INTO public.leases VALUES ('0e3b904d-9876-4673-af7b-0aa2b389f905', '8a109041-af24-43ba-a522-415b08d24a77', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 10:38:47.547558+00', '2026-11-26 22:38:47.547558+00', '-infinity', false, true, true, 'lease-0e3b904d-9876-4673-af7b-0aa2b389f905', '76dc7b81-7b2a-4011-bd50-4fcea1e6283d', '597924ea5e0ff71ce1e2141a942bf2165969bd1177990601bafaecb21890c78c', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 528756940401, '', '{}', '{admin}', '', '', false, 0, '', 'rest', '', '2026-11-26 10:38:47.562853+00', '2026-11-26 11:38:47+00', '2026-11-26 11:38:47+00', 10000000, 'bearerToken', 'a3ee7b26-e39f-4134-9e16-8f7c02a4f402', 'JTI=5f375a89-4c17-487f-bd0d-a03d38b14b67', '8a109041-af24-43ba-a522-415b08d24a77.1.647f7191647d42dac714319ea419fa04', 'gAAAAABrCAw3EQ7iltQiWbqt5VnO3r7bzz9NhVZ1LBqcMsZ0SBvCNxEnUjuF2C3x-_AgYV6HaU2fN4YrePK37Sg1n6AtoNIgX1R53CrUTRFsuEko6j9GDO6unor_0pcMEdbg3Tu_I7QS-XbsljfJZFFFNQmWmVttWJGsfNuJdvPCuqNIoejLVacWW98KpNPoI4tduwXxkBHTfPoWU39LkQh5bBrhDx8lTUbAdLCp8xT4WibnnLyrBuOaewaJyFs4ahIWEWvMtOfWO9-tqYs_dkAx8mzLTlsqKlScpXac-grSCPrFV45kSFuufpdE24ms4x3v4ODohvBil1sLfXTGoeqM34GJoL8wrAMtjoOhvqwySsjxTTmxEtvp4aE4h_ehtIu30p_fSjTra9WoeEu6eypWe2zpMNEEITwidDciT61k8ruc1dO2tnY7xq87eYyNiqZMY4RerEne6JtO25gEDAAyQR7aLUEVNslKlFT2yBf5CSxrP1VzaUIe2MYPmZzL9ISrsQdMnbUx1XfdSmmTiiQ3nIPWe5znN-qEVMj0DxoHActEzWWPyrdhEqBBT8wlbcKKNDg20dzo2OLdKV7uyY9TTXefiyjwRT2q0jOpx21bXk18oK9bU2NavYnuttse_eyCFeJthRbEOUkSROr7fvqrjLQp2Jflrl8HidIyL4arAAu_LPn4XZLWRDpqlnbusqZoS4vCLuLmnmZ2HgcZBNEQzbqbdqqWzjBSLOl8-4jzpxXkhmwyttYuofbrYvocBGki8PzfkDe1B6H0GdomCnUpfGhF8RHoYI74p9DjEuXE4HdDeiUlBw4H9Ul8HCEvSlSwlGac_74_XgyZmEp_KnKHJ7hPtkjqnH2PEm6FBOBj49JBXPPFav17o_SZZXqDZNtXK7kt2bG5_6tDEKVZNmOACiMlZrBoIuaojJWLSoqTn0b_PWwwF0OYFd_w5bNpFp27eckdOm5Rh-TOp_wpR_MB3PR8Y8UPOccIdMpXGIUCMfkpB_pwL2K7expv66JzZBpeRsshcncc71rsG7SGrERKd-pIsmG9ygji62s_eR0TYW8zCe6mRBpXe5xYdYxG2B62SG2DQXFc-IMBVDo-1DLEdP6u4ovejWCQS-BSiL5LukoKB3ub7mqW_uwFCCX96m9a1KmnMKLql-paEjY9ux6zKde_TzJD8E8Wp6T2fWn_k66eVYb-odIQrqB29-bJnCrR9D8kek-e', '-infinity', 4, '2026-11-26 10:38:47.670936+00', '2026-11-26 10:38:49.670936+00', 0, 'revoked', 'requested', '');









INSERT INTO public.live_leases VALUES ('3fc766e4-6b72-421f-9dac-b690c33c5794', '2026-11-26 10:38:47.514818+00', '8a109041-af24-43ba-a522-415b08d24a77', 'platform', 'platform', 'admin', 1, 292660229137, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('84678845-38de-403f-b319-e2ca0bea07ff', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', 'b3b3c5d9b11d8696180b2f94541e7a9a81f9bcca5a73b09a0d2c8c2f215fc52a', '', '-infinity', '2026-11-26 10:38:47.573114+00', false, 'admin', '2026-11-26 10:38:47.573114+00', '2026-11-26 10:38:47.573114+00', 1);






INSERT INTO public.probe VALUES (1, '-infinity');






INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', '1309767967d0fa518d3f29c3fc52bf75d93d9f49599f0a37d4c1938c56fed4ea', '2026-11-26 10:38:48.5405+00');






INSERT INTO public.token_uses VALUES ('93e5c85a645a', '2026-11-26 10:38:47.768157+00');









INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('8a109041-af24-43ba-a522-415b08d24a77', 1, 'https://127.0.0.1:34155', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAJNFicShXir4fKOFoH63UjAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMzg0N1oXDTM2MTEyNjEwMzg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNoL
Kf32tgx/OmAWfoppbu5S6YsNIGJDiBNi/a2oH010qMo7tuWFGCqRiBhtCZa82jqS
gJFT3X16g8Ho1jtJJrejQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBSyecVyKnF4vcAxSfRhat46N3GIZzAKBggqhkjOPQQDAgNI
ADBFAiEAmdg3cwgLG04cbf5I/mQhnyTTK5HTTDsg+rFUWlL8a8cCIFcHA641CXSG
DQSH7EdMMppXRrO76x+zMInkVQXAxpoF
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '24aac597-a71c-49f6-bc15-a547b6f4e07e', '', 'bearerToken', '-infinity', 'gAAAAABrCAw33jO5O1dl5XkS2M9t1sfdeydnoLl8P--693lFnFMBd08POYCXAK67pfHT1sEFr5lk5KQC9b1XnD9gZiGRCtg8TY_EuSjXjFGj7walcGj1-MVYKgHm-C9HFfRKnGErjqwlFUmHnkbyLu_oEQeo8qefbrYxpu80RH1iuQH6DG_y0Qx01s1w1X8Vqg8E0ueRRTLiWgF69OFl3uclwW8uJW-Wxnh0yQKVxnYDfHCxQWZ1W9NYn2TtVFK3qXyF5gxKg7Dy1AQ83TSZ1-E49px3NhpXeu-62xoE-_Qwdux636JFmpl7lxQtMhcbakPrF7r2R9k2W39SmlWtXiMbsWSQat089uo7AD7mU7q5RVl9PEWmWKPsHyx_7_aEaXrfOwunZU24GrSxGlHG1L-MSaxULOGcOQLMQh4AaG0GKgueAbI482SFTvebVTmLwxh-auBuAaGGvfvnruyEuEPFFydqX4wwFs8lyce9QwsuACnSLx07VBexLEtKbxBpYTxdrDmmpWj1_oppehoGXOLAtL1jiXYCs49wI3zta-c94HcBJ6Kw0VXo62lYuDabB8rz0VDhTye31-Vbr-VzamJ0A9FjHCfsaANyS3JZfQehvtZ5KnnuT12hHnhK5_p7vQbYgxxeWKVmIG4pNAFJ1oIt8csyTWPMsNFELgwPaPbaDmPJlqX74W_FXtBLhdpXj23sYx-JqsNgi0x3lJdVCgy-4mabu_HAFhsiiEzS_PRQxiYAhMUpUgx6aQNHELtcJmbWCde8xKNwLvmTLSYRGmEvZXL40MEAnLRafv-n-2F4BpNo0dq8pfafsJFZH-3eEZ8Zv1fVWkflP-TN4vLlRsaBtns5S-svQqrMzvXFtK4QpRMK1tN0ozu8syua-NAhl2tCQMyRKqYQceL9OD_R-YI5hA82bzQvJS2_QQuP0ij2G3fwSQ1jN47HXZCHO9WSdfjnWPsmLAR83679w7WA9RrH29r5SmBvOW6T1EHDG7HmWuC1L80GqpqXlpeWly2hOvCn8pd9qPuqlXrofKS4mr7ajWxRHu_go2FFc2oDg33Epnl0siBv1bjy_ukCxNJqnTJGD3p9U_HB', 'current', '8a109041-af24-43ba-a522-415b08d24a77.1.647f7191647d42dac714319ea419fa04', 'keydir');
INSERT INTO public.vim_generations VALUES ('bf31bdf5-6698-4275-b108-cd4d862f45bf', 1, 'https://127.0.0.1:34155', '-----BEGIN CERTIFICATE-----
MIIBZDCCAQqgAwIBAgIQAJNFicShXir4fKOFoH63UjAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEwMzg0N1oXDTM2MTEyNjEwMzg0N1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNoL
Kf32tgx/OmAWfoppbu5S6YsNIGJDiBNi/a2oH010qMo7tuWFGCqRiBhtCZa82jqS
gJFT3X16g8Ho1jtJJrejQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBSyecVyKnF4vcAxSfRhat46N3GIZzAKBggqhkjOPQQDAgNI
ADBFAiEAmdg3cwgLG04cbf5I/mQhnyTTK5HTTDsg+rFUWlL8a8cCIFcHA641CXSG
DQSH7EdMMppXRrO76x+zMInkVQXAxpoF
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '24aac597-a71c-49f6-bc15-a547b6f4e07e', '', 'bearerToken', '-infinity', 'gAAAAABrCAw39eKK0ctSXyFZAz_uyG_ViYrxHZsOnuVC4wY_6Erc18jg38zqRic7Co_FiVkZDRAKNYACI6warwiX3irDcwvDwWTUuPc2d1ucp-n-zyJ3XPkpoyQNb2o49NCcTNwzaoqCzSAM1wdVkWpJzQbV__POMZmXiMTcuwIpphcZxVorWhpuAwcJl_Z7BAqIzNJA-hJ25h-LjEas9EfdIxo-aB-87V6RanJezVjZWgOk3ufqESzH0DUUlxU0EiyTcrQ9uADSfbadw7WbhgpacGP9S1OMl5a5yQhQRfzHrYDAsPOyiI-kqyHd5lOWNd_wy-bQNPVtKURTRR3anezS8tEoVAi4jtbs4hMg9A3B22k-Q9Rn_yGvPnpAnHgHLXkw65_GhvdnJdV1KvRWqe_QJy-s_oZqRlfeZ0evHwTPJROQhU7UFNHm3D05vsgvj8emczSS4_y3TWzzHz4u3fxdpcDvAXSr_dYiAGmIicLOSjXySbHtDSvRHyS_6KlMwko9eMrGzzWvFqqfPxac5Gwq1WdLWOQ_qDNyVJHTZSX-cKzf8qi1VzSeglpyBeASvQ9rlTnGz_4zN19ndphV_jUcYftuaOD8EWWbKU9-2cBe35ff1h7tJx5GGYmQNZhs5GC2Xw4aGJ8-x_lCwVlMYEvu4YUsKLBjjn5ERLI4xyhWBAW-UXUpiDtiEfbCxrzM-OfWtJXyTExL4j02fVHX4GOIf-ukWqiMorZKYbqfOZPC9G1U2khcCvSsxUYJiQTszYBuB5TU-YLpDDi17iG5x660PQcMkRaPC7A1QDhZwvJrPO3NzFoUtmE4hDG5KJXIxhhBfoERbmPrRnR9Z-cPC45hjYMYcBIDfgufj4vsXleNsdGpxVj2JUTwM1B9sG3iJvMuUVpnmUkJi5bsZnXjIvaojCMVPL63bDJwLEB9QryNm2bGwwrzCCHMUit6Kb3YU9f1_bEr73YUsLtOYVhUXmvgc3dQYxgx6wv7SkL42gFDqNBTefpZ81EAmHvTsaQzXg8Mjj3P2qYxDqwxrvYc3-WDyyuXOOSb9wtdvBADA35AxulQwDji2pcGkog4jmdL_o0rjjQi4Ucr', 'current', 'bf31bdf5-6698-4275-b108-cd4d862f45bf.1.fc7e38856b9aa7abb66e2e1d298ff3ca', 'keydir');



INSERT INTO public.vim_labels VALUES ('8a109041-af24-43ba-a522-415b08d24a77', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('8a109041-af24-43ba-a522-415b08d24a77', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 10:38:47.443015+00', '', '4ca12413f1ad65ec39f389a5517b695b4dea26680753b471ad79a0996382d5a8', '', '', false, false, 'registered', '', '2026-11-26 10:38:47.491699+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 10:38:47.504585+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 10:43:18.93098+00');
INSERT INTO public.vims VALUES ('bf31bdf5-6698-4275-b108-cd4d862f45bf', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 10:38:47.462965+00', '', '60329202039e1d3f9e71135aa56eacb01a48ad39084d0fd15b83c45cc7cc8048', 'second', '', false, false, 'registered', '', '2026-11-26 10:38:47.63786+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 10:38:47.46913+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 10:43:26.514833+00');















INSERT INTO public.vnf_instances VALUES ('a1b77831-1ab7-447e-a980-99755333e3d7', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 10:38:47.615527+00', 1, '{"id":"a1b77831-1ab7-447e-a980-99755333e3d7","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T10:38:47.615527Z","shape":{"package":"43713a93-8ae5-41fb-91dd-4cfe27f1b7a8","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('418ffe8a-9e37-474d-b9db-a9290469333c', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'a1b77831-1ab7-447e-a980-99755333e3d7');



INSERT INTO public.vnf_packages VALUES ('43713a93-8ae5-41fb-91dd-4cfe27f1b7a8', 'platform', 'enabled', 'web-1.0', '418ffe8a-9e37-474d-b9db-a9290469333c', 1724, '2026-11-26 10:38:47.597812+00', '2026-11-26 10:38:47.60586+00', 4, '{"ID":"43713a93-8ae5-41fb-91dd-4cfe27f1b7a8","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"418ffe8a-9e37-474d-b9db-a9290469333c","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T10:38:47.597812Z","UpdatedAt":"2026-11-26T10:38:47.60586Z","OnboardedAt":"2026-11-26T10:38:47.605801Z","TouchedAt":"2026-11-26T10:38:47.60586Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('72308cf9-94b8-4b25-aee7-b2847cc12b6f', 'platform', 'http://127.0.0.1:39461', 'http://127.0.0.1:45587', 'FULL', '{}', '{}', '9f6dd4b9cb24cc0d07624b500fdcd31b865f8f099bea820645f46ede0987e8c2', 'admin', '2026-11-26 10:38:47.625559+00', 'active', '2026-11-26 10:38:47.626716+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



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





