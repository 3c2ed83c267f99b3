"""`python -m nnd` is the `nnd` command."""

from near_negative import main

main()
