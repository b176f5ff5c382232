-- Finding the shared VIM of a name where very many projects have one of that name.

CREATE INDEX vim_shared_by_name ON vims (name, project) WHERE shared = 1;
