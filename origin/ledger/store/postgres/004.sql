-- A process's transactions that are committed together are a commit group.
ALTER TABLE writers RENAME COLUMN batch TO commit_group;
