"""Waiting threads sleep: asked for before torch is there to read it, and never against a reader."""

import subprocess
import sys

from tests.browser import ROOT

ASK = "import os, specdec, sys; print(os.environ['GOMP_SPINCOUNT'], 'torch' in sys.modules)"


def said(**environment):
    result = subprocess.run(
        [sys.executable, "-c", ASK],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=ROOT,
    )
    return result.stdout.split()


def test_threads_soon_sleep_and_torch_is_not_loaded_yet():
    assert said() == ["1000", "False"]


def test_a_readers_own_setting_stays():
    assert said(GOMP_SPINCOUNT="7")[0] == "7"
