"""Blocks of a document that show what to type and what is then printed:

    ```console
    $ curl http://127.0.0.1:8080/next-id
    {"code":0,"msg":"success","data":{"id":1}}
    ```

A comment before such a block, <!-- sidecar: NAME -->, says which of support.sidecars is asked; it is "plain" without one. In what
is printed, "..." stands for anything.
"""
import os
import re
import subprocess

# What a sidecar of a test has elsewhere.
SHOWN_HTTP, SHOWN_SOCKET = "127.0.0.1:8080", "/run/next-id/next-id.sock"
BLOCK = re.compile(r"(?:<!-- sidecar: (?P<sidecar>[a-z ]+) -->\n)?```console\n(?P<lines>.*?)```\n", re.S)


def examples(text):
    """Sidecar, command, and what it prints, in the order of the document."""
    for block in BLOCK.finditer(text):
        for example in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block["lines"], re.M):
            yield block["sidecar"] or "plain", example[0].strip(), example[1].strip()


def run(command, sidecar):
    """What it prints, with the addresses that the document has."""
    http, path = sidecar.address("http"), str(sidecar.socket)
    done = subprocess.run(["bash", "-c", command.replace(SHOWN_HTTP, http).replace(SHOWN_SOCKET, path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "CURL_HOME": os.path.dirname(__file__), "FAKETTY": "redis-cli looks for this"})
    # Of what curl -v says, the request and the answer.
    lines = [line.rstrip() for line in done.stdout.splitlines() if not re.match(r"\*|\{ \[", line)]
    return "\n".join(lines).strip().replace(http, SHOWN_HTTP).replace(path, SHOWN_SOCKET)


def agrees(shown, printed):
    """Versions and times may differ."""
    for varies in (r"(?<=User-Agent: curl/)[0-9.]+", r"(?<=Retry-After: )\d+"):
        shown = re.sub(varies, "...", shown)
    return re.fullmatch(re.escape(shown).replace(re.escape("..."), ".*"), printed) is not None
