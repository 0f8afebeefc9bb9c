#!/usr/bin/python3
"""k8s/monitoring holds together: promtool accepts it, alerts fire when they should, and each has its place in the runbook."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONITORING = ROOT / "k8s/monitoring"
ALERTS = [rule for group in yaml.safe_load((MONITORING / "rules.yml").read_text())["groups"] for rule in group["rules"]]
TESTS = yaml.safe_load((ROOT / "tests/monitoring/alerts_test.yml").read_text())
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
BUILD = pathlib.Path(os.environ.get("NEXT_ID_BUILD_DIR", ROOT / "build/dev"))
OPERATOR = "@kubernetes-models/prometheus-operator@5.0.1"
NAMES = [alert["alert"] for alert in ALERTS]


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def dashboard_expressions():
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]


def filled_in(expression):
    """As Grafana sends it."""
    return re.sub(r"\$(namespace|pod|sequence)\b", ".*", expression.replace("$__rate_interval", "1m"))


def documented_metrics():
    return set(re.findall(r"^\| `(\w+)` \|", (ROOT / "sidecar/metrics/README.md").read_text(), re.MULTILINE))


class Alerts(unittest.TestCase):
    def test_promtool_accepts_the_rules(self):
        self.assertEqual(promtool("check", "rules", MONITORING / "rules.yml")[0], 0)

    def test_each_fires_when_it_should_and_only_then(self):
        code, output = promtool("test", "rules", ROOT / "tests/monitoring/alerts_test.yml")
        self.assertEqual(code, 0, output)

    def test_each_is_seen_firing_and_silent(self):
        self.assertEqual([test["name"] for test in TESTS["tests"]], NAMES)
        for test in TESTS["tests"]:
            with self.subTest(test["name"]):
                asked = test["promql_expr_test"]
                self.assertTrue(all(f'ALERTS{{alertname="{test["name"]}", alertstate="firing"}}' in each["expr"] for each in asked))
                self.assertTrue(any(each.get("exp_samples") for each in asked))
                self.assertTrue(any(not each.get("exp_samples") for each in asked))

    def test_each_says_what_is_wrong_in_words_that_can_be_made(self):
        """Alerts that are not expected are printed whole, with their templates filled in."""
        unexpected = []
        for test in TESTS["tests"]:
            fires_at = next(each["eval_time"] for each in test["promql_expr_test"] if each.get("exp_samples"))
            unexpected.append({"interval": test["interval"], "input_series": test["input_series"], "alert_rule_test": [
                {"eval_time": fires_at, "alertname": test["name"], "exp_alerts": []}]})
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "test.yml"
            file.write_text(yaml.safe_dump({"rule_files": [str(MONITORING / "rules.yml")], "evaluation_interval": "15s",
                                            "tests": unexpected}))
            output = promtool("test", "rules", file)[1]
        said = dict(re.findall(r"alertname: ?(NextId\w+).*?Annotations:\{(.*?)\}\s*\n", output, re.DOTALL))
        self.assertEqual(list(said), NAMES, output)
        for name, annotations in said.items():
            with self.subTest(name):
                for annotation in ("summary", "description", "runbook_url"):
                    self.assertIn(f'{annotation}="', annotations)
                self.assertNotRegex(annotations, r"error (expanding|executing)|<no value>|%!|\{\{")

    def test_each_has_its_place_in_the_runbook(self):
        runbook = (MONITORING / "runbook.md").read_text()
        sections = dict(re.findall(r"^## (NextId\w+)\n(.*?)(?=^## |\Z)", runbook, re.MULTILINE | re.DOTALL))
        self.assertEqual(list(sections), NAMES)
        for alert in ALERTS:
            with self.subTest(alert["alert"]):
                self.assertTrue(alert["annotations"]["runbook_url"].endswith("#" + alert["alert"].lower()))
                self.assertIn(alert["labels"]["severity"], ("critical", "warning", "info"))
                for word in ("**Seen**", "**Means**", "**Do**"):
                    self.assertIn(word, sections[alert["alert"]])

    def test_the_operators_rule_is_the_same(self):
        wrapped = subprocess.run([MONITORING / "wrap.sh"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(wrapped, (MONITORING / "prometheusrule.yaml").read_text(), "k8s/monitoring/wrap.sh makes it anew")
        self.assertEqual(yaml.safe_load(wrapped)["spec"], yaml.safe_load((MONITORING / "rules.yml").read_text()))
        elsewhere = subprocess.run([MONITORING / "wrap.sh", "https://wiki.example/ids"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(elsewhere.count("https://wiki.example/ids#"), len(ALERTS))


class Dashboard(unittest.TestCase):
    def test_promtool_accepts_every_expression(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = [{"record": f"panel:{i}", "expr": filled_in(each)} for i, each in enumerate(dashboard_expressions())]
            file = pathlib.Path(folder) / "rules.yml"
            file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
            code, output = promtool("check", "rules", file)
            self.assertEqual(code, 0, output)
            self.assertIn(f"{len(rules)} rules found", output)

    def test_its_panels_have_names_words_and_room(self):
        taken = set()
        for panel in DASHBOARD["panels"]:
            with self.subTest(panel["title"]):
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
                self.assertLessEqual(at["x"] + at["w"], 24)
                self.assertFalse(cells & taken)
                taken |= cells
                if panel["type"] != "row":
                    self.assertTrue(panel["description"])
                    self.assertEqual(panel["datasource"]["uid"], "$datasource")
                    self.assertNotIn("editorMode", panel)
        numbers = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(numbers), len(set(numbers)))

    def test_its_variables_are_used_and_there(self):
        defined = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
        used = set(re.findall(r"\$(\w+)", json.dumps(DASHBOARD["panels"]))) - {"__rate_interval"}
        self.assertEqual(defined, used)


class Scraping(unittest.TestCase):
    def test_no_metric_is_asked_for_that_is_not_served(self):
        asked = " ".join(dashboard_expressions() + [alert["expr"] for alert in ALERTS] + [(MONITORING / "runbook.md").read_text()]
                         + [variable["query"]["query"] for variable in DASHBOARD["templating"]["list"][1:]])
        names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\b(?:next_id|process)_[a-z_]+", asked)}
        self.assertEqual(names - documented_metrics(), set())

    def test_the_pod_monitor_names_the_sidecars_port(self):
        monitor = yaml.safe_load((MONITORING / "podmonitor.yaml").read_text())
        sidecar = yaml.safe_load((ROOT / "k8s/component/pod/pod.yaml").read_text())["template"]["spec"]["initContainers"][0]
        self.assertIn(monitor["spec"]["podMetricsEndpoints"][0]["port"], [port["name"] for port in sidecar["ports"]])


def operators_definitions():
    """Fetched once, from npm."""
    place = BUILD / "monitoring" / OPERATOR.rpartition("/")[2]
    if not place.exists():
        making = pathlib.Path(f"{place}.{os.getpid()}")
        making.mkdir(parents=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", making, OPERATOR], check=True)
        try:
            making.rename(place)
        except OSError:  # another test was faster
            shutil.rmtree(making)
    return place / "node_modules"


def objections(*objects):
    done = subprocess.run(["node", ROOT / "tests/monitoring/custom_resources.mjs", operators_definitions()], check=True,
                          capture_output=True, text=True, input=json.dumps(objects))
    return done.stdout.splitlines()


class Operator(unittest.TestCase):
    def test_its_definitions_allow_what_is_asked_of_it(self):
        objects = [yaml.safe_load((MONITORING / name).read_text()) for name in ("podmonitor.yaml", "prometheusrule.yaml")]
        self.assertEqual(objections(*objects), [])

    def test_what_is_wrong_is_found(self):
        monitor = yaml.safe_load((MONITORING / "podmonitor.yaml").read_text())
        endpoint = monitor["spec"]["podMetricsEndpoints"][0]
        endpoint["intervall"] = endpoint.pop("interval")
        self.assertEqual(objections(monitor), ["PodMonitor/next-id.podMetricsEndpoints[0].intervall: there is no such field"])
        endpoint["interval"] = 15
        self.assertIn("must be string", " ".join(objections(monitor)))

    def test_kustomize_builds_it_where_there_is_a_kubectl(self):
        if not shutil.which("kubectl"):
            self.skipTest("kubectl is missing, of which Debian has no package")
        built = subprocess.run(["kubectl", "kustomize", MONITORING], check=True, capture_output=True, text=True).stdout
        objects = {each["kind"]: each for each in yaml.safe_load_all(built)}
        self.assertEqual(set(objects), {"ConfigMap", "PodMonitor", "PrometheusRule"})
        self.assertEqual(json.loads(objects["ConfigMap"]["data"]["next-id.json"]), DASHBOARD)


if __name__ == "__main__":
    unittest.main(verbosity=2)
