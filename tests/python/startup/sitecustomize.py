"""Reads the package's .pth file where it is not installed: Python reads such files of site-packages only."""

import os
import site

site.addsitedir(os.environ["TEST_PACKAGE_PARENT"])
