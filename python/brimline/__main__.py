"""`python -m brimline`."""

from brimline.cli import main

main()
