-- Whether a renewal of a lease was begun. Of those that are there it is not known.

ALTER TABLE leases ADD COLUMN renewal_begun boolean NOT NULL DEFAULT true;
