-- A registration looks for other VIMs that are the same system.
CREATE INDEX vim_generation_by_identity ON vim_generations (identity, vim);
