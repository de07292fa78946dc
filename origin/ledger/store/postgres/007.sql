-- Test keys, whose requests are not charged and get the responses of a fixed table.

ALTER TABLE keys ADD COLUMN test BOOLEAN NOT NULL DEFAULT false; -- set when the key is created, never changed
