-- Where the VNFs of a client go: a JSON array, of which the first that matches counts.

ALTER TABLE oauth_clients ADD COLUMN placements TEXT NOT NULL DEFAULT '[]';
