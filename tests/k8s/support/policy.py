"""What a pod must keep to, beyond having known fields. Each problem is a sentence; no problem, no sentence."""
import re

ALLOWED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected",
                   "secret"}
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?")
UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def bytes_of(quantity):
    return int(quantity[:-2]) * UNITS[quantity[-2:]]


def containers_of(spec):
    return spec.get("initContainers", []) + spec["containers"]


def problems_of(spec):
    """Of any pod: the restricted pod security standard, and references that lead nowhere."""
    names = [each["name"] for each in containers_of(spec)]
    volumes = {each["name"]: each for each in spec.get("volumes", [])}
    if len(set(names)) < len(names):
        yield "two containers have one name"
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field):
            yield f"{field} is on"
    for name, volume in volumes.items():
        if set(volume) - {"name"} - ALLOWED_VOLUMES or len(volume) != 2:
            yield f"volume {name} is of a kind that is not allowed: {sorted(volume)}"
        if not any(mount["name"] == name for each in containers_of(spec) for mount in each.get("volumeMounts", [])):
            yield f"volume {name} is mounted nowhere"
    ports = [port for each in containers_of(spec) for port in each.get("ports", [])]
    for key in ("name", "containerPort"):
        if len({port[key] for port in ports}) < len(ports):
            yield f"two ports have one {key}"
    for container in containers_of(spec):
        for problem in problems_of_container(container, volumes):
            yield f"{container['name']}: {problem}"


def problems_of_container(container, volumes):
    if not LABEL.fullmatch(container["name"]):
        yield "its name is not allowed"
    if ":" not in container.get("image", "").split("/")[-1] or container["image"].endswith(":latest"):
        yield "its image has no version"
    context = container.get("securityContext", {})
    for field, wanted in {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                          "seccompProfile": {"type": "RuntimeDefault"}}.items():
        if context.get(field) != wanted:
            yield f"{field} is not {wanted}"
    if context.get("privileged") or not isinstance(context.get("runAsUser"), int) or context["runAsUser"] == 0:
        yield "it does not run as a user by number, other than root"
    resources = container.get("resources", {})
    if set(resources.get("requests", {})) != {"cpu", "memory"}:
        yield "it does not request CPU and memory"
    if set(resources.get("limits", {})) != {"memory"}:
        yield "it limits something else than memory"
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            yield f"there is no volume {mount['name']}"
    ports = {port["name"]: port["containerPort"] for port in container.get("ports", [])}
    for name in ports:
        if not PORT_NAME.fullmatch(name):
            yield f"port {name}: its name is not allowed"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        port = container.get(probe, {}).get("httpGet", {}).get("port")
        if port is not None and port not in ports and port not in ports.values():
            yield f"{probe}: there is no port {port}"
    defined = set()
    for variable in container.get("env", []):
        if variable["name"] in defined:
            yield f"{variable['name']} is set twice"
        for used in re.findall(r"\$\((\w+)\)", variable.get("value", "")):
            if used not in defined:
                yield f"{variable['name']} uses {used}, which is not set before it"
        defined.add(variable["name"])


def problems_of_sidecar(spec, native):
    """Of a pod that next-id was added to."""
    place = spec.get("initContainers" if native else "containers", [{}])
    sidecar = place[0]
    if sidecar.get("name") != "next-id":
        yield "next-id is not the first to start"
        return
    if (sidecar.get("restartPolicy") == "Always") != native:
        yield "restartPolicy: Always makes a sidecar of an init container, and only there it is allowed"
    if "preStop" in sidecar.get("lifecycle", {}):
        yield "a preStop would end it while the application still runs"
    if "readinessProbe" in sidecar:
        yield "a readinessProbe takes all pods out of their Service when PostgreSQL is away"
    for probe, path in {"startupProbe": "/startupz", "livenessProbe": "/livez"}.items():
        if sidecar.get(probe, {}).get("httpGet", {}).get("path") != path:
            yield f"{probe} does not ask {path}"
    if not sidecar["securityContext"].get("readOnlyRootFilesystem"):
        yield "its root can be written"
    socket, = [mount for mount in sidecar["volumeMounts"] if mount["name"] == "next-id-socket"]
    in_memory = 0
    for volume in spec["volumes"]:
        if volume["name"] not in ("next-id-socket", "next-id-state", "next-id-window"):
            continue
        directory = volume["emptyDir"]
        if directory.get("medium") != "Memory" or "sizeLimit" not in directory:
            yield f"volume {volume['name']} is not in memory, or has no limit"
            continue
        in_memory += bytes_of(directory["sizeLimit"])
    if 2 * in_memory > bytes_of(sidecar["resources"].get("limits", {}).get("memory", "0Mi")):
        yield "its volumes can fill more than half of its memory"
    for other in containers_of(spec):
        if other["name"] == "next-id":
            continue
        for mount in other.get("volumeMounts", []):
            if mount["name"] in ("next-id-state", "next-id-secret"):
                yield f"{other['name']} has {mount['name']}, which is the sidecar's own"
            if mount["name"] == "next-id-socket" and mount != socket | {"readOnly": True}:
                yield f"{other['name']} can write where the socket is, or has it elsewhere"
    application = spec["containers"][0 if native else 1]
    if not any(mount["name"] == "next-id-socket" for mount in application.get("volumeMounts", [])):
        yield "the first container has no socket"
