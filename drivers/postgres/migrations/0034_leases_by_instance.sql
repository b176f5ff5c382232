-- concurrently
-- The leases of a VNF instance.
CREATE INDEX CONCURRENTLY lease_by_instance ON leases (instance, created_at, id) WHERE instance <> '';
