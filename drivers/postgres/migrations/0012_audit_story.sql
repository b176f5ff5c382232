-- What audit entries are looked for by. Entries of older versions say in other places
-- which VIM, lease and project they are about.

CREATE INDEX audit_by_vim ON audit_entries ((COALESCE(detail->>'vim', CASE kind WHEN 'VIM' THEN resource END)), seq)
    WHERE COALESCE(detail->>'vim', CASE kind WHEN 'VIM' THEN resource END) IS NOT NULL;
CREATE INDEX audit_by_vim_name ON audit_entries ((detail->>'vimName'), seq) WHERE detail->>'vimName' IS NOT NULL;
CREATE INDEX audit_by_lease ON audit_entries ((COALESCE(detail->>'lease', CASE kind WHEN 'Lease' THEN resource END)), seq)
    WHERE COALESCE(detail->>'lease', CASE kind WHEN 'Lease' THEN resource END) IS NOT NULL;
CREATE INDEX audit_by_credential ON audit_entries ((detail->>'credential-id'), seq) WHERE detail->>'credential-id' IS NOT NULL;
-- what others did on the VIMs of a project
CREATE INDEX audit_by_owner ON audit_entries ((COALESCE(detail->>'vimProject', detail->>'resourceProject')), seq)
    WHERE COALESCE(detail->>'vimProject', detail->>'resourceProject') <> project;
