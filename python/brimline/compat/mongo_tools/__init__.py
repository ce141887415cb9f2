"""What is said to who comes from MongoDB's own tools: their flags, and what each would be here."""
