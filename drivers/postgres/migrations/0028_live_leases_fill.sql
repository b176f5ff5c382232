-- in batches
-- The leases that were live before their changes were followed.

LOCK TABLE leases IN SHARE MODE;
INSERT INTO live_leases (id, created_at, vim, vim_project, project, principal, vim_generation, grant_digest, epoch, grade, state)
SELECT id, created_at, vim, vim_project, project, principal, vim_generation, grant_digest, epoch, grade, state
FROM leases AS l WHERE state <> 'revoked' AND NOT EXISTS (SELECT FROM live_leases AS n WHERE n.id = l.id) LIMIT 10000;
