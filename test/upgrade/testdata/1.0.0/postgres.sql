-- of 0001_schema.sql, sha256 25ba2272d4a481894eed7d6519aee643d962e17887bd6999cd2d34a0fa48f5af



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















INSERT INTO public.audit_checkpoints VALUES (30, '\x3e8cbde77c7ce400b63aa1bbbdd3548a85d48785a290fb59de8a959a2a172650', '2026-11-26 13:40:28.664025+00', '465e5f16-f051-458e-bae8-45afdb5e2786', 'vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786
30
Poy953x85AC2OqG7vdNUioXUh4WikPtZ3oqVmioXJlA=

— vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786 9fyTBmC5eljdS6z8wGaa9O6FzpmtQqEF0bw55LH7VXIzimKV0BGbHy13vng899E+Bre6rmlNmCHigvTYK9TyIraCmgo=
');






INSERT INTO public.audit_entries VALUES (1, '2026-11-26 13:40:27.899173+00', '', '', 'system:server', '', 'server:start', 'Server', '', 'done', '{"policies":"8e499826c6a7f0eb8e6e5b34b855046ee4aad31b3bd25cbb1213c1b7fc1ec3b2","version":"1.0.0"}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-26 13:40:27.942964+00', 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'server:login', 'Server', 'platform', 'done', '{"authenticator":"static","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-26 13:40:27.94475+00', 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.endpoint":"https://127.0.0.1:35067","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-26 13:40:28.118078+00', 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:35067","new.generation":"1","new.identity":"7af8376c-a6e9-4824-950d-f819e19f104e","new.keyStore":"keydir","new.labels.site":"\"north\"","new.name":"edge-1","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-26 13:40:28.21589+00', 'bf2c1041-2686-42f1-931e-c33602e0d0db', 'rest', 'admin', 'platform', 'vim:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-26 13:40:28.234196+00', '86f0afd0-96ee-44e6-8772-1758e99ef8fb', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.endpoint":"https://127.0.0.1:35067","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-26 13:40:28.24647+00', '86f0afd0-96ee-44e6-8772-1758e99ef8fb', 'rest', 'admin', 'platform', 'vim:register', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","new.caCert":"sha256:69b4b20eaf5deb6e69cdc237903b9463da62da0ce48d0cb211828e7afccd395c","new.credential.kind":"bearerToken","new.endpoint":"https://127.0.0.1:35067","new.generation":"1","new.identity":"7af8376c-a6e9-4824-950d-f819e19f104e","new.keyStore":"keydir","new.name":"edge-2","new.namespace":"default","new.project":"platform","new.type":"kubernetes","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-26 13:40:28.265347+00', '5cf9aefd-4408-4851-869e-3f6f274a7067', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.description":"(not shown)","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-26 13:40:28.276793+00', '17107628-c972-434b-a14f-7e3d34795c94', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-26 13:40:28.297999+00', '17107628-c972-434b-a14f-7e3d34795c94', 'rest', 'admin', 'platform', 'vim:rotate', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","reason":"sealed anew in keydir","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-26 13:40:28.333103+00', 'eebca7fe-93eb-4e88-90a3-3a6a3e4c7c73', 'rest', 'admin', 'platform', 'vim:check', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-26 13:40:28.358168+00', '27e790fa-b012-4b88-acfc-6568d10c5def', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","for":"dave","generation":"1","grade":"bounded","lease":"4e72b377-8cf3-4078-ab14-73f53ef56e1d","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-26 13:40:28.41385+00', '27e790fa-b012-4b88-acfc-6568d10c5def', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'done', '{"authenticator":"static","credential-id":"JTI=bec53376-d85a-4d90-be1f-1a49b40ba229","endpointHost":"127.0.0.1","expiresAt":"2026-11-27T01:40:28Z","for":"dave","generation":"1","grade":"bounded","lease":"4e72b377-8cf3-4078-ab14-73f53ef56e1d","namespaces":"*","policy":"default.admins-do-all","role":"view","source":"127.0.0.1","ttl":"12h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-26 13:40:28.427816+00', 'cf57da2f-8396-4a34-9deb-e27c4e8d0668', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","generation":"1","grade":"bounded","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-26 13:40:28.448948+00', 'cf57da2f-8396-4a34-9deb-e27c4e8d0668', 'rest', 'admin', 'platform', 'lease:issue', 'VIM', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'done', '{"authenticator":"static","credential-id":"JTI=69eebdfe-e3a7-4c00-b572-1d6fe241804b","endpointHost":"127.0.0.1","expiresAt":"2026-11-26T14:40:28Z","generation":"1","grade":"bounded","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","namespaces":"default","policy":"default.admins-do-all","role":"","source":"127.0.0.1","ttl":"1h0m0s","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-26 13:40:28.503731+00', '4c0356ea-2954-425b-893e-05852c98aaac', 'rest', 'admin', 'platform', 'client:create', 'Client', '86714c23-2727-493f-a55d-3ab156329fb7', 'done', '{"authenticator":"static","client":"86714c23-2727-493f-a55d-3ab156329fb7","clientName":"tacker-north","policy":"default.admins-do-all","roles":"vnfm","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-26 13:40:28.535708+00', 'a1a701f5-e379-4cfd-b9d2-c32d0e349639', 'vnfpkgm', 'admin', 'platform', 'package:create', 'Project', 'platform', 'done', '{"authenticator":"static","package":"c4477281-e624-4ce1-8288-e9b6a4fcb1a0","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-26 13:40:28.549495+00', 'a693b17b-92b7-4bae-89d9-5008e58c28b4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-26 13:40:28.555799+00', 'a693b17b-92b7-4bae-89d9-5008e58c28b4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'intent', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-26 13:40:28.572175+00', 'a693b17b-92b7-4bae-89d9-5008e58c28b4', 'vnfpkgm', 'admin', 'platform', 'package:upload', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'done', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1","vnfd":"web-1.0"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-26 13:40:28.57629+00', '51b6daf3-6e9c-48f6-9d31-6cec967921af', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-26 13:40:28.585568+00', 'e96ec702-a8fd-4261-b460-5c88250933f9', 'vnflcm', 'admin', 'platform', 'package:use', 'Package', 'c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-26 13:40:28.586263+00', 'e96ec702-a8fd-4261-b460-5c88250933f9', 'vnflcm', 'admin', 'platform', 'vnf:create', 'Project', 'platform', 'done', '{"authenticator":"static","instance":"4520dca6-c3b5-4876-a56f-90350ed69a8a","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-26 13:40:28.596614+00', '7da842e0-d022-4417-b1d4-2c1852fe6a88', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"0fd9c290-2a9b-483d-9764-ddd69fc7d54b"}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-26 13:40:28.599621+00', '7da842e0-d022-4417-b1d4-2c1852fe6a88', 'vnflcm', 'admin', 'platform', 'subscription:create', 'Project', 'platform', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","subscription":"0fd9c290-2a9b-483d-9764-ddd69fc7d54b"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-26 13:40:28.60195+00', 'b77fbe52-621e-42b0-b364-56c390a365f1', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Subscription', '0fd9c290-2a9b-483d-9764-ddd69fc7d54b', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-26 13:40:28.613085+00', '1375d826-65fb-49e6-862e-d45e88c5b83d', 'rest', 'admin', 'platform', 'vim:show', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'read', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-26 13:40:28.617103+00', '9b398f65-8934-4f00-b4c7-9fa7ad45fdb5', 'rest', 'admin', 'platform', 'vim:share', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-26 13:40:28.619874+00', '9b398f65-8934-4f00-b4c7-9fa7ad45fdb5', 'rest', 'admin', 'platform', 'vim:update', 'VIM', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","new.sharedWith":"lab","policy":"default.admins-do-all","source":"127.0.0.1","vim":"fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e","vimName":"edge-2","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-26 13:40:28.635449+00', 'd7504a8f-a17a-4a65-a989-05175a44cad0', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'intent', '{"auditKey":"465e5f16-f051-458e-bae8-45afdb5e2786","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-26 13:40:28.664029+00', 'd7504a8f-a17a-4a65-a989-05175a44cad0', 'rest', 'admin', 'platform', 'audit:key', 'Project', '*', 'done', '{"auditKey":"465e5f16-f051-458e-bae8-45afdb5e2786","authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-26 13:40:28.676632+00', '2a065445-8134-4876-984e-de192316f1c9', 'rest', 'admin', 'platform', 'lease:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (33, '2026-11-26 13:40:28.690887+00', '7d1c0178-ee24-42f1-9281-cff29d77f370', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '3e5adc25-d7da-4ab2-a947-ab64fce39693', 'intent', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (34, '2026-11-26 13:40:28.692446+00', '7d1c0178-ee24-42f1-9281-cff29d77f370', 'rest', 'admin', 'platform', 'lease:revoke', 'Lease', '3e5adc25-d7da-4ab2-a947-ab64fce39693', 'done', '{"authenticator":"static","endpointHost":"127.0.0.1","lease":"3e5adc25-d7da-4ab2-a947-ab64fce39693","policy":"default.admins-do-all","reason":"requested","source":"127.0.0.1","vim":"1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8","vimName":"edge-1","vimProject":"platform"}');
INSERT INTO public.audit_entries VALUES (35, '2026-11-26 13:40:28.701465+00', '02941dd5-0f30-43ad-8df6-608055e67287', 'rest', 'admin', 'platform', 'audit:read', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (36, '2026-11-26 13:40:28.70289+00', 'b3c498e7-9666-4941-9af0-a5e05c6ebe1d', 'rest', 'admin', 'platform', 'audit:read', 'Project', '*', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (37, '2026-11-26 13:40:28.731968+00', 'd8b4135a-eacd-40fb-a3d0-9cd97dc53db5', 'rest', 'admin', 'platform', 'client:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (38, '2026-11-26 13:40:28.743049+00', '75d45be5-e92c-4a4a-9b5a-cdbd20c7e61a', 'vnfpkgm', 'admin', 'platform', 'package:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (39, '2026-11-26 13:40:28.754402+00', '4007c658-f87b-4322-a33b-6f455924dbde', 'vnflcm', 'admin', 'platform', 'vnf:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');
INSERT INTO public.audit_entries VALUES (40, '2026-11-26 13:40:28.781626+00', '5e0e45a4-0437-428d-bb92-5248789ec16c', 'vnflcm', 'admin', 'platform', 'subscription:show', 'Project', 'platform', 'read', '{"authenticator":"static","policy":"default.admins-do-all","source":"127.0.0.1"}');



INSERT INTO public.audit_head VALUES (1, 40);



INSERT INTO public.audit_horizon VALUES (1, 0);






INSERT INTO public.audit_keys VALUES ('465e5f16-f051-458e-bae8-45afdb5e2786', 'signing', 'vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786', 'vimbroker.audit/465e5f16-f051-458e-bae8-45afdb5e2786+f5fc9306+AfgPqEeYdsMrc5A75cssHgxpvYuHj3MOIBhSDxui//4a', 30, 0, '', '2026-11-26 13:40:28.635448+00', '-infinity', 'gAAAAABrCDbM1e1UECA55w46Q1yx9RapIkkql0wz0-gIhEivZ7IcXHU7wGjrkLxavWEXSnvfu7Xpxf56BfK4LyqbuGtF0drG40-FVHwrutxz59zULHPXaWFCO-fZa9opQIxVI-0OCCa9iCiCpweKv-AExHzIO_yE-a56aaqlZeN9uBBk5Kx_5J7wKWh51zrzwnl-0OybVdoJm_azrtQYx01jc9sOKBXhdy3i5CwEfKSnwQMrykSZ-vzilajn4NERUqkbRzgrRy-3WtbsbYFUWbrN5XijRqcK1gAlYhCYosRseGDQybQcyo1uViyQqvwJsVK8i1mwfi0NLrUza5g9hnbXnOlogLs-384dQ9JQRa4YCI7j14T4rHIz2xFFLWeBkHs_EYu4TiRDbaftkZpy2jY6Oase5Ko2vR2rfzgPizaXAGUhmhvyc5Qsr7u_lMXsDdDmB2n2j0j5MuOAoaPnt_OxhjcQnViKdw==', 'keydir', '465e5f16-f051-458e-bae8-45afdb5e2786.1.a90c18caf97cba1da7e5e839381c7353');



INSERT INTO public.audit_tiles VALUES (0, 0, '\xeb613c493f07f0a0110268f5fba5931e31c97463db6cbe75c6bf90dad09e02f5fa0f9b9253f0f2fc41fe8247f5c0f2daad40aaf84d05c00cf25c5ecbe27e32cf70bdb59528a5c11d2a67c6a96eb1d12dcb8f4742a0c6d71d81394822c54947aa6fec14cda6e922ca931f986e804c5ed1c5850544dad8412ceced53ab32e2ecb0949283ba0b5e79bf1ad0437f40590690bc64d0dadb15b86687c28bf15ffbeeae0a6eb8ea59a7cacadad8cf3311f23c5fa87ae603d8c29d35443eac0ba62465f817c5052fc708f578b26d9f32034b6ec0ff4f7c53f6966519b9d01c99cabdd812a6a5195d5193ebca4db36a1f3c2f4dacdfc814b12e73fff893e2dac9b371d8c7b86c5c11384da9993ec9396a6051aeeb92187daefec358bea57d552673624a89dd6c6bb4781bc0dc5077f2e3825bce85ced1e1e1499b05573ee9c50d824df5a851442b6c7ad0fa8a3c39868c53c75171a4ff1434d4fb6d84260fb26b48ef48f25974027261b471f7462e072648db1dcc5032283b61855f6948614c92660ca5194fc3793d1ed8bea3dde10425ab4348fd343c51f2101a19afd5a170183b3c9eea5fe671c869c6f11460e9dc0a95a18973c24c06a7b12193926b483fdbe8b81201b1cfaf0b56bb450b794d4a7b8fc20448ac019d9b68654d31d00ae1a2fa1944ceac0613f9e8e0de9783cb74e82fd071e50afa36d82257712a5c9922a615dc7a31760bb4b627fb8611bef3da790e8d4bc286f2ee8cbf7f09b528e20f2b7d3914c474180c4d26de7a716ce57de6fc13a1081a0db73d14d53377f92f0b92162801d627a7cb63bb2b45019c8eb668f53bc40c0eae7ccec25b9be4f902255ae56fafbf62f86ed0e553f06a322fc3bc4ce448e845ef2874ed7405795b5266885685090a40035e6e8d96e0aaded7fbb0451c8389f36505cda2bf6a3ad660677f23e748218bf922f6408091dafc89c8b351dbb4e1807911e202f21d67d3a0d5fb92c04242daf1ad5ce0f1dc76347edd8a9808875830475ba357128a803b1477856b1449e290a346e3cc63cdc7729ff937046b4821f14bd9bdc7ef108d8d072985ada61ed96f235ecf69c81c7c13718274b675ea88346fb557dd30b156b69d8f25d1efc3363ebb3db5ae37c952ff3b3b21a51fbc0942b00f8d7f71744a9bf88674be3e1e5b19d5292c7edd75c1ca8969f08009633a99ba9c0aa2c0cf18e545c8f7927763fe059796acd4f6ca727450d79277ae2979ad5b283427e55fa79775516e5414528e291a32d827dbc593882c1742c9556758a5ab56bc286acc575de7068cda2a9f0f8ed66fd8181774eb91259bb5b5a206d4e1c42659a98fff5cd53161fcd738721e1f1648f989ea043fa835cde344779fda05acfc349d5ebf63ee2dc093f4ca8ac7c3e52eda27d0d4fd7f946c69def9fe14600e578857ba1db9af3aee481ee756d1fcac05826c9043dd1388187818fc638b84fef701a90a52998a03a094e4be64b9ad1b0d1c514cb337a562bab132a0cb766f5bf3ba50594d3b6325615d3e7e19da414310558b21d7816caa6420b8db8ebdda62e038655c2b025748c6913d5ca372a4531373579206afd347e1443d5e4cf878f25490349e96f002b9b523333bb8be7b31bed282dd2ae5f168eebed517a9363c0bdf32aa2907a30ea1080f68e20ea472bb62502762f75a99d89a8384eef5e1b5af1c8337e03e113f5218f5ee54368988758545eb908c2fbf59157740136e744e7e4f698608019e35e36d10944471ccda343cf33b9facef72c07a6d76cf68cff5a2c06a414d784d9eaab804b86b70df');



INSERT INTO public.audit_tree VALUES (1, 40, '\xa644462396dea5d0093244f86acc29f9c9c1f4c1683189aa7e139a303355a1e4');






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



INSERT INTO public.grants VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 876158929485, 'view', '[]', '{}', true, 'open', '-infinity');
INSERT INTO public.grants VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 252664443382, '', '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', '{default}', false, 'open', '-infinity');



INSERT INTO public.jobs VALUES ('pass-access', 'access', 1, 0, 0, 0, '2026-11-26 13:40:30.054092+00');
INSERT INTO public.jobs VALUES ('pass-check', 'check', 1, 0, 0, 0, '2026-11-26 13:40:29.962445+00');
INSERT INTO public.jobs VALUES ('pass-drift', 'drift', 1, 0, 0, 0, '2026-11-26 13:40:29.927728+00');
INSERT INTO public.jobs VALUES ('pass-follow-grants', 'follow-grants', 1, 0, 0, 0, '2026-11-26 13:40:30.061694+00');
INSERT INTO public.jobs VALUES ('pass-forget-grants', 'forget-grants', 1, 0, 0, 0, '2026-11-26 13:40:30.058235+00');
INSERT INTO public.jobs VALUES ('pass-forget-sessions', 'forget-sessions', 1, 0, 0, 0, '2026-11-26 13:40:29.932846+00');
INSERT INTO public.jobs VALUES ('pass-forget-used-tokens', 'forget-used-tokens', 1, 0, 0, 0, '2026-11-26 13:40:29.928651+00');
INSERT INTO public.jobs VALUES ('pass-grades', 'grades', 1, 0, 0, 0, '2026-11-26 13:40:30.066459+00');
INSERT INTO public.jobs VALUES ('pass-inline-vims', 'inline-vims', 1, 0, 0, 0, '2026-11-26 13:40:30.05979+00');
INSERT INTO public.jobs VALUES ('pass-inventory', 'inventory', 1, 0, 0, 0, '2026-11-26 13:40:30.061858+00');
INSERT INTO public.jobs VALUES ('pass-links', 'links', 1, 0, 0, 0, '2026-11-26 13:40:30.061037+00');
INSERT INTO public.jobs VALUES ('pass-operation-turns', 'operation-turns', 1, 0, 0, 0, '2026-11-26 13:40:30.09176+00');
INSERT INTO public.jobs VALUES ('pass-prune', 'prune', 1, 0, 0, 0, '2026-11-26 13:40:29.92393+00');
INSERT INTO public.jobs VALUES ('pass-reap', 'reap', 1, 0, 0, 0, '2026-11-26 13:40:29.943171+00');
INSERT INTO public.jobs VALUES ('pass-seal-anew', 'seal-anew', 1, 0, 0, 0, '2026-11-26 13:40:29.943771+00');
INSERT INTO public.jobs VALUES ('pass-secret-parameters', 'secret-parameters', 1, 0, 0, 0, '2026-11-26 13:40:30.099699+00');
INSERT INTO public.jobs VALUES ('pass-settle', 'settle', 1, 0, 0, 0, '2026-11-26 13:40:30.058707+00');
INSERT INTO public.jobs VALUES ('pass-settle-bundles', 'settle-bundles', 1, 0, 0, 0, '2026-11-26 13:40:30.05847+00');
INSERT INTO public.jobs VALUES ('pass-settle-clients', 'settle-clients', 1, 0, 0, 0, '2026-11-26 13:40:30.061494+00');
INSERT INTO public.jobs VALUES ('pass-settle-packages', 'settle-packages', 1, 0, 0, 0, '2026-11-26 13:40:30.090021+00');
INSERT INTO public.jobs VALUES ('pass-settle-subscriptions', 'settle-subscriptions', 1, 0, 0, 0, '2026-11-26 13:40:30.103987+00');
INSERT INTO public.jobs VALUES ('pass-settle-token-keys', 'settle-token-keys', 1, 0, 0, 0, '2026-11-26 13:40:30.058878+00');
INSERT INTO public.jobs VALUES ('pass-show-profiles', 'show-profiles', 1, 0, 0, 0, '2026-11-26 13:40:29.928967+00');
INSERT INTO public.jobs VALUES ('pass-sign-audit', 'sign-audit', 1, 0, 0, 0, '2026-11-26 13:40:30.107899+00');
INSERT INTO public.jobs VALUES ('pass-watch-audit', 'watch-audit', 1, 0, 0, 0, '2026-11-26 13:40:29.945189+00');






INSERT INTO public.lease_horizon VALUES (1, '-infinity');



INSERT INTO public.lease_turns VALUES ('2026-11-27 01:40:28+00', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', '4e72b377-8cf3-4078-ab14-73f53ef56e1d', 'platform', 1);
INSERT INTO public.lease_turns VALUES ('2026-11-26 13:40:30.69252+00', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', '3e5adc25-d7da-4ab2-a947-ab64fce39693', 'platform', 1);



INSERT INTO public.leases VALUES ('4e72b377-8cf3-4078-ab14-73f53ef56e1d', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', 'view', '{}', 'kubeconfig', '', '2026-11-26 13:40:28.355836+00', '2026-11-27 01:40:28.355836+00', '-infinity', false, true, true, 'lease-4e72b377-8cf3-4078-ab14-73f53ef56e1d', '1036be9d-6a62-4225-8391-a33ea777167a', '63017bc9a5307e1c33c1b14fe423b60bc2ac4fd373577f966e5afa2225615f09', false, '[]', true, 'bounded', '{}', '6c44b35d28cfbcd626df31c4982d7dd54d70ede18170a69e10d8c56b12691af8', 876158929485, '', '{}', '{admin}', '', 'dave', false, 0, '', 'rest', '', '2026-11-26 13:40:28.414032+00', '2026-11-27 01:40:28+00', '2026-11-27 01:40:28+00', 10000000, 'bearerToken', '8240d168-9c64-4f76-b242-282b36b542d5', 'JTI=bec53376-d85a-4d90-be1f-1a49b40ba229', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8.1.d025c85fe22f0ad7c1e31c1ea23a5c74', 'gAAAAABrCDbMM5uwxf7ETDb8mYHa_0qSlwIJaSCLoPybcF8QhkBHI4ckjIyTFGwDpkBNgHr-NMT4-c2V9l1WbcfnAQemDyWpLdAbxASzDrWo8zxWwrZTGJMO4ztsuRrGJHfjzsitDW42Mlq5JmRCA4apwA5KwfngOgvLjhaUA_0SUElEHc5WlI72_pAdCxilFGZFNrKW8sMVpoiYM-QpJI4bYDPnUhixFYpeYRDaZ_RfwtV77nuVRrY5FGnAajgYw_chqYjuDBUy-idLd29rXF40v_vVP7hVTTbGL20peC9sdz-IofPDgUViqqh4qVPxNpzHkTYPoibwWaSZwzSeBHVtkVAmub2oy785oVCpDT6yyljRss57PdGijFYv7CU_iThQNzO9-pcAZmusRZrqxkX1y21m0A9NbUiI_iFZJRCUpyillhu512pFQZylxIvs_RdxEwisxlFAMeMcLMg19f5-KZ2tLNTddAgrl1M-msyOzEsBuq4dZ-Aob8HcEL2G6QvzfYNfJ35CrPZeAHuOcwomNPXvNTrMTN_E3dcMtQBWud6IWO2byYmUQXm1W4XqaQugROzEVyKLEHpgUwtRV2wZ1QCOGwhY1vKKqpsL9IuwlgMCeNgMcQi_TENHYS-0ra25T0WJbgDYsp4VmgN9dTcyjr0wsh71J6RP0l5v6pMwQVgDSCGHfUr1YsC_SaMExDTLxDWeWzzfm8W9d8hxNZo22mPliXOvxIWcAqBZU_Uh1JOFFRhpfg8wYw0VCa2ph3VIQ6Mo5cgFohe8jjhzNWzkSVZLErxZKB_LZjuOLNoz6LNJhhiM1tKTqadL6FoUoiOfd8Ke9ZdKxGV8egejCwA4K4zIN63ayDtl0VuSHaxVAlgnFQwpBDDn_246Lwl3u5zSOZFhJQqCImfk1EHrXnUU3yFS66ycZwtBnI0RTnykNA5a94ngxsNrEJSDNcg20xmHQ4bqT59VjRWIUCbMJdhenaEfvaSsBGdukk73a9bEo5zdQ5P-Z7iNyck9Ql-g6SHw7l8b8cvq5Q_E3bKk7j__uHUtsYcn-RlyXeDNbpfFmpDeZMYN-FXwu0J7uyekD0T9QsewonI8R2ge924GGoJNrSvArusGBQtGZcBzm05WOYblJ8YqI-dQqxiFk-WQcmJXz3U4VKjQ08gsqnzdT4wcqz9juG3haifOqJeE9SjPqTXHqLMfTSNGpHfuZnWX1olzsIUDcZIU', '-infinity', 2, '-infinity', '-infinity', 0, 'active', '', '');
INSERT INTO public.leases VALUES ('3e5adc25-d7da-4ab2-a947-ab64fce39693', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'edge-1', 'kubernetes', 'platform', 1, 'platform', 'admin', '', '', '{default}', 'kubeconfig', '', '2026-11-26 13:40:28.426694+00', '2026-11-27 01:40:28.426694+00', '-infinity', false, true, true, 'lease-3e5adc25-d7da-4ab2-a947-ab64fce39693', 'eacf57ec-b8da-4c21-881c-89f02e145dcd', 'c2eee037bf0b365dffaadf052f5d703a8d3557ff4e3d3279edee301726110953', false, '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]', false, 'bounded', '{}', '84f1642d7d9bb2502ad30b5c278ab79c7efed59b9fc4ee202b658d65cf7aa611', 252664443382, '', '{}', '{admin}', '', '', false, 0, '', 'rest', '', '2026-11-26 13:40:28.449319+00', '2026-11-26 14:40:28+00', '2026-11-26 14:40:28+00', 10000000, 'bearerToken', 'a8d9c9c1-3493-4e8b-8a39-920579d67090', 'JTI=69eebdfe-e3a7-4c00-b572-1d6fe241804b', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8.1.d025c85fe22f0ad7c1e31c1ea23a5c74', 'gAAAAABrCDbMW9DXzJB4w95D0hP7bMA1jSbp0Vwk3_V3BJFv8kzDzCnfhNA1LJECyOD5cCuKXqiLlbdAAJCvq9XWgFkeEBUth4U9MCoSWVtT_n0FleJqjSJN9pvlLcPpqylyqTADnPPRfxVQU_I9Sy-SZrfjNq1ecA8aNIDbHeFVjYUc5nTpydfEfee4vr_d8LP2DjCfki34AVjNZBNqdO_WJY58jyOxOWmUdwhj2hXnwDCMXc5q27dyXaLndModV7HrtNxbB6PivBa-dYO9enUctY3A4Nven7r_PE-WvWrvlN0-CK7TCivqb6ngUGY_vNbAadM3_JCDa3_ViKwvVYkiiURHl-1VTFWkL9quxUsFq1mF_hTMU7hbfSaGzG_yBLd3ZQeMFKN9HiY3WhSaGudRT2bxdtHW72669wxLbaqiIdPqbtP3S9oYJp0V5TUXZ2NWAQU7s26X_DdQmkOhYg7z7Y0Y8Dy1otypvQjNnEtNtlTN7mj24SuNED3mCqVQ--MVRyeTMgKvkT9mHMiISKHG40k5s90NnyWsKQHsLNfL_V8WcD1lkCED2lkiwHQKa6QIb5u2ySf5dhpEMwYsSF4SCoDX-6jan7N28-IDvJuFwbqmw7XODGjfQ-hkRCfpXB_acNw-zW5wdKTGOY4HSK0N5634joyPqNYN5Wv4tflJ-hceYlGp1k23dTsU-9Ir_oazmZ1Sh-jEdEpgXJvAEKp4rWDJq5v4l9vevLaTU3C0F3qTlVpEPubMUuD9y3jzNV7F8kLphaqFvKa0JB0Sj-7jekyk7ItJFM7j4S4SHggu2Da3IQXpByJU51NaMlYvC32dthVlUqhaHh2XdSITlF199n_p2jjXY5_i4MCJ8j1lafmfBDgyQSzp2iNTNvpGNBm4rLr3p9WZfAPjmCCux9vopYP3CXqRy1JSBRNfc4_zDOBXf0X9_N9ls-mzlEKaXKsGX6uJd3tG4Pqxc2WQL6fQNIRF02t9c09PI1JOTOQvylee1uV_zhh7kA2fV3Q_zj3IHrzLI146LwQsJsnaoq36wQinbFuFbbmsRtlxl9687EGzIlmivWXgYo-GUs1sJxb1RsfEVVh979N1YYY63v1yCqY5UmrHJVviSm4FRJoPdFvhsI5idpzjIjrBFXHasag3-GVbAtnZ4C9eNVAYG8_RYavNmgxL9WwZf_MK1wogyl3Rk8XlT4-Z5ddE9-Dj4YA-x_g6j8Hq', '-infinity', 4, '2026-11-26 13:40:28.69252+00', '2026-11-26 13:40:30.69252+00', 0, 'revoked', 'requested', '');



INSERT INTO public.live_leases VALUES ('4e72b377-8cf3-4078-ab14-73f53ef56e1d', '2026-11-26 13:40:28.355836+00', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'platform', 'platform', 'admin', 1, 876158929485, 'bounded', 'active');






INSERT INTO public.oauth_clients VALUES ('86714c23-2727-493f-a55d-3ab156329fb7', 'platform', 'tacker-north', '{vnfm}', '{}', 'null', 'active', 'da304d5186fb0c9e689d3f9d1c4591ed7022b96259320c128e22093928d83541', '', '-infinity', '2026-11-26 13:40:28.503586+00', false, 'admin', '2026-11-26 13:40:28.503586+00', '2026-11-26 13:40:28.503586+00', 1);












INSERT INTO public.schema_floor VALUES (1, 1);



INSERT INTO public.schema_migrations VALUES (1, '0001_schema.sql', '25ba2272d4a481894eed7d6519aee643d962e17887bd6999cd2d34a0fa48f5af', '2026-11-26 13:40:32.085416+00');






INSERT INTO public.token_uses VALUES ('fcf7fa18caec', '2026-11-26 13:40:28.806621+00');









INSERT INTO public.vim_census VALUES ('state', 'registered', 2);
INSERT INTO public.vim_census VALUES ('health', 'reachable', 2);



INSERT INTO public.vim_generations VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 1, 'https://127.0.0.1:35067', '-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIQAM2/pj8iw9FegGHp6NsbXTAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEzNDAyN1oXDTM2MTEyNjEzNDAyN1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPve
UhqnGt7/v7M2zOMxcUgVNYA0SWdCawda3NnKLcWzsaAViifHiqttKhOShdE68rsy
XsotbbK+3a8rJyVuHkijQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBThjOdn948KBHDLCFlxYHM8+Hzn9jAKBggqhkjOPQQDAgNJ
ADBGAiEAzpU2e6vumZ6PxRAgQjJY3GpSQUvRojvoAtbJixvHPcMCIQCjv8XTN6aV
aVR6CJ9rpAontwuonXOxG6vrJz4AzsZlfg==
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '7af8376c-a6e9-4824-950d-f819e19f104e', '', 'bearerToken', '-infinity', 'gAAAAABrCDbMBQYol7wwc61YVB4VjcggfVY01UVvEZeB5PhFwbDMKHV1DTaJxEFoZ0QcrVuTv-shyB_JA-SfFAi7HvcCHRkDDVKMlrAfjhzEH4_Ujc9JSnTOXayUd2Tc-hw9-N8tVoRhNkUz7pViBLbnzzvvawBH6HRACsodf8MyZpw_p8U6kHLOvTqQx9fy1ticzChZk6OVvdNrfm09brvQdvLOUGCfCXohp4vDHASAYj44Nd-5Yu4Iq9hNYrhXk3yODR12iUd_D2FvXpO8EZi-ObzSkJIb4L6GH5CwI_7SN33rqeO7mQCMzCZvV6YgE7GD3BPln0suY1nz_1tZyxg8VxUXywCesd7j561s7xzpYd1VopS2p8reKlxjIl13MZvM6d-I0Xq3quBBi0suo-cWlNq4tylt6filB_899n3kWHrzFqmi_0s9CJzf_wMvRJ-ZLgIKuLWo1t4dwo74ZKv4RDCF8l2LXAlt45rGHAgA34jEw8e3COk_H_v87HS0Id8qXrHf02pQhqKP2O1vLMm13nsWBINEkyRNH5-VjHkmFVx1tlHCPEUQu4l0-UvfY3koCGjzj-H_Uor38lRK23wbkesreABug9QHYOgRkcSgJJo7OtlLl3hObJ1XczuT8caOsVoKH6ILyul1d-cNV5OOCiCf7OS2iFhderYK85A4mpV2ywOh82OZGr7fpmRDk0o7blKzjSzN-KTgPc-L_lmftahsUVk8GQ0fDmsj2jcMdLA0nv4nS8bRvXRzYLFf2RGyhixQYKaOiG_h_R4-TWIqLQwqimEdHc57wk27vj_R57b8X8rTuNuY2AfFeC5bPsE2GZ5_71kJYae4zRk1Hi4IcEuhTsQK7HeSPbdSetUNMbDiuOhvCc-L481ECmy5yiW8dk1xRWh6HJ53vwT5RVs6d9SvHSGS-jUG1fN_CX0p-X5zLWG2XrWrqeBreJqP_xBMAJUOQEKx_bTemHKeFLYioHMJHmFwuozv3UB5GiDNwfAoeMKxUsSDXl2BrTyI4P8QVGHhgSEINSa61u9bcqAcW-u9E8ihxa0lXWj_sWM3GeCmxSgyvC_QWzuNpkAAIcR2DqQJQXK4', 'current', '1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8.1.d025c85fe22f0ad7c1e31c1ea23a5c74', 'keydir');
INSERT INTO public.vim_generations VALUES ('fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 1, 'https://127.0.0.1:35067', '-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIQAM2/pj8iw9FegGHp6NsbXTAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdmYWtlIENBMB4XDTI2MTEyNTEzNDAyN1oXDTM2MTEyNjEzNDAyN1ow
EjEQMA4GA1UEAxMHZmFrZSBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPve
UhqnGt7/v7M2zOMxcUgVNYA0SWdCawda3NnKLcWzsaAViifHiqttKhOShdE68rsy
XsotbbK+3a8rJyVuHkijQjBAMA4GA1UdDwEB/wQEAwIBhjAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBThjOdn948KBHDLCFlxYHM8+Hzn9jAKBggqhkjOPQQDAgNJ
ADBGAiEAzpU2e6vumZ6PxRAgQjJY3GpSQUvRojvoAtbJixvHPcMCIQCjv8XTN6aV
aVR6CJ9rpAontwuonXOxG6vrJz4AzsZlfg==
-----END CERTIFICATE-----
', false, '', 'default', '{}', '', '', '{"regions":["default","kube-node-lease","kube-public","kube-system"],"mode":"managed","user":"system:serviceaccount:kube-system:fakekube-admin"}', '7af8376c-a6e9-4824-950d-f819e19f104e', '', 'bearerToken', '-infinity', 'gAAAAABrCDbMLmLkd0tLKdIbKVi-06_kRvQ6TpvTVzIExwJdkQJUZD5QVRh_KT970i0STfnSBwsUUkIoBscLeohSixxm-Jsylvvm5iSSBEENizqcW_bIxAmRLrQ_2I2JTXn4mNGvVbeLwPMal4ixr-RFAEgkjoIZQml5JptPiUUoV2-xaKwMaMyrJRcbJCCOrpSaS4Ek0s2VhaT44V0g8sFfIUPY3zjjnD_ENjRpdfj0u3uRU9vcl9bdLE1VDeOE5bCln_SdhSApYN4A8A--hxcfiTjJt1Fx3xqED_96C1qta4-GNBlepGipRnD6JgbOFnnJiv_ZY5Db7IpDc-STRykt2Dqf89Tie6ETIXWbk0TBQi88EL3FWcxKCIPJ6NLwwTTZTKplJ7McH60ILrb2NSivD3WVInikLJI8EoQlrwnGtbzKdzYDJmopzIHD20jWaNeZgmqTGUClEXGcsGjQ-f3sE9ti0llVnyc6fTL2ISEazdPAsv1i_qNzrhuHEkSVcuftaxh_vfeEN4tMjD4bdS6-E5c5nlGXRxle1TjLhufu-VRFj3W-sD8h05dVuikUfE8I__d86tQaJpSmaEfxyC5WyYXHLQMyTQR5UsXLWUsptRzfmA-3qw_Ghk4nKdbIZdeMwiUAHZdgLy7Qqh5mo4Umq2vFr6ui1p-gcq0vz7TWZrddz1nps3RRsfpWI5rDlY8znMLjzpkq2GJSDTOU6AzCeRyruEEnU4ZMsGZ8M4zrZEZn3ATI5N9Zq_m0LR-jOJr6OfbCWL4nseL0XFv4TtdwwEtcocIXNM-wF7VTY-SJu47ine4w_pr3GXuQJmGeFzevfE1rb52Y8ARej4XdtVUrjaas4_V32a8JrHs6BHIFljGJUhlW8MQGSQu3IlbIMW8cda6xi0_E2Wl-ETn4Jpp6qffzU2aXQdrf4Tgsq4ChdvHcdpZ8ws0H3wmexkDJKpYvzgYLd0T5U-x5-iAWFqKkZ7aD9K9UAm4Fvh4Pb3YW-nvfdkuTE9ruqid5YBbix6ZPov_dz4fJqflrB1Wt8z-HkWHTZdQgETPG1EDHagS8_EC3un5vfChNlsU68NLZbjpwBPFEbzCp', 'current', 'fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e.1.b56a64a7683c9c5ab96e55527e6bd874', 'keydir');



INSERT INTO public.vim_labels VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'site', 'north');



INSERT INTO public.vim_shares VALUES ('lab', 'platform', 'edge-2');






INSERT INTO public.vims VALUES ('1b3fad8f-89f2-46ce-baf1-7535dc1ff6c8', 'platform', 'edge-1', 'kubernetes', 'admin', '2026-11-26 13:40:27.944644+00', '', '575e1ffa4a45a583b9bea7a471bb0c9bc30ab654ee73f005a55ae73319f697d2', '', '', false, false, 'registered', '', '2026-11-26 13:40:28.298217+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 13:40:28.338364+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 13:45:01.741702+00');
INSERT INTO public.vims VALUES ('fc65fd65-e0b6-4ef2-bbcb-29ae5febeb3e', 'platform', 'edge-2', 'kubernetes', 'admin', '2026-11-26 13:40:28.234118+00', '', '49071f29a2710b3429b30de9f505e4987fb98ee85b33ccb25a8e053d8b4e9722', 'second', '', false, false, 'registered', '', '2026-11-26 13:40:28.620028+00', 4, 1, 0, '-infinity', DEFAULT, 'reachable', '2026-11-26 13:40:28.246693+00', '', 'v1.36.3', true, '', 'taken', '2026-11-26 13:45:12.445936+00');












INSERT INTO public.vnf_instances VALUES ('4520dca6-c3b5-4876-a56f-90350ed69a8a', 'platform', 'web-1', 'NOT_INSTANTIATED', '2026-11-26 13:40:28.585286+00', 1, '{"id":"4520dca6-c3b5-4876-a56f-90350ed69a8a","project":"platform","name":"web-1","description":"","state":"NOT_INSTANTIATED","createdBy":"admin","createdAt":"2026-11-26T13:40:28.585286Z","shape":{"package":"c4477281-e624-4ce1-8288-e9b6a4fcb1a0","product":{"vnfdId":"web-1.0","provider":"local","name":"web","softwareVersion":"1.0","vnfdVersion":"1.0"}}}', '-infinity', 0, false, '{}');









INSERT INTO public.vnf_package_chunks VALUES ('79a24353-74de-49fa-a607-414d38c5a6d5', 0, '\x504b03041400080008000000000000000000000000000000000019000000544f5343412d4d657461646174612f544f5343412e6d6574614c8dcd4ec4201446f73c052fc0b485162abb5a35b351133b717f2917874c0b0de098bebd19ddccf2fbc939a7f7691cd82b16602f7e41f68929fb18346d0e3519a7e1e3be69c898100a5af6b86b7af5ab49f182893c879276f684ce075f7c0c59d3bb505d83b3871dd68590375851d39b2957976f832960c15cfda0f93f8c31140c859df60d35856d5bfc0c374af5370fcb574cbe9c574da7e3c07827c911f259533e4b63faba07e33ae89d108aab193bd5f15635128553008ecb163bc3ad145ca8ba6ee707a36aa12c9796fc060000ffff504b070888333e32d100000008010000504b03041400080008000000000000000000000000000000000015000000446566696e6974696f6e732f766e66642e79616d6cc4554babdb3c10dde75788bb4fb8f9f8baf1eed25228946e0add0ad91ea543f5421a3bbdffbec8b6123b965237f47176619e67ceb142363482b720d120a13581f7e0035a53b13114503b05fc5568c58ffcbf9db12d707a7510aa1d638cf5a86b6fbf813fc448387cf9f47e0c44b4e0b187964b6ff5d4704a33b28fa9974ce7ad034f98da5e3b84c6a323eb39b6cb50445ca462813c9ad32ad882149da28a9da1de1f0fcfa5c689f183dd9f8e87e7a745d879db630bfed18eca3642dd766cbb86b8111a1eed7a867a110c56d25978f83dfcc93aabece9951368a7044d6b86ae0e84d4456f712d9c43739a497c71539533d24fdd2195e86d3758838d46dd5dbb4e7bcc4a16de641782f726b33bd3d9ca9f59a7b1bcdb32be6173ef645cc06e9db0d294e5742d4cea8dd41c8db46b5611fbeb5d56f1c2dd732989f9b0c84b60f41598160625040a4cf86be519ea9c3aab57a3ed0e6fad761dc16695cac7eadb8e3b6f25aacc7715a1d170d3e91a3cb792a309244c03a162c77cbaf89e4f7f33a43babb059acb88f6bf1e1f515aacc3f15a6137c180bde8122b1f90cd314dec6aa3cdd0d5449f81350a6fd7e71e191d8302a6ce7f5b9110acde925386868601736d31343515ee7dc1e09d614b4677fe0200a7af8259de35042113fa08fb176fb3d865105cee9f5fe2bbcc3282a1f05daea868515b6b3ce0e4958bd3173945f8984f875473230c9c8fe2fa606029775ff2df6d17fb363e15c719ed3b078b17f6696ed8ffc2dc66b96ff8512ee0a97b09026f7273cd04809d3cfdd8f000000ffff504b0708448f5eb03e020000030b0000504b0304140008000800000000000000000000000000000000001900000046696c65732f6b756265726e657465732f7765622e79616d6c7c53d14fdb4e0c7ecf5f61e5c7c36f529302d32474120f15050969044459f7b04dc85c4d726a72773abb2d28eaff3e254db232cafc76b63f7f9fedf37f30810d3dc14576a5c05982f9f41bfc1f6fe829fe3402230cdad96793af028a717604081e99372e2c00ed021098c2da684a23f4664e818db30ad627d1d2d885828b167d833eaa487081822a02b058916a78138f3971d4fb8d5dd04b5a48552a881f0ac360188eea7976f5789dcd1e26d9c5e56336b9b9dca63f6d1c2549729874463a907cc058badcd88825189b4fbb68df9282f8a8be9bcc66df6fefa7ea5c1768734a2adafe93acedff305bc49e74e3612a498b0b0a6af4be8d6d1b6217849b7802f50e5488f851eb5770763c02c19093dc75efb3e3ed3b25e83d8f073953f2a57badc87ed0ffa028902f8d465670b2af2f0200a85074f1159fa8e4bf040b55be44a12e6f8fa1b1f21004a0a76c0c57e22ab7b2d2cd6da275f37a704bb20a9eb164ea32b5b382c652e01e9becb5019d990a73521007ca0d4b784d97679c1a37a6534a8458923681c798dbc2b1a8a37a7e793fbbbecdd4f969fae5f3361e2a61c859c10f4b422fa47f0dfe6147bd887a50b6bf963e4e767d155cb50fe0f63fded3b3eab73c7cc43fb8b52b5715dd34c378cbb643b487328276747728858271ebea0bece0ef46b5bbafbe9aeeaff18d90aeceef000000ffff504b0708cf7055eef50100000b040000504b010214001400080008000000000088333e32d100000008010000190000000000000000000000000000000000544f5343412d4d657461646174612f544f5343412e6d657461504b0102140014000800080000000000448f5eb03e020000030b0000150000000000000000000000000018010000446566696e6974696f6e732f766e66642e79616d6c504b0102140014000800080000000000cf7055eef50100000b04000019000000000000000000000000009903000046696c65732f6b756265726e657465732f7765622e79616d6c504b05060000000003000300d1000000d50500000000');



INSERT INTO public.vnf_package_uses VALUES ('c4477281-e624-4ce1-8288-e9b6a4fcb1a0', '4520dca6-c3b5-4876-a56f-90350ed69a8a');



INSERT INTO public.vnf_packages VALUES ('c4477281-e624-4ce1-8288-e9b6a4fcb1a0', 'platform', 'enabled', 'web-1.0', '79a24353-74de-49fa-a607-414d38c5a6d5', 1724, '2026-11-26 13:40:28.535706+00', '2026-11-26 13:40:28.572267+00', 4, '{"ID":"c4477281-e624-4ce1-8288-e9b6a4fcb1a0","Project":"platform","State":"enabled","UserData":"","VNFDID":"web-1.0","Provider":"local","ProductName":"web","SoftwareVersion":"1.0","VNFDVersion":"1.0","VNFMInfo":["vimbroker"],"Entry":"Definitions/vnfd.yaml","Manifest":"","Signer":"","Wrapped":false,"Artifacts":[{"Path":"Files/kubernetes/web.yaml","ContentType":"application/yaml","Algorithm":"SHA-256","Hash":"2c6bb808abf5a8f33727ce57524716e3f7aaf264e5b2d63237004c9b7037d26d"}],"Warnings":null,"Content":"79a24353-74de-49fa-a607-414d38c5a6d5","Size":1724,"SHA256":"81514fd5536bd0ea7330e0e5f05893bdabd913b6bc266f9e725ba1a463801f69","SHA512":"03c8fd7685e80bd546d2bdf57dc7495381dda9c86637177bd11aa2f97c6633e211ec2995bf4d9dcefeca7c2f939d0cf945a41e1957b948ce0ff4216fbbde6abc","CreatedBy":"admin","CreatedAt":"2026-11-26T13:40:28.535706Z","UpdatedAt":"2026-11-26T13:40:28.572267Z","OnboardedAt":"2026-11-26T13:40:28.572173Z","TouchedAt":"2026-11-26T13:40:28.572267Z","Revision":4,"InUse":false}');






INSERT INTO public.vnf_subscriptions VALUES ('0fd9c290-2a9b-483d-9764-ddd69fc7d54b', 'platform', 'http://127.0.0.1:41361', 'http://127.0.0.1:37071', 'FULL', '{}', '{}', 'b5d70e0e38e04dbbfc4fa821c59f86f96440c09fcc74287879f6779b3f389e2a', 'admin', '2026-11-26 13:40:28.596455+00', 'active', '2026-11-26 13:40:28.599735+00', '', '', '', 0, '-infinity', 0, '-infinity', '', 0, '-infinity', 0);



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



CREATE INDEX asset_by_network ON public.assets USING btree (vim, network);



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





