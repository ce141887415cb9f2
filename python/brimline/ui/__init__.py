"""Owns the local web page over a directory of records: what is there, what is running, and starting and stopping it.

It reads records as every other part does, and starts the command line as processes. It measures nothing itself, so that
a run that is started here is the run that is started in a shell. Starlette and uvicorn are imported by `serve` alone.
"""
