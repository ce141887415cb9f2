"""An order service as there are many: orders are made and read over HTTP, and kept in one of three databases."""
