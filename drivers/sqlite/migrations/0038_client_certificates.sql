-- The certificate that a client logs in with: kind and name as a JSON object, '{}' where it has a secret.

ALTER TABLE oauth_clients ADD COLUMN certificate TEXT NOT NULL DEFAULT '{}';
