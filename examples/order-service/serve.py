"""Starts the order service: `python serve.py --database-file FILE --workers 2`."""

import argparse
import os
import tempfile
from pathlib import Path

import uvicorn
from order_service.app import Settings


def main() -> None:
    """Serves until it is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--database-file",
        metavar="FILE",
        required=True,
        help="holds the address: mongodb://, mariadb:// or postgresql://, password and all",
    )
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--pool", type=int, default=32, help="connections of each worker to the database (default: 32)")
    parser.add_argument("--id-generator", choices=["snowflake", "field-report"], default="snowflake")
    parser.add_argument("--directory", help="where worker numbers are kept; the same for all that share a database")
    told = parser.parse_args()
    directory = told.directory or str(Path(tempfile.gettempdir()) / f"order-service-{os.getuid()}")
    Settings(
        database_file=told.database_file,
        directory=directory,
        id_generator=told.id_generator,
        pool=told.pool,
    ).to_environment()
    uvicorn.run(
        "order_service.app:create_app",
        factory=True,
        host="127.0.0.1",
        port=told.port,
        workers=told.workers,
        access_log=False,
        log_level="warning",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
        timeout_worker_healthcheck=60,  # a busy machine is no reason to start a worker anew
        backlog=4096,
    )


if __name__ == "__main__":
    main()
