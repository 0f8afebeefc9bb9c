"""Running programs."""
import subprocess


def output_of(*command, **options):
    """What it wrote to standard output, once it has ended well; otherwise an error with all that it wrote."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 120} | options
    done = subprocess.run([str(each) for each in command], **options)
    if done.returncode != 0:
        printed = "".join(filter(None, [done.stdout, done.stderr]))
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}: {printed}")
    return done.stdout
