"""The observability of InfiniBand and GPUs: off by default, and its declaration if it is enabled."""

import json
from typing import Any

import pytest
from aks_infiniband.light_check.documents import exporter_spec, pool_labels
from aks_infiniband.observability.documents import monitors, rules
from aks_infiniband.resources.registry import SOURCES

from declared.pulumi_mocks import SUBSCRIPTION, Deploy, Deployment
from tests.some_pools import pool
from tests.unit.components.rdma_programs import CLUSTER, program

COMPONENT = "aks-infiniband:index:Observability"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
JOB = "kubernetes:batch/v1:Job"
ND, HB = ("nd", "Standard_ND96isr_H100_v5"), ("hb", "Standard_HB176rs_v4")


def watched(deploy: Deploy, *, pools: Any = (ND, HB), prometheus: str = "kube-prometheus", **more: Any) -> Deployment:
    labels = {"release": "monitoring"}
    return deploy(program(pools=pools, observability={"prometheus": prometheus, "labels": labels}, **more))


def named(deployment: Deployment, type_: str) -> dict[str, Any]:
    """The declarations of a type, by their names in the cluster."""
    return {made.inputs["metadata"]["name"]: made.inputs for made in deployment.all(type_)}


def exporter(deployment: Deployment, pool: str) -> dict[str, Any]:
    spec: dict[str, Any] = named(deployment, DAEMON_SET)[f"infiniband-exporter-{pool}"]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize(
    ("prometheus", "pools", "group", "rules"),
    [
        ("kube-prometheus", (ND, HB), "monitoring.coreos.com/v1", 1),
        ("kube-prometheus", (HB,), "monitoring.coreos.com/v1", 1),
        ("azure", (ND, HB), "azmonitoring.coreos.com/v1", 0),
    ],
)
def test_monitors_are_of_the_group_that_the_prometheus_reads_and_only_the_prometheus_operator_takes_rules(
    deploy: Deploy, prometheus: str, pools: Any, group: str, rules: int
) -> None:
    """Without the GPU Operator no monitor looks for its exporter."""
    made = watched(deploy, pools=pools, prometheus=prometheus)
    parts = ["hcas", "light-check", *(["gpus"] if ND in pools else [])]
    assert set(named(made, f"kubernetes:{group}:PodMonitor")) == {f"aks-infiniband-{part}" for part in parts}
    assert len(made.all("kubernetes:monitoring.coreos.com/v1:PrometheusRule")) == rules


def test_monitors_and_rules_carry_the_labels_by_which_the_prometheus_selects_them(deploy: Deploy) -> None:
    made = watched(deploy)
    for kind in ("PodMonitor", "PrometheusRule"):
        for declared in named(made, f"kubernetes:monitoring.coreos.com/v1:{kind}").values():
            assert declared["metadata"]["labels"]["release"] == "monitoring"


def test_a_monitor_says_where_a_metric_is_from_by_job_pool_and_node(deploy: Deploy) -> None:
    monitors = named(watched(deploy), "kubernetes:monitoring.coreos.com/v1:PodMonitor")

    def labels(part: str) -> dict[str, str]:
        (endpoint,) = monitors[f"aks-infiniband-{part}"]["spec"]["podMetricsEndpoints"]
        assert endpoint["port"] == "metrics"
        return {
            rule["targetLabel"]: rule.get("replacement") or rule["sourceLabels"][0] for rule in endpoint["relabelings"]
        }

    node = {"node": "__meta_kubernetes_pod_node_name"}
    pool = {"pool": "__meta_kubernetes_pod_label_aks_infiniband_pool"}
    assert labels("hcas") == {**node, **pool, "job": "aks-infiniband-hcas"}
    assert labels("gpus") == {**node, "job": "aks-infiniband-gpus"}
    assert labels("light-check") == {"job": "aks-infiniband-light-check"}, "its metrics say pool and node themselves"


def test_azures_collector_finds_no_dollar_in_a_monitor_and_the_limits_that_it_asks_for(deploy: Deploy) -> None:
    monitors = named(watched(deploy, prometheus="azure"), "kubernetes:azmonitoring.coreos.com/v1:PodMonitor")
    for monitor in monitors.values():
        assert "$" not in json.dumps(monitor["spec"])
        limits = {key: monitor["spec"][key] for key in ("labelLimit", "labelNameLengthLimit", "labelValueLengthLimit")}
        assert limits == {"labelLimit": 63, "labelNameLengthLimit": 511, "labelValueLengthLimit": 1023}


def test_an_exporter_says_what_a_machine_of_its_pool_ought_to_show(deploy: Deploy) -> None:
    made = watched(deploy)
    texts = named(made, CONFIG_MAP)["infiniband-exporter"]["data"]
    assert "\naks_infiniband_expected_hcas 8\n" in texts["nd.prom"]
    assert "\naks_infiniband_expected_rate_bytes_per_second 5e+10\n" in texts["nd.prom"], "400 Gb/s"
    assert "\naks_infiniband_expected_hcas 1\n" in texts["hb.prom"]
    (volume,) = (volume for volume in exporter(made, "hb")["volumes"] if volume["name"] == "expected")
    assert [item["key"] for item in volume["configMap"]["items"]] == ["hb.prom"]


def test_no_validation_waits_for_it_and_no_pool_is_validated_anew(deploy: Deploy) -> None:
    """Neither order nor name of a Job changes if watching is switched on."""

    def jobs(deployment: Deployment) -> dict[str, set[str]]:
        return {job.inputs["metadata"]["name"]: job.dependencies for job in deployment.all(JOB)}

    assert jobs(watched(deploy)) == jobs(deploy(program(pools=(ND, HB))))


def test_the_monitor_of_the_scheduled_check_selects_its_exporter_and_not_the_checks_themselves() -> None:
    pools = [pool()]
    template = exporter_spec(pools, SOURCES)["template"]
    spec = monitors(gpus=False)["light-check"]
    wanted = spec["selector"]["matchLabels"].items()
    assert wanted <= template["metadata"]["labels"].items()
    assert not wanted <= pool_labels(pools[0]).items()
    (container,) = template["spec"]["containers"]
    assert [port["name"] for port in container["ports"]] == [spec["podMetricsEndpoints"][0]["port"]]


def test_grafana_finds_the_dashboard_by_its_label(deploy: Deploy) -> None:
    found = named(watched(deploy), CONFIG_MAP)["aks-infiniband-dashboard"]
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(found["data"]["aks-infiniband.json"])["title"] == "InfiniBand and GPUs"


WORKSPACE = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.Monitor/accounts/w"
RULE_GROUP = "azure-native:alertsmanagement:PrometheusRuleGroup"


def test_with_a_workspace_azure_monitor_gets_every_alert_for_this_cluster_alone(deploy: Deploy) -> None:
    made = deploy(program(observability={"prometheus": "azure", "workspaceId": WORKSPACE}))
    groups = {found.inputs["ruleGroupName"]: found for found in made.all(RULE_GROUP)}
    cluster = made.one(CLUSTER)
    alerts = {f"{group['name']}-{cluster.inputs['resourceName']}": group["rules"] for group in rules()["groups"]}
    assert set(groups) == set(alerts)
    for name, expected in alerts.items():
        group = groups[name]
        assert group.inputs["scopes"] == [WORKSPACE, f"/subscriptions/{SUBSCRIPTION}/{CLUSTER}/rdma"]
        assert cluster.name in group.dependencies
        assert group.deleted_with == "", "Azure keeps it when the cluster goes"
        assert [rule["alert"] for rule in group.inputs["rules"]] == [rule["alert"] for rule in expected]


def test_a_rule_of_azure_monitor_says_what_prometheus_rule_says_in_azures_words(deploy: Deploy) -> None:
    made = deploy(program(observability={"prometheus": "azure", "workspaceId": WORKSPACE}))
    found = {rule["alert"]: rule for group in made.all(RULE_GROUP) for rule in group.inputs["rules"]}
    for group in rules()["groups"]:
        for rule in group["rules"]:
            there = found[rule["alert"]]
            assert (there["expression"], there["labels"]) == (rule["expr"], rule["labels"])
            assert there["annotations"] == rule["annotations"]
    down, xid, symbols = (found[alert] for alert in ("InfinibandLinkDown", "GpuXid", "InfinibandSymbolErrors"))
    assert (down["for"], down["severity"]) == ("PT2M", 0)
    assert "for" not in xid
    assert (symbols["for"], symbols["severity"]) == ("PT5M", 2)
    assert down["resolveConfiguration"] == {"autoResolved": True, "timeToResolve": "PT10M"}
