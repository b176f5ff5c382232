-- concurrently
-- Without the id: few leases are of the same microsecond. And without the digest of a grant: its epoch is drawn by lot.
CREATE INDEX CONCURRENTLY lease_by_time ON leases (created_at);
CREATE INDEX CONCURRENTLY lease_on_vim ON leases (vim, created_at);
CREATE INDEX CONCURRENTLY lease_of_principal ON leases (principal, created_at);
CREATE INDEX CONCURRENTLY lease_of_project ON leases (project, created_at);
CREATE INDEX CONCURRENTLY live_lease_by_epoch ON live_leases (vim, epoch, vim_generation);
DROP INDEX CONCURRENTLY IF EXISTS lease_newest;
DROP INDEX CONCURRENTLY IF EXISTS lease_by_vim;
DROP INDEX CONCURRENTLY IF EXISTS lease_by_principal;
DROP INDEX CONCURRENTLY IF EXISTS lease_by_project;
DROP INDEX CONCURRENTLY IF EXISTS live_lease_by_grant;
