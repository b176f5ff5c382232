-- How many credentials of VIMs are about to expire.
CREATE INDEX vim_generation_by_expiry ON vim_generations (credential_expires_at) WHERE credential_expires_at > '-infinity';
