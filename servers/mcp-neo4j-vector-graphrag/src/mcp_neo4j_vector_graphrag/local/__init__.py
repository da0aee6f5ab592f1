"""A Neo4j of your own and the demo graph: what the `demo` extra is for."""
