-- How often in a row a subscriber has refused the notification that is to be sent first.

ALTER TABLE vnf_subscriptions ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;
