-- What lists are asked for by: what was denied or failed, of all, of a project or of an action; grants of a VIM or in a
-- state; clients and VNF instances by their name.
CREATE INDEX audit_by_outcome ON audit_entries (outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_project_outcome ON audit_entries (project, outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_action_outcome ON audit_entries (action, outcome) WHERE outcome IN ('denied', 'failed');
CREATE INDEX audit_by_owner_outcome ON audit_entries ((COALESCE(detail->>'vimProject', detail->>'resourceProject')), outcome)
    WHERE outcome IN ('denied', 'failed') AND COALESCE(detail->>'vimProject', detail->>'resourceProject') <> project;
CREATE INDEX vnf_grant_by_vim ON vnf_grants (json_extract(document, '$.VIM'), id);
CREATE INDEX vnf_grant_by_vim_name ON vnf_grants (json_extract(document, '$.VIMName'), id);
CREATE INDEX vnf_grant_by_state ON vnf_grants (state, id);
CREATE INDEX vnf_grant_by_project_state ON vnf_grants (json_extract(document, '$.Project'), state, id);
CREATE INDEX client_by_name ON oauth_clients (name, project);
CREATE INDEX vnf_instance_by_name ON vnf_instances (name, created_at DESC, id DESC);
