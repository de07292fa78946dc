-- The number of the process's last commit group.
ALTER TABLE writers RENAME COLUMN batch TO commit_group;
