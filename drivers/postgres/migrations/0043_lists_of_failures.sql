-- concurrently
-- What lists are asked for by: what was denied or failed, of all, of a project or of an action; grants of a VIM or in a
-- state; clients and VNF instances by their name. A lease whose life is without failure enters none of them.
CREATE INDEX CONCURRENTLY audit_by_outcome ON audit_entries (outcome, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX CONCURRENTLY audit_by_project_outcome ON audit_entries (project, outcome, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX CONCURRENTLY audit_by_action_outcome ON audit_entries (action, outcome, seq) WHERE outcome IN ('denied', 'failed');
CREATE INDEX CONCURRENTLY audit_by_owner_outcome ON audit_entries ((COALESCE(detail->>'vimProject', detail->>'resourceProject')), outcome, seq)
    WHERE outcome IN ('denied', 'failed') AND COALESCE(detail->>'vimProject', detail->>'resourceProject') <> project;
CREATE INDEX CONCURRENTLY vnf_grant_by_vim ON vnf_grants ((document::jsonb ->> 'VIM'), id);
CREATE INDEX CONCURRENTLY vnf_grant_by_vim_name ON vnf_grants ((document::jsonb ->> 'VIMName'), id);
CREATE INDEX CONCURRENTLY vnf_grant_by_state ON vnf_grants (state, id);
CREATE INDEX CONCURRENTLY vnf_grant_by_project_state ON vnf_grants ((document::jsonb ->> 'Project'), state, id);
CREATE INDEX CONCURRENTLY client_by_name ON oauth_clients (name, project);
CREATE INDEX CONCURRENTLY vnf_instance_by_name ON vnf_instances (name, created_at DESC, id DESC);
