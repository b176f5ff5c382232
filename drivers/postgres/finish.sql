-- What only earlier versions use. Each statement can be repeated.

DROP INDEX CONCURRENTLY IF EXISTS lease_live;
DROP INDEX CONCURRENTLY IF EXISTS lease_live_by_vim;
DROP INDEX CONCURRENTLY IF EXISTS lease_live_by_principal;
DROP INDEX CONCURRENTLY IF EXISTS lease_live_by_project;
DROP INDEX CONCURRENTLY IF EXISTS lease_live_by_lender;
DROP INDEX CONCURRENTLY IF EXISTS lease_live_by_grant;
DROP INDEX CONCURRENTLY IF EXISTS lease_needs_generation;
DROP INDEX CONCURRENTLY IF EXISTS lease_due;
DROP INDEX CONCURRENTLY IF EXISTS lease_due_by_vim;
-- with the triggers that call them
DROP FUNCTION IF EXISTS count_created_lease, count_moved_lease, count_lease_found_alive, count_grade, count_removed_leases CASCADE;
-- in leases it stands behind what does not change, which each change would log again
ALTER TABLE leases DROP COLUMN IF EXISTS due_at;
DROP TABLE IF EXISTS lease_census, lease_live_counts, lease_grades;
