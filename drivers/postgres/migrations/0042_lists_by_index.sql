-- concurrently
-- What lists are asked for by: VIMs of a type; clusters of a project, or of a name; packages of a VNFD; grants of an
-- operation, an instance or a lease.
CREATE INDEX CONCURRENTLY vim_by_type ON vims (type, project, name);
CREATE INDEX CONCURRENTLY cluster_by_project ON clusters (project, management, namespace, name, uid);
CREATE INDEX CONCURRENTLY cluster_by_name ON clusters (name, namespace, management, uid);
CREATE INDEX CONCURRENTLY package_by_vnfd ON vnf_packages (vnfd, created_at, id);
CREATE INDEX CONCURRENTLY vnf_grant_by_operation ON vnf_grants (operation, id);
CREATE INDEX CONCURRENTLY vnf_grant_by_instance ON vnf_grants (instance, id);
CREATE INDEX CONCURRENTLY vnf_grant_by_lease ON vnf_grants (lease, id);
