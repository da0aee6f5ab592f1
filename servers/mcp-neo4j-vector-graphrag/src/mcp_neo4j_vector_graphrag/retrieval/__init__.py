"""Search: statements, retrievers and the text of their results. A library that needs no MCP framework."""
