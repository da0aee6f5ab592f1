"""The schema of a database: what there is to search and to walk."""
