#!/usr/bin/python3
"""Renders the kustomizations anew, for the tests, after a change in k8s/. It needs kubectl."""
import shutil
import sys

from support import manifests

if not shutil.which("kubectl"):
    sys.exit("kubectl is missing, which renders the manifests")
shutil.rmtree(manifests.RENDERED, ignore_errors=True)
manifests.RENDERED.mkdir()
for name, text in manifests.render_all().items():
    (manifests.RENDERED / f"{name}.yaml").write_text(text)
manifests.DIGEST.write_text(manifests.digest_of_sources() + "\n")
