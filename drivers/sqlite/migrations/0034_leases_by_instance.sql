-- The leases of a VNF instance.
CREATE INDEX lease_by_instance ON leases (instance, created_at, id) WHERE instance <> '';
