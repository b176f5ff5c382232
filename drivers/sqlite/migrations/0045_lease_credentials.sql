-- Nothing to do: one process writes this store, and its log is not the bound.

SELECT 1;
