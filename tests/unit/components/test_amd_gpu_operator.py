"""AMD's GPU Operator: its Helm values, the DeviceConfig of a pool, and its place next to NVIDIA's."""

from aks_infiniband import GpuOperatorArgs, load

from tests.some_pools import MI300X

IMAGE = "myregistry.azurecr.io/amd/amdgpu-kmod"


def test_one_stack_has_both_vendors_operators_each_for_its_own_pools() -> None:
    stack = load(
        {
            "azure-native:location": "southcentralus",
            "aks-infiniband:cluster": {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"},
            "aks-infiniband:pools": [
                {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2},
                {"name": "ndmi300x", "vmSize": MI300X, "count": 2, "gpuDriver": "operator"},
            ],
            "aks-infiniband:amdGpuOperator": {"driverImage": IMAGE},
        }
    )
    assert isinstance(stack.gpu_operator(""), GpuOperatorArgs)
    assert stack.amd_gpu_operator("") is not None
    assert list(stack.device_configs("")) == ["ndmi300x"]
    assert stack.cert_manager("") is not None, "Kernel Module Management needs it, and a new cluster has none"
