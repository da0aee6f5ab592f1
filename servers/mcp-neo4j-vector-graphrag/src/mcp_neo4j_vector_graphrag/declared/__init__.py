"""The file of retrievers: read and checked as a whole, its typed parameters, its schema for editors. No framework."""
