"""Pods on this machine: what Kubernetes would do with the manifests, as far as podman can, with PostgreSQL beside them.

Each cluster is a network namespace with a bridge, PostgreSQL at the bridge's address, and a namespace for each pod; so
two of them never meet. What is ours here and not podman's is what the kubelet does: environment, volumes, order.
"""
import atexit
import contextlib
import copy
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import yaml

from support import manifests
from support.podman import logs, make_images, podman
from support.programs import output_of

DATABASE = "10.77.0.1"
PATIENCE_S = 30


def wait_until(condition, what, patience_s=PATIENCE_S):
    """Returns what the condition returned when it was true."""
    deadline = time.monotonic() + patience_s
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience_s} s until {what}")
        time.sleep(0.05)
    return result


def ids_in(printed):
    """An application prints errors too."""
    return [int(line) for line in printed.splitlines() if re.fullmatch(r"-?\d+", line)]


class Cluster:
    def __init__(self):
        make_images()
        self.name = f"nid{os.getpid()}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="next-id-k8s."))
        self.folder.chmod(0o755)
        self.pods, self.mounts, self.postgres = [], [], None
        self.addresses = itertools.count(11)
        self.settings = manifests.one(manifests.load("base"), "ConfigMap")["data"] | {"PG_HOST": "db"}
        self.secrets = {}
        atexit.register(self.remove)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.namespaces = []
        self.add_namespace(self.name)
        self.inside("ip", "link", "add", "br0", "type", "bridge")
        self.inside("ip", "addr", "add", f"{DATABASE}/24", "dev", "br0")
        self.inside("ip", "link", "set", "br0", "up")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            for pod in self.pods:
                pod.show_logs()
        self.remove()

    def remove(self):
        for pod in self.pods:
            pod.remove()
        self.pods = []
        self.stop_postgres()
        for mount in self.mounts:
            output_of("umount", mount)
        self.mounts = []
        for name in self.namespaces:
            output_of("ip", "netns", "del", name)
        self.namespaces = []
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- network ---

    def add_namespace(self, name):
        output_of("ip", "netns", "add", name)
        self.namespaces.append(name)
        output_of("ip", "-n", name, "link", "set", "lo", "up")

    def add_pod_namespace(self):
        """Returns its name and its address on the bridge."""
        number = next(self.addresses)
        name, address = f"{self.name}-{number}", f"10.77.0.{number}"
        self.add_namespace(name)
        output_of("ip", "-n", self.name, "link", "add", f"veth{number}", "type", "veth", "peer", "eth0", "netns", name)
        output_of("ip", "-n", self.name, "link", "set", f"veth{number}", "master", "br0", "up")
        output_of("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        output_of("ip", "-n", name, "link", "set", "eth0", "up")
        return name, address

    def inside(self, *command):
        """Runs it in the cluster's network, but outside of any pod."""
        return output_of("ip", "netns", "exec", self.name, *command)

    # --- PostgreSQL: its superuser comes by a Unix socket, everyone else shows a password ---

    def as_postgres(self, program, *arguments):
        bin = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", bin / program, *arguments]

    def start_postgres(self):
        place = self.folder / "postgres"
        if not place.exists():
            place.mkdir()
            shutil.chown(place, "postgres")
            output_of(*self.as_postgres("initdb", "-D", place / "data", "-U", "postgres", "--auth-local=trust",
                                  "--auth-host=scram-sha-256", "--no-locale", "-E", "UTF8", "--no-sync"))
            with open(place / "data/pg_hba.conf", "a") as rules:
                rules.write("host all all 10.77.0.0/24 scram-sha-256\n")
        server = self.as_postgres("postgres", "-D", place / "data", "-c", f"listen_addresses={DATABASE}",
                                  "-c", f"unix_socket_directories={place}", "-c", "log_connections=on")
        with open(self.folder / "postgres.log", "a") as log:
            self.postgres = subprocess.Popen(["ip", "netns", "exec", self.name, *map(str, server)], stdout=log, stderr=log)
        wait_until(self.answers, "PostgreSQL answers")

    def stop_postgres(self):
        if self.postgres:
            self.postgres.send_signal(signal.SIGINT)
            self.postgres.wait()
            self.postgres = None

    def sql(self, text, database="test_db"):
        return output_of("psql", "-h", self.folder / "postgres", "-U", "postgres", "-AtXq", "-v", "ON_ERROR_STOP=1",
                         "-d", database, input=text).strip()

    def answers(self):
        try:
            return self.sql("SELECT true", database="postgres")
        except AssertionError:
            return False

    def set_up_database(self, password="first"):
        """As the owner would: database, sequence, role, and the Secret with the role's password."""
        self.start_postgres()
        self.sql("CREATE DATABASE test_db", database="postgres")
        for script in ("sequence.sql", "role.sql"):
            self.sql((manifests.ROOT / "sql" / script).read_text())
        self.sql(f"ALTER ROLE next_id PASSWORD '{password}'")
        self.write_secret("next-id", password=password)

    # --- what the kubelet does ---

    def write_secret(self, name, **files):
        """A volume of files as the kubelet makes and changes it: a folder is written anew, and a link put over to it."""
        volume = self.folder / f"files-{name}"
        volume.mkdir(exist_ok=True)
        fresh = volume / f"..{uuid.uuid4().hex}"
        fresh.mkdir()
        for file, text in files.items():
            (fresh / file).write_text(text)
            if not (volume / file).is_symlink():
                (volume / file).symlink_to(f"..data/{file}")
        old = (volume / "..data").resolve() if (volume / "..data").is_symlink() else None
        (volume / "..data_tmp").symlink_to(fresh.name)
        (volume / "..data_tmp").rename(volume / "..data")
        if old:
            shutil.rmtree(old)
        self.secrets[name] = files
        return volume

    def host_path_of(self, volume, pod):
        """Where a volume of a pod lies here."""
        if "emptyDir" in volume:
            place = self.folder / f"{pod}-{volume['name']}"
            place.mkdir()
            size = volume["emptyDir"]["sizeLimit"].replace("i", "")
            output_of("mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "none", place)
            self.mounts.append(place)
            return place
        if "secret" in volume:
            return self.folder / f"files-{volume['secret']['secretName']}"
        name = volume["configMap"]["name"]
        scripts = manifests.one(manifests.load("base-sql"), "ConfigMap", name)["data"]
        return self.write_secret(name, **{file: (manifests.ROOT / path).read_text() for file, path in scripts.items()})

    def environment_of(self, container, pod):
        fields = {"metadata.name": pod, "metadata.uid": str(uuid.uuid5(uuid.NAMESPACE_OID, self.name + pod))}
        known = dict(self.settings) if container.get("envFrom") == [{"configMapRef": {"name": "next-id"}}] else {}
        for variable in container.get("env", []):
            source = variable.get("valueFrom", {})
            if "configMapKeyRef" in source:
                key = source["configMapKeyRef"]
                if key.get("optional") and key["key"] not in self.settings:
                    continue
                value = self.settings[key["key"]]
            elif "secretKeyRef" in source:
                value = self.secrets[source["secretKeyRef"]["name"]][source["secretKeyRef"]["key"]]
            elif "fieldRef" in source:
                value = fields[source["fieldRef"]["fieldPath"]]
            else:
                value = re.sub(r"\$\((\w+)\)", lambda used: known[used[1]], variable["value"])
            known[variable["name"]] = value
        return [{"name": name, "value": value} for name, value in known.items()]

    def for_podman(self, container, pod):
        """A container as podman takes it. Ports it maps in networks of its own only, and probes are ours to send."""
        kept = {key: value for key, value in container.items()
                if key not in ("restartPolicy", "startupProbe", "livenessProbe", "ports", "env", "envFrom")}
        hosts = {"name": "hosts", "mountPath": "/etc/hosts", "readOnly": True}
        return kept | {"env": self.environment_of(container, pod), "imagePullPolicy": "Never",
                       "volumeMounts": container.get("volumeMounts", []) + [hosts]}

    def start(self, workload, name, change=lambda spec: None):
        """Makes one pod of a workload, after `change` to its specification, and starts it in Kubernetes' order: init
        containers one after the other, a sidecar being done when it has started, and then all others. (podman knows no
        sidecars: to it they all are containers.)"""
        spec = copy.deepcopy(manifests.pod_template(workload)["spec"])
        change(spec)
        name = f"{self.name}-{name}"
        hosts = self.folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost\n{DATABASE} db\n")
        paths = {volume["name"]: self.host_path_of(volume, name) for volume in spec.get("volumes", [])} | {"hosts": hosts}
        spec["volumes"] = [{"name": volume, "hostPath": {"path": str(path)} | ({"type": "File"} if path == hosts else {})}
                           for volume, path in paths.items()]
        first = spec.pop("initContainers", [])
        then = spec["containers"]
        spec["containers"] = [self.for_podman(container, name) for container in first + then]
        pod = Pod(self, name, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
        self.pods.append(pod)
        pod.make()
        for container in first:
            pod.start(container["name"])
            if container.get("restartPolicy") == "Always":
                path = container["startupProbe"]["httpGet"]["path"]
                wait_until(lambda: pod.probe(path) == 200, f"{container['name']} has started")
            else:
                assert pod.exit_code(container["name"]) == 0, pod.logs(container["name"])
        for container in then:
            pod.start(container["name"])
        return pod


class Pod:
    def __init__(self, cluster, name, manifest):
        self.cluster, self.name, self.manifest = cluster, name, manifest

    def make(self):
        self.namespace, self.address = self.cluster.add_pod_namespace()
        file = self.cluster.folder / f"{self.name}.yaml"
        file.write_text(yaml.safe_dump(self.manifest))
        # Started from inside, its "host's" network is that namespace; podman gives pods no other way into one.
        podman("kube", "play", "--start=false", "--network", "host", file, inside=self.namespace)

    def start(self, name):
        podman("start", self.container(name), inside=self.namespace)

    def remove(self):
        with contextlib.suppress(AssertionError):  # perhaps it was never made
            podman("pod", "kill", self.name)  # rm alone takes its time, even when told to take none
        podman("pod", "rm", "--force", "--ignore", "--time", "0", self.name)

    def container(self, name):
        return f"{self.name}-{name}"

    def inspect(self, name):
        return json.loads(podman("container", "inspect", self.container(name)))[0]

    def pid(self, name="next-id"):
        """0 while it does not run."""
        return self.inspect(name)["State"]["Pid"]

    def restarts(self, name="next-id"):
        return self.inspect(name)["RestartCount"]

    def exit_code(self, name):
        """Once it has ended by itself."""
        wait_until(lambda: self.inspect(name)["State"]["Status"] == "exited", f"{name} ends")
        return self.inspect(name)["State"]["ExitCode"]

    def stop(self, name):
        """Sends it SIGTERM, waits as the kubelet does, and returns its exit code."""
        podman("stop", "--time", "30", self.container(name))
        return self.exit_code(name)

    def exec(self, name, *command):
        return podman("exec", self.container(name), *command, inside=self.namespace)

    def logs(self, name):
        return logs(self.container(name))

    def log_of_sidecar(self):
        return [json.loads(line) for line in self.logs("next-id").splitlines() if line.startswith("{")]

    def show_logs(self):
        for container in self.manifest["spec"]["containers"]:
            with contextlib.suppress(AssertionError):
                print(f"--- {container['name']}\n{self.logs(container['name'])[-3000:]}", file=sys.stderr)

    def ids(self, name):
        """What the application has printed so far."""
        return ids_in(self.logs(name))

    def wait_for_more_ids(self, name, count):
        seen = len(self.ids(name))
        wait_until(lambda: len(self.ids(name)) >= seen + count, f"{name} takes {count} IDs more")

    def stop_and_collect(self, name):
        """All IDs that an application has got, to the last one."""
        self.stop(name)
        return self.ids(name)

    def probe(self, path):
        """Asks as the kubelet does, at the pod's address: the status, 0 when nobody answers."""
        asked = subprocess.run(["ip", "netns", "exec", self.cluster.name, "curl", "--silent", "--max-time", "5",
                                "--output", "/dev/null", "--write-out", "%{http_code}", f"http://{self.address}:9911{path}"],
                               stdout=subprocess.PIPE, text=True)
        return int(asked.stdout)

    def sequence(self):
        """The status of its first sequence."""
        status = self.cluster.inside("curl", "--silent", "--max-time", "5", f"http://{self.address}:9911/status")
        return json.loads(status)["sequences"][0]
