"""GraphRAG retrievers on Neo4j as MCP tools."""
