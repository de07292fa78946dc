-- Test keys, whose requests are not charged and get the responses of a fixed table.

ALTER TABLE keys ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)); -- set when the key is created, never changed
