"""The connection to Neo4j and what is known of the database behind it."""
