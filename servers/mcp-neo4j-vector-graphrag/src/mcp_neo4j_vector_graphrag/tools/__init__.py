"""MCP tools: one module per family."""
