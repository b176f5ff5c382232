-- concurrently
-- The grants of a project, the newest first: their ids begin with the time.
CREATE INDEX CONCURRENTLY vnf_grant_by_project ON vnf_grants ((document::jsonb ->> 'Project'), id);
