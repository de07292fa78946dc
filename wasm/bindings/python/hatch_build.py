"""Gives a wheel with native code the tag that package.sh has for its platform."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version, build_data):
        if tag := os.environ.get("ADDRSPEC_TAG"):
            build_data.update(tag=tag, pure_python=False)
