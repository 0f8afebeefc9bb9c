"""What the tests make of the application's container in k8s/examples/deployment."""
from support import manifests

TAKE = ("curl --silent --show-error --fail-with-body --max-time 10 --unix-socket /run/next-id/next-id.sock "
        "\"http://localhost/next-id?format=text&count={count}\"")


IDLE = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"


def deployment():
    return manifests.one(manifests.load("deployment"), "Deployment")


def run_in_application(script):
    """A change for Cluster.start(): the application runs this instead."""
    def change(spec):
        spec["containers"][0]["args"] = [script]
    return change


def takes_as_fast_as_it_can(count):
    """It prints what it gets, goes on when it gets nothing, and finishes its request when it is told to stop."""
    return run_in_application(f"""
        stop=
        trap 'stop=yes' TERM
        while [ -z "$stop" ]; do {TAKE.format(count=count)} || sleep 0.05; done""")
