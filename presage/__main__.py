"""`python -m presage`, for where the command is not on the path."""

import sys

from presage.cli import main

sys.exit(main())
