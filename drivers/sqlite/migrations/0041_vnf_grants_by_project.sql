-- The grants of a project, the newest first: their ids begin with the time.
CREATE INDEX vnf_grant_by_project ON vnf_grants (json_extract(document, '$.Project'), id);
