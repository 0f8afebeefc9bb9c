#!/usr/bin/python3
"""Pods keep to the restricted pod security standard and to what the sidecar needs; names and numbers agree."""
import copy
import re
import unittest

from support import manifests, policy

WITH_SIDECAR = ["deployment", "job", "cronjob", "cloudnative-pg", "network-policy", "kinds"]


def pods(name):
    for each in manifests.load(name):
        template = manifests.pod_template(each)
        if template:
            yield each, template["spec"]


def declines(workload):
    return workload["metadata"].get("labels", {}).get("next-id/sidecar") == "none"


def names(things):
    return [each["name"] for each in things]


def sidecar(name):
    _, spec = next(pods(name))
    return policy.containers_of(spec)[0]


def settings_table():
    text = (manifests.ROOT / "README.md").read_text()
    table = text[text.index("<!-- settings -->"):text.index("<!-- /settings -->")]
    return set(re.findall(r"^\| [^|]*\| `(\w+)` \|", table, re.M))


class Policy(unittest.TestCase):
    maxDiff = None

    def test_every_pod_keeps_to_it(self):
        for name in manifests.KUSTOMIZATIONS:
            for workload, spec in pods(name):
                with self.subTest(f"{name}: {workload['kind']} {workload['metadata']['name']}"):
                    self.assertEqual(list(policy.problems_of(spec)), [])

    def test_every_kind_gets_the_sidecar_but_who_declines(self):
        with_it = {workload["kind"] + (" without" if declines(workload) else "") for workload, spec in pods("kinds")
                   if "next-id" in names(policy.containers_of(spec))}
        self.assertEqual(with_it, {"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"})
        self.assertTrue(any(declines(workload) for workload, _ in pods("kinds")))

    def test_applications_with_it_can_be_put_together(self):
        with_it = [workload["kind"] for workload, spec in pods("together") if "next-id" in names(policy.containers_of(spec))]
        self.assertEqual(sorted(with_it), ["CronJob", "Deployment"])

    def test_where_the_sidecar_was_added_it_is_as_it_has_to_be(self):
        for name in WITH_SIDECAR + ["plain-container"]:
            for workload, spec in pods(name):
                if declines(workload):
                    continue
                with self.subTest(f"{name}: {workload['kind']}"):
                    self.assertEqual(list(policy.problems_of_sidecar(spec, native=name != "plain-container")), [])

    def test_the_window_is_shared_where_it_is_asked_for_and_in_a_volume_of_its_own(self):
        for workload, spec in pods("shared"):
            if declines(workload):
                continue
            with self.subTest(workload["kind"]):
                self.assertEqual(list(policy.problems_of_sidecar(spec, native=True)), [])
                mount = {"name": "next-id-window", "mountPath": "/run/next-id-window"}
                for container in (spec["initContainers"][0], spec["containers"][0]):
                    self.assertIn(mount, container["volumeMounts"])
                variables = {each["name"] for each in spec["initContainers"][0]["env"]}
                self.assertIn("NEXT_ID_WINDOW_SHARE", variables)
                self.assertEqual({each for each in variables if each.startswith("NEXT_ID_")} - settings_table(), set())

    def test_what_was_there_stays(self):
        pod_of = {workload["kind"]: spec for workload, spec in pods("kinds") if not declines(workload)}
        self.assertEqual(names(pod_of["Deployment"]["initContainers"]), ["next-id", "migrate"])
        self.assertEqual(names(pod_of["Deployment"]["containers"]), ["orders", "helper"])
        self.assertEqual(names(pod_of["StatefulSet"]["containers"][0]["volumeMounts"]), ["data", "next-id-socket"])
        self.assertIn("data", names(pod_of["StatefulSet"]["volumes"]))

    def test_what_the_user_changes_is_changed(self):
        of = {workload["kind"]: spec["initContainers"][0] for workload, spec in pods("kinds") if not declines(workload)}
        self.assertEqual({each["image"] for each in of.values()}, {"registry.example/next-id:7.8.9"})
        self.assertEqual(of["Deployment"]["resources"]["limits"]["memory"], "256Mi")
        self.assertIn({"name": "NEXT_ID_HTTP", "value": "none"}, of["Deployment"]["env"])
        # A generated ConfigMap has a hash in its name, so that a change of it starts the pods anew.
        generated = manifests.one(manifests.load("kinds"), "ConfigMap")["metadata"]["name"]
        self.assertRegex(generated, "^my-next-id-.*")
        self.assertEqual({each["envFrom"][0]["configMapRef"]["name"] for each in of.values()}, {generated})

    def test_every_variable_is_a_setting_and_every_way_to_postgresql_is_said(self):
        known = settings_table() | {"POD_NAME", "POD_UID", "PGAPPNAME"}
        variables = {each["name"]: each for each in sidecar("deployment")["env"]}
        self.assertEqual(set(variables) - known, set())
        # A password by two ways is refused, and a conninfo string would go before all the others.
        ways = {name for name in known if name.startswith("PG_")}
        self.assertEqual(ways - set(variables), {"PG_PASSWORD", "PG_CONNINFO"})
        base = manifests.one(manifests.load("base"), "ConfigMap")["data"]
        self.assertEqual(set(base) - known, set())
        for name, variable in variables.items():
            if "configMapKeyRef" in variable.get("valueFrom", {}):
                self.assertEqual(variable["valueFrom"]["configMapKeyRef"], {"name": "next-id", "key": name})
                self.assertIn(name, base)
        settings = (manifests.ROOT / "k8s/base/settings.env").read_text()
        suggested = set(re.findall(r"^#(NEXT_ID_\w+)=", settings, re.M))
        self.assertTrue(suggested)
        self.assertEqual(suggested - known | suggested & set(variables), set())

    def test_there_is_one_version(self):
        version = re.search(r"project\(next-id VERSION (\S+)", (manifests.ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(sidecar("deployment")["image"], f"next-id:{version}")
        self.assertIn(f"\nARG VERSION={version}\n", (manifests.ROOT / "k8s/Dockerfile").read_text())

    def test_links_and_paths_of_the_readme_lead_somewhere(self):
        folder = manifests.ROOT / "k8s"
        text = (folder / "README.md").read_text()
        links = [link.split("#")[0] for link in re.findall(r"\]\((?!http)([^)#]+)", text)]
        self.assertGreater(len(links), 10)
        for link in links:
            self.assertTrue((folder / link).exists(), link)
        for path in re.findall(r"next-id/(k8s/[\w/.-]+)", text):
            self.assertTrue((manifests.ROOT / path).exists() or path in manifests.SECRETS, path)

    def test_each_rule_finds_who_breaks_it(self):
        _, good = next(pods("deployment"))

        def broken(change):
            spec = copy.deepcopy(good)
            change(spec, spec["initContainers"][0], spec["containers"][0])
            return list(policy.problems_of(spec)) + list(policy.problems_of_sidecar(spec, native=True))

        self.assertEqual(broken(lambda pod, sidecar, app: None), [])
        changes = [
            lambda pod, sidecar, app: pod.update(hostNetwork=True),
            lambda pod, sidecar, app: pod["volumes"].append({"name": "etc", "hostPath": {"path": "/etc"}}),
            lambda pod, sidecar, app: pod["volumes"][0].update(name="other"),
            lambda pod, sidecar, app: pod["volumes"][1]["emptyDir"].pop("medium"),
            lambda pod, sidecar, app: pod["volumes"][1]["emptyDir"].pop("sizeLimit"),
            lambda pod, sidecar, app: pod["volumes"][1]["emptyDir"].update(sizeLimit="64Mi"),
            lambda pod, sidecar, app: pod["initContainers"].insert(0, app),
            lambda pod, sidecar, app: app.update(name="next-id"),
            lambda pod, sidecar, app: app.update(ports=[{"name": "next-id-admin", "containerPort": 1}]),
            lambda pod, sidecar, app: app.update(ports=[{"name": "web", "containerPort": 9911}]),
            lambda pod, sidecar, app: app["volumeMounts"][0].pop("readOnly"),
            lambda pod, sidecar, app: app["volumeMounts"].append({"name": "next-id-state", "mountPath": "/s"}),
            lambda pod, sidecar, app: app.pop("volumeMounts"),
            lambda pod, sidecar, app: sidecar.pop("restartPolicy"),
            lambda pod, sidecar, app: sidecar.update(lifecycle={"preStop": {"exec": {"command": ["true"]}}}),
            lambda pod, sidecar, app: sidecar.update(readinessProbe={}),
            lambda pod, sidecar, app: sidecar.update(image="next-id"),
            lambda pod, sidecar, app: sidecar["ports"][0].update(name="next-id-operators"),
            lambda pod, sidecar, app: sidecar["livenessProbe"]["httpGet"].update(path="/readyz"),
            lambda pod, sidecar, app: sidecar["livenessProbe"]["httpGet"].update(port="admin"),
            lambda pod, sidecar, app: sidecar["env"].insert(0, {"name": "X", "value": "$(POD_NAME)"}),
            lambda pod, sidecar, app: sidecar["env"].append({"name": "PG_HOST", "value": "x"}),
            lambda pod, sidecar, app: sidecar["resources"].pop("limits"),
            lambda pod, sidecar, app: sidecar["resources"]["limits"].update(cpu="1"),
            lambda pod, sidecar, app: sidecar["resources"].pop("requests"),
            lambda pod, sidecar, app: sidecar["securityContext"].update(runAsUser=0),
            lambda pod, sidecar, app: sidecar["securityContext"].pop("runAsNonRoot"),
            lambda pod, sidecar, app: sidecar["securityContext"].pop("capabilities"),
            lambda pod, sidecar, app: sidecar["securityContext"].pop("seccompProfile"),
            lambda pod, sidecar, app: sidecar["securityContext"].pop("readOnlyRootFilesystem"),
            lambda pod, sidecar, app: sidecar["securityContext"].update(allowPrivilegeEscalation=True),
        ]
        for i, change in enumerate(changes):
            with self.subTest(change=i):
                self.assertNotEqual(broken(change), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
