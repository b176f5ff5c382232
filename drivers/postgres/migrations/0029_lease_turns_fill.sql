-- in batches
-- The leases that there was work for before their changes were followed.

LOCK TABLE leases IN SHARE MODE;
INSERT INTO lease_turns (due_at, vim, id, vim_project, vim_generation)
SELECT due_at, vim, id, vim_project, vim_generation
FROM leases AS l WHERE due_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM lease_turns AS n WHERE n.id = l.id) LIMIT 10000;
