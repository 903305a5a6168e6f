"""Stack files that are well-formed and cannot be, with the mistake that each holds."""

from typing import Any

from tests.unit.components.stack_files import changed, cluster, existing, pool
from tests.unit.settings.refused_addresses import ADDRESSES

OWN: dict[str, Any] = {
    "vcpus": 200,
    "memoryGib": 3000,
    "series": "ND_B300_v7",
    "infiniband": {"hcaCount": 8, "generation": "XDR", "adapter": "ConnectX-8"},
}
MI300X = "Standard_ND96isr_MI300X_v5"
BUILT = pool(vmSize=MI300X, gpuDriver="operator")
BUILDS = {"driverImage": "myregistry.azurecr.io/amd/amdgpu-kmod"}
WEB = {"name": "web", "vmSize": "Standard_D8s_v5", "count": 1, "infiniband": False}


def of_system(**more: Any) -> Any:
    return changed(cluster=cluster(systemPool=more))


def in_region(region: Any, **sections: Any) -> Any:
    return {**changed(**sections), "azure-native:location": region}


CASES: dict[str, tuple[Any, str, str]] = {
    **ADDRESSES,
    # Versions.
    **{
        f"Kubernetes {version}": (
            changed(cluster=cluster(kubernetesVersion=version)),
            "cluster.kubernetesVersion",
            "is not a Kubernetes version",
        )
        for version in ("1.99", "9.0", "2.1", "1.50.3")
    },
    **{
        f"Kubernetes {version}": (
            changed(cluster=cluster(kubernetesVersion=version)),
            "cluster.kubernetesVersion",
            "must be a quoted version",
        )
        for version in ("1.034", "01.35", "1.35.08", "1.35.9999", "v1.35", "1.35-rc1", "1")
    },
    # Regions and zones.
    **{
        f"region {region!r}": (in_region(region), "azure-native:location", "is not a known Azure region")
        for region in ("southcentralus2", "westerneurope", "useast", "atlantis")
    },
    **{
        f"region {region!r}": (in_region(region), "azure-native:location", "must be")
        for region in ("us-east-1", '["westeurope"]', ["westeurope"], "", "x" * 50, "west\neurope", 7)
    },
    "a zone in a region without": (
        in_region("westus", pools=[pool(zones=["1"])]),
        "pools[0].zones",
        "must be zones of westus, which has none",
    ),
    "a zone of the system pool's": (
        in_region("northcentralus", cluster=cluster(systemPool={"zones": ["2"]})),
        "cluster.systemPool.zones",
        "must be zones of northcentralus",
    ),
    "a zone that a new region has not": (
        in_region("moonbase", regions={"moonbase": ["1", "2"]}, pools=[pool(zones=["3"])]),
        "pools[0].zones",
        "which has 1, 2",
    ),
    # AMD's GPUs.
    "a driver that AMD's operator builds, and no place for it": (
        changed(pools=[pool(vmSize=MI300X, gpuDriver="operator")]),
        "amdGpuOperator.driverImage",
        "is missing: for gpuDriver operator of pool ndh100",
    ),
    "a place for a driver that nobody builds": (
        changed(pools=[pool(vmSize=MI300X, gpuDriver="image")], amdGpuOperator={"driverImage": "a.azurecr.io/kmod"}),
        "amdGpuOperator.driverImage",
        "says nothing: no pool of AMD's GPUs has gpuDriver operator",
    ),
    "a driver's place with a tag": (
        changed(pools=[pool(vmSize=MI300X, gpuDriver="operator")], amdGpuOperator={"driverImage": "a.azurecr.io/k:1"}),
        "amdGpuOperator.driverImage",
        "must be a repository of images",
    ),
    "a DRA driver without an NVLink domain": (
        changed(draDriver={"values": {"logVerbosity": "6"}}),
        "draDriver.values",
        "no pool has GPUs that share an NVLink domain",
    ),
    "a burn-in without GPUs": (
        changed(pools=[pool(vmSize="Standard_HB176rs_v4")], validation={"burnIn": 5}),
        "validation.burnIn",
        "says nothing: no pool has GPUs",
    ),
    "a burn-in that nothing runs": (
        changed(validation={"mode": "off", "burnIn": 5}),
        "validation.burnIn",
        "says nothing with mode off",
    ),
    "a variable for GPUs that no pool has": (
        changed(pools=[pool(vmSize="Standard_HB176rs_v4")], gpuOperator={"acceptVisibleDevicesEnvvar": True}),
        "gpuOperator.acceptVisibleDevicesEnvvar",
        "no pool has GPUs of NVIDIA",
    ),
    "rails of networks that no pool has": (
        changed(networkOperator={"mode": "dra", "ipoib": {"rails": 2}}),
        "networkOperator.ipoib.rails",
        "says nothing: no pool has mode ipoib",
    ),
    "AMD's operator without GPUs of AMD": (
        changed(amdGpuOperator={"remediation": True}),
        "amdGpuOperator.remediation",
        "says nothing: no pool has GPUs of AMD",
    ),
    "cert-manager that nothing needs": (
        changed(certManager={"values": {"prometheus": {"enabled": False}}}),
        "certManager.values",
        "only a driver that AMD's operator builds needs cert-manager",
    ),
    "somebody else's cert-manager in a new cluster": (
        changed(pools=[BUILT], amdGpuOperator=BUILDS, certManager={"existing": True}),
        "certManager.existing",
        "is for existingCluster",
    ),
    "AMD's GPUs with Azure Linux": (
        changed(pools=[pool(vmSize=MI300X, gpuDriver="image", osSku="AzureLinux")]),
        "pools[0].osSku",
        "must be Ubuntu for MI300X",
    ),
    "a second feature discovery of AMD's chart": (
        changed(pools=[BUILT], amdGpuOperator={**BUILDS, "values": {"node-feature-discovery": {"enabled": True}}}),
        "amdGpuOperator.values.node-feature-discovery.enabled",
        "must be False",
    ),
    "a DeviceConfig that selects other nodes": (
        changed(pools=[BUILT], amdGpuOperator={**BUILDS, "deviceConfig": {"driver": {"enable": False}}}),
        "amdGpuOperator.deviceConfig.driver.enable",
        "must be True",
    ),
    "a way to AMD's GPUs": (
        changed(pools=[pool(vmSize=MI300X, gpuDriver="image", gpuDirect="dmabuf")]),
        "pools[0].gpuDirect",
        "says nothing for AMD's GPUs",
    ),
    "a version of NVIDIA's driver for AMD's GPUs alone": (
        changed(pools=[BUILT], amdGpuOperator=BUILDS, gpuOperator={"driverVersion": "580.1"}),
        "gpuOperator.driverVersion",
        "no pool has gpuDriver operator for GPUs of NVIDIA",
    ),
    # Labels, taints, selectors.
    **{
        f"label {key!r}": (changed(pools=[pool(labels={key: "x"})]), f"pools[0].labels.{key}", "must be a Kubernetes")
        for key in (
            "a..b/x",
            "a.-b/x",
            "-a/x",
            "a-/x",
            "A.com/x",
            "/x",
            "a/b/x",
            f"{'a' * 64}.com/x",
            "x/",
            "_x",
            "x" * 64,
        )
    },
    **{
        f"label {key!r}": (changed(pools=[pool(labels={key: "x"})]), f"pools[0].labels.{key}", "must not be in")
        for key in ("kubernetes.azure.com/mode", "x.kubernetes.azure.com/y", "kubernetes.io/os", "x.k8s.io/y")
    },
    **{
        f"taint {taint!r}": (changed(pools=[pool(taints=[taint])]), "pools[0].taints[0]", "must")
        for taint in ("a..b/x=y:NoSchedule", "x=y:Never", "x=y", "=y:NoSchedule", "kubernetes.azure.com/x=y:NoExecute")
    },
    "a selector's key": (
        existing(pool(nodeSelector={"a..b/x": "y"})),
        "pools[0].nodeSelector.a..b/x",
        "must be a Kubernetes label key",
    ),
    # Numbers.
    "100 pools": (
        changed(pools=[pool(), *({**WEB, "name": f"web{n}"} for n in range(99))]),
        "pools",
        "must hold 99 pools at most",
    ),
    "6,000 nodes": (
        changed(pools=[pool(), *({**WEB, "name": f"web{n}", "count": 1000} for n in range(6))]),
        "pools",
        "come to 6004 nodes with the system pool's, and a cluster takes 5000",
    ),
    **{
        f"{section}.{key} {number}": (changed(**{section: {key: number}}), f"{section}.{key}", "less than or equal to")
        for section, key in (("readiness", "timeoutSeconds"), ("validation", "timeoutSeconds"))
        for number in (2**31, 1e300)
    },
    **{
        f"a described size's {key}": (
            changed(sizes={"Standard_ND1r": {**OWN, key: 2**31}}),
            f"sizes.Standard_ND1r.{key}",
            "less than or equal to",
        )
        for key in ("vcpus", "memoryGib")
    },
    # Machine sizes.
    **{
        f"system pool of {size}": (of_system(vmSize=size), "cluster.systemPool.vmSize", "must have 4 vCPUs or more")
        for size in (
            "Standard_D2s_v5",
            "Standard_B4ms",
            "Standard_B2s",
            "Standard_DS2_v2",
            "Standard_D2_v2",
            "Standard_A2_v2",
        )
    },
    **{
        f"system pool of {size}": (of_system(vmSize=size), "cluster.systemPool.vmSize", "is not an Azure size")
        for size in ("Standard_D7s_v5", "Standard_D999s_v5", "Standard_D8s_v99", "Standard_8D_v5", "Standard_D8S_v5x")
    },
    **{
        f"an ordinary pool of {size}": (
            changed(pools=[pool(), {**WEB, "vmSize": size}]),
            "pools[1].vmSize",
            "is not an Azure size",
        )
        for size in ("Standard_E6s_v5", "Standard_F9s_v3", "Standard_QQQQ8s_v5", "Standard_D8s_v0")
    },
    **{
        f"a description of {size}": (
            changed(sizes={size: OWN}),
            f"sizes.{size}",
            "is a size without InfiniBand",
        )
        for size in ("Standard_D8s_v5", "Standard_NC24ads_A100_v4")
    },
    **{
        f"a description of {size}": (changed(sizes={size: OWN}), f"sizes.{size}", "is in the catalogue already")
        for size in ("Standard_HB176rs_v4", "Standard_hb176rs_v4")
    },
    # Images, tags, ports, registries, charts.
    **{
        f"image {image!r}": (changed(validation={"image": image}), "validation.image", "must be an image")
        for image in (
            *(
                "example.com/Tests:1",
                "example.com/tests:",
                "example.com:0/tests",
                "example.com:99999/tests",
                "tests:a b",
            ),
            *("https://example.com/tests", "example.com//tests", "example.com/tests@sha256:12", ":1", f"a:{'x' * 129}"),
        )
    },
    **{
        f"{operator} driver {tag!r}": (
            changed(**{operator: {"driverVersion": tag}}),
            f"{operator}.driverVersion",
            "must be an image's tag",
        )
        for operator in ("networkOperator", "gpuOperator")
        for tag in ("-1", "a/b", "a:b", "x" * 129, "a b", ".1")
    },
    **{
        f"registry {registry!r}": (changed(registry={"images": registry}), "registry.images", "must be a registry")
        for registry in (
            *("mirror", "mirror/nvidia", "mirror.io:0", "mirror.io:99999", "mirror.io:", "-mirror.io", "mirror..io"),
            *("mirror.io/Nvidia", "mirror.io/nvidia:1", f"{'m' * 64}.io", "me:s3cret@mirror.io", "mirror.io/nvidia/"),
        )
    },
    **{
        f"chart {key} {value!r}": (
            changed(networkOperator={"chart": {key: value}}),
            f"networkOperator.chart.{key}",
            "must be",
        )
        for key, value in (
            *(("version", "latest release"), ("version", "stable"), ("version", "{}")),
            *(("name", "Network Operator"), ("name", "-x"), ("name", "oci://me:s3cret@x/y"), ("name", "x\ny/z")),
            *(("repository", "ftp://x"), ("repository", "https://me:s3cret@x"), ("repository", "https://")),
        )
    },
    # Values that the API server or Azure refuses.
    **{
        f"schedule {schedule}": (changed(lightCheck={"schedule": schedule}), "lightCheck.schedule", "counts down")
        for schedule in ("5-1 * * * *", "0 22-6 * * *", "0 3 1,9-7 * *", "0 3 * * 6-0")
    },
    "a check of idle nodes in mode driver-only": (
        changed(
            pools=[{**pool(), "mode": "driver-only"}],
            lightCheck={"schedule": "17 * * * *"},
        ),
        "pools[0].mode",
        "remove aks-infiniband:lightCheck",
    ),
    "nodes that are measured first without a check": (
        changed(pools=[{**pool(), "admission": "measured"}]),
        "pools[0].admission",
        "needs aks-infiniband:lightCheck",
    ),
    "pods that leave a node which others may come to": (
        changed(pools=[{**pool(), "maintenance": "drain"}], lightCheck={"schedule": "17 * * * *"}),
        "pools[0].maintenance",
        "needs admission measured or measured-or-late",
    ),
    "one node that is measured first": (
        changed(pools=[{**pool(), "count": 1, "admission": "measured"}], lightCheck={"schedule": "17 * * * *"}),
        "pools[0].admission",
        "needs 2 nodes",
    ),
    "a resource ID with a space": (
        changed(
            observability={
                "prometheus": "azure",
                "workspaceId": "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/metrics/providers/"
                "Microsoft.Monitor/accounts/of the team",
            }
        ),
        "observability.workspaceId",
        "must be the resource ID of an Azure Monitor workspace",
    ),
    "a misspelt choice among three": (
        changed(pools=[pool(gpuDirect="dma-buf")]),
        "pools[0].gpuDirect",
        "must be 'dmabuf', 'nvidia-peermem' or 'auto'; did you mean dmabuf?",
    ),
    # The engine's configuration.
    **{
        f"namespace {namespace}": (
            {**changed(), f"{namespace}:validation": {"mode": "off"}},
            f"{namespace}:validation",
            "is of a namespace that no program reads; did you mean aks-infiniband:validation?",
        )
        for namespace in (
            "aks-infinband",
            "aks-infiniban",
            "aksinfiniband",
            "aks_infiniband",
            "AKS-Infiniband",
        )
    },
    "a location that is a secret": (
        {**changed(), "azure-native:location": {"secure": "v1:xyz"}},
        "azure-native:location",
        "holds a secret",
    ),
    "a Helm key that is a number": (
        changed(networkOperator={"values": {"a": {1: "x"}}}),
        "networkOperator.values.a",
        "has the key 1; must be text",
    ),
    "a chart that is not there": (
        changed(networkOperator={"chart": {"name": "./charts/none"}}),
        "networkOperator.chart.name",
        "must be a folder with a Chart.yaml, or an archive",
    ),
    **{
        f"label {key}": (changed(pools=[pool(labels={key: "false"})]), f"pools[0].labels.{key}", "is a label")
        for key in (
            *("agentpool", "storageprofile", "storagetier", "accelerator", "nvidia.com/gpu.deploy.operands"),
            *("nvidia.com/gpu.deploy.driver", "network.nvidia.com/operator.mofed.wait", "nvidia.com/gpu.present"),
        )
    },
    "500 labels": (
        changed(pools=[pool(labels={f"l{number}": "x" for number in range(500)})]),
        "pools[0].labels",
        "must have at most 100",
    ),
    **{
        f"taint {taint}": (changed(pools=[pool(taints=[taint])]), "pools[0].taints[0]", "sets and removes itself")
        for taint in (
            *("node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/unschedulable=x:NoSchedule"),
            *("node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",),
            *("ToBeDeletedByClusterAutoscaler=1:NoSchedule",),
        )
    },
    "a zone of the system pool's twice": (
        of_system(zones=["1", "1"]),
        "cluster.systemPool.zones[1]",
        "must be listed once",
    ),
    **{
        f"range {given}": (
            changed(cluster=cluster(network={"addressSpace": given, "subnet": "10.224.0.0/16"})),
            "cluster.network.addressSpace",
            "is larger than",
        )
        for given in ("10.0.0.0/7", "8.0.0.0/5", "192.0.0.0/8")
    },
    "interfaces that the machine lacks": (
        changed(networkOperator={"mode": "ipoib"}, pools=[pool(ipoibDevices=["ib8"])]),
        "pools[0].ipoibDevices",
        "must be interfaces of Standard_ND96isr_H100_v5's HCAs",
    ),
    "XDR on ConnectX-5": (
        changed(sizes={"Standard_ND9r_v9": {**OWN, "infiniband": {**OWN["infiniband"], "adapter": "ConnectX-5"}}}),
        "sizes.Standard_ND9r_v9.infiniband.generation",
        "must be EDR or slower with ConnectX-5",
    ),
    "a rate that no port of the generation has": (
        changed(sizes={"Standard_ND9r_v9": {**OWN, "infiniband": {**OWN["infiniband"], "rateGbps": 801}}}),
        "sizes.Standard_ND9r_v9.infiniband.rateGbps",
        "must be 800 or less",
    ),
    "a burn-in that the validation has no time for": (
        changed(validation={"burnIn": 30}),
        "validation.burnIn",
        "needs timeoutSeconds of 4200 at least, which is 1800",
    ),
    "a burn-in of no whole minutes": (
        changed(validation={"burnIn": 0.5}),
        "validation.burnIn",
        "must be a whole number",
    ),
    "a key twice in JSON text": (
        {**changed(), "aks-infiniband:validation": '{"mode": "off", "mode": "warn"}'},
        "aks-infiniband:validation",
        "has the key 'mode' twice in one mapping",
    ),
    "infinity in JSON text": (
        {**changed(), "aks-infiniband:readiness": '{"pollSeconds": Infinity}'},
        "aks-infiniband:readiness.pollSeconds",
        "is inf; must be a finite number: JSON holds no other",
    ),
}
