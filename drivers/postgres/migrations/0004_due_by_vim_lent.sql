-- Finding the leases that are due on one VIM, and those that a project's VIMs were
-- lent to other projects for, in place of all that are on its VIMs.

CREATE INDEX lease_due_by_vim ON leases (vim, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX lease_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project;
CREATE INDEX lease_live_by_lender ON leases (vim_project, created_at, id) WHERE project <> vim_project AND state <> 'revoked';
DROP INDEX lease_by_vim_project;
