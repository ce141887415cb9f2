"""Owns what speaks the languages of other tools, their files and their output; one package for each."""
